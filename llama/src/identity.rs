//! Who works here: everything of the worker and of a model file's header that belongs into a key.
//! No weights are loaded for it.

use std::path::Path;

use serde::Serialize;

use crate::gguf::Header;
use crate::grammar::TOKENISATION;
use crate::model_file::{ModelFile, ModelFileError};
use crate::processor::{COMPILED_LEVEL, Instructions};
use crate::protocol::{CANONICAL_UBATCH, PROTOCOL};
use crate::{chat, vocabulary};

/// Who works here.
#[derive(Debug, Serialize)]
pub struct Identity {
    /// What belongs into every key.
    pub builder: Builder,
    /// The processor's own instructions; not part of any key.
    pub instructions: Instructions,
    /// The devices that llama.cpp sees; not part of any key.
    pub devices: Vec<Device>,
    /// The header of the model file that was asked about.
    pub model: Option<Header>,
}

/// What belongs into every key besides the model.
#[derive(Debug, Serialize)]
pub struct Builder {
    /// This program's version.
    pub worker: &'static str,
    /// The version of the protocol.
    pub protocol: u32,
    /// The binding to llama.cpp.
    pub llama_cpp_2: &'static str,
    /// The crate that carries llama.cpp's source.
    pub llama_cpp_sys_2: &'static str,
    /// llguidance.
    pub llguidance: &'static str,
    /// How chats are written.
    pub chat_rendering: &'static str,
    /// How untrusted text is cut.
    pub untrusted_text: &'static str,
    /// How literals of a grammar are tokenised.
    pub answer_tokenisation: &'static str,
    /// The kind of llguidance's tokenizer environment.
    pub tokenizer_environment: &'static str,
    /// Where the model runs.
    pub backend: &'static str,
    /// The named instruction level of the build.
    pub instruction_level: &'static str,
    /// The kind of attention.
    pub attention: &'static str,
    /// The type of the cached keys.
    pub cache_keys: &'static str,
    /// The type of the cached values.
    pub cache_values: &'static str,
    /// Sequences and batches.
    pub schedule: String,
}

/// A device that llama.cpp sees.
#[derive(Debug, Serialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Through which part of llama.cpp.
    pub backend: String,
    /// Bytes of its memory.
    pub memory_total: u64,
}

/// The crate versions that the manifest pins; a test compares them with the lock file.
pub const LLAMA_CPP_2: &str = "0.1.160";
/// The crate that carries llama.cpp's source.
pub const LLAMA_CPP_SYS_2: &str = "0.1.161";
/// llguidance.
pub const LLGUIDANCE: &str = "1.9.1";

impl Builder {
    /// This build.
    pub fn this() -> Self {
        Self {
            worker: env!("CARGO_PKG_VERSION"),
            protocol: PROTOCOL,
            llama_cpp_2: LLAMA_CPP_2,
            llama_cpp_sys_2: LLAMA_CPP_SYS_2,
            llguidance: LLGUIDANCE,
            chat_rendering: chat::RENDERING,
            untrusted_text: vocabulary::UNTRUSTED,
            answer_tokenisation: TOKENISATION,
            tokenizer_environment: "approximate",
            backend: "cpu",
            instruction_level: COMPILED_LEVEL,
            attention: "eager",
            cache_keys: "f16",
            cache_values: "f16",
            schedule: format!("one sequence, batches of {CANONICAL_UBATCH}"),
        }
    }
}

impl Identity {
    /// Reads the header, if one is asked for, and asks the processor and llama.cpp.
    pub fn of(model: Option<&Path>) -> Result<Self, ModelFileError> {
        let model = model.map(|path| ModelFile::open(path)?.header()).transpose()?;
        let devices = llama_cpp_2::list_llama_ggml_backend_devices();
        let device = |device: llama_cpp_2::LlamaBackendDevice| Device {
            name: device.name,
            description: device.description,
            backend: device.backend,
            memory_total: device.memory_total as u64,
        };
        Ok(Self {
            builder: Builder::this(),
            instructions: Instructions::present(),
            devices: devices.into_iter().map(device).collect(),
            model,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_versions_are_the_locked_ones() {
        let lock = include_str!("../../Cargo.lock");
        for (name, version) in [
            ("llama-cpp-2", LLAMA_CPP_2),
            ("llama-cpp-sys-2", LLAMA_CPP_SYS_2),
            ("llguidance", LLGUIDANCE),
        ] {
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&entry), "{name}");
        }
    }
}
