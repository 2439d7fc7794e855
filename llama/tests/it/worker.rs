//! A worker process for tests.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A running worker; killed when dropped.
pub(crate) struct Worker {
    child: Child,
}

impl Worker {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dossier-llama"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { child: command.spawn().unwrap() }
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.child.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, request: &Value) {
        let json = request.to_string();
        let mut frame = (json.len() as u32).to_le_bytes().to_vec();
        frame.extend(json.as_bytes());
        self.send_bytes(&frame);
    }

    /// The next frame; none where the worker closed its output.
    pub(crate) fn frame(&mut self) -> Option<Value> {
        let output = self.child.stdout.as_mut().unwrap();
        let mut length = [0; 4];
        output.read_exact(&mut length).ok()?;
        let mut json = vec![0; u32::from_le_bytes(length) as usize];
        output.read_exact(&mut json).unwrap();
        Some(serde_json::from_slice(&json).unwrap())
    }

    /// The reply to a request, after any signs of progress.
    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        self.send(request);
        loop {
            let frame = self.frame().unwrap();
            if frame.get("event").is_none() {
                return frame;
            }
        }
    }

    pub(crate) fn close_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// How the process ended, if it did within so long.
    pub(crate) fn ended_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// Everything that was written to standard error by an ended worker.
    pub(crate) fn errors(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
