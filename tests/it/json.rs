//! `--json` prints one document with its schema and nothing else; progress as JSON lines is one
//! object a line.

use serde_json::Value;

use crate::support::program::Program;

#[test]
fn every_verb_prints_one_document_with_its_schema() {
    let program = Program::twelve();
    let built = program.json("build");
    let claim = program.json("show docs")["claims"][0]["id"].as_str().unwrap().to_owned();
    let root = built["targets"][0]["root"].as_str().unwrap().to_owned();
    for (arguments, schema) in [
        ("build", "dossier.build/1"),
        ("plan", "dossier.plan/1"),
        ("import docs", "dossier.import/1"),
        ("show docs", "dossier.show/1"),
        ("show docs@-0 --historical", "dossier.show/1"),
        ("status", "dossier.status/1"),
        ("why docs", "dossier.why/1"),
        ("why docs --all", "dossier.why/1"),
        (&format!("prov {claim} --check"), "dossier.prov/1"),
        ("graph docs", "dossier.graph/1"),
        ("cat docs/d00.txt@1:0:4", "dossier.cat/1"),
        (&format!("drv {root}"), "dossier.drv/1"),
        ("drv docs#leaf-03", "dossier.drv/1"),
        ("store head", "dossier.head/1"),
        ("store stats", "dossier.stats/1"),
        ("store verify", "dossier.verify/1"),
        ("config show", "dossier.config/1"),
        ("model list", "dossier.models/1"),
        ("withdraw docs/d00.txt", "dossier.event/1"),
        ("withdraw docs/d00.txt", "dossier.event/1"),
        ("restore docs/d00.txt", "dossier.event/1"),
        ("revoke docs/d00.txt --from owner", "dossier.event/1"),
        ("grant docs/d00.txt --to owner", "dossier.event/1"),
        ("init inside", "dossier.init/1"),
    ] {
        let document = program.json(arguments);
        assert_eq!(document["schema"], schema, "{arguments}");
    }
}

#[test]
fn a_build_says_of_every_node_how_it_came_about() {
    let program = Program::twelve();
    let target = program.json("build")["targets"][0].clone();
    let nodes = target["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 16);
    for node in nodes {
        assert_eq!(node["outcome"], "settled");
        assert!(node["drv"].as_str().unwrap().starts_with("drv:"));
        assert!(node["out"].as_str().unwrap().starts_with("out:"));
        assert_eq!(node["drv"].as_str().unwrap().len(), 4 + 64, "ids are full");
    }
    let counts = &target["counts"];
    assert_eq!(
        (&counts["hit"], &counts["cut_off"], &counts["generated"], &counts["settled"]),
        (&0.into(), &0.into(), &0.into(), &16.into())
    );
    assert_eq!((&target["model_calls"], &target["new_tokens"]), (&0.into(), &0.into()));
}

#[test]
fn progress_as_json_is_one_object_a_line_and_stdout_stays_data() {
    let program = Program::twelve();
    let ran = program.run("build --json --log-format json -v").with_code(0);
    ran.json();
    let mut finished = 0;
    for line in ran.err.lines() {
        let object: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        finished += usize::from(object["event"] == "finished");
    }
    assert_eq!(finished, 16);
}

#[test]
fn quiet_is_quiet() {
    let program = Program::twelve();
    let ran = program.run("build -q").with_code(0);
    assert_eq!(ran.err, "");
    assert!(!ran.out.is_empty());
}
