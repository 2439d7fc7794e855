//! `store verify`: the store's own checks, then the evidence layer. Ctrl-C stops it between two
//! portions; where it stopped lies beside the store, and `--resume` goes on from there.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dossier_store::Store;
use dossier_store::hash::BlobId;
use dossier_store::verify::{Cursor, FindingKind, Verification, VerifyOptions, verify};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::exit;
use super::super::failure::Failure;
use super::super::project::{Project, clock};
use super::super::ui::{Ui, strong};
use super::evidence::{self, EVIDENCE_BIT, EvidenceReport};
use crate::text::escape;

/// How much of everything outside the journal `doctor` checks, in percent.
const QUICK_PERCENT: u8 = 10;

/// Where an interrupted verification goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Interrupted {
    /// The place in the store's own checks; none where those are done.
    cursor: Option<String>,
    /// The part that is being checked.
    percent: u8,
    /// Which part that is.
    seed: u64,
    /// The bits of everything found so far.
    bits: u8,
}

impl Interrupted {
    fn fresh(percent: u8, seed: u64) -> Self {
        Self { cursor: None, percent, seed, bits: 0 }
    }

    /// What the store is asked; nothing where its own checks are done.
    fn options(&self) -> VerifyOptions {
        VerifyOptions {
            subset_percent: self.percent,
            seed: self.seed,
            resume_from: self.cursor.as_deref().and_then(Cursor::parse),
        }
    }
}

/// Everything that was found.
struct Found {
    store: Verification,
    evidence: EvidenceReport,
    /// The bits of all findings, those of an interrupted run before this one included.
    bits: u8,
    interrupted: bool,
}

pub(in super::super) fn run(
    project: &Project,
    store: &Store,
    subset: Option<&str>,
    resume: bool,
    ui: &Ui,
) -> Result<u8, Failure> {
    let path = project.directory.join("verify.json");
    let asked = Interrupted::fresh(subset.map_or(Ok(100), percent)?, clock());
    let earlier = if resume { read(&path)? } else { None };
    if resume && earlier.is_none() {
        ui.note("no verification was interrupted; verifying from the beginning");
    }
    let (resumed, start) = (earlier.is_some(), earlier.unwrap_or(asked));
    let found = verified(store, &start, resumed, &path, ui)?;
    match ui.json {
        true => ui.document(&document(&found, &start)),
        false => ui.line(in_words(&found, &start)),
    }
    match (found.bits, found.interrupted) {
        (0, false) => Ok(exit::DONE),
        (0, true) => Err(Failure::new(exit::STORE, "the verification was interrupted")
            .hint("dossier store verify --resume")),
        (bits, _) => Ok(exit::VERIFY | bits),
    }
}

fn verified(
    store: &Store,
    start: &Interrupted,
    resumed: bool,
    path: &PathBuf,
    ui: &Ui,
) -> Result<Found, Failure> {
    let stop = interruptible()?;
    let reader = store.read()?;
    let mut found = Found {
        store: Verification::default(),
        evidence: EvidenceReport::default(),
        bits: start.bits,
        interrupted: false,
    };
    // A resumed run without a place in the store's own checks has done them.
    if !resumed || start.cursor.is_some() {
        let bar = Bar::new(ui, "entries");
        found.store =
            verify(&reader, &start.options(), |visited, total| bar.told(visited, total, &stop));
        found.bits |= found.store.bits();
    }
    let cursor = found.store.cursor.as_ref().map(Cursor::to_string);
    found.interrupted = cursor.is_some();
    if !found.interrupted {
        let bar = Bar::new(ui, "outputs");
        let selected = |id: &BlobId| selected(id, start.percent, start.seed);
        found.evidence =
            evidence::verify(&reader, selected, |visited, total| bar.told(visited, total, &stop))?;
        found.bits |= evidence_bits(&found.evidence);
        found.interrupted = found.evidence.stopped;
    }
    match found.interrupted {
        // The evidence layer has no place of its own; it begins anew, so its bits come again.
        true => keep(path, &Interrupted { cursor, bits: found.bits, ..start.clone() })?,
        false => forget(path)?,
    }
    Ok(found)
}

/// What is wrong with the store, in a word and a count, checking all of the journal and a part of
/// the rest.
pub(in super::super) fn quick(store: &Store) -> Result<(u64, usize), Failure> {
    let options = VerifyOptions { subset_percent: QUICK_PERCENT, seed: clock(), resume_from: None };
    let found = verify(&store.read()?, &options, |_, _| ControlFlow::Continue(()));
    Ok((found.checked, found.findings.len()))
}

fn evidence_bits(report: &EvidenceReport) -> u8 {
    if report.findings.is_empty() { 0 } else { EVIDENCE_BIT }
}

/// Reads `10%` or `10`.
fn percent(text: &str) -> Result<u8, Failure> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<u8>().ok();
    number.filter(|number| (1..=100).contains(number)).ok_or_else(|| {
        Failure::new(exit::USAGE, format!("--subset {text:?} is no percentage"))
            .hint("give a whole number from 1% to 100%, such as --subset 10%")
    })
}

/// Whether an output belongs to the subset; ids are spread evenly.
fn selected(id: &BlobId, percent: u8, seed: u64) -> bool {
    let mixed = id
        .0
        .iter()
        .fold(seed, |mixed, byte| (mixed ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (mixed >> 32) % 100 < u64::from(percent)
}

fn interruptible() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::new(exit::STORE, format!("cannot catch Ctrl-C: {error}")))?;
    Ok(stop)
}

