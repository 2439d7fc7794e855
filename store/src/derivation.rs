//! A derivation: the whole recipe of one node as inert, sorted data. Its id is known before any
//! work; replacing each input derivation by what it realised to gives the resolved derivation.

use crate::encode::{DecodeError, Encoder, Group, Map, Scalar, Sink, Value, walk_map};
use crate::hash::{BlobId, DerivationId, ResolvedId};

/// The format of the canonical bytes below.
const FORMAT: u64 = 1;

/// What a derivation, or its resolved form, is made of. `S` is what an input may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe<S> {
    /// Who does the work: format and program versions that can change the output.
    pub builder: Map,
    /// Everything else that can change the output and is no input.
    pub arguments: Map,
    /// The inputs, in the order the builder reads them.
    pub inputs: Vec<Input<S>>,
}

/// One input and the part it plays (`text`, `child`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input<S> {
    /// The part it plays.
    pub role: String,
    /// Where its bytes come from.
    pub source: S,
}

/// An input of a derivation: bytes that exist, or another derivation's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Stored bytes.
    Blob(BlobId),
    /// The output of a derivation that may not be realised yet.
    Derivation(DerivationId),
}

/// A node's recipe; its inputs may be derivations.
pub type Derivation = Recipe<Source>;

/// A node's recipe with every input a blob: all that a realiser may see.
pub type ResolvedDerivation = Recipe<BlobId>;

/// What [`Recipe::walk`] needs of an input.
pub trait InputSource {
    /// The kind of the source, in one word, and its id.
    fn named(&self) -> (&'static str, &[u8; 32]);
}

impl InputSource for Source {
    fn named(&self) -> (&'static str, &[u8; 32]) {
        match self {
            Self::Blob(id) => ("blob", &id.0),
            Self::Derivation(id) => ("derivation", &id.0),
        }
    }
}

impl InputSource for BlobId {
    fn named(&self) -> (&'static str, &[u8; 32]) {
        ("blob", &self.0)
    }
}

impl<S: InputSource> Recipe<S> {
    /// The one walk over a recipe: the hasher and the explanation both listen to it.
    pub fn walk(&self, sink: &mut impl Sink) {
        sink.open("", Group::List, 4);
        sink.scalar("format", Scalar::Number(FORMAT));
        walk_map(&self.builder, "builder", sink);
        walk_map(&self.arguments, "arguments", sink);
        sink.open("inputs", Group::List, self.inputs.len() as u64);
        for (position, input) in self.inputs.iter().enumerate() {
            sink.open(&position.to_string(), Group::List, 3);
            let (kind, id) = input.source.named();
            sink.scalar("role", Scalar::Text(&input.role));
            sink.scalar("kind", Scalar::Text(kind));
            sink.scalar("source", Scalar::Digest(id));
            sink.close();
        }
        sink.close();
        sink.close();
    }

    /// The canonical bytes: the preimage of the id.
    pub fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        self.walk(&mut encoder);
        encoder.finish()
    }
}

impl Derivation {
    /// The input-addressed id. Any change below changes it.
    pub fn id(&self) -> DerivationId {
        DerivationId::of(&self.encode())
    }

    /// Reads a stored preimage.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let malformed = |expected| DecodeError { at: 0, expected };
        let Value::List(parts) = Value::decode(bytes)? else {
            return Err(malformed("the list of a derivation"));
        };
        let Ok([format, builder, arguments, inputs]) = <[Value; 4]>::try_from(parts) else {
            return Err(malformed("the four parts of a derivation"));
        };
        match (format, builder, arguments, inputs) {
            (
                Value::Number(FORMAT),
                Value::Map(builder),
                Value::Map(arguments),
                Value::List(inputs),
            ) => {
                let inputs = inputs.into_iter().map(decode_input).collect::<Option<_>>();
                let inputs = inputs.ok_or_else(|| malformed("inputs of role, kind and source"))?;
                Ok(Self { builder, arguments, inputs })
            }
            (Value::Number(FORMAT), ..) => Err(malformed("builder, arguments and inputs")),
            _ => Err(malformed("derivation format 1")),
        }
    }

    /// The ids of the derivations this one reads.
    pub fn input_derivations(&self) -> impl Iterator<Item = DerivationId> {
        self.inputs.iter().filter_map(|input| match input.source {
            Source::Derivation(id) => Some(id),
            Source::Blob(_) => None,
        })
    }

    /// Replaces each input derivation by the blob it realised to; `None` where one is missing.
    pub fn resolve(
        &self,
        output_of: impl Fn(DerivationId) -> Option<BlobId>,
    ) -> Option<ResolvedDerivation> {
        let inputs = self.inputs.iter().map(|input| {
            let source = match input.source {
                Source::Blob(id) => id,
                Source::Derivation(id) => output_of(id)?,
            };
            Some(Input { role: input.role.clone(), source })
        });
        Some(Recipe {
            builder: self.builder.clone(),
            arguments: self.arguments.clone(),
            inputs: inputs.collect::<Option<_>>()?,
        })
    }
}

impl ResolvedDerivation {
    /// The id that decides whether work is needed.
    pub fn id(&self) -> ResolvedId {
        ResolvedId::of(&self.encode())
    }
}

fn decode_input(value: Value) -> Option<Input<Source>> {
    let Value::List(parts) = value else { return None };
    let [role, kind, source] = <[Value; 3]>::try_from(parts).ok()?;
    let (Value::Text(role), Value::Text(kind), Value::Digest(id)) = (role, kind, source) else {
        return None;
    };
    let source = match kind.as_str() {
        "blob" => Source::Blob(BlobId(id)),
        "derivation" => Source::Derivation(DerivationId(id)),
        _ => return None,
    };
    Some(Input { role, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Derivation {
        Derivation {
            builder: Map::from([("realiser".into(), "extract".into())]),
            arguments: Map::from([("version".into(), 2u64.into()), ("active".into(), true.into())]),
            inputs: vec![
                Input { role: "text".into(), source: Source::Blob(BlobId([1; 32])) },
                Input { role: "child".into(), source: Source::Derivation(DerivationId([2; 32])) },
            ],
        }
    }

    #[test]
    fn the_preimage_reads_back() {
        assert_eq!(Derivation::decode(&sample().encode()), Ok(sample()));
    }

    #[test]
    fn resolving_replaces_derivations_only() {
        let resolved = sample().resolve(|_| Some(BlobId([3; 32]))).unwrap();
        let sources: Vec<_> = resolved.inputs.iter().map(|input| input.source).collect();
        assert_eq!(sources, [BlobId([1; 32]), BlobId([3; 32])]);
        assert_eq!(sample().resolve(|_| None), None);
    }

    #[test]
    fn a_blob_and_a_derivation_of_equal_bytes_are_two_inputs() {
        let mut other = sample();
        other.inputs[0].source = Source::Derivation(DerivationId([1; 32]));
        assert_ne!(other.id(), sample().id());
    }

    #[test]
    fn golden_digests() {
        assert_eq!(
            sample().id().hex(),
            "31ef84e170ba2c721b9f10c3383ba458982cd90bd36fdcbc6448962714bf9f97"
        );
        let resolved = sample().resolve(|_| Some(BlobId([3; 32]))).unwrap();
        assert_eq!(
            resolved.id().hex(),
            "2018138e15bed0878c7dc475e2eb15f751be57dc891389d2ab44fb9615e317bb"
        );
    }
}
