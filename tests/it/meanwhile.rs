//! Rights change while a build runs: nobody holds the write side meanwhile, and what comes of the
//! build never shows what was revoked.

use std::io::{BufRead as _, BufReader};

use dossier_corpus::scale::Scale;

use crate::support::program::Program;

fn large(documents: u32) -> Program {
    let program = Program::new();
    for document in (Scale { seed: 3, dossiers: 1, documents }).documents() {
        program.write(&format!("docs/{}.txt", document.doc_id), document.text);
    }
    program.ok("init");
    program.ok("import docs");
    program
}

/// Revokes a document of a running build; none where the build was over too soon.
fn revoke_meanwhile(documents: u32) -> Option<Program> {
    let program = large(documents);
    let last = format!("docs/DOC-{:06}.txt", documents - 1);
    let mut build = program.start("build --no-import --log-format json");
    let mut lines = BufReader::new(build.stderr.take().unwrap()).lines();
    let began = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("\"finished\"")));
    began.unwrap().unwrap();
    program.ok(&format!("revoke {last} --from owner"));
    let running = build.try_wait().unwrap().is_none();
    let log: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(build.wait().unwrap().success());
    let noticed = log.iter().any(|line| line.contains("\"replanned\""));
    if !(running && noticed) {
        return None;
    }
    let shown = program.ok("show docs --json");
    assert!(!shown.contains(&last), "what was revoked is not shown");
    Some(program)
}

#[test]
fn a_revocation_goes_through_while_a_build_runs() {
    let program = [300, 1200, 4800].into_iter().find_map(revoke_meanwhile);
    let program = program.expect("because a build of thousands of nodes outlasts a revocation");
    assert_eq!(program.json("build")["targets"][0]["recomputed"], 0);
}

#[test]
fn two_builds_at_once_come_to_the_same_root() {
    let program = large(150);
    let builds = [program.start("build --json"), program.start("build --json")];
    let roots = builds.map(|build| {
        let output = build.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (document["targets"][0]["root"].clone(), document["targets"][0]["output"].clone())
    });
    assert_eq!(roots[0], roots[1]);
    assert_eq!(program.json("show docs")["root"], roots[0].0);
    assert_eq!(program.json("build")["targets"][0]["recomputed"], 0);
    program.ok("store verify");
}
