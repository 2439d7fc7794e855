//! The model realiser: a local GGUF behind the worker. The worker is started and the model loaded
//! when the first node needs it, and not at all when none does.

pub mod grammar;
pub mod prompts;
pub mod worker;

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use dossier_store::encode::{Map, Value};
use dossier_store::hash::Sha256;
use regex::Regex;
use serde_json::json;

use super::labels::labelled;
use super::task::{Task, Work};
use super::{Fault, Generation, Production, Realiser};
use crate::claims::Claim;
use crate::evidence::Evidence;
use crate::output::Output;
use crate::recipe::compile_pattern;
use grammar::{LabelledLine, LeafRules, Quotations, Subjects};
use prompts::{ChildClaims, Message, PromptError};
use worker::{Answer, Generate, Load, Part, Reuse, Worker, WorkerFault};

/// What is needed to start the worker and load a model.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The worker's program.
    pub program: PathBuf,
    /// The model file.
    pub model: PathBuf,
    /// The SHA-256 it must have.
    pub sha256: Sha256,
    /// Threads of a decode call.
    pub threads: u16,
    /// The most tokens of a prompt and its answer together.
    pub context: u64,
    /// How long the worker may make no progress.
    pub patience: Duration,
}

/// The worker's identity: what of it belongs into every key. No weights are loaded for it.
pub fn identity(spec: &Spec) -> Result<Map, WorkerFault> {
    let identity = Worker::spawn(&spec.program, spec.patience)?.identity(None)?;
    let builder = identity["builder"].as_object().cloned().unwrap_or_default();
    Ok(builder.iter().map(|(name, value)| (format!("worker_{name}"), words(value))).collect())
}

fn words(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Bool(flag) => Value::Flag(*flag),
        serde_json::Value::Number(number) if number.is_u64() => {
            Value::Number(number.as_u64().unwrap_or_default())
        }
        serde_json::Value::String(text) => Value::Text(text.clone()),
        other => Value::Text(other.to_string()),
    }
}

/// Why a node could not be worked on by the model.
#[derive(Debug, thiserror::Error)]
pub enum LlamaFault {
    /// The worker failed or refused.
    #[error(transparent)]
    Worker(#[from] WorkerFault),
    /// The derivation's prompt cannot be read.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The derivation has no budgets.
    #[error("the derivation names no token budgets")]
    NoBudgets,
}

/// The model realiser.
pub struct Llama {
    spec: Spec,
    worker: Option<Running>,
}

/// A worker with its model, and what it says of itself.
struct Running {
    worker: Worker,
    identity: serde_json::Value,
}

impl Llama {
    /// A realiser that starts its worker when it is first needed.
    pub fn new(spec: Spec) -> Self {
        Self { spec, worker: None }
    }

    /// The worker's process, where one runs.
    pub fn worker_process(&self) -> Option<u32> {
        self.worker.as_ref().map(|running| running.worker.process())
    }

    fn running(&mut self) -> Result<&mut Running, WorkerFault> {
        if self.worker.is_none() {
            let mut worker = Worker::spawn(&self.spec.program, self.spec.patience)?;
            let identity = worker.identity(None)?;
            worker.load(&self.spec.load(Part::Whole))?;
            self.worker = Some(Running { worker, identity });
        }
        self.worker.as_mut().ok_or_else(|| WorkerFault::Died {
            program: self.spec.program.clone(),
            status: "it was never there".into(),
        })
    }

    fn generate(&mut self, task: &Task) -> Result<Production, LlamaFault> {
        let budgets = task.budgets.ok_or(LlamaFault::NoBudgets)?;
        let request = Generate {
            messages: messages(task)?,
            grammar: (task.profile != "free").then(|| anchored(task)),
            max_tokens: budgets.output,
            input_budget: budgets.input,
            reuse: Reuse::Nothing,
        };
        let running = self.running()?;
        let answer = running.worker.generate(&request)?;
        let identity = running.identity.clone();
        Ok(match answer {
            Answer::OverBudget { tokens } => Production::OverBudget { tokens },
            Answer::Generated(generated) => {
                let raw = self.record(&request, &identity, &generated.raw);
                Production::Generated(Generation {
                    finish: generated.stop,
                    tokens_in: generated.tokens_in,
                    tokens_out: generated.tokens_out,
                    text: generated.text,
                    raw,
                })
            }
        })
    }

