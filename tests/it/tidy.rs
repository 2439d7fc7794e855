//! The layering, the length and the opening of files, and that no test is forgotten: read from the
//! sources themselves.

use std::path::Path;

use crate::support::files;

/// A source file: its path from the repository's root, and its text.
struct Source {
    path: String,
    text: String,
}

fn sources(folders: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths = folders.iter().flat_map(|folder| files(&root.join(folder), "rs"));
    let sources = paths.map(|path| Source {
        text: std::fs::read_to_string(&path).unwrap(),
        path: path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"),
    });
    let sources: Vec<Source> = sources.filter(|source| !source.path.contains("/target/")).collect();
    assert!(!sources.is_empty());
    sources
}

impl Source {
    fn is_test(&self) -> bool {
        self.path.ends_with("tests.rs") || self.path.contains("testing")
    }

    /// The code that is compiled into the program: no comments, and no tests below.
    fn code(&self) -> String {
        let text = match self.text.find("#[cfg(test)]\nmod ") {
            Some(at) if !self.text[at..].lines().nth(1).unwrap().ends_with(';') => &self.text[..at],
            _ => &self.text,
        };
        let text = match text.find("#[cfg(test)]\npub(crate) mod tests {") {
            Some(at) => &text[..at],
            None => text,
        };
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        // What stands in quotation marks is data.
        let quoted = regex::Regex::new(r#"'\\?"'|"(?:[^"\\]|\\.)*""#).unwrap();
        quoted.replace_all(&lines, "\"\"").into_owned()
    }

    /// Whether the word stands in the code as a word of its own.
    fn names(&self, word: &str) -> bool {
        let code = self.code();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        code.match_indices(word).any(|(at, _)| {
            !code[..at].ends_with(is_part) && !code[at + word.len()..].starts_with(is_part)
        })
    }
}

/// Asserts that a word stands in no file but these.
fn only_in(folders: &[&str], word: &str, allowed: &[&str]) {
    for source in sources(folders).iter().filter(|source| !source.is_test()) {
        let may = allowed.iter().any(|prefix| source.path.starts_with(prefix));
        assert!(may || !source.names(word), "{} names {word}", source.path);
    }
}

const OURS: [&str; 4] = ["src", "store/src", "corpus/src", "llama/src"];

#[test]
fn the_database_is_named_where_tables_are_defined_read_and_written_and_errors_are_mapped() {
    let allowed =
        ["fault", "open.rs", "tables.rs", "view.rs"].map(|name| format!("store/src/{name}"));
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    only_in(&OURS, "redb", &allowed);
}

#[test]
fn ids_are_hashed_in_one_place() {
    only_in(&OURS, "blake3", &["store/src/hash.rs"]);
    only_in(&["src", "store/src"], "sha2", &["store/src/hash.rs"]);
}

#[test]
fn records_are_encoded_behind_one_wrapper() {
    for source in sources(&OURS).iter().filter(|source| !source.is_test()) {
        if source.path != "store/src/codec.rs" {
            // Elsewhere the derives alone may be named.
            let code = source.code();
            let uses = code.lines().filter(|line| line.contains("bincode"));
            for line in uses {
                assert_eq!(line.trim(), "use bincode::{Decode, Encode};", "{}", source.path);
            }
        }
    }
}

#[test]
fn invariant_6_library_code_prints_nothing_and_reads_neither_environment_nor_clock() {
    for word in [
        "println",
        "eprintln",
        "print",
        "eprint",
        "dbg",
        "SystemTime",
        "Instant",
        "stdout",
        "stderr",
    ] {
        for source in sources(&["src", "store/src", "corpus/src"]) {
            let may = source.path.starts_with("src/cli") || source.is_test();
            // The worker's own standard error is read, which is no printing; so is a converter's.
            let piped = ["stdout", "stderr"].contains(&word) && !source.code().contains("io::std");
            assert!(may || piped || !source.names(word), "{} names {word}", source.path);
        }
    }
    for word in ["std::env", "env::var", "env::var_os", "env::args", "temp_dir", "home_dir"] {
        only_in(&["src", "store/src", "corpus/src"], word, &["src/cli"]);
    }
}

#[test]
fn the_terminal_is_written_to_in_one_place() {
    for word in ["println", "eprintln", "print", "eprint"] {
        only_in(&["src/cli"], &format!("{word}!"), &["src/cli/ui.rs"]);
    }
}

#[test]
fn nothing_depends_on_the_command_line() {
    for source in sources(&["src"]) {
        let may = source.path.starts_with("src/cli")
            || ["src/lib.rs", "src/main.rs"].contains(&source.path.as_str());
        assert!(may || !source.code().contains("crate::cli"), "{}", source.path);
    }
    let main = &sources(&["src"]).into_iter().find(|source| source.path == "src/main.rs").unwrap();
    assert!(main.text.lines().count() <= 15);
}

#[test]
fn what_only_reads_cannot_write() {
    let reading =
        ["plan", "serve", "provenance", "history", "explain", "stale", "current", "snapshot"];
    for name in reading {
        let path = format!("src/{name}.rs");
        let source = sources(&["src"]).into_iter().find(|source| source.path == path).unwrap();
        for word in ["Batch", "WriteError", "write"] {
            assert!(!source.names(word), "{path} names {word}");
        }
    }
    // What is pure does not even read.
    for path in ["src/instantiate.rs", "src/graph.rs", "src/recipe.rs", "src/chunk.rs"] {
        let source = sources(&["src"]).into_iter().find(|source| source.path == path).unwrap();
        for word in ["Lookup", "Reader", "Store", "Batch", "fs"] {
            assert!(!source.names(word), "{path} names {word}");
        }
    }
}

#[test]
fn leaves_depend_on_nothing_of_ours() {
    for (folder, others) in [
        ("store", ["dossier", "dossier_corpus", "dossier_llama"]),
        ("corpus", ["dossier", "dossier_store", "dossier_llama"]),
        ("llama", ["dossier", "dossier_store", "dossier_corpus"]),
    ] {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).unwrap();
        for other in others {
            let name = other.replace('_', "-");
            let needs = |line: &str| {
                line.starts_with(&format!("{name} ")) || line.starts_with(&format!("{name}."))
            };
            assert!(!manifest.lines().any(needs), "{folder} depends on {name}");
        }
    }
}

