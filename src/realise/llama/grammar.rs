//! What an anchored answer must be: subjects and values copied from the offered lines, or whole
//! claims of the children. The worker keeps generation to it; the strict parser trusts it no more
//! than any other answer.

use regex::Regex;
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation as _;

use super::prompts::written;
use crate::claims::MAX_LENGTH;
use crate::evidence::Evidence;
use crate::recipe::compile_pattern;
use crate::realise::task::{Task, Work};

/// The version of what is offered below; part of every key of the anchored profile.
pub const VERSION: &str = "uax29 words/1";

/// The grammar of a task's answer.
pub fn anchored(task: &Task, labelled: &[(String, Evidence)]) -> Value {
    let max_claims = task.max_claims;
    match &task.work {
        Work::Leaf(_) => {
            let subject = subject_pattern(task);
            let line = |(label, evidence): &(String, Evidence)| line(label, evidence, subject.as_ref());
            json!({
                "kind": "copied",
                "lines": labelled.iter().map(line).collect::<Vec<_>>(),
                "fields": task.fields,
                "max_claims": max_claims,
                "max_length": MAX_LENGTH,
            })
        }
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
fn line(label: &str, evidence: &Evidence, subject: Option<&Regex>) -> Value {
    let chunks: Vec<&str> = evidence.quote.split_word_bounds().collect();
    match subject {
        None => json!({ "label": label, "chunks": chunks }),
        Some(subject) => json!({
            "label": label,
            "chunks": chunks,
            "subjects": subjects(&evidence.quote, &chunks, subject),
        }),
    }
}

/// The matches of the subject's pattern, as numbers of chunks; one that cuts a chunk is left out.
fn subjects(quote: &str, chunks: &[&str], pattern: &Regex) -> Vec<(usize, usize)> {
    let mut cuts = vec![0];
    cuts.extend(chunks.iter().scan(0, |end, chunk| {
        *end += chunk.len();
        Some(*end)
    }));
    let cut = |byte: usize| cuts.iter().position(|&cut| cut == byte);
    let found = pattern.captures_iter(quote).filter_map(|found| {
        let subject = found.name("subject").or_else(|| found.get(0))?;
        Some((cut(subject.start())?, cut(subject.end())?))
    });
    found.filter(|(from, to)| from < to).collect()
}

/// Whether an anchored leaf has a subject at all; without one nothing can be said of its text.
pub fn has_subject(task: &Task, evidence: &[Evidence]) -> bool {
    let Some(pattern) = subject_pattern(task) else { return true };
    evidence.iter().any(|evidence| pattern.is_match(&evidence.quote))
}

fn subject_pattern(task: &Task) -> Option<Regex> {
    task.subject.as_deref().and_then(|pattern| compile_pattern(pattern).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_matches_at_word_boundaries() {
        let quote = "Product P-10-04 delivery: 18 October.";
        let chunks: Vec<&str> = quote.split_word_bounds().collect();
        let found = |pattern: &str| -> Vec<String> {
            let pattern = compile_pattern(pattern).unwrap();
            let found = subjects(quote, &chunks, &pattern);
            found.into_iter().map(|(from, to)| chunks[from..to].concat()).collect()
        };
        assert_eq!(found("P-[0-9]{2}-[0-9]{2}"), ["P-10-04"]);
        assert_eq!(found("^(?<subject>[A-Z][a-z]+) P"), ["Product"]);
        assert!(found("rod").is_empty());
    }
}
