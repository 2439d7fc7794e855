//! The journal: records in one sequence, each hashed together with the one before. It is the
//! authority on everything, so whatever does not fit is an error and never a gap.

use crate::codec::{self, CodecError, Decode, Encode};
use crate::encode::Value;
use crate::hash::{self, RecordId};

/// The format of the canonical bytes that give a record its id.
const FORMAT: u64 = 1;

/// The longest topic or kind, in bytes.
pub const MAX_NAME: usize = 1024;

/// What stands before the first record.
pub const ORIGIN: RecordId = RecordId([0; 32]);

/// One record of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its place, from 1, without gaps.
    pub sequence: u64,
    /// The id of the record before, [`ORIGIN`] for the first.
    pub previous: RecordId,
    /// The hash of every other field.
    pub id: RecordId,
    /// When, in milliseconds since 1970, as the caller says.
    pub at_millis: u64,
    /// What it is about; records are looked up by topic.
    pub topic: String,
    /// What kind of record it is.
    pub kind: String,
    /// What it says; the store does not look inside.
    pub body: Vec<u8>,
}

/// The end of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The last record's sequence, 0 while there is none.
    pub sequence: u64,
    /// The last record's id, [`ORIGIN`] while there is none.
    pub id: RecordId,
}

#[derive(Encode, Decode)]
struct StoredRecord {
    previous: [u8; 32],
    id: [u8; 32],
    at_millis: u64,
    topic: String,
    kind: String,
    body: Vec<u8>,
}

impl Record {
    /// The record that follows `head`.
    pub(crate) fn following(
        head: Head,
        topic: &str,
        kind: &str,
        body: &[u8],
        at_millis: u64,
    ) -> Self {
        let mut record = Self {
            sequence: head.sequence + 1,
            previous: head.id,
            id: ORIGIN,
            at_millis,
            topic: topic.to_owned(),
            kind: kind.to_owned(),
            body: body.to_owned(),
        };
        record.id = record.computed_id();
        record
    }

    /// The id that the other fields give.
    pub fn computed_id(&self) -> RecordId {
        let parts = vec![
            Value::Number(FORMAT),
            Value::Number(self.sequence),
            Value::Digest(self.previous.0),
            Value::Number(self.at_millis),
            Value::Text(self.topic.clone()),
            Value::Text(self.kind.clone()),
            Value::Digest(hash::derived("dossier 2026-12 journal body 1", &self.body)),
        ];
        RecordId::of(&Value::List(parts).encode())
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        codec::encode(&StoredRecord {
            previous: self.previous.0,
            id: self.id.0,
            at_millis: self.at_millis,
            topic: self.topic.clone(),
            kind: self.kind.clone(),
            body: self.body.clone(),
        })
    }

    pub(crate) fn decode(sequence: u64, bytes: &[u8]) -> Result<Self, CodecError> {
        let stored: StoredRecord = codec::decode(bytes)?;
        Ok(Self {
            sequence,
            previous: RecordId(stored.previous),
            id: RecordId(stored.id),
            at_millis: stored.at_millis,
            topic: stored.topic,
            kind: stored.kind,
            body: stored.body,
        })
    }
}

/// The stored head. It counts the topics, so that a lost topic is noticed.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct StoredHead {
    pub(crate) sequence: u64,
    pub(crate) id: [u8; 32],
    pub(crate) topics: u64,
}

impl StoredHead {
    pub(crate) fn empty() -> Self {
        Self { sequence: 0, id: ORIGIN.0, topics: 0 }
    }

    pub(crate) fn head(&self) -> Head {
        Head { sequence: self.sequence, id: RecordId(self.id) }
    }
}

/// What is known of a topic, so that a lost record of it is noticed and its last record of a kind
/// is found without reading the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct StoredTopic {
    pub(crate) count: u64,
    pub(crate) last: u64,
    pub(crate) kinds: Vec<StoredKind>,
}

/// The records of one kind in a topic, in the order of the kind's first appearance.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct StoredKind {
    pub(crate) kind: String,
    pub(crate) count: u64,
    pub(crate) last: u64,
}

impl StoredTopic {
    /// Counts a further record.
    pub(crate) fn add(&mut self, kind: &str, sequence: u64) {
        self.count += 1;
        self.last = sequence;
        match self.kinds.iter_mut().find(|entry| entry.kind == kind) {
            Some(entry) => {
                entry.count += 1;
                entry.last = sequence;
            }
            None => {
                self.kinds.push(StoredKind { kind: kind.to_owned(), count: 1, last: sequence });
            }
        }
    }

    /// The last record of a kind.
    pub(crate) fn last_of(&self, kind: &str) -> Option<u64> {
        self.kinds.iter().find(|entry| entry.kind == kind).map(|entry| entry.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Record {
        let head = Head { sequence: 6, id: RecordId([7; 32]) };
        Record::following(head, "S-010", "event", b"body", 1_700_000_000_000)
    }

    #[test]
    fn golden_id() {
        assert_eq!(
            sample().id.hex(),
            "e0a19d67aafa484e2fae245c4f0cf7757d648492f53fc6769936105e339f6638"
        );
    }

    #[test]
    fn reads_back() {
        assert_eq!(Record::decode(7, &sample().encode()), Ok(sample()));
    }

    #[test]
    fn every_field_is_in_the_id() {
        let changes: [fn(&mut Record); 6] = [
            |r| r.sequence = 8,
            |r| r.previous = ORIGIN,
            |r| r.at_millis = 0,
            |r| r.topic = "S-011".into(),
            |r| r.kind = "other".into(),
            |r| r.body = b"bodz".to_vec(),
        ];
        for change in changes {
            let mut other = sample();
            change(&mut other);
            assert_ne!(other.computed_id(), sample().id, "{other:?}");
        }
    }

    #[test]
    fn a_topic_knows_its_counts_and_last_records() {
        let mut topic = StoredTopic::default();
        topic.add("event", 3);
        topic.add("publication", 4);
        topic.add("event", 9);
        assert_eq!((topic.count, topic.last), (3, 9));
        assert_eq!(topic.last_of("event"), Some(9));
        assert_eq!(topic.last_of("publication"), Some(4));
        assert_eq!(topic.last_of("other"), None);
    }
}
