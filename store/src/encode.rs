//! Canonical encoding: one tag byte, lengths and numbers as u64 little-endian. Ids are hashes of
//! these bytes, so a value has one encoding and an encoding one value.

use std::collections::BTreeMap;

/// Whatever can enter a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// An unsigned whole number.
    Number(u64),
    /// UTF-8 text, as it is.
    Text(String),
    /// A 32-byte hash of something named elsewhere.
    Digest([u8; 32]),
    /// An ordered list.
    List(Vec<Value>),
    /// Named values; names are unique and sorted by their bytes.
    Map(Map),
}

/// Named values, sorted.
pub type Map = BTreeMap<String, Value>;

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<crate::hash::Sha256> for Value {
    fn from(hash: crate::hash::Sha256) -> Self {
        Self::Digest(hash.0)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

/// Receives one walk over a value. The hasher's bytes and the explanation of a rebuild come from
/// the same walk through two sinks, so they cannot disagree.
pub trait Sink {
    /// A scalar with the name it stands under.
    fn scalar(&mut self, name: &str, value: Scalar<'_>);
    /// A list or map of `count` items begins under this name.
    fn open(&mut self, name: &str, group: Group, count: u64);
    /// The list or map opened last ends.
    fn close(&mut self);
}

/// A value without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar<'a> {
    /// Yes or no.
    Flag(bool),
    /// An unsigned whole number.
    Number(u64),
    /// UTF-8 text.
    Text(&'a str),
    /// A 32-byte hash.
    Digest(&'a [u8; 32]),
}

/// A value with parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Items by position.
    List,
    /// Items by name.
    Map,
}

const FALSE: u8 = 0;
const TRUE: u8 = 1;
const NUMBER: u8 = 2;
const TEXT: u8 = 3;
const DIGEST: u8 = 4;
const LIST: u8 = 5;
const MAP: u8 = 6;

/// How deep a value read from bytes may nest.
const MAX_DEPTH: usize = 32;

/// The sink that makes the canonical bytes.
#[derive(Default)]
pub struct Encoder {
    bytes: Vec<u8>,
    groups: Vec<Group>,
}

impl Encoder {
    /// The bytes of everything written.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn length_and(&mut self, bytes: &[u8]) {
        self.bytes.extend((bytes.len() as u64).to_le_bytes());
        self.bytes.extend(bytes);
    }

    fn name_in_map(&mut self, name: &str) {
        if self.groups.last() == Some(&Group::Map) {
            self.length_and(name.as_bytes());
        }
    }
}

impl Sink for Encoder {
    fn scalar(&mut self, name: &str, value: Scalar<'_>) {
        self.name_in_map(name);
        match value {
            Scalar::Flag(flag) => self.bytes.push(if flag { TRUE } else { FALSE }),
            Scalar::Number(number) => {
                self.bytes.push(NUMBER);
                self.bytes.extend(number.to_le_bytes());
            }
            Scalar::Text(text) => {
                self.bytes.push(TEXT);
                self.length_and(text.as_bytes());
            }
            Scalar::Digest(digest) => {
                self.bytes.push(DIGEST);
                self.bytes.extend(digest);
            }
        }
    }

    fn open(&mut self, name: &str, group: Group, count: u64) {
        self.name_in_map(name);
        self.bytes.push(match group {
            Group::List => LIST,
            Group::Map => MAP,
        });
        self.bytes.extend(count.to_le_bytes());
        self.groups.push(group);
    }

    fn close(&mut self) {
        self.groups.pop();
    }
}

impl Value {
    /// Walks the value into a sink, under a name.
    pub fn walk(&self, name: &str, sink: &mut impl Sink) {
        match self {
            Self::Flag(flag) => sink.scalar(name, Scalar::Flag(*flag)),
            Self::Number(number) => sink.scalar(name, Scalar::Number(*number)),
            Self::Text(text) => sink.scalar(name, Scalar::Text(text)),
            Self::Digest(digest) => sink.scalar(name, Scalar::Digest(digest)),
            Self::List(items) => {
                sink.open(name, Group::List, items.len() as u64);
                for (position, item) in items.iter().enumerate() {
                    item.walk(&position.to_string(), sink);
                }
                sink.close();
            }
            Self::Map(map) => walk_map(map, name, sink),
        }
    }

    /// The canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        self.walk("", &mut encoder);
        encoder.finish()
    }

    /// Reads canonical bytes; anything that [`Value::encode`] would not write is refused.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut decoder = Decoder { bytes, at: 0 };
        let value = decoder.value(0)?;
        match decoder.at == bytes.len() {
            true => Ok(value),
            false => Err(decoder.fault("nothing more")),
        }
    }
}

