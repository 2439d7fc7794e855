//! The list of tensors at a header's end, and whether the file is long enough to hold them.

use std::collections::BTreeMap;
use std::io::Read;

use super::reader::Reader;
use super::{HeaderError, corrupt};

/// The most dimensions of a tensor.
const MAX_DIMENSIONS: u32 = 4;

/// What is known of the tensors together.
pub(super) struct Tensors {
    /// The furthest byte that any tensor needs, counted from the start of the weights.
    end: u64,
    /// Elements of each type.
    elements: BTreeMap<u32, u64>,
    /// Where each tensor starts.
    offsets: Vec<u64>,
}

/// A type's name, and how many elements take how many bytes.
fn layout(kind: u32) -> Option<(&'static str, u64, u64)> {
    Some(match kind {
        0 => ("F32", 1, 4),
        1 => ("F16", 1, 2),
        2 => ("Q4_0", 32, 18),
        3 => ("Q4_1", 32, 20),
        6 => ("Q5_0", 32, 22),
        7 => ("Q5_1", 32, 24),
        8 => ("Q8_0", 32, 34),
        9 => ("Q8_1", 32, 36),
        10 => ("Q2_K", 256, 84),
        11 => ("Q3_K", 256, 110),
        12 => ("Q4_K", 256, 144),
        13 => ("Q5_K", 256, 176),
        14 => ("Q6_K", 256, 210),
        15 => ("Q8_K", 256, 292),
        16 => ("IQ2_XXS", 256, 66),
        17 => ("IQ2_XS", 256, 74),
        18 => ("IQ3_XXS", 256, 98),
        19 => ("IQ1_S", 256, 50),
        20 => ("IQ4_NL", 32, 18),
        21 => ("IQ3_S", 256, 110),
        22 => ("IQ2_S", 256, 82),
        23 => ("IQ4_XS", 256, 136),
        24 => ("I8", 1, 1),
        25 => ("I16", 1, 2),
        26 => ("I32", 1, 4),
        27 => ("I64", 1, 8),
        28 => ("F64", 1, 8),
        29 => ("IQ1_M", 256, 56),
        30 => ("BF16", 1, 2),
        34 => ("TQ1_0", 256, 54),
        35 => ("TQ2_0", 256, 66),
        39 => ("MXFP4", 32, 17),
        _ => return None,
    })
}

pub(super) fn read<R: Read>(reader: &mut Reader<R>, count: u64) -> Result<Tensors, HeaderError> {
    let mut tensors = Tensors { end: 0, elements: BTreeMap::new(), offsets: Vec::new() };
    for _ in 0..count {
        tensors.read_one(reader)?;
    }
    Ok(tensors)
}

impl Tensors {
    fn read_one<R: Read>(&mut self, reader: &mut Reader<R>) -> Result<(), HeaderError> {
        let name = reader.string()?;
        let dimensions = reader.u32()?;
        if dimensions > MAX_DIMENSIONS {
            return Err(corrupt(format!("tensor {name:?} has {dimensions} dimensions")));
        }
        let mut elements = 1u64;
        let mut row = 1;
        for dimension in 0..dimensions {
            let length = reader.u64()?;
            if dimension == 0 {
                row = length;
            }
            elements = elements
                .checked_mul(length)
                .filter(|elements| *elements > 0)
                .ok_or_else(|| corrupt(format!("tensor {name:?} has an impossible size")))?;
        }
        let kind = reader.u32()?;
        let offset = reader.u64()?;
        let (_, block, bytes) =
            layout(kind).ok_or_else(|| corrupt(format!("tensor {name:?} has type {kind}")))?;
        if row % block != 0 {
            return Err(corrupt(format!("tensor {name:?} has broken blocks")));
        }
        let end = (elements / block).checked_mul(bytes).and_then(|size| size.checked_add(offset));
        let end = end.ok_or_else(|| corrupt(format!("tensor {name:?} has an impossible place")))?;
        self.end = self.end.max(end);
        self.offsets.push(offset);
        let total = self.elements.entry(kind).or_default();
        *total = total.saturating_add(elements);
        Ok(())
    }

    /// Refuses a file that ends before its weights do.
    pub(super) fn check(
        &self,
        header_end: u64,
        alignment: u64,
        file_bytes: u64,
    ) -> Result<(), HeaderError> {
        if !alignment.is_power_of_two() || alignment > 1 << 20 {
            return Err(corrupt(format!("an alignment of {alignment}")));
        }
        if self.offsets.iter().any(|offset| offset % alignment != 0) {
            return Err(corrupt("a tensor is not aligned"));
        }
        let start = header_end.next_multiple_of(alignment);
        match start.checked_add(self.end) {
            Some(end) if end <= file_bytes => Ok(()),
            Some(_) => Err(HeaderError::Truncated { what: "its weights" }),
            None => Err(corrupt("a tensor has an impossible place")),
        }
    }

    /// The type of most elements.
    pub(super) fn quantisation(&self) -> &'static str {
        let most = self.elements.iter().max_by_key(|(_, count)| **count);
        most.and_then(|(kind, _)| layout(*kind)).map_or("none", |(name, ..)| name)
    }
}
