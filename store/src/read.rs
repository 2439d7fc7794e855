//! Reading. Every id handed out was verified against the bytes it names. Damage to the journal and
//! to blobs is an error; damage to what can be made again is a miss that [`Lookup::damage`] lists.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::PoisonError;

use crate::codec;
use crate::derivation::Derivation;
use crate::fault::Fault;
use crate::hash::{BlobId, DerivationId, ObservationId, ResolvedId};
use crate::journal::{Head, Record, StoredHead, StoredTopic};
use crate::observation::Observation;
use crate::realisation::{Edge, Realisation, ResolvedEntry};
use crate::tables::{
    HEAD_KEY, Table, edge_key, edge_prefix, name_prefix, record_key, record_of_key, unseal,
};
use crate::verify::Finding;
pub use crate::view::View;

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The database beneath failed.
    #[error("cannot read table {table} of the store", table = table.name())]
    Storage {
        /// The table that was read.
        table: Table,
        /// What the database reported.
        #[source]
        source: Fault,
    },
    /// A stored value is not what was written.
    #[error("the store is damaged at {table} {key}: {detail}", table = table.name())]
    Damaged {
        /// The table it lies in.
        table: Table,
        /// Its key, as people read it.
        key: String,
        /// What does not fit.
        detail: String,
    },
}

impl ReadError {
    /// Whether the store's bytes are at fault, not the way to them.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Storage { source: Fault::Corrupt(_), .. })
    }

    pub(crate) fn at(table: Table) -> impl FnOnce(Fault) -> Self {
        move |source| Self::Storage { table, source }
    }

    pub(crate) fn damaged(table: Table, key: &[u8], detail: impl ToString) -> Self {
        Self::Damaged { table, key: table.show_key(key), detail: detail.to_string() }
    }
}

/// One consistent state of the store, for reading; commits made later do not show.
pub struct Reader {
    pub(crate) view: View,
}

impl Lookup for Reader {
    fn view(&self) -> &View {
        &self.view
    }
}

/// What [`Lookup::ids_with_prefix`] searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdKind {
    /// Stored bytes.
    Blob,
    /// Realised derivations.
    Derivation,
    /// Realised resolved derivations.
    Resolved,
    /// Observations.
    Observation,
    /// Whatever has an edge of this relation leading from it.
    From(u8),
}

/// Look-ups, the same on a reader and inside a batch, which sees its own writes.
pub trait Lookup {
    /// The state that is read.
    fn view(&self) -> &View;

    /// Stored bytes, hashed again; `None` where the id is unknown.
    fn blob(&self, id: BlobId) -> Result<Option<Vec<u8>>, ReadError> {
        if self.blob_length(id)?.is_none() {
            return Ok(None);
        }
        let damaged = |detail| ReadError::damaged(Table::BlobBytes, &id.0, detail);
        let bytes = self.view().value(Table::BlobBytes, &id.0)?;
        let bytes = bytes.ok_or_else(|| damaged("the bytes are missing"))?;
        match BlobId::of(&bytes) == id {
            true => Ok(Some(bytes)),
            false => Err(damaged("the bytes have another id")),
        }
    }

    /// The number of bytes of a blob, without reading them; `None` where the id is unknown.
    fn blob_length(&self, id: BlobId) -> Result<Option<u64>, ReadError> {
        let Some(value) = self.view().value(Table::Blob, &id.0)? else { return Ok(None) };
        match <[u8; 8]>::try_from(value.as_slice()) {
            Ok(length) => Ok(Some(u64::from_le_bytes(length))),
            Err(_) => Err(ReadError::damaged(Table::Blob, &id.0, "not a length")),
        }
    }

    /// A realised derivation: its preimage, hashed again, then decoded.
    fn derivation(&self, id: DerivationId) -> Result<Option<Derivation>, ReadError> {
        self.view().derived(Table::Derivation, &id.0, |bytes| {
            if DerivationId::of(bytes) != id {
                return Err("the preimage has another id".to_owned());
            }
            Derivation::decode(bytes).map_err(|error| error.to_string())
        })
    }

    /// What a derivation produced, if it was realised.
    fn realisation(&self, id: DerivationId) -> Result<Option<Realisation>, ReadError> {
        self.view().derived(Table::Realisation, &id.0, |bytes| Realisation::decode(id, bytes))
    }

    /// What a resolved derivation produced first, if it was realised.
    fn resolved(&self, id: ResolvedId) -> Result<Option<ResolvedEntry>, ReadError> {
        self.view().derived(Table::Resolved, &id.0, ResolvedEntry::decode)
    }

    /// One act of producing an output.
    fn observation(&self, id: ObservationId) -> Result<Option<Observation>, ReadError> {
        self.view().derived(Table::Observation, &id.0, |bytes| {
            let observation = Observation::decode(bytes).map_err(|error| error.to_string())?;
            match observation.id() == id {
                true => Ok(observation),
                false => Err("the observation has another id".to_owned()),
            }
        })
    }