#[test]
fn labels_are_read_by_the_experiment_alone() {
    let may = ["src/audit", "src/experiment", "src/cli/experiment.rs", "src/cli/audit.rs"];
    for source in sources(&["src"]) {
        let allowed = may.iter().any(|prefix| source.path.starts_with(prefix)) || source.is_test();
        assert!(allowed || !source.code().contains("truth::"), "{} reads labels", source.path);
    }
}

#[test]
fn nothing_in_the_store_deletes() {
    for source in sources(&["store/src"]).iter().filter(|source| !source.is_test()) {
        let code = source.code();
        for word in [
            ".remove(",
            ".retain(",
            ".extract_if(",
            ".pop_first(",
            ".pop_last(",
            "delete_table",
            ".drain(",
        ] {
            assert!(!code.contains(word), "{} has {word}", source.path);
        }
    }
}

#[test]
fn every_file_opens_with_what_it_is_and_ends_before_line_500() {
    let folders = ["src", "store/src", "corpus/src", "llama/src", "tests", "benches"];
    let mut faulty = Vec::new();
    for source in sources(&folders) {
        if !source.text.starts_with("//!") && !source.is_test() {
            faulty.push(format!("{} does not open with //!", source.path));
        }
        let lines = source.text.lines().count();
        if lines >= 500 {
            faulty.push(format!("{} has {lines} lines", source.path));
        }
    }
    assert!(faulty.is_empty(), "{faulty:#?}");
}

#[test]
fn no_test_file_is_forgotten() {
    let main = include_str!("main.rs");
    for source in sources(&["tests/it"]) {
        let name = source.path.trim_start_matches("tests/it/").trim_end_matches(".rs");
        if let Some((module, child)) = name.split_once('/') {
            let path = format!("tests/it/{module}.rs");
            let parent = sources(&["tests/it"]).into_iter().find(|source| source.path == path);
            let parent = parent.unwrap_or_else(|| panic!("{path} is missing")).text;
            assert!(parent.contains(&format!("mod {child};")), "{path} forgets {child}");
        } else if name != "main" {
            assert!(main.contains(&format!("\nmod {name};")), "main.rs forgets {name}");
        }
    }
}
