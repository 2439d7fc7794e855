//! Verification of a whole store: every seal, every id against its bytes, every reference, and
//! the journal's chain. It reports all it finds and stops at nothing.

mod checks;

use std::fmt;
use std::ops::ControlFlow;

use crate::hash;
use crate::read::{Lookup, ReadError, stored_head};
use crate::tables::{Table, record_key};

/// How many entries are taken at once.
const PORTION: usize = 256;
/// How many bytes of values are taken at once, give or take one value.
const PORTION_BYTES: usize = 4 << 20;

/// What is wrong with something, and what part of the exit code says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// A value is not what was written.
    Corrupt,
    /// The journal is not what was written, or does not fit together.
    Untrusted,
    /// The database beneath could not read.
    Unreadable,
    /// Something is named that is not there.
    Dangling,
}

impl FindingKind {
    /// Its bit in the exit code. 8 is left to checks outside the store.
    pub fn bit(self) -> u8 {
        match self {
            Self::Corrupt => 1,
            Self::Untrusted => 2,
            Self::Unreadable => 4,
            Self::Dangling => 16,
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong with it.
    pub kind: FindingKind,
    /// The table it lies in.
    pub table: Table,
    /// Its key, as people read it.
    pub key: String,
    /// What does not fit.
    pub detail: String,
}

/// What to verify.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// How much of everything outside the journal to check, in percent. The journal is always
    /// checked whole.
    pub subset_percent: u8,
    /// Which part that is; another seed gives another part.
    pub seed: u64,
    /// Where an earlier verification stopped.
    pub resume_from: Option<Cursor>,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self { subset_percent: 100, seed: 0, resume_from: None }
    }
}

/// A place in the order of verification, everything before which was visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    table: Table,
    start: Vec<u8>,
}

impl Cursor {
    /// Reads the form that is displayed: a table's name, a colon, and hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let (table, digits) = text.split_once(':')?;
        let table = Table::named(table)?;
        Some(Self { table, start: hash::unhex_any(digits)? })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.table.name(), hash::hex(&self.start))
    }
}

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
    /// Entries checked.
    pub checked: u64,
    /// Entries outside the subset.
    pub skipped: u64,
    /// Damaged values that were replaced earlier and are kept.
    pub set_aside: u64,
    /// Where it stopped, if it was told to stop.
    pub cursor: Option<Cursor>,
}

impl Verification {
    /// The bits of all kinds found, together.
    pub fn bits(&self) -> u8 {
        self.findings.iter().fold(0, |bits, finding| bits | finding.kind.bit())
    }
}

/// Verifies a store. `progress` hears how many entries of how many were visited, and may stop it;
/// [`Verification::cursor`] then says where to go on.
pub fn verify(
    lookup: &dyn Lookup,
    options: &VerifyOptions,
    progress: impl FnMut(u64, u64) -> ControlFlow<()>,
) -> Verification {
    let mut verifier = Verifier {
        lookup,
        options,
        progress,
        visited: 0,
        total: Table::ALL.iter().map(|table| lookup.view().count(*table).unwrap_or(0)).sum(),
        found: Verification::default(),
    };
    let resume = options.resume_from.clone();
    let first = resume.as_ref().map_or(Table::Meta, |cursor| cursor.table);
    let mut start = resume.map(|cursor| cursor.start).unwrap_or_default();
    for table in Table::ALL.into_iter().filter(|table| *table >= first) {
        if let ControlFlow::Break(cursor) = verifier.table(table, std::mem::take(&mut start)) {
            verifier.found.cursor = Some(cursor);
            break;
        }
    }
    verifier.found
}

struct Verifier<'a, P> {
    lookup: &'a dyn Lookup,
    options: &'a VerifyOptions,
    progress: P,
    visited: u64,
    total: u64,
    found: Verification,
}

/// Entries as they lie in the file, keys and sealed values.
type Portion = Vec<(Vec<u8>, Vec<u8>)>;

