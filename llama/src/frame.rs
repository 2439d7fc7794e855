//! Frames: a length of four bytes, little-endian, then that many bytes of JSON. A length is never
//! trusted: what exceeds the limit is refused before anything is allocated for it.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;

/// The most bytes of one frame's JSON.
pub const MAX_FRAME: usize = 16 << 20;

/// Why no further frame can be read. After any of these the stream has no known position.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The frame's length is zero or beyond [`MAX_FRAME`].
    #[error("a frame of {length} bytes is refused; 1 to {MAX_FRAME} are taken")]
    Length {
        /// The stated length.
        length: usize,
    },
    /// The stream ended inside a frame.
    #[error("the stream ended inside a frame")]
    Truncated,
    /// The stream could not be read.
    #[error("the stream could not be read: {0}")]
    Read(#[source] io::Error),
}

/// Reads one frame's bytes; `None` where the stream ended between frames.
pub fn read(source: &mut impl Read) -> Result<Option<Vec<u8>>, FrameError> {
    let mut prefix = [0; 4];
    match fill(source, &mut prefix)? {
        0 => return Ok(None),
        4 => {}
        _ => return Err(FrameError::Truncated),
    }
    let length = u32::from_le_bytes(prefix) as usize;
    if !(1..=MAX_FRAME).contains(&length) {
        return Err(FrameError::Length { length });
    }
    let mut bytes = vec![0; length];
    match fill(source, &mut bytes)? == length {
        true => Ok(Some(bytes)),
        false => Err(FrameError::Truncated),
    }
}

/// Reads until the buffer is full or the stream ends; the number of bytes read.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> Result<usize, FrameError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(FrameError::Read(error)),
        }
    }
    Ok(filled)
}

/// Writes one frame and flushes it.
pub fn write(sink: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let length = u32::try_from(bytes.len()).map_err(|_| ErrorKind::InvalidData)?;
    sink.write_all(&length.to_le_bytes())?;
    sink.write_all(&bytes)?;
    sink.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_reads_back_and_the_end_is_no_error() {
        let mut bytes = Vec::new();
        write(&mut bytes, &"hello").unwrap();
        let mut source = bytes.as_slice();
        assert_eq!(read(&mut source).unwrap().unwrap(), b"\"hello\"");
        assert!(read(&mut source).unwrap().is_none());
    }

    #[test]
    fn a_length_is_not_trusted() {
        for length in [0, MAX_FRAME as u32 + 1, u32::MAX] {
            let bytes = length.to_le_bytes();
            assert!(matches!(read(&mut bytes.as_slice()), Err(FrameError::Length { .. })));
        }
    }

    #[test]
    fn a_cut_frame_is_an_error() {
        for bytes in [&[1u8, 0][..], &[5, 0, 0, 0, b'a']] {
            assert!(matches!(read(&mut &*bytes), Err(FrameError::Truncated)));
        }
    }
}
