//! The text of a version: strict UTF-8, its flags, and spans of it.

use std::fmt;
use std::ops::Range;

/// A range of Unicode code points of one version's text, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first code point.
    pub start: u64,
    /// One past the last code point.
    pub end: u64,
}

impl Span {
    /// The characters of the span; `None` where it is empty, reversed or out of range.
    pub fn slice(self, text: &str) -> Option<&str> {
        text.get(self.bytes(text)?)
    }

    /// The bytes of the span; `None` where it is empty, reversed or out of range.
    pub fn bytes(self, text: &str) -> Option<Range<usize>> {
        if self.start >= self.end {
            return None;
        }
        let (start, end) = (usize::try_from(self.start).ok()?, usize::try_from(self.end).ok()?);
        let mut offsets = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let from = offsets.nth(start)?;
        let to = offsets.nth(end - start - 1)?;
        Some(from..to)
    }

    /// The span of these bytes; `None` where they are none, or cut a code point.
    pub fn of_bytes(text: &str, bytes: Range<usize>) -> Option<Self> {
        let points = text.get(bytes.clone())?.chars().count() as u64;
        let start = text.get(..bytes.start)?.chars().count() as u64;
        (points > 0).then_some(Self { start, end: start + points })
    }
}

/// Why bytes are no text that can be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A PDF file.
    Pdf,
    /// A ZIP file: DOCX, ODT, EPUB and the like.
    Zip,
    /// UTF-16 with its byte-order mark.
    Utf16,
    /// Anything else that is no UTF-8.
    NotUtf8 {
        /// The first byte that does not fit.
        at: usize,
    },
}

impl Unreadable {
    /// What it is, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Zip => "zip_or_office",
            Self::Utf16 => "utf16",
            Self::NotUtf8 { .. } => "invalid_utf8",
        }
    }

    /// What would make it readable.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Pdf => {
                "set a converter: [convert] pdf = [\"pdftotext\", \"-layout\", \"-\", \"-\"]"
            }
            Self::Zip => "set a converter under [convert], or export it as plain text",
            Self::Utf16 => "convert it: iconv -f UTF-16 -t UTF-8",
            Self::NotUtf8 { .. } => {
                "convert it to UTF-8, for example with iconv -f LATIN1 -t UTF-8"
            }
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 { at } => write!(f, "byte {at} is not UTF-8"),
            other => write!(f, "it is {}", other.kind()),
        }
    }
}

/// Reads bytes as text, or says what they are instead.
pub fn decode(bytes: &[u8]) -> Result<&str, Unreadable> {
    if bytes.starts_with(b"%PDF-") {
        return Err(Unreadable::Pdf);
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(Unreadable::Zip);
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Unreadable::Utf16);
    }
    std::str::from_utf8(bytes).map_err(|error| Unreadable::NotUtf8 { at: error.valid_up_to() })
}

/// What a text holds that a reader may not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextFlags {
    /// It begins with a byte-order mark.
    pub byte_order_mark: bool,
    /// It holds NUL.
    pub nul: bool,
    /// It holds a control character other than tab, line feed and carriage return.
    pub control: bool,
    /// It holds a bidi control.
    pub bidi_control: bool,
}

/// Looks for what a reader may not see.
pub fn flags(text: &str) -> TextFlags {
    let hidden = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\0');
    TextFlags {
        byte_order_mark: text.starts_with('\u{feff}'),
        nul: text.contains('\0'),
        control: text.contains(hidden),
        bidi_control: text.contains(crate::text::is_bidi_control),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spans_count_code_points() {
        let text = "a🦀é\u{301}z";
        let slice = |start, end| Span { start, end }.slice(text);
        assert_eq!(slice(0, 2), Some("a🦀"));
        assert_eq!(slice(1, 5), Some("🦀é\u{301}z"));
        assert_eq!(slice(2, 2), None);
        assert_eq!(slice(3, 2), None);
        assert_eq!(slice(4, 6), None);
        assert_eq!(slice(u64::MAX - 1, u64::MAX), None);
    }

    #[test]
    fn bytes_that_cut_a_code_point_are_no_span() {
        assert_eq!(Span::of_bytes("a🦀z", 1..5), Some(Span { start: 1, end: 2 }));
        assert_eq!(Span::of_bytes("a🦀z", 1..4), None);
        assert_eq!(Span::of_bytes("a🦀z", 1..1), None);
        assert_eq!(Span::of_bytes("a🦀z", 5..9), None);
    }

    proptest! {
        #[test]
        fn code_points_and_bytes_say_the_same(
            text in "[a\u{301}é\u{202e}\u{feff}🦀\r\n\0]{0,12}", start in 0u64..14, end in 0u64..14,
        ) {
            let span = Span { start, end };
            match span.bytes(&text) {
                Some(bytes) => prop_assert_eq!(Span::of_bytes(&text, bytes), Some(span)),
                None => prop_assert!(start >= end || end > text.chars().count() as u64),
            }
        }
    }

    #[test]
    fn what_is_no_text_is_named_with_its_place() {
        assert_eq!(decode(b"ab\xffc"), Err(Unreadable::NotUtf8 { at: 2 }));
        assert_eq!(decode(b"%PDF-1.7\n"), Err(Unreadable::Pdf));
        assert_eq!(decode(b"PK\x03\x04rest"), Err(Unreadable::Zip));
        assert_eq!(decode(b"\xff\xfea\0"), Err(Unreadable::Utf16));
        assert_eq!(decode("\u{feff}x\0".as_bytes()), Ok("\u{feff}x\0"));
    }

    #[test]
    fn flags_are_set_and_nothing_is_changed() {
        let all = flags("\u{feff}\0\u{7}\u{202e}");
        assert!(all.byte_order_mark && all.nul && all.control && all.bidi_control);
        assert_eq!(flags("a\tb\r\nc"), TextFlags::default());
    }
}
