//! How much a store holds.

use crate::open::Store;
use crate::read::ReadError;
use crate::tables::Table;

/// What a store holds and how much room it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Bytes of the file, `None` where the system does not tell.
    pub file_bytes: Option<u64>,
    /// Every table.
    pub tables: Vec<TableStats>,
}

/// What one table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableStats {
    /// Which table.
    pub table: Table,
    /// Number of entries.
    pub entries: u64,
    /// Bytes of keys and sealed values.
    pub stored_bytes: u64,
    /// Bytes of the tree around them.
    pub metadata_bytes: u64,
    /// Bytes of pages left free.
    pub fragmented_bytes: u64,
}

impl Store {
    /// Counts everything; walks the pages of every table.
    pub fn stats(&self) -> Result<Stats, ReadError> {
        let view = self.read()?.view;
        let tables = Table::ALL.into_iter().map(|table| view.table_stats(table));
        Ok(Stats {
            file_bytes: self.path().metadata().ok().map(|metadata| metadata.len()),
            tables: tables.collect::<Result<_, _>>()?,
        })
    }
}
