//! Settings, names and texts from somebody who means harm, and places that cannot be used.

use crate::support::program::Program;
use crate::support::text;

#[test]
fn settings_that_make_no_sense_are_refused_with_their_name() {
    let program = Program::twelve();
    for (settings, named) in [
        ("principals = []", "principals"),
        ("principals = [\"a b\"]", "principals"),
        ("colour = 3", "colour"),
        ("[claims]\nleaf_max = 0", "claims.leaf_max"),
        ("[claims]\nreduce_max = 99999999", "claims.reduce_max"),
        ("[claims]\nfields = [\"a\\u001b[31m\"]", "claims.fields"),
        ("[budgets]\noutput = 0", "budgets.output"),
        ("[llama]\nsha256 = \"abc\"", "llama.sha256"),
        ("[llama]\nprofile = \"wild\"", "llama.profile"),
        ("[[extract.rule]]\npattern = '('\nfield = \"site\"", "extract.rule"),
        ("[[extract.rule]]\npattern = '(?<value>x)'\nfield = \"site\"", "extract.rule"),
        (
            "[[extract.rule]]\npattern = '(?<subject>a)(?<value>b{1000}{1000}{1000})'\nfield = \"site\"",
            "extract.rule",
        ),
        ("not toml at all", "dossier.toml"),
    ] {
        program.write("dossier.toml", settings);
        let refused = program.run("build").with_code(3);
        assert!(refused.err.contains(named), "{settings}: {}", refused.err);
        assert!(!refused.err.contains('\u{1b}'), "{settings}");
        assert_eq!(refused.out, "");
    }
}

#[test]
fn a_pattern_that_backtracks_elsewhere_ends_at_once() {
    let settings =
        "[[extract.rule]]\npattern = '^(?<subject>(a+)+)(?<value>b)$'\nfield = \"site\"\n";
    let line = "a".repeat(20_000);
    let program = Program::with_documents(settings, &[("a.txt", &line)]);
    let started = std::time::Instant::now();
    program.ok("build");
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn control_and_bidi_characters_are_shown_and_never_sent() {
    let hostile = "Product P-10-00 site: A\u{1b}[2J\u{202e}B.\n";
    let name = "e\u{1b}[31mvil\u{202e}.txt";
    let program = Program::new();
    program.write("docs/a.txt", format!("{}{hostile}", text(0, 1)));
    program.write(&format!("docs/{name}"), text(1, 1));
    program.ok("init");
    for arguments in [
        "import docs",
        "build -v",
        "show docs",
        "show docs --format md",
        "status",
        "why docs",
        "graph docs",
        "graph docs --format dot",
        "graph docs --format mermaid",
        "plan",
        "doctor",
        "store verify",
    ] {
        let ran = program.run(arguments);
        let sent = ran.everything();
        assert!(!sent.contains('\u{1b}') && !sent.contains('\u{202e}'), "{arguments}: {sent:?}");
    }
    // `cat` alone gives exact bytes.
    assert!(program.ok("cat docs/a.txt@1").contains('\u{1b}'));
}

#[test]
fn a_place_that_cannot_be_written_to_is_named() {
    let program = Program::new();
    program.write("file", "in the way");
    let refused = program.run("init file/inside").with_code(3);
    assert!(refused.err.contains("file/inside"), "{}", refused.err);
    program.write("there/.dossier", "in the way");
    program.run("init there").with_code(3);
    assert_eq!(std::fs::read(program.path().join("there/.dossier")).unwrap(), b"in the way");
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_as_it_is() {
    let program = Program::new();
    let note = b"a note of mine, kept where a store should be\n".repeat(200);
    program.write(".dossier/store.redb", &note);
    for arguments in ["status", "build", "show docs", "store verify", "store stats"] {
        let refused = program.run(arguments).with_code(3);
        assert_eq!(refused.out, "", "{arguments}");
        assert!(refused.err.contains("store.redb"), "{}", refused.err);
    }
    program.run("init").with_code(3);
    assert_eq!(std::fs::read(program.store_file()).unwrap(), note);
}

#[test]
fn a_second_init_replaces_nothing() {
    let program = Program::twelve();
    program.write("dossier.toml", "principals = [\"mine\"]\n");
    program.ok("build");
    let head = program.ok("store head");
    program.run("init --kind contract").with_code(3);
    assert_eq!(program.ok("store head"), head);
    let kept = std::fs::read_to_string(program.path().join("dossier.toml")).unwrap();
    assert_eq!(kept, "principals = [\"mine\"]\n");
}

#[test]
fn without_a_store_the_next_command_is_named() {
    let program = Program::new();
    let refused = program.run("status").with_code(3);
    assert!(refused.err.contains("dossier init"), "{}", refused.err);
}

#[test]
fn names_that_climb_out_of_the_folder_are_no_names() {
    let program = Program::twelve();
    program.write("outside.txt", "the secret outside\n");
    for arguments in
        ["cat ../outside.txt", "cat docs/../outside.txt@1", "cat /etc/hostname", "show ../docs"]
    {
        let ran = program.run(arguments);
        assert!(matches!(ran.code, 2 | 4), "{arguments}: {}", ran.code);
        assert!(!ran.everything().contains("the secret outside"));
    }
}
