//! What a folder's changes mean for its dossier.

use std::fs;

use super::testing::{Folder, active, converting, empty, follow, follow_with, happen, short};
use super::{ChangeKind, ImportSettings, MirrorError, Vanished, encode_path, mirror, scan};
use crate::event::{Author, Event};
use crate::snapshot::{Document, Dossier};

fn imported(folder: &Folder) -> Dossier {
    let mut dossier = empty();
    follow(&mut dossier, folder).unwrap();
    dossier
}

/// Follows the folder; gives the changes in short and proves that a second look finds none.
fn changes(dossier: &mut Dossier, folder: &Folder) -> Vec<String> {
    let changes = short(&follow(dossier, folder).unwrap());
    let scan = scan(folder.path(), &ImportSettings::default(), dossier).unwrap();
    assert_eq!(mirror(dossier, &scan, Vanished::Guard).unwrap().events, []);
    changes
}

fn document<'a>(dossier: &'a Dossier, id: &str) -> &'a Document {
    dossier.document(id).unwrap()
}

fn withdrawn(document: &str, by: Author) -> Event {
    Event::Withdrawn { document: document.to_owned(), by }
}

#[test]
fn a_first_import_binds_the_folder_and_adds_every_file_in_order() {
    let folder = Folder::with(&[("b.txt", "b"), ("a.txt", "a")]);
    let scan = folder.scan();
    let known = empty();
    let mirror = mirror(&known, &scan, Vanished::Guard).unwrap();
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(mirror.events[0], Event::Bound { folder: encode_path(&real) });
    let verbs: Vec<_> = mirror.events.iter().map(Event::verb).collect();
    assert_eq!(verbs, ["bound", "version-added", "activated", "version-added", "activated"]);
    assert_eq!(mirror.blobs, [b"a", b"b"]);
    let dossier = imported(&folder);
    assert_eq!(dossier.slot("d/a.txt"), Some(0));
    assert_eq!(dossier.slot("d/b.txt"), Some(1));
}

#[test]
fn an_empty_folder_is_bound_all_the_same() {
    let folder = Folder::new();
    let mut dossier = empty();
    assert_eq!(changes(&mut dossier, &folder), Vec::<String>::new());
    assert!(dossier.folder.is_some());
}

#[test]
fn an_unchanged_file_is_only_counted_and_its_bytes_are_not_kept() {
    let folder = Folder::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let dossier = imported(&folder);
    let scan = scan(folder.path(), &ImportSettings::default(), &dossier).unwrap();
    assert!(scan.files.iter().all(|file| file.unstored.is_empty()));
    let mirror = mirror(&dossier, &scan, Vanished::Guard).unwrap();
    assert_eq!((mirror.events.len(), mirror.unchanged), (0, 2));
}

#[test]
fn a_changed_file_is_a_further_version_and_old_bytes_reactivate_theirs() {
    let folder = Folder::with(&[("a.txt", "one")]);
    let mut dossier = imported(&folder);
    folder.write("a.txt", "two");
    let change = follow(&mut dossier, &folder).unwrap().remove(0);
    assert_eq!(change.kind, ChangeKind::Changed { from: 1, to: 2 });
    folder.write("a.txt", "one");
    let change = follow(&mut dossier, &folder).unwrap().remove(0);
    assert_eq!(change.kind, ChangeKind::Reactivated { from: 2, to: 1 });
    folder.write("a.txt", "three");
    let change = follow(&mut dossier, &folder).unwrap().remove(0);
    assert_eq!(change.kind, ChangeKind::Changed { from: 1, to: 3 });
    assert_eq!(document(&dossier, "d/a.txt").versions.len(), 3);
}

#[test]
fn a_vanished_file_withdraws_its_document_and_its_return_restores_it() {
    let folder = Folder::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut dossier = imported(&folder);
    folder.remove("a.txt");
    assert_eq!(changes(&mut dossier, &folder), ["vanished d/a.txt"]);
    assert_eq!(document(&dossier, "d/a.txt").withdrawn, Some(Author::Import));
    folder.write("a.txt", "a");
    assert_eq!(changes(&mut dossier, &folder), ["restored d/a.txt"]);
    folder.remove("a.txt");
    assert_eq!(changes(&mut dossier, &folder), ["vanished d/a.txt"]);
    folder.write("a.txt", "other");
    assert_eq!(changes(&mut dossier, &folder), ["changed d/a.txt", "restored d/a.txt"]);
    assert_eq!(dossier.slot("d/a.txt"), Some(0));
}

