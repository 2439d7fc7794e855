//! What a scan reads, what it refuses and what it leaves out.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use dossier_store::hash::{BlobId, Sha256};
use rustix::fs::{CWD, Mode, mkfifoat};

use super::testing::{Folder, converting, empty, follow_with};
use super::{ImportSettings, Scan, ScanError, Skipped, Vanished, scan};

fn paths(scan: &Scan) -> Vec<&str> {
    scan.files.iter().map(|file| file.path.as_str()).collect()
}

fn refused(scan: &Scan) -> Vec<(&str, &str)> {
    scan.unreadable.iter().map(|file| (file.path.as_str(), file.reason.kind())).collect()
}

#[test]
fn files_are_read_folder_by_folder_in_order_of_their_names() {
    let folder = Folder::with(&[("b.txt", "b"), ("a/2", "2"), ("a/10", "10"), ("a.txt", "a")]);
    assert_eq!(paths(&folder.scan()), ["a/10", "a/2", "a.txt", "b.txt"]);
}

#[test]
fn a_file_is_the_version_its_bytes_are() {
    let text = "\u{feff}one\r\ntwo\0";
    let folder = Folder::with(&[("a.txt", text)]);
    let scan = folder.scan();
    let file = &scan.files[0];
    assert_eq!(file.version.text_sha256, Sha256::of(text.as_bytes()));
    assert_eq!(file.version.blob, BlobId::of(text.as_bytes()));
    assert_eq!(file.version.length, text.len() as u64);
    assert_eq!(file.version.original, None);
    assert_eq!(file.unstored, [text.as_bytes()]);
}

#[test]
fn what_is_left_out_is_counted() {
    let folder = Folder::with(&[
        ("a.txt", "a"),
        ("dossier.toml", ""),
        (".dossierignore", "*.tmp\ndrafts/\n"),
        (".dossier/store", ""),
        (".git/config", ""),
        (".hidden", ""),
        ("x.tmp", ""),
        ("drafts/1.txt", ""),
        ("drafts/2.txt", ""),
        ("y.bak", ""),
    ]);
    let settings = ImportSettings { ignore: vec!["*.bak".into()], ..ImportSettings::default() };
    let scan = folder.scan_with(&settings);
    assert_eq!(paths(&scan), ["a.txt"]);
    assert_eq!(scan.skipped, Skipped { hidden: 2, ignored: 3, own: 3, symlinks: Vec::new() });
}

#[test]
fn no_symbolic_link_is_followed() {
    let elsewhere = Folder::with(&[("secret.txt", "secret")]);
    let folder = Folder::with(&[("in/a.txt", "a")]);
    symlink(elsewhere.at("secret.txt"), folder.at("file")).unwrap();
    symlink(elsewhere.path(), folder.at("folder")).unwrap();
    symlink("..", folder.at("in/loop")).unwrap();
    symlink("self", folder.at("self")).unwrap();
    symlink("nowhere", folder.at("dangling")).unwrap();
    let scan = folder.scan();
    assert_eq!(paths(&scan), ["in/a.txt"]);
    assert_eq!(scan.skipped.symlinks, ["dangling", "file", "folder", "in/loop", "self"]);
    assert_eq!(refused(&scan), []);
}

#[test]
fn a_folder_reached_through_a_link_is_read_under_its_real_path() {
    let folder = Folder::with(&[("real/a.txt", "a")]);
    symlink("real", folder.at("link")).unwrap();
    let through = scan(&folder.at("link"), &ImportSettings::default(), &empty()).unwrap();
    let direct = scan(&folder.at("real"), &ImportSettings::default(), &empty()).unwrap();
    assert_eq!(paths(&through), ["a.txt"]);
    assert_eq!(through.folder, direct.folder);
}

#[test]
fn what_is_no_plain_file_is_refused_by_name_and_stops_nothing() {
    let folder = Folder::with(&[("a.txt", "a"), ("large.txt", "123456"), ("z.txt", "12345")]);
    mkfifoat(CWD, folder.at("fifo.txt"), Mode::RUSR | Mode::WUSR).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.at("socket")).unwrap();
    let scan = folder.scan_with(&ImportSettings { max_bytes: 5, ..ImportSettings::default() });
    assert_eq!(paths(&scan), ["a.txt", "z.txt"]);
    let expected =
        [("fifo.txt", "special_file"), ("large.txt", "too_large"), ("socket", "special_file")];
    assert_eq!(refused(&scan), expected);
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_kind_and_place_and_a_remedy() {
    let folder = Folder::with(&[("a.txt", "a")]);
    folder.write("bad.txt", b"four\xff");
    folder.write("letter.docx", b"PK\x03\x04");
    folder.write("scan.pdf", b"%PDF-1.7");
    folder.write("wide.txt", b"\xff\xfea\0");
    let scan = folder.scan();
    assert_eq!(paths(&scan), ["a.txt"]);
    let expected = [
        ("bad.txt", "invalid_utf8"),
        ("letter.docx", "zip_or_office"),
        ("scan.pdf", "pdf"),
        ("wide.txt", "utf16"),
    ];
    assert_eq!(refused(&scan), expected);
    assert!(scan.unreadable[0].reason.to_string().contains("byte 4"));
    assert!(scan.unreadable.iter().all(|file| !file.reason.remedy().is_empty()));
}

