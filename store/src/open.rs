//! Creating and opening a store file. A store appears under its name whole or not at all, and two
//! creators never lose one another's; nobody holds the write side while it is not writing.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use redb::{Builder, ConcurrencyMode, Database, ReadOnlyDatabase, ReadableDatabase};

use crate::codec;
use crate::fault::{Fault, Guarded, attempt, guarded};
use crate::holders;
use crate::journal::StoredHead;
use crate::read::{ReadError, Reader};
use crate::tables::{FORMAT, FORMAT_KEY, HEAD_KEY, Table, seal};
use crate::view::View;
use crate::write::{Batch, WriteError};

/// How long to sleep between two tries for something another process holds.
const NAP: Duration = Duration::from_millis(5);

/// Settings of a handle.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Memory for cached pages, in bytes.
    pub cache_bytes: usize,
    /// How long to wait for another writer before giving up.
    pub wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { cache_bytes: 64 << 20, wait: Duration::from_secs(5) }
    }
}

/// What a handle may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read; any number of these beside any number of the others.
    ReadOnly,
    /// Read and write, one write at a time among all processes.
    ReadWrite,
}

/// Why a store could not be created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// Something of that name is there, perhaps since a moment ago.
    #[error("{} is there already", path.display())]
    AlreadyExists {
        /// Where the store was to be.
        path: PathBuf,
    },
    /// A step outside the database failed.
    #[error("cannot {step} to create {}", path.display())]
    Io {
        /// The step.
        step: &'static str,
        /// Where the store was to be.
        path: PathBuf,
        /// What the system reported.
        #[source]
        source: io::Error,
    },
    /// The first commit failed.
    #[error("cannot write the new store {}", path.display())]
    Storage {
        /// Where the store was to be.
        path: PathBuf,
        /// What the database reported.
        #[source]
        source: Fault,
    },
    /// It was created, but could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such file.
    #[error("there is no store at {}", path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is no store of this program", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What the database reported.
        #[source]
        source: Fault,
    },
    /// A later program wrote it.
    #[error("{} has store format {found}, this program knows {known}", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The format it has.
        found: u64,
        /// The latest this program knows.
        known: u64,
    },
    /// Another process has it open in a way that excludes this one.
    #[error("{} is in use by {}", path.display(), if holders.is_empty() { "another process".to_owned() } else { holders.join(", ") })]
    Locked {
        /// The file.
        path: PathBuf,
        /// The processes that have it open, where the system tells.
        holders: Vec<String>,
    },
    /// The file's structure or its first entries are damaged.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        #[source]
        source: Fault,
    },
    /// It was not closed cleanly, and repairing it failed.
    #[error("{} was not closed cleanly and could not be repaired", path.display())]
    Repair {
        /// The file.
        path: PathBuf,
        /// What the repair met.
        #[source]
        source: Box<OpenError>,
    },
    /// The system refused the file.
    #[error("cannot open {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system reported.
        #[source]
        source: Fault,
    },
}

enum Handle {
    Reading(ReadOnlyDatabase),
    Writing(Database),
}

/// An open store file.
pub struct Store {
    path: PathBuf,
    wait: Duration,
    handle: Guarded<Handle>,
}

impl Store {
    /// Creates a store and opens it for writing. It is made under another name in the same
    /// directory and takes its own only when it is whole and on disk.
    pub fn create(path: &Path, options: &Options) -> Result<Self, CreateError> {
        let failed = |step| move |source| CreateError::Io { step, path: path.to_owned(), source };
        if path.symlink_metadata().is_ok() {
            return Err(CreateError::AlreadyExists { path: path.to_owned() });
        }
        let directory = directory_of(path);
        let draft = draft(path, directory).map_err(failed("make a temporary file"))?;
        guarded(|| initialise(builder(options).create(draft.path())?))
            .map_err(|source| CreateError::Storage { path: path.to_owned(), source })?;
        draft.as_file().sync_all().map_err(failed("flush the file"))?;
        draft.persist_noclobber(path).map_err(|refused| match refused.error.kind() {
            io::ErrorKind::AlreadyExists => CreateError::AlreadyExists { path: path.to_owned() },
            _ => failed("publish the file")(refused.error),
        })?;
        sync_directory(directory).map_err(failed("flush the directory"))?;
        Ok(Self::open(path, Access::ReadWrite, options, |_| {})?)
    }

