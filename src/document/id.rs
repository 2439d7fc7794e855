//! Ids of documents: `<dossier>/<relative path>` as the user wrote it, with everything that would
//! make `doc@version:start:end` ambiguous, or that hides, percent-encoded.

use std::ffi::OsStr;
use std::fmt;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use crate::text::is_bidi_control;

/// The id of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(String);

/// An id that holds a character which must be percent-encoded, or is empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("doc_id_charset: {id:?} is no document id; encode @ : # %, control and bidi characters")]
pub struct CharsetFault {
    /// What was given.
    pub id: String,
}

impl DocumentId {
    /// The id of the file at this path below a dossier's folder. Only plain components count, so
    /// no id leads out of the folder.
    pub fn from_path(dossier: &str, path: &Path) -> Self {
        let mut id = dossier.to_owned();
        for component in path.components() {
            if let Component::Normal(name) = component {
                id.push('/');
                id.push_str(&Self::component(name));
            }
        }
        Self(id)
    }

    /// One component of a path as it stands in ids.
    pub fn component(name: &OsStr) -> String {
        let mut text = String::new();
        for chunk in name.as_bytes().utf8_chunks() {
            for character in chunk.valid().chars() {
                match must_be_encoded(character) || character == '%' {
                    true => encode(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut text),
                    false => text.push(character),
                }
            }
            encode(chunk.invalid(), &mut text);
        }
        text
    }

    /// An id that somebody gives; one with an unencoded character is refused.
    pub fn given(id: &str) -> Result<Self, CharsetFault> {
        let sound = !id.is_empty() && !id.chars().any(must_be_encoded) && escapes_are_whole(id);
        match sound {
            true => Ok(Self(id.to_owned())),
            false => Err(CharsetFault { id: id.to_owned() }),
        }
    }

    /// This id with `~number` behind it, for a file whose own id a moved document still has.
    pub fn suffixed(&self, number: u64) -> Self {
        Self(format!("{}~{number}", self.0))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a character may stand in an id only as `%XX`.
fn must_be_encoded(character: char) -> bool {
    matches!(character, '@' | ':' | '#') || character.is_control() || is_bidi_control(character)
}

fn encode(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "%{byte:02X}");
    }
}

/// Whether every `%` begins an escape of two hexadecimal digits.
fn escapes_are_whole(id: &str) -> bool {
    id.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_kept_as_written_but_for_what_must_be_encoded() {
        let id = |path: &str| DocumentId::from_path("S", Path::new(path)).0;
        assert_eq!(id("a b/Đơn 東京.txt"), "S/a b/Đơn 東京.txt");
        assert_eq!(id("a@b#c%:d.txt"), "S/a%40b%23c%25%3Ad.txt");
        assert_eq!(id("x\u{202e}y"), "S/x%E2%80%AEy");
        assert_eq!(id("../../etc/./passwd"), "S/etc/passwd");
        let raw = OsStr::from_bytes(b"\xff.txt");
        assert_eq!(DocumentId::component(raw), "%FF.txt");
    }

    #[test]
    fn given_ids_with_unencoded_characters_are_refused() {
        for bad in ["", "q@3:1", "a#b", "a%", "a%4", "a%zz", "a\nb", "a\u{2066}b"] {
            assert!(DocumentId::given(bad).is_err(), "{bad:?}");
        }
        for good in ["memo", "S/a%40b.txt", "S/Đơn.txt"] {
            assert!(DocumentId::given(good).is_ok(), "{good:?}");
        }
    }

    proptest! {
        #[test]
        fn every_path_gives_an_id_that_may_be_given(name in prop::collection::vec(any::<u8>(), 1..20)) {
            let component = DocumentId::component(OsStr::from_bytes(&name));
            prop_assert!(DocumentId::given(&component).is_ok());
        }
    }
}
