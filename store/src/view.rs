//! One transaction, read or write, and what reading through it found damaged. The only module
//! that reads tables: every value that leaves it had its seal checked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, ControlFlow};
use std::sync::{Mutex, OnceLock, PoisonError};

use redb::{
    ReadOnlyTable, ReadTransaction, ReadableTable, ReadableTableMetadata, WriteTransaction,
};

use crate::fault::{Fault, Guarded};
use crate::read::ReadError;
use crate::stats::TableStats;
use crate::tables::{Table, seal, unseal};
use crate::verify::{Finding, FindingKind};

type OpenTable = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// A read transaction with its tables, each opened once.
pub(crate) struct Pages {
    transaction: ReadTransaction,
    tables: [OnceLock<OpenTable>; Table::ALL.len()],
}

impl Pages {
    fn table(&self, table: Table) -> Result<&OpenTable, redb::Error> {
        let slot = &self.tables[table as usize];
        if let Some(open) = slot.get() {
            return Ok(open);
        }
        let open = self.transaction.open_table(table.definition())?;
        Ok(slot.get_or_init(|| open))
    }
}

enum Transaction {
    Read(Guarded<Box<Pages>>),
    Write(Guarded<Box<WriteTransaction>>),
}

/// Runs some work on a table, whichever kind of transaction it has to be opened in.
macro_rules! on_table {
    ($view:expr, $table:expr, |$open:ident| $work:expr) => {
        match &$view.transaction {
            Transaction::Read(pages) => pages.with(|pages| {
                let $open = pages.table($table)?;
                $work
            }),
            Transaction::Write(transaction) => transaction.with(|transaction| {
                let $open = &transaction.open_table($table.definition())?;
                $work
            }),
        }
    };
}

/// A consistent state of the store, as [`crate::Reader`] and [`crate::Batch`] see it.
pub struct View {
    transaction: Transaction,
    damage: Mutex<Vec<Finding>>,
    /// Every topic, once the whole table was checked; what proves that a topic never was.
    pub(crate) topics: Mutex<Option<BTreeSet<String>>>,
}

impl View {
    pub(crate) fn reading(transaction: ReadTransaction) -> Self {
        let tables = std::array::from_fn(|_| OnceLock::new());
        Self::of(Transaction::Read(Guarded::new(Box::new(Pages { transaction, tables }))))
    }

    pub(crate) fn writing(transaction: WriteTransaction) -> Self {
        Self::of(Transaction::Write(Guarded::new(Box::new(transaction))))
    }

    fn of(transaction: Transaction) -> Self {
        Self { transaction, damage: Mutex::default(), topics: Mutex::default() }
    }

    /// The bytes under a key, with their seal, unchecked.
    pub(crate) fn raw(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        on_table!(self, table, |open| copied(open, key))
    }

    /// The value under a key.
    pub(crate) fn value(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(mut bytes) = self.raw(table, key).map_err(ReadError::at(table))? else {
            return Ok(None);
        };
        match unseal(table, key, &bytes).map(<[u8]>::len) {
            Some(length) => {
                bytes.truncate(length);
                Ok(Some(bytes))
            }
            None => Err(ReadError::damaged(table, key, "the seal does not fit")),
        }
    }

