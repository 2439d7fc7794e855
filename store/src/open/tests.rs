use std::sync::{Arc, Barrier};

use super::*;
use crate::read::Lookup;
use crate::testing::{fill, fresh, options};

fn open(path: &Path, access: Access) -> Result<Store, OpenError> {
    Store::open(path, access, &options(), |_| {})
}

#[test]
fn of_two_creators_one_wins_and_nothing_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let start = Arc::new(Barrier::new(2));
    let create = || {
        let (path, start) = (path.clone(), Arc::clone(&start));
        std::thread::spawn(move || {
            start.wait();
            let store = Store::create(&path, &options())?;
            let mut batch = store.write().unwrap();
            batch.put_blob(b"the winner's").unwrap();
            batch.commit().unwrap();
            Ok::<_, CreateError>(())
        })
    };
    let results = [create(), create()].map(|thread| thread.join().unwrap());
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let lost = results.into_iter().find_map(Result::err).unwrap();
    assert!(matches!(lost, CreateError::AlreadyExists { .. }), "{lost}");
    let id = crate::hash::BlobId::of(b"the winner's");
    let store = open(&path, Access::ReadOnly).unwrap();
    assert_eq!(store.read().unwrap().blob(id).unwrap().unwrap(), b"the winner's");
    let names = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(names, 1, "no draft is left behind");
}

#[test]
fn a_draft_left_behind_harms_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    std::fs::write(directory.path().join(".store.new-abcdef"), b"half a store").unwrap();
    Store::create(&path, &options()).unwrap();
    open(&path, Access::ReadWrite).unwrap();
}

#[test]
fn an_existing_file_is_never_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    std::fs::write(&path, b"precious").unwrap();
    let error = Store::create(&path, &options()).err().unwrap();
    assert!(matches!(error, CreateError::AlreadyExists { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[test]
fn a_missing_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let error = Store::create(&directory.path().join("no/store"), &options()).err().unwrap();
    assert!(matches!(error, CreateError::Io { step: "make a temporary file", .. }), "{error}");
}

#[test]
fn what_is_no_store_is_refused_and_left_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let error = open(&path, access).err().unwrap();
        assert!(matches!(error, OpenError::NotFound { .. }), "{error}");
    }
    for content in [Vec::new(), b"text".to_vec(), vec![b'x'; 100_000]] {
        std::fs::write(&path, &content).unwrap();
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let error = open(&path, access).err().unwrap();
            assert!(matches!(error, OpenError::NotAStore { .. }), "{error:?}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
}

#[test]
fn a_database_of_another_program_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    drop(Database::create(&path).unwrap());
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let error = open(&path, access).err().unwrap();
        assert!(matches!(error, OpenError::NotAStore { .. }), "{error:?}");
    }
}

#[test]
fn a_newer_format_is_refused_with_both_numbers() {
    let (_directory, path, store) = fresh();
    drop(store);
    let database = Database::open(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    let value = seal(Table::Meta, FORMAT_KEY, &7u64.to_le_bytes());
    transaction
        .open_table(Table::Meta.definition())
        .unwrap()
        .insert(FORMAT_KEY, value.as_slice())
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let error = open(&path, access).err().unwrap();
        assert!(matches!(error, OpenError::NewerFormat { found: 7, known: 1, .. }), "{error:?}");
    }
}

#[test]
fn a_store_held_exclusively_is_locked() {
    let (_directory, path, store) = fresh();
    drop(store);
    let _holder = Database::open(&path).unwrap();
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let error = open(&path, access).err().unwrap();
        assert!(matches!(error, OpenError::Locked { .. }), "{error:?}");
    }
}

#[test]
fn two_handles_write_in_turn_and_a_reader_follows() {
    let (_directory, path, first) = fresh();
    let second = open(&path, Access::ReadWrite).unwrap();
    let reader = open(&path, Access::ReadOnly).unwrap();
    for number in 0..10u64 {
        let before = reader.read().unwrap();
        let store = [&first, &second][number as usize % 2];
        let mut batch = store.write().unwrap();
        batch.append("topic", "kind", &number.to_le_bytes(), number).unwrap();
        assert_eq!(reader.read().unwrap().head().unwrap().sequence, number);
        batch.commit().unwrap();
        assert_eq!(before.head().unwrap().sequence, number, "an old state stays");
        assert_eq!(reader.read().unwrap().head().unwrap().sequence, number + 1);
    }
    let bodies = reader.read().unwrap().records("topic").unwrap();
    assert!(bodies.iter().zip(0u64..).all(|(record, number)| record.body == number.to_le_bytes()));
}

#[test]
fn a_second_writer_waits_and_then_says_so() {
    let (_directory, path, first) = fresh();
    let second = open(&path, Access::ReadWrite).unwrap();
    let held = first.write().unwrap();
    for store in [&first, &second] {
        let error = store.write().err().unwrap();
        assert!(matches!(error, WriteError::Busy { waited, .. } if waited >= options().wait));
    }
    drop(held);
    second.write().unwrap();
}

#[test]
fn a_read_only_handle_refuses_to_write() {
    let (_directory, path, store) = fresh();
    let sample = fill(&store);
    drop(store);
    let store = open(&path, Access::ReadOnly).unwrap();
    assert!(matches!(store.write().err().unwrap(), WriteError::ReadOnly { .. }));
    assert_eq!(store.read().unwrap().head().unwrap().sequence, sample.records);
}

#[test]
fn a_reader_repairs_a_store_whose_writer_died() {
    let (_directory, path, store) = fresh();
    fill(&store);
    let copy = path.with_extension("copy");
    // A copy of the file of a live writer is what its death would leave.
    std::fs::copy(&path, &copy).unwrap();
    let bare = builder(&options()).open_read_only(&copy);
    assert!(matches!(bare.err(), Some(redb::DatabaseError::RepairAborted)));
    let store = open(&copy, Access::ReadOnly).unwrap();
    assert_eq!(store.read().unwrap().head().unwrap().sequence, 8);
}

#[cfg(unix)]
#[test]
fn a_new_store_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let (directory, path, _store) = fresh();
    let other = directory.path().join("other");
    File::create(&other).unwrap();
    let [store, other] = [path, other].map(|path| path.metadata().unwrap().permissions().mode());
    assert_eq!(store, other);
}

#[test]
fn handles_may_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Store>();
    shared::<Reader>();
}
