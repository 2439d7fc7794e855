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

/// An id that holds a character which must be percent-encoded, or whose parts are not all names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: {id:?} is no document id; encode @ : # %, control and bidi characters, and let every \
     part between slashes be a name",
    Self::CODE
)]
pub struct CharsetFault {
    /// What was given.
    pub id: String,
}

impl CharsetFault {
    /// The code, the same for ever.
    pub const CODE: &'static str = "doc_id_charset";
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

    /// An id that somebody gives. One with an unencoded character is refused, and one whose parts
    /// are not all names (`a//b`, `/a`, `a/../b`, also when written in escapes): whoever makes a
    /// path of an id stays inside its folder.
    pub fn given(id: &str) -> Result<Self, CharsetFault> {
        let sound =
            !id.chars().any(must_be_encoded) && escapes_are_whole(id) && id.split('/').all(is_name);
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

/// Whether one part of an id, its escapes resolved, is the name of a file or folder.
fn is_name(part: &str) -> bool {
    let name: Vec<u8> = percent_encoding::percent_decode_str(part).collect();
    !matches!(name.as_slice(), b"" | b"." | b"..") && !name.contains(&b'/')
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
        for good in ["memo", "S/a%40b.txt", "S/Đơn.txt", "S/...", "S/.a", "q%403%3a1"] {
            assert!(DocumentId::given(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn no_given_id_leads_out_of_a_folder() {
        for bad in
            ["/etc/passwd", "S/", "S//a", ".", "S/./a", "../a", "S/..", "S/%2e%2E/a", "a%2Fb"]
        {
            let fault = DocumentId::given(bad).unwrap_err();
            assert!(fault.to_string().starts_with("doc_id_charset: "), "{fault}");
        }
    }

    proptest! {
        #[test]
        fn every_path_gives_an_id_that_may_be_given_and_names_it_alone(
            one in prop::collection::vec(1u8..=255, 1..20),
            other in prop::collection::vec(1u8..=255, 1..20),
        ) {
            let id = |path: &[u8]| DocumentId::from_path("S", Path::new(OsStr::from_bytes(path)));
            let (path, other_path) = (Path::new(OsStr::from_bytes(&one)), Path::new(OsStr::from_bytes(&other)));
            let names = |path: &Path| -> Vec<_> {
                let normal = path.components().filter(|part| matches!(part, Component::Normal(_)));
                normal.map(|part| part.as_os_str().to_owned()).collect()
            };
            prop_assert_eq!(DocumentId::given(id(&one).as_str()), Ok(id(&one)));
            prop_assert_eq!(id(&one) == id(&other), names(path) == names(other_path));
        }
    }
}
