//! The raw operations: BLAKE3 over the very bytes that a build stored, and redb with the very
//! entries that it wrote, without seals, checks or ids.

use std::collections::HashMap;
use std::path::Path;

use redb::{
    Builder, ConcurrencyMode, Database, ReadableDatabase, ReadableTable, TableDefinition,
    TableHandle,
};

use crate::world::Failure;

/// One entry of a store file.
pub struct Entry {
    /// The table's name.
    pub table: String,
    /// The key.
    pub key: Vec<u8>,
    /// The value, its seal included.
    pub value: Vec<u8>,
}

/// Every entry of a store file, table by table in key order.
pub fn entries(file: &Path) -> Result<Vec<Entry>, Failure> {
    let transaction = builder().open_read_only(file)?.begin_read()?;
    let mut entries = Vec::new();
    let names: Vec<String> = transaction.list_tables()?.map(|table| table.name().into()).collect();
    for name in names {
        let table = transaction.open_table(definition(&name))?;
        for entry in table.iter()? {
            let (key, value) = entry?;
            let (key, value) = (key.value().to_vec(), value.value().to_vec());
            entries.push(Entry { table: name.clone(), key, value });
        }
    }
    Ok(entries)
}

/// What stands in the second list and not, or not so, in the first.
pub fn written(before: &[Entry], after: Vec<Entry>) -> Vec<Entry> {
    let place = |entry: &Entry| (entry.table.clone(), entry.key.clone());
    let known: HashMap<_, _> = before.iter().map(|entry| (place(entry), &entry.value)).collect();
    after.into_iter().filter(|entry| known.get(&place(entry)) != Some(&&entry.value)).collect()
}

/// A new, empty database with the concurrency and cache of a store.
pub fn database(file: &Path) -> Result<Database, Failure> {
    Ok(builder().create(file)?)
}

/// Inserts entries in so many two-phase commits; each opens every
/// table once and takes its share of it, in key order.
pub fn insert(database: &Database, entries: &[Entry], commits: usize) -> Result<(), Failure> {
    for turn in 0..commits {
        let mut transaction = database.begin_write()?;
        transaction.set_two_phase_commit(true);
        for of_table in entries.chunk_by(|a, b| a.table == b.table) {
            let mut table = transaction.open_table(definition(&of_table[0].table))?;
            for entry in of_table.iter().skip(turn).step_by(commits) {
                table.insert(entry.key.as_slice(), entry.value.as_slice())?;
            }
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Gets the entries of one table, in the order given; how many bytes there were.
pub fn get(database: &Database, table: &str, keys: &[&[u8]]) -> Result<usize, Failure> {
    let transaction = database.begin_read()?;
    let table = transaction.open_table(definition(table))?;
    let mut bytes = 0;
    for key in keys {
        bytes += table.get(*key)?.map_or(0, |value| value.value().len());
    }
    Ok(bytes)
}

/// Hashes every value once.
pub fn hash(entries: &[Entry]) -> [u8; 32] {
    let mut last = [0; 32];
    for entry in entries {
        last = blake3::hash(std::hint::black_box(&entry.value)).into();
    }
    last
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(64 << 20);
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    builder
}

fn definition(name: &str) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
    TableDefinition::new(name)
}
