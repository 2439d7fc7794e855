//! What a scan means for a dossier, as events. Pure: `import` commits them, `show` and `status`
//! look at them to see what changed on disk. After them the dossier mirrors the folder, except
//! that a document a person withdrew stays withdrawn.
//!
//! A path is a document's identity as long as its file is there. Only a file at a new path whose
//! bytes are those of a document whose file is gone is that document, moved; with several such
//! files and documents they are paired in the order of their paths.

use super::pairing::{self, Pairing};
use super::scan::{Scan, ScannedFile, same_source};
use crate::document::DocumentId;
use crate::event::{Author, Event};
use crate::snapshot::{Document, Dossier, Version};

/// Whether most of a dossier may vanish at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vanished {
    /// If more than half of four or more active documents vanished, nothing changes: a folder that
    /// is not mounted looks just like that.
    Guard,
    /// Whatever vanished is withdrawn.
    Allow,
}

/// The fewest active documents that are guarded against vanishing.
const GUARDED: usize = 4;

/// What a scan means for a dossier.
#[derive(Debug, Default)]
pub struct Mirror<'a> {
    /// What has to be appended to the journal, in this order and in one batch; empty when the
    /// dossier is as the folder is.
    pub events: Vec<Event>,
    /// The bytes those events speak of that are not stored yet.
    pub blobs: Vec<&'a [u8]>,
    /// What changed, document by document; a document may stand here twice.
    pub changes: Vec<Change>,
    /// How many files are as the dossier has them.
    pub unchanged: usize,
}

/// One thing that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The document's id.
    pub document: String,
    /// The path of its file, as the scan or else the dossier has it.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What happened to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Its file is new.
    New,
    /// Its file has other bytes, never seen before.
    Changed {
        /// The version before.
        from: u32,
        /// The version now.
        to: u32,
    },
    /// Its file has the bytes of an earlier version again.
    Reactivated {
        /// The version before.
        from: u32,
        /// The version now.
        to: u32,
    },
    /// Its file lies elsewhere, byte for byte.
    Moved {
        /// The path before.
        from: String,
    },
    /// Its file is gone.
    Vanished,
    /// Its file is there but cannot be read, so its text is no longer known to be what the folder
    /// holds; the scan has the reason.
    Unreadable,
    /// It takes part again, because import had withdrawn it and its file is there.
    Restored,
}

impl ChangeKind {
    /// The change in one word, as it is printed.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed { .. } => "changed",
            Self::Reactivated { .. } => "reactivated",
            Self::Moved { .. } => "moved",
            Self::Vanished => "vanished",
            Self::Unreadable => "unreadable",
            Self::Restored => "restored",
        }
    }
}

/// Why a scan is not mirrored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MirrorError {
    /// Most of the dossier is gone.
    #[error("{vanished} of {of} documents of dossier {dossier} vanished from {folder}")]
    TooManyVanished {
        /// The dossier.
        dossier: String,
        /// The folder they vanished from.
        folder: String,
        /// How many active documents vanished.
        vanished: usize,
        /// How many were active.
        of: usize,
    },
}

/// Says what has to happen for the dossier to be as the scan found the folder.
pub fn mirror<'a>(
    known: &Dossier,
    scan: &'a Scan,
    vanished: Vanished,
) -> Result<Mirror<'a>, MirrorError> {
    let pairing = Pairing::of(known, scan);
    if vanished == Vanished::Guard {
        guard(known, scan, &pairing)?;
    }
    let mut mirror = Mirror::default();
    if known.folder.as_deref() != Some(&scan.folder) {
        mirror.events.push(Event::Bound { folder: scan.folder.clone() });
    }
    for (document, kind) in &pairing.departed {
        mirror.depart(document, kind.clone());
    }
    let ids = pairing::fresh_ids(known, &pairing);
    for (file, document) in pairing.files {
        match document {
            Some(document) => mirror.follow(document, file),
            None => mirror.add(&ids[file.path.as_str()], file),
        }
    }
    Ok(mirror)
}

fn guard(known: &Dossier, scan: &Scan, pairing: &Pairing) -> Result<(), MirrorError> {
    let of = known.documents.iter().filter(|document| document.active()).count();
    let gone = |(_, kind): &&(&Document, ChangeKind)| *kind == ChangeKind::Vanished;
    let vanished = pairing.departed.iter().filter(gone).count();
    match of >= GUARDED && 2 * vanished > of {
        true => Err(MirrorError::TooManyVanished {
            dossier: known.name.clone(),
            folder: scan.folder.clone(),
            vanished,
            of,
        }),
        false => Ok(()),
    }
}

impl<'a> Mirror<'a> {
    fn depart(&mut self, document: &Document, kind: ChangeKind) {
        let id = document.id.as_str().to_owned();
        self.events.push(Event::Withdrawn { document: id, by: Author::Import });
        self.note(&document.id, &document.path, kind);
    }

    fn add(&mut self, id: &DocumentId, file: &'a ScannedFile) {
        self.store(id, 1, file);
        self.activate(id, 1, &file.path);
        self.note(id, &file.path, ChangeKind::New);
    }

    /// What a document's file is now becomes its current version; a person's withdrawal stands.
    fn follow(&mut self, document: &Document, file: &'a ScannedFile) {
        let events = self.events.len();
        if document.path != file.path {
            self.relocate(document, file);
        }
        if !document.version().is_some_and(|current| same_source(current, &file.version)) {
            self.follow_bytes(document, file);
        }
        if document.withdrawn == Some(Author::Import) {
            let id = document.id.as_str().to_owned();
            self.events.push(Event::Restored { document: id, by: Author::Import });
            self.note(&document.id, &file.path, ChangeKind::Restored);
        }
        if self.events.len() == events {
            self.unchanged += 1;
        }
    }

    fn relocate(&mut self, document: &Document, file: &ScannedFile) {
        let id = document.id.as_str().to_owned();
        self.events.push(Event::Moved { document: id, path: file.path.clone() });
        let from = document.path.clone();
        self.note(&document.id, &file.path, ChangeKind::Moved { from });
    }

    fn follow_bytes(&mut self, document: &Document, file: &'a ScannedFile) {
        let from = document.current;
        let earlier = document.versions.iter().rposition(|known| same_source(known, &file.version));
        let to = number(earlier.unwrap_or(document.versions.len()));
        let kind = match earlier {
            Some(_) => ChangeKind::Reactivated { from, to },
            None => ChangeKind::Changed { from, to },
        };
        if earlier.is_none() {
            self.store(&document.id, to, file);
        }
        self.activate(&document.id, to, &file.path);
        self.note(&document.id, &file.path, kind);
    }

    fn store(&mut self, id: &DocumentId, version: u32, file: &'a ScannedFile) {
        let Version { text_sha256, blob, length, original } = file.version.clone();
        self.blobs.extend(file.unstored.iter().map(Vec::as_slice));
        self.events.push(Event::VersionAdded {
            document: id.as_str().to_owned(),
            version,
            text_sha256: text_sha256.0,
            blob: blob.0,
            length,
            original,
        });
    }

    fn activate(&mut self, id: &DocumentId, version: u32, path: &str) {
        let document = id.as_str().to_owned();
        self.events.push(Event::Activated { document, version, path: path.to_owned() });
    }

    fn note(&mut self, id: &DocumentId, path: &str, kind: ChangeKind) {
        let document = id.as_str().to_owned();
        self.changes.push(Change { document, path: path.to_owned(), kind });
    }
}

/// Versions are counted from 1.
fn number(position: usize) -> u32 {
    u32::try_from(position).map_or(u32::MAX, |position| position.saturating_add(1))
}
