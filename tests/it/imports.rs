//! Import through the program: what it takes, what it names and leaves, and what it refuses.

use crate::support::program::Program;
use crate::support::text;

#[test]
fn labels_beside_documents_or_store_are_refused() {
    let program = Program::new();
    program.ok("init");
    program.write("labelled/docs/a.txt", "text\n");
    program.write("labelled/GOLD", "");
    let refused = program.run("import labelled/docs").with_code(5);
    assert!(refused.err.contains("GOLD"), "{}", refused.err);
    program.write("docs/a.txt", "text\n");
    program.ok("import docs");
    program.write("docs/GOLD", "");
    program.run("build").with_code(5);
    program.run("import docs").with_code(5);
    std::fs::remove_file(program.path().join("docs/GOLD")).unwrap();
    program.ok("build");
    program.write("GOLD", "");
    for arguments in ["build", "show docs", "status", "import docs", "init other", "plan"] {
        let refused = program.run(arguments).with_code(5);
        assert_eq!(refused.out, "", "{arguments}");
    }
}

#[test]
fn the_controlled_world_is_written_without_labels_unless_they_go_elsewhere() {
    let program = Program::new();
    program.ok("experiment generate world --dossiers S-010");
    program.ok("experiment generate world --dossiers S-010 --gold labels");
    assert!(program.path().join("labels/GOLD").exists());
    assert!(!program.path().join("world/GOLD").exists());
    program.run("experiment generate world2 --dossiers S-010 --gold world2/labels").with_code(5);
    program.run("experiment generate labels/world --dossiers S-010").with_code(5);
    program.ok("init --kind controlled");
    program.ok("import world/documents/S-010");
    let built = program.json("build");
    assert_eq!(built["targets"][0]["recomputed"], 16);
    assert_eq!(program.json("show S-010")["claims"].as_array().unwrap().len(), 48);
}

#[cfg(unix)]
#[test]
fn links_pipes_and_hidden_files_are_passed_over_and_nothing_outside_is_read() {
    let program = Program::new();
    program.ok("init");
    program.write("secret.txt", "the secret outside\n");
    program.write("docs/a.txt", "text\n");
    program.write("docs/.hidden.txt", "hidden\n");
    program.write("docs/dossier.toml", "principals = 3\n");
    std::os::unix::fs::symlink("../secret.txt", program.path().join("docs/link.txt")).unwrap();
    std::os::unix::fs::symlink("..", program.path().join("docs/up")).unwrap();
    let pipe = program.path().join("docs/pipe.txt");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ran = program.run("import docs --json");
    let imported = ran.json();
    let one = &imported["dossiers"][0];
    let changed: Vec<_> =
        one["changes"].as_array().unwrap().iter().map(|c| c["document"].clone()).collect();
    assert_eq!(changed, ["docs/a.txt"]);
    let links = one["skipped"]["symlinks"].to_string();
    assert!(links.contains("link.txt") && links.contains("up"), "{links}");
    assert!(!ran.everything().contains("the secret outside"));
    // The pipe is no document; it is named, and the import did not wait for it.
    assert!(one["unreadable"].to_string().contains("pipe.txt"), "{}", ran.out);
    assert_eq!(ran.code, 3);
}

#[test]
fn one_unreadable_file_never_stops_an_import() {
    let program = Program::new();
    program.ok("init");
    program.write("docs/a.txt", "text\n");
    program.write("docs/b.txt", b"caf\xe9\n");
    program.write("docs/c.pdf", b"%PDF-1.7\n\xff");
    program.write("docs/d.txt", b"\xff\xfet\x00");
    let ran = program.run("import docs --json").with_code(3);
    let one = ran.json()["dossiers"][0].clone();
    assert_eq!(one["changes"].as_array().unwrap().len(), 1);
    let unreadable = one["unreadable"].as_array().unwrap();
    assert_eq!(unreadable.len(), 3);
    for file in unreadable {
        assert!(!file["remedy"].as_str().unwrap().is_empty());
    }
    assert!(unreadable[0]["kind"].as_str().unwrap().contains("utf"), "{unreadable:?}");
    program.ok("build");
}

#[test]
fn a_dossier_that_mostly_vanished_is_left_alone() {
    let program = Program::twelve();
    program.ok("build");
    for slot in 0..8 {
        std::fs::remove_file(program.path().join(format!("docs/d{slot:02}.txt"))).unwrap();
    }
    let refused = program.run("import docs").with_code(3);
    assert!(refused.err.contains("--allow-vanished"), "{}", refused.err);
    program.run("build").with_code(3);
    assert_eq!(program.json("import docs --allow-vanished")["dossiers"][0]["events"], 8);
    let built = program.json("build");
    let settled = built["targets"][0]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["status"] == "INELIGIBLE");
    // Eight leaves, and the two groups of which nothing is left.
    assert_eq!(settled.count(), 8 + 2);
}

#[test]
fn a_renamed_file_keeps_its_document_and_costs_nothing() {
    let program = Program::twelve();
    program.ok("build");
    let docs = program.path().join("docs");
    std::fs::rename(docs.join("d03.txt"), docs.join("renamed.txt")).unwrap();
    assert_eq!(program.json("build")["targets"][0]["recomputed"], 0);
    program.ok("show docs");
}

#[test]
fn bytes_of_an_earlier_version_reactivate_it() {
    let program = Program::twelve();
    let first = program.json("build")["targets"][0]["root"].clone();
    program.write("docs/d03.txt", text(3, 2));
    program.ok("build");
    program.write("docs/d03.txt", text(3, 1));
    let third = program.json("build");
    assert_eq!(third["targets"][0]["root"], first);
    assert_eq!(third["targets"][0]["recomputed"], 0);
}

#[test]
fn a_dry_run_writes_nothing_and_another_folder_needs_a_word() {
    let program = Program::twelve();
    let head = program.ok("store head");
    program.write("docs/d03.txt", text(3, 2));
    assert!(program.ok("import docs --dry-run").contains("d03"));
    assert_eq!(program.ok("store head"), head);
    program.write("other/docs/x.txt", "x\n");
    program.run("import other/docs").with_code(3);
    assert_eq!(program.ok("store head"), head);
    program.ok("import other/docs --rebind --allow-vanished");
}
