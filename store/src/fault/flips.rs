//! A store with one bit flipped gives right answers, misses or errors, and never a wrong answer
//! nor a panic. The journal gives right answers or errors only.

use std::path::Path;

use crate::open::{Access, Store};
use crate::read::{Lookup, Reader};
use crate::testing::{Random, Sample, commit, fill, fresh, options};
use crate::verify::{VerifyOptions, verify};
use crate::write::WriteError;

/// Reads everything; gives how many answers were right and how many were misses or errors.
fn read_all(reader: &Reader, sample: &Sample, context: &str) -> (usize, usize) {
    let (mut right, mut other) = (0, 0);
    let mut count = |is_right: bool| if is_right { right += 1 } else { other += 1 };
    for (id, bytes) in &sample.blobs {
        let read = reader.blob(*id).ok().flatten();
        assert!(read.is_none() || read.as_ref() == Some(bytes), "{context}");
        count(read.is_some());
    }
    for (id, derivation, output) in &sample.derivations {
        let read = reader.derivation(*id).ok().flatten();
        assert!(read.is_none() || read.as_ref() == Some(derivation), "{context}");
        count(read.is_some());
        let Ok(Some(realisation)) = reader.realisation(*id) else {
            count(false);
            continue;
        };
        let read = reader.blob(realisation.output).ok().flatten();
        assert!(read.is_none() || read.as_ref() == Some(output), "{context}");
        count(read.is_some());
        for observation in reader.observations(*id).unwrap_or_default() {
            let read = reader.observation(observation).ok().flatten();
            assert!(read.is_none_or(|observation| observation.run.tokens_out == 6), "{context}");
        }
    }
    for (topic, bodies) in &sample.topics {
        let read = reader.records(topic);
        if let Ok(records) = &read {
            let records: Vec<_> = records.iter().map(|record| record.body.clone()).collect();
            assert_eq!(&records, bodies, "{context}");
        }
        count(read.is_ok());
        let read = reader.last_record(topic, "publication");
        if let Ok(record) = &read {
            assert_eq!(record.as_ref().map(|r| &r.body), Some(&bodies[3]), "{context}");
        }
        count(read.is_ok());
    }
    if let Ok(topics) = reader.topics() {
        assert_eq!(topics, ["S-010", "S-011"], "{context}");
    }
    if let Ok(head) = reader.head() {
        assert_eq!(head.sequence, sample.records, "{context}");
    }
    assert!(reader.record(1).is_ok_and(|record| record.is_some()) || reader.record(1).is_err());
    let edges = reader.edges(1, &[7; 32]).unwrap_or_default();
    assert!(edges.len() <= 3 && edges.iter().all(|edge| edge.detail == b"d"), "{context}");
    (right, other)
}

/// Flips one bit of the store in a copy, reads everything, and says how it went.
fn flip(image: &[u8], at: usize, bit: u8, copy: &Path, sample: &Sample, access: Access) -> Outcome {
    let mut image = image.to_vec();
    image[at] ^= 1 << bit;
    std::fs::write(copy, image).unwrap();
    let context = format!("byte {at}, bit {bit}, {access:?}");
    let Ok(store) = Store::open(copy, access, &options(), |_| {}) else { return Outcome::Refused };
    let Ok(reader) = store.read() else { return Outcome::Refused };
    let (_, other) = read_all(&reader, sample, &context);
    let verification =
        verify(&reader, &VerifyOptions::default(), |_, _| std::ops::ControlFlow::Continue(()));
    if other > 0 {
        assert_ne!(verification.findings, [], "{context}: damage that verification misses");
    }
    drop(reader);
    if access == Access::ReadWrite && write_some(&store, sample).is_ok() {
        let records = store.read().and_then(|reader| reader.records("S-010"));
        let last = records.map(|records| records.last().map(|record| record.body.clone()));
        assert!(
            last.is_err() || last.is_ok_and(|last| last == Some(b"more".to_vec())),
            "{context}"
        );
    }
    if other > 0 { Outcome::Noticed } else { Outcome::Right }
}

/// Writes to every kind of table.
fn write_some(store: &Store, sample: &Sample) -> Result<(), WriteError> {
    let mut batch = store.write()?;
    batch.append("S-010", "event", b"more", 0)?;
    for (_, derivation, output) in &sample.derivations {
        let resolved = derivation.resolve(|id| batch.realisation(id).ok()?.map(|r| r.output));
        if let Some(resolved) = resolved {
            batch.realise(commit(derivation, &resolved, output))?;
        }
    }
    batch.commit()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Right,
    Noticed,
    Refused,
}

fn closed_store() -> (tempfile::TempDir, Vec<u8>, Sample) {
    let (directory, path, store) = fresh();
    let sample = fill(&store);
    drop(store);
    let image = std::fs::read(path).unwrap();
    (directory, image, sample)
}

#[test]
fn a_flipped_bit_is_never_a_wrong_answer() {
    let (directory, image, sample) = closed_store();
    let copy = directory.path().join("copy");
    let mut random = Random(0x2026_1201);
    let used: Vec<usize> = (0..image.len()).filter(|at| image[*at] != 0).collect();
    let mut outcomes = Vec::new();
    for number in 0..300 {
        // Most flips where something is written; the rest of the file holds free pages.
        let at = match number % 4 {
            0 => random.below(image.len()),
            _ => used[random.below(used.len())],
        };
        let bit = random.below(8) as u8;
        let access = [Access::ReadOnly, Access::ReadWrite][number % 2];
        outcomes.push(flip(&image, at, bit, &copy, &sample, access));
    }
    for outcome in [Outcome::Right, Outcome::Noticed] {
        let count = outcomes.iter().filter(|seen| **seen == outcome).count();
        assert!(count > 10, "{outcome:?}: {count} of {}", outcomes.len());
    }
}

#[test]
fn a_flipped_bit_in_the_file_header_is_never_a_wrong_answer() {
    let (directory, image, sample) = closed_store();
    let copy = directory.path().join("copy");
    for at in 0..320 {
        flip(&image, at, (at % 8) as u8, &copy, &sample, Access::ReadOnly);
        flip(&image, at, (at % 7) as u8, &copy, &sample, Access::ReadWrite);
    }
}
