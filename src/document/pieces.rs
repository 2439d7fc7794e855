//! The pieces of a text that can be cited: lines, or blocks of wrapped lines. A line ends with LF
//! or CRLF and nothing else; its terminator is in no quote.

use std::ops::Range;

use super::Span;

/// What counts as one piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Every non-empty line; a line of spaces is not empty.
    Line,
    /// A paragraph or list item, its wrapped lines together.
    Block,
}

impl Unit {
    /// The unit's name, as it stands in keys.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Block => "block",
        }
    }

    /// Reads the name back.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Line, Self::Block].into_iter().find(|unit| unit.as_str() == name)
    }
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its code points.
    pub span: Span,
    /// Its bytes.
    pub bytes: Range<usize>,
}

/// The pieces of a text, in its order.
pub fn pieces(text: &str, unit: Unit) -> Vec<Piece> {
    let lines = lines(text);
    match unit {
        Unit::Line => lines,
        Unit::Block => blocks(text, &lines),
    }
}

fn lines(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut byte, mut point) = (0, 0);
    for line in text.split_inclusive('\n') {
        let points = line.chars().count() as u64;
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = match line.ends_with('\n') {
            true => content.strip_suffix('\r').unwrap_or(content),
            false => content,
        };
        if !content.is_empty() {
            // Only the terminator is cut off, and it is one byte a code point.
            let cut = (line.len() - content.len()) as u64;
            let span = Span { start: point, end: point + points - cut };
            pieces.push(Piece { span, bytes: byte..byte + content.len() });
        }
        byte += line.len();
        point += points;
    }
    pieces
}

/// Joins lines that belong together. A blank line ends a block; a list marker begins one.
fn blocks(text: &str, lines: &[Piece]) -> Vec<Piece> {
    let mut blocks: Vec<Piece> = Vec::new();
    let mut open = false;
    let mut last_end = 0;
    for line in lines {
        let content = &text[line.bytes.clone()];
        // An empty line between two pieces leaves two terminators in a row.
        let blank_between = text[last_end..line.bytes.start].matches('\n').count() > 1;
        last_end = line.bytes.end;
        if content.trim().is_empty() {
            open = false;
            continue;
        }
        match blocks.last_mut() {
            Some(block) if open && !blank_between && !begins_block(content) => {
                block.span.end = line.span.end;
                block.bytes.end = line.bytes.end;
            }
            _ => blocks.push(line.clone()),
        }
        open = !is_heading(content);
    }
    blocks
}

fn begins_block(line: &str) -> bool {
    is_heading(line) || begins_item(line.trim_start())
}

/// Whether a line is a heading, `#` to `######`: a block of its own, never joined to what follows.
fn is_heading(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len()))
        && (rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// Whether a line begins a list item: `- `, `* `, `+ `, `• `, `1. `, `12) `, `a) `. A number of
/// more than three digits is a year at the start of a wrapped line, not a marker.
fn begins_item(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix(['-', '*', '+', '•']) {
        return rest.starts_with(char::is_whitespace);
    }
    let Some((marker, rest)) = line.split_once(['.', ')']) else { return false };
    let closed = line[marker.len()..].starts_with(')');
    let numbered = (1..=3).contains(&marker.len()) && marker.bytes().all(|b| b.is_ascii_digit());
    let lettered = closed && marker.chars().count() == 1 && marker.chars().all(char::is_alphabetic);
    (numbered || lettered) && rest.starts_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quotes(text: &str, unit: Unit) -> Vec<&str> {
        pieces(text, unit).into_iter().map(|piece| &text[piece.bytes]).collect()
    }

    #[test]
    fn only_lf_and_crlf_end_a_line() {
        let text = "a\r\nb\u{b}c\u{2028}d\re\n\n \nf";
        assert_eq!(quotes(text, Unit::Line), ["a", "b\u{b}c\u{2028}d\re", " ", "f"]);
        assert_eq!(quotes("x\r", Unit::Line), ["x\r"]);
        assert_eq!(quotes("\r\n", Unit::Line), [""; 0]);
    }

    #[test]
    fn blocks_keep_wrapped_lines_together() {
        let text = "# Title\nfirst\nsecond\n\n- one\n  more\n- two\n1. three\nplain";
        assert_eq!(
            quotes(text, Unit::Block),
            ["# Title", "first\nsecond", "- one\n  more", "- two", "1. three\nplain"]
        );
    }

    #[test]
    fn only_markers_and_headings_begin_a_block() {
        for marker in ["- ", "* ", "+ ", "• ", "1. ", "12) ", "a) ", "я) ", "\t- ", "# ", "###### "]
        {
            let text = format!("before\n{marker}x");
            assert_eq!(pieces(&text, Unit::Block).len(), 2, "{marker:?}");
        }
        for other in [
            "-", "--", "-5 ", "() ", "?) ", "2024. ", "ab) ", "a. ", "1.5 ", "#1 ", "####### ",
            "**b** ",
        ] {
            let text = format!("before\n{other}x");
            assert_eq!(pieces(&text, Unit::Block).len(), 1, "{other:?}");
        }
    }

    #[test]
    fn a_block_keeps_the_terminators_inside_it_and_a_line_of_spaces_parts_blocks() {
        let text = "a\u{301}\r\n🦀 b\r\n \u{a0}\r\nc\u{2028}d\r\n\r\n";
        assert_eq!(quotes(text, Unit::Block), ["a\u{301}\r\n🦀 b", "c\u{2028}d"]);
        assert_eq!(pieces(text, Unit::Block)[1].span, Span { start: 13, end: 16 });
    }

    proptest! {
        #[test]
        fn every_quote_is_its_span(text in "([ab é🦀\u{301}\r\t#-]{0,6}\r?\n?){0,12}") {
            for unit in [Unit::Line, Unit::Block] {
                let mut end = 0;
                for piece in pieces(&text, unit) {
                    prop_assert_eq!(piece.span.slice(&text), Some(&text[piece.bytes.clone()]));
                    prop_assert!(piece.bytes.start >= end);
                    end = piece.bytes.end;
                }
            }
        }

        #[test]
        fn lines_and_terminators_are_the_text(text in "([ab é]{0,4}\r?\n?){0,12}") {
            let kept: String = quotes(&text, Unit::Line).concat();
            let expected = text.replace("\r\n", "\n").replace('\n', "");
            prop_assert_eq!(kept, expected);
        }
    }
}
