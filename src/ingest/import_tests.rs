//! What an import writes, and when it writes nothing.

use std::os::unix::fs::symlink;

use dossier_store::hash::BlobId;
use dossier_store::{Lookup, Options, Store};

use super::import::Import;
use super::testing::{Folder, active, converting, short};
use super::{
    ImportError, ImportOptions, ImportSettings, Imported, MirrorError, Mode, Rebind, ScanError,
    Vanished, encode_path, import, scan,
};
use crate::document::TextFlags;
use crate::event::{Author, EVENT, Event};
use crate::snapshot::Dossier;

const CAUTIOUS: ImportOptions =
    ImportOptions { vanished: Vanished::Guard, rebind: Rebind::Refuse, mode: Mode::Write };
const NOW: u64 = 1_796_000_000_000;

/// A store in a temporary folder of its own.
struct Bench {
    _folder: tempfile::TempDir,
    store: Store,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("store"), &Options::default()).unwrap();
        Self { _folder: folder, store }
    }

    fn import(&self, folder: &Folder) -> Result<Imported, ImportError> {
        self.import_with(folder, &ImportSettings::default(), &CAUTIOUS)
    }

    fn import_with(
        &self,
        folder: &Folder,
        settings: &ImportSettings,
        options: &ImportOptions,
    ) -> Result<Imported, ImportError> {
        import(&self.store, "d", folder.path(), settings, options, NOW)
    }

    fn dossier(&self) -> Dossier {
        Dossier::read(&self.store.read().unwrap(), "d").unwrap()
    }

    fn head(&self) -> u64 {
        self.store.read().unwrap().head().unwrap().sequence
    }

    fn blob(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.store.read().unwrap().blob(BlobId::of(bytes)).unwrap()
    }

    fn append(&self, event: &Event) {
        let mut batch = self.store.write().unwrap();
        batch.append("d", EVENT, &event.encode(), NOW).unwrap();
        batch.commit().unwrap();
    }
}

#[test]
fn an_import_writes_the_texts_and_one_event_after_another() {
    let (bench, folder) = (Bench::new(), Folder::with(&[("a.txt", "a"), ("b.txt", "b")]));
    let imported = bench.import(&folder).unwrap();
    assert_eq!(short(&imported.changes), ["new d/a.txt", "new d/b.txt"]);
    assert_eq!((imported.events, bench.head()), (5, 5));
    assert_eq!(imported.folder_before, None);
    assert_eq!(bench.blob(b"b"), Some(b"b".to_vec()));
    let dossier = bench.dossier();
    assert_eq!(active(&dossier).len(), 2);
    assert_eq!(dossier.folder.as_deref(), Some(imported.folder.as_str()));
    assert_eq!(imported.folder, encode_path(&folder.path().canonicalize().unwrap()));
}

#[test]
fn a_second_import_without_changes_writes_nothing() {
    let (bench, folder) = (Bench::new(), Folder::with(&[("a.txt", "a")]));
    bench.import(&folder).unwrap();
    let head = bench.head();
    let imported = bench.import(&folder).unwrap();
    assert_eq!((imported.events, imported.unchanged, bench.head()), (0, 1, head));
}

#[test]
fn originals_are_stored_beside_their_texts() {
    let (bench, folder) = (Bench::new(), Folder::with(&[("a.up", "abc")]));
    let settings = converting("up", &["tr", "a-c", "A-C"]);
    bench.import_with(&folder, &settings, &CAUTIOUS).unwrap();
    assert_eq!(bench.blob(b"abc"), Some(b"abc".to_vec()));
    assert_eq!(bench.blob(b"ABC"), Some(b"ABC".to_vec()));
}

#[test]
fn what_a_reader_may_not_see_is_kept_and_flagged_once() {
    let (bench, folder) = (Bench::new(), Folder::with(&[("a", "\u{feff}a\0"), ("b", "b")]));
    let imported = bench.import(&folder).unwrap();
    let flags = TextFlags { byte_order_mark: true, nul: true, ..TextFlags::default() };
    assert_eq!(imported.flagged, [("a".to_owned(), flags)]);
    assert!(bench.blob("\u{feff}a\0".as_bytes()).is_some());
    assert_eq!(bench.import(&folder).unwrap().flagged, []);
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let (bench, folder) = (Bench::new(), Folder::with(&[("a.txt", "a"), (".hidden", "")]));
    folder.write("bad.txt", b"\xff");
    let dry = ImportOptions { mode: Mode::DryRun, ..CAUTIOUS };
    let foretold = bench.import_with(&folder, &ImportSettings::default(), &dry).unwrap();
    assert_eq!((bench.head(), bench.blob(b"a")), (0, None));
    assert_eq!(foretold, bench.import(&folder).unwrap());
    assert_eq!((foretold.unreadable.len(), foretold.skipped.hidden), (1, 1));
}

