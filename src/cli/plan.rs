//! `plan`: what a build would do, without doing it.

use dossier_store::Reader;
use dossier_store::hash::BlobId;
use dossier_store::read::Lookup as _;
use serde_json::{Value, json};

use super::args::{Global, TargetsArgs};
use super::exit;
use super::failure::Failure;
use super::names;
use super::project::Project;
use super::ui::{Ui, strong};
use crate::graph::Node;
use crate::plan::{Planned, Work};
use crate::realise::llama::Counter;
use crate::realise::task::Task;
use crate::realise::{Outcome, settle};
use crate::serve::Standing;
use crate::text::escape;

pub(super) fn run(of: &TargetsArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.read_only(ui)?;
    let reader = store.read()?;
    let mut targets = Vec::new();
    for name in names::dossiers(&reader, &of.targets)? {
        let mut question = project.question(&name, of.imported);
        question.realiser = of.realiser.map(Into::into);
        let standing = Standing::find(&reader, &question)?;
        let prompts = prompts(&reader, &project, &standing, ui)?;
        if !ui.json {
            ui.line(in_words(&name, &standing, prompts.as_ref()));
        }
        targets.push(document(&name, &standing, prompts.as_ref()));
    }
    if ui.json {
        ui.document(&json!({ "schema": "dossier.plan/1", "targets": targets }));
    }
    Ok(exit::DONE)
}

/// The prompts of a plan, counted by the model's tokenizer alone.
#[derive(Default)]
struct Prompts {
    /// Tokens of those that are known already, the chat wrapper counted.
    tokens: u64,
    /// How many those are.
    counted: usize,
    /// Nodes whose prompt is longer than its budget.
    over_budget: Vec<String>,
}

/// Counts the prompts that are known before anything is realised; none where the worker or the
/// model is not there to count.
fn prompts(
    reader: &Reader,
    project: &Project,
    standing: &Standing,
    ui: &Ui,
) -> Result<Option<Prompts>, Failure> {
    let mut prompts = Prompts::default();
    if standing.plan.model_calls() == 0 {
        return Ok(Some(prompts));
    }
    let counter = super::realiser::spec(project, None)
        .and_then(|spec| Counter::new(&spec).map_err(|fault| Failure::of(exit::STORE, &fault)));
    let mut counter = match counter {
        Ok(counter) => counter,
        Err(failure) => {
            ui.warn(format!("prompts are not counted: {}", escape(&failure.what)));
            return Ok(None);
        }
    };
    for (index, node) in standing.graph.nodes() {
        if standing.plan.nodes[index.0] != Planned::Missing(Work::Model) {
            continue;
        }
        let Some(task) = task(reader, standing, node)? else { continue };
        let tokens = counter.count(&task).map_err(|fault| Failure::of(exit::STORE, &fault))?;
        prompts.tokens += tokens;
        prompts.counted += 1;
        if task.budgets.is_some_and(|budgets| tokens > budgets.input) {
            prompts.over_budget.push(node.name.clone());
        }
    }
    Ok(Some(prompts))
}

/// A node's task, where all its inputs are known and a model would read it.
fn task(reader: &Reader, standing: &Standing, node: &Node) -> Result<Option<Task>, Failure> {
    let realised = |id| reader.realisation(id).ok().flatten().map(|realisation| realisation.output);
    let Some(resolved) = node.derivation.resolve(realised) else { return Ok(None) };
    let mut inputs = Vec::with_capacity(resolved.inputs.len());
    for input in &resolved.inputs {
        let instructions = &standing.graph.instructions;
        let held = instructions.iter().find(|bytes| BlobId::of(bytes) == input.source).cloned();
        let held = held.or_else(|| standing.current.unstored(input.source));
        let Some(bytes) = held.map_or_else(|| reader.blob(input.source), |b| Ok(Some(b)))? else {
            return Ok(None);
        };
        inputs.push(bytes);
    }
    let task = Task::read(&resolved, &inputs).ok();
    Ok(task.filter(|task| settle::settle(task).is_none()))
}

fn in_words(name: &str, standing: &Standing, prompts: Option<&Prompts>) -> String {
    let plan = &standing.plan;
    let mut words = format!(
        "{}: {} to realise, {} hits; at most {} model calls",
        strong(&escape(name)),
        plan.missing(),
        plan.hits(),
        plan.model_calls()
    );
    if let Some(prompts) = prompts.filter(|prompts| prompts.counted > 0) {
        words.push_str(&format!(
            "; {} prompt tokens in {} prompts that are known now",
            prompts.tokens, prompts.counted
        ));
        for node in &prompts.over_budget {
            words.push_str(&format!("\n  {node} is over its input budget"));
        }
    }
    for (index, node) in standing.graph.nodes() {
        if let Planned::Missing(work) = &plan.nodes[index.0] {
            let work = match work {
                Work::Rule => "by rule",
                Work::Model => "by the model",
            };
            words.push_str(&format!("\n  {} {work}", node.name));
        }
    }
    words
}

fn document(name: &str, standing: &Standing, prompts: Option<&Prompts>) -> Value {
    let nodes: Vec<Value> = standing
        .graph
        .nodes()
        .map(|(index, node)| {
            let (outcome, output) = match &standing.plan.nodes[index.0] {
                Planned::Hit(hit) => (Outcome::Hit.as_str(), Some(hit.output.to_string())),
                Planned::Missing(_) => ("missing", None),
            };
            json!({
                "name": node.name,
                "outcome": outcome,
                "status": standing.plan.status(index).map(|status| status.as_str()),
                "drv": node.id.to_string(),
                "out": output,
            })
        })
        .collect();
    let plan = &standing.plan;
    json!({
        "dossier": name,
        "root": standing.graph.root().map(|root| root.id.to_string()),
        "counts": { "hit": plan.hits(), "missing": plan.missing() },
        "recomputed": plan.missing(),
        "model_calls": plan.model_calls(),
        "prompt_tokens": prompts.map(|prompts| prompts.tokens),
        "prompts_counted": prompts.map(|prompts| prompts.counted),
        "over_budget": prompts.map(|prompts| &prompts.over_budget),
        "nodes": nodes,
    })
}
