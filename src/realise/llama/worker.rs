//! The worker's client: a program of its own behind two pipes. Its death, its silence and whatever
//! it says out of turn are faults, never results. Nothing here outlives its owner: dropping a worker
//! ends its process.

use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::prompts::Message;

/// The version of the protocol that is spoken here.
pub const PROTOCOL: u32 = 1;

/// The most bytes of one frame's JSON.
const MAX_FRAME: usize = 16 << 20;

/// A worker process.
///
/// On Linux it dies with the *thread* that spawned it, so spawn it from one that lives as long.
pub struct Worker {
    program: PathBuf,
    child: Child,
    input: Option<ChildStdin>,
    frames: Receiver<Frame>,
    patience: Duration,
}

type Frame = Result<Vec<u8>, String>;

/// Why a worker gave no result. Nothing of it is ever stored.
#[derive(Debug, thiserror::Error)]
pub enum WorkerFault {
    /// The program could not be started.
    #[error("the worker {program} could not be started: {source}", program = program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The process ended.
    #[error("the worker {program} ended unasked ({status})", program = program.display())]
    Died {
        /// The program.
        program: PathBuf,
        /// How it ended, as the system says it.
        status: String,
    },
    /// No reply and no progress for too long. The process was ended.
    #[error("the worker {program} said nothing for {seconds} s and was ended",
        program = program.display())]
    Silent {
        /// The program.
        program: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// What it said was no reply to what was asked. The process was ended.
    #[error("the worker {program} spoke nonsense and was ended: {what}",
        program = program.display())]
    Garbage {
        /// The program.
        program: PathBuf,
        /// What was wrong with it.
        what: String,
    },
    /// It says, in order, that it cannot serve the request. The process goes on.
    #[error("{message}")]
    Refused {
        /// What went wrong, in one code.
        code: String,
        /// What went wrong, in words.
        message: String,
    },
}

/// How a model is loaded.
#[derive(Clone, Debug, Serialize)]
pub struct Load {
    /// The model file.
    pub model_path: String,
    /// Its SHA-256 in hexadecimal.
    pub expected_sha256: String,
    /// How much of it is needed.
    pub part: Part,
    /// Threads of a decode call.
    pub threads: u16,
    /// The most tokens of a prompt and its answer together.
    pub context: u32,
}

/// How much of a model file is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Everything.
    Whole,
    /// The tokenizer, for [`Worker::count`].
    Tokenizer,
}

/// A loaded model.
#[derive(Clone, Debug, Deserialize)]
pub struct Loaded {
    /// The SHA-256 of the bytes that were loaded.
    pub sha256: String,
    /// Seconds of hashing.
    pub seconds_hash: f64,
    /// Seconds of loading.
    pub seconds_load: f64,
}

/// What is to be generated.
#[derive(Clone, Debug, Serialize)]
pub struct Generate {
    /// The prompt.
    pub messages: Vec<Message>,
    /// The grammar of the answer, as [`super::grammar`] makes it.
    pub grammar: Option<String>,
    /// The most tokens of the answer.
    pub max_tokens: u64,
    /// The most tokens of the prompt.
    pub input_budget: u64,
    /// What earlier work may be kept.
    pub reuse: Reuse,
}

/// What earlier work may be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reuse {
    /// None: the canonical schedule.
    #[default]
    Nothing,
    /// The state of the longest prefix shared with the prompt before.
    Prefix,
}

/// What became of a request to generate.
#[derive(Clone, Debug)]
pub enum Answer {
    /// An answer.
    Generated(Box<Generated>),
    /// The prompt is longer than its budget; the model was not called.
    OverBudget {
        /// What the prompt takes.
        tokens: u64,
    },
}

/// An answer.
#[derive(Clone, Debug, Deserialize)]
pub struct Generated {
    /// The answer's text.
    pub text: String,
    /// Why generation ended: `eos` or `length`.
    pub stop: String,
    /// Tokens of the prompt, the chat wrapper counted.
    pub tokens_in: u64,
    /// Tokens that were generated.
    pub tokens_out: u64,
    /// The generated token ids.
    pub output_ids: Vec<u32>,
    /// Decode calls for the answer.
    pub evaluations: u64,
    /// Seconds spent on the prompt.
    pub seconds_prefill: f64,
    /// Seconds spent on the answer.
    pub seconds_decode: f64,
    /// The whole reply as it came, for the record.
    #[serde(skip)]
    pub raw: Vec<u8>,
}

