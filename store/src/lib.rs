//! The content-addressed store: hashes and ids, canonical encoding, derivations, realisations,
//! observations, the journal, and the redb tables that keep them. It knows no documents and no
//! models, and it deletes and overwrites nothing.

pub mod encode;
pub mod hash;

pub mod derivation;
