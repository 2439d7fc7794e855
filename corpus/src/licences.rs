//! Checks that the copyright files in `corpus/licences` have the shape they are examples of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const FORMAT: &str = "https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/";

const CRATES: [&str; 10] = [
    "bincode",
    "blake3",
    "clap",
    "indicatif",
    "redb",
    "regex",
    "serde",
    "sha2",
    "tempfile",
    "walkdir",
];

/// The text files by name without ending.
fn files() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("licences");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = paths.filter(|path| path.extension().is_some_and(|ending| ending == "txt"));
    texts
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// Per stanza its fields in order: name and first line.
fn stanzas(text: &str) -> Vec<Vec<(&str, &str)>> {
    text.trim_end().split("\n\n").map(fields_of).collect()
}

fn fields_of(stanza: &str) -> Vec<(&str, &str)> {
    let heads = stanza.lines().filter(|line| !line.starts_with(' '));
    heads.map(|line| line.split_once(": ").unwrap()).collect()
}

fn field<'a>(stanza: &[(&'a str, &'a str)], name: &str) -> Option<&'a str> {
    stanza.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
}

/// The single licences of `MIT or Apache-2.0`.
fn alternatives(licence: &str) -> impl Iterator<Item = &str> {
    licence.split(" or ")
}

#[test]
fn there_is_one_file_for_each_of_ten_crates() {
    assert_eq!(files().into_keys().collect::<Vec<_>>(), CRATES);
}

#[test]
fn the_header_names_format_crate_and_source() {
    for (name, text) in files() {
        let header = stanzas(&text).remove(0);
        assert_eq!(header[0], ("Format", FORMAT), "{name}");
        assert_eq!(field(&header, "Upstream-Name"), Some(&*name));
        assert!(field(&header, "Source").unwrap().starts_with("https://github.com/"), "{name}");
    }
}

#[test]
fn the_next_stanza_covers_all_files() {
    for (name, text) in files() {
        let first = stanzas(&text).remove(1);
        let keys: Vec<_> = first.iter().take(3).map(|(key, _)| *key).collect();
        assert_eq!(keys, ["Files", "Copyright", "License"], "{name}");
        assert_eq!(first[0].1, "*", "{name}");
    }
}

#[test]
fn every_licence_named_for_files_has_a_stanza_and_none_is_idle() {
    for (name, text) in files() {
        let (of_files, alone): (Vec<_>, Vec<_>) =
            stanzas(&text).into_iter().skip(1).partition(|stanza| stanza[0].0 == "Files");
        let named: BTreeSet<_> = of_files
            .iter()
            .flat_map(|stanza| alternatives(field(stanza, "License").unwrap()))
            .collect();
        let described: BTreeSet<_> =
            alone.iter().map(|stanza| field(stanza, "License").unwrap()).collect();
        assert_eq!(named, described, "{name}");
    }
}
