//! Bytes of the store that are not what was written: reported by `store verify`, never shown.

use std::path::Path;

use crate::support::program::Program;

const WORD: &str = "Zanzibar-Quay";
const FALSE: &str = "Zanzibbr-Quay";

fn program() -> Program {
    let text = format!("Product P-10-01 site: {WORD}.\nProduct P-10-01 status: open.\n");
    let program = Program::with_documents("", &[("a.txt", &text), ("b.txt", "nothing\n")]);
    program.ok("build");
    program
}

/// Where a word stands in a file.
fn places(file: &Path, word: &str) -> Vec<usize> {
    let bytes = std::fs::read(file).unwrap();
    let windows = bytes.windows(word.len()).enumerate();
    windows.filter(|(_, window)| *window == word.as_bytes()).map(|(at, _)| at).collect()
}

/// Writes the false word where the true one stands.
fn falsify(file: &Path, at: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes[at..at + FALSE.len()].copy_from_slice(FALSE.as_bytes());
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn a_healthy_store_verifies() {
    let program = program();
    let verified = program.json("store verify");
    assert_eq!(verified["schema"], "dossier.verify/1");
    program.ok("store verify --subset 10%");
}

#[test]
fn invariant_3_no_verb_shows_bytes_that_do_not_hash_to_their_id() {
    let program = program();
    let claim = program.json("show docs")["claims"][0]["id"].as_str().unwrap().to_owned();
    let intact = std::fs::read(program.store_file()).unwrap();
    let places = places(&program.store_file(), WORD);
    assert!(places.len() >= 3, "the text, the leaf's output and the root's: {places:?}");
    let prov = format!("prov {claim} --check");
    let mut reported = 0;
    for at in places {
        std::fs::write(program.store_file(), &intact).unwrap();
        falsify(&program.store_file(), at);
        let verified = program.run("store verify --json");
        assert!(verified.code == 0 || verified.code > 64, "{}", verified.everything());
        reported += usize::from(verified.code > 64);
        for verb in [
            "show docs",
            "show docs --json",
            "show docs@-0 --historical",
            "show docs --imported",
            &prov,
            "cat docs/a.txt@1",
            "graph docs",
            "status",
            "why docs",
            "plan",
            "drv docs",
            "build",
            "show docs",
            "build --full -v",
            "show docs --json",
        ] {
            let ran = program.run(verb);
            assert!(!ran.everything().contains(FALSE), "{verb} at {at}: {}", ran.everything());
            assert!(!ran.err.contains("panicked"), "{verb}: {}", ran.err);
            // What is shown at all is shown right.
            if verb.starts_with("show docs") && ran.code == 0 {
                assert!(ran.out.contains(WORD) || ran.out.contains("withheld"), "{}", ran.out);
            }
        }
    }
    assert!(reported >= 3, "each live copy was reported: {reported}");
    std::fs::write(program.store_file(), &intact).unwrap();
    program.ok("store verify");
}

#[test]
fn a_damaged_output_is_made_again_and_the_damaged_bytes_are_kept() {
    let program = program();
    let intact = std::fs::read(program.store_file()).unwrap();
    let mut mended = 0;
    for at in places(&program.store_file(), WORD) {
        std::fs::write(program.store_file(), &intact).unwrap();
        falsify(&program.store_file(), at);
        let built = program.run("build --json");
        if built.code == 0 && built.json()["targets"][0]["recomputed"] != 0 {
            mended += 1;
            assert!(program.ok("show docs").contains(WORD));
            assert!(program.json("store verify")["set_aside"] != 0, "the damaged bytes are kept");
            assert!(!places(&program.store_file(), FALSE).is_empty());
        }
    }
    assert!(mended >= 1, "the root's output at least");
}

#[test]
fn a_store_cut_short_is_refused_in_words() {
    let program = program();
    let intact = std::fs::read(program.store_file()).unwrap();
    for keep in [0, 100, 4096, intact.len() / 2] {
        std::fs::write(program.store_file(), &intact[..keep]).unwrap();
        for verb in ["show docs", "store verify", "build"] {
            let ran = program.run(verb);
            assert!(ran.code != 0 && ran.code != -1, "{verb} of {keep} bytes");
            assert!(!ran.err.contains("panicked"), "{verb} of {keep} bytes: {}", ran.err);
        }
    }
}
