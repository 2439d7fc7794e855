//! `why`: first causes, in words, why a root is stale or a node would be rebuilt.

use serde_json::{Value, json};

use super::args::{Global, WhyArgs};
use super::exit;
use super::failure::Failure;
use super::names::{self, Name};
use super::project::Project;
use super::show::{cause_words, causes_document};
use super::ui::{self, Ui, strong};
use crate::serve::Standing;
use crate::stale::Cause;
use crate::text::escape;

pub(super) fn run(of: &WhyArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.read_only(ui)?;
    let reader = store.read()?;
    let (name, node) = match Name::parse(&of.target) {
        Name::Node { dossier, node } => (dossier, node),
        _ => (of.target.clone(), "root".to_owned()),
    };
    let name = names::dossier(&reader, &name)?.name;
    let standing = Standing::find(&reader, &project.question(&name, false))?;
    if !standing.graph.is_empty() && standing.graph.find(&node).is_none() {
        return Err(names::not_found(format!("node {node:?} of {name}"))
            .hint(format!("dossier graph {name}")));
    }
    let (verdict, reason) = standing.verdict();
    let mut causes = standing.causes(&reader)?;
    causes.retain(|cause| cause.path.contains(&node));
    ui.line_or(
        || {
            let mut words = format!(
                "{}  {}  {reason}",
                strong(&escape(&of.target)),
                ui::status(verdict.as_str())
            );
            for cause in &causes {
                words.push_str(&format!("\n  {}", cause_words(cause)));
                if of.all {
                    words.push_str(&field_words(cause));
                }
            }
            words
        },
        || {
            json!({
                "schema": "dossier.why/1",
                "target": of.target,
                "verdict": verdict.as_str(),
                "reason": reason,
                "causes": if of.all { all(&causes) } else { causes_document(&causes) },
            })
        },
    );
    Ok(exit::DONE)
}

fn field_words(cause: &Cause) -> String {
    let field = |difference: &crate::explain::Difference| {
        format!(
            "\n      {}: {} → {}",
            difference.field,
            escape(difference.old.as_deref().unwrap_or("(absent)")),
            escape(difference.new.as_deref().unwrap_or("(absent)"))
        )
    };
    cause.fields.iter().map(field).collect()
}

fn all(causes: &[Cause]) -> Value {
    let mut document = causes_document(causes);
    for (position, cause) in causes.iter().enumerate() {
        let fields: Vec<Value> = cause.fields.iter().map(|difference| {
            json!({ "field": difference.field, "old": difference.old, "new": difference.new })
        }).collect();
        document[position]["fields"] = json!(fields);
    }
    document
}
