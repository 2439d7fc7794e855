//! Cutting a long text into chunks of whole lines. A chunk is never a part of a line, so evidence
//! never straddles two chunks, and nothing is dropped between them.

/// A range of bytes of a text, at line starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Packs consecutive lines into chunks of at most `max_bytes`; a longer line is a chunk of its own.
pub fn lines(text: &[u8], max_bytes: u64) -> Vec<Chunk> {
    let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let end = start + line.len();
        match chunks.last_mut() {
            Some(last) if end - last.start <= max_bytes => last.end = end,
            _ => chunks.push(Chunk { start, end }),
        }
        start = end;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_longer_than_the_limit_stands_alone() {
        let chunks = lines(b"a\nbbbbbbbb\nc\nd\n", 4);
        let texts: Vec<_> = chunks.iter().map(|c| (c.start, c.end)).collect();
        assert_eq!(texts, [(0, 2), (2, 11), (11, 15)]);
    }

    proptest! {
        #[test]
        fn chunks_tile_the_text(text in "([a-zé]{0,9}\r?\n){0,20}[a-z]{0,5}", max in 1u64..30) {
            let chunks = lines(text.as_bytes(), max);
            let joined: Vec<u8> =
                chunks.iter().flat_map(|c| text.as_bytes()[c.start..c.end].to_vec()).collect();
            prop_assert_eq!(joined, text.as_bytes());
            for chunk in chunks {
                let piece = &text[chunk.start..chunk.end];
                prop_assert!(piece.len() as u64 <= max || piece.trim_end().lines().count() <= 1);
            }
        }
    }
}