impl<P: FnMut(u64, u64) -> ControlFlow<()>> Verifier<'_, P> {
    fn table(&mut self, table: Table, start: Vec<u8>) -> ControlFlow<Cursor> {
        if table == Table::Record {
            return self.journal(&start);
        }
        let (whole, before, wrong) = (start.is_empty(), self.visited, self.found.findings.len());
        self.entries(table, start)?;
        let (visited, wrong) = (self.visited - before, self.found.findings.len() - wrong);
        let counted = self.lookup.view().count(table).unwrap_or(visited);
        if whole && wrong == 0 && visited != counted {
            let detail = format!("{counted} entries are counted, {visited} were found");
            self.report(table, b"*", FindingKind::Corrupt, detail);
        }
        ControlFlow::Continue(())
    }

    /// Visits a table's entries in portions, so that nothing is read beneath an open scan.
    fn entries(&mut self, table: Table, mut start: Vec<u8>) -> ControlFlow<Cursor> {
        loop {
            let mut portion = Portion::new();
            let scanned = self.take(table, &start, &mut portion);
            let ended = scanned.is_ok() && portion.is_empty();
            for (key, sealed) in &portion {
                self.entry(table, key, sealed);
            }
            if let Some((last, _)) = portion.pop() {
                start = [last.as_slice(), &[0]].concat();
            }
            if let Err(error) = scanned {
                self.report(table, &start, FindingKind::Unreadable, reasons(&error));
                match beyond(&start) {
                    Some(next) => start = next,
                    None => return ControlFlow::Continue(()),
                }
            }
            if ended {
                return ControlFlow::Continue(());
            }
            if (self.progress)(self.visited, self.total).is_break() {
                return ControlFlow::Break(Cursor { table, start });
            }
        }
    }

    fn take(&self, table: Table, start: &[u8], into: &mut Portion) -> Result<(), ReadError> {
        let mut bytes = 0;
        self.lookup.view().scan(table, start, |key, sealed| {
            bytes += sealed.len();
            into.push((key.to_vec(), sealed.to_vec()));
            match into.len() < PORTION && bytes < PORTION_BYTES {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })
    }

    fn entry(&mut self, table: Table, key: &[u8], sealed: &[u8]) {
        self.visited += 1;
        if !self.selected(table, key) {
            self.found.skipped += 1;
            return;
        }
        self.found.checked += 1;
        if table == Table::Damaged {
            self.found.set_aside += 1;
        }
        for (kind, detail) in checks::entry(self.lookup, table, key, sealed) {
            self.report(table, key, kind, detail);
        }
    }

    /// The journal is walked by number, so that no unreadable page ends the walk.
    fn journal(&mut self, start: &[u8]) -> ControlFlow<Cursor> {
        let head = match stored_head(self.lookup.view()) {
            Ok(stored) => stored.head(),
            Err(error) => {
                self.report(Table::Record, &[], FindingKind::Untrusted, reasons(&error));
                return ControlFlow::Continue(());
            }
        };
        let start = start.first_chunk::<8>().map_or(1, |bytes| u64::from_be_bytes(*bytes).max(1));
        let mut chain = checks::Chain::before(self.lookup, start);
        for sequence in start..=head.sequence {
            self.visited += 1;
            self.found.checked += 1;
            let key = record_key(sequence);
            for (kind, detail) in chain.next(self.lookup, sequence) {
                self.report(Table::Record, &key, kind, detail);
            }
            let stop = sequence % PORTION as u64 == 0
                && (self.progress)(self.visited, self.total).is_break();
            if stop {
                let start = record_key(sequence + 1).to_vec();
                return ControlFlow::Break(Cursor { table: Table::Record, start });
            }
        }
        for (kind, detail) in chain.end(self.lookup, head) {
            self.report(Table::Record, &record_key(head.sequence), kind, detail);
        }
        ControlFlow::Continue(())
    }

    /// Whether an entry belongs to the subset: the journal always, the rest by its key and the
    /// seed, spread by a multiplication that moves every bit to the top (Knuth's).
    fn selected(&self, table: Table, key: &[u8]) -> bool {
        if table <= Table::Topic || self.options.subset_percent >= 100 {
            return true;
        }
        let mixed = key.iter().fold(self.options.seed, |mixed, byte| {
            (mixed ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        (mixed >> 32) % 100 < u64::from(self.options.subset_percent)
    }

    fn report(&mut self, table: Table, key: &[u8], kind: FindingKind, detail: String) {
        let key = table.show_key(key);
        self.found.findings.push(Finding { kind, table, key, detail });
    }
}

/// An error with all its sources, in one line.
fn reasons(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// Where to go on behind an unreadable page: at the next first byte. Most keys are hashes, so
/// this passes over one 256th of a table at most.
fn beyond(start: &[u8]) -> Option<Vec<u8>> {
    let first = start.first().copied().unwrap_or(0);
    Some(vec![first.checked_add(1)?])
}

#[cfg(test)]
mod tests;
