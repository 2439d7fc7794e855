//! Rights: each principal has a tree of its own, and what is lost while a build runs is noticed
//! before anything of it is stored.

use std::cell::RefCell;

use dossier::output::NodeStatus;
use dossier::realise::scripted::Scripted;
use dossier::realise::task::{Task, Work};
use dossier::realise::{Options, Progress};
use dossier_store::read::Lookup as _;

use crate::support::engine::{Engine, Meddling, append_to, document, revoked};
use crate::support::text;

fn is_leaf_of(task: &Task, slot: usize) -> bool {
    matches!(&task.work, Work::Leaf(leaf) if leaf.document.as_str() == document(slot))
}

#[test]
fn a_revocation_for_one_principal_leaves_the_other_untouched() {
    let mut engine = Engine::with(12);
    let owner = engine.build();
    engine.principal = "guest".into();
    let guest = engine.build();
    assert_eq!(guest.counts(), [0, 0, 16, 0], "results are never shared across principals");
    engine.revoke(8, "guest");
    let revoked = engine.build();
    assert_eq!(revoked.counts(), [13, 0, 2, 1]);
    assert_eq!(engine.output("leaf-08").status, NodeStatus::Ineligible);
    engine.principal = "owner".into();
    let untouched = engine.build();
    assert_eq!((untouched.counts(), untouched.log.len()), ([16, 0, 0, 0], 0));
    assert_eq!(untouched.built.root(), owner.built.root());
}

#[test]
fn access_that_was_revoked_and_granted_again_is_another_revision() {
    let engine = Engine::with(4);
    engine.build();
    engine.revoke(0, "owner");
    engine.grant(0, "owner");
    let granted = engine.build();
    // The leaf's source is at access revision 3, and its resolved derivation is new with it.
    assert_eq!(granted.worked()[0], "leaf-00 generated VALID");
    assert_eq!(engine.dossier().documents[0].access_revision("owner"), 3);
}

#[test]
fn a_document_revoked_during_its_own_call_is_not_committed() {
    let engine = Engine::with(12);
    let other = engine.second_handle();
    let mut once = true;
    let mut meddle = |task: &Task| {
        if is_leaf_of(task, 3) && std::mem::take(&mut once) {
            append_to(&other, &revoked(3, "owner"));
        }
    };
    let before = engine.graph();
    let mut model = Meddling { model: Scripted::default(), meddle: &mut meddle };
    let ran = engine.build_with(&mut model, Options::default()).unwrap();
    let lost = before.node(before.find("leaf-03").unwrap()).id;
    let reader = engine.store.read().unwrap();
    assert_eq!(reader.realisation(lost).unwrap(), None, "nothing of it is stored");
    assert_eq!(reader.observations(lost).unwrap(), []);
    assert_eq!(reader.derivation(lost).unwrap(), None);
    // The three leaves before it are kept, and the build went on with the dossier as it is.
    assert_eq!(
        &ran.worked()[..5],
        [
            "leaf-00 generated VALID",
            "leaf-01 generated VALID",
            "leaf-02 generated VALID",
            "replanned",
            "leaf-03 settled INELIGIBLE",
        ]
    );
    assert_eq!(ran.counts(), [0, 0, 15, 1]);
    assert_eq!(model.model.calls, 16, "one of the calls was for nothing");
    assert_eq!(ran.log.last().map(String::as_str), Some("published"));
    let published = &engine.dossier().publications;
    assert_eq!(published.len(), 1);
    assert_eq!(Some(published[0].1.root()), engine.graph().root().map(|root| root.id));
}

#[test]
fn a_document_revoked_before_its_turn_reaches_no_prompt() {
    let engine = Engine::with(12);
    let other = engine.second_handle();
    let seen = RefCell::new(Vec::new());
    let mut meddle = |task: &Task| {
        if is_leaf_of(task, 2) && seen.borrow().iter().all(|id| *id != document(2)) {
            append_to(&other, &revoked(7, "owner"));
        }
        if let Work::Leaf(leaf) = &task.work {
            seen.borrow_mut().push(leaf.document.as_str().to_owned());
        }
    };
    let mut model = Meddling { model: Scripted::default(), meddle: &mut meddle };
    engine.build_with(&mut model, Options::default()).unwrap();
    let seen = seen.into_inner();
    assert!(!seen.contains(&document(7)), "{seen:?}");
    assert_eq!(seen.len(), 11, "each other leaf was asked once: {seen:?}");
}

