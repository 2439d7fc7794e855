//! The header of a GGUF file, read without trust: every length and count is checked against limits
//! and against the file before it is used. llama.cpp aborts on some damaged headers; those are
//! refused here first.

mod reader;
mod tensors;

use std::collections::BTreeMap;
use std::io::{self, Read};

use serde::Serialize;
use sha2::{Digest, Sha256};

use reader::{Reader, Scalar};

/// The most bytes of a header.
const MAX_HEADER: u64 = 256 << 20;
/// The most metadata entries.
const MAX_ENTRIES: u64 = 1 << 16;
/// The most tensors.
const MAX_TENSORS: u64 = 1 << 17;

/// What a header says.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    /// The format's version, 2 or 3.
    pub version: u32,
    /// The architecture, as llama.cpp names it.
    pub architecture: String,
    /// The model's name.
    pub name: Option<String>,
    /// The longest context it was trained for.
    pub context_length: Option<u64>,
    /// How most of the weights are quantised.
    pub quantisation: String,
    /// The tokenizer's kind.
    pub tokenizer_model: Option<String>,
    /// SHA-256 over every metadata entry of the tokenizer, as it stands in the file.
    pub tokenizer_sha256: String,
    /// How chats are written, if the file says so.
    pub chat_template: Option<String>,
    /// Tensors in the file.
    pub tensors: u64,
}

/// Why a file is no usable model.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// The file could not be read.
    #[error("the model file could not be read: {0}")]
    Read(#[from] io::Error),
    /// It does not begin like a GGUF file.
    #[error("this is no GGUF file")]
    NotGguf,
    /// A version that nobody reads here.
    #[error("GGUF version {0} is not read; 2 and 3 are")]
    Version(u32),
    /// The file ends before its header or its weights do.
    #[error("the model file is truncated: {what}")]
    Truncated {
        /// What is missing.
        what: &'static str,
    },
    /// Something impossible stands in the header.
    #[error("the model file is corrupt: {what}")]
    Corrupt {
        /// What is impossible.
        what: String,
    },
}

fn corrupt(what: impl Into<String>) -> HeaderError {
    HeaderError::Corrupt { what: what.into() }
}

/// Reads a header from the start of a file of `file_bytes` bytes.
pub fn read(source: impl Read, file_bytes: u64) -> Result<Header, HeaderError> {
    let mut reader = Reader::new(source, file_bytes.min(MAX_HEADER));
    if reader.bytes::<4>().map_err(|_| HeaderError::NotGguf)? != *b"GGUF" {
        return Err(HeaderError::NotGguf);
    }
    let version = reader.u32()?;
    if !(2..=3).contains(&version) {
        return Err(HeaderError::Version(version));
    }
    let tensors = limited(reader.u64()?, MAX_TENSORS, "tensors")?;
    let entries = limited(reader.u64()?, MAX_ENTRIES, "metadata entries")?;
    let metadata = read_metadata(&mut reader, entries)?;
    let alignment = metadata.number("general.alignment").unwrap_or(32);
    let listed = tensors::read(&mut reader, tensors)?;
    listed.check(reader.position(), alignment, file_bytes)?;
    metadata.header(version, tensors, listed.quantisation())
}

fn limited(count: u64, limit: u64, what: &str) -> Result<u64, HeaderError> {
    match count <= limit {
        true => Ok(count),
        false => Err(corrupt(format!("{count} {what}"))),
    }
}

/// The entries that are looked at, and a hash over the tokenizer's.
struct Metadata {
    scalars: BTreeMap<String, Scalar>,
    tokenizer: Sha256,
}

fn read_metadata<R: Read>(reader: &mut Reader<R>, count: u64) -> Result<Metadata, HeaderError> {
    let mut metadata = Metadata { scalars: BTreeMap::new(), tokenizer: Sha256::new() };
    for _ in 0..count {
        let key = reader.string()?;
        let of_tokenizer = key.starts_with("tokenizer.");
        if of_tokenizer {
            metadata.tokenizer.update((key.len() as u64).to_le_bytes());
            metadata.tokenizer.update(key.as_bytes());
            reader.record(std::mem::take(&mut metadata.tokenizer));
        }
        let scalar = reader.value()?;
        if of_tokenizer {
            metadata.tokenizer = reader.recorded();
        }
        if let Some(scalar) = scalar
            && metadata.scalars.insert(key.clone(), scalar).is_some()
        {
            return Err(corrupt(format!("{key} stands there twice")));
        }
    }
    Ok(metadata)
}

impl Metadata {
    fn text(&self, key: &str) -> Option<String> {
        match self.scalars.get(key) {
            Some(Scalar::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    fn number(&self, key: &str) -> Option<u64> {
        match self.scalars.get(key) {
            Some(Scalar::Number(number)) => Some(*number),
            _ => None,
        }
    }

    fn header(self, version: u32, tensors: u64, quantisation: &str) -> Result<Header, HeaderError> {
        let architecture = self.text("general.architecture");
        let architecture = architecture.ok_or_else(|| corrupt("it names no architecture"))?;
        Ok(Header {
            version,
            name: self.text("general.name"),
            context_length: self.number(&format!("{architecture}.context_length")),
            quantisation: quantisation.to_owned(),
            tokenizer_model: self.text("tokenizer.ggml.model"),
            chat_template: self.text("tokenizer.chat_template"),
            tokenizer_sha256: hex(self.tokenizer),
            architecture,
            tensors,
        })
    }
}

/// A finished hash in hexadecimal.
pub(crate) fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) mod tests;
