//! Small headers made here, and what becomes of them when bytes change.

use super::*;
use proptest::prelude::*;

fn string(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn text_entry(bytes: &mut Vec<u8>, key: &str, value: &str) {
    string(bytes, key);
    bytes.extend(8u32.to_le_bytes());
    string(bytes, value);
}

/// A file with four entries and one tensor of 64 bytes.
pub(crate) fn small_model() -> Vec<u8> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3u32.to_le_bytes());
    bytes.extend(1u64.to_le_bytes());
    bytes.extend(4u64.to_le_bytes());
    text_entry(&mut bytes, "general.architecture", "qwen2");
    string(&mut bytes, "qwen2.context_length");
    bytes.extend(4u32.to_le_bytes());
    bytes.extend(32_768u32.to_le_bytes());
    text_entry(&mut bytes, "tokenizer.ggml.model", "gpt2");
    string(&mut bytes, "tokenizer.ggml.tokens");
    bytes.extend(9u32.to_le_bytes());
    bytes.extend(8u32.to_le_bytes());
    bytes.extend(2u64.to_le_bytes());
    string(&mut bytes, "a");
    string(&mut bytes, "b");
    string(&mut bytes, "weight");
    bytes.extend(2u32.to_le_bytes());
    bytes.extend(4u64.to_le_bytes());
    bytes.extend(4u64.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(0u64.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(32) + 64, 0);
    bytes
}

fn read_bytes(bytes: &[u8]) -> Result<Header, HeaderError> {
    read(bytes, bytes.len() as u64)
}

fn position(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
}

#[test]
fn a_header_is_read() {
    let header = read_bytes(&small_model()).unwrap();
    assert_eq!(header.architecture, "qwen2");
    assert_eq!(header.context_length, Some(32_768));
    assert_eq!(header.tokenizer_model.as_deref(), Some("gpt2"));
    assert_eq!((header.quantisation.as_str(), header.tensors), ("F32", 1));
    assert_eq!(header.chat_template, None);
}

#[test]
fn the_tokenizer_hash_covers_the_tokens() {
    let first = read_bytes(&small_model()).unwrap().tokenizer_sha256;
    let mut other = small_model();
    let tokens = position(&other, "tokenizer.ggml.tokens");
    let letter = tokens + position(&other[tokens..], "b");
    other[letter] = b'c';
    assert_ne!(read_bytes(&other).unwrap().tokenizer_sha256, first);
    let mut renamed = small_model();
    let name = position(&renamed, "weight");
    renamed[name] = b'W';
    assert_eq!(read_bytes(&renamed).unwrap().tokenizer_sha256, first);
}

#[test]
fn every_shorter_file_is_refused() {
    let bytes = small_model();
    for length in 0..bytes.len() {
        let refused = read_bytes(&bytes[..length]).unwrap_err();
        let told = match length {
            0..4 => matches!(refused, HeaderError::NotGguf),
            _ => matches!(refused, HeaderError::Truncated { .. }),
        };
        assert!(told, "{length}: {refused}");
    }
}

#[test]
fn a_length_beyond_the_file_is_refused_before_it_is_allocated() {
    let bytes = small_model();
    for key in ["general.architecture", "qwen2", "weight"] {
        let mut damaged = bytes.clone();
        let length = position(&damaged, key) - 8;
        damaged[length..length + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(read_bytes(&damaged), Err(HeaderError::Truncated { .. })));
    }
}

#[test]
fn other_files_and_versions_are_refused() {
    assert!(matches!(read_bytes(b"PK\x03\x04 zip"), Err(HeaderError::NotGguf)));
    let mut bytes = small_model();
    bytes[4] = 9;
    assert!(matches!(read_bytes(&bytes), Err(HeaderError::Version(9))));
}

proptest! {
    #[test]
    fn changed_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = small_model();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = read_bytes(&bytes);
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(noise);
        let _ = read_bytes(&bytes);
    }
}
