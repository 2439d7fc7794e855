//! A folder as it lay there: its documents, what could not be read and why, what was left out.

use std::io;
use std::path::{Path, PathBuf};

use dossier_store::hash::Sha256;

use super::unreadable::UnreadableFile;
use crate::document::TextFlags;
use crate::snapshot::Version;

/// A folder as it lay there.
#[derive(Debug, Default)]
pub struct Scan {
    /// The folder: absolute, without links, as [`super::encode_path`] writes it.
    pub folder: String,
    /// The files that are documents, sorted by file name, folder by folder.
    pub files: Vec<ScannedFile>,
    /// The files and folders that could not be read.
    pub unreadable: Vec<UnreadableFile>,
    /// What was left out on purpose.
    pub skipped: Skipped,
    /// The path of a marker that labels of the controlled experiment lie beside it, even if an
    /// ignore pattern matches it; such a scan is never imported.
    pub marker: Option<String>,
}

/// One file that is a document.
#[derive(Clone, Debug)]
pub struct ScannedFile {
    /// Its path below the folder, as [`super::encode_path`] writes it.
    pub path: String,
    /// The version it is; its number depends on the document.
    pub version: Version,
    /// The bytes the version speaks of: its text, then the original if there is one. Empty where a
    /// known version has the same source, whose bytes are stored.
    pub unstored: Vec<Vec<u8>>,
    /// What the text holds that a reader may not see; said only of texts that are not stored yet.
    pub flags: TextFlags,
}

/// What was left out on purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Hidden files and folders.
    pub hidden: u64,
    /// Files and folders that an ignore pattern matches.
    pub ignored: u64,
    /// This program's own: settings, ignore file, store.
    pub own: u64,
    /// The paths of symbolic links.
    pub symlinks: Vec<String>,
}

/// Why a folder could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The folder is not there, or the system refuses it.
    #[error("cannot reach the folder {}", folder.display())]
    Unreachable {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is no folder.
    #[error("{} is not a folder", folder.display())]
    NotAFolder {
        /// What was taken for one.
        folder: PathBuf,
    },
    /// A folder without a name cannot name its dossier.
    #[error("the folder {} has no name to give its dossier", folder.display())]
    Nameless {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder's ignore file cannot be used.
    #[error("{} {fault}", path.display())]
    IgnoreFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
    },
    /// An ignore pattern means nothing.
    #[error("{origin} has the pattern {pattern:?}, which cannot be understood")]
    IgnorePattern {
        /// Where it stands.
        origin: &'static str,
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        #[source]
        source: Box<ignore::Error>,
    },
}

/// What a version was made from: the file's bytes, and the command that converted them, if one
/// did. Versions with equal sources are the same version of whatever file has that source.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Source<'a> {
    pub(super) file_sha256: Sha256,
    pub(super) command: Option<&'a [String]>,
}

impl<'a> Source<'a> {
    pub(super) fn of(version: &'a Version) -> Self {
        let command = version.original.as_ref().map(|original| original.command.as_slice());
        Self { file_sha256: version.file_sha256(), command }
    }
}

/// Whether two versions were made from the same bytes by the same command.
pub(super) fn same_source(a: &Version, b: &Version) -> bool {
    Source::of(a) == Source::of(b)
}

impl ScanError {
    /// What the walk of a folder met when the folder itself could not be listed.
    pub(super) fn of_walk(folder: &Path, error: walkdir::Error) -> Self {
        let source = error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into());
        Self::Unreachable { folder: folder.to_owned(), source }
    }
}
