use super::*;
use crate::testing::{commit, fill, fresh, recipe, resolve};
use crate::verify::{VerifyOptions, verify};
use std::ops::ControlFlow;

fn findings(store: &Store) -> Vec<crate::verify::Finding> {
    let reader = store.read().unwrap();
    verify(&reader, &VerifyOptions::default(), |_, _| ControlFlow::Continue(())).findings
}

/// Changes bytes in the file behind the store's back.
fn spoil(store: &Store, table: Table, key: &[u8], bytes: &[u8]) {
    let mut batch = store.write().unwrap();
    batch.insert(table, key, bytes).unwrap();
    batch.force_commit();
}

#[test]
fn what_was_written_is_read_back() {
    let (_directory, _path, store) = fresh();
    let sample = fill(&store);
    let reader = store.read().unwrap();
    for (id, bytes) in &sample.blobs {
        assert_eq!(reader.blob(*id).unwrap().as_ref(), Some(bytes));
    }
    for (id, derivation, output) in &sample.derivations {
        assert_eq!(reader.derivation(*id).unwrap().as_ref(), Some(derivation));
        let realisation = reader.realisation(*id).unwrap().unwrap();
        assert_eq!(reader.blob(realisation.output).unwrap().as_ref(), Some(output));
        assert_eq!((realisation.status, realisation.how), (3, How::Generated));
        let entry = reader.resolved(realisation.resolved).unwrap().unwrap();
        assert_eq!((entry.output, entry.derivation), (realisation.output, *id));
        let [observation] = reader.observations(*id).unwrap()[..] else { panic!("one is there") };
        let observation = reader.observation(observation).unwrap().unwrap();
        assert_eq!((observation.number, observation.run.tokens_out), (0, 6));
        assert_eq!(reader.blob(observation.raw.unwrap()).unwrap().unwrap(), b"raw");
    }
    assert_eq!(findings(&store), []);
    assert_eq!(reader.damage(), []);
}

#[test]
fn an_input_leads_to_all_who_read_it() {
    let (_directory, _path, store) = fresh();
    let sample = fill(&store);
    let reader = store.read().unwrap();
    let [first, _, root] = &sample.derivations[..] else { panic!("three are there") };
    let users = |from: &[u8; 32]| -> Vec<[u8; 32]> {
        reader.edges(INPUT_OF, from).unwrap().into_iter().map(|edge| edge.to).collect()
    };
    assert_eq!(users(&sample.blobs[0].0.0), [first.0.0]);
    assert_eq!(users(&first.0.0), [root.0.0]);
    assert_eq!(users(&root.0.0), [[0; 32]; 0]);
    assert_eq!(reader.edges(1, &[7; 32]).unwrap().len(), 3);
}

#[test]
fn a_batch_sees_its_own_writes_and_leaves_no_trace_when_dropped() {
    let (_directory, _path, store) = fresh();
    let mut batch = store.write().unwrap();
    let id = batch.put_blob(b"text").unwrap();
    batch.append("topic", "kind", b"", 0).unwrap();
    assert_eq!(batch.blob(id).unwrap().unwrap(), b"text");
    assert_eq!(batch.topics().unwrap(), ["topic"]);
    drop(batch);
    let reader = store.read().unwrap();
    assert_eq!(reader.blob(id).unwrap(), None);
    assert_eq!(reader.head().unwrap().sequence, 0);
}

#[test]
fn the_first_realisation_stands_and_later_runs_are_kept_beside_it() {
    let (_directory, _path, store) = fresh();
    let mut batch = store.write().unwrap();
    let text = batch.put_blob(b"text").unwrap();
    let derivation = recipe("leaf", &[Source::Blob(text)]);
    let resolved = resolve(&batch, &derivation);
    let run = Run { at_millis: 1, ..Run::default() };
    let with_run =
        |output| Commit { run: Some(run.clone()), ..commit(&derivation, &resolved, output) };
    let first = batch.realise(with_run(b"one")).unwrap();
    let again = batch.realise(with_run(b"two")).unwrap();
    assert!(matches!(first, Realised::New(_)));
    assert_eq!(again, Realised::Already(*first.realisation()));
    let checked = batch.observe(derivation.id(), resolved.id(), b"one", None, &run).unwrap();
    batch.commit().unwrap();

    let reader = store.read().unwrap();
    assert_eq!(reader.realisation(derivation.id()).unwrap(), Some(*first.realisation()));
    let ids = reader.observations(derivation.id()).unwrap();
    let outputs: Vec<_> =
        ids.iter().map(|id| reader.observation(*id).unwrap().unwrap().output).collect();
    assert_eq!(outputs, [b"one", b"two", b"one"].map(|output| BlobId::of(output)));
    assert_eq!(ids[2], checked);
    assert_eq!(findings(&store), []);
}

