//! A string that stands in one document alone. Once that document is withdrawn, or revoked from
//! whoever acts, no verb prints it any more, in whatever form.

use crate::support::program::Program;
use crate::support::text;

const CANARY: &str = "XANTHOCROID";

/// The document's two texts: the word stands in its prose, and in a value, a subject and a quote.
fn singing(version: u32) -> String {
    format!(
        "{}A {CANARY} sang {version} times.\nProduct P-77-77 site: {CANARY} {version}.\n",
        text(3, version)
    )
}

/// Ids that led to the word while it could be read.
struct Traces {
    claims: Vec<String>,
    ids: Vec<String>,
    events: Vec<u64>,
}

fn sung(settings: &str) -> (Program, Traces) {
    let program = Program::twelve_for(settings);
    let mut traces = Traces { claims: Vec::new(), ids: Vec::new(), events: Vec::new() };
    for version in 1..3 {
        program.write("docs/d03.txt", singing(version));
        let built = program.json("build");
        let nodes = built["targets"][0]["nodes"].as_array().unwrap();
        traces.ids.extend(nodes.iter().map(|node| node["drv"].as_str().unwrap().to_owned()));
        traces.ids.extend(nodes.iter().map(|node| node["out"].as_str().unwrap().to_owned()));
        let shown = program.json("show docs");
        assert!(shown.to_string().contains(CANARY), "it is there to be found");
        let claims = shown["claims"].as_array().unwrap().iter();
        let claims = claims.filter(|claim| claim.to_string().contains(CANARY));
        traces.claims.extend(claims.map(|claim| claim["id"].as_str().unwrap().to_owned()));
        traces.events.push(shown["as_of"]["event"].as_u64().unwrap());
    }
    assert_eq!(traces.claims.len(), 2);
    traces.ids.sort();
    traces.ids.dedup();
    (program, traces)
}

fn verbs(traces: &Traces) -> Vec<String> {
    let mut verbs: Vec<String> = [
        "show docs",
        "show docs --json",
        "show docs --format md",
        "show docs --imported",
        "show docs --imported --json",
        "show docs --strict",
        "status",
        "status --json",
        "status -v",
        "status --imported",
        "why docs",
        "why docs --all",
        "why docs --all --json",
        "why docs#leaf-03 --all",
        "plan",
        "plan --json",
        "plan --imported",
        "graph docs",
        "graph docs --json",
        "graph docs --format dot",
        "graph docs --format mermaid",
        "graph docs --format json",
        "graph docs --imported",
        "cat docs/d03.txt",
        "cat docs/d03.txt@1",
        "cat docs/d03.txt@2",
        "cat docs/d03.txt@3",
        "cat docs/d03.txt@1:0:400",
        "cat docs/d03.txt@1 --json",
        "cat d03 -v",
        "drv docs",
        "drv docs#leaf-03",
        "drv docs#leaf-03 --json",
        "drv docs@-1",
        "drv docs@-1 --json",
        "import docs --dry-run",
        "store stats",
        "store head",
        "store verify",
        "store verify --json",
        "config show --origin",
        "doctor",
        "doctor --json",
    ]
    .map(String::from)
    .to_vec();
    for back in 0..5 {
        for form in ["", " --json", " --format md", " -v"] {
            verbs.push(format!("show docs@-{back} --historical{form}"));
        }
    }
    for event in &traces.events {
        verbs.push(format!("show docs@e{event} --historical"));
        verbs.push(format!("drv docs@e{event}"));
    }
    for claim in &traces.claims {
        for form in ["", " --check", " --json", " --check --json", " -v"] {
            verbs.push(format!("prov {claim}{form}"));
        }
    }
    // Every node of both builds, by id.
    verbs.extend(
        traces.ids.iter().filter(|id| id.starts_with("drv:")).map(|id| format!("drv {id}")),
    );
    verbs
}

fn builds() -> [&'static str; 6] {
    [
        "build --no-import --log-format json -v",
        "build --log-format json -v",
        "build --json",
        "build -v",
        "build --full -v",
        "build --check --json",
    ]
}

fn assert_silent(program: &Program, verb: &str) {
    let ran = program.run(verb);
    assert!(!ran.everything().contains(CANARY), "dossier {verb}\n{}\n{}", ran.out, ran.err);
}

/// Runs everything before, between and after builds, with a third text lying on disk.
fn hush(program: &Program, traces: &Traces, whose: &str) {
    let said = |verb: &str| format!("{verb}{whose}");
    for verb in verbs(traces) {
        assert_silent(program, &said(&verb));
    }
    program.write("docs/d03.txt", singing(3));
    for build in builds() {
        assert_silent(program, &said(build));
    }
    for verb in verbs(traces) {
        assert_silent(program, &said(&verb));
    }
    assert_silent(program, &said("import docs"));
}

const PRINCIPALS: &str = "principals = [\"owner\", \"guest\"]\n";

#[test]
fn a_withdrawn_document_is_heard_of_no_more() {
    let (program, traces) = sung(PRINCIPALS);
    program.ok("withdraw docs/d03.txt");
    hush(&program, &traces, "");
    program.ok("restore docs/d03.txt");
    program.ok("build");
    assert!(program.ok("show docs").contains(CANARY), "restored, it is shown again");
}

#[test]
fn a_revoked_document_is_heard_of_no_more_by_that_principal() {
    let (program, traces) = sung(PRINCIPALS);
    program.ok("build --principal guest");
    assert!(program.ok("show docs --principal guest").contains(CANARY));
    program.ok("revoke docs/d03.txt --from guest");
    hush(&program, &traces, " --principal guest");
    program.ok("build");
    assert!(program.ok("show docs").contains(CANARY), "the other principal still sees it");
}

#[test]
fn a_withdrawn_document_that_was_cut_into_chunks_is_heard_of_no_more() {
    let (program, traces) = sung("[chunking]\nmode = \"lines\"\nmax_bytes = 60\n");
    program.ok("withdraw docs/d03.txt");
    hush(&program, &traces, "");
}