#[test]
fn another_folder_is_refused_unless_it_is_meant() {
    let bench = Bench::new();
    let (first, second) = (Folder::with(&[("a", "a")]), Folder::with(&[("b", "b")]));
    let before = bench.import(&first).unwrap().folder;
    let head = bench.head();
    match bench.import(&second) {
        Err(ImportError::OtherFolder { bound, asked, .. }) => {
            assert_eq!(bound, before);
            assert_eq!(asked, encode_path(&second.path().canonicalize().unwrap()));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.head(), head);
    let rebinding = ImportOptions { rebind: Rebind::Allow, ..CAUTIOUS };
    let imported = bench.import_with(&second, &ImportSettings::default(), &rebinding).unwrap();
    assert_eq!(imported.folder_before, Some(before));
    assert_eq!(short(&imported.changes), ["vanished d/a", "new d/b"]);
    assert!(bench.import(&first).is_err());
}

#[test]
fn a_refused_import_writes_nothing() {
    let bench = Bench::new();
    let folder = Folder::with(&[("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")]);
    bench.import(&folder).unwrap();
    let head = bench.head();
    for name in ["a", "b", "c"] {
        folder.remove(name);
    }
    let refused = bench.import(&folder);
    let too_many = matches!(
        refused,
        Err(ImportError::Mirror(MirrorError::TooManyVanished { vanished: 3, of: 4, .. }))
    );
    assert!(too_many, "{refused:?}");
    assert_eq!(bench.head(), head);
    let allowing = ImportOptions { vanished: Vanished::Allow, ..CAUTIOUS };
    bench.import_with(&folder, &ImportSettings::default(), &allowing).unwrap();
    assert_eq!(active(&bench.dossier()).len(), 1);
}

#[test]
fn a_folder_that_cannot_be_reached_changes_nothing() {
    let (bench, folder) = (Bench::new(), Folder::with(&[("in/a", "a")]));
    let at = folder.at("in");
    let settings = ImportSettings::default();
    import(&bench.store, "d", &at, &settings, &CAUTIOUS, NOW).unwrap();
    folder.rename("in", "out");
    let gone = import(&bench.store, "d", &at, &settings, &CAUTIOUS, NOW);
    assert!(matches!(gone, Err(ImportError::Scan(ScanError::Unreachable { .. }))), "{gone:?}");
    assert_eq!(active(&bench.dossier()).len(), 1);
}

#[test]
fn labels_are_not_imported_from_beside_above_or_below_their_marker() {
    let bench = Bench::new();
    let folder = Folder::with(&[("labels/GOLD", ""), ("labels/in/a", "a"), ("beside/b", "b")]);
    let settings = ImportSettings::default();
    let try_import = |name| import(&bench.store, "d", &folder.at(name), &settings, &CAUTIOUS, NOW);
    let real = folder.path().canonicalize().unwrap();
    for name in ["labels", "labels/in", ""] {
        match try_import(name) {
            Err(ImportError::Gold { marker }) => assert_eq!(marker, real.join("labels/GOLD")),
            other => panic!("{name}: {other:?}"),
        }
    }
    folder.write(".dossierignore", "GOLD");
    assert!(matches!(try_import(""), Err(ImportError::Gold { .. })), "ignored, but there");
    assert_eq!(bench.head(), 0);
    try_import("beside").unwrap();
}

#[test]
fn a_linked_marker_counts_and_a_folder_of_that_name_does_not() {
    let bench = Bench::new();
    let folder = Folder::with(&[("GOLD/a.txt", "a")]);
    bench.import(&folder).unwrap();
    symlink("nowhere", folder.at("GOLD/GOLD")).unwrap();
    assert!(matches!(bench.import(&folder), Err(ImportError::Gold { .. })));
}

#[test]
fn events_that_came_in_between_are_not_overwritten() {
    let (bench, folder) = (Bench::new(), Folder::with(&[("a", "a"), ("b", "b")]));
    bench.import(&folder).unwrap();
    folder.write("a", "a2");
    folder.remove("b");
    let before = bench.dossier();
    let scanned = scan(folder.path(), &ImportSettings::default(), &before).unwrap();
    bench.import(&folder).unwrap();
    bench.append(&Event::Restored { document: "d/b".into(), by: Author::User });
    let late = Import { store: &bench.store, name: "d", options: &CAUTIOUS, now_millis: NOW };
    let (mirror, _) = late.apply(before, &scanned).unwrap();
    assert_eq!(short(&mirror.changes), ["vanished d/b"], "version 2 of d/a was there by then");
    assert_eq!(bench.dossier().document("d/a").unwrap().versions.len(), 2);
}

#[test]
fn only_what_import_withdrew_does_import_restore() {
    let (bench, folder) = (Bench::new(), Folder::with(&[("a", "a"), ("b", "b")]));
    bench.import(&folder).unwrap();
    bench.append(&Event::Withdrawn { document: "d/a".into(), by: Author::User });
    assert_eq!(bench.import(&folder).unwrap().events, 0);
    folder.remove("b");
    bench.import(&folder).unwrap();
    folder.write("b", "b");
    assert_eq!(short(&bench.import(&folder).unwrap().changes), ["restored d/b"]);
    assert!(!bench.dossier().document("d/a").unwrap().active());
}