#[test]
fn what_a_person_withdrew_stays_withdrawn_while_its_version_follows_the_file() {
    let folder = Folder::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut dossier = imported(&folder);
    happen(&mut dossier, withdrawn("d/a.txt", Author::User));
    assert_eq!(changes(&mut dossier, &folder), Vec::<String>::new());
    folder.write("a.txt", "a2");
    assert_eq!(changes(&mut dossier, &folder), ["changed d/a.txt"]);
    folder.remove("a.txt");
    assert_eq!(changes(&mut dossier, &folder), Vec::<String>::new());
    folder.write("a.txt", "a");
    assert_eq!(changes(&mut dossier, &folder), ["reactivated d/a.txt"]);
    let document = document(&dossier, "d/a.txt");
    assert_eq!((document.current, document.withdrawn), (1, Some(Author::User)));
}

#[test]
fn a_rename_keeps_id_and_slot() {
    let folder = Folder::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut dossier = imported(&folder);
    folder.rename("a.txt", "deep/z.txt");
    let moved = follow(&mut dossier, &folder).unwrap();
    assert_eq!(short(&moved), ["moved d/a.txt"]);
    assert_eq!(moved[0].kind, ChangeKind::Moved { from: "a.txt".into() });
    assert_eq!(document(&dossier, "d/a.txt").path, "deep/z.txt");
    assert_eq!(dossier.slot("d/a.txt"), Some(0));
    folder.write("deep/z.txt", "edited after the move");
    assert_eq!(changes(&mut dossier, &folder), ["changed d/a.txt"]);
}

#[test]
fn files_of_equal_bytes_are_paired_in_order_of_their_paths() {
    let folder = Folder::with(&[("old/1", "same"), ("old/2", "same"), ("old/3", "same")]);
    let mut dossier = imported(&folder);
    folder.rename("old/1", "new/1");
    folder.rename("old/2", "new/2");
    folder.remove("old/3");
    let expected = ["vanished d/old/3", "moved d/old/1", "moved d/old/2"];
    assert_eq!(changes(&mut dossier, &folder), expected);
    assert_eq!(document(&dossier, "d/old/2").path, "new/2");
}

#[test]
fn a_copy_is_a_document_of_its_own_and_needs_no_bytes() {
    let folder = Folder::with(&[("a.txt", "a")]);
    let dossier = imported(&folder);
    folder.write("copy.txt", "a");
    let scan = scan(folder.path(), &ImportSettings::default(), &dossier).unwrap();
    let mirror = mirror(&dossier, &scan, Vanished::Guard).unwrap();
    assert_eq!(short(&mirror.changes), ["new d/copy.txt"]);
    assert_eq!(mirror.blobs, Vec::<&[u8]>::new());
}

#[test]
fn two_files_that_swap_their_bytes_stay_where_they_are() {
    let folder = Folder::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut dossier = imported(&folder);
    folder.rename("a.txt", "c.txt");
    folder.rename("b.txt", "a.txt");
    folder.rename("c.txt", "b.txt");
    assert_eq!(changes(&mut dossier, &folder), ["changed d/a.txt", "changed d/b.txt"]);
}

#[test]
fn a_withdrawal_and_a_revocation_follow_the_bytes_to_a_new_name() {
    let folder = Folder::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut dossier = imported(&folder);
    happen(&mut dossier, withdrawn("d/a.txt", Author::User));
    let revoked = Event::Revoked { document: "d/b.txt".into(), principal: "p".into() };
    happen(&mut dossier, revoked);
    folder.rename("a.txt", "a2.txt");
    folder.remove("b.txt");
    assert_eq!(changes(&mut dossier, &folder), ["vanished d/b.txt", "moved d/a.txt"]);
    assert_eq!(document(&dossier, "d/a.txt").withdrawn, Some(Author::User));
    folder.write("b2.txt", "b");
    assert_eq!(changes(&mut dossier, &folder), ["moved d/b.txt", "restored d/b.txt"]);
    assert!(!document(&dossier, "d/b.txt").eligible("p"));
}

#[test]
fn a_new_file_at_the_old_path_of_a_moved_one_gets_an_id_of_its_own() {
    let folder = Folder::with(&[("a.txt", "a")]);
    let mut dossier = imported(&folder);
    folder.rename("a.txt", "moved.txt");
    assert_eq!(changes(&mut dossier, &folder), ["moved d/a.txt"]);
    folder.write("a.txt", "another");
    folder.write("a.txt~2", "of that very name");
    assert_eq!(changes(&mut dossier, &folder), ["new d/a.txt~3", "new d/a.txt~2"]);
    assert_eq!(document(&dossier, "d/a.txt").path, "moved.txt");
    assert_eq!(document(&dossier, "d/a.txt~2").path, "a.txt~2");
    assert_eq!(document(&dossier, "d/a.txt~3").path, "a.txt");
}

