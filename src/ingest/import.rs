//! Import: scan, mirror, and write what changed as one atomic batch. Between the scan and the
//! write the journal may move; then the same scan is mirrored again onto what is there.

use std::path::{Path, PathBuf};

use dossier_corpus::marker::find_marker;
use dossier_store::read::ReadError;
use dossier_store::write::WriteError;
use dossier_store::{Batch, Store};

use super::folder::{decode_path, encode_path};
use super::mirror::{Change, Mirror, MirrorError, Vanished, mirror};
use super::scan::{Scan, ScanError, Skipped};
use super::settings::ImportSettings;
use super::unreadable::UnreadableFile;
use super::walk::{reach, scan};
use crate::document::TextFlags;
use crate::event::EVENT;
use crate::snapshot::{Dossier, SnapshotError};

/// Whether a dossier may change its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebind {
    /// A dossier stays with the folder it was bound to.
    Refuse,
    /// From now on it mirrors the folder that is imported.
    Allow,
}

/// Whether an import writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It writes what changed.
    Write,
    /// It only says what it would write.
    DryRun,
}

/// What a person allows an import to do.
#[derive(Clone, Copy, Debug)]
pub struct ImportOptions {
    /// Whether most of the dossier may vanish.
    pub vanished: Vanished,
    /// Whether the dossier may change its folder.
    pub rebind: Rebind,
    /// Whether anything is written.
    pub mode: Mode,
}

/// What an import did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The dossier.
    pub dossier: String,
    /// The folder it mirrors now.
    pub folder: String,
    /// The folder it mirrored before; none for a dossier that had none.
    pub folder_before: Option<String>,
    /// What changed.
    pub changes: Vec<Change>,
    /// How many files are as the dossier had them.
    pub unchanged: usize,
    /// What could not be read.
    pub unreadable: Vec<UnreadableFile>,
    /// The paths of files new to the store whose text holds what a reader may not see.
    pub flagged: Vec<(String, TextFlags)>,
    /// What was left out on purpose.
    pub skipped: Skipped,
    /// How many events were written, or would be.
    pub events: usize,
}

/// Why an import did nothing.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The folder could not be read.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// Labels of the controlled experiment lie there.
    #[error("{} marks labels that no import may read", marker.display())]
    Gold {
        /// The marker file.
        marker: PathBuf,
    },
    /// The dossier mirrors another folder.
    #[error("dossier {dossier} mirrors {bound}, not {asked}")]
    OtherFolder {
        /// The dossier.
        dossier: String,
        /// The folder it is bound to.
        bound: String,
        /// The folder that was to be imported.
        asked: String,
    },
    /// The scan is not mirrored.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
    /// What the journal says of the dossier could not be read.
    #[error("cannot read dossier {dossier} before importing")]
    Snapshot {
        /// The dossier.
        dossier: String,
        /// Why.
        #[source]
        source: SnapshotError,
    },
    /// The store could not be opened for reading.
    #[error("cannot read the store before importing dossier {dossier}")]
    Read {
        /// The dossier.
        dossier: String,
        /// Why.
        #[source]
        source: ReadError,
    },
    /// The batch was not written.
    #[error("cannot write what was imported into dossier {dossier}")]
    Write {
        /// The dossier.
        dossier: String,
        /// Why.
        #[source]
        source: WriteError,
    },
    /// The events contradict the journal; writing them would make the dossier unreadable.
    #[error("the import of dossier {dossier} {contradiction}, so nothing was written")]
    Contradiction {
        /// The dossier.
        dossier: String,
        /// What is wrong.
        contradiction: &'static str,
    },
}

