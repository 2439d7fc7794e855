//! A line that claims may be copied from: its text in JSON's escaped form, and where a copy may
//! begin and end.

use serde::{Deserialize, Serialize};

/// A line as a request offers it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OfferedLine {
    /// Its label.
    pub label: String,
    /// Its text, cut where a copy may begin or end.
    pub chunks: Vec<String>,
    /// The parts that may be a subject, as chunk numbers, half-open; any part where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subjects: Option<Vec<(usize, usize)>>,
    /// The parts that no value may touch, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub barred: Vec<(usize, usize)>,
}

/// Some chunks of a line: a part of the text at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Place {
    pub(super) fn overlaps(self, other: Self) -> bool {
        self.line == other.line && self.from < other.to && other.from < self.to
    }
}

/// A line made ready.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) label: String,
    pub(super) bytes: Vec<u8>,
    cuts: Vec<Cut>,
    /// The cut at each byte, if there is one.
    cut_at: Vec<Option<usize>>,
    subjects: Option<Vec<(usize, usize)>>,
    pub(super) barred: Vec<(usize, usize)>,
}

/// A place between chunks; the last one ends the line.
#[derive(Debug)]
struct Cut {
    byte: usize,
    /// Code points of the unescaped text before it.
    points: usize,
    /// What the chunk after it is.
    chunk: Chunk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    Text,
    Space,
    /// It holds a character that no claim may hold.
    Forbidden,
    End,
}

fn is_forbidden(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn kind(chunk: &str) -> Chunk {
    if chunk.contains(is_forbidden) {
        Chunk::Forbidden
    } else if chunk.chars().all(char::is_whitespace) {
        Chunk::Space
    } else {
        Chunk::Text
    }
}

/// Writes text as it stands between a JSON string's quotation marks.
pub(super) fn escape(text: &str, bytes: &mut Vec<u8>) {
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            bytes.push(b'\\');
        }
        bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

impl Line {
    pub(super) fn new(offered: OfferedLine) -> Self {
        let mut line = Self {
            label: offered.label,
            bytes: Vec::new(),
            cuts: Vec::new(),
            cut_at: Vec::new(),
            subjects: offered.subjects,
            barred: offered.barred,
        };
        let mut points = 0;
        for chunk in offered.chunks.iter().filter(|chunk| !chunk.is_empty()) {
            line.cuts.push(Cut { byte: line.bytes.len(), points, chunk: kind(chunk) });
            escape(chunk, &mut line.bytes);
            points += chunk.chars().count();
        }
        line.cuts.push(Cut { byte: line.bytes.len(), points, chunk: Chunk::End });
        line.cut_at = vec![None; line.bytes.len() + 1];
        for (number, cut) in line.cuts.iter().enumerate() {
            line.cut_at[cut.byte] = Some(number);
        }
        line
    }

    /// The cuts where a copy may begin.
    pub(super) fn starts(&self) -> impl Iterator<Item = usize> {
        let text = |(_, cut): &(usize, &Cut)| cut.chunk == Chunk::Text;
        self.cuts.iter().enumerate().filter(text).map(|(number, _)| number)
    }

    /// The furthest cut where a copy that begins at `from` may end: within so many code points,
    /// without a forbidden character, before `limit`, and not on white space.
    pub(super) fn furthest(&self, from: usize, points: usize, limit: usize) -> Option<usize> {
        let mut furthest = None;
        for to in from + 1..self.cuts.len().min(limit.saturating_add(1)) {
            let last = self.cuts[to - 1].chunk;
            if last == Chunk::Forbidden || self.cuts[to].points - self.cuts[from].points > points {
                break;
            }
            if last == Chunk::Text {
                furthest = Some(to);
            }
        }
        furthest
    }

    pub(super) fn byte(&self, cut: usize) -> usize {
        self.cuts[cut].byte
    }

    /// The cut at a byte where a copy may end.
    pub(super) fn end_at(&self, byte: usize) -> Option<usize> {
        let cut = (*self.cut_at.get(byte)?)?;
        let last = cut.checked_sub(1)?;
        (self.cuts[last].chunk == Chunk::Text).then_some(cut)
    }

    /// Whether a subject may begin at this cut, and the furthest cut where it may end then.
    pub(super) fn subject_from(&self, from: usize, points: usize) -> Option<usize> {
        match &self.subjects {
            None => self.furthest(from, points, usize::MAX),
            Some(parts) => {
                let ends = parts.iter().filter(|(start, _)| *start == from).map(|(_, end)| *end);
                self.furthest(from, points, ends.max()?)
            }
        }
    }

    /// Whether these chunks may be a subject.
    pub(super) fn is_subject(&self, from: usize, to: usize) -> bool {
        self.subjects.as_ref().is_none_or(|parts| parts.contains(&(from, to)))
    }

    pub(super) fn slice(&self, place: Place) -> &[u8] {
        &self.bytes[self.byte(place.from)..self.byte(place.to)]
    }
}
