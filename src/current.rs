//! The documents as they are now: the journal, and for a bound dossier the folder on top of it,
//! re-hashed without writing anything.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dossier_store::hash::BlobId;
use dossier_store::read::{Lookup, ReadError};

use crate::event::Event;
use crate::ingest::{self, ImportSettings, ScanError, Vanished};
use crate::snapshot::{Dossier, SnapshotError, Version};

/// What 'now' means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Now {
    /// The bound folder; the journal for a dossier without one.
    #[default]
    Folder,
    /// The journal, whatever the folder holds meanwhile.
    Imported,
}

/// A dossier as it is now.
pub struct Current {
    /// The dossier, with what changed on disk applied.
    pub dossier: Dossier,
    /// What changed on disk and is not imported yet.
    pub on_disk: Vec<Event>,
    /// Texts that are not stored yet.
    texts: BTreeMap<BlobId, Vec<u8>>,
}

/// Why it cannot be said how a dossier is now.
#[derive(Debug, thiserror::Error)]
pub enum CurrentError {
    /// The journal could not be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The journal does not know the dossier.
    #[error("no dossier is named {0:?}")]
    UnknownDossier(String),
    /// The folder cannot be reached.
    #[error("the folder {folder} cannot be read")]
    Unreachable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: ScanError,
    },
    /// What the folder holds contradicts the journal.
    #[error("the folder's documents contradict the journal: {0}")]
    Contradiction(&'static str),
    /// A text that an active document names is not in the store.
    #[error("the text {0} is missing from the store")]
    MissingText(BlobId),
}

impl Current {
    /// Reads a dossier as it is now.
    pub fn read(
        store: &impl Lookup,
        name: &str,
        settings: &ImportSettings,
        now: Now,
    ) -> Result<Self, CurrentError> {
        let dossier = Dossier::read(store, name)?;
        if !dossier.is_known() {
            return Err(CurrentError::UnknownDossier(name.to_owned()));
        }
        let mut current = Self { dossier, on_disk: Vec::new(), texts: BTreeMap::new() };
        if let (Now::Folder, Some(folder)) = (now, current.dossier.folder.clone()) {
            current.look_at(ingest::decode_path(&folder), settings)?;
        }
        Ok(current)
    }

    fn look_at(&mut self, folder: PathBuf, settings: &ImportSettings) -> Result<(), CurrentError> {
        let scan = ingest::scan(&folder, settings, &self.dossier)
            .map_err(|source| CurrentError::Unreachable { folder, source })?;
        // What vanished is looked at, not imported: nothing is lost by seeing all of it gone.
        let mirror = ingest::mirror(&self.dossier, &scan, Vanished::Allow).unwrap_or_default();
        self.texts.extend(mirror.blobs.iter().map(|text| (BlobId::of(text), text.to_vec())));
        for event in &mirror.events {
            self.dossier.apply(event.clone()).map_err(CurrentError::Contradiction)?;
        }
        self.on_disk = mirror.events;
        Ok(())
    }

    /// A text that was read on disk and is not stored yet.
    pub fn unstored(&self, blob: BlobId) -> Option<Vec<u8>> {
        self.texts.get(&blob).cloned()
    }

    /// A version's text, from the store or from what was read on disk.
    pub fn text(&self, store: &impl Lookup, version: &Version) -> Result<Vec<u8>, CurrentError> {
        if let Some(text) = self.texts.get(&version.blob) {
            return Ok(text.clone());
        }
        store.blob(version.blob)?.ok_or(CurrentError::MissingText(version.blob))
    }
}