/// Makes the dossier mirror the folder. `now_millis` is the time in milliseconds since 1970.
/// Everything is written in one batch or nothing is; an import without changes writes nothing.
pub fn import(
    store: &Store,
    name: &str,
    folder: &Path,
    settings: &ImportSettings,
    options: &ImportOptions,
    now_millis: u64,
) -> Result<Imported, ImportError> {
    let import = Import { store, name, options, now_millis };
    let root = reach(folder)?;
    refuse_gold(find_marker(&root))?;
    let known = import.known()?;
    import.check_binding(&known, &encode_path(&root))?;
    let scan = scan(&root, settings, &known)?;
    refuse_gold(scan.marker.as_deref().map(|marker| root.join(decode_path(marker))))?;
    let (mirror, folder_before) = import.apply(known, &scan)?;
    let Mirror { events, changes, unchanged, .. } = mirror;
    Ok(Imported {
        dossier: name.to_owned(),
        folder_before,
        changes,
        unchanged,
        events: events.len(),
        folder: scan.folder.clone(),
        flagged: flagged(&scan),
        unreadable: scan.unreadable.clone(),
        skipped: scan.skipped.clone(),
    })
}

fn flagged(scan: &Scan) -> Vec<(String, TextFlags)> {
    let flagged = scan.files.iter().filter(|file| file.flags != TextFlags::default());
    flagged.map(|file| (file.path.clone(), file.flags)).collect()
}

fn refuse_gold(marker: Option<PathBuf>) -> Result<(), ImportError> {
    match marker {
        Some(marker) => Err(ImportError::Gold { marker }),
        None => Ok(()),
    }
}

/// What one import was asked to do.
pub(super) struct Import<'a> {
    pub(super) store: &'a Store,
    pub(super) name: &'a str,
    pub(super) options: &'a ImportOptions,
    pub(super) now_millis: u64,
}

impl Import<'_> {
    fn known(&self) -> Result<Dossier, ImportError> {
        let dossier = || self.name.to_owned();
        let reader =
            self.store.read().map_err(|source| ImportError::Read { dossier: dossier(), source })?;
        Dossier::read(&reader, self.name)
            .map_err(|source| ImportError::Snapshot { dossier: dossier(), source })
    }

    fn check_binding(&self, known: &Dossier, asked: &str) -> Result<(), ImportError> {
        match &known.folder {
            Some(bound) if bound != asked && self.options.rebind == Rebind::Refuse => {
                Err(ImportError::OtherFolder {
                    dossier: self.name.to_owned(),
                    bound: bound.clone(),
                    asked: asked.to_owned(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Mirrors the scan and writes it; also gives the folder the dossier mirrored before.
    pub(super) fn apply<'s>(
        &self,
        known: Dossier,
        scan: &'s Scan,
    ) -> Result<(Mirror<'s>, Option<String>), ImportError> {
        let planned = self.plan(&known, scan)?;
        if planned.events.is_empty() || self.options.mode == Mode::DryRun {
            return Ok((planned, known.folder));
        }
        let mut batch = self.store.write().map_err(self.write_error())?;
        let current = Dossier::read(&batch, self.name)
            .map_err(|source| ImportError::Snapshot { dossier: self.name.to_owned(), source })?;
        let planned = match current.as_of.event == known.as_of.event {
            true => planned,
            false => self.plan(&current, scan)?,
        };
        self.write(&mut batch, &planned).map_err(self.write_error())?;
        batch.commit().map_err(self.write_error())?;
        Ok((planned, current.folder))
    }

    /// The mirror of the scan, proved to be something the dossier can follow.
    fn plan<'s>(&self, known: &Dossier, scan: &'s Scan) -> Result<Mirror<'s>, ImportError> {
        self.check_binding(known, &scan.folder)?;
        let planned = mirror(known, scan, self.options.vanished)?;
        let mut dossier = known.clone();
        for event in &planned.events {
            dossier.apply(event.clone()).map_err(|contradiction| {
                let dossier = self.name.to_owned();
                ImportError::Contradiction { dossier, contradiction }
            })?;
        }
        Ok(planned)
    }

    fn write(&self, batch: &mut Batch<'_>, planned: &Mirror<'_>) -> Result<(), WriteError> {
        for blob in &planned.blobs {
            batch.put_blob(blob)?;
        }
        for event in &planned.events {
            batch.append(self.name, EVENT, &event.encode(), self.now_millis)?;
        }
        Ok(())
    }

    fn write_error(&self) -> impl FnOnce(WriteError) -> ImportError {
        let dossier = self.name.to_owned();
        move |source| ImportError::Write { dossier, source }
    }
}
