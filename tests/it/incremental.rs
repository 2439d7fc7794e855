//! Whatever is done to a dossier in whatever order: building after every step gives the root that
//! building from nothing gives, and what ran is what the plan said was missing.

use std::collections::BTreeSet;

use dossier::realise::Options;
use dossier::realise::scripted::Scripted;
use dossier::realise::task::Task;
use dossier::recipe::{Choice, Chunking};
use proptest::prelude::*;

use crate::support::engine::{Engine, Meddling, Ran};
use crate::support::text;

/// One thing that is done to a dossier.
#[derive(Clone, Debug)]
enum Edit {
    Add,
    Change { slot: usize, version: u32 },
    Withdraw { slot: usize },
    Restore { slot: usize },
    Revoke { slot: usize },
    Grant { slot: usize },
}

fn edit() -> impl Strategy<Value = Edit> {
    let slot = 0usize..8;
    prop_oneof![
        2 => Just(Edit::Add),
        3 => (slot.clone(), 1u32..4).prop_map(|(slot, version)| Edit::Change { slot, version }),
        2 => slot.clone().prop_map(|slot| Edit::Withdraw { slot }),
        2 => slot.clone().prop_map(|slot| Edit::Restore { slot }),
        1 => slot.clone().prop_map(|slot| Edit::Revoke { slot }),
        1 => slot.prop_map(|slot| Edit::Grant { slot }),
    ]
}

/// How the dossier is summarised: whether the model chooses among few claims, or all are kept; and
/// whether documents are cut.
fn recipe() -> impl Strategy<Value = (Choice, u64, Chunking)> {
    let choice = prop_oneof![Just((Choice::Always, 4)), Just((Choice::Above, 64))];
    let chunking = prop_oneof![
        3 => Just(Chunking::Whole),
        1 => Just(Chunking::Lines { max_bytes: 80 }),
    ];
    (choice, chunking).prop_map(|((choice, most), chunking)| (choice, most, chunking))
}

fn apply(engine: &Engine, edit: &Edit) {
    let documents = engine.dossier().documents.len();
    match *edit {
        Edit::Add => engine.set(documents, &text(documents, 1)),
        Edit::Change { slot, version } => {
            let slot = slot % documents;
            engine.set(slot, &text(slot, version));
        }
        Edit::Withdraw { slot } => engine.withdraw(slot % documents),
        Edit::Restore { slot } => engine.restore(slot % documents),
        Edit::Revoke { slot } => engine.revoke(slot % documents, "owner"),
        Edit::Grant { slot } => engine.grant(slot % documents, "owner"),
    }
}

fn build_what_is_missing(engine: &Engine) -> dossier_store::hash::BlobId {
    let missing: BTreeSet<String> = engine.missing().into_iter().collect();
    let ran = engine.build();
    let worked = ran.worked();
    let names = worked.iter().map(|line| line.split(' ').next().unwrap().to_owned());
    assert_eq!(names.collect::<BTreeSet<_>>(), missing, "what ran was missing");
    assert_eq!(worked.len(), missing.len(), "and each node ran once");
    ran.root_output()
}

/// Builds with a model during whose calls things are done to the dossier: before the call of that
/// number, this edit. Whatever a call is shown must be readable when it is made.
fn build_disturbed(engine: &Engine, edits: &[(u64, Edit)]) -> Ran {
    let mut calls = 0;
    let mut meddle = |task: &Task| {
        let dossier = engine.dossier();
        for evidence in task.offered() {
            let document = dossier.document(evidence.doc_id.as_str()).unwrap();
            assert!(document.readable("owner"), "{} reached a prompt", evidence.doc_id);
        }
        edits.iter().filter(|(call, _)| *call == calls).for_each(|(_, edit)| apply(engine, edit));
        calls += 1;
    };
    let mut model = Meddling { model: Scripted::default(), meddle: &mut meddle };
    engine.build_with(&mut model, Options::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_happens_during_a_build_is_in_its_root_or_makes_it_stale(
        start in 1usize..7,
        (choice, most, chunking) in recipe(),
        edits in prop::collection::vec((0u64..12, edit()), 1..5),
    ) {
        let mut engine = Engine::with(start);
        engine.recipe.schema.choice = choice;
        engine.recipe.schema.reduce_max = most;
        engine.recipe.chunking = chunking;
        let ran = build_disturbed(&engine, &edits);
        // Nothing happened after the last call, so the root is that of the dossier as it is.
        let dossier = engine.dossier();
        prop_assert_eq!(ran.built.root(), engine.graph().root().map(|root| root.id));
        prop_assert_eq!(dossier.publications.len(), 1);
        prop_assert_eq!(Some(dossier.publications[0].1.root()), ran.built.root());
        prop_assert_eq!(engine.missing(), Vec::<String>::new());
        prop_assert_eq!(ran.root_output(), build_what_is_missing(&engine.replayed()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariant_5_incremental_builds_equal_builds_from_nothing(
        start in 1usize..7,
        (choice, most, chunking) in recipe(),
        edits in prop::collection::vec(edit(), 1..6),
    ) {
        let mut engine = Engine::with(start);
        engine.recipe.schema.choice = choice;
        engine.recipe.schema.reduce_max = most;
        engine.recipe.chunking = chunking;
        let mut root = build_what_is_missing(&engine);
        for edit in &edits {
            apply(&engine, edit);
            root = build_what_is_missing(&engine);
        }
        prop_assert_eq!(root, build_what_is_missing(&engine.replayed()));
    }
}