#[test]
fn most_of_four_documents_may_not_vanish_unasked() {
    let files = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")];
    let folder = Folder::with(&files);
    let mut dossier = imported(&folder);
    folder.remove("a");
    folder.remove("b");
    assert_eq!(changes(&mut dossier.clone(), &folder), ["vanished d/a", "vanished d/b"]);
    folder.remove("c");
    let refused = follow(&mut dossier, &folder).unwrap_err();
    let MirrorError::TooManyVanished { vanished, of, .. } = refused;
    assert_eq!((vanished, of), (3, 4));
    assert_eq!(active(&dossier).len(), 4, "nothing changed");
    let settings = ImportSettings::default();
    let allowed = follow_with(&mut dossier, &folder, &settings, Vanished::Allow).unwrap();
    assert_eq!(short(&allowed), ["vanished d/a", "vanished d/b", "vanished d/c"]);
}

#[test]
fn fewer_than_four_documents_may_vanish_and_moved_ones_have_not() {
    let three = Folder::with(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let mut dossier = imported(&three);
    for name in ["a", "b", "c"] {
        three.remove(name);
    }
    assert_eq!(changes(&mut dossier, &three).len(), 3);
    let four = Folder::with(&[("x/a", "1"), ("x/b", "2"), ("x/c", "3"), ("x/d", "4")]);
    let mut dossier = imported(&four);
    four.rename("x", "y");
    assert!(changes(&mut dossier, &four).iter().all(|change| change.starts_with("moved")));
}

#[test]
fn a_file_that_became_unreadable_withdraws_its_document_and_is_no_vanished_one() {
    let names = ["a", "b", "c", "d"];
    let folder = Folder::with(&names.map(|name| (name, name)));
    let mut dossier = imported(&folder);
    for name in names {
        folder.write(name, b"\xff");
    }
    let expected = names.map(|name| format!("unreadable d/{name}"));
    assert_eq!(changes(&mut dossier, &folder), expected, "the guard speaks of vanished ones");
    folder.write("a", "a");
    folder.write("b", "B");
    assert_eq!(changes(&mut dossier, &folder), ["restored d/a", "changed d/b", "restored d/b"]);
}

#[test]
fn documents_in_a_folder_that_cannot_be_listed_are_unreadable_and_not_vanished() {
    let folder = Folder::with(&[("in/a", "a"), ("in/deep/b", "b"), ("inner", "c")]);
    let dossier = imported(&folder);
    fs::remove_dir_all(folder.at("in")).unwrap();
    let mut scan = scan(folder.path(), &ImportSettings::default(), &dossier).unwrap();
    let path = "in".to_owned();
    scan.unreadable.push(super::UnreadableFile { path, reason: super::Reason::Denied });
    let mirror = mirror(&dossier, &scan, Vanished::Guard).unwrap();
    assert_eq!(short(&mirror.changes), ["unreadable d/in/a", "unreadable d/in/deep/b"]);
    assert_eq!(mirror.unchanged, 1);
}

#[test]
fn another_folder_binds_anew_and_keeps_what_it_has_in_common() {
    let first = Folder::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let second = Folder::with(&[("a.txt", "a"), ("c.txt", "c")]);
    let mut dossier = imported(&first);
    let before = dossier.folder.clone();
    assert_eq!(changes(&mut dossier, &second), ["vanished d/b.txt", "new d/c.txt"]);
    assert_ne!(dossier.folder, before);
}

#[test]
fn a_converter_that_appears_makes_a_version_of_the_same_bytes() {
    let folder = Folder::with(&[("a.up", "abc")]);
    let mut dossier = imported(&folder);
    let settings = converting("up", &["tr", "a-c", "A-C"]);
    let changed = follow_with(&mut dossier, &folder, &settings, Vanished::Guard).unwrap();
    assert_eq!(short(&changed), ["changed d/a.up"]);
    assert_eq!(changes(&mut dossier, &folder), ["reactivated d/a.up"]);
}

#[test]
fn ids_encode_what_paths_may_hold() {
    let folder = Folder::with(&[("a@b#c%.txt", "1")]);
    let mut dossier = empty();
    assert_eq!(changes(&mut dossier, &folder), ["new d/a%40b%23c%25.txt"]);
}
