//! The controlled world: seeded documents, versions, events, and the truth about them.
//! The same call gives the same bytes on any machine: nothing here reads a clock, an environment
//! or the order of a hash map. Labels are reached through [`truth`] alone.

mod random;

pub mod grammar;

mod facts;
mod prose;

pub mod events;
pub mod world;

pub mod marker;

mod files;

pub mod write;

pub mod truth;

pub mod scale;

pub use files::{FilesError, Written};

#[cfg(test)]
mod licences;
