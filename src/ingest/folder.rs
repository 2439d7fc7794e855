//! Names of folders and files as text. Every path has exactly one text form and comes back from it
//! byte for byte: UTF-8 stays as written, `%` and whatever is no UTF-8 is percent-encoded.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The text form of a path.
pub fn encode_path(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// The path of a text form.
pub fn decode_path(text: &str) -> PathBuf {
    let bytes = percent_encoding::percent_decode_str(text).collect();
    PathBuf::from(OsString::from_vec(bytes))
}

/// Whether a name is hidden by convention.
pub(super) fn is_hidden(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(bytes: &[u8]) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(bytes))
    }

    #[test]
    fn text_stays_as_written_and_other_bytes_are_encoded() {
        assert_eq!(encode_path(Path::new("/a b/é@#.txt")), "/a b/é@#.txt");
        assert_eq!(encode_path(&path(b"/100%/\xff.txt")), "/100%25/%FF.txt");
        assert_eq!(decode_path("/100%25/%FF.txt"), path(b"/100%/\xff.txt"));
    }

    proptest! {
        #[test]
        fn every_path_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(decode_path(&encode_path(&path(&bytes))), path(&bytes));
        }

        #[test]
        fn two_paths_never_share_a_text(
            a in prop::collection::vec(prop::sample::select(b"%4f1\xff\xc3\xa9".to_vec()), 0..6),
            b in prop::collection::vec(prop::sample::select(b"%4f1\xff\xc3\xa9".to_vec()), 0..6),
        ) {
            prop_assert_eq!(a == b, encode_path(&path(&a)) == encode_path(&path(&b)));
        }
    }
}