#[derive(Serialize)]
#[serde(tag = "request", rename_all = "snake_case")]
enum Request<'a> {
    Identity { model_path: Option<&'a str> },
    Load(&'a Load),
    Count { messages: &'a [Message] },
    Generate(&'a Generate),
}

impl Worker {
    /// Starts the program in its own process group. `patience` is how long it may go without a
    /// reply or a sign of progress.
    pub fn spawn(program: &Path, patience: Duration) -> Result<Self, WorkerFault> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("GGML_NO_BACKTRACE", "1");
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let failed = |source| WorkerFault::Spawn { program: program.to_path_buf(), source };
        let mut child = command.spawn().map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = pipes else {
            return Err(failed(ErrorKind::BrokenPipe.into()));
        };
        let frames = read_frames(output);
        let program = program.to_path_buf();
        Ok(Self { program, child, input: Some(input), frames, patience })
    }

    /// The id of its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Who works there, and what a model file's header says; no weights are loaded. The reply is
    /// the worker's own, with `builder`, `instructions`, `devices` and `model`.
    pub fn identity(&mut self, model: Option<&Path>) -> Result<Value, WorkerFault> {
        let model_path = model.map(|path| path.to_string_lossy().into_owned());
        let request = Request::Identity { model_path: model_path.as_deref() };
        let (identity, _) = self.ask(&request, "identity")?;
        match identity["builder"]["protocol"].as_u64() == Some(PROTOCOL.into()) {
            true => Ok(identity),
            false => Err(self.garbage("it speaks another version of the protocol")),
        }
    }

    /// Loads a model.
    pub fn load(&mut self, load: &Load) -> Result<Loaded, WorkerFault> {
        let (loaded, _) = self.ask(&Request::Load(load), "loaded")?;
        self.read(loaded)
    }

    /// Tokens of a prompt, the chat wrapper counted.
    pub fn count(&mut self, messages: &[Message]) -> Result<u64, WorkerFault> {
        let (counted, _) = self.ask(&Request::Count { messages }, "counted")?;
        counted["tokens"].as_u64().ok_or_else(|| self.garbage("a count without a number"))
    }

    /// Continues a prompt.
    pub fn generate(&mut self, generate: &Generate) -> Result<Answer, WorkerFault> {
        let (reply, raw) = self.ask(&Request::Generate(generate), "generated")?;
        if reply["reply"] == "over_budget" {
            let tokens = reply["tokens"].as_u64();
            let tokens = tokens.ok_or_else(|| self.garbage("a length without a number"))?;
            return Ok(Answer::OverBudget { tokens });
        }
        let generated: Generated = self.read(reply)?;
        Ok(Answer::Generated(Box::new(Generated { raw, ..generated })))
    }

    fn read<T: serde::de::DeserializeOwned>(&mut self, reply: Value) -> Result<T, WorkerFault> {
        serde_json::from_value(reply).map_err(|error| self.garbage(&error.to_string()))
    }

    /// Sends a request and waits for its reply, which must be of this kind.
    fn ask(&mut self, request: &Request<'_>, kind: &str) -> Result<(Value, Vec<u8>), WorkerFault> {
        if self.send(request).is_err() {
            return Err(self.died());
        }
        loop {
            let bytes = self.receive()?;
            let reply: Value = serde_json::from_slice(&bytes)
                .map_err(|error| self.garbage(&format!("no JSON: {error}")))?;
            if reply["event"] == "progress" {
                continue;
            }
            return match reply["reply"].as_str() {
                Some("error") => Err(refusal(&reply)),
                Some(other) if other == kind => Ok((reply, bytes)),
                Some("over_budget") if kind == "generated" => Ok((reply, bytes)),
                _ => Err(self.garbage("a reply of another kind")),
            };
        }
    }

    fn send(&mut self, request: &Request<'_>) -> io::Result<()> {
        let bytes = serde_json::to_vec(request)?;
        let length = u32::try_from(bytes.len()).map_err(|_| ErrorKind::InvalidData)?;
        let input = self.input.as_mut().ok_or(ErrorKind::BrokenPipe)?;
        input.write_all(&length.to_le_bytes())?;
        input.write_all(&bytes)?;
        input.flush()
    }

    fn receive(&mut self) -> Result<Vec<u8>, WorkerFault> {
        match self.frames.recv_timeout(self.patience) {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(what)) => Err(self.garbage(&what)),
            Err(RecvTimeoutError::Disconnected) => Err(self.died()),
            Err(RecvTimeoutError::Timeout) => {
                self.end();
                let (program, seconds) = (self.program.clone(), self.patience.as_secs());
                Err(WorkerFault::Silent { program, seconds })
            }
        }
    }

    fn garbage(&mut self, what: &str) -> WorkerFault {
        self.end();
        WorkerFault::Garbage { program: self.program.clone(), what: what.to_owned() }
    }

    fn died(&mut self) -> WorkerFault {
        let status = self.end().map_or_else(|| "unknown".to_owned(), |status| status.to_string());
        WorkerFault::Died { program: self.program.clone(), status }
    }

    /// Ends the process, if it has not ended by itself.
    fn end(&mut self) -> Option<ExitStatus> {
        drop(self.input.take());
        if let Some(status) = self.ended_by_itself() {
            return Some(status);
        }
        // Killing fails only where there is nothing left to kill.
        let _ = self.child.kill();
        self.child.wait().ok()
    }

    /// Gives a process whose pipes are closed a moment to be seen ending.
    fn ended_by_itself(&mut self) -> Option<ExitStatus> {
        for _ in 0..20 {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

fn refusal(reply: &Value) -> WorkerFault {
    let text = |name: &str| reply[name].as_str().unwrap_or_default().to_owned();
    WorkerFault::Refused { code: text("code"), message: text("message") }
}

/// Frames as they come, until the pipe ends or breaks.
fn read_frames(mut output: ChildStdout) -> Receiver<Frame> {
    let (sender, receiver) = sync_channel(16);
    std::thread::spawn(move || {
        while let Some(frame) = read_frame(&mut output) {
            let last = frame.is_err();
            if sender.send(frame).is_err() || last {
                return;
            }
        }
    });
    receiver
}

/// One frame; `None` where the pipe ends between frames. A length is never trusted.
fn read_frame(output: &mut impl Read) -> Option<Frame> {
    let mut prefix = [0; 4];
    match output.read(&mut prefix[..1]) {
        Ok(0) => return None,
        Ok(_) => {}
        Err(error) => return Some(Err(error.to_string())),
    }
    let rest = output.read_exact(&mut prefix[1..]);
    let length = u32::from_le_bytes(prefix) as usize;
    if rest.is_err() || !(1..=MAX_FRAME).contains(&length) {
        return Some(Err("no frame".to_owned()));
    }
    let mut bytes = vec![0; length];
    Some(match output.read_exact(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_) => Err("half a frame".to_owned()),
    })
}

#[cfg(test)]
mod tests;
