//! The only module that names bincode. A payload has one encoding: a version byte, then bincode
//! whose every byte is used and which encodes back to itself; decoding allocates within a limit.

pub use bincode::{Decode, Encode};

/// The first byte of every payload.
const VERSION: u8 = 1;

/// The most memory one decoding may claim, in bytes. Without it nine bytes can abort the process.
const LIMIT: usize = 32 << 20;

/// The longest payload the store accepts, in bytes. A byte of it claims at most a `String` (24
/// bytes) when decoded, which stays below the limit, so whatever was written can be read.
pub const MAX_PAYLOAD: usize = 1 << 20;

/// Bytes that are no payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// There is not even a version byte.
    #[error("the payload is empty")]
    Empty,
    /// The payload was written by a later program.
    #[error("payload version {found} is unknown, this program knows {VERSION}")]
    Version {
        /// The version byte that was found.
        found: u8,
    },
    /// The bytes are cut short, name an unknown variant, or claim more than the limit.
    #[error("malformed payload: {reason}")]
    Malformed {
        /// What bincode says.
        reason: String,
    },
    /// Bytes are left over.
    #[error("{count} bytes follow the payload")]
    Trailing {
        /// How many.
        count: usize,
    },
    /// The bytes read well, but are not what would be written.
    #[error("the payload is not in its canonical form")]
    NotCanonical,
}

/// The payload of a value.
pub fn encode<T: Encode>(value: &T) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    bincode::encode_into_std_write(value, &mut bytes, bincode::config::standard())
        .expect("encoding into memory succeeds because only locks and system times can refuse");
    bytes
}

/// Reads what [`encode`] wrote, and nothing else.
pub fn decode<T: Decode<()> + Encode>(bytes: &[u8]) -> Result<T, CodecError> {
    let (&version, body) = bytes.split_first().ok_or(CodecError::Empty)?;
    if version != VERSION {
        return Err(CodecError::Version { found: version });
    }
    let config = bincode::config::standard().with_limit::<LIMIT>();
    let (value, used) = bincode::decode_from_slice(body, config)
        .map_err(|error| CodecError::Malformed { reason: error.to_string() })?;
    if used != body.len() {
        return Err(CodecError::Trailing { count: body.len() - used });
    }
    match encode(&value) == bytes {
        true => Ok(value),
        false => Err(CodecError::NotCanonical),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug, PartialEq, Encode, Decode)]
    struct Sample {
        number: u64,
        text: String,
        list: Vec<Vec<u8>>,
        choice: Option<[u8; 4]>,
    }

    fn sample() -> Sample {
        Sample { number: 300, text: "é".into(), list: vec![vec![1], vec![]], choice: None }
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(encode(&sample()), [1, 251, 44, 1, 2, 0xc3, 0xa9, 2, 1, 1, 0, 0]);
    }

    #[test]
    fn trailing_bytes_are_refused() {
        let mut bytes = encode(&sample());
        bytes.push(0);
        assert_eq!(decode::<Sample>(&bytes), Err(CodecError::Trailing { count: 1 }));
    }

    #[test]
    fn a_number_in_more_bytes_than_it_needs_is_refused() {
        assert_eq!(decode::<u64>(&[1, 251, 7, 0]), Err(CodecError::NotCanonical));
        assert_eq!(decode::<u64>(&[1, 7]), Ok(7));
    }

    #[test]
    fn a_huge_length_is_an_error_before_it_is_an_allocation() {
        let mut bytes = vec![1, 253];
        bytes.extend(u64::MAX.to_le_bytes());
        assert!(matches!(decode::<Vec<u8>>(&bytes), Err(CodecError::Malformed { .. })));
        let mut bytes = vec![1, 252];
        bytes.extend((LIMIT as u32 + 1).to_le_bytes());
        assert!(matches!(decode::<Vec<u8>>(&bytes), Err(CodecError::Malformed { .. })));
    }

    #[test]
    fn other_versions_and_nothing_are_refused() {
        assert_eq!(decode::<u64>(&[]), Err(CodecError::Empty));
        assert_eq!(decode::<u64>(&[2, 7]), Err(CodecError::Version { found: 2 }));
    }

    #[test]
    fn the_largest_payload_of_the_worst_shape_is_read_back() {
        let texts = vec![String::new(); MAX_PAYLOAD - 6];
        let bytes = encode(&texts);
        assert_eq!(bytes.len(), MAX_PAYLOAD);
        assert_eq!(decode::<Vec<String>>(&bytes), Ok(texts));
    }

    proptest! {
        #[test]
        fn the_decoder_never_panics_and_has_one_encoding(
            bytes in prop::collection::vec(any::<u8>(), 0..60)
        ) {
            let mut bytes = bytes;
            bytes.insert(0, VERSION);
            if let Ok(value) = decode::<Sample>(&bytes) {
                prop_assert_eq!(encode(&value), bytes);
            }
        }

        #[test]
        fn a_changed_byte_never_gives_the_same_value(at in 0usize..12, with in any::<u8>()) {
            let mut bytes = encode(&sample());
            prop_assume!(bytes[at] != with);
            bytes[at] = with;
            prop_assert_ne!(decode::<Sample>(&bytes), Ok(sample()));
        }
    }
}
