use super::*;
use crate::hash::{BlobId, derived};
use crate::open::Store;
use crate::tables::{edge_key, record_of_key, seal};
use crate::testing::{Sample, fill, fresh};

fn sampled() -> (tempfile::TempDir, Store, Sample) {
    let (directory, _path, store) = fresh();
    let sample = fill(&store);
    (directory, store, sample)
}

fn check(store: &Store, options: &VerifyOptions) -> Verification {
    verify(&store.read().unwrap(), options, |_, _| ControlFlow::Continue(()))
}

/// Puts bytes into the file behind the store's back; no bytes take the entry away.
fn spoil(store: &Store, table: Table, key: &[u8], bytes: Option<&[u8]>) {
    let batch = store.write().unwrap();
    let spoilt = batch.view().change(|transaction| {
        let mut table = transaction.open_table(table.definition())?;
        match bytes {
            Some(bytes) => drop(table.insert(key, bytes)?),
            None => drop(table.remove(key)?),
        }
        Ok(())
    });
    spoilt.unwrap();
    batch.force_commit();
}

fn found(store: &Store) -> Vec<(FindingKind, Table)> {
    let findings = check(store, &VerifyOptions::default()).findings;
    findings.iter().map(|finding| (finding.kind, finding.table)).collect()
}

#[test]
fn a_sound_store_has_no_findings_and_every_entry_is_visited() {
    let (_directory, store, _) = sampled();
    let mut last = (0, 0);
    let verification = verify(&store.read().unwrap(), &VerifyOptions::default(), |done, total| {
        last = (done, total);
        ControlFlow::Continue(())
    });
    assert_eq!(verification.findings, []);
    assert_eq!(verification.bits(), 0);
    assert_eq!((verification.checked, verification.checked), last);
}

#[test]
fn spoilt_bytes_are_found_in_every_table() {
    let authority = [Table::Record, Table::RecordOf, Table::Topic];
    for table in
        Table::ALL.into_iter().filter(|table| !matches!(table, Table::Meta | Table::Damaged))
    {
        let (_directory, store, _) = sampled();
        let key = store.read().unwrap().view.under(table, &[]).unwrap()[0].key.clone();
        spoil(&store, table, &key, Some(b"spoilt"));
        let kind = match authority.contains(&table) {
            true => FindingKind::Untrusted,
            false => FindingKind::Corrupt,
        };
        assert!(found(&store).contains(&(kind, table)), "{}", table.name());
    }
}

#[test]
fn a_lost_entry_is_found_in_every_table() {
    for table in
        Table::ALL.into_iter().filter(|table| !matches!(table, Table::Meta | Table::Damaged))
    {
        let (_directory, store, _) = sampled();
        let entries = store.read().unwrap().view.under(table, &[]).unwrap();
        // An edge of the caller's own is not missed by anyone; one from an input is.
        spoil(&store, table, &entries[0].key, None);
        assert_ne!(found(&store), [], "{}", table.name());
    }
}

#[test]
fn a_record_rewritten_under_a_good_seal_breaks_the_chain() {
    let (_directory, store, _) = sampled();
    let mut record = store.read().unwrap().record(3).unwrap().unwrap();
    record.body = b"another story".to_vec();
    record.id = record.computed_id();
    let key = record_key(3);
    spoil(&store, Table::Record, &key, Some(&seal(Table::Record, &key, &record.encode())));
    let findings = check(&store, &VerifyOptions::default()).findings;
    let [finding] = &findings[..] else { panic!("one is there: {findings:?}") };
    assert_eq!((finding.kind, finding.key.as_str()), (FindingKind::Untrusted, "4"));
    assert_eq!(finding.detail, "it does not follow the record before");
}

#[test]
fn every_finding_is_reported_and_their_bits_add_up() {
    let (_directory, store, sample) = sampled();
    spoil(&store, Table::BlobBytes, &sample.blobs[0].0.0, Some(b"spoilt"));
    spoil(&store, Table::RecordOf, &record_of_key("S-010", 2), None);
    let output = BlobId::of(&sample.derivations[0].2);
    spoil(&store, Table::Blob, &output.0, None);
    let verification = check(&store, &VerifyOptions::default());
    assert_eq!(verification.bits(), 1 | 2 | 16);
}

#[test]
fn an_edge_under_another_detail_is_corrupt() {
    let (_directory, store, _) = sampled();
    let key = edge_key(1, &[7; 32], &[8; 32], b"right");
    spoil(&store, Table::Edge, &key, Some(&seal(Table::Edge, &key, b"wrong")));
    assert_eq!(found(&store), [(FindingKind::Corrupt, Table::Edge)]);
}

#[test]
fn a_subset_checks_the_journal_whole_and_some_of_the_rest() {
    let (_directory, store, sample) = sampled();
    let subset = |seed| {
        let options = VerifyOptions { subset_percent: 40, seed, ..VerifyOptions::default() };
        check(&store, &options)
    };
    let whole = check(&store, &VerifyOptions::default());
    let counts: Vec<_> = (0..20).map(|seed| (subset(seed).checked, subset(seed).skipped)).collect();
    assert!(counts.iter().all(|(checked, skipped)| checked + skipped == whole.checked));
    let journal = 2 + 2 * sample.records + 2;
    assert!(counts.iter().all(|(checked, _)| *checked > journal && *checked < whole.checked));
    let share = counts.iter().map(|(checked, _)| checked - journal).sum::<u64>() as f64
        / (20 * (whole.checked - journal)) as f64;
    assert!((0.3..0.5).contains(&share), "{share}");
}

#[test]
fn a_verification_that_was_stopped_goes_on_where_it_stopped() {
    let (_directory, store, _) = sampled();
    let mut batch = store.write().unwrap();
    for number in 0..600u64 {
        batch.put_blob(&derived("test", &number.to_le_bytes())).unwrap();
        batch.append("long", "kind", &number.to_le_bytes(), 0).unwrap();
    }
    batch.commit().unwrap();
    let reader = store.read().unwrap();
    let whole = check(&store, &VerifyOptions::default());
    let (mut checked, mut pieces, mut cursor) = (0, 0, None::<Cursor>);
    loop {
        let text = cursor.map(|cursor| cursor.to_string());
        let resume_from = text.map(|text| Cursor::parse(&text).unwrap());
        let options = VerifyOptions { resume_from, ..VerifyOptions::default() };
        let piece = verify(&reader, &options, |_, _| ControlFlow::Break(()));
        assert_eq!(piece.findings, []);
        checked += piece.checked;
        pieces += 1;
        cursor = piece.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(checked, whole.checked);
    assert!(pieces > 10, "{pieces}");
    assert_eq!(Cursor::parse("no:00"), None);
    assert_eq!(Cursor::parse("blob:0"), None);
}
