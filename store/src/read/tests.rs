use super::*;
use crate::realisation::INPUT_OF;
use crate::testing::{fill, fresh};

#[test]
fn records_come_by_topic_kind_and_number() {
    let (_directory, _path, store) = fresh();
    let sample = fill(&store);
    let reader = store.read().unwrap();
    let mut previous = crate::journal::ORIGIN;
    for sequence in 1..=sample.records {
        let record = reader.record(sequence).unwrap().unwrap();
        assert_eq!(record.previous, previous);
        previous = record.id;
    }
    assert_eq!(reader.head().unwrap(), Head { sequence: 8, id: previous });
    assert_eq!(reader.record(0).unwrap(), None);
    assert_eq!(reader.record(9).unwrap(), None);
    assert_eq!(reader.topics().unwrap(), ["S-010", "S-011"]);
    for (topic, bodies) in &sample.topics {
        let records = reader.records(topic).unwrap();
        assert_eq!(&records.iter().map(|record| record.body.clone()).collect::<Vec<_>>(), bodies);
        let last = reader.last_record(topic, "event").unwrap().unwrap();
        assert_eq!(last.body, bodies[2]);
        assert_eq!(reader.last_record(topic, "other").unwrap(), None);
    }
    assert_eq!(reader.records("S-01").unwrap(), []);
    assert_eq!(reader.last_record("S-012", "event").unwrap(), None);
}

#[test]
fn ids_are_found_by_their_first_digits() {
    let (_directory, _path, store) = fresh();
    let sample = fill(&store);
    let reader = store.read().unwrap();
    for (id, ..) in &sample.derivations {
        for length in [1, 7, 8, 63, 64] {
            let digits = &id.hex()[..length];
            let found = reader.ids_with_prefix(IdKind::Derivation, digits, 10).unwrap();
            assert!(found.contains(&id.0), "{digits}");
        }
    }
    let found = |kind, digits: &str, limit| reader.ids_with_prefix(kind, digits, limit).unwrap();
    assert_eq!(found(IdKind::Derivation, "", 10).len(), 3);
    assert_eq!(found(IdKind::Derivation, "", 2).len(), 2);
    assert_eq!(found(IdKind::Resolved, "", 10).len(), 3);
    assert_eq!(found(IdKind::Observation, "", 10).len(), 3);
    assert_eq!(found(IdKind::Blob, "", 10).len(), 6);
    assert_eq!(found(IdKind::From(1), "0707", 10), [[7; 32]]);
    assert_eq!(found(IdKind::From(1), "08", 10), [[0; 32]; 0]);
    assert_eq!(found(IdKind::From(INPUT_OF), "", 10).len(), 4);
    for digits in ["xyz", "AB", "é", &"0".repeat(65)] {
        assert_eq!(found(IdKind::Blob, digits, 10), [[0; 32]; 0]);
    }
}

#[test]
fn stats_count_what_is_there() {
    let (_directory, path, store) = fresh();
    fill(&store);
    let stats = store.stats().unwrap();
    assert_eq!(stats.file_bytes, Some(path.metadata().unwrap().len()));
    let of = |table| stats.tables.iter().find(|stats| stats.table == table).unwrap();
    assert_eq!(of(Table::Record).entries, 8);
    assert_eq!(of(Table::BlobBytes).entries, 6);
    assert!(of(Table::BlobBytes).stored_bytes > 9_000);
}
