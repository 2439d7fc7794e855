//! What is shown and what is refused, with the exit codes that scripts rely on.

use dossier::builder;
use dossier::claims::{Claim, Statement};
use dossier::document::DocumentId;
use dossier::evidence::Evidence;
use dossier::realise::scripted::Scripted;
use dossier::realise::task::Task;
use dossier::realise::{Build, Fault, Options, Production, Realiser};
use dossier::settings::{RealiserName, Settings};
use dossier_store::hash::Sha256;
use dossier_store::{Access, Options as StoreOptions, Store};

use crate::support::engine::Stubborn;
use crate::support::program::{Program, Ran};
use crate::support::text;

fn refused(ran: &Ran, verdict: &str) -> serde_json::Value {
    let document = ran.json();
    assert_eq!(document["schema"], "dossier.refusal/1");
    assert_eq!(document["verdict"], verdict, "{}", ran.out);
    assert!(document.get("claims").is_none(), "a refusal shows no claim");
    assert!(document["try"].as_array().is_some_and(|next| !next.is_empty()));
    document
}

#[test]
fn a_current_root_is_shown_with_every_claim_and_its_quote() {
    let program = Program::twelve();
    program.ok("build");
    let shown = program.json("show docs");
    assert_eq!(shown["schema"], "dossier.show/1");
    let claims = shown["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 48);
    for claim in claims {
        assert_eq!(claim["support"], "exact_fact_line");
        let evidence = &claim["evidence"][0];
        let document = evidence["doc_id"].as_str().unwrap();
        let file = std::fs::read_to_string(program.path().join(document)).unwrap();
        let (start, end) = (evidence["start"].as_u64().unwrap(), evidence["end"].as_u64().unwrap());
        let quote: String =
            file.chars().skip(start as usize).take((end - start) as usize).collect();
        assert_eq!(evidence["quote"], quote);
        assert_eq!(evidence["text_sha256"], Sha256::of(file.as_bytes()).hex());
    }
    let words = program.ok("show docs");
    assert!(words.contains("structure only"), "{words}");
}

#[test]
fn a_change_on_disk_is_stale_at_once_and_names_its_cause() {
    let program = Program::twelve();
    program.ok("build");
    let root = program.json("show docs")["root"].clone();
    program.write("docs/d05.txt", text(5, 2));
    let refusal = refused(&program.run("show docs --json").with_code(10), "STALE");
    let causes = refusal["causes"].as_array().unwrap();
    assert_eq!(causes.len(), 1);
    assert_eq!(causes[0]["document"], "docs/d05.txt");
    assert_eq!(causes[0]["change"], "changed_on_disk");
    assert_eq!(causes[0]["path"], serde_json::json!(["leaf-05", "reduce-01", "root"]));
    assert_eq!(refusal["rebuild"]["recomputed"], 3);
    assert_eq!(refusal["old_root"], root);
    assert_ne!(refusal["new_root"], root);
    assert_eq!(program.run("status --exit-code").code, 10);
    assert_eq!(program.run("status").code, 0);
    // Looking wrote nothing, and the last import is still there under its label.
    let imported = program.ok("show docs --imported");
    assert!(imported.contains("IMPORTED") && imported.contains("as of event"), "{imported}");
    let built = program.json("build");
    assert_eq!(built["targets"][0]["recomputed"], 3);
    assert_eq!(built["targets"][0]["counts"]["hit"], 13);
    program.ok("show docs");
}

#[test]
fn what_was_never_built_is_not_built() {
    let program = Program::twelve();
    refused(&program.run("show docs --json").with_code(11), "NOT_BUILT");
    assert_eq!(program.run("status docs --exit-code").code, 11);
}

#[test]
fn an_unknown_dossier_or_document_is_not_found() {
    let program = Program::twelve();
    for arguments in [
        "show nowhere",
        "build nowhere",
        "plan nowhere",
        "withdraw nothing",
        "cat docs/none.txt",
        "drv drv:00000000",
        "prov claim:00000000",
        "why docs#leaf-99",
        "graph nowhere",
    ] {
        let ran = program.run(arguments).with_code(4);
        assert_eq!(ran.out, "", "{arguments}");
        assert!(ran.err.contains("error"), "{}", ran.err);
    }
}

#[test]
fn an_undeclared_principal_is_denied_everywhere() {
    let program = Program::twelve();
    program.ok("build");
    for arguments in
        ["show docs", "build", "status", "plan", "cat docs/d00.txt@1", "why docs", "graph docs"]
    {
        let ran = program.run(&format!("{arguments} --principal stranger")).with_code(5);
        assert_eq!(ran.out, "", "{arguments}");
    }
    program.run("revoke docs/d00.txt --from stranger").with_code(5);
}

#[test]
fn an_unreachable_folder_is_refused_and_the_last_import_can_be_seen() {
    let program = Program::twelve();
    program.ok("build");
    std::fs::rename(program.path().join("docs"), program.path().join("away")).unwrap();
    refused(&program.run("show docs --json").with_code(10), "SOURCE_UNREACHABLE");
    assert_eq!(program.run("status --exit-code").code, 10);
    program.run("build").with_code(10);
    assert!(program.ok("show docs --imported").contains("as of event"));
    assert_eq!(program.json("build --no-import")["targets"][0]["recomputed"], 0);
    std::fs::rename(program.path().join("away"), program.path().join("docs")).unwrap();
    program.ok("show docs");
}

#[test]
fn a_withdrawn_document_makes_stale_and_its_restoration_costs_nothing() {
    let program = Program::twelve();
    program.ok("build");
    let first = program.json("show docs")["root"].clone();
    program.ok("withdraw docs/d04.txt");
    let refusal = refused(&program.run("show docs --json").with_code(10), "STALE");
    assert_eq!(refusal["causes"][0]["change"], "withdrawn");
    assert!(refusal["causes"][0]["event"].as_u64().is_some());
    program.ok("build");
    let shown = program.json("show docs");
    assert_eq!(shown["claims"].as_array().unwrap().len(), 44);
    program.ok("restore docs/d04.txt");
    let restored = program.json("build");
    assert_eq!(restored["targets"][0]["recomputed"], 0);
    assert_eq!(program.json("show docs")["root"], first);
}

#[test]
fn an_old_root_is_refused_without_its_label() {
    let program = Program::twelve();
    program.ok("build");
    let old = program.json("show docs");
    program.write("docs/d05.txt", text(5, 2));
    program.ok("build");
    let refused = program.run("show docs@-1").with_code(10);
    assert_eq!(refused.out, "");
    let historical = program.json("show docs@-1 --historical");
    assert_eq!(historical["verdict"], "HISTORICAL");
    assert_eq!(historical["historical"], true);
    assert_eq!(historical["root"], old["root"]);
    assert_eq!(historical["claims"].as_array().unwrap().len(), 48);
    assert!(program.ok("show docs@-1 --historical").contains("HISTORICAL"));
    program.run("show docs@-9 --historical").with_code(4);
    let as_of = old["as_of"]["event"].as_u64().unwrap();
    let by_event = program.json(&format!("show docs@e{as_of} --historical"));
    assert_eq!(by_event["root"], old["root"]);
}

const LLAMA: &str = "realiser = \"llama\"\n[llama]\nsha256 = \"0707070707070707070707070707070707070707070707070707070707070707\"\nmodel = \"none.gguf\"\n";

/// Builds a dossier of the program's store with a scripted model under the settings' recipe.
fn build_scripted(program: &Program, mut model: impl Realiser) {
    let path = program.path().join("dossier.toml");
    let settings = Settings::read(&path).unwrap();
    let recipe = settings.lower(RealiserName::Llama, Some(Sha256([7; 32])));
    let options = StoreOptions::default();
    let store = Store::open(&program.store_file(), Access::ReadWrite, &options, |_| {}).unwrap();
    let mut build = Build {
        store: &store,
        dossier: "docs",
        principal: "owner",
        recipe: &recipe,
        builder: &builder::of(RealiserName::Llama),
        realiser: &mut model,
        options: Options::default(),
        cancel: &false.into(),
        clock: &|| 1_000_000,
    };
    build.run(&mut |_| {}).unwrap();
}

fn answering(document: &str, answer: &str) -> Scripted {
    let answers = vec![(document.to_owned(), answer.to_owned())];
    Scripted { answers, ..Scripted::default() }
}

/// A realiser whose claims cite what is not there.
struct Forger(fn(&mut Evidence));

impl Realiser for Forger {
    fn realise(&mut self, task: &Task) -> Result<Production, Fault> {
        let mut evidence = task.offered().swap_remove(1);
        (self.0)(&mut evidence);
        let statement =
            Statement { subject: "P-10-00".into(), field: "status".into(), value: "open".into() };
        Ok(Production::Ruled { claims: vec![Claim { statement, evidence: vec![evidence] }] })
    }
}

#[test]
fn evidence_that_does_not_hold_now_is_refused_whatever_the_root_says() {
    let text = text(0, 1);
    for (forge, code) in [
        ((|evidence| evidence.quote = "forged".into()) as fn(&mut Evidence), "quote_mismatch"),
        (|evidence| evidence.span.end = 9_999, "offsets_out_of_range"),
        (|evidence| evidence.version = 2, "stale_version"),
        (|evidence| evidence.text_sha256 = Sha256([1; 32]), "text_hash_mismatch"),
        (|e| e.doc_id = DocumentId::given("docs/z.txt").unwrap(), "document_missing"),
    ] {
        let program = Program::with_documents(LLAMA, &[("a.txt", text.as_str())]);
        build_scripted(&program, Forger(forge));
        let refusal = refused(&program.run("show docs --json").with_code(12), "INVALID");
        assert_eq!(refusal["reason"], code);
    }
}

#[test]
fn an_invalid_root_shows_nothing() {
    let settings = format!("{LLAMA}[claims]\nchoose = \"always\"\n");
    let (first, second) = (text(0, 1), text(1, 1));
    let documents = [("a.txt", first.as_str()), ("b.txt", second.as_str())];
    let program = Program::with_documents(&settings, &documents);
    let model = Scripted::default();
    build_scripted(&program, Stubborn { model, reduce: "I cannot choose." });
    let refusal = refused(&program.run("show docs --json").with_code(12), "INVALID");
    assert_eq!(refusal["reason"], "root_invalid");
    assert_eq!(refusal["root_status"], "INVALID");
    assert!(!program.run("show docs").everything().contains("P-10-"), "no claim is shown");
    assert_eq!(program.run("status --exit-code").code, 12);
}

#[test]
fn a_root_without_eligible_documents_shows_nothing() {
    let program = Program::with_documents("", &[("a.txt", "nothing to see\n")]);
    program.ok("withdraw docs/a.txt");
    program.ok("build");
    let refusal = refused(&program.run("show docs --json").with_code(12), "INVALID");
    assert_eq!(refusal["reason"], "root_ineligible");
}

#[test]
fn a_root_over_budget_shows_nothing() {
    let settings = format!("{LLAMA}[claims]\nchoose = \"always\"\n[budgets]\nreduce_input = 3\n");
    let (first, second) = (text(0, 1), text(1, 1));
    let documents = [("a.txt", first.as_str()), ("b.txt", second.as_str())];
    let program = Program::with_documents(&settings, &documents);
    build_scripted(&program, Scripted::default());
    let refusal = refused(&program.run("show docs --json").with_code(12), "INVALID");
    assert_eq!(refusal["reason"], "root_over_budget");
}

#[test]
fn a_partial_root_is_shown_with_what_is_missing_and_refused_when_strict() {
    let (first, second) = (text(0, 1), text(1, 1));
    let documents = [("a.txt", first.as_str()), ("b.txt", second.as_str())];
    let program = Program::with_documents(LLAMA, &documents);
    build_scripted(&program, answering("docs/b.txt", "nonsense"));
    let shown = program.json("show docs");
    assert_eq!(shown["root_status"], "PARTIAL");
    assert_eq!(shown["missing"], serde_json::json!([{"node": "leaf-01", "status": "INVALID"}]));
    assert_eq!(shown["documents_without_claims"], serde_json::json!(["docs/b.txt"]));
    assert_eq!(shown["claims"].as_array().unwrap().len(), 4);
    let strict = program.run("show docs --strict").with_code(13);
    assert!(strict.out.contains("PARTIAL"));
    assert_eq!(program.run("status --exit-code").code, 0);
}

#[test]
fn an_empty_folder_has_nothing_to_show_and_nothing_to_build() {
    let program = Program::with_documents("", &[("a.txt", "one\n")]);
    program.ok("build");
    let empty = Program::new();
    std::fs::create_dir(empty.path().join("docs")).unwrap();
    empty.ok("init");
    empty.run("build").with_code(11);
    empty.run("show docs").with_code(4);
}
