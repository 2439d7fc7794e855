//! Builds a dossier of the documents with one model and profile, and compares the claims of its
//! leaves with the truth. Reduces keep everything by rule, so only leaves call the model.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dossier::claims::Claim;
use dossier::ingest::{self, ImportOptions, Mode, Rebind, Vanished};
use dossier::output::{NodeStatus, Output};
use dossier::realise::llama::{self, Llama, Spec};
use dossier::realise::{Build, Built, NodeReport, Options, Outcome};
use dossier::recipe::Level;
use dossier::settings::{ChoiceName, RealiserName, Settings};
use dossier::support::{Support, support};
use dossier_store::hash::{DerivationId, Sha256};
use dossier_store::read::{Lookup, Reader};
use dossier_store::{Options as StoreOptions, Store};
use serde::Serialize;

use crate::cases::{Cases, Document, Fact, Failure};

const DOSSIER: &str = "quality";
const PRINCIPAL: &str = "owner";
const PATIENCE: Duration = Duration::from_secs(300);

/// Who makes the claims, and how.
pub(crate) struct Setting {
    pub(crate) model: String,
    pub(crate) profile: String,
    pub(crate) file: PathBuf,
    pub(crate) sha256: Sha256,
    pub(crate) worker: PathBuf,
    pub(crate) threads: u16,
}

/// What was counted. Nothing here is derived from another field.
#[derive(Default, Serialize)]
pub(crate) struct Row {
    pub(crate) model: String,
    pub(crate) profile: String,
    /// Leaves for which the model was called.
    pub(crate) leaves: u64,
    /// Leaves whose answer breaks a rule.
    pub(crate) invalid: u64,
    /// Leaves over their token budget.
    pub(crate) over_budget: u64,
    pub(crate) claims: u64,
    /// Claims whose cited quote is a whole fact line that states exactly this.
    pub(crate) exact_lines: u64,
    /// Claims whose subject and value stand in the quotes they cite.
    pub(crate) copied: u64,
    /// Claims that state a fact of their document.
    pub(crate) right: u64,
    pub(crate) facts: u64,
    /// Facts that some claim states.
    pub(crate) found: u64,
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
    /// Decode calls that chose a token.
    pub(crate) evaluations: u64,
    pub(crate) seconds: f64,
    /// The most resident memory of the worker, in bytes, as the kernel counted it.
    pub(crate) worker_peak_bytes: Option<u64>,
    #[serde(skip)]
    pub(crate) faults: Vec<String>,
}

/// Builds and counts.
pub(crate) fn measure(cases: &Cases, setting: &Setting) -> Result<Row, Failure> {
    let folder = tempfile::tempdir()?;
    let store = imported(cases, folder.path())?;
    let (built, worker_peak_bytes) = build(&store, &settings(cases, setting), setting)?;
    let reader = store.read()?;
    let mut row = Row {
        model: setting.model.clone(),
        profile: setting.profile.clone(),
        facts: cases.facts() as u64,
        worker_peak_bytes,
        ..Row::default()
    };
    let mut claims: HashMap<String, Vec<Claim>> = HashMap::new();
    for ((_, node), report) in built.graph.nodes().zip(&built.nodes) {
        let Some(report) = report.as_ref().filter(|_| node.level == Level::Leaf) else { continue };
        row.count(&reader, &node.name, node.id, report)?;
        let bytes = reader.blob(report.output)?.ok_or("an output is missing")?;
        for claim in Output::decode(&bytes)?.claims {
            let document = claim.evidence.first().map(|cited| cited.doc_id.to_string());
            claims.entry(document.unwrap_or_default()).or_default().push(claim);
        }
    }
    for document in &cases.documents {
        let id = format!("{DOSSIER}/{}", document.name);
        row.compare(document, claims.get(&id).map_or(&[], Vec::as_slice));
    }
    Ok(row)
}

fn settings(cases: &Cases, setting: &Setting) -> Settings {
    let mut settings = cases.settings.clone();
    settings.llama.profile = setting.profile.clone();
    settings.claims.choose = ChoiceName::Above;
    settings.claims.reduce_max = 4096;
    settings
}

