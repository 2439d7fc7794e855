//! The model realiser: a local GGUF behind the worker. The worker is started and the model loaded
//! when the first node needs it, and not at all when none does.

pub mod grammar;
pub mod prompts;
pub mod worker;

use std::path::PathBuf;
use std::time::Duration;

use dossier_store::encode::{Map, Value};
use dossier_store::hash::Sha256;
use serde_json::json;

use super::labels::labelled;
use super::task::Task;
use super::{Fault, Generation, Production, Realiser};
use worker::{Worker, WorkerFault};

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
    let mut worker = Worker::start(&spec.program, spec.patience)?;
    let reply = worker.ask(&json!({ "request": "identity" }), &mut |_| {})?;
    let builder = reply["builder"].as_object();
    let builder = builder.ok_or_else(|| WorkerFault::Garbage { what: "no identity".into() })?;
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

/// The model realiser.
pub struct Llama {
    spec: Spec,
    fingerprint: serde_json::Value,
    worker: Option<Worker>,
}

impl Llama {
    /// A realiser that starts its worker when it is first needed.
    pub fn new(spec: Spec) -> Self {
        Self { spec, fingerprint: serde_json::Value::Null, worker: None }
    }

    /// How many tokens a task's prompt takes, the chat wrapper counted.
    pub fn count(&mut self, task: &Task) -> Result<u64, WorkerFault> {
        let messages = prompts::messages(task, &labelled(task));
        let request = json!({ "request": "count", "messages": messages });
        let reply = self.worker("tokenizer")?.ask(&request, &mut |_| {})?;
        reply["tokens"]
            .as_u64()
            .ok_or_else(|| WorkerFault::Garbage { what: "a count without tokens".into() })
    }

    fn worker(&mut self, part: &str) -> Result<&mut Worker, WorkerFault> {
        if self.worker.is_none() {
            let mut worker = Worker::start(&self.spec.program, self.spec.patience)?;
            self.fingerprint = worker.ask(&json!({ "request": "identity" }), &mut |_| {})?;
            let load = json!({
                "request": "load",
                "model_path": self.spec.model.to_string_lossy(),
                "expected_sha256": self.spec.sha256.hex(),
                "part": part,
                "threads": self.spec.threads,
                "context": self.spec.context,
            });
            worker.ask(&load, &mut |_| {})?;
            self.worker = Some(worker);
        }
        self.worker
            .as_mut()
            .ok_or_else(|| WorkerFault::Died { status: "nothing".into() })
    }

    fn generate(&mut self, task: &Task) -> Result<Production, WorkerFault> {
        let labelled = labelled(task);
        let messages = prompts::messages(task, &labelled);
        let grammar = (task.profile != "free")
            .then(|| grammar::anchored(task, &labelled).to_string());
        let budgets = task.budgets.ok_or_else(|| WorkerFault::Refused {
            code: "no_budgets".into(),
            message: "the derivation has no budgets".into(),
        })?;
        let request = json!({
            "request": "generate",
            "messages": messages,
            "grammar": grammar,
            "max_tokens": budgets.output,
            "input_budget": budgets.input,
        });
        let reply = self.worker("whole")?.ask(&request, &mut |_| {})?;
        match reply["reply"].as_str() {
            Some("over_budget") => Ok(Production::OverBudget {
                tokens: reply["tokens"].as_u64().unwrap_or_default(),
            }),
            Some("generated") => self.generation(&request, &reply),
            _ => Err(WorkerFault::Garbage { what: "another reply than was asked for".into() }),
        }
    }

    fn generation(
        &self,
        request: &serde_json::Value,
        reply: &serde_json::Value,
    ) -> Result<Production, WorkerFault> {
        let missing = || WorkerFault::Garbage { what: "a generation without its parts".into() };
        let number = |name: &str| reply[name].as_u64().ok_or_else(missing);
        let raw = json!({
            "request": request,
            "reply": reply,
            "worker": self.fingerprint,
            "model_sha256": self.spec.sha256.hex(),
            "threads": self.spec.threads,
        });
        Ok(Production::Generated(Generation {
            text: reply["text"].as_str().ok_or_else(missing)?.to_owned(),
            finish: reply["stop"].as_str().ok_or_else(missing)?.to_owned(),
            tokens_in: number("tokens_in")?,
            tokens_out: number("tokens_out")?,
            raw: raw.to_string().into_bytes(),
        }))
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
