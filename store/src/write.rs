//! Writing. A batch is one transaction: all of it becomes durable together, or none. Nothing
//! intact is ever overwritten; what takes the place of something damaged keeps the damaged bytes.

use std::collections::BTreeMap;
mod error;

use crate::codec::{self, MAX_PAYLOAD};
use crate::derivation::{Derivation, ResolvedDerivation, Source};
use crate::hash::{BlobId, DerivationId, ObservationId, ResolvedId};
use crate::journal::{Head, MAX_NAME, ORIGIN, Record, StoredHead};
use crate::observation::{Observation, Run};
use crate::open::Store;
use crate::read::{Lookup, ReadError, know_topic, read_record, stored_head, stored_topic};
use crate::realisation::{Edge, How, INPUT_OF, Realisation, ResolvedEntry};
use crate::tables::{
    HEAD_KEY, Table, damaged_key, edge_key, observation_of_key, record_key, record_of_key, seal,
    unseal,
};
use crate::view::View;

pub use error::WriteError;

/// Everything that becomes true when a derivation is realised; written together.
#[derive(Clone, Debug)]
pub struct Commit<'a> {
    /// The recipe.
    pub derivation: &'a Derivation,
    /// The recipe with every input a blob, as the inputs' realisations say.
    pub resolved: &'a ResolvedDerivation,
    /// What came out.
    pub output: &'a [u8],
    /// A code whose meaning belongs to the caller.
    pub status: u8,
    /// How it came out.
    pub how: How,
    /// The act of producing it, where there was one.
    pub run: Option<Run>,
    /// The raw record of the act, where there was one. Without `run` it is kept as a blob only.
    pub raw: Option<&'a [u8]>,
    /// Further edges, none of relation [`INPUT_OF`].
    pub edges: Vec<Edge>,
}

/// What became of a [`Commit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Realised {
    /// It is the derivation's realisation.
    New(Realisation),
    /// The derivation was realised before, as given here; only the observation was kept.
    Already(Realisation),
}

impl Realised {
    /// The realisation that stands.
    pub fn realisation(&self) -> &Realisation {
        match self {
            Self::New(realisation) | Self::Already(realisation) => realisation,
        }
    }
}

/// What to do with an intact, different value under the key of one that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Refuse.
    Stays,
    /// Keep its bytes among the damaged ones: it names an output that is lost.
    IsLost,
}

/// How far the batch can be trusted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Untouched,
    Written,
    Broken,
}

/// A transaction of writes. It holds the only write side there is: do nothing slow meanwhile.
/// Dropped without [`Batch::commit`], it leaves no trace.
pub struct Batch<'a> {
    view: View,
    state: State,
    /// The journal's head, once it was found to stand on an intact record.
    head: Option<StoredHead>,
    _store: std::marker::PhantomData<&'a Store>,
}

impl Lookup for Batch<'_> {
    fn view(&self) -> &View {
        &self.view
    }
}