/// A bar on a terminal, nothing elsewhere.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn new(ui: &Ui, what: &'static str) -> Self {
        if !ui.live() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(
            "{bar:24} {human_pos}/{human_len} {msg}  {per_sec}  ETA {eta}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self(Some(bar))
    }

    fn told(&self, visited: u64, total: u64, stop: &AtomicBool) -> ControlFlow<()> {
        if let Some(bar) = &self.0 {
            bar.set_length(total);
            bar.set_position(visited);
        }
        match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn read(path: &PathBuf) -> Result<Option<Interrupted>, Failure> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io(format!("cannot read {}", path.display()), &error)),
    };
    let interrupted = serde_json::from_slice::<Interrupted>(&bytes).ok().filter(|interrupted| {
        interrupted.cursor.as_deref().is_none_or(|cursor| Cursor::parse(cursor).is_some())
    });
    interrupted.map(Some).ok_or_else(|| {
        Failure::new(exit::STORE, format!("{} cannot be understood", path.display()))
            .hint("remove it and run `dossier store verify` from the beginning")
    })
}

fn keep(path: &PathBuf, interrupted: &Interrupted) -> Result<(), Failure> {
    let text =
        serde_json::to_string(interrupted).map_err(|error| Failure::of(exit::STORE, &error))?;
    std::fs::write(path, text)
        .map_err(|error| Failure::io(format!("cannot write {}", path.display()), &error))
}

/// A verification that came to its end leaves no place to go on from.
fn forget(path: &PathBuf) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::io(format!("cannot remove {}", path.display()), &error))
        }
        _ => Ok(()),
    }
}

fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Corrupt => "corrupt",
        FindingKind::Untrusted => "untrusted",
        FindingKind::Unreadable => "unreadable",
        FindingKind::Dangling => "dangling",
    }
}

fn in_words(found: &Found, start: &Interrupted) -> String {
    let mut words = String::new();
    for finding in &found.store.findings {
        words.push_str(&format!(
            "{}  {} {}  {}\n",
            strong(kind(finding.kind)),
            finding.table.name(),
            escape(&finding.key),
            escape(&finding.detail)
        ));
    }
    for finding in &found.evidence.findings {
        words.push_str(&format!(
            "{}  {}  {}  {}\n",
            strong("evidence"),
            finding.output,
            escape(finding.evidence.as_deref().unwrap_or("")),
            escape(&finding.detail)
        ));
    }
    words.push_str(&summary(found, start));
    words
}

fn summary(found: &Found, start: &Interrupted) -> String {
    let findings = found.store.findings.len() + found.evidence.findings.len();
    let mut words = format!(
        "{} entries and {} evidence references in {} outputs checked: {}",
        found.store.checked,
        found.evidence.references,
        found.evidence.outputs,
        if findings == 0 { "nothing found".to_owned() } else { format!("{findings} findings") }
    );
    if start.percent < 100 {
        words.push_str(&format!(" ({} % of what is no journal)", start.percent));
    }
    if start.bits != 0 {
        words.push_str("; what was found before the interruption counts in the exit code");
    }
    if found.store.set_aside > 0 {
        words.push_str(&format!("; {} damaged values kept aside", found.store.set_aside));
    }
    words
}

fn document(found: &Found, start: &Interrupted) -> Value {
    let of_store = found.store.findings.iter().map(|finding| {
        json!({
            "kind": kind(finding.kind),
            "table": finding.table.name(),
            "key": finding.key,
            "detail": finding.detail,
        })
    });
    let of_evidence = found.evidence.findings.iter().map(|finding| {
        json!({
            "kind": "evidence",
            "out": finding.output,
            "evidence_id": finding.evidence,
            "detail": finding.detail,
        })
    });
    json!({
        "schema": "dossier.verify/1",
        "checked": found.store.checked,
        "skipped": found.store.skipped,
        "set_aside": found.store.set_aside,
        "outputs": found.evidence.outputs,
        "references": found.evidence.references,
        "subset_percent": start.percent,
        "seed": start.seed,
        "interrupted": found.interrupted,
        "findings": of_store.chain(of_evidence).collect::<Vec<_>>(),
        "bits": found.bits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_is_a_percentage() {
        assert_eq!(percent("10%").unwrap(), 10);
        assert_eq!(percent("100").unwrap(), 100);
        for text in ["0%", "101%", "-1", "ten", "", "1.5%"] {
            assert_eq!(percent(text).unwrap_err().code, exit::USAGE, "{text}");
        }
    }

    #[test]
    fn a_subset_is_about_as_large_as_asked_and_depends_on_the_seed() {
        let ids: Vec<BlobId> = (0u32..2000).map(|n| BlobId::of(&n.to_le_bytes())).collect();
        let chosen = |percent, seed| -> Vec<bool> {
            ids.iter().map(|id| selected(id, percent, seed)).collect()
        };
        let count = chosen(10, 1).iter().filter(|chosen| **chosen).count();
        assert!((120..280).contains(&count), "{count}");
        assert_ne!(chosen(10, 1), chosen(10, 2));
        assert!(chosen(100, 1).iter().all(|chosen| *chosen));
    }

    #[test]
    fn an_interruption_reads_back_and_ends_with_the_verification() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("verify.json");
        assert_eq!(read(&path).unwrap(), None);
        let interrupted =
            Interrupted { cursor: Some("blob:00ff".into()), percent: 10, seed: u64::MAX, bits: 17 };
        keep(&path, &interrupted).unwrap();
        assert_eq!(read(&path).unwrap(), Some(interrupted));
        forget(&path).unwrap();
        forget(&path).unwrap();
        assert_eq!(read(&path).unwrap(), None);
        std::fs::write(&path, r#"{"cursor":"nowhere:0","percent":1,"seed":1,"bits":0}"#).unwrap();
        assert_eq!(read(&path).unwrap_err().code, exit::STORE);
    }
}
