//! What the tests of several modules share: a small store of known content, and a disk that can
//! lose power or run full.

use std::io;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::{BackendError, StorageBackend};

use crate::derivation::{Derivation, Input, ResolvedDerivation, Source};
use crate::encode::Map;
use crate::hash::{BlobId, DerivationId};
use crate::observation::Run;
use crate::open::{Options, Store};
use crate::read::Lookup;
use crate::realisation::{Edge, How};
use crate::write::{Batch, Commit};

/// Numbers that look random and are the same every time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Options that do not make a test wait.
pub(crate) fn options() -> Options {
    Options { cache_bytes: 1 << 20, wait: std::time::Duration::from_millis(20) }
}

/// A new store in a directory that goes away with it.
pub(crate) fn fresh() -> (tempfile::TempDir, PathBuf, Store) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("dossier.redb");
    let store = Store::create(&path, &options()).unwrap();
    (directory, path, store)
}

/// A recipe of that name over these inputs.
pub(crate) fn recipe(name: &str, sources: &[Source]) -> Derivation {
    Derivation {
        builder: Map::from([("realiser".into(), "test".into())]),
        arguments: Map::from([("name".into(), name.into())]),
        inputs: sources
            .iter()
            .map(|source| Input { role: "text".into(), source: *source })
            .collect(),
    }
}

/// The recipe with its inputs as the store knows them.
pub(crate) fn resolve(lookup: &dyn Lookup, derivation: &Derivation) -> ResolvedDerivation {
    derivation.resolve(|id| Some(lookup.realisation(id).unwrap()?.output)).unwrap()
}

/// A commit of an output, without a run.
pub(crate) fn commit<'a>(
    derivation: &'a Derivation,
    resolved: &'a ResolvedDerivation,
    output: &'a [u8],
) -> Commit<'a> {
    Commit {
        derivation,
        resolved,
        output,
        status: 3,
        how: How::Generated,
        run: None,
        raw: None,
        edges: Vec::new(),
    }
}

/// What [`fill`] put into a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) blobs: Vec<(BlobId, Vec<u8>)>,
    pub(crate) derivations: Vec<(DerivationId, Derivation, Vec<u8>)>,
    pub(crate) topics: Vec<(String, Vec<Vec<u8>>)>,
    pub(crate) records: u64,
}

/// Two documents, a tree of three derivations over them, and a journal of two topics.
pub(crate) fn fill(store: &Store) -> Sample {
    let mut batch = store.write().unwrap();
    let texts: Vec<Vec<u8>> = vec![b"a short text".to_vec(), vec![b'x'; 9_000]];
    let blobs: Vec<_> =
        texts.into_iter().map(|text| (batch.put_blob(&text).unwrap(), text)).collect();
    let leaves: Vec<_> = blobs.iter().map(|(id, _)| recipe("leaf", &[Source::Blob(*id)])).collect();
    let children: Vec<_> = leaves.iter().map(|leaf| Source::Derivation(leaf.id())).collect();
    let mut derivations = Vec::new();
    for (number, derivation) in leaves.into_iter().chain([recipe("root", &children)]).enumerate() {
        let output = format!("output {number}").into_bytes();
        realise_sample(&mut batch, &derivation, &output);
        derivations.push((derivation.id(), derivation, output));
    }
    let mut topics = Vec::new();
    for topic in ["S-010", "S-011"] {
        let bodies: Vec<Vec<u8>> = (0..4).map(|n| format!("{topic} {n}").into_bytes()).collect();
        for (number, body) in bodies.iter().enumerate() {
            let kind = ["event", "publication"][number % 2];
            batch.append(topic, kind, body, 1_000 + number as u64).unwrap();
        }
        topics.push((topic.to_owned(), bodies));
    }
    batch.commit().unwrap();
    Sample { blobs, derivations, topics, records: 8 }
}

fn realise_sample(batch: &mut Batch<'_>, derivation: &Derivation, output: &[u8]) {
    let resolved = resolve(batch, derivation);
    let edge = Edge { relation: 1, from: [7; 32], to: derivation.id().0, detail: b"d".to_vec() };
    let realised = Commit {
        run: Some(Run { at_millis: 5, tokens_out: 6, ..Run::default() }),
        raw: Some(b"raw"),
        edges: vec![edge],
        ..commit(derivation, &resolved, output)
    };
    batch.realise(realised).unwrap();
}

