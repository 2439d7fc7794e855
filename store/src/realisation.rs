//! Realisations: the immutable records that a derivation produced an output, and the edges that
//! are written with them.

use crate::codec::{self, CodecError, Decode, Encode};
use crate::hash::{BlobId, DerivationId, ResolvedId};

/// How a derivation came to be realised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum How {
    /// A model was called.
    Generated,
    /// No model was needed.
    Settled,
    /// The resolved derivation was realised already.
    CutOff,
}

/// The record that a derivation produced an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Realisation {
    /// What was realised.
    pub derivation: DerivationId,
    /// Its form with every input a blob.
    pub resolved: ResolvedId,
    /// What came out.
    pub output: BlobId,
    /// How it came out.
    pub how: How,
    /// A code whose meaning belongs to the caller.
    pub status: u8,
}

/// What a resolved derivation produced first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedEntry {
    /// What came out.
    pub output: BlobId,
    /// The first derivation that resolved to it.
    pub derivation: DerivationId,
    /// A code whose meaning belongs to the caller.
    pub status: u8,
    /// How it came out.
    pub how: How,
}

/// The relation from an input (a blob's or a derivation's id) to the derivation that reads it.
/// The store writes these edges itself.
pub const INPUT_OF: u8 = 0;

/// A directed edge between two ids. What relations above [`INPUT_OF`] mean belongs to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Which relation.
    pub relation: u8,
    /// Where look-ups start.
    pub from: [u8; 32],
    /// Where the edge leads.
    pub to: [u8; 32],
    /// Bytes that belong to the edge and tell it from others between the same ends.
    pub detail: Vec<u8>,
}

#[derive(Encode, Decode)]
struct StoredRealisation {
    resolved: [u8; 32],
    output: [u8; 32],
    how: How,
    status: u8,
}

#[derive(Encode, Decode)]
struct StoredResolved {
    output: [u8; 32],
    derivation: [u8; 32],
    status: u8,
    how: How,
}

impl Realisation {
    pub(crate) fn encode(&self) -> Vec<u8> {
        codec::encode(&StoredRealisation {
            resolved: self.resolved.0,
            output: self.output.0,
            how: self.how,
            status: self.status,
        })
    }

    pub(crate) fn decode(derivation: DerivationId, bytes: &[u8]) -> Result<Self, CodecError> {
        let stored: StoredRealisation = codec::decode(bytes)?;
        Ok(Self {
            derivation,
            resolved: ResolvedId(stored.resolved),
            output: BlobId(stored.output),
            how: stored.how,
            status: stored.status,
        })
    }
}

impl ResolvedEntry {
    pub(crate) fn encode(&self) -> Vec<u8> {
        codec::encode(&StoredResolved {
            output: self.output.0,
            derivation: self.derivation.0,
            status: self.status,
            how: self.how,
        })
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        let stored: StoredResolved = codec::decode(bytes)?;
        Ok(Self {
            output: BlobId(stored.output),
            derivation: DerivationId(stored.derivation),
            status: stored.status,
            how: stored.how,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_small_and_read_back() {
        let realisation = Realisation {
            derivation: DerivationId([1; 32]),
            resolved: ResolvedId([2; 32]),
            output: BlobId([3; 32]),
            how: How::CutOff,
            status: 4,
        };
        let bytes = realisation.encode();
        assert_eq!(bytes.len(), 67);
        assert_eq!(Realisation::decode(DerivationId([1; 32]), &bytes), Ok(realisation));

        let entry = ResolvedEntry {
            output: BlobId([3; 32]),
            derivation: DerivationId([1; 32]),
            status: 4,
            how: How::Generated,
        };
        assert_eq!(ResolvedEntry::decode(&entry.encode()), Ok(entry));
    }
}
