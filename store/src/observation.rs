//! Observations: acts of producing an output. The first of a derivation is canonical; later ones
//! are kept beside it and replace nothing.

use crate::codec::{self, CodecError, Decode, Encode};
use crate::encode::Value;
use crate::hash::{self, BlobId, DerivationId, ObservationId, ResolvedId};

/// The format of the canonical bytes that give an observation its id.
const FORMAT: u64 = 1;

/// What the caller knows of one act of producing an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// When, in milliseconds since 1970.
    pub at_millis: u64,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Tokens read.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Whatever else belongs to the act; the store does not look inside.
    pub detail: Vec<u8>,
}

/// One act of producing an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Its place among the observations of its derivation, from 0, which is canonical.
    pub number: u32,
    /// What was realised.
    pub derivation: DerivationId,
    /// Its form with every input a blob.
    pub resolved: ResolvedId,
    /// What came out.
    pub output: BlobId,
    /// The raw record of the act, if one was kept.
    pub raw: Option<BlobId>,
    /// Time, tokens and detail.
    pub run: Run,
}

#[derive(Encode, Decode)]
struct Stored {
    number: u32,
    derivation: [u8; 32],
    resolved: [u8; 32],
    output: [u8; 32],
    raw: Option<[u8; 32]>,
    at_millis: u64,
    micros: u64,
    tokens_in: u64,
    tokens_out: u64,
    detail: Vec<u8>,
}

impl Observation {
    /// The id: it covers every field, so two acts of one derivation never share it.
    pub fn id(&self) -> ObservationId {
        let raw: Vec<Value> = self.raw.iter().map(|id| Value::Digest(id.0)).collect();
        let detail = hash::derived("dossier 2026-12 observation detail 1", &self.run.detail);
        let parts = vec![
            Value::Number(FORMAT),
            Value::Number(self.number.into()),
            Value::Digest(self.derivation.0),
            Value::Digest(self.resolved.0),
            Value::Digest(self.output.0),
            Value::List(raw),
            Value::Number(self.run.at_millis),
            Value::Number(self.run.micros),
            Value::Number(self.run.tokens_in),
            Value::Number(self.run.tokens_out),
            Value::Digest(detail),
        ];
        ObservationId::of(&Value::List(parts).encode())
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        codec::encode(&Stored {
            number: self.number,
            derivation: self.derivation.0,
            resolved: self.resolved.0,
            output: self.output.0,
            raw: self.raw.map(|id| id.0),
            at_millis: self.run.at_millis,
            micros: self.run.micros,
            tokens_in: self.run.tokens_in,
            tokens_out: self.run.tokens_out,
            detail: self.run.detail.clone(),
        })
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        let stored: Stored = codec::decode(bytes)?;
        Ok(Self {
            number: stored.number,
            derivation: DerivationId(stored.derivation),
            resolved: ResolvedId(stored.resolved),
            output: BlobId(stored.output),
            raw: stored.raw.map(BlobId),
            run: Run {
                at_millis: stored.at_millis,
                micros: stored.micros,
                tokens_in: stored.tokens_in,
                tokens_out: stored.tokens_out,
                detail: stored.detail,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Observation {
        Observation {
            number: 1,
            derivation: DerivationId([1; 32]),
            resolved: ResolvedId([2; 32]),
            output: BlobId([3; 32]),
            raw: Some(BlobId([4; 32])),
            run: Run { at_millis: 5, micros: 6, tokens_in: 7, tokens_out: 8, detail: vec![9] },
        }
    }

    #[test]
    fn reads_back() {
        assert_eq!(Observation::decode(&sample().encode()), Ok(sample()));
    }

    #[test]
    fn golden_id() {
        assert_eq!(
            sample().id().hex(),
            "45be25300490a6d8c3fcfa834dd6165ab4d46702e8417e266bc9af29d5dbd36d"
        );
    }

    #[test]
    fn every_field_is_in_the_id() {
        let changes: [fn(&mut Observation); 10] = [
            |o| o.number = 0,
            |o| o.derivation = DerivationId([0; 32]),
            |o| o.resolved = ResolvedId([0; 32]),
            |o| o.output = BlobId([0; 32]),
            |o| o.raw = None,
            |o| o.run.at_millis = 0,
            |o| o.run.micros = 0,
            |o| o.run.tokens_in = 0,
            |o| o.run.tokens_out = 0,
            |o| o.run.detail = vec![],
        ];
        for change in changes {
            let mut other = sample();
            change(&mut other);
            assert_ne!(other.id(), sample().id(), "{other:?}");
        }
    }
}
