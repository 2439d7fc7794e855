//! A second run replaces nothing: its outputs are kept beside the first, and a difference is
//! reported.

use dossier::realise::scripted::Scripted;
use dossier::realise::{Options, Reuse};
use dossier::recipe::Level;
use dossier_store::hash::BlobId;
use dossier_store::read::Lookup as _;

use crate::support::engine::Engine;

fn again(reuse: Reuse) -> Options {
    Options { reuse, ..Options::default() }
}

fn changed_mind() -> Scripted {
    let answers = vec![("S/d01.txt".to_owned(), r#"{"claims":[]}"#.to_owned())];
    Scripted { answers, ..Scripted::default() }
}

fn observed(engine: &Engine, name: &str) -> Vec<BlobId> {
    let graph = engine.graph();
    let reader = engine.store.read().unwrap();
    let id = graph.node(graph.find(name).unwrap()).id;
    let observations = reader.observations(id).unwrap();
    observations.iter().map(|id| reader.observation(*id).unwrap().unwrap().output).collect()
}

#[test]
fn a_full_run_that_comes_out_the_same_reports_no_difference() {
    let engine = Engine::with(12);
    let first = engine.build();
    let mut model = Scripted::default();
    let second = engine.build_with(&mut model, again(Reuse::Nothing)).unwrap();
    assert_eq!((model.calls, second.counts()), (16, [0, 0, 16, 0]));
    assert_eq!(second.built.differences, []);
    assert_eq!(second.root_output(), first.root_output());
    assert_eq!(observed(&engine, "root"), [first.root_output(), first.root_output()]);
    assert_eq!(engine.dossier().publications.len(), 1);
}

#[test]
fn a_realiser_that_changes_its_mind_is_reported_and_replaces_nothing() {
    let engine = Engine::with(4);
    let first = engine.build();
    let before = engine.output("leaf-01");
    let second = engine.build_with(&mut changed_mind(), again(Reuse::Nothing)).unwrap();
    let different: Vec<_> = second.built.differences.iter().map(|d| d.node.as_str()).collect();
    // The root keeps the first four claims, which are those of leaf-00.
    assert_eq!(different, ["leaf-01"]);
    assert_eq!(engine.output("leaf-01"), before);
    let outputs = observed(&engine, "leaf-01");
    let difference = &second.built.differences[0];
    assert_eq!(outputs, [difference.first, difference.second]);
    assert_ne!(difference.first, difference.second);
    assert_eq!(engine.build().root_output(), first.root_output());
}

#[test]
fn leaves_alone_can_be_run_again() {
    let engine = Engine::with(4);
    engine.build();
    let mut model = changed_mind();
    let second = engine.build_with(&mut model, again(Reuse::NothingAt(Level::Leaf))).unwrap();
    assert_eq!((model.calls, second.counts()), (4, [1, 0, 4, 0]));
    assert_eq!(second.built.differences.len(), 1);
    let mut model = Scripted::default();
    let third = engine.build_with(&mut model, again(Reuse::NothingAt(Level::Reduce))).unwrap();
    assert_eq!((model.calls, third.counts()), (1, [4, 0, 1, 0]));
    assert_eq!(third.built.differences, []);
}

#[test]
fn a_full_run_in_an_empty_store_is_the_first_run() {
    let engine = Engine::with(4);
    let first = engine.build_with(&mut Scripted::default(), again(Reuse::Nothing)).unwrap();
    assert_eq!(first.counts(), [0, 0, 5, 0]);
    assert_eq!(first.root_output(), Engine::with(4).build().root_output());
    assert_eq!(engine.build().log, [""; 0]);
}

#[test]
fn a_publication_names_the_output_that_stands() {
    // The root of before comes back by a restore, and is published by a run that does its own work.
    let engine = Engine::with(1);
    let first = engine.build();
    engine.withdraw(0);
    engine.build();
    engine.restore(0);
    let answers = vec![("S/d00.txt".to_owned(), r#"{"claims":[]}"#.to_owned())];
    let mut model = Scripted { answers, ..Scripted::default() };
    let second = engine.build_with(&mut model, again(Reuse::Nothing)).unwrap();
    assert_ne!(second.root_output(), first.root_output());
    let dossier = engine.dossier();
    let (_, published) = dossier.publications.last().unwrap();
    assert_eq!(Some(published.root()), first.built.root());
    assert_eq!(published.output(), first.root_output());
}

#[test]
fn a_root_that_could_not_be_realised_is_not_published() {
    let engine = Engine::with(4);
    let options = Options { max_calls: Some(4), ..Options::default() };
    engine.build_with(&mut Scripted::default(), options).unwrap();
    // The root's inputs are now those of this run, and no first root stands beside which its
    // result could be kept.
    engine.build_with(&mut changed_mind(), again(Reuse::Nothing)).unwrap();
    for (_, published) in engine.dossier().publications {
        let reader = engine.store.read().unwrap();
        let realised = reader.realisation(published.root()).unwrap();
        assert_eq!(realised.map(|realised| realised.output), Some(published.output()));
    }
    let next = engine.build();
    assert_eq!(next.counts(), [4, 0, 1, 0]);
    assert_eq!(next.log.last().map(String::as_str), Some("published"));
}