    /// The observations of a derivation in order. The first is canonical, if its number is 0.
    fn observations(&self, derivation: DerivationId) -> Result<Vec<ObservationId>, ReadError> {
        let entries = self.view().under(Table::ObservationOf, &derivation.0)?;
        let mut ids = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.value.as_deref().map(<[u8; 32]>::try_from) {
                Some(Ok(id)) => ids.push(ObservationId(id)),
                _ => self.view().note(Table::ObservationOf, &entry.key, "not an id under a seal"),
            }
        }
        Ok(ids)
    }

    /// The end of the journal.
    fn head(&self) -> Result<Head, ReadError> {
        Ok(stored_head(self.view())?.head())
    }

    /// The record of that sequence, its hash checked; `None` beyond the head.
    fn record(&self, sequence: u64) -> Result<Option<Record>, ReadError> {
        if sequence == 0 {
            return Ok(None);
        }
        match read_record(self.view(), sequence)? {
            Some(record) => Ok(Some(record)),
            None if sequence > self.head()?.sequence => Ok(None),
            None => Err(missing_record(sequence)),
        }
    }

    /// All records of a topic in order, each one's hash checked. The chain between them is for
    /// [`crate::verify::verify`]; a record that should be there and is not is an error.
    fn records(&self, topic: &str) -> Result<Vec<Record>, ReadError> {
        let Some(stored) = stored_topic(self.view(), topic)? else { return Ok(Vec::new()) };
        let sequences = topic_sequences(self.view(), topic, &stored)?;
        sequences.into_iter().map(|sequence| topic_record(self.view(), topic, sequence)).collect()
    }

    /// The last record of a kind in a topic, found without reading the others.
    fn last_record(&self, topic: &str, kind: &str) -> Result<Option<Record>, ReadError> {
        let stored = stored_topic(self.view(), topic)?;
        let Some(sequence) = stored.and_then(|stored| stored.last_of(kind)) else {
            return Ok(None);
        };
        let record = topic_record(self.view(), topic, sequence)?;
        match record.kind == kind {
            true => Ok(Some(record)),
            false => Err(ReadError::damaged(
                Table::Topic,
                topic.as_bytes(),
                format!("its last record of kind {kind} is of another kind"),
            )),
        }
    }

    /// Every topic, sorted by bytes.
    fn topics(&self) -> Result<Vec<String>, ReadError> {
        among_topics(self.view(), |topics| topics.iter().cloned().collect())
    }

    /// The edges of a relation that lead from one node, in the order of where they lead.
    fn edges(&self, relation: u8, from: &[u8; 32]) -> Result<Vec<Edge>, ReadError> {
        let entries = self.view().under(Table::Edge, &edge_prefix(relation, from))?;
        let mut edges = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.value.and_then(|detail| edge_of(&entry.key, detail)) {
                Some(edge) => edges.push(edge),
                None => self.view().note(Table::Edge, &entry.key, "not an edge under a seal"),
            }
        }
        Ok(edges)
    }

    /// Up to `limit` ids of a kind, ascending, whose hexadecimal form begins like this. A prefix
    /// that is no lower-case hexadecimal matches nothing.
    fn ids_with_prefix(
        &self,
        kind: IdKind,
        hex_prefix: &str,
        limit: usize,
    ) -> Result<Vec<[u8; 32]>, ReadError> {
        let Some((first, last)) = prefix_bounds(hex_prefix) else { return Ok(Vec::new()) };
        let (table, before): (Table, &[u8]) = match &kind {
            IdKind::Blob => (Table::Blob, &[]),
            IdKind::Derivation => (Table::Realisation, &[]),
            IdKind::Resolved => (Table::Resolved, &[]),
            IdKind::Observation => (Table::Observation, &[]),
            IdKind::From(relation) => (Table::Edge, std::slice::from_ref(relation)),
        };
        let mut ids: Vec<[u8; 32]> = Vec::new();
        let mut damaged = Vec::new();
        self.view().scan(table, &[before, &first].concat(), |key, sealed| {
            let id = key.strip_prefix(before).and_then(|rest| rest.first_chunk::<32>());
            let Some(id) = id.filter(|id| **id <= last && ids.len() < limit) else {
                return ControlFlow::Break(());
            };
            match unseal(table, key, sealed) {
                Some(_) if ids.last() != Some(id) => ids.push(*id),
                Some(_) => {}
                None => damaged.push(key.to_vec()),
            }
            ControlFlow::Continue(())
        })?;
        damaged.iter().for_each(|key| self.view().note(table, key, "the seal does not fit"));
        Ok(ids)
    }

    /// The damaged values that were met and taken for misses so far, without repeats.
    fn damage(&self) -> Vec<Finding> {
        self.view().damage()
    }
}

/// The least and the greatest id whose hexadecimal form begins with these digits.
fn prefix_bounds(digits: &str) -> Option<([u8; 32], [u8; 32])> {
    if digits.len() > 64 || !digits.is_ascii() {
        return None;
    }
    let first = crate::hash::unhex(&format!("{digits:0<64}"))?;
    let last = crate::hash::unhex(&format!("{digits:f<64}"))?;
    Some((first, last))
}

