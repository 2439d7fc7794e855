//! Reading one file of the user's folder into memory, once. Whatever is no plain file is refused
//! after it was opened, so nothing put in its place meanwhile can be followed or make us wait.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Why a file was not read.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It is not there, or no longer.
    Gone,
    /// It is a symbolic link.
    Symlink,
    /// It is neither a file nor a folder.
    Special,
    /// It holds more bytes than are read.
    TooLarge,
    /// The system refused.
    Io(io::Error),
}

/// The bytes of a plain file of at most `limit` bytes.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Refusal> {
    let file = open(path)?;
    let metadata = file.metadata().map_err(Refusal::Io)?;
    if !metadata.is_file() {
        return Err(Refusal::Special);
    }
    if metadata.len() > limit {
        return Err(Refusal::TooLarge);
    }
    // The file may have grown since, so the limit is kept while reading, too.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(Refusal::Io)?;
    match bytes.len() as u64 > limit {
        true => Err(Refusal::TooLarge),
        false => Ok(bytes),
    }
}

fn open(path: &Path) -> Result<File, Refusal> {
    // Without O_NONBLOCK the opening of a FIFO waits for whoever may write to it.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).map_err(
        |error| match Errno::from_io_error(&error) {
            Some(Errno::NOENT | Errno::NOTDIR) => Refusal::Gone,
            Some(Errno::LOOP) => Refusal::Symlink,
            Some(Errno::NXIO | Errno::NODEV) => Refusal::Special,
            _ => Refusal::Io(error),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_file_at_the_limit_is_read_and_one_above_is_not() {
        let folder = folder();
        let path = folder.path().join("a");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert!(matches!(read(&path, 4), Err(Refusal::TooLarge)));
    }

    #[test]
    fn a_fifo_is_refused_without_waiting() {
        let folder = folder();
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        assert!(matches!(read(&path, 5), Err(Refusal::Special)));
    }

    #[test]
    fn a_socket_a_link_a_folder_and_nothing_are_told_apart() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", at("link")).unwrap();
        assert!(matches!(read(&at("socket"), 5), Err(Refusal::Special)));
        assert!(matches!(read(&at("link"), 5), Err(Refusal::Symlink)));
        assert!(matches!(read(folder.path(), 5), Err(Refusal::Special)));
        assert!(matches!(read(&at("none"), 5), Err(Refusal::Gone)));
    }
}