#[test]
fn a_reduce_above_a_document_revoked_meanwhile_is_not_committed() {
    let engine = Engine::with(12);
    let other = engine.second_handle();
    let before = engine.graph();
    let mut once = true;
    let mut meddle = |task: &Task| {
        if matches!(task.work, Work::Reduce(_)) && std::mem::take(&mut once) {
            append_to(&other, &revoked(1, "owner"));
        }
    };
    let mut model = Meddling { model: Scripted::default(), meddle: &mut meddle };
    let ran = engine.build_with(&mut model, Options::default()).unwrap();
    let reader = engine.store.read().unwrap();
    let lost = before.node(before.find("reduce-00").unwrap()).id;
    assert_eq!(reader.realisation(lost).unwrap(), None);
    assert_eq!(ran.built.root(), engine.graph().root().map(|root| root.id));
    let cites_it = |name: &str| {
        let claims = engine.output(name).claims;
        let mut evidence = claims.iter().flat_map(|claim| &claim.evidence);
        evidence.any(|evidence| evidence.doc_id.as_str() == document(1))
    };
    assert!(!cites_it("reduce-00") && !cites_it("root"));
}

#[test]
fn a_document_withdrawn_while_others_are_built_is_noticed() {
    let engine = Engine::with(4);
    let other = engine.second_handle();
    let mut once = true;
    let mut watch = |progress: &Progress<'_>| {
        if matches!(progress, Progress::Finished { .. }) && std::mem::take(&mut once) {
            let event = dossier::event::Event::Withdrawn {
                document: document(3),
                by: dossier::event::Author::User,
            };
            append_to(&other, &event);
        }
    };
    let mut model = Scripted::default();
    let ran = engine.build_watched(&mut model, Options::default(), &mut watch).unwrap();
    assert!(ran.log.contains(&"replanned".to_owned()));
    assert!(ran.worked().contains(&"leaf-03 settled INELIGIBLE"), "{:?}", ran.log);
    assert_eq!(engine.build().log, [""; 0]);
}

#[test]
fn a_change_during_the_last_node_is_not_published_over() {
    let engine = Engine::with(4);
    let other = engine.second_handle();
    let mut once = true;
    // The root's commit is told before the publication.
    let mut watch = |progress: &Progress<'_>| {
        if let Progress::Finished { node, .. } = progress
            && node.name == "root"
            && std::mem::take(&mut once)
        {
            append_to(&other, &revoked(0, "owner"));
        }
    };
    let mut model = Scripted::default();
    let ran = engine.build_watched(&mut model, Options::default(), &mut watch).unwrap();
    let dossier = engine.dossier();
    assert_eq!(dossier.publications.len(), 1, "the root of before was never published");
    let (_, published) = &dossier.publications[0];
    assert_eq!(published.event, dossier.as_of.event);
    assert_eq!(Some(published.root()), ran.built.root());
    assert_eq!(Some(published.root()), engine.graph().root().map(|root| root.id));
    assert_eq!(engine.output("leaf-00").status, NodeStatus::Ineligible);
}

#[test]
fn a_new_version_during_a_build_keeps_what_is_finished() {
    let engine = Engine::with(8);
    let reader = engine.second_handle();
    let mut once = true;
    let mut watch = |progress: &Progress<'_>| {
        if let Progress::Finished { node, .. } = progress
            && node.name == "leaf-06"
            && std::mem::take(&mut once)
        {
            engine.set(2, &text(2, 2));
        }
    };
    let mut model = Scripted::default();
    let ran = engine.build_watched(&mut model, Options::default(), &mut watch).unwrap();
    drop(reader);
    assert_eq!(model.calls, 12, "8 leaves, one of them twice, and 3 reduces");
    assert_eq!(ran.counts(), [0, 0, 11, 0]);
    let fresh = Engine::with(8);
    fresh.set(2, &text(2, 2));
    assert_eq!(ran.root_output(), fresh.build().root_output());
}