    /// Opens a store that exists. `repair` hears of progress, from 0 to 1, should the file need
    /// repair after an unclean end; a read-only open then repairs through a short writable one.
    pub fn open(
        path: &Path,
        access: Access,
        options: &Options,
        repair: impl Fn(f64) + 'static,
    ) -> Result<Self, OpenError> {
        let opening = Opening { path, options, repair: Rc::new(repair) };
        let handle = Guarded::new(opening.open(access)?);
        let store = Self { path: path.to_owned(), wait: options.wait, handle };
        store.check_format()?;
        Ok(store)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The state of the store as of now, unchanged by later commits. Do not keep it longer than
    /// an answer takes: pages of old states cannot be used again while it lives.
    pub fn read(&self) -> Result<Reader, ReadError> {
        let transaction = self.handle.with(|handle| match handle {
            Handle::Reading(database) => Ok(database.begin_read()?),
            Handle::Writing(database) => Ok(database.begin_read()?),
        });
        let transaction = transaction.map_err(ReadError::at(Table::Meta))?;
        Ok(Reader { view: View::reading(transaction) })
    }

    /// Begins a batch of writes, waiting for other writers as long as the options say.
    pub fn write(&self) -> Result<Batch<'_>, WriteError> {
        let mut waited = Duration::ZERO;
        loop {
            if let Some(transaction) = self.try_write()? {
                return Ok(Batch::new(View::writing(transaction)));
            }
            if waited >= self.wait {
                let holders = holders::of(&self.path);
                return Err(WriteError::Busy { path: self.path.clone(), waited, holders });
            }
            std::thread::sleep(NAP);
            waited += NAP;
        }
    }

    fn try_write(&self) -> Result<Option<redb::WriteTransaction>, WriteError> {
        let begun = self.handle.with(|handle| match handle {
            Handle::Reading(_) => Ok(None),
            Handle::Writing(database) => match database.try_begin_write() {
                Ok(transaction) => Ok(Some(Some(transaction))),
                Err(redb::TransactionError::WouldBlock) => Ok(Some(None)),
                Err(error) => Err(error.into()),
            },
        });
        begun
            .map_err(|source| WriteError::Storage { operation: "begin a write", source })?
            .ok_or_else(|| WriteError::ReadOnly { path: self.path.clone() })
    }

    fn check_format(&self) -> Result<(), OpenError> {
        let path = || self.path.clone();
        let damaged = |source| OpenError::Damaged { path: path(), source };
        let format = self.read().and_then(|reader| reader.view.value(Table::Meta, FORMAT_KEY));
        let format = format.map_err(|error| match error {
            ReadError::Storage { source: source @ Fault::Foreign(_), .. } => {
                OpenError::NotAStore { path: path(), source }
            }
            ReadError::Storage { source, .. } => damaged(source),
            ReadError::Damaged { detail, .. } => damaged(Fault::Corrupt(detail)),
        })?;
        match format.and_then(|value| value.try_into().ok()).map(u64::from_le_bytes) {
            Some(FORMAT) => Ok(()),
            Some(found) if found > FORMAT => {
                Err(OpenError::NewerFormat { path: path(), found, known: FORMAT })
            }
            _ => Err(damaged(Fault::Corrupt("the format number is missing".to_owned()))),
        }
    }

    /// A store on a storage of the test's own.
    #[cfg(test)]
    pub(crate) fn on_backend(
        backend: impl redb::StorageBackend,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let path = PathBuf::from("backend");
        let fresh = backend.len().is_ok_and(|length| length == 0);
        let opened = guarded(|| {
            let database = builder(options).create_with_backend(backend)?;
            if fresh {
                fill(&database)?;
            }
            Ok(Handle::Writing(database))
        });
        let handle = opened.map_err(|source| OpenError::Io { path: path.clone(), source })?;
        let store = Self { path, wait: options.wait, handle: Guarded::new(handle) };
        store.check_format()?;
        Ok(store)
    }
}