impl Batch<'_> {
    pub(crate) fn new(view: View) -> Self {
        Self { view, state: State::Untouched, head: None, _store: std::marker::PhantomData }
    }

    /// Stores bytes under their id. Bytes that are there already are compared, not rewritten;
    /// damaged ones are set aside and replaced.
    pub fn put_blob(&mut self, bytes: &[u8]) -> Result<BlobId, WriteError> {
        self.whole(|batch| batch.store_blob(bytes))
    }

    /// Records that a derivation was realised, with everything that belongs to it. The first
    /// realisation whose output is intact stands for ever; for a later one only the output and
    /// the observation are kept.
    pub fn realise(&mut self, commit: Commit<'_>) -> Result<Realised, WriteError> {
        let id = commit.derivation.id();
        self.check_commit(id, &commit)?;
        self.whole(|batch| {
            let new = batch.store_parts(id, &commit)?;
            let standing = batch.standing(id)?;
            if standing.is_none() {
                batch.store_first(&new)?;
            }
            if standing.is_none_or(|standing| standing.output == new.output) {
                let edges = commit.edges.iter().map(|edge| {
                    let Edge { relation, from, to, detail } = edge;
                    (edge_key(*relation, from, to, detail), detail.as_slice())
                });
                batch.keep_all(Table::Edge, edges.collect())?;
            }
            if let Some(run) = &commit.run {
                let raw = commit.raw.map(BlobId::of);
                batch.store_observation(id, new.resolved, new.output, raw, run)?;
            }
            Ok(standing.map_or(Realised::New(new), Realised::Already))
        })
    }

    /// Keeps a later act of producing an output beside the first. It replaces nothing.
    pub fn observe(
        &mut self,
        derivation: DerivationId,
        resolved: ResolvedId,
        output: &[u8],
        raw: Option<&[u8]>,
        run: &Run,
    ) -> Result<ObservationId, WriteError> {
        limit("detail", &run.detail, MAX_PAYLOAD)?;
        if self.realisation(derivation)?.is_none() {
            return Err(WriteError::NotRealised { derivation });
        }
        self.whole(|batch| {
            let output = batch.store_blob(output)?;
            let raw = raw.map(|raw| batch.store_blob(raw)).transpose()?;
            batch.store_observation(derivation, resolved, output, raw, run)
        })
    }

    /// Appends a record to the journal. `at_millis` is the time in milliseconds since 1970.
    pub fn append(
        &mut self,
        topic: &str,
        kind: &str,
        body: &[u8],
        at_millis: u64,
    ) -> Result<Record, WriteError> {
        limit("topic", topic.as_bytes(), MAX_NAME)?;
        limit("kind", kind.as_bytes(), MAX_NAME)?;
        limit("body", body, MAX_PAYLOAD)?;
        self.whole(|batch| {
            let mut head = batch.checked_head()?;
            let mut stored = stored_topic(&batch.view, topic)?.unwrap_or_else(|| {
                head.topics += 1;
                Default::default()
            });
            let record = Record::following(head.head(), topic, kind, body, at_millis);
            stored.add(kind, record.sequence);
            head.sequence = record.sequence;
            head.id = record.id.0;
            batch.store_record(&record)?;
            batch.advance(Table::Topic, topic.as_bytes(), &codec::encode(&stored))?;
            batch.advance(Table::Meta, HEAD_KEY, &codec::encode(&head))?;
            know_topic(&batch.view, topic);
            batch.head = Some(head);
            Ok(record)
        })
    }

    /// Makes the batch durable. After an error the batch is either wholly there or wholly not,
    /// and the store must be opened anew to see which.
    pub fn commit(self) -> Result<(), WriteError> {
        match self.state {
            State::Untouched => Ok(()),
            State::Broken => Err(WriteError::Abandoned),
            State::Written => self
                .view
                .commit()
                .map_err(|source| WriteError::Storage { operation: "commit", source }),
        }
    }

    /// Commits whatever a test did through the view.
    #[cfg(test)]
    pub(crate) fn force_commit(self) {
        self.view.commit().unwrap();
    }

    /// Runs one whole change; one that fails half-way can no longer be committed.
    fn whole<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        if self.state == State::Broken {
            return Err(WriteError::Abandoned);
        }
        self.state = State::Broken;
        let changed = change(self)?;
        self.state = State::Written;
        Ok(changed)
    }

    /// Checks everything that can be wrong with a commit before anything is written.
    fn check_commit(&self, id: DerivationId, commit: &Commit<'_>) -> Result<(), WriteError> {
        if commit.edges.iter().any(|edge| edge.relation == INPUT_OF) {
            return Err(WriteError::ReservedRelation);
        }
        if let Some(run) = &commit.run {
            limit("detail", &run.detail, MAX_PAYLOAD)?;
        }
        let unresolved = |reason| WriteError::Unresolved { derivation: id, reason };
        let (recipe, resolved) = (commit.derivation, commit.resolved);
        if recipe.builder != resolved.builder || recipe.arguments != resolved.arguments {
            return Err(unresolved("builder or arguments differ".to_owned()));
        }
        if recipe.inputs.len() != resolved.inputs.len() {
            return Err(unresolved("the number of inputs differs".to_owned()));
        }
        for (position, (input, blob)) in recipe.inputs.iter().zip(&resolved.inputs).enumerate() {
            let output = self.output_of(input.source)?;
            if input.role != blob.role || output != Some(blob.source) {
                return Err(unresolved(match output {
                    Some(_) => format!("input {position} is another"),
                    None => format!("input {position} is not in the store"),
                }));
            }
        }
        Ok(())
    }

    /// The blob an input stands for, if it is in the store.
    fn output_of(&self, source: Source) -> Result<Option<BlobId>, ReadError> {
        match source {
            Source::Blob(id) => Ok(self.blob_length(id)?.map(|_| id)),
            Source::Derivation(id) => Ok(self.realisation(id)?.map(|known| known.output)),
        }
    }

    /// Stores what any commit stores, first or not, and mends it where it was damaged: preimage,
    /// output, raw record, and the edges from the inputs.
    fn store_parts(
        &mut self,
        id: DerivationId,
        commit: &Commit<'_>,
    ) -> Result<Realisation, WriteError> {
        let output = self.store_blob(commit.output)?;
        if let Some(raw) = commit.raw {
            self.store_blob(raw)?;
        }
        self.keep(Table::Derivation, &id.0, &commit.derivation.encode())?;
        let edges = commit.derivation.inputs.iter().map(|input| {
            let from = match input.source {
                Source::Blob(blob) => blob.0,
                Source::Derivation(derivation) => derivation.0,
            };
            (edge_key(INPUT_OF, &from, &id.0, &[]), [].as_slice())
        });
        self.keep_all(Table::Edge, edges.collect())?;
        let resolved = commit.resolved.id();
        let (how, status) = (commit.how, commit.status);
        Ok(Realisation { derivation: id, resolved, output, how, status })
    }

    /// The realisation that stands: one that is intact, and whose output is.
    fn standing(&self, id: DerivationId) -> Result<Option<Realisation>, WriteError> {
        let Some(known) = self.realisation(id)? else { return Ok(None) };
        Ok(self.is_intact(known.output)?.then_some(known))
    }

    fn is_intact(&self, blob: BlobId) -> Result<bool, ReadError> {
        match self.blob(blob) {
            Ok(bytes) => Ok(bytes.is_some()),
            Err(ReadError::Damaged { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Stores the first realisation, and what it makes the first of its resolved derivation.
    fn store_first(&mut self, new: &Realisation) -> Result<(), WriteError> {
        let (id, resolved) = (new.derivation, new.resolved);
        self.put(Table::Realisation, &id.0, &new.encode(), Standing::IsLost)?;
        let stands = match self.resolved(resolved)? {
            Some(entry) => self.is_intact(entry.output)?,
            None => false,
        };
        if stands {
            return Ok(());
        }
        let (output, how, status) = (new.output, new.how, new.status);
        let entry = ResolvedEntry { output, derivation: id, status, how };
        self.put(Table::Resolved, &resolved.0, &entry.encode(), Standing::IsLost)
    }

    fn store_observation(
        &mut self,
        derivation: DerivationId,
        resolved: ResolvedId,
        output: BlobId,
        raw: Option<BlobId>,
        run: &Run,
    ) -> Result<ObservationId, WriteError> {
        let number = self.next_observation(derivation)?;
        let run = run.clone();
        let observation = Observation { number, derivation, resolved, output, raw, run };
        let id = observation.id();
        let place = observation_of_key(&derivation.0, number);
        self.put(Table::Observation, &id.0, &observation.encode(), Standing::Stays)?;
        self.put(Table::ObservationOf, &place, &id.0, Standing::Stays)?;
        Ok(id)
    }

    fn next_observation(&self, derivation: DerivationId) -> Result<u32, ReadError> {
        let [from, to] = [0, u32::MAX].map(|number| observation_of_key(&derivation.0, number));
        let last = self.view.last_key(Table::ObservationOf, &from, &to)?;
        let number = last.as_deref().and_then(|key| key.last_chunk::<4>());
        Ok(number.map_or(0, |number| u32::from_be_bytes(*number).saturating_add(1)))
    }

    fn store_blob(&mut self, bytes: &[u8]) -> Result<BlobId, WriteError> {
        let id = BlobId::of(bytes);
        let length = (bytes.len() as u64).to_le_bytes();
        let known = seal(Table::Blob, &id.0, &length);
        let known = self.raw(Table::Blob, &id.0)?.is_some_and(|there| there == known);
        // Whether bytes are there is asked of the small table; only then are they looked at.
        if known {
            self.keep(Table::BlobBytes, &id.0, bytes)?;
        } else {
            self.put(Table::BlobBytes, &id.0, bytes, Standing::Stays)?;
            self.put(Table::Blob, &id.0, &length, Standing::Stays)?;
        }
        Ok(id)
    }

    fn store_record(&mut self, record: &Record) -> Result<(), WriteError> {
        let (sequence, bytes) = (record.sequence, record.encode());
        self.put(Table::Record, &record_key(sequence), &bytes, Standing::Stays)?;
        let place = record_of_key(&record.topic, sequence);
        self.put(Table::RecordOf, &place, &[], Standing::Stays)
    }

    /// The journal's head, after a look that it stands on an intact record: a damaged journal is
    /// not continued.
    fn checked_head(&self) -> Result<StoredHead, ReadError> {
        if let Some(head) = &self.head {
            return Ok(head.clone());
        }
        let stored = stored_head(&self.view)?;
        let Head { sequence, id } = stored.head();
        let found = match sequence {
            0 => Some(ORIGIN),
            _ => read_record(&self.view, sequence)?.map(|record| record.id),
        };
        match found == Some(id) {
            true => Ok(stored),
            false => {
                Err(ReadError::damaged(Table::Meta, HEAD_KEY, "the journal's head names no record"))
            }
        }
    }

    /// Inserts, unless exactly this is there already.
    fn keep(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<(), WriteError> {
        self.keep_all(table, BTreeMap::from([(key.to_vec(), value)]))
    }

    /// Inserts each, unless exactly this is there already. The table is opened once and the keys
    /// ascend, which spares most of the time.
    fn keep_all(
        &mut self,
        table: Table,
        values: BTreeMap<Vec<u8>, &[u8]>,
    ) -> Result<(), WriteError> {
        let taken = self.view.insert_missing(table, &values);
        let taken = taken.map_err(|source| WriteError::Storage { operation: "write", source })?;
        taken.iter().try_for_each(|key| self.put(table, key, values[key], Standing::Stays))
    }

    /// Inserts; what was there before is set aside, or refuses if it is intact and stays.
    fn put(
        &mut self,
        table: Table,
        key: &[u8],
        value: &[u8],
        standing: Standing,
    ) -> Result<(), WriteError> {
        let sealed = seal(table, key, value);
        let Some(before) = self.insert(table, key, &sealed)? else { return Ok(()) };
        if before == sealed {
            return Ok(());
        }
        // The transaction now holds the new value; this error makes sure it is never committed.
        if standing == Standing::Stays && unseal(table, key, &before).is_some() {
            return Err(WriteError::Conflict { table, key: table.show_key(key) });
        }
        let place = damaged_key(table, key, &before);
        self.insert(Table::Damaged, &place, &seal(Table::Damaged, &place, &before))?;
        Ok(())
    }

    /// Moves one of the two pointers that move: the journal's head, and a topic's counts.
    fn advance(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<(), WriteError> {
        self.insert(table, key, &seal(table, key, value))?;
        Ok(())
    }

    fn raw(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, WriteError> {
        Ok(self.view.raw(table, key).map_err(ReadError::at(table))?)
    }

    /// Inserts sealed bytes and gives those that were there before.
    fn insert(
        &mut self,
        table: Table,
        key: &[u8],
        sealed: &[u8],
    ) -> Result<Option<Vec<u8>>, WriteError> {
        let inserted = self.view.change(|transaction| {
            let mut table = transaction.open_table(table.definition())?;
            let before = table.insert(key, sealed)?;
            Ok(before.map(|before| before.value().to_vec()))
        });
        inserted.map_err(|source| WriteError::Storage { operation: "write", source })
    }
}

fn limit(part: &'static str, bytes: &[u8], limit: usize) -> Result<(), WriteError> {
    match bytes.len() <= limit {
        true => Ok(()),
        false => Err(WriteError::TooLarge { part, bytes: bytes.len(), limit }),
    }
}

#[cfg(test)]
mod tests;
