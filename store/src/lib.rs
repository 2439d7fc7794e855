//! The content-addressed store: hashes and ids, canonical encoding, derivations, realisations,
//! observations, the journal, and the redb tables that keep them. It knows no documents and no
//! models, and it deletes and overwrites nothing.

pub mod encode;
pub mod hash;

pub mod codec;
pub mod derivation;
pub mod journal;
pub mod observation;
pub mod realisation;

pub mod fault;
mod holders;
pub mod open;
pub mod read;
pub mod stats;
pub mod tables;
pub mod verify;
mod view;
pub mod write;

#[cfg(test)]
mod testing;

pub use open::{Access, Options, Store};
pub use read::{Lookup, Reader};
pub use write::Batch;