    /// The whole record of a generation, as JSON.
    fn record(&self, request: &Generate, identity: &serde_json::Value, reply: &[u8]) -> Vec<u8> {
        let reply: serde_json::Value = serde_json::from_slice(reply).unwrap_or_default();
        json!({
            "request": request,
            "reply": reply,
            "worker": identity,
            "model_sha256": self.spec.sha256.hex(),
            "threads": self.spec.threads,
        })
        .to_string()
        .into_bytes()
    }
}

impl Spec {
    /// What the worker is asked to load.
    fn load(&self, part: Part) -> Load {
        Load {
            model_path: self.model.to_string_lossy().into_owned(),
            expected_sha256: self.sha256.hex(),
            part,
            threads: self.threads,
            context: u32::try_from(self.context).unwrap_or(u32::MAX),
        }
    }
}

impl Realiser for Llama {
    fn realise(&mut self, task: &Task) -> Result<Production, Fault> {
        self.generate(task).map_err(|fault| {
            // A worker that failed once is not asked again; the next node starts another.
            self.worker = None;
            Fault::Worker { what: fault.to_string() }
        })
    }
}

/// Counts the tokens of prompts with the tokenizer alone.
pub struct Counter {
    worker: Worker,
}

impl Counter {
    /// Starts a worker with the model's tokenizer; no weights are loaded.
    pub fn new(spec: &Spec) -> Result<Self, WorkerFault> {
        let mut worker = Worker::spawn(&spec.program, spec.patience)?;
        worker.load(&spec.load(Part::Tokenizer))?;
        Ok(Self { worker })
    }

    /// How many tokens a task's prompt takes, the chat wrapper counted.
    pub fn count(&mut self, task: &Task) -> Result<u64, LlamaFault> {
        Ok(self.worker.count(&messages(task)?)?)
    }
}

/// The offered evidence as it is shown: labels and single lines.
fn shown(task: &Task) -> Vec<LabelledLine> {
    let line = |(label, evidence): (String, Evidence)| {
        (label, grammar::one_line(&evidence.quote).into_owned())
    };
    labelled(task).into_iter().map(line).collect()
}

fn messages(task: &Task) -> Result<Vec<Message>, PromptError> {
    let prompt = String::from_utf8_lossy(&task.instructions);
    match &task.work {
        Work::Leaf(_) => prompts::leaf_messages(&prompt, &shown(task)),
        Work::Reduce(reduce) => {
            let labelled = labelled(task);
            let child = |child: &Output| ChildClaims {
                status: child.status,
                claims: child.claims.iter().map(|claim| claim_line(claim, &labelled)).collect(),
            };
            let children: Vec<ChildClaims> = reduce.children.iter().map(child).collect();
            prompts::reduce_messages(&prompt, &children)
        }
    }
}

fn claim_line(claim: &Claim, labelled: &[(String, Evidence)]) -> String {
    let label_of = |cited| labelled.iter().find(|(_, offered)| offered == cited);
    let labels = claim.evidence.iter().filter_map(label_of).map(|(label, _)| label.as_str());
    prompts::claim_line(&claim.statement, &labels.collect::<Vec<_>>())
}

/// The grammar of a task's answer.
fn anchored(task: &Task) -> String {
    match &task.work {
        Work::Leaf(_) => {
            let pattern = subject_pattern(task);
            let find = |text: &str| pattern.as_ref().map_or_else(Vec::new, |p| subjects(text, p));
            let subjects = match &pattern {
                Some(_) => Subjects::At(&find),
                None => Subjects::Anywhere,
            };
            grammar::leaf_grammar(&LeafRules {
                lines: &shown(task),
                fields: &task.fields,
                max_claims: task.max_claims,
                subjects,
                // The prompt says so, too: what a text quotes is not what it says.
                quotations: Quotations::Withheld,
            })
        }
        Work::Reduce(reduce) => {
            let labelled = labelled(task);
            let claims = reduce.distinct_claims();
            let offered: Vec<(String, String)> = claims
                .iter()
                .map(|claim| (claim.statement.field.clone(), claim_line(claim, &labelled)))
                .collect();
            grammar::choice_grammar(&offered, task.max_claims)
        }
    }
}

/// Where the pattern finds subjects in a text: its group `subject`, or the whole match.
fn subjects(text: &str, pattern: &Regex) -> Vec<Range<usize>> {
    let found = pattern.captures_iter(text);
    found.filter_map(|m| Some(m.name("subject").or_else(|| m.get(0))?.range())).collect()
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
    fn subjects_are_the_group_or_the_whole_match() {
        let text = "Product P-10-04 delivery: 18 October.";
        let found = |pattern: &str| -> Vec<&str> {
            let pattern = compile_pattern(pattern).unwrap();
            subjects(text, &pattern).into_iter().map(|range| &text[range]).collect()
        };
        assert_eq!(found("P-[0-9]{2}-[0-9]{2}"), ["P-10-04"]);
        assert_eq!(found("^(?<subject>[A-Z][a-z]+) P"), ["Product"]);
        assert_eq!(found("nothing"), [""; 0]);
    }
}
