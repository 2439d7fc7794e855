//! What the database beneath reports, without its types. redb checks no checksum on ordinary
//! reads and can panic on a damaged page; every call into it goes through `Guarded` or
//! `guarded`, so that whoever uses this crate meets an error and never a panic.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the database beneath could not do.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The file or device refused; a full disk is [`std::io::ErrorKind::StorageFull`].
    #[error("input or output failed")]
    Io(#[source] std::io::Error),
    /// The file's own structure is damaged.
    #[error("the file is damaged: {0}")]
    Corrupt(String),
    /// A table is missing or is of another kind.
    #[error("the file is no store: {0}")]
    Foreign(String),
    /// The handle is no longer usable, as after an earlier failure; open the store anew.
    #[error("the store must be opened anew: {0}")]
    Closed(String),
}

impl From<redb::Error> for Fault {
    fn from(error: redb::Error) -> Self {
        use redb::Error as E;
        let text = error.to_string();
        match error {
            E::Io(source) => Self::Io(source),
            E::Backend(source) => Self::Io(std::io::Error::other(source)),
            E::Corrupted(_) => Self::Corrupt(text),
            E::TableDoesNotExist(_)
            | E::TableTypeMismatch { .. }
            | E::TypeDefinitionChanged { .. }
            | E::TableIsMultimap(_)
            | E::TableIsNotMultimap(_) => Self::Foreign(text),
            _ => Self::Closed(text),
        }
    }
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Whether this thread is inside a call whose panic becomes a [`Fault::Corrupt`]. A program's
/// panic hook may ask, and stay silent where nothing is lost.
pub fn catches_panics() -> bool {
    DEPTH.get() > 0
}

/// Runs one piece of work on the database; a panic becomes an error.
pub(crate) fn attempt<T>(work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, redb::Error> {
    caught(work).unwrap_or_else(|message| Err(redb::Error::Corrupted(message)))
}

/// Runs one piece of work on the database, with its errors in this crate's words.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, Fault> {
    attempt(work).map_err(Fault::from)
}

/// Asserting unwind safety is sound here: readers share nothing that a panic leaves half-made
/// with us, redb poisons a write transaction that a panic went through, and its poisoned locks
/// turn every later call into an error or another caught panic.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    DEPTH.set(DEPTH.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    result.map_err(|panic| match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => match panic.downcast::<&'static str>() {
            Ok(message) => (*message).to_owned(),
            Err(_) => "the database failed without a message".to_owned(),
        },
    })
}

/// A redb object that is used and dropped under the guard.
pub(crate) struct Guarded<T>(Option<T>);

impl<T> Guarded<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self(Some(inner))
    }

    /// Uses the object.
    pub(crate) fn with<R>(
        &self,
        work: impl FnOnce(&T) -> Result<R, redb::Error>,
    ) -> Result<R, Fault> {
        match &self.0 {
            Some(inner) => guarded(|| work(inner)),
            None => Err(Fault::Closed("it was already given up".to_owned())),
        }
    }

    /// Uses the object up.
    pub(crate) fn finish<R>(
        &mut self,
        work: impl FnOnce(T) -> Result<R, redb::Error>,
    ) -> Result<R, Fault> {
        match self.0.take() {
            Some(inner) => guarded(|| work(inner)),
            None => Err(Fault::Closed("it was already given up".to_owned())),
        }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        let inner = self.0.take();
        // An error while dropping has no one to go to; what was committed is on disk already.
        let _ = caught(|| drop(inner));
    }
}

#[cfg(test)]
mod crashes;
#[cfg(test)]
mod flips;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_fault_with_its_message() {
        let fault = guarded::<()>(|| {
            assert!(catches_panics());
            panic!("page {} is wrong", 7)
        });
        assert!(matches!(fault, Err(Fault::Corrupt(text)) if text.contains("page 7 is wrong")));
        assert!(!catches_panics());
    }

    #[test]
    fn a_panic_while_dropping_stays_inside() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        drop(Guarded::new(Bomb));
        assert!(!catches_panics());
    }
}