#[test]
fn what_resolves_to_the_same_points_at_the_first() {
    let (_directory, _path, store) = fresh();
    let mut batch = store.write().unwrap();
    let mut realised = Vec::new();
    for text in [b"one", b"two"] {
        let text = batch.put_blob(text).unwrap();
        let leaf = recipe("leaf", &[Source::Blob(text)]);
        let resolved = resolve(&batch, &leaf);
        batch.realise(commit(&leaf, &resolved, b"the same")).unwrap();
        let root = recipe("root", &[Source::Derivation(leaf.id())]);
        let resolved = resolve(&batch, &root);
        batch.realise(commit(&root, &resolved, b"output")).unwrap();
        realised.push(batch.realisation(root.id()).unwrap().unwrap());
    }
    let [first, second] = realised[..] else { panic!("two are there") };
    assert_ne!(first.derivation, second.derivation);
    assert_eq!(first.resolved, second.resolved);
    let entry = batch.resolved(first.resolved).unwrap().unwrap();
    assert_eq!(entry.derivation, first.derivation);
}

#[test]
fn a_commit_that_does_not_fit_the_store_is_refused_before_anything_is_written() {
    let (_directory, _path, store) = fresh();
    let mut batch = store.write().unwrap();
    let text = batch.put_blob(b"text").unwrap();
    let leaf = recipe("leaf", &[Source::Blob(text)]);
    let resolved = resolve(&batch, &leaf);

    let other = recipe("other", &[Source::Blob(text)]);
    let error = batch.realise(commit(&other, &resolved, b"")).err().unwrap();
    assert!(matches!(error, WriteError::Unresolved { .. }), "{error}");

    let absent = recipe("leaf", &[Source::Blob(BlobId([9; 32]))]);
    let claimed = absent.resolve(|_| None).unwrap();
    let error = batch.realise(commit(&absent, &claimed, b"")).err().unwrap();
    assert!(error.to_string().contains("input 0 is not in the store"), "{error}");

    let root = recipe("root", &[Source::Derivation(leaf.id())]);
    let claimed = root.resolve(|_| Some(text)).unwrap();
    let error = batch.realise(commit(&root, &claimed, b"")).err().unwrap();
    assert!(matches!(error, WriteError::Unresolved { .. }), "{error}");

    let edge = Edge { relation: INPUT_OF, from: [0; 32], to: [0; 32], detail: vec![] };
    let reserved = Commit { edges: vec![edge], ..commit(&leaf, &resolved, b"") };
    assert!(matches!(batch.realise(reserved), Err(WriteError::ReservedRelation)));

    let run = Run::default();
    let unknown = batch.observe(leaf.id(), resolved.id(), b"", None, &run);
    assert!(matches!(unknown, Err(WriteError::NotRealised { .. })));

    let long = vec![0; MAX_PAYLOAD + 1];
    let error = batch.append("topic", "kind", &long, 0).err().unwrap();
    assert!(matches!(error, WriteError::TooLarge { part: "body", .. }), "{error}");
    batch.append("topic", "kind", &long[1..], 0).unwrap();

    batch.commit().unwrap();
    assert_eq!(store.read().unwrap().realisation(leaf.id()).unwrap(), None);
    assert_eq!(findings(&store), []);
}

#[test]
fn a_batch_that_failed_half_way_is_never_committed() {
    let (_directory, _path, store) = fresh();
    // Something intact that nothing would write stands where the first record belongs.
    let key = record_key(1);
    spoil(&store, Table::Record, &key, &seal(Table::Record, &key, b"other"));
    let mut batch = store.write().unwrap();
    let id = batch.put_blob(b"text").unwrap();
    let error = batch.append("topic", "kind", b"", 0).err().unwrap();
    assert!(matches!(error, WriteError::Conflict { table: Table::Record, .. }), "{error}");
    assert!(matches!(batch.put_blob(b"more"), Err(WriteError::Abandoned)));
    assert!(matches!(batch.commit(), Err(WriteError::Abandoned)));
    let reader = store.read().unwrap();
    assert_eq!(reader.blob(id).unwrap(), None);
    assert_eq!(reader.view.value(Table::Record, &key).unwrap().unwrap(), b"other");
}