fn imported(cases: &Cases, folder: &Path) -> Result<Store, Failure> {
    let documents = folder.join("documents");
    for document in &cases.documents {
        let path = documents.join(&document.name);
        std::fs::create_dir_all(path.parent().unwrap_or(&documents))?;
        std::fs::write(path, &document.text)?;
    }
    let store = Store::create(&folder.join("store"), &StoreOptions::default())?;
    let options =
        ImportOptions { vanished: Vanished::Guard, rebind: Rebind::Refuse, mode: Mode::Write };
    ingest::import(&store, DOSSIER, &documents, &cases.settings.import, &options, 0)?;
    Ok(store)
}

fn build(
    store: &Store,
    settings: &Settings,
    setting: &Setting,
) -> Result<(Built, Option<u64>), Failure> {
    let budgets = &settings.budgets;
    let spec = Spec {
        program: setting.worker.clone(),
        model: setting.file.clone(),
        sha256: setting.sha256,
        threads: setting.threads,
        context: budgets.map_input.max(budgets.reduce_input) + budgets.output,
        patience: PATIENCE,
    };
    let recipe = settings.lower(RealiserName::Llama, Some(setting.sha256));
    let builder = dossier::builder::with_worker(llama::identity(&spec)?);
    let mut realiser = Llama::new(spec);
    let started = Instant::now();
    let clock = || started.elapsed().as_micros() as u64;
    let mut build = Build {
        store,
        dossier: DOSSIER,
        principal: PRINCIPAL,
        recipe: &recipe,
        builder: &builder,
        realiser: &mut realiser,
        options: Options::default(),
        cancel: &AtomicBool::new(false),
        clock: &clock,
    };
    let built = build.run(&mut |_| {})?;
    if let Some(fault) = built.faults.first() {
        return Err(format!("{}: {}", fault.node, fault.fault).into());
    }
    let peak = realiser.worker_process().and_then(peak_bytes);
    Ok((built, peak))
}

/// The peak resident memory of a process that still runs, from Linux's `/proc`.
fn peak_bytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

impl Row {
    fn count(
        &mut self,
        reader: &Reader,
        name: &str,
        id: DerivationId,
        report: &NodeReport,
    ) -> Result<(), Failure> {
        self.over_budget += u64::from(report.status == NodeStatus::OverBudget);
        if report.outcome != Outcome::Generated {
            return Ok(());
        }
        self.leaves += 1;
        if report.status == NodeStatus::Invalid {
            self.invalid += 1;
            let why = report.diagnostic.as_deref().unwrap_or_default();
            self.faults.push(format!("{name} is INVALID: {why}"));
        }
        let observation = reader.observations(id)?.first().copied().ok_or("no observation")?;
        let observation = reader.observation(observation)?.ok_or("no observation")?;
        let raw = reader.blob(observation.raw.ok_or("no record")?)?.ok_or("no record")?;
        let raw: serde_json::Value = serde_json::from_slice(&raw)?;
        self.evaluations += raw["reply"]["evaluations"].as_u64().ok_or("no evaluations")?;
        self.tokens_in += observation.run.tokens_in;
        self.tokens_out += observation.run.tokens_out;
        self.seconds += report.micros as f64 / 1e6;
        Ok(())
    }

    fn compare(&mut self, document: &Document, claims: &[Claim]) {
        let mut found = vec![false; document.facts.len()];
        for claim in claims {
            self.claims += 1;
            let support = support(claim);
            self.exact_lines += u64::from(support == Support::ExactFactLine);
            self.copied += u64::from(support != Support::Unchecked);
            match document.facts.iter().position(|fact| fact.is_stated_by(claim)) {
                Some(position) => {
                    self.right += 1;
                    found[position] = true;
                }
                None => self.wrong(&document.name, claim),
            }
        }
        for (fact, found) in document.facts.iter().zip(&found) {
            match found {
                true => self.found += 1,
                false => self.faults.push(format!(
                    "{}: not found: {} = {:?}",
                    document.name, fact.field, fact.values
                )),
            }
        }
    }

    fn wrong(&mut self, document: &str, claim: &Claim) {
        let statement = &claim.statement;
        self.faults.push(format!(
            "{document}: not right: {} / {} / {}",
            statement.subject, statement.field, statement.value
        ));
    }
}

impl Fact {
    fn is_stated_by(&self, claim: &Claim) -> bool {
        let statement = &claim.statement;
        self.field == statement.field
            && self.subjects.contains(&statement.subject)
            && self.values.contains(&statement.value)
    }
}