#[test]
fn odd_names_are_kept_and_come_back() {
    let folder = Folder::with(&[("a@b#c%.txt", "1"), ("new\nline", "2"), ("é ü.txt", "3")]);
    folder.write(OsStr::from_bytes(b"\xff.txt"), "4");
    let scan = folder.scan();
    assert_eq!(paths(&scan), ["a@b#c%25.txt", "new\nline", "é ü.txt", "%FF.txt"]);
    for file in &scan.files {
        assert!(folder.at(super::decode_path(&file.path)).is_file(), "{}", file.path);
    }
}

#[test]
fn what_the_user_may_not_read_is_refused_by_name() {
    let folder = Folder::with(&[("a.txt", "a"), ("closed.txt", "x"), ("closed/in.txt", "y")]);
    for closed in ["closed.txt", "closed"] {
        fs::set_permissions(folder.at(closed), Permissions::from_mode(0o000)).unwrap();
    }
    if fs::File::open(folder.at("closed.txt")).is_ok() {
        // This user may read everything, as root does: there is nothing to be refused.
        return;
    }
    let scan = folder.scan();
    fs::set_permissions(folder.at("closed"), Permissions::from_mode(0o700)).unwrap();
    assert_eq!(paths(&scan), ["a.txt"]);
    let denied = "permission_denied";
    assert_eq!(refused(&scan), [("closed", denied), ("closed.txt", denied)]);
}

#[test]
fn a_folder_that_is_not_there_is_told_apart_from_one_that_is_empty() {
    let folder = Folder::new();
    assert_eq!(paths(&folder.scan()), Vec::<&str>::new());
    let settings = ImportSettings::default();
    let gone = scan(&folder.at("gone"), &settings, &empty());
    assert!(matches!(gone, Err(ScanError::Unreachable { .. })), "{gone:?}");
    folder.write("file", "");
    let file = scan(&folder.at("file"), &settings, &empty());
    assert!(matches!(file, Err(ScanError::NotAFolder { .. })), "{file:?}");
}

#[test]
fn an_ignore_rule_that_cannot_be_understood_stops_the_scan() {
    let folder = Folder::with(&[(".dossierignore", "secret{\n"), ("secret", "s")]);
    let failed = scan(folder.path(), &ImportSettings::default(), &empty());
    assert!(matches!(failed, Err(ScanError::IgnorePattern { .. })), "{failed:?}");
}

#[test]
fn a_converter_makes_the_text_and_the_original_is_kept() {
    let folder = Folder::with(&[("a.UP", "abc"), ("b.txt", "abc")]);
    let scan = folder.scan_with(&converting("up", &["tr", "a-c", "A-C"]));
    let version = &scan.files[0].version;
    assert_eq!(version.text_sha256, Sha256::of(b"ABC"));
    assert_eq!(version.file_sha256(), Sha256::of(b"abc"));
    let original = version.original.as_ref().unwrap();
    assert_eq!(original.blob, BlobId::of(b"abc").0);
    assert_eq!(original.command, ["tr", "a-c", "A-C"]);
    assert!(original.converter_version.starts_with("tr "), "{original:?}");
    assert_eq!(scan.files[0].unstored, [b"ABC", b"abc"]);
    assert_eq!(scan.files[1].version.original, None);
}

#[test]
fn a_converter_runs_once_for_the_same_bytes_and_command() {
    let folder = Folder::with(&[("a.x", "abc")]);
    let runs = folder.at(".runs");
    let script = format!("cat; echo run >> {}", runs.display());
    let settings = converting("x", &["sh", "-c", &script]);
    let count = || fs::read_to_string(&runs).unwrap().lines().count();
    let mut dossier = empty();
    let mut again = |settings: &ImportSettings| {
        follow_with(&mut dossier, &folder, settings, Vanished::Guard).unwrap().len()
    };
    assert_eq!((again(&settings), count()), (1, 1));
    assert_eq!((again(&settings), count()), (0, 1), "nothing changed");
    let other = converting("x", &["sh", "-c", &format!("{script}; true")]);
    assert_eq!((again(&other), count()), (1, 2), "the command changed");
    folder.write("a.x", "abd");
    assert_eq!((again(&other), count()), (1, 3), "the bytes changed");
    folder.write("a.x", "abc");
    assert_eq!((again(&settings), count()), (1, 3), "an earlier version is active again");
}

#[test]
fn a_converter_that_fails_costs_only_its_file() {
    let folder = Folder::with(&[("a.txt", "a"), ("b.pdf", "b")]);
    for (command, kind, said) in [
        (&["sh", "-c", "echo no >&2; exit 3"][..], "converter_failed", "3: no"),
        (&["/nowhere/at-all"], "converter_failed", "could not be started"),
        (&["printf", "\\377"], "converter_output", "byte 0"),
        (&["head", "-c", "11000000", "/dev/zero"], "converter_failed", "more than 10485760"),
    ] {
        let scan = folder.scan_with(&converting("pdf", command));
        assert_eq!(paths(&scan), ["a.txt"]);
        assert_eq!(refused(&scan), [("b.pdf", kind)]);
        let reason = &scan.unreadable[0].reason;
        assert!(reason.to_string().contains(said), "{reason}");
        assert!(reason.remedy().contains("[convert]"), "{}", reason.remedy());
    }
}
