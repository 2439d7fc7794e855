//! Why writing can fail.

use std::path::PathBuf;
use std::time::Duration;

use crate::fault::Fault;
use crate::hash::DerivationId;
use crate::read::ReadError;
use crate::realisation::INPUT_OF;
use crate::tables::Table;

/// Why something could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Another writer did not finish in time.
    #[error("{} is being written to by {}; waited {waited:?}", path.display(), if holders.is_empty() { "another process".to_owned() } else { holders.join(", ") })]
    Busy {
        /// The store.
        path: PathBuf,
        /// How long this writer waited.
        waited: Duration,
        /// The other processes that have the file open, where the system tells.
        holders: Vec<String>,
    },
    /// The store was opened for reading only.
    #[error("{} was opened for reading only", path.display())]
    ReadOnly {
        /// The store.
        path: PathBuf,
    },
    /// The database beneath failed. What earlier commits acknowledged is safe; open the store anew.
    #[error("cannot {operation} in the store")]
    Storage {
        /// What was being done.
        operation: &'static str,
        /// What the database reported; a full disk is [`std::io::ErrorKind::StorageFull`].
        #[source]
        source: Fault,
    },
    /// Something that decides what to write could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something else, intact, stands where this was to be written.
    #[error("table {table} already holds something else at {key}", table = table.name())]
    Conflict {
        /// The table.
        table: Table,
        /// The key, as people read it.
        key: String,
    },
    /// The resolved derivation does not belong to the derivation as the store knows its inputs.
    #[error("{derivation} does not resolve to what was handed in: {reason}")]
    Unresolved {
        /// The derivation.
        derivation: DerivationId,
        /// Which input does not fit, and how.
        reason: String,
    },
    /// An observation was handed in for something that was never realised.
    #[error("{derivation} was never realised")]
    NotRealised {
        /// The derivation.
        derivation: DerivationId,
    },
    /// The relation's edges are written by the store alone.
    #[error("relation {INPUT_OF} belongs to the store")]
    ReservedRelation,
    /// A part is longer than the store takes.
    #[error("{part} of {bytes} bytes is longer than {limit}")]
    TooLarge {
        /// Which part.
        part: &'static str,
        /// Its length.
        bytes: usize,
        /// The greatest length.
        limit: usize,
    },
    /// An earlier write of this batch failed half-way, so none of it can be committed.
    #[error("an earlier write of this batch failed, so nothing of it was committed")]
    Abandoned,
}
