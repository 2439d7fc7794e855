//! A realiser that plays a model by following the rules: deterministic, for tests and benches of
//! everything around a model. Its answers go through the strict parser like any model's.

use std::collections::BTreeSet;

use super::labels::labelled;
use super::task::{Task, Work};
use super::{Fault, Generation, Production, Realiser};
use crate::evidence::Evidence;

/// Plays a model.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    /// Documents whose leaf is answered with this text, whatever they say.
    pub answers: Vec<(String, String)>,
    /// Documents whose leaf ends in a fault.
    pub faults: BTreeSet<String>,
    /// How often it was called.
    pub calls: u64,
}

impl Realiser for Scripted {
    fn realise(&mut self, task: &Task) -> Result<Production, Fault> {
        let labelled = labelled(task);
        let tokens_in: u64 = labelled.iter().map(|(_, e)| words(&e.quote)).sum();
        if task.budgets.is_some_and(|budgets| tokens_in > budgets.input) {
            return Ok(Production::OverBudget { tokens: tokens_in });
        }
        self.calls += 1;
        let text = match &task.work {
            Work::Leaf(leaf) => {
                let document = leaf.document.as_str();
                if self.faults.contains(document) {
                    return Err(Fault::Worker { what: format!("was told to fail on {document}") });
                }
                let given = self.answers.iter().find(|(named, _)| named == document);
                given.map_or_else(|| leaf_answer(task, &labelled), |(_, text)| text.clone())
            }
            Work::Reduce(_) => reduce_answer(task, &labelled),
        };
        Ok(Production::Generated(Generation {
            tokens_in,
            tokens_out: words(&text),
            raw: text.clone().into_bytes(),
            finish: "eos".into(),
            text,
        }))
    }
}

fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// The facts of the controlled world's grammar, in order, as many as are asked for.
fn leaf_answer(task: &Task, labelled: &[(String, Evidence)]) -> String {
    let facts = labelled.iter().filter_map(|(label, evidence)| {
        let (subject, rest) = evidence.quote.strip_prefix("Product ")?.split_once(' ')?;
        let (field, value) = rest.strip_suffix('.')?.split_once(": ")?;
        let known = task.fields.iter().any(|known| known == field);
        known.then(|| claim(subject, field, value, &[label]))
    });
    object(facts.take(usize::try_from(task.max_claims).unwrap_or(usize::MAX)).collect())
}

/// The children's claims in order, as many as are asked for.
fn reduce_answer(task: &Task, labelled: &[(String, Evidence)]) -> String {
    let Work::Reduce(reduce) = &task.work else { return object(Vec::new()) };
    let label_of = |cited: &Evidence| {
        labelled.iter().find(|(_, offered)| offered == cited).map(|(label, _)| label)
    };
    let claims = reduce.distinct_claims().into_iter().map(|stated| {
        let labels: Vec<&String> = stated.evidence.iter().filter_map(label_of).collect();
        let statement = &stated.statement;
        claim(&statement.subject, &statement.field, &statement.value, &labels)
    });
    object(claims.take(usize::try_from(task.max_claims).unwrap_or(usize::MAX)).collect())
}

fn claim(subject: &str, field: &str, value: &str, labels: &[&String]) -> serde_json::Value {
    serde_json::json!({"subject": subject, "field": field, "value": value, "evidence": labels})
}

fn object(claims: Vec<serde_json::Value>) -> String {
    serde_json::json!({ "claims": claims }).to_string()
}
