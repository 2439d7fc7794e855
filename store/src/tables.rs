//! The tables of a store file, their keys, and the seal that every value carries. Small fixed
//! entries and payloads lie apart; whether something is there is asked of the small table only.

use crate::hash;

pub(crate) type Definition = redb::TableDefinition<'static, &'static [u8], &'static [u8]>;

/// The format of everything in the file. Raised when an older program could misread it.
pub(crate) const FORMAT: u64 = 1;

/// The key in [`Table::Meta`] of the format number, 8 bytes little-endian.
pub(crate) const FORMAT_KEY: &[u8] = b"format";

/// The key in [`Table::Meta`] of the journal's head.
pub(crate) const HEAD_KEY: &[u8] = b"head";

/// Bytes of the trailer of a stored value.
pub(crate) const SEAL: usize = 32;

/// A table of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// The format number and the journal's head, by name.
    Meta,
    /// Journal records by sequence (8 bytes big-endian).
    Record,
    /// Topic length (4 bytes big-endian), topic, sequence: which records a topic has.
    RecordOf,
    /// Counts and last records of a topic, by topic. Grows with its topic.
    Topic,
    /// Lengths of blobs by id (8 bytes little-endian).
    Blob,
    /// Bytes of blobs by id.
    BlobBytes,
    /// Realisations by derivation.
    Realisation,
    /// The first realisation of a resolved derivation, by resolved id.
    Resolved,
    /// Preimages of derivation ids.
    Derivation,
    /// Derivation and number (4 bytes big-endian): the ids of its observations.
    ObservationOf,
    /// Observations by id.
    Observation,
    /// Relation (1 byte), from, to, and where there is a detail 16 bytes of its hash: the detail.
    Edge,
    /// Table name's length and name, key, hash: damaged bytes that something intact took the place
    /// of, kept for ever.
    Damaged,
}

impl Table {
    /// Every table, in the order a verification visits them.
    pub const ALL: [Self; 13] = [
        Self::Meta,
        Self::Record,
        Self::RecordOf,
        Self::Topic,
        Self::Blob,
        Self::BlobBytes,
        Self::Realisation,
        Self::Resolved,
        Self::Derivation,
        Self::ObservationOf,
        Self::Observation,
        Self::Edge,
        Self::Damaged,
    ];

    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Record => "record",
            Self::RecordOf => "record_of",
            Self::Topic => "topic",
            Self::Blob => "blob",
            Self::BlobBytes => "blob_bytes",
            Self::Realisation => "realisation",
            Self::Resolved => "resolved",
            Self::Derivation => "derivation",
            Self::ObservationOf => "observation_of",
            Self::Observation => "observation",
            Self::Edge => "edge",
            Self::Damaged => "damaged",
        }
    }

    /// The table of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    pub(crate) fn definition(self) -> Definition {
        redb::TableDefinition::new(self.name())
    }

    /// A key as people read it: a sequence in decimal, a name as it is, the rest in hexadecimal.
    pub fn show_key(self, key: &[u8]) -> String {
        match self {
            Self::Record => match <[u8; 8]>::try_from(key) {
                Ok(sequence) => u64::from_be_bytes(sequence).to_string(),
                Err(_) => hash::hex(key),
            },
            Self::Meta | Self::Topic => String::from_utf8_lossy(key).into_owned(),
            _ => hash::hex(key),
        }
    }
}

/// A value with its seal.
pub(crate) fn seal(table: Table, key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(value.len() + SEAL);
    sealed.extend_from_slice(value);
    sealed.extend_from_slice(&hash::value_seal(table.name(), key, value));
    sealed
}

/// The value without its seal; `None` where the seal does not fit table, key and value.
pub(crate) fn unseal<'a>(table: Table, key: &[u8], sealed: &'a [u8]) -> Option<&'a [u8]> {
    let (value, seal) = sealed.split_at_checked(sealed.len().checked_sub(SEAL)?)?;
    (hash::value_seal(table.name(), key, value) == *seal).then_some(value)
}

/// The key of a record.
pub(crate) fn record_key(sequence: u64) -> [u8; 8] {
    sequence.to_be_bytes()
}

/// A name as the beginning of a key, such as a topic's in those of its records. Its length comes
/// first, so that no name is the beginning of another.
pub(crate) fn name_prefix(name: &str) -> Vec<u8> {
    let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), name.as_bytes()].concat()
}

/// The key that says a topic has a record.
pub(crate) fn record_of_key(topic: &str, sequence: u64) -> Vec<u8> {
    [name_prefix(topic).as_slice(), &sequence.to_be_bytes()].concat()
}

/// The key of a derivation's observation of that number.
pub(crate) fn observation_of_key(derivation: &[u8; 32], number: u32) -> Vec<u8> {
    [derivation.as_slice(), &number.to_be_bytes()].concat()
}

/// What the keys of a relation's edges from one node begin with.
pub(crate) fn edge_prefix(relation: u8, from: &[u8; 32]) -> Vec<u8> {
    [&[relation], from.as_slice()].concat()
}

/// The key of an edge. The detail is part of what an edge is, so two edges between the same ends
/// with different details are two edges.
pub(crate) fn edge_key(relation: u8, from: &[u8; 32], to: &[u8; 32], detail: &[u8]) -> Vec<u8> {
    let mut key = edge_prefix(relation, from);
    key.extend_from_slice(to);
    if !detail.is_empty() {
        key.extend_from_slice(&hash::derived("dossier 2026-12 edge detail 1", detail)[..16]);
    }
    key
}

/// Where damaged bytes are kept: table, key and a hash of the bytes, so that nothing kept before
/// is in the way.
pub(crate) fn damaged_key(table: Table, key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut place = name_prefix(table.name());
    place.extend_from_slice(key);
    place.extend_from_slice(&hash::value_seal(table.name(), key, bytes));
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_seal() {
        assert_eq!(
            hash::hex(&seal(Table::Blob, b"key", b"value")[5..]),
            "f368eedcedfdaf6c7c4d7c71fcfc8cba7e9d70c7fae4a806fe0d87ccede4c45f"
        );
    }

    #[test]
    fn a_value_opens_under_its_own_table_and_key_only() {
        let sealed = seal(Table::Blob, b"key", b"value");
        assert_eq!(unseal(Table::Blob, b"key", &sealed), Some(b"value".as_slice()));
        assert_eq!(unseal(Table::Edge, b"key", &sealed), None);
        assert_eq!(unseal(Table::Blob, b"kez", &sealed), None);
        assert_eq!(unseal(Table::Blob, b"key", &sealed[1..]), None);
        assert_eq!(unseal(Table::Blob, b"key", b"short"), None);
    }

    #[test]
    fn names_are_unique_and_found_again() {
        for table in Table::ALL {
            assert_eq!(Table::named(table.name()), Some(table));
        }
        assert_eq!(Table::named("other"), None);
    }

    #[test]
    fn topics_never_share_a_prefix() {
        assert!(!record_of_key("ab", 1).starts_with(&name_prefix("a")));
        assert_ne!(edge_key(1, &[1; 32], &[2; 32], b"a"), edge_key(1, &[1; 32], &[2; 32], b"b"));
    }
}
