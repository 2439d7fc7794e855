//! Commands on their own: the verifiers, completions, explanations, provenance, plans.

use serde_json::Value;

use crate::support::program::Program;
use crate::support::text;

fn cases(kind: &str) -> Vec<Value> {
    let cases: Value = serde_json::from_str(include_str!("../cases/verification.json")).unwrap();
    let cases = cases["cases"].as_array().unwrap().clone();
    cases.into_iter().filter(|case| case["kind"] == kind).collect()
}

/// Puts every worked case through `check` as JSON lines and compares what comes out, line by line.
fn agree(kind: &str, verifier: &str, keys: &[&str]) {
    let cases = cases(kind);
    assert!(cases.len() > 10);
    let lines: Vec<String> = cases.iter().map(|case| case["input"].to_string()).collect();
    let program = Program::new();
    let ran = program.run_with(&format!("check {verifier} --jsonl"), &lines.join("\n"));
    let ran = ran.with_code(0);
    let answers: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(&answers) {
        for key in keys {
            assert_eq!(answer[key], case["expected"][key], "{}: {}", case["id"], case["title"]);
        }
    }
    let one = program.run_with(&format!("check {verifier} -"), &lines[0]).with_code(0);
    assert_eq!(one.json(), answers[0]);
    program
        .run_with(&format!("check {verifier} --jsonl --exit-code"), &lines.join("\n"))
        .with_code(1);
}

#[test]
fn check_claims_agrees_with_every_worked_case() {
    agree("claims_json", "claims", &["status", "diagnostic", "repairs"]);
}

#[test]
fn check_evidence_agrees_with_every_worked_case() {
    agree("evidence_span", "evidence", &["verdict", "reason"]);
}

#[test]
fn check_refuses_what_is_no_input() {
    let program = Program::new();
    program.run_with("check claims", "not json").with_code(2);
    program.run("check claims nowhere.json").with_code(3);
    program.run("check beauty").with_code(2);
}

#[test]
fn completions_for_every_shell_name_the_verbs() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let out = program.ok(&format!("completions {shell}"));
        for verb in ["import", "withdraw", "build", "show", "prov"] {
            assert!(out.contains(verb), "{shell} does not complete {verb}");
        }
    }
}

#[test]
fn a_plan_is_what_the_build_then_does() {
    let program = Program::twelve();
    program.ok("build");
    program.write("docs/d09.txt", text(9, 2));
    let plan = program.json("plan")["targets"][0].clone();
    let outcome = |target: &Value, outcome: &str| -> Vec<String> {
        let nodes = target["nodes"].as_array().unwrap().iter();
        let nodes = nodes.filter(|node| node["outcome"] == outcome);
        nodes.map(|node| node["name"].as_str().unwrap().to_owned()).collect()
    };
    let missing = outcome(&plan, "missing");
    assert_eq!(missing, ["leaf-09", "reduce-02", "root"]);
    assert_eq!(plan["recomputed"], 3);
    let built = program.json("build")["targets"][0].clone();
    assert_eq!(outcome(&built, "settled"), missing);
    assert_eq!(built["root"], plan["root"]);
}

#[test]
fn why_names_the_first_cause_and_all_its_fields() {
    let program = Program::twelve();
    program.ok("build");
    program.write("docs/d09.txt", text(9, 2));
    program.ok("import docs");
    let words = program.ok("why docs");
    assert!(words.contains("docs/d09.txt version 1 → 2"), "{words}");
    assert!(words.contains("leaf-09 → reduce-02 → root"), "{words}");
    let all = program.ok("why docs --all");
    assert!(all.contains("arguments.source.version: 1 → 2"), "{all}");
    assert!(all.contains("arguments.source.text_sha256"), "{all}");
    assert!(!program.ok("why docs#reduce-00").contains("d09"));
}

#[test]
fn provenance_leads_to_the_quote_and_every_hop_holds() {
    let program = Program::twelve();
    program.ok("build");
    let shown = program.json("show docs");
    let claim = &shown["claims"][17];
    let id = claim["id"].as_str().unwrap();
    let found = program.json(&format!("prov {} --check", &id[..18]));
    assert_eq!(found["claim"], *id);
    let hops = found["hops"].as_array().unwrap();
    let kinds: Vec<_> = hops.iter().map(|hop| hop["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"publication"));
    for kind in ["root", "reduce", "leaf", "evidence", "text"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    assert!(hops.iter().all(|hop| hop["verified"] == true));
    let quote = hops.iter().find(|hop| hop["kind"] == "evidence").unwrap();
    assert_eq!(quote["quote"], claim["evidence"][0]["quote"]);
}

#[test]
fn an_ambiguous_prefix_lists_its_candidates() {
    let program = Program::twelve();
    program.ok("build");
    let shown = program.json("show docs");
    program.run("prov claim:").with_code(4);
    program.run("prov claim:12").with_code(4);
    // A document is known by the end of its name where that is enough.
    program.ok("withdraw d04");
    program.write("more/d04.txt", "x\n");
    program.ok("import more");
    let ambiguous = program.run("restore d04").with_code(4);
    assert!(ambiguous.err.contains("docs/d04.txt") && ambiguous.err.contains("more/d04.txt"));
    drop(shown);
}

#[test]
fn the_preimage_of_a_key_hashes_to_it() {
    let program = Program::twelve();
    program.ok("build");
    let found = program.json("drv docs#leaf-03");
    let hex = found["preimage_hex"].as_str().unwrap();
    let bytes: Vec<u8> = (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    assert_eq!(found["id"], dossier_store::hash::DerivationId::of(&bytes).to_string());
    assert_eq!(found["realised"], true);
}

#[test]
fn misuse_is_two_and_help_is_zero() {
    let program = Program::new();
    program.run("").with_code(2);
    program.run("dance").with_code(2);
    program.run("show").with_code(2);
    program.run("build --full --check").with_code(2);
    assert!(program.ok("--help").contains("Usage"));
    assert!(program.ok("--version").contains("0."));
}

#[test]
fn a_full_run_and_a_check_of_rules_find_no_difference() {
    let program = Program::twelve();
    let first = program.json("build")["targets"][0].clone();
    for arguments in ["build --full", "build --check", "build --check=leaf", "build --check=reduce"]
    {
        let again = program.json(arguments)["targets"][0].clone();
        assert_eq!(again["differences"], serde_json::json!([]), "{arguments}");
        assert_eq!(again["output"], first["output"], "{arguments}");
    }
    assert_eq!(program.json("build --full")["targets"][0]["recomputed"], 16);
    assert_eq!(program.run("store verify").code, 0);
}

#[test]
fn a_changed_rule_is_a_changed_recipe_and_is_named() {
    let program = Program::twelve();
    program.ok("build");
    program.write("dossier.toml", "[[extract.rule]]\npattern = '^Product (?<subject>\\S+) site: (?<value>.+)\\.$'\nfield = \"site\"\n");
    let refusal = program.run("show docs --json").with_code(10).json();
    let causes = refusal["causes"].to_string();
    assert!(causes.contains("recipe"), "{causes}");
    program.ok("build");
    assert_eq!(program.json("show docs")["claims"].as_array().unwrap().len(), 12);
    // A comment changes no key.
    let mut settings = std::fs::read_to_string(program.path().join("dossier.toml")).unwrap();
    settings.push_str("# a remark\n");
    program.write("dossier.toml", settings);
    program.ok("show docs");
}