/// Walks named values into a sink, in the order of their names.
pub fn walk_map(map: &Map, name: &str, sink: &mut impl Sink) {
    sink.open(name, Group::Map, map.len() as u64);
    for (name, value) in map {
        value.walk(name, sink);
    }
    sink.close();
}

/// Bytes that are no canonical encoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a canonical encoding: expected {expected} at byte {at}")]
pub struct DecodeError {
    /// The first byte that does not fit.
    pub at: usize,
    /// What would have fitted.
    pub expected: &'static str,
}

struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Decoder<'a> {
    fn fault(&self, expected: &'static str) -> DecodeError {
        DecodeError { at: self.at, expected }
    }

    fn take(&mut self, count: usize, expected: &'static str) -> Result<&'a [u8], DecodeError> {
        let end = self.at.checked_add(count).ok_or_else(|| self.fault(expected))?;
        let taken = self.bytes.get(self.at..end).ok_or_else(|| self.fault(expected))?;
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, DecodeError> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8, "8 bytes of a number")?);
        Ok(u64::from_le_bytes(bytes))
    }

    fn text(&mut self) -> Result<&'a str, DecodeError> {
        let length = usize::try_from(self.number()?).map_err(|_| self.fault("a length"))?;
        let start = self.at;
        let bytes = self.take(length, "a text of that length")?;
        std::str::from_utf8(bytes).map_err(|_| DecodeError { at: start, expected: "UTF-8" })
    }

    fn value(&mut self, depth: usize) -> Result<Value, DecodeError> {
        if depth > MAX_DEPTH {
            return Err(self.fault("at most 32 levels"));
        }
        Ok(match self.take(1, "a tag")?[0] {
            FALSE => Value::Flag(false),
            TRUE => Value::Flag(true),
            NUMBER => Value::Number(self.number()?),
            TEXT => Value::Text(self.text()?.to_owned()),
            DIGEST => {
                let mut digest = [0; 32];
                digest.copy_from_slice(self.take(32, "32 bytes of a digest")?);
                Value::Digest(digest)
            }
            LIST => {
                let count = self.number()?;
                // The count is untrusted: items are pushed as they are read, never reserved.
                let mut items = Vec::new();
                for _ in 0..count {
                    items.push(self.value(depth + 1)?);
                }
                Value::List(items)
            }
            MAP => Value::Map(self.map(depth)?),
            _ => {
                self.at -= 1;
                return Err(self.fault("a known tag"));
            }
        })
    }

    fn map(&mut self, depth: usize) -> Result<Map, DecodeError> {
        let count = self.number()?;
        let mut map = Map::new();
        for _ in 0..count {
            let name = self.text()?.to_owned();
            if map.last_key_value().is_some_and(|(last, _)| *last >= name) {
                return Err(self.fault("names in ascending order"));
            }
            map.insert(name, self.value(depth + 1)?);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            any::<bool>().prop_map(Value::Flag),
            any::<u64>().prop_map(Value::Number),
            ".{0,8}".prop_map(Value::Text),
            any::<[u8; 32]>().prop_map(Value::Digest),
        ];
        scalar.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
                prop::collection::btree_map(".{0,4}", inner, 0..5).prop_map(Value::Map),
            ]
        })
    }

    proptest! {
        #[test]
        fn round_trips(value in value()) {
            prop_assert_eq!(Value::decode(&value.encode()), Ok(value));
        }

        #[test]
        fn two_values_never_share_an_encoding(a in value(), b in value()) {
            prop_assert_eq!(a == b, a.encode() == b.encode());
        }

        #[test]
        fn any_bytes_decode_to_what_encodes_to_them(bytes in prop::collection::vec(0u8..8, 0..80)) {
            if let Ok(value) = Value::decode(&bytes) {
                prop_assert_eq!(value.encode(), bytes);
            }
        }
    }
}
