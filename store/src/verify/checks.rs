//! What must hold of each entry. A check reads whatever it needs and returns all that is wrong.

use super::{FindingKind, reasons};
use crate::codec;
use crate::derivation::{Derivation, Source};
use crate::hash::{BlobId, DerivationId, ObservationId, RecordId};
use crate::journal::{Head, ORIGIN, StoredTopic};
use crate::observation::Observation;
use crate::read::{Lookup, ReadError, edge_of, read_record};
use crate::realisation::{INPUT_OF, Realisation, ResolvedEntry};
use crate::tables::{
    FORMAT_KEY, HEAD_KEY, Table, edge_key, observation_of_key, record_of_key, unseal,
};

type Wrong = (FindingKind, String);
use FindingKind::{Corrupt, Dangling, Unreadable, Untrusted};

/// Checks one entry of any table but the journal's records.
pub(super) fn entry(lookup: &dyn Lookup, table: Table, key: &[u8], sealed: &[u8]) -> Vec<Wrong> {
    let authority = table <= Table::Topic;
    let damaged = if authority { Untrusted } else { Corrupt };
    let Some(value) = unseal(table, key, sealed) else {
        return vec![(damaged, "the seal does not fit".to_owned())];
    };
    let check = Check { lookup, wrong: Vec::new(), damaged };
    let checked = match table {
        Table::Record | Table::Damaged => Some(check),
        Table::Meta => check.meta(key),
        Table::RecordOf => check.record_of(key),
        Table::Topic => check.topic(key, value),
        Table::Blob => check.blob(key, value),
        Table::BlobBytes => check.blob_bytes(key, value),
        Table::Realisation => check.realisation(key, value),
        Table::Resolved => check.resolved(value),
        Table::Derivation => check.derivation(key, value),
        Table::ObservationOf => check.observation_of(value),
        Table::Observation => check.observation(key, value),
        Table::Edge => check.edge(key, value),
    };
    checked.map_or_else(|| vec![(damaged, "malformed under a good seal".to_owned())], |c| c.wrong)
}

/// The checks of one entry. Each gives `None` where the entry itself cannot be read.
struct Check<'a> {
    lookup: &'a dyn Lookup,
    wrong: Vec<Wrong>,
    damaged: FindingKind,
}

impl Check<'_> {
    fn wrong(&mut self, kind: FindingKind, detail: impl Into<String>) {
        self.wrong.push((kind, detail.into()));
    }

    /// Notes where something is named that is not there.
    fn needs(&mut self, table: Table, key: &[u8], what: &str) {
        match self.lookup.view().raw(table, key) {
            Ok(Some(_)) => {}
            Ok(None) => self.wrong(Dangling, format!("{what} {} is missing", table.show_key(key))),
            Err(fault) => self.wrong(Unreadable, reasons(&fault)),
        }
    }

    fn failed(&mut self, error: &ReadError) {
        let kind = match error {
            ReadError::Damaged { .. } => self.damaged,
            ReadError::Storage { .. } => Unreadable,
        };
        self.wrong(kind, reasons(error));
    }

    fn meta(self, key: &[u8]) -> Option<Self> {
        [FORMAT_KEY, HEAD_KEY].contains(&key).then_some(self)
    }

    fn record_of(mut self, key: &[u8]) -> Option<Self> {
        let sequence = u64::from_be_bytes(*key.last_chunk::<8>()?);
        match self.lookup.record(sequence) {
            Ok(Some(record)) if record_of_key(&record.topic, sequence) == key => {}
            Ok(_) => self.wrong(Untrusted, format!("names record {sequence}, which is another's")),
            Err(error) => self.failed(&error),
        }
        Some(self)
    }

    fn topic(mut self, key: &[u8], value: &[u8]) -> Option<Self> {
        let topic = std::str::from_utf8(key).ok()?;
        let stored: StoredTopic = codec::decode(value).ok()?;
        match self.lookup.records(topic) {
            Ok(records) => {
                let mut counted = StoredTopic::default();
                records.iter().for_each(|record| counted.add(&record.kind, record.sequence));
                if counted != stored {
                    self.wrong(Untrusted, "its counts are not those of its records");
                }
            }
            Err(error) => self.failed(&error),
        }
        Some(self)
    }

    fn blob(mut self, key: &[u8], value: &[u8]) -> Option<Self> {
        <[u8; 8]>::try_from(value).ok()?;
        self.needs(Table::BlobBytes, key, "the content of");
        Some(self)
    }

    fn blob_bytes(mut self, key: &[u8], value: &[u8]) -> Option<Self> {
        let id = BlobId(key.try_into().ok()?);
        if BlobId::of(value) != id {
            self.wrong(Corrupt, "the bytes have another id");
        }
        match self.lookup.blob_length(id) {
            Ok(Some(length)) if length == value.len() as u64 => {}
            Ok(Some(_)) => self.wrong(Corrupt, "the bytes have another length"),
            Ok(None) => self.wrong(Dangling, "the bytes have no entry"),
            Err(error) => self.failed(&error),
        }
        Some(self)
    }

    fn realisation(mut self, key: &[u8], value: &[u8]) -> Option<Self> {
        let id = DerivationId(key.try_into().ok()?);
        let realisation = Realisation::decode(id, value).ok()?;
        self.needs(Table::Blob, &realisation.output.0, "output");
        self.needs(Table::Derivation, key, "the preimage of");
        self.needs(Table::Resolved, &realisation.resolved.0, "resolved derivation");
        Some(self)
    }

    fn resolved(mut self, value: &[u8]) -> Option<Self> {
        let entry = ResolvedEntry::decode(value).ok()?;
        self.needs(Table::Blob, &entry.output.0, "output");
        self.needs(Table::Realisation, &entry.derivation.0, "the realisation of");
        Some(self)
    }

    fn derivation(mut self, key: &[u8], value: &[u8]) -> Option<Self> {
        let id = DerivationId(key.try_into().ok()?);
        if DerivationId::of(value) != id {
            self.wrong(Corrupt, "the preimage has another id");
        }
        let derivation = Derivation::decode(value).ok()?;
        self.needs(Table::Realisation, key, "the realisation of");
        for input in &derivation.inputs {
            let from = match input.source {
                Source::Blob(blob) => {
                    self.needs(Table::Blob, &blob.0, "input");
                    blob.0
                }
                Source::Derivation(derivation) => {
                    self.needs(Table::Realisation, &derivation.0, "input");
                    derivation.0
                }
            };
            self.needs(Table::Edge, &edge_key(INPUT_OF, &from, &id.0, &[]), "the edge");
        }
        Some(self)
    }

    fn observation_of(mut self, value: &[u8]) -> Option<Self> {
        let id = ObservationId(value.try_into().ok()?);
        self.needs(Table::Observation, &id.0, "observation");
        Some(self)
    }

    fn observation(mut self, key: &[u8], value: &[u8]) -> Option<Self> {
        let observation = Observation::decode(value).ok()?;
        if observation.id().0 != key {
            self.wrong(Corrupt, "the observation has another id");
        }
        let place = observation_of_key(&observation.derivation.0, observation.number);
        self.needs(Table::ObservationOf, &place, "the place");
        self.needs(Table::Realisation, &observation.derivation.0, "the realisation of");
        self.needs(Table::Blob, &observation.output.0, "output");
        if let Some(raw) = observation.raw {
            self.needs(Table::Blob, &raw.0, "raw record");
        }
        Some(self)
    }

    fn edge(mut self, key: &[u8], value: &[u8]) -> Option<Self> {
        let edge = edge_of(key, value.to_vec())?;
        if edge.relation == INPUT_OF {
            self.needs(Table::Realisation, &edge.to, "the realisation of");
        }
        Some(self)
    }
}

