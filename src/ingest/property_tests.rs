//! Whatever happens in a folder: after an import the dossier is as the folder is, a second import
//! finds nothing to do, and a document keeps its id and slot for ever.

use std::collections::BTreeMap;
use std::fs;

use dossier_store::hash::Sha256;
use proptest::prelude::*;

use super::testing::{Folder, active, empty, follow_with};
use super::{ImportSettings, Vanished, mirror, scan};
use crate::event::{Author, Event};
use crate::snapshot::Dossier;

const NAMES: [&str; 8] = ["a", "b", "c.txt", "x/a", "x/b", "x/y/a", "a~2", "%41"];
const TEXTS: [&[u8]; 5] = [b"", b"one", b"two\n", b"\xff not text", b"three"];

/// One edit of the folder, or one step of the dossier.
#[derive(Clone, Debug)]
enum Edit {
    Write(&'static str, &'static [u8]),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    Import,
    Withdraw(usize),
    Restore(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let name = || prop::sample::select(&NAMES[..]);
    prop_oneof![
        6 => (name(), prop::sample::select(&TEXTS[..])).prop_map(|(n, t)| Edit::Write(n, t)),
        3 => name().prop_map(Edit::Remove),
        4 => (name(), name()).prop_map(|(from, to)| Edit::Rename(from, to)),
        6 => Just(Edit::Import),
        1 => (0usize..8).prop_map(Edit::Withdraw),
        1 => (0usize..8).prop_map(Edit::Restore),
    ]
}

fn perform(edit: &Edit, folder: &Folder, dossier: &mut Dossier) {
    match *edit {
        // A name that is a folder by now cannot be written to; then the edit does nothing.
        Edit::Write(name, text) if !folder.at(name).is_dir() => folder.write(name, text),
        Edit::Remove(name) => drop(fs::remove_file(folder.at(name))),
        Edit::Rename(from, to) => {
            drop(fs::create_dir_all(folder.at(to).parent().unwrap()));
            drop(fs::rename(folder.at(from), folder.at(to)));
        }
        Edit::Withdraw(slot) => {
            author(dossier, slot, |document| Event::Withdrawn { document, by: Author::User })
        }
        Edit::Restore(slot) => {
            author(dossier, slot, |document| Event::Restored { document, by: Author::User });
        }
        Edit::Write(..) | Edit::Import => {}
    }
}

fn author(dossier: &mut Dossier, slot: usize, event: impl FnOnce(String) -> Event) {
    if let Some(document) = dossier.documents.get(slot) {
        dossier.apply(event(document.id.as_str().to_owned())).unwrap();
    }
}

/// What is in the folder, read without any of the code under test.
fn texts(folder: &Folder) -> BTreeMap<String, Sha256> {
    let mut texts = BTreeMap::new();
    for name in NAMES {
        let bytes = folder.at(name).is_file().then(|| fs::read(folder.at(name)).unwrap());
        if let Some(bytes) = bytes.filter(|bytes| std::str::from_utf8(bytes).is_ok()) {
            texts.insert(name.replace('%', "%25"), Sha256::of(&bytes));
        }
    }
    texts
}

fn import(dossier: &mut Dossier, folder: &Folder) {
    follow_with(dossier, folder, &ImportSettings::default(), Vanished::Allow).unwrap();
}

fn ids(dossier: &Dossier) -> Vec<String> {
    dossier.documents.iter().map(|document| document.id.as_str().to_owned()).collect()
}

/// The folder's texts without those whose document a person withdrew.
fn expected(dossier: &Dossier, folder: &Folder) -> BTreeMap<String, Sha256> {
    let mut texts = texts(folder);
    for document in &dossier.documents {
        if document.withdrawn == Some(Author::User) {
            texts.remove(&document.path);
        }
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_dossier_is_as_the_folder_is(edits in prop::collection::vec(edit(), 1..30)) {
        let folder = Folder::new();
        let mut dossier = empty();
        for edit in edits.iter().chain([&Edit::Import]) {
            perform(edit, &folder, &mut dossier);
            if !matches!(edit, Edit::Import) {
                continue;
            }
            let before = ids(&dossier);
            import(&mut dossier, &folder);
            prop_assert_eq!(active(&dossier), expected(&dossier, &folder));
            prop_assert_eq!(&ids(&dossier)[..before.len()], &before[..]);
            let scan = scan(folder.path(), &ImportSettings::default(), &dossier).unwrap();
            let again = mirror(&dossier, &scan, Vanished::Guard).unwrap();
            prop_assert_eq!(again.events, vec![]);
        }
    }
}
