//! What runs and what does not, from the log of each build: a build with nothing to do tells
//! nothing, and a change runs the nodes above it alone.

use std::sync::atomic::Ordering;

use dossier::realise::scripted::Scripted;
use dossier::realise::{CutOff, Options, Progress, Stopped};

use crate::support::engine::Engine;
use crate::support::text;

#[test]
fn twelve_documents_are_sixteen_generations_and_then_nothing() {
    let engine = Engine::with(12);
    let first = engine.build();
    assert_eq!(first.counts(), [0, 0, 16, 0]);
    assert_eq!(first.worked().last(), Some(&"root generated VALID"));
    assert_eq!(first.log.last().map(String::as_str), Some("published"));
    let again = engine.build();
    assert_eq!(again.counts(), [16, 0, 0, 0]);
    assert_eq!(again.log, [""; 0]);
    assert_eq!(again.built.new_tokens, 0);
    assert_eq!(again.root_output(), first.root_output());
}

#[test]
fn a_changed_document_runs_its_leaf_and_its_ancestors() {
    let engine = Engine::with(12);
    engine.build();
    engine.set(4, &text(4, 2));
    let changed = engine.build();
    assert_eq!(changed.counts(), [13, 0, 3, 0]);
    assert_eq!(
        changed.log,
        [
            "started leaf-04",
            "leaf-04 generated VALID",
            "started reduce-01",
            "reduce-01 generated VALID",
            "started root",
            "root generated VALID",
            "published",
        ]
    );
}

#[test]
fn a_reduce_that_comes_out_the_same_cuts_the_root_off() {
    let engine = Engine::with(12);
    engine.build();
    // The reduce keeps the first four claims, which are those of leaf-04.
    engine.set(5, &text(5, 2));
    let changed = engine.build();
    assert_eq!(
        changed.worked(),
        ["leaf-05 generated VALID", "reduce-01 generated VALID", "root cut_off VALID"]
    );
}

#[test]
fn a_withdrawn_document_settles_its_leaf_without_the_model() {
    let engine = Engine::with(12);
    engine.build();
    engine.withdraw(4);
    let withdrawn = engine.build();
    assert_eq!(withdrawn.counts(), [13, 0, 2, 1]);
    assert_eq!(
        withdrawn.worked(),
        ["leaf-04 settled INELIGIBLE", "reduce-01 generated VALID", "root generated VALID"]
    );
}

#[test]
fn a_restored_document_is_published_again_without_any_work() {
    let engine = Engine::with(12);
    let first = engine.build();
    engine.withdraw(4);
    engine.build();
    engine.restore(4);
    let restored = engine.build();
    assert_eq!(restored.counts(), [16, 0, 0, 0]);
    assert_eq!(restored.log, ["published"]);
    assert_eq!(restored.built.root(), first.built.root());
    let published: Vec<_> = engine.dossier().publications.iter().map(|(_, p)| p.root()).collect();
    assert_eq!(published.len(), 3);
    assert_eq!((published[0], published[2]), (first.built.root().unwrap(), published[0]));
}

/// Changes the prose of the first document and none of its facts, so that the claims cite other
/// characters of another version; a scripted answer of no claim makes the leaf come out the same.
fn silenced() -> Scripted {
    let answers = vec![("S/d00.txt".to_owned(), r#"{"claims":[]}"#.to_owned())];
    Scripted { answers, ..Scripted::default() }
}

#[test]
fn a_leaf_that_comes_out_the_same_cuts_its_parents_off() {
    let engine = Engine::with(12);
    engine.build_with(&mut silenced(), Options::default()).unwrap();
    engine.set(0, &text(0, 2));
    let changed = engine.build_with(&mut silenced(), Options::default()).unwrap();
    assert_eq!(changed.counts(), [13, 2, 1, 0]);
    assert_eq!(
        changed.worked(),
        ["leaf-00 generated VALID", "reduce-00 cut_off VALID", "root cut_off VALID"]
    );
    assert_eq!(engine.build().log, [""; 0], "a cut-off node is realised");
}

#[test]
fn without_cut_off_every_new_derivation_does_its_work() {
    let engine = Engine::with(12);
    engine.build_with(&mut silenced(), Options::default()).unwrap();
    engine.set(0, &text(0, 2));
    let options = Options { cut_off: CutOff::Never, ..Options::default() };
    let changed = engine.build_with(&mut silenced(), options).unwrap();
    assert_eq!(changed.counts(), [13, 0, 3, 0]);
}

#[test]
fn a_limit_of_calls_stops_and_a_later_build_resumes() {
    let engine = Engine::with(12);
    let undisturbed = Engine::with(12).build();
    let options = Options { max_calls: Some(5), ..Options::default() };
    let mut model = Scripted::default();
    let stopped = engine.build_with(&mut model, options).unwrap();
    assert_eq!((model.calls, stopped.built.stopped), (5, Some(Stopped::CallLimit)));
    assert!(stopped.built.root_report().is_none());
    assert!(engine.dossier().publications.is_empty());
    let resumed = engine.build();
    assert_eq!(resumed.counts(), [5, 0, 11, 0]);
    assert_eq!(resumed.root_output(), undisturbed.root_output());
}

#[test]
fn a_limit_of_tokens_stops_too() {
    let engine = Engine::with(4);
    let options = Options { max_tokens: Some(1), ..Options::default() };
    let stopped = engine.build_with(&mut Scripted::default(), options).unwrap();
    assert_eq!(stopped.built.stopped, Some(Stopped::TokenLimit));
    assert_eq!(stopped.counts(), [0, 0, 1, 0]);
}

#[test]
fn a_limit_of_no_call_starts_nothing() {
    let engine = Engine::with(4);
    let limited = Options { max_calls: Some(0), ..Options::default() };
    let stopped = engine.build_with(&mut Scripted::default(), limited).unwrap();
    assert_eq!(stopped.log, [""; 0]);
    assert_eq!(stopped.counts(), [0, 0, 0, 0]);
}

#[test]
fn an_interrupted_build_keeps_what_is_finished() {
    let engine = Engine::with(12);
    let mut watch = |progress: &Progress<'_>| {
        if let Progress::Finished { node, .. } = progress {
            engine.cancel.store(node.name == "leaf-04", Ordering::Relaxed);
        }
    };
    let mut model = Scripted::default();
    let stopped = engine.build_watched(&mut model, Options::default(), &mut watch).unwrap();
    assert_eq!((model.calls, stopped.built.stopped), (5, Some(Stopped::Interrupted)));
    assert!(engine.dossier().publications.is_empty());
    engine.cancel.store(false, Ordering::Relaxed);
    assert_eq!(engine.build().counts(), [5, 0, 11, 0]);
}
