//! Requests in, replies out, until standard input ends. One thread reads, so that the end of input
//! is seen while the model works; all else happens on the main thread.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, sync_channel};

use llama_cpp_2::llama_backend::LlamaBackend;

use crate::chat::ChatError;
use crate::frame::{self, FrameError};
use crate::generate::{self, GenerateError};
use crate::gguf::HeaderError;
use crate::identity::Identity;
use crate::model::{EvaluateError, LoadError, Model};
use crate::model_file::ModelFileError;
use crate::process;
use crate::processor;
use crate::protocol::{Event, Load, Message, Part, Reply, Request};

/// Serves standard input until it ends. Nothing else is ever written to standard output.
pub fn run() -> ExitCode {
    let mut server = Server { backend: None, whole: None, tokenizer: None };
    let requests = read_requests();
    if let Err(refusal) = processor::check() {
        let _ = send(&error("processor_too_old", &refusal));
        return ExitCode::FAILURE;
    }
    for request in requests {
        let (reply, end) = match request {
            Ok(bytes) => server.answer(&bytes),
            Err(fault) => (error("frame", &fault), true),
        };
        if send(&reply).is_err() || end {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Frames as they come. At the end of input the reader sees to the end of the process.
fn read_requests() -> Receiver<Result<Vec<u8>, FrameError>> {
    let (sender, receiver) = sync_channel(4);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            match frame::read(&mut input) {
                Ok(None) => break,
                Ok(Some(bytes)) => {
                    if sender.send(Ok(bytes)).is_err() {
                        return;
                    }
                }
                Err(fault) => {
                    let _ = sender.send(Err(fault));
                    return;
                }
            }
        }
        drop(sender);
        process::input_closed()
    });
    receiver
}

fn send(message: &impl serde::Serialize) -> io::Result<()> {
    frame::write(&mut io::stdout().lock(), message)
}

fn error(code: &str, fault: &dyn std::fmt::Display) -> Reply {
    Reply::Error { code: code.to_owned(), message: fault.to_string() }
}

struct Server {
    backend: Option<LlamaBackend>,
    whole: Option<Model>,
    tokenizer: Option<Model>,
}

impl Server {
    /// The reply, and whether the worker ends with it: whoever sends what is no request is not
    /// talked to any longer.
    fn answer(&mut self, bytes: &[u8]) -> (Reply, bool) {
        match serde_json::from_slice(bytes) {
            Ok(request) => (self.serve(request), false),
            Err(fault) => (error("request", &fault), true),
        }
    }

    fn serve(&mut self, request: Request) -> Reply {
        match request {
            Request::Identity { model_path } => {
                self.start();
                match Identity::of(model_path.as_deref().map(Path::new)) {
                    Ok(identity) => Reply::Identity(Box::new(identity)),
                    Err(fault) => error(file_code(&fault), &fault),
                }
            }
            Request::Load(load) => {
                self.load(&load).unwrap_or_else(|fault| error(load_code(&fault), &fault))
            }
            Request::Count { messages } => self.count(&messages),
            Request::Generate(request) => {
                let Some(model) = &mut self.whole else {
                    return error("no_model", &GenerateError::NoModel);
                };
                let mut progress = |tokens| {
                    let _ = send(&Event::Progress { tokens });
                };
                generate::generate(model, &request, &mut progress)
                    .unwrap_or_else(|fault| error(generate_code(&fault), &fault))
            }
        }
    }

    /// Starts llama.cpp, once and silently.
    fn start(&mut self) -> Option<&LlamaBackend> {
        if self.backend.is_none() {
            self.backend = LlamaBackend::init().ok();
            if let Some(backend) = &mut self.backend {
                backend.void_logs();
            }
        }
        self.backend.as_ref()
    }

    fn load(&mut self, load: &Load) -> Result<Reply, LoadError> {
        let held = match load.part {
            Part::Whole => &self.whole,
            Part::Tokenizer => &self.tokenizer,
        };
        if held.is_some() {
            return Err(LoadError::AlreadyLoaded);
        }
        let backend =
            self.start().ok_or_else(|| LoadError::Backend("it was started before".into()))?;
        let mut told = 0;
        let (model, loaded) = Model::load(backend, load, |bytes| {
            // One frame for every 64 MiB.
            if bytes >> 26 != told {
                told = bytes >> 26;
                let _ = send(&Event::Progress { tokens: 0 });
            }
        })?;
        match load.part {
            Part::Whole => self.whole = Some(model),
            Part::Tokenizer => self.tokenizer = Some(model),
        }
        Ok(Reply::Loaded(loaded))
    }

    fn count(&self, messages: &[Message]) -> Reply {
        let Some(model) = self.whole.as_ref().or(self.tokenizer.as_ref()) else {
            return error("no_model", &GenerateError::NoModel);
        };
        match generate::count(model, messages) {
            Ok(tokens) => Reply::Counted { tokens },
            Err(fault) => error(chat_code(&fault), &fault),
        }
    }
}

fn file_code(fault: &ModelFileError) -> &'static str {
    match fault {
        ModelFileError::Missing { .. } => "model_missing",
        ModelFileError::NotAFile { .. } => "model_not_a_file",
        ModelFileError::Read { .. } => "model_unreadable",
        ModelFileError::Mismatch { .. } => "model_mismatch",
        ModelFileError::Header { source, .. } => match source {
            HeaderError::Read(_) => "model_unreadable",
            HeaderError::NotGguf => "model_not_gguf",
            HeaderError::Version(_) => "model_version",
            HeaderError::Truncated { .. } => "model_truncated",
            HeaderError::Corrupt { .. } => "model_corrupt",
        },
    }
}

fn load_code(fault: &LoadError) -> &'static str {
    match fault {
        LoadError::File(fault) => file_code(fault),
        LoadError::Chat(fault) => chat_code(fault),
        LoadError::AlreadyLoaded => "already_loaded",
        LoadError::Range { .. } => "out_of_range",
        LoadError::Model(_) => "model_refused",
        LoadError::Context(_) => "context_refused",
        LoadError::Backend(_) => "backend",
    }
}

fn chat_code(fault: &ChatError) -> &'static str {
    match fault {
        ChatError::NoTemplate => "no_chat_template",
        ChatError::OtherTemplate => "other_chat_template",
        ChatError::Tokenise(_) => "text_refused",
    }
}

fn generate_code(fault: &GenerateError) -> &'static str {
    match fault {
        GenerateError::NoModel => "no_model",
        GenerateError::Chat(fault) => chat_code(fault),
        GenerateError::Grammar(_) => "grammar",
        GenerateError::Context { .. } => "context_exceeded",
        GenerateError::Evaluate(EvaluateError::Interrupted) => "interrupted",
        GenerateError::Evaluate(_) => "evaluation",
        GenerateError::NotFinite(_) => "not_finite",
    }
}
