//! What the tests stand on: the built program in an environment of its own, and the engine in
//! process with a scripted model.

pub(crate) mod engine;
pub(crate) mod program;

use std::path::{Path, PathBuf};

/// A new folder in memory where there is such a place: commits are many and their durability is
/// tested elsewhere.
pub(crate) fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempfile::Builder::new().prefix("dossier-it-").tempdir_in(place).unwrap()
}

/// The text of the document at a slot: one line of prose, then a fact line for each field.
pub(crate) fn text(slot: usize, version: u32) -> String {
    let subject = format!("P-10-{slot:02}");
    let mut text = format!("Note {slot} speaks of one product.\n");
    for (field, value) in [
        ("delivery", format!("{version} May 2029")),
        ("status", "open".to_owned()),
        ("quantity", format!("{} units", 100 + slot)),
        ("site", format!("Hall {slot}")),
    ] {
        text.push_str(&format!("Product {subject} {field}: {value}.\n"));
    }
    text
}

/// Every file below a folder with this extension.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
