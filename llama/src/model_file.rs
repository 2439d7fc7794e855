//! A model file, hashed through the very descriptor it is loaded from: another file under the same
//! name, before or after, changes nothing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::gguf::{self, Header, HeaderError};

/// An open model file.
#[derive(Debug)]
pub struct ModelFile {
    file: File,
    path: PathBuf,
    bytes: u64,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// There is none.
    #[error("there is no model file at {path}")]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It is a folder or a device.
    #[error("{path} is no file")]
    NotAFile {
        /// Where it lies.
        path: PathBuf,
    },
    /// It could not be read.
    #[error("the model file {path} could not be read: {source}")]
    Read {
        /// Where it lies.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is another file than expected.
    #[error("the model file {path} has SHA-256 {found}, and {expected} was expected")]
    Mismatch {
        /// Where it lies.
        path: PathBuf,
        /// The hash of its bytes.
        found: String,
        /// The hash that was asked for.
        expected: String,
    },
    /// Its header is not usable.
    #[error("{path}: {source}")]
    Header {
        /// Where it lies.
        path: PathBuf,
        /// Why.
        source: HeaderError,
    },
}

impl ModelFile {
    /// Opens a file; nothing is read yet.
    pub fn open(path: &Path) -> Result<Self, ModelFileError> {
        let path = path.to_path_buf();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ModelFileError::Missing { path });
            }
            Err(source) => return Err(ModelFileError::Read { path, source }),
        };
        let metadata = file.metadata();
        match metadata {
            Ok(metadata) if metadata.is_file() => Ok(Self { file, path, bytes: metadata.len() }),
            Ok(_) => Err(ModelFileError::NotAFile { path }),
            Err(source) => Err(ModelFileError::Read { path, source }),
        }
    }

    /// Reads the header.
    pub fn header(&self) -> Result<Header, ModelFileError> {
        let path = || self.path.clone();
        let read = |source| ModelFileError::Read { path: path(), source };
        (&self.file).seek(SeekFrom::Start(0)).map_err(read)?;
        gguf::read(&self.file, self.bytes)
            .map_err(|source| ModelFileError::Header { path: path(), source })
    }

    /// Hashes the whole file and compares; `progress` is told the bytes read so far.
    pub fn verify(
        &self,
        expected: &str,
        mut progress: impl FnMut(u64),
    ) -> Result<String, ModelFileError> {
        let read = |source| ModelFileError::Read { path: self.path.clone(), source };
        (&self.file).seek(SeekFrom::Start(0)).map_err(read)?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 20];
        let mut total = 0;
        loop {
            let count = match (&self.file).read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read(error)),
            };
            hasher.update(&buffer[..count]);
            total += count as u64;
            progress(total);
        }
        let found = gguf::hex(hasher);
        match found == expected {
            true => Ok(found),
            false => Err(ModelFileError::Mismatch {
                path: self.path.clone(),
                found,
                expected: expected.to_owned(),
            }),
        }
    }

    /// A path that names this descriptor, whatever its file is called by now.
    #[cfg(unix)]
    pub fn descriptor_path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;
        let directory = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
        Path::new(directory).join(self.file.as_raw_fd().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gguf::tests::small_model;

    fn error(path: &Path) -> ModelFileError {
        ModelFile::open(path).unwrap_err()
    }

    #[test]
    fn missing_and_impossible_files_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(error(&folder.path().join("no")), ModelFileError::Missing { .. }));
        assert!(matches!(error(folder.path()), ModelFileError::NotAFile { .. }));
    }

    #[test]
    fn the_descriptor_outlives_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gguf");
        std::fs::write(&path, small_model()).unwrap();
        let model = ModelFile::open(&path).unwrap();
        let other = model.verify("0", |_| {}).unwrap_err();
        let ModelFileError::Mismatch { found, .. } = other else { panic!("{other}") };
        std::fs::rename(&path, folder.path().join("moved")).unwrap();
        std::fs::write(&path, b"another file").unwrap();
        assert_eq!(model.verify(&found, |_| {}).unwrap(), found);
        assert_eq!(std::fs::read(model.descriptor_path()).unwrap(), small_model());
        assert_eq!(model.header().unwrap().architecture, "qwen2");
    }
}
