//! The only module that hashes: content ids (BLAKE3, domain-separated per kind) and SHA-256 for
//! whatever is named outside the store (texts, model files).

use std::fmt;

use sha2::Digest as _;

/// Defines 32-byte id types. Each has its own BLAKE3 key-derivation context, so equal bytes of two
/// kinds never share an id, and its own prefix in text (`drv:…`).
#[macro_export]
macro_rules! define_ids {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal, $context:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// What the text form starts with, before the colon.
            pub const PREFIX: &'static str = $prefix;

            /// The id of these canonical bytes.
            pub fn of(bytes: &[u8]) -> Self {
                Self($crate::hash::derived($context, bytes))
            }

            /// 64 lower-case hexadecimal digits, without the prefix.
            pub fn hex(&self) -> String {
                $crate::hash::hex(&self.0)
            }

            /// Reads the full text form, with or without the prefix.
            pub fn parse(text: &str) -> Option<Self> {
                let digits = match text.split_once(':') {
                    Some((prefix, digits)) if prefix == Self::PREFIX => digits,
                    Some(_) => return None,
                    None => text,
                };
                $crate::hash::unhex(digits).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}:{}", Self::PREFIX, self.hex())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}:{}", Self::PREFIX, &self.hex()[..12])
            }
        }
    )+};
}

define_ids! {
    /// Names any stored bytes: a text, an output, a raw generation.
    BlobId, "out", "dossier 2026-12 blob 1";
    /// Names a derivation by its whole recipe; it decides freshness.
    DerivationId, "drv", "dossier 2026-12 derivation 1";
    /// Names a derivation whose inputs are replaced by what they realised to; it decides work.
    ResolvedId, "res", "dossier 2026-12 resolved derivation 1";
    /// Names one act of producing an output.
    ObservationId, "run", "dossier 2026-12 observation 1";
    /// Names one journal record together with everything before it.
    RecordId, "rec", "dossier 2026-12 journal record 1";
}

/// The SHA-256 of a text or file, as users and other programs name it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256(pub [u8; 32]);

impl Sha256 {
    /// Hashes bytes held in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Hashes everything a reader gives, in pieces of 64 KiB.
    pub fn of_reader(reader: &mut impl std::io::Read) -> std::io::Result<Self> {
        let mut hasher = sha2::Sha256::new();
        let mut piece = vec![0; 64 * 1024];
        loop {
            match reader.read(&mut piece)? {
                0 => return Ok(Self(hasher.finalize().into())),
                n => hasher.update(&piece[..n]),
            }
        }
    }

    /// 64 lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        unhex(text).map(Self)
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", &self.hex()[..12])
    }
}

/// BLAKE3 in key-derivation mode: `context` separates the domains.
pub fn derived(context: &'static str, bytes: &[u8]) -> [u8; 32] {
    blake3::derive_key(context, bytes)
}

/// The trailer of a stored value: binds it to its table and key, so a value that wandered to
/// another key is as damaged as one whose bits flipped.
pub(crate) fn value_seal(table: &str, key: &[u8], value: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(table.len() as u64).to_le_bytes());
    hasher.update(table.as_bytes());
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key);
    hasher.update(value);
    hasher.finalize().into()
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Reads exactly 64 lower-case hexadecimal digits.
pub fn unhex(digits: &str) -> Option<[u8; 32]> {
    unhex_any(digits)?.try_into().ok()
}

/// Reads lower-case hexadecimal digits, two for each byte.
pub(crate) fn unhex_any(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?)).collect()
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_equal_bytes_differ_by_kind() {
        assert_ne!(BlobId::of(b"x").0, DerivationId::of(b"x").0);
        assert_ne!(DerivationId::of(b"x").0, ResolvedId::of(b"x").0);
    }

    #[test]
    fn golden_digests() {
        assert_eq!(
            Sha256::of(b"abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn text_forms_round_trip_and_refuse_other_kinds() {
        let id = DerivationId::of(b"x");
        assert_eq!(DerivationId::parse(&id.to_string()), Some(id));
        assert_eq!(DerivationId::parse(&id.hex()), Some(id));
        assert_eq!(BlobId::parse(&id.to_string()), None);
        assert_eq!(DerivationId::parse("drv:12"), None);
    }
}
