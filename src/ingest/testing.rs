//! Folders and dossiers for the tests of this module.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dossier_store::hash::Sha256;
use dossier_store::journal::ORIGIN;

use super::{Change, ImportSettings, MirrorError, Scan, Vanished, mirror, scan};
use crate::event::Event;
use crate::snapshot::Dossier;

/// A temporary folder to import.
pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    pub(super) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(super) fn remove(&self, name: &str) {
        fs::remove_file(self.at(name)).unwrap();
    }

    pub(super) fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.at(to).parent().unwrap()).unwrap();
        fs::rename(self.at(from), self.at(to)).unwrap();
    }

    pub(super) fn scan(&self) -> Scan {
        self.scan_with(&ImportSettings::default())
    }

    pub(super) fn scan_with(&self, settings: &ImportSettings) -> Scan {
        scan(self.path(), settings, &empty()).unwrap()
    }
}

/// A dossier `d` of which nothing is known.
pub(super) fn empty() -> Dossier {
    Dossier::empty("d", ORIGIN)
}

/// Settings with one converter.
pub(super) fn converting(extension: &str, command: &[&str]) -> ImportSettings {
    let command = command.iter().map(|&word| word.to_owned()).collect();
    ImportSettings {
        convert: BTreeMap::from([(extension.to_owned(), command)]),
        ..ImportSettings::default()
    }
}

/// Makes the dossier follow the folder; gives what changed.
pub(super) fn follow(dossier: &mut Dossier, folder: &Folder) -> Result<Vec<Change>, MirrorError> {
    follow_with(dossier, folder, &ImportSettings::default(), Vanished::Guard)
}

/// Makes the dossier follow the folder under these settings; gives what changed.
pub(super) fn follow_with(
    dossier: &mut Dossier,
    folder: &Folder,
    settings: &ImportSettings,
    vanished: Vanished,
) -> Result<Vec<Change>, MirrorError> {
    let scan = scan(folder.path(), settings, dossier).unwrap();
    let mirror = mirror(dossier, &scan, vanished)?;
    for event in mirror.events {
        dossier.apply(event).unwrap();
    }
    Ok(mirror.changes)
}

/// Applies an event that did not come from an import.
pub(super) fn happen(dossier: &mut Dossier, event: Event) {
    dossier.apply(event).unwrap();
}

/// The changes in short: `verb id`.
pub(super) fn short(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| format!("{} {}", change.kind.verb(), change.document)).collect()
}

/// The active documents: path and hash of the current text.
pub(super) fn active(dossier: &Dossier) -> BTreeMap<String, Sha256> {
    let active = dossier.documents.iter().filter(|document| document.active());
    active
        .map(|document| (document.path.clone(), document.version().unwrap().text_sha256))
        .collect()
}
