//! Power cuts and full disks: what was acknowledged is there afterwards, and the store is sound.

use std::ops::ControlFlow;

use crate::fault::Fault;
use crate::open::Store;
use crate::read::{Lookup, ReadError};
use crate::testing::{Disk, Random, options};
use crate::verify::{VerifyOptions, verify};
use crate::write::WriteError;

/// Enough commits for pages to be used again.
const COMMITS: u64 = 12;

/// Commits numbered records and blobs until something fails; gives how many were acknowledged.
fn work(disk: &Disk) -> (u64, Option<WriteError>) {
    let store = Store::on_backend(disk.clone(), &options()).unwrap();
    let start = store.read().unwrap().head().unwrap().sequence;
    for number in start + 1..=COMMITS {
        if let Err(error) = step(&store, number) {
            return (number - 1, Some(error));
        }
    }
    (COMMITS, None)
}

fn step(store: &Store, number: u64) -> Result<(), WriteError> {
    let mut batch = store.write()?;
    batch.put_blob(&blob(number))?;
    batch.append("topic", "kind", &number.to_le_bytes(), number)?;
    batch.commit()
}

fn blob(number: u64) -> Vec<u8> {
    vec![number as u8; 100 * number as usize]
}

/// Opens what is left and checks that it is one of the states that were committed.
fn recovered(image: Vec<u8>, acknowledged: u64, context: &str) -> u64 {
    let disk = Disk::holding(image);
    let store =
        Store::on_backend(disk, &options()).unwrap_or_else(|error| panic!("{context}: {error:?}"));
    let reader = store.read().unwrap();
    let verification = verify(&reader, &VerifyOptions::default(), |_, _| ControlFlow::Continue(()));
    assert_eq!(verification.findings, [], "{context}");
    let sequence = reader.head().unwrap().sequence;
    assert!((acknowledged..=acknowledged + 1).contains(&sequence), "{context}: {sequence}");
    for number in 1..=sequence {
        let bytes = blob(number);
        let id = crate::hash::BlobId::of(&bytes);
        assert_eq!(reader.blob(id).unwrap(), Some(bytes), "{context}");
    }
    assert_eq!(reader.records("topic").unwrap().len() as u64, sequence, "{context}");
    drop(reader);
    if sequence < COMMITS {
        step(&store, sequence + 1).unwrap_or_else(|error| panic!("{context}: {error:?}"));
    }
    sequence
}

/// A store that was created and closed, as creation leaves it under its name.
fn created() -> Vec<u8> {
    let disk = Disk::default();
    drop(Store::on_backend(disk.clone(), &options()).unwrap());
    disk.seen()
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let image = created();
    let disk = Disk::holding(image.clone());
    assert_eq!(work(&disk).0, COMMITS);
    let (syncs, _) = disk.counts();
    let mut random = Random(7);
    let mut unacknowledged = 0;
    for cut in 1..=syncs {
        let disk = Disk::holding(image.clone());
        disk.cut_power_at_sync(cut);
        let Some(acknowledged) = work_until_cut(&disk) else { continue };
        for attempt in 0..6 {
            let context = format!("cut at flush {cut}, attempt {attempt}");
            let image = disk.after_power_cut(&mut random);
            let sequence = recovered(image, acknowledged, &context);
            unacknowledged += u64::from(sequence > acknowledged);
        }
    }
    assert!(syncs > 2 * COMMITS as usize, "two flushes a commit");
    assert!(unacknowledged > 0, "some cuts come after the data and before the answer");
}

/// `None` where the power went before the store was even open.
fn work_until_cut(disk: &Disk) -> Option<u64> {
    let store = Store::on_backend(disk.clone(), &options()).ok()?;
    let failed = (1..=COMMITS).find(|number| step(&store, *number).is_err());
    Some(failed.map_or(COMMITS, |number| number - 1))
}

#[test]
fn a_full_disk_is_a_typed_error_and_loses_nothing_that_was_acknowledged() {
    let image = created();
    let disk = Disk::holding(image.clone());
    assert_eq!(work(&disk).0, COMMITS);
    let (_, changes) = disk.counts();
    let mut refused = 0;
    for full in 1..=changes {
        let disk = Disk::holding(image.clone());
        disk.run_full_at_change(full);
        let Ok(store) = Store::on_backend(disk.clone(), &options()) else { continue };
        let mut acknowledged = COMMITS;
        for number in 1..=COMMITS {
            if let Err(error) = step(&store, number) {
                assert!(is_full(&error), "full at change {full}: {error:?}");
                assert!(step(&store, number).is_err(), "a failed handle stays failed");
                acknowledged = number - 1;
                refused += 1;
                break;
            }
        }
        drop(store);
        recovered(disk.seen(), acknowledged, &format!("full at change {full}"));
    }
    assert!(refused > 50, "{refused}");
}

fn is_full(error: &WriteError) -> bool {
    let fault = match error {
        WriteError::Storage { source, .. } => source,
        WriteError::Read(ReadError::Storage { source, .. }) => source,
        _ => return false,
    };
    matches!(fault, Fault::Io(error) if error.kind() == std::io::ErrorKind::StorageFull)
}