    /// The decoded value under a key, in a table of derived data: damage is noted, and is a miss.
    pub(crate) fn derived<T, E: std::fmt::Display>(
        &self,
        table: Table,
        key: &[u8],
        decode: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> Result<Option<T>, ReadError> {
        let value = match self.value(table, key) {
            Ok(Some(value)) => value,
            Ok(None) => return Ok(None),
            Err(ReadError::Damaged { detail, .. }) => {
                self.note(table, key, detail);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match decode(&value) {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                self.note(table, key, error.to_string());
                Ok(None)
            }
        }
    }

    /// Visits sealed entries in key order, from `start` on, until the visitor breaks.
    pub(crate) fn scan(
        &self,
        table: Table,
        start: &[u8],
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        on_table!(self, table, |open| walk(open, start, visit)).map_err(ReadError::at(table))
    }

    /// The entries whose key begins with `prefix`, unsealed; damaged ones as their keys.
    pub(crate) fn under(&self, table: Table, prefix: &[u8]) -> Result<Vec<Entry>, ReadError> {
        let mut entries = Vec::new();
        self.scan(table, prefix, |key, sealed| {
            if !key.starts_with(prefix) {
                return ControlFlow::Break(());
            }
            let value = unseal(table, key, sealed).map(<[u8]>::to_vec);
            entries.push(Entry { key: key.to_vec(), value });
            ControlFlow::Continue(())
        })?;
        Ok(entries)
    }

    /// The greatest key between two, both included.
    pub(crate) fn last_key(
        &self,
        table: Table,
        from: &[u8],
        to: &[u8],
    ) -> Result<Option<Vec<u8>>, ReadError> {
        on_table!(self, table, |open| last(open, from, to)).map_err(ReadError::at(table))
    }

    /// How many entries a table has, as its root says.
    pub(crate) fn count(&self, table: Table) -> Result<u64, ReadError> {
        on_table!(self, table, |open| Ok(open.len()?)).map_err(ReadError::at(table))
    }

    /// What the pages of a table hold; walks all of them.
    pub(crate) fn table_stats(&self, table: Table) -> Result<TableStats, ReadError> {
        on_table!(self, table, |open| measured(open, table)).map_err(ReadError::at(table))
    }

    /// The write transaction; a read transaction refuses.
    pub(crate) fn change<R>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<R, redb::Error>,
    ) -> Result<R, Fault> {
        match &self.transaction {
            Transaction::Write(transaction) => transaction.with(|transaction| work(transaction)),
            Transaction::Read(_) => Err(Fault::Closed("this view only reads".to_owned())),
        }
    }

    /// Inserts values, in the order of their keys, where nothing is; gives the keys under which
    /// something else stands. The table is opened once for all of them.
    pub(crate) fn insert_missing(
        &self,
        table: Table,
        values: &BTreeMap<Vec<u8>, &[u8]>,
    ) -> Result<Vec<Vec<u8>>, Fault> {
        self.change(|transaction| {
            let mut open = transaction.open_table(table.definition())?;
            let mut taken = Vec::new();
            for (key, value) in values {
                let sealed = seal(table, key, value);
                let same =
                    open.get(key.as_slice())?.map(|there| there.value() == sealed.as_slice());
                match same {
                    Some(true) => {}
                    Some(false) => taken.push(key.clone()),
                    None => drop(open.insert(key.as_slice(), sealed.as_slice())?),
                }
            }
            Ok(taken)
        })
    }

    /// Commits the write transaction, durably, in two phases.
    pub(crate) fn commit(self) -> Result<(), Fault> {
        match self.transaction {
            Transaction::Write(mut transaction) => transaction.finish(|mut transaction| {
                transaction.set_two_phase_commit(true);
                Ok(transaction.commit()?)
            }),
            Transaction::Read(_) => Ok(()),
        }
    }

    /// Notes that a derived value was damaged.
    pub(crate) fn note(&self, table: Table, key: &[u8], detail: impl Into<String>) {
        let finding = Finding {
            kind: FindingKind::Corrupt,
            table,
            key: table.show_key(key),
            detail: detail.into(),
        };
        let mut damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        if !damage.contains(&finding) {
            damage.push(finding);
        }
    }

    /// Everything noted so far.
    pub(crate) fn damage(&self) -> Vec<Finding> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A key and its value; no value where the seal does not fit.
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    pub(crate) value: Option<Vec<u8>>,
}

trait Sealed: ReadableTable<&'static [u8], &'static [u8]> {}
impl<T: ReadableTable<&'static [u8], &'static [u8]>> Sealed for T {}

fn copied(table: &impl Sealed, key: &[u8]) -> Result<Option<Vec<u8>>, redb::Error> {
    Ok(table.get(key)?.map(|guard| guard.value().to_vec()))
}

/// Keys must ascend: on a damaged page a tree can lead back into itself, and a walk would not end.
fn walk(
    table: &impl Sealed,
    start: &[u8],
    mut visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
) -> Result<(), redb::Error> {
    let mut least = Bound::Included(start.to_vec());
    for entry in table.range::<&[u8]>(start..)? {
        let (key, sealed) = entry?;
        let ascends = match &least {
            Bound::Included(least) => key.value() >= least.as_slice(),
            Bound::Excluded(last) => key.value() > last.as_slice(),
            Bound::Unbounded => true,
        };
        if !ascends {
            return Err(redb::Error::Corrupted("keys do not ascend".to_owned()));
        }
        if visit(key.value(), sealed.value()).is_break() {
            break;
        }
        least = Bound::Excluded(key.value().to_vec());
    }
    Ok(())
}

fn last(table: &impl Sealed, from: &[u8], to: &[u8]) -> Result<Option<Vec<u8>>, redb::Error> {
    match table.range::<&[u8]>(from..=to)?.next_back() {
        Some(entry) => Ok(Some(entry?.0.value().to_vec())),
        None => Ok(None),
    }
}

fn measured(open: &impl Sealed, table: Table) -> Result<TableStats, redb::Error> {
    let stats = open.stats()?;
    Ok(TableStats {
        table,
        entries: open.len()?,
        stored_bytes: stats.stored_bytes(),
        metadata_bytes: stats.metadata_bytes(),
        fragmented_bytes: stats.fragmented_bytes(),
    })
}