/// A write, or a change of length, that the disk may or may not have kept.
#[derive(Clone, Debug)]
enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
}

impl Change {
    fn apply(&self, image: &mut Vec<u8>) {
        match self {
            Self::Write(offset, bytes) => {
                let start = *offset as usize;
                if image.len() < start + bytes.len() {
                    image.resize(start + bytes.len(), 0);
                }
                image[start..start + bytes.len()].copy_from_slice(bytes);
            }
            Self::Length(length) => image.resize(*length as usize, 0),
        }
    }

    /// The change as a power cut in its middle leaves it, cut at a sector.
    fn torn(&self, random: &mut Random) -> Self {
        match self {
            Self::Write(offset, bytes) => {
                let sectors = bytes.len().div_ceil(512);
                let kept = (random.below(sectors + 1) * 512).min(bytes.len());
                Self::Write(*offset, bytes[..kept].to_vec())
            }
            Self::Length(_) => self.clone(),
        }
    }
}

#[derive(Debug, Default)]
struct Platters {
    /// What the running program sees.
    seen: Vec<u8>,
    /// What was flushed.
    flushed: Vec<u8>,
    /// What was written since.
    pending: Vec<Change>,
    syncs: usize,
    changes: usize,
    cut_at_sync: Option<usize>,
    full_at_change: Option<usize>,
}

/// A disk in memory, shared between the store and the test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<Platters>>);

impl Disk {
    /// A disk that holds these bytes.
    pub(crate) fn holding(bytes: Vec<u8>) -> Self {
        let disk = Self::default();
        disk.platters().seen = bytes.clone();
        disk.platters().flushed = bytes;
        disk
    }

    /// Loses power at the n-th flush from now on, before anything of it is certain.
    pub(crate) fn cut_power_at_sync(&self, number: usize) {
        let mut platters = self.platters();
        platters.cut_at_sync = Some(platters.syncs + number);
    }

    /// Runs full at the n-th change from now on.
    pub(crate) fn run_full_at_change(&self, number: usize) {
        let mut platters = self.platters();
        platters.full_at_change = Some(platters.changes + number);
    }

    /// How many flushes and changes there were.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let platters = self.platters();
        (platters.syncs, platters.changes)
    }

    /// What the program saw last, as after its end without a power cut.
    pub(crate) fn seen(&self) -> Vec<u8> {
        self.platters().seen.clone()
    }

    /// What a power cut leaves: what was flushed, and some of the changes since, in any order,
    /// one of them torn.
    pub(crate) fn after_power_cut(&self, random: &mut Random) -> Vec<u8> {
        let platters = self.platters();
        let mut image = platters.flushed.clone();
        let mut pending: Vec<_> =
            platters.pending.iter().filter(|_| random.below(2) == 0).cloned().collect();
        for at in (1..pending.len()).rev() {
            pending.swap(at, random.below(at + 1));
        }
        if let Some(last) = pending.last_mut() {
            *last = last.torn(random);
        }
        pending.iter().for_each(|change| change.apply(&mut image));
        image
    }

    fn platters(&self) -> MutexGuard<'_, Platters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: Change) -> io::Result<()> {
        let mut platters = self.platters();
        platters.powered()?;
        platters.changes += 1;
        if platters.full_at_change.is_some_and(|full| platters.changes >= full) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        change.apply(&mut platters.seen);
        platters.pending.push(change);
        Ok(())
    }
}

impl Platters {
    fn powered(&self) -> io::Result<()> {
        match self.cut_at_sync.is_some_and(|cut| self.syncs >= cut) {
            true => Err(io::Error::other("no power")),
            false => Ok(()),
        }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platters().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platters = self.platters();
        platters.powered()?;
        let start = offset as usize;
        let bytes = platters.seen.get(start..start + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.change(Change::Length(length))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut platters = self.platters();
        platters.powered()?;
        platters.syncs += 1;
        platters.powered()?;
        platters.flushed = platters.seen.clone();
        platters.pending.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(Change::Write(offset, data.to_vec()))
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.lock_range(start, end).map(|()| true)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.lock_range(start, end).map(|()| true)
    }

    // One program alone uses the disk, so a lock is never refused.
    fn lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(false)
    }
}