/// The journal's chain, record by record.
pub(super) struct Chain {
    /// The id of the record before, where it could be read.
    previous: Option<RecordId>,
}

impl Chain {
    /// The chain up to but not including this record.
    pub(super) fn before(lookup: &dyn Lookup, sequence: u64) -> Self {
        let previous = match sequence {
            0 | 1 => Some(ORIGIN),
            _ => read_record(lookup.view(), sequence - 1).ok().flatten().map(|record| record.id),
        };
        Self { previous }
    }

    /// Checks the next record: its own hash, its link to the one before, its place in its topic.
    pub(super) fn next(&mut self, lookup: &dyn Lookup, sequence: u64) -> Vec<Wrong> {
        let before = self.previous.take();
        let record = match read_record(lookup.view(), sequence) {
            Ok(Some(record)) => record,
            Ok(None) => return vec![(Untrusted, "the record is missing".to_owned())],
            Err(error @ ReadError::Damaged { .. }) => return vec![(Untrusted, reasons(&error))],
            Err(error) => return vec![(Unreadable, reasons(&error))],
        };
        self.previous = Some(record.id);
        let mut check = Check { lookup, wrong: Vec::new(), damaged: Untrusted };
        if before.is_some_and(|before| before != record.previous) {
            check.wrong(Untrusted, "it does not follow the record before");
        }
        match lookup.view().raw(Table::RecordOf, &record_of_key(&record.topic, sequence)) {
            Ok(Some(_)) => {}
            Ok(None) => check.wrong(Untrusted, "its topic does not list it"),
            Err(fault) => check.wrong(Unreadable, reasons(&fault)),
        }
        check.wrong
    }

    /// Checks that the chain ends where the head says, that no record lies beyond, and that no
    /// topic is missing.
    pub(super) fn end(&self, lookup: &dyn Lookup, head: Head) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        if self.previous.is_some_and(|last| last != head.id) {
            wrong.push((Untrusted, "the head names another record".to_owned()));
        }
        if lookup.view().count(Table::Record).is_ok_and(|count| count != head.sequence) {
            wrong.push((Untrusted, "the number of records is not the head's".to_owned()));
        }
        if let Err(error) = lookup.topics() {
            wrong.push((Untrusted, reasons(&error)));
        }
        wrong
    }
}
