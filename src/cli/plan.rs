//! `plan`: what a build would do, without doing it.

use serde_json::{Value, json};

use super::args::{Global, TargetsArgs};
use super::exit;
use super::failure::Failure;
use super::names;
use super::project::Project;
use super::ui::{Ui, strong};
use crate::plan::{Planned, Work};
use crate::realise::Outcome;
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
        if !ui.json {
            ui.line(in_words(&name, &standing));
        }
        targets.push(document(&name, &standing));
    }
    if ui.json {
        ui.document(&json!({ "schema": "dossier.plan/1", "targets": targets }));
    }
    Ok(exit::DONE)
}

fn in_words(name: &str, standing: &Standing) -> String {
    let plan = &standing.plan;
    let mut words = format!(
        "{}: {} to realise, {} hits; at most {} model calls",
        strong(&escape(name)),
        plan.missing(),
        plan.hits(),
        plan.model_calls()
    );
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

fn document(name: &str, standing: &Standing) -> Value {
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
        // The `extract` realiser reads no prompt.
        "prompt_tokens": if plan.model_calls() == 0 { Some(0) } else { None },
        "nodes": nodes,
    })
}
