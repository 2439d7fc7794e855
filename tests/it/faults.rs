//! A fault is never a result: nothing of the node is stored, what is finished is kept, and the next
//! build goes on as if nothing had happened.

use dossier::realise::scripted::Scripted;
use dossier::realise::task::{Task, Work};
use dossier::realise::{OnFault, Options};
use dossier_store::read::Lookup as _;

use crate::support::engine::{Engine, Meddling, append_to, document, revoked};

fn failing(slot: usize) -> Scripted {
    Scripted { faults: [format!("S/d{slot:02}.txt")].into(), ..Scripted::default() }
}

#[test]
fn a_fault_stores_nothing_and_the_next_build_completes() {
    let engine = Engine::with(12);
    let faulty = engine.build_with(&mut failing(6), Options::default()).unwrap();
    let named: Vec<_> = faulty.built.faults.iter().map(|fault| fault.node.as_str()).collect();
    assert_eq!(named, ["leaf-06"]);
    // Nodes run in the graph's order, so the six leaves before it are done.
    assert_eq!(faulty.counts(), [0, 0, 6, 0]);
    assert!(faulty.built.root_report().is_none());
    assert!(engine.dossier().publications.is_empty());
    let graph = engine.graph();
    let reader = engine.store.read().unwrap();
    let leaf = graph.node(graph.find("leaf-06").unwrap()).id;
    assert_eq!(reader.realisation(leaf).unwrap(), None);
    assert_eq!(reader.observations(leaf).unwrap(), []);

    let completed = engine.build();
    assert_eq!(completed.counts(), [6, 0, 10, 0]);
    assert_eq!(completed.root_output(), Engine::with(12).build().root_output());
}

#[test]
fn keep_going_realises_what_does_not_depend_on_the_fault() {
    let engine = Engine::with(12);
    let options = Options { on_fault: OnFault::KeepGoing, ..Options::default() };
    let faulty = engine.build_with(&mut failing(6), options).unwrap();
    assert_eq!(faulty.built.faults.len(), 1);
    assert_eq!(faulty.counts(), [0, 0, 13, 0], "11 leaves and the two reduces beside it");
    assert_eq!(engine.missing(), ["leaf-06", "reduce-01", "root"]);
    assert!(engine.dossier().publications.is_empty());
    let completed = engine.build();
    assert_eq!(completed.counts(), [13, 0, 3, 0]);
    assert_eq!(completed.root_output(), Engine::with(12).build().root_output());
}

#[test]
fn two_faults_are_both_reported_when_going_on() {
    let engine = Engine::with(8);
    let mut model = failing(1);
    model.faults.insert("S/d06.txt".into());
    let options = Options { on_fault: OnFault::KeepGoing, ..Options::default() };
    let faulty = engine.build_with(&mut model, options).unwrap();
    let named: Vec<_> = faulty.built.faults.iter().map(|fault| fault.node.as_str()).collect();
    assert_eq!(named, ["leaf-01", "leaf-06"]);
}

#[test]
fn a_fault_that_a_new_plan_does_without_is_no_fault() {
    let engine = Engine::with(4);
    let other = engine.second_handle();
    let mut once = true;
    let mut meddle = |task: &Task| {
        let is_third =
            matches!(&task.work, Work::Leaf(leaf) if leaf.document.as_str() == document(2));
        if is_third && std::mem::take(&mut once) {
            append_to(&other, &revoked(1, "owner"));
        }
    };
    let mut model = Meddling { model: failing(1), meddle: &mut meddle };
    let options = Options { on_fault: OnFault::KeepGoing, ..Options::default() };
    let ran = engine.build_with(&mut model, options).unwrap();
    assert_eq!(ran.built.faults.len(), 0, "its document is revoked and is asked of nobody");
    assert_eq!(ran.log.last().map(String::as_str), Some("published"));
}

#[test]
fn a_fault_that_comes_again_after_a_new_plan_is_reported_once() {
    let engine = Engine::with(4);
    let other = engine.second_handle();
    let mut once = true;
    let mut meddle = |task: &Task| {
        let is_third =
            matches!(&task.work, Work::Leaf(leaf) if leaf.document.as_str() == document(2));
        if is_third && std::mem::take(&mut once) {
            append_to(&other, &revoked(3, "owner"));
        }
    };
    let mut model = Meddling { model: failing(1), meddle: &mut meddle };
    let options = Options { on_fault: OnFault::KeepGoing, ..Options::default() };
    let ran = engine.build_with(&mut model, options).unwrap();
    assert_eq!(ran.built.faults.len(), 1);
    assert!(engine.dossier().publications.is_empty());
}