/// Takes an edge's key apart; `None` where the key does not belong to the detail.
pub(crate) fn edge_of(key: &[u8], detail: Vec<u8>) -> Option<Edge> {
    let (&relation, rest) = key.split_first()?;
    let (&from, rest) = rest.split_first_chunk::<32>()?;
    let &to = rest.first_chunk::<32>()?;
    let edge = Edge { relation, from, to, detail };
    (edge_key(relation, &from, &to, &edge.detail) == key).then_some(edge)
}

pub(crate) fn stored_head(view: &View) -> Result<StoredHead, ReadError> {
    let damaged = |detail: String| ReadError::damaged(Table::Meta, HEAD_KEY, detail);
    let value = view.value(Table::Meta, HEAD_KEY)?;
    let value = value.ok_or_else(|| damaged("the journal's head is missing".to_owned()))?;
    codec::decode(&value).map_err(|error| damaged(error.to_string()))
}

pub(crate) fn read_record(view: &View, sequence: u64) -> Result<Option<Record>, ReadError> {
    let key = record_key(sequence);
    let Some(value) = view.value(Table::Record, &key)? else { return Ok(None) };
    let record = Record::decode(sequence, &value)
        .map_err(|error| ReadError::damaged(Table::Record, &key, error))?;
    match record.id == record.computed_id() {
        true => Ok(Some(record)),
        false => Err(ReadError::damaged(Table::Record, &key, "the record has another id")),
    }
}

fn missing_record(sequence: u64) -> ReadError {
    ReadError::damaged(Table::Record, &record_key(sequence), "the record is missing")
}

fn topic_record(view: &View, topic: &str, sequence: u64) -> Result<Record, ReadError> {
    let record = read_record(view, sequence)?.ok_or_else(|| missing_record(sequence))?;
    match record.topic == topic {
        true => Ok(record),
        false => Err(ReadError::damaged(
            Table::RecordOf,
            &record_of_key(topic, sequence),
            "the record has another topic",
        )),
    }
}

/// What is stored of a topic. `None` only where no topic of that name ever was: a missing entry
/// is believed after every entry was read, fitted its seal, and their number was right.
pub(crate) fn stored_topic(view: &View, topic: &str) -> Result<Option<StoredTopic>, ReadError> {
    let key = topic.as_bytes();
    match view.value(Table::Topic, key)? {
        Some(value) => codec::decode(&value)
            .map(Some)
            .map_err(|error| ReadError::damaged(Table::Topic, key, error)),
        None if among_topics(view, |topics| topics.contains(topic))? => {
            Err(ReadError::damaged(Table::Topic, key, "the topic cannot be found"))
        }
        None => Ok(None),
    }
}

/// Asks something of the set of all topics, which is read and checked once per view.
fn among_topics<T>(view: &View, ask: impl FnOnce(&BTreeSet<String>) -> T) -> Result<T, ReadError> {
    let mut known = view.topics.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some(topics) => Ok(ask(topics)),
        None => Ok(ask(known.insert(every_topic(view)?))),
    }
}

fn every_topic(view: &View) -> Result<BTreeSet<String>, ReadError> {
    let mut topics = BTreeSet::new();
    for entry in view.under(Table::Topic, &[])? {
        let damaged = |detail| ReadError::damaged(Table::Topic, &entry.key, detail);
        if entry.value.is_none() {
            return Err(damaged("the seal does not fit"));
        }
        let topic = String::from_utf8(entry.key.clone()).map_err(|_| damaged("not a name"))?;
        topics.insert(topic);
    }
    match topics.len() as u64 == stored_head(view)?.topics {
        true => Ok(topics),
        false => Err(ReadError::damaged(Table::Topic, b"*", "a topic is missing")),
    }
}

/// Tells a view that it has just written a topic.
pub(crate) fn know_topic(view: &View, topic: &str) {
    let mut known = view.topics.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(topics) = known.as_mut() {
        topics.insert(topic.to_owned());
    }
}

/// The sequences of a topic's records, all of them or an error.
pub(crate) fn topic_sequences(
    view: &View,
    topic: &str,
    stored: &StoredTopic,
) -> Result<Vec<u64>, ReadError> {
    let prefix = name_prefix(topic);
    let mut sequences = Vec::new();
    for entry in view.under(Table::RecordOf, &prefix)? {
        let damaged = |detail| ReadError::damaged(Table::RecordOf, &entry.key, detail);
        if entry.value.is_none() {
            return Err(damaged("the seal does not fit"));
        }
        let sequence = <[u8; 8]>::try_from(&entry.key[prefix.len()..]);
        sequences.push(u64::from_be_bytes(sequence.map_err(|_| damaged("not a sequence"))?));
    }
    let complete = sequences.len() as u64 == stored.count
        && sequences.last().is_none_or(|last| *last == stored.last);
    match complete {
        true => Ok(sequences),
        false => Err(ReadError::damaged(Table::RecordOf, &prefix, "a record is missing")),
    }
}

#[cfg(test)]
mod tests;