/// What an open needs, over all its tries.
struct Opening<'a> {
    path: &'a Path,
    options: &'a Options,
    repair: Rc<dyn Fn(f64)>,
}

impl Opening<'_> {
    fn open(&self, access: Access) -> Result<Handle, OpenError> {
        let opened = match access {
            Access::ReadWrite => self.patiently(Self::writable),
            Access::ReadOnly => match self.patiently(Self::readable) {
                Err(redb::Error::RepairAborted) => {
                    self.repair()?;
                    self.patiently(Self::readable)
                }
                opened => opened,
            },
        };
        opened.map_err(|error| self.explained(error))
    }

    fn readable(&self) -> Result<Handle, redb::Error> {
        Ok(Handle::Reading(builder(self.options).open_read_only(self.path)?))
    }

    fn writable(&self) -> Result<Handle, redb::Error> {
        let repair = Rc::clone(&self.repair);
        let mut builder = builder(self.options);
        builder.set_repair_callback(move |session| repair(session.progress()));
        Ok(Handle::Writing(builder.open(self.path)?))
    }

    /// Opening for writing repairs; the handle is given back at once.
    fn repair(&self) -> Result<(), OpenError> {
        match self.patiently(Self::writable) {
            Ok(handle) => {
                drop(Guarded::new(handle));
                Ok(())
            }
            Err(error) => Err(OpenError::Repair {
                path: self.path.to_owned(),
                source: Box::new(self.explained(error)),
            }),
        }
    }

    /// Tries again while another process has the file for itself, as during its own repair.
    fn patiently(
        &self,
        open: impl Fn(&Self) -> Result<Handle, redb::Error>,
    ) -> Result<Handle, redb::Error> {
        let mut waited = Duration::ZERO;
        loop {
            match attempt(|| open(self)) {
                Err(redb::Error::DatabaseAlreadyOpen) if waited < self.options.wait => {
                    std::thread::sleep(NAP);
                    waited += NAP;
                }
                result => return result,
            }
        }
    }

    fn explained(&self, error: redb::Error) -> OpenError {
        use io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
        use redb::Error as E;
        let path = self.path.to_owned();
        match error {
            E::DatabaseAlreadyOpen | E::LockProtocolMismatch => {
                OpenError::Locked { holders: holders::of(&path), path }
            }
            E::Io(source) if source.kind() == NotFound => OpenError::NotFound { path },
            E::Io(source) if matches!(source.kind(), InvalidData | UnexpectedEof) => {
                OpenError::NotAStore { path, source: Fault::Io(source) }
            }
            E::UpgradeRequired(_) => OpenError::NotAStore { path, source: error.into() },
            E::Corrupted(_) => OpenError::Damaged { path, source: error.into() },
            _ => OpenError::Io { path, source: error.into() },
        }
    }
}

fn builder(options: &Options) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(options.cache_bytes);
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    builder
}

/// The one commit that makes an empty database a store: every table, the format, an empty journal.
fn fill(database: &Database) -> Result<(), redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_two_phase_commit(true);
    for table in Table::ALL {
        transaction.open_table(table.definition())?;
    }
    let format = FORMAT.to_le_bytes().to_vec();
    let head = codec::encode(&StoredHead::empty());
    {
        let mut meta = transaction.open_table(Table::Meta.definition())?;
        for (key, value) in [(FORMAT_KEY, format), (HEAD_KEY, head)] {
            meta.insert(key, seal(Table::Meta, key, &value).as_slice())?;
        }
    }
    Ok(transaction.commit()?)
}

fn initialise(database: Database) -> Result<(), redb::Error> {
    fill(&database)?;
    Ok(database.close()?)
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// An empty file beside the place the store is to take. One that is left behind by a crash is
/// never looked at again and may be removed.
fn draft(path: &Path, directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.new-");
    let mut draft = tempfile::Builder::new();
    draft.prefix(&prefix);
    permit(&mut draft);
    draft.tempfile_in(directory)
}

/// A store gets the permissions any new file of the user's gets.
#[cfg(unix)]
fn permit(draft: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt as _;
    draft.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn permit(_draft: &mut tempfile::Builder<'_, '_>) {}

#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_directory: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
