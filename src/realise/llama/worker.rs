//! The worker's process from this side of the pipes: frames out, frames in. Its death, a silence
//! that lasts too long and bytes that are no reply are faults, never results.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

/// The most bytes of a frame's JSON; the worker's own limit.
const MAX_FRAME: usize = 16 << 20;
/// How long a worker that was told to end may take before it is killed.
const FAREWELL: Duration = Duration::from_millis(500);

/// Why the worker gave no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkerFault {
    /// It could not be started.
    #[error("{program} cannot be started: {reason}; build it with `make worker` or set DOSSIER_WORKER")]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// It ended before it replied.
    #[error("it ended with {status} before it replied")]
    Died {
        /// Its exit status or signal.
        status: String,
    },
    /// It was silent for too long.
    #[error("it made no progress for {seconds} s and was stopped")]
    Silent {
        /// For how long.
        seconds: u64,
    },
    /// It sent something that is no reply.
    #[error("it sent something that is no reply: {what}")]
    Garbage {
        /// What it was.
        what: String,
    },
    /// It refused the request.
    #[error("{message} ({code})")]
    Refused {
        /// Why, in a code.
        code: String,
        /// Why, in words.
        message: String,
    },
}

/// A running worker.
pub struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    frames: Receiver<Result<Vec<u8>, String>>,
    patience: Duration,
}

impl Worker {
    /// Starts a worker in a process group of its own, so that Ctrl-C ends the build in order. It
    /// is given up when it makes no progress for so long.
    pub fn start(program: &Path, patience: Duration) -> Result<Self, WorkerFault> {
        let failed = |reason: std::io::Error| WorkerFault::Start {
            program: program.to_owned(),
            reason: reason.to_string(),
        };
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let stdin = child.stdin.take();
        let (sender, frames) = channel();
        if let Some(mut stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                loop {
                    let frame = read_frame(&mut stdout).transpose();
                    let Some(frame) = frame else { return };
                    let last = frame.is_err();
                    if sender.send(frame).is_err() || last {
                        return;
                    }
                }
            });
        }
        Ok(Self { child, stdin, frames, patience })
    }

    /// Sends a request and waits for its reply. `progress` hears of tokens on the way.
    pub fn ask(
        &mut self,
        request: &Value,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Value, WorkerFault> {
        self.send(request)?;
        loop {
            let reply = self.receive()?;
            if reply["event"] == "progress" {
                progress(reply["tokens"].as_u64().unwrap_or_default());
                continue;
            }
            return match reply["reply"].as_str() {
                Some("error") => Err(WorkerFault::Refused {
                    code: reply["code"].as_str().unwrap_or("unknown").to_owned(),
                    message: reply["message"].as_str().unwrap_or("no reason given").to_owned(),
                }),
                Some(_) => Ok(reply),
                None => Err(WorkerFault::Garbage { what: "a frame without a reply".into() }),
            };
        }
    }

    fn send(&mut self, request: &Value) -> Result<(), WorkerFault> {
        let bytes = request.to_string().into_bytes();
        let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= MAX_FRAME);
        let Some(length) = length else {
            return Err(WorkerFault::Refused {
                code: "frame_too_large".into(),
                message: format!("a request of {} bytes is too large", bytes.len()),
            });
        };
        let stdin = self.stdin.as_mut();
        let sent = stdin.is_some_and(|stdin| {
            let written = stdin.write_all(&length.to_le_bytes());
            written.and_then(|()| stdin.write_all(&bytes)).and_then(|()| stdin.flush()).is_ok()
        });
        if sent { Ok(()) } else { Err(self.death()) }
    }

    fn receive(&mut self) -> Result<Value, WorkerFault> {
        match self.frames.recv_timeout(self.patience) {
            Ok(Ok(bytes)) => serde_json::from_slice(&bytes)
                .map_err(|error| WorkerFault::Garbage { what: error.to_string() }),
            Ok(Err(what)) => Err(WorkerFault::Garbage { what }),
            Err(RecvTimeoutError::Disconnected) => Err(self.death()),
            Err(RecvTimeoutError::Timeout) => {
                // It is past helping; that it may have ended meanwhile changes nothing.
                let _ = self.child.kill();
                Err(WorkerFault::Silent { seconds: self.patience.as_secs() })
            }
        }
    }

    fn death(&mut self) -> WorkerFault {
        self.stdin = None;
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        WorkerFault::Died { status }
    }
}