#[test]
fn damaged_derived_data_is_a_miss_and_is_mended_with_the_old_bytes_kept() {
    let (_directory, _path, store) = fresh();
    let sample = fill(&store);
    let (id, derivation, output) = &sample.derivations[0];
    for table in [Table::Realisation, Table::Derivation] {
        spoil(&store, table, &id.0, b"spoilt");
    }
    let reader = store.read().unwrap();
    assert_eq!(reader.realisation(*id).unwrap(), None);
    assert_eq!(reader.derivation(*id).unwrap(), None);
    let tables: Vec<_> = reader.damage().iter().map(|finding| finding.table).collect();
    assert_eq!(tables, [Table::Realisation, Table::Derivation]);

    let mut batch = store.write().unwrap();
    let resolved = resolve(&batch, derivation);
    let realised = batch.realise(commit(derivation, &resolved, output)).unwrap();
    assert!(matches!(realised, Realised::New(_)));
    batch.commit().unwrap();
    let reader = store.read().unwrap();
    assert_eq!(reader.realisation(*id).unwrap(), Some(*realised.realisation()));
    let kept = reader.view.under(Table::Damaged, &[]).unwrap();
    assert!(kept.iter().all(|entry| entry.value.as_deref() == Some(b"spoilt")));
    assert_eq!(kept.len(), 2);
    assert_eq!(findings(&store), []);
}

#[test]
fn a_damaged_blob_is_an_error_until_it_is_put_again() {
    let (_directory, _path, store) = fresh();
    let sample = fill(&store);
    let (id, bytes) = &sample.blobs[0];
    spoil(&store, Table::BlobBytes, &id.0, b"spoilt");
    let error = store.read().unwrap().blob(*id).err().unwrap();
    assert!(error.is_damage(), "{error}");
    let mut batch = store.write().unwrap();
    batch.put_blob(bytes).unwrap();
    batch.commit().unwrap();
    assert_eq!(store.read().unwrap().blob(*id).unwrap().as_ref(), Some(bytes));
    assert_eq!(findings(&store), []);
}

#[test]
fn a_realisation_whose_output_is_lost_makes_way_for_another() {
    let (_directory, _path, store) = fresh();
    let sample = fill(&store);
    let (id, derivation, output) = &sample.derivations[2];
    spoil(&store, Table::BlobBytes, &BlobId::of(output).0, b"spoilt");
    let mut batch = store.write().unwrap();
    let resolved = resolve(&batch, derivation);
    let realised = batch.realise(commit(derivation, &resolved, b"another output")).unwrap();
    batch.commit().unwrap();
    let reader = store.read().unwrap();
    assert_eq!(reader.realisation(*id).unwrap(), Some(*realised.realisation()));
    assert_eq!(
        reader.resolved(resolved.id()).unwrap().unwrap().output,
        BlobId::of(b"another output")
    );
    assert_eq!(reader.view.under(Table::Damaged, &[]).unwrap().len(), 2);
}

#[test]
fn a_lost_output_that_comes_out_again_leaves_the_first_realisation_standing() {
    let (_directory, _path, store) = fresh();
    let sample = fill(&store);
    let (id, derivation, output) = &sample.derivations[2];
    let first = store.read().unwrap().realisation(*id).unwrap().unwrap();
    spoil(&store, Table::BlobBytes, &BlobId::of(output).0, b"spoilt");
    let mut batch = store.write().unwrap();
    let resolved = resolve(&batch, derivation);
    let again = Commit { how: How::Settled, ..commit(derivation, &resolved, output) };
    assert_eq!(batch.realise(again).unwrap(), Realised::Already(first));
    batch.commit().unwrap();
    assert_eq!(findings(&store), []);
}

#[test]
fn a_damaged_journal_is_not_continued() {
    let (_directory, _path, store) = fresh();
    fill(&store);
    spoil(&store, Table::Record, &record_key(8), b"spoilt");
    let mut batch = store.write().unwrap();
    let error = batch.append("S-010", "event", b"", 0).err().unwrap();
    assert!(matches!(error, WriteError::Read(ReadError::Damaged { .. })), "{error}");
}

#[test]
fn an_empty_batch_commits_nothing() {
    let (_directory, path, store) = fresh();
    let before = std::fs::read(&path).unwrap();
    store.write().unwrap().commit().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
