//! Reading the user's folder. Nothing outside it is read: no symbolic link is followed, and only
//! plain files are opened. Each file is read once; what is hashed is what is kept. What cannot be
//! read is listed with its reason and stops nothing.

use std::io;
use std::path::{Path, PathBuf};

use dossier_corpus::marker::MARKER;
use dossier_store::hash::{BlobId, Sha256};
use walkdir::{DirEntry, WalkDir};

use super::convert::Converters;
use super::folder::{encode_path, is_hidden};
use super::ignored::{IGNORE_FILE, Rules};
use super::open::{self, Refusal};
use super::scan::{Scan, ScanError, ScannedFile, Source};
use super::settings::ImportSettings;
use super::stored::Stored;
use super::unreadable::{Reason, UnreadableFile};
use crate::document::{self, TextFlags};
use crate::event::Original;
use crate::settings::FILE_NAME as SETTINGS_FILE;
use crate::snapshot::{Dossier, Version};

/// The folder that keeps a project's store.
const STORE_FOLDER: &str = ".dossier";

/// The folder's real path; it must be there.
pub(super) fn reach(folder: &Path) -> Result<PathBuf, ScanError> {
    let unreachable = |source| ScanError::Unreachable { folder: folder.to_owned(), source };
    let real = folder.canonicalize().map_err(unreachable)?;
    match real.metadata().map_err(unreachable)?.is_dir() {
        true => Ok(real),
        false => Err(ScanError::NotAFolder { folder: real }),
    }
}

/// Reads the folder. `known` is the dossier it is compared with: bytes it has already are not kept,
/// and what it has converted already is not converted again.
pub fn scan(folder: &Path, settings: &ImportSettings, known: &Dossier) -> Result<Scan, ScanError> {
    let root = reach(folder)?;
    let mut scanner = Scanner {
        rules: Rules::read(&root, settings)?,
        max_bytes: settings.max_bytes,
        converters: Converters::new(settings),
        stored: Stored::of(known),
        scan: Scan { folder: encode_path(&root), ..Scan::default() },
        root,
    };
    scanner.walk()?;
    Ok(scanner.scan)
}

/// Whether a walk goes into what it has met.
#[derive(PartialEq)]
enum Step {
    Into,
    Past,
}

struct Scanner<'a> {
    root: PathBuf,
    rules: Rules,
    max_bytes: u64,
    converters: Converters<'a>,
    stored: Stored<'a>,
    scan: Scan,
}

impl<'a> Scanner<'a> {
    fn walk(&mut self) -> Result<(), ScanError> {
        let mut entries = WalkDir::new(&self.root).min_depth(1).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) if self.visit(&entry) == Step::Past && entry.file_type().is_dir() => {
                    entries.skip_current_dir();
                }
                Ok(_) => {}
                Err(error) => self.fail(error)?,
            }
        }
        Ok(())
    }

    fn visit(&mut self, entry: &DirEntry) -> Step {
        let (kind, name) = (entry.file_type(), entry.file_name());
        let path = below(&self.root, entry.path());
        if name == MARKER && !kind.is_dir() {
            self.scan.marker.get_or_insert_with(|| encode_path(path));
        }
        if is_own(entry) {
            self.scan.skipped.own += 1;
        } else if is_hidden(name) {
            self.scan.skipped.hidden += 1;
        } else if self.rules.ignore(path, kind.is_dir()) {
            self.scan.skipped.ignored += 1;
        } else if kind.is_symlink() {
            self.scan.skipped.symlinks.push(encode_path(path));
        } else if kind.is_dir() {
            return Step::Into;
        } else if kind.is_file() {
            self.file(entry.path());
        } else {
            self.refuse(path, Reason::Special);
        }
        Step::Past
    }

    fn file(&mut self, full: &Path) {
        let path = below(&self.root, full).to_owned();
        match open::read(full, self.max_bytes) {
            Ok(bytes) => match self.accept(&path, bytes) {
                Ok(file) => self.scan.files.push(file),
                Err(reason) => self.refuse(&path, reason),
            },
            // It was there a moment ago; to us it is as if it had never been.
            Err(Refusal::Gone) => {}
            Err(Refusal::Symlink) => self.scan.skipped.symlinks.push(encode_path(&path)),
            Err(Refusal::Special) => self.refuse(&path, Reason::Special),
            Err(Refusal::TooLarge) => {
                self.refuse(&path, Reason::TooLarge { limit: self.max_bytes });
            }
            Err(Refusal::Io(error)) => self.refuse(&path, Reason::of_io(&error)),
        }
    }

    /// The document that a file of these bytes is.
    fn accept(&mut self, path: &Path, bytes: Vec<u8>) -> Result<ScannedFile, Reason> {
        let command = self.converters.command(path);
        let source = Source { file_sha256: Sha256::of(&bytes), command };
        let path = encode_path(path);
        if let Some(version) = self.stored.version(&source, &path) {
            let version = version.clone();
            return Ok(ScannedFile {
                path,
                version,
                unstored: vec![],
                flags: TextFlags::default(),
            });
        }
        match command {
            Some(command) => self.converted(path, command, source.file_sha256, bytes),
            None => {
                let flags = document::flags(document::decode(&bytes).map_err(Reason::Text)?);
                let version = version_of(&bytes, source.file_sha256, None);
                Ok(ScannedFile { path, version, unstored: vec![bytes], flags })
            }
        }
    }

    fn converted(
        &mut self,
        path: String,
        command: &'a [String],
        sha256: Sha256,
        bytes: Vec<u8>,
    ) -> Result<ScannedFile, Reason> {
        let program = || command.first().cloned().unwrap_or_default();
        let text = self
            .converters
            .convert(command, &bytes)
            .map_err(|fault| Reason::Converter { program: program(), fault })?;
        let decoded = document::decode(&text)
            .map_err(|fault| Reason::ConverterText { program: program(), fault })?;
        let flags = document::flags(decoded);
        let original = Original {
            sha256: sha256.0,
            blob: BlobId::of(&bytes).0,
            command: command.to_vec(),
            converter_version: self.converters.version(command),
        };
        let version = version_of(&text, Sha256::of(&text), Some(original));
        Ok(ScannedFile { path, version, unstored: vec![text, bytes], flags })
    }

    fn refuse(&mut self, path: &Path, reason: Reason) {
        self.scan.unreadable.push(UnreadableFile { path: encode_path(path), reason });
    }

    /// A folder below ours that cannot be listed is one line in the report; ours itself is an error.
    fn fail(&mut self, error: walkdir::Error) -> Result<(), ScanError> {
        let path = error.path().map(|path| below(&self.root, path).to_owned());
        match (path, error.io_error()) {
            (Some(path), Some(source)) if path != Path::new("") => {
                if source.kind() != io::ErrorKind::NotFound {
                    self.refuse(&path, Reason::of_io(source));
                }
                Ok(())
            }
            _ => Err(ScanError::of_walk(&self.root, error)),
        }
    }
}

fn version_of(text: &[u8], text_sha256: Sha256, original: Option<Original>) -> Version {
    Version { text_sha256, blob: BlobId::of(text), length: text.len() as u64, original }
}

/// The path below the folder that is walked.
fn below<'p>(root: &Path, path: &'p Path) -> &'p Path {
    path.strip_prefix(root).unwrap_or(path)
}

/// Whether the program itself put this entry there.
pub(super) fn is_own(entry: &DirEntry) -> bool {
    [STORE_FOLDER, IGNORE_FILE, SETTINGS_FILE].iter().any(|&name| entry.file_name() == name)
}
