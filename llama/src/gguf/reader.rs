//! Reads the values of a header from a stream whose end is known. Nothing is allocated for a
//! length that the rest of the header cannot hold.

use std::io::{BufReader, ErrorKind, Read};

use sha2::{Digest, Sha256};

use super::{HeaderError, corrupt};

/// The most bytes of a key.
const MAX_KEY: u64 = 1 << 16;
/// How deep arrays may lie in arrays.
const MAX_DEPTH: u32 = 4;

/// A value that is looked at; arrays are only walked over.
pub(super) enum Scalar {
    /// A text.
    Text(String),
    /// A whole number that is not negative.
    Number(u64),
}

/// A header's bytes, the position in them, and the hash over what is read meanwhile.
pub(super) struct Reader<R: Read> {
    source: BufReader<R>,
    position: u64,
    end: u64,
    recording: Option<Sha256>,
}

impl<R: Read> Reader<R> {
    pub(super) fn new(source: R, end: u64) -> Self {
        Self { source: BufReader::new(source), position: 0, end, recording: None }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Feeds what is read from now on to a hash.
    pub(super) fn record(&mut self, hasher: Sha256) {
        self.recording = Some(hasher);
    }

    /// Ends that, and gives the hash back.
    pub(super) fn recorded(&mut self) -> Sha256 {
        self.recording.take().unwrap_or_default()
    }

    pub(super) fn bytes<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], HeaderError> {
        let mut bytes = [0; COUNT];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), HeaderError> {
        self.expect(buffer.len() as u64)?;
        self.source.read_exact(buffer).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => HeaderError::Truncated { what: "its header" },
            _ => HeaderError::Read(error),
        })?;
        self.position += buffer.len() as u64;
        if let Some(hasher) = &mut self.recording {
            hasher.update(&*buffer);
        }
        Ok(())
    }

    /// Refuses a length beyond the end.
    fn expect(&self, length: u64) -> Result<(), HeaderError> {
        match length <= self.end - self.position {
            true => Ok(()),
            false => Err(HeaderError::Truncated { what: "its header" }),
        }
    }

    pub(super) fn u32(&mut self) -> Result<u32, HeaderError> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, HeaderError> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// A key or name.
    pub(super) fn string(&mut self) -> Result<String, HeaderError> {
        let bytes = self.text(MAX_KEY)?;
        String::from_utf8(bytes).map_err(|_| corrupt("a name is no UTF-8"))
    }

    fn text(&mut self, limit: u64) -> Result<Vec<u8>, HeaderError> {
        let length = self.u64()?;
        self.expect(length)?;
        if length > limit {
            return Err(corrupt(format!("a text of {length} bytes")));
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// A metadata value with its type.
    pub(super) fn value(&mut self) -> Result<Option<Scalar>, HeaderError> {
        let kind = self.u32()?;
        self.value_of(kind, 0)
    }

    fn value_of(&mut self, kind: u32, depth: u32) -> Result<Option<Scalar>, HeaderError> {
        Ok(match kind {
            0 => Some(Scalar::Number(self.bytes::<1>()?[0].into())),
            2 => Some(Scalar::Number(u16::from_le_bytes(self.bytes()?).into())),
            4 => Some(Scalar::Number(self.u32()?.into())),
            10 => Some(Scalar::Number(self.u64()?)),
            1 => signed(i8::from_le_bytes(self.bytes()?).into()),
            3 => signed(i16::from_le_bytes(self.bytes()?).into()),
            5 => signed(i32::from_le_bytes(self.bytes()?).into()),
            11 => signed(i64::from_le_bytes(self.bytes()?)),
            6 => self.bytes::<4>().map(|_| None)?,
            12 => self.bytes::<8>().map(|_| None)?,
            7 => self.flag()?,
            8 => String::from_utf8(self.text(u64::MAX)?).ok().map(Scalar::Text),
            9 => self.array(depth)?,
            _ => return Err(corrupt(format!("a value of type {kind}"))),
        })
    }

    fn flag(&mut self) -> Result<Option<Scalar>, HeaderError> {
        match self.bytes::<1>()?[0] {
            0 | 1 => Ok(None),
            other => Err(corrupt(format!("a flag of {other}"))),
        }
    }

    fn array(&mut self, depth: u32) -> Result<Option<Scalar>, HeaderError> {
        let kind = self.u32()?;
        let count = self.u64()?;
        // Every element takes at least one byte, so no count can exceed what is left.
        self.expect(count)?;
        if depth == MAX_DEPTH {
            return Err(corrupt("arrays lie too deep in arrays"));
        }
        for _ in 0..count {
            self.value_of(kind, depth + 1)?;
        }
        Ok(None)
    }
}

fn signed(number: i64) -> Option<Scalar> {
    u64::try_from(number).ok().map(Scalar::Number)
}
