//! Writing generated files: all of them or, where one is in the way, none. A file that is there
//! with the same bytes is left alone, and one with other bytes is never touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// What a writer did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Files that were not there.
    pub created: usize,
    /// Files that held the same bytes already.
    pub unchanged: usize,
}

/// Why generated files could not be written.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// A file is there that holds something else; nothing was written.
    #[error("writing generated files: {} is there and differs", .path.display())]
    Differs {
        /// The file in the way.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("writing generated files: cannot {operation} {}", .path.display())]
    Io {
        /// What was tried: `read`, `create`, `write` or `name`.
        operation: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A record has no JSON form.
    #[error("writing generated files: cannot encode {}", .path.display())]
    Encode {
        /// The file it was meant for.
        path: PathBuf,
        /// Why it failed.
        source: serde_json::Error,
    },
}

/// A file to be written.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

impl Planned {
    /// A text as it is.
    pub(crate) fn text(path: PathBuf, text: String) -> Self {
        Self { path, bytes: text.into_bytes() }
    }

    /// A record as indented JSON with a final line feed.
    pub(crate) fn json(path: PathBuf, record: &impl Serialize) -> Result<Self, FilesError> {
        match serde_json::to_vec_pretty(record) {
            Ok(mut bytes) => {
                bytes.push(b'\n');
                Ok(Self { path, bytes })
            }
            Err(source) => Err(FilesError::Encode { path, source }),
        }
    }

    /// Is the file there already? An error if it is and differs.
    fn is_present(&self) -> Result<bool, FilesError> {
        match fs::read(&self.path) {
            Ok(bytes) if bytes == self.bytes => Ok(true),
            Ok(_) => Err(FilesError::Differs { path: self.path.clone() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(failed("read", &self.path)(source)),
        }
    }

    /// Writes under a hidden name first, so that a run cut short leaves no half file that the next
    /// would take for a different one.
    fn create(&self) -> Result<(), FilesError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed("create", folder))?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let partial = folder.join(format!(".{name}.partial"));
        fs::write(&partial, &self.bytes).map_err(failed("write", &partial))?;
        fs::rename(&partial, &self.path).map_err(failed("name", &self.path))
    }
}

/// Writes every file that is not there yet, in the order given, after looking at all of them.
pub(crate) fn write_all(files: &[Planned]) -> Result<Written, FilesError> {
    let mut missing = Vec::new();
    for file in files {
        if !file.is_present()? {
            missing.push(file);
        }
    }
    for file in &missing {
        file.create()?;
    }
    Ok(Written { created: missing.len(), unchanged: files.len() - missing.len() })
}

fn failed(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FilesError {
    let path = path.to_path_buf();
    move |source| FilesError::Io { operation, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(folder: &Path, name: &str, text: &str) -> Planned {
        Planned::text(folder.join(name), text.to_owned())
    }

    #[test]
    fn a_file_in_the_way_stops_everything() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("b"), "mine").unwrap();
        let files = [planned(folder.path(), "a", "1"), planned(folder.path(), "b", "2")];
        let Err(FilesError::Differs { path }) = write_all(&files) else { panic!("must refuse") };
        assert_eq!(path, folder.path().join("b"));
        assert_eq!(fs::read(folder.path().join("b")).unwrap(), b"mine");
        assert!(!folder.path().join("a").exists());
    }

    #[test]
    fn a_run_cut_short_is_taken_up_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".a.partial"), "ha").unwrap();
        let files = [planned(folder.path(), "a", "half"), planned(folder.path(), "b", "2")];
        assert_eq!(write_all(&files).unwrap(), Written { created: 2, unchanged: 0 });
        assert_eq!(write_all(&files).unwrap(), Written { created: 0, unchanged: 2 });
        assert!(!folder.path().join(".a.partial").exists());
    }

    #[test]
    fn an_error_names_operation_and_path() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plain"), "").unwrap();
        let files = [planned(folder.path(), "plain/below", "1")];
        let Err(FilesError::Io { path, .. }) = write_all(&files) else { panic!("must fail") };
        assert!(path.starts_with(folder.path().join("plain")));
    }
}
