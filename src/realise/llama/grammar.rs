//! What an anchored answer must be: subjects and values copied from the offered lines, or whole
//! claims of the children. The worker keeps generation to it; the strict parser trusts it no more
//! than any other answer.

use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation as _;

use super::prompts::written;
use crate::claims::MAX_LENGTH;
use crate::evidence::Evidence;
use crate::realise::task::{Task, Work};

/// The version of what is offered below; part of every key of the anchored profile.
pub const VERSION: &str = "uax29 words/1";

/// The grammar of a task's answer.
pub fn anchored(task: &Task, labelled: &[(String, Evidence)]) -> Value {
    let max_claims = task.max_claims;
    match &task.work {
        Work::Leaf(_) => json!({
            "kind": "copied",
            "lines": labelled.iter().map(|(label, evidence)| line(label, evidence)).collect::<Vec<_>>(),
            "fields": task.fields,
            "max_claims": max_claims,
            "max_length": MAX_LENGTH,
        }),
        Work::Reduce(reduce) => {
            let claims = reduce.distinct_claims();
            json!({
                "kind": "offered",
                "claims": claims.iter().map(|claim| written(claim, labelled)).collect::<Vec<_>>(),
                "max_claims": max_claims,
            })
        }
    }
}

/// A line cut at the word boundaries of UAX 29, where a copy may begin or end.
fn line(label: &str, evidence: &Evidence) -> Value {
    let chunks: Vec<&str> = evidence.quote.split_word_bounds().collect();
    json!({ "label": label, "chunks": chunks })
}