impl Drop for Worker {
    /// Closing its input tells the worker to end; if it does not, it is killed.
    fn drop(&mut self) {
        self.stdin = None;
        let pause = FAREWELL / 10;
        for _ in 0..10 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(pause);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One frame; `None` at the end of the stream.
fn read_frame(stream: &mut impl Read) -> Result<Option<Vec<u8>>, String> {
    let mut prefix = [0; 4];
    let mut filled = 0;
    while filled < prefix.len() {
        match stream.read(&mut prefix[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err("the stream ended inside a frame".into()),
            Ok(count) => filled += count,
            Err(error) => return Err(error.to_string()),
        }
    }
    let length = u32::from_le_bytes(prefix) as usize;
    if !(1..=MAX_FRAME).contains(&length) {
        return Err(format!("a frame of {length} bytes"));
    }
    let mut bytes = vec![0; length];
    match stream.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(_) => Err("the stream ended inside a frame".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);
    const IMPATIENCE: Duration = Duration::from_millis(300);

    /// A worker played by the shell: it says these bytes, whatever it is asked.
    fn played(script: &str, patience: Duration) -> (tempfile::TempDir, Worker) {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("worker");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let worker = Worker::start(&program, patience).unwrap();
        (folder, worker)
    }

    fn fault(script: &str) -> WorkerFault {
        fault_within(script, PATIENCE)
    }

    fn fault_within(script: &str, patience: Duration) -> WorkerFault {
        let (_folder, mut worker) = played(script, patience);
        worker.ask(&serde_json::json!({"request": "identity"}), &mut |_| {}).unwrap_err()
    }

    #[test]
    fn death_silence_and_garbage_are_faults() {
        assert!(matches!(fault("exit 1"), WorkerFault::Died { .. }));
        assert!(matches!(fault("kill -9 $$"), WorkerFault::Died { .. }));
        assert!(matches!(fault_within("exec sleep 60", IMPATIENCE), WorkerFault::Silent { .. }));
        assert!(matches!(fault(r"printf '\377\377\377\377'; exec sleep 60"), WorkerFault::Garbage { .. }));
        assert!(matches!(fault(r"printf '\004\000\000\000nope'; exec sleep 60"), WorkerFault::Garbage { .. }));
        assert!(matches!(fault(r"printf '\002\000\000\000{}'; exec sleep 60"), WorkerFault::Garbage { .. }));
        assert!(matches!(fault(r"printf '\011\000\000\000{'; exit 0"), WorkerFault::Garbage { .. }));
    }

    #[test]
    fn progress_comes_before_the_reply() {
        let script = concat!(
            r#"printf '\042\000\000\000{"event":"progress","tokens": 17 }'; "#,
            r#"printf '\023\000\000\000{"reply":"counted"}'; exec sleep 60"#
        );
        let (_folder, mut worker) = played(script, PATIENCE);
        let mut heard = Vec::new();
        let reply = worker.ask(&serde_json::json!({}), &mut |tokens| heard.push(tokens)).unwrap();
        assert_eq!((reply["reply"].as_str(), heard), (Some("counted"), vec![17]));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let missing = Worker::start(Path::new("/nowhere/dossier-llama"), PATIENCE);
        let error = missing.err().unwrap().to_string();
        assert!(error.contains("/nowhere/dossier-llama"), "{error}");
    }
}
