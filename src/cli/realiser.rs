//! Who realises a build's nodes, and as what it enters the keys. The worker is asked who it is only
//! when a model may be called: a build with nothing to do needs neither worker nor model.

use std::path::PathBuf;
use std::time::Duration;

use dossier_store::Store;
use dossier_store::encode::Map;
use dossier_store::read::Lookup as _;

use super::args::BuildArgs;
use super::exit;
use super::failure::Failure;
use super::project::Project;
use super::ui::Ui;
use crate::builder;
use crate::current::{Current, Now};
use crate::instantiate::Instantiation;
use crate::plan::Plan;
use crate::realise::extract::Extract;
use crate::realise::llama::{self, Llama, Spec};
use crate::realise::{Fault, Production, Realiser, task::Task};
use crate::recipe::Recipe;
use crate::settings::RealiserName;
use crate::text::escape;

/// The worker's program.
pub(super) const PROGRAM: &str = "dossier-llama";
/// How long a worker may make no progress: one decode call of a long prompt on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A build's realiser, ready to work.
pub(super) struct Prepared {
    /// What is to be made.
    pub(super) recipe: Recipe,
    /// Who makes it, as it enters the keys.
    pub(super) builder: Map,
    /// Who makes it.
    pub(super) realiser: Box<dyn Realiser>,
}

/// Prepares the realiser of one dossier's build.
pub(super) fn prepare(
    store: &Store,
    project: &Project,
    name: &str,
    realiser: RealiserName,
    of: &BuildArgs,
    ui: &Ui,
) -> Result<Prepared, Failure> {
    let recipe = project.settings.lower(realiser, project.model_sha256());
    if realiser == RealiserName::Extract {
        let builder = builder::of(realiser);
        return Ok(Prepared { recipe, builder, realiser: Box::new(Extract::default()) });
    }
    let again = of.full || of.check.is_some();
    let recorded = recorded(store, project, name, realiser)?;
    if let Some(builder) = recorded.clone().filter(|_| !again)
        && model_calls(store, project, name, &recipe, &builder)? == 0
    {
        return Ok(Prepared { recipe, builder, realiser: Box::new(NoModel) });
    }
    let spec = spec(project, of.jobs)?;
    let identity = llama::identity(&spec).map_err(|fault| {
        Failure::of(exit::BUILD | exit::BUILD_FAULT, &fault)
            .hint("make worker, or build with --realiser extract")
    })?;
    let builder = builder::with_worker(identity);
    if let Some(recorded) = recorded.filter(|recorded| *recorded != builder) {
        let calls = model_calls(store, project, name, &recipe, &builder)?;
        ui.warn(format!(
            "builder_changed: {} was built by another worker ({}); this build calls the model at most {calls} times",
            escape(name),
            changed(&recorded, &builder)
        ));
    }
    Ok(Prepared { recipe, builder, realiser: Box::new(Llama::new(spec)) })
}

/// The builder that the last published root records, if it is of this realiser.
fn recorded(
    store: &Store,
    project: &Project,
    name: &str,
    realiser: RealiserName,
) -> Result<Option<Map>, Failure> {
    let reader = store.read()?;
    let dossier = super::names::dossier(&reader, name)?;
    let Some((_, published)) = dossier.last_publication(&project.principal) else {
        return Ok(None);
    };
    let root = reader.derivation(published.root())?;
    let builder = root.map(|root| root.builder);
    Ok(builder.filter(|builder| builder.get("realiser") == Some(&realiser.as_str().into())))
}

/// How often a build by this builder would call the model, at most.
fn model_calls(
    store: &Store,
    project: &Project,
    name: &str,
    recipe: &Recipe,
    builder: &Map,
) -> Result<usize, Failure> {
    let reader = store.read()?;
    let current = Current::read(&reader, name, &project.settings.import, Now::Imported)?;
    let instantiation =
        Instantiation { dossier: &current.dossier, principal: &project.principal, recipe, builder };
    let graph = instantiation.graph(|version| current.text(&reader, version))?;
    Ok(Plan::make(&graph, &reader)?.model_calls())
}

/// The names of what differs between two builders.
fn changed(old: &Map, new: &Map) -> String {
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differing = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
    differing.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// What is needed to start the worker and load the model that the settings declare.
pub(super) fn spec(project: &Project, threads: Option<u16>) -> Result<Spec, Failure> {
    refuse_old_processor()?;
    let file = project.model_file()?;
    let model = &project.settings.llama.model;
    if !file.path.exists() {
        return Err(Failure::new(
            exit::STORE,
            format!("the model {model} is not at {}", file.path.display()),
        )
        .hint(format!("dossier model fetch {model}")));
    }
    let sha256 = file.sha256.ok_or_else(|| {
        Failure::new(exit::STORE, format!("llama.sha256 is not set for {}", file.path.display()))
            .hint("put the file's SHA-256 under [llama] in dossier.toml; sha256sum prints it")
    })?;
    let budgets = &project.settings.budgets;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(Spec {
        program: program(),
        model: file.path,
        sha256,
        threads: threads.unwrap_or(u16::try_from(cores).unwrap_or(1)).max(1),
        context: budgets.map_input.max(budgets.reduce_input) + budgets.output,
        patience: PATIENCE,
    })
}

/// The worker: `$DOSSIER_WORKER`, or the program beside this one, or whatever PATH finds.
pub(super) fn program() -> PathBuf {
    if let Some(set) = std::env::var_os("DOSSIER_WORKER").filter(|set| !set.is_empty()) {
        return set.into();
    }
    let here = std::env::current_exe().ok();
    let beside = here.and_then(|exe| Some(exe.parent()?.join(PROGRAM)));
    beside.filter(|path| path.exists()).unwrap_or_else(|| PROGRAM.into())
}

#[cfg(target_arch = "x86_64")]
fn refuse_old_processor() -> Result<(), Failure> {
    match std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        true => Ok(()),
        false => Err(Failure::new(
            exit::STORE,
            "this processor lacks AVX2 or FMA, which the worker is compiled for (x86-64-v3)",
        )
        .hint("build with --realiser extract, or on a newer machine")),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn refuse_old_processor() -> Result<(), Failure> {
    Ok(())
}

/// Stands in where no model can be needed.
struct NoModel;

impl Realiser for NoModel {
    fn realise(&mut self, _task: &Task) -> Result<Production, Fault> {
        Err(Fault::Unsuited { what: "a model's answer in a build that was planned without".into() })
    }
}
