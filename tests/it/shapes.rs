//! The tree's shape and its nodes' names for any number of documents, and for long documents cut
//! into chunks.

use dossier::output::NodeStatus;
use dossier::realise::scripted::Scripted;
use dossier::realise::{BuildError, Options};
use dossier::recipe::Chunking;

use crate::support::engine::Engine;

fn names(engine: &Engine) -> Vec<String> {
    engine.graph().nodes().map(|(_, node)| node.name.clone()).collect()
}

fn reduces(engine: &Engine) -> Vec<String> {
    names(engine).into_iter().filter(|name| !name.starts_with("leaf")).collect()
}

#[test]
fn no_document_is_no_tree() {
    let engine = Engine::with(0);
    let error = engine.build_with(&mut Scripted::default(), Options::default()).err().unwrap();
    assert!(matches!(error, BuildError::NoDocuments(_)), "{error}");
    assert_eq!(names(&engine), [""; 0]);
}

#[test]
fn one_document_has_a_single_reduce_above_it_that_copies() {
    let engine = Engine::with(1);
    assert_eq!(names(&engine), ["leaf-00", "root"]);
    let built = engine.build();
    assert_eq!(built.worked(), ["leaf-00 generated VALID", "root settled VALID"]);
    assert_eq!(engine.output("root"), engine.output("leaf-00"));
}

#[test]
fn four_documents_are_one_group() {
    assert_eq!(reduces(&Engine::with(4)), ["root"]);
}

#[test]
fn five_documents_are_two_groups() {
    let engine = Engine::with(5);
    assert_eq!(reduces(&engine), ["reduce-00", "reduce-01", "root"]);
    let built = engine.build();
    assert!(built.worked().contains(&"reduce-01 settled VALID"), "a single child is copied");
}

#[test]
fn twelve_documents_are_sixteen_nodes() {
    let engine = Engine::with(12);
    let leaves: Vec<String> = (0..12).map(|slot| format!("leaf-{slot:02}")).collect();
    let expected =
        [leaves, ["reduce-00", "reduce-01", "reduce-02", "root"].map(String::from).to_vec()];
    assert_eq!(names(&engine), expected.concat());
}

#[test]
fn seventeen_documents_have_a_second_level() {
    let expected = [
        "reduce-00",
        "reduce-01",
        "reduce-02",
        "reduce-03",
        "reduce-04",
        "reduce-1-00",
        "reduce-1-01",
        "root",
    ];
    assert_eq!(reduces(&Engine::with(17)), expected);
}

#[test]
fn seventy_documents_have_a_third_level() {
    let engine = Engine::with(70);
    let reduces = reduces(&engine);
    let count = |prefix: &str| reduces.iter().filter(|name| name.starts_with(prefix)).count();
    assert_eq!((count("reduce-1-"), count("reduce-2-"), reduces.len()), (5, 2, 18 + 5 + 2 + 1));
    assert_eq!(engine.build().counts()[0], 0);
    assert_eq!(engine.output("root").status, NodeStatus::Valid);
}

#[test]
fn a_further_document_disturbs_only_its_own_group_and_ancestors() {
    let engine = Engine::with(12);
    engine.build();
    engine.set(12, &crate::support::text(12, 1));
    // The root of before is a reduce of the new tree, under another name and the same id.
    assert_eq!(engine.missing(), ["leaf-12", "reduce-03", "root"]);
}

/// Lines of 40 bytes, so many of them.
fn long(lines: usize) -> String {
    (0..lines).map(|n| format!("Product P-10-{n:02} quantity: {n:>12}.\n")).collect()
}

#[test]
fn a_long_document_is_cut_at_lines_with_reduces_of_its_own() {
    let mut engine = Engine::with(2);
    engine.recipe.chunking = Chunking::Lines { max_bytes: 300 };
    engine.set(1, &long(20));
    let chunked: Vec<String> =
        names(&engine).into_iter().filter(|name| name != "leaf-00" && name != "root").collect();
    assert_eq!(chunked.len(), 3 + 1, "{chunked:?}");
    assert_eq!(chunked, ["leaf-01-00", "leaf-01-01", "leaf-01-02", "document-01"]);
    engine.build();
    // Every line of a chunk is cited at its place in the whole text.
    let text = long(20);
    for name in &chunked[..3] {
        let output = engine.output(name);
        assert!(!output.claims.is_empty());
        for evidence in output.claims.iter().flat_map(|claim| &claim.evidence) {
            assert_eq!(evidence.span.slice(&text), Some(evidence.quote.as_str()));
        }
    }
}

#[test]
fn many_chunks_have_levels_of_their_own() {
    let mut engine = Engine::with(1);
    engine.recipe.chunking = Chunking::Lines { max_bytes: 100 };
    engine.set(0, &long(20));
    let names = names(&engine);
    assert!(names.contains(&"leaf-00-09".to_owned()), "{names:?}");
    assert!(names.contains(&"document-00-0-00".to_owned()), "{names:?}");
    assert!(names.contains(&"document-00".to_owned()), "{names:?}");
    engine.build();
    assert_eq!(engine.output("root").status, NodeStatus::Valid);
}

#[test]
fn a_withdrawn_long_document_is_one_leaf() {
    let mut engine = Engine::with(2);
    engine.recipe.chunking = Chunking::Lines { max_bytes: 100 };
    engine.set(1, &long(20));
    engine.withdraw(1);
    let names = names(&engine);
    assert!(names.contains(&"leaf-01".to_owned()) && !names.contains(&"leaf-01-00".to_owned()));
}
