//! INVALID, PARTIAL, OVER_BUDGET and INELIGIBLE: where they come from, what they keep, and how they
//! show further up.

use dossier::output::NodeStatus;
use dossier::realise::node::Remarks;
use dossier::realise::scripted::Scripted;
use dossier::realise::task::Task;
use dossier::realise::{Fault, Generation, Options, Outcome, Production, Realiser};
use dossier_store::observation::Observation;
use dossier_store::read::Lookup as _;

use crate::support::engine::{Engine, Stubborn, read_blob};

fn answering(slot: usize, text: &str) -> Scripted {
    let answers = vec![(format!("S/d{slot:02}.txt"), text.to_owned())];
    Scripted { answers, ..Scripted::default() }
}

fn first_observation(engine: &Engine, name: &str) -> Observation {
    let graph = engine.graph();
    let reader = engine.store.read().unwrap();
    let id = graph.node(graph.find(name).unwrap()).id;
    let observations = reader.observations(id).unwrap();
    reader.observation(observations[0]).unwrap().unwrap()
}

#[test]
fn an_invalid_answer_is_kept_whole_and_makes_its_ancestors_partial() {
    let engine = Engine::with(12);
    let raw = "Sure! {\"claims\":[]}";
    let built = engine.build_with(&mut answering(3, raw), Options::default()).unwrap();
    assert_eq!(engine.output("leaf-03").status, NodeStatus::Invalid);
    assert_eq!(engine.output("leaf-03").claims, []);
    assert_eq!(engine.output("reduce-00").status, NodeStatus::Partial);
    assert_eq!(engine.output("reduce-01").status, NodeStatus::Valid);
    assert_eq!(engine.output("root").status, NodeStatus::Partial);
    let report = built.built.nodes[3].as_ref().unwrap();
    assert_eq!(report.outcome, Outcome::Generated);
    assert_eq!(report.diagnostic.as_deref(), Some("json_syntax"));

    let observation = first_observation(&engine, "leaf-03");
    let reader = engine.store.read().unwrap();
    assert_eq!(read_blob(&reader, observation.raw.unwrap()), raw.as_bytes());
    let remarks: Remarks = dossier_store::codec::decode(&observation.run.detail).unwrap();
    assert_eq!(remarks.diagnostic.as_deref(), Some("json_syntax"));
    assert_eq!(engine.build().log, [""; 0], "an INVALID answer is a result and is not asked again");
}

#[test]
fn evidence_that_was_not_offered_is_refused() {
    let engine = Engine::with(1);
    let answer = r#"{"claims":[{"subject":"s","field":"status","value":"v","evidence":["L99"]}]}"#;
    let built = engine.build_with(&mut answering(0, answer), Options::default()).unwrap();
    let report = built.built.nodes[0].as_ref().unwrap();
    assert_eq!(report.status, NodeStatus::Invalid);
    assert_eq!(report.diagnostic.as_deref(), Some("evidence_outside_inputs"));
}

#[test]
fn repairs_are_recorded() {
    let engine = Engine::with(1);
    let answer = " \n```json\n{\"claims\":[]}\n``` ";
    let built = engine.build_with(&mut answering(0, answer), Options::default()).unwrap();
    assert_eq!(built.built.nodes[0].as_ref().unwrap().status, NodeStatus::Valid);
    let remarks: Remarks =
        dossier_store::codec::decode(&first_observation(&engine, "leaf-00").run.detail).unwrap();
    assert_eq!(remarks.repairs, ["strip_outer_whitespace", "remove_single_complete_json_fence"]);
}

#[test]
fn a_prompt_over_budget_calls_no_model_and_makes_its_ancestors_partial() {
    let mut engine = Engine::with(4);
    engine.recipe.budgets.map_input = 30;
    engine.set(2, &"Product P-10-02 status: a very long value.\n".repeat(9));
    let mut model = Scripted::default();
    let built = engine.build_with(&mut model, Options::default()).unwrap();
    assert_eq!(engine.output("leaf-02").status, NodeStatus::OverBudget);
    assert_eq!(engine.output("root").status, NodeStatus::Partial);
    assert_eq!(built.counts(), [0, 0, 4, 1]);
    assert_eq!(model.calls, 4);
    let diagnostic = built.built.nodes[2].as_ref().unwrap().diagnostic.clone();
    assert!(diagnostic.unwrap().starts_with("over_budget: "));
}

#[test]
fn a_child_that_is_ineligible_alone_makes_nothing_partial() {
    let engine = Engine::with(4);
    engine.withdraw(1);
    engine.build();
    assert_eq!(engine.output("leaf-01").status, NodeStatus::Ineligible);
    assert_eq!(engine.output("root").status, NodeStatus::Valid);
}

#[test]
fn a_dossier_whose_documents_are_all_withdrawn_is_ineligible_without_a_call() {
    let engine = Engine::with(5);
    (0..5).for_each(|slot| engine.withdraw(slot));
    let mut model = Scripted::default();
    let built = engine.build_with(&mut model, Options::default()).unwrap();
    assert_eq!((model.calls, built.counts()), (0, [0, 0, 0, 8]));
    assert_eq!(engine.output("root").status, NodeStatus::Ineligible);
}

#[test]
fn an_invalid_root_over_partial_children_is_invalid() {
    let engine = Engine::with(4);
    let mut model = Stubborn { model: answering(0, "nonsense"), reduce: "{\"claims\":{}}" };
    engine.build_with(&mut model, Options::default()).unwrap();
    assert_eq!(engine.output("root").status, NodeStatus::Invalid);
    assert_eq!(engine.output("root").claims, []);
}

#[test]
fn an_answer_that_was_cut_short_is_invalid_although_it_reads_well() {
    struct Short;
    impl Realiser for Short {
        fn realise(&mut self, _: &Task) -> Result<Production, Fault> {
            let text = "{\"claims\":[]}".to_owned();
            Ok(Production::Generated(Generation {
                text,
                finish: "length".into(),
                ..Default::default()
            }))
        }
    }
    let engine = Engine::with(1);
    let built = engine.build_with(&mut Short, Options::default()).unwrap();
    let report = built.built.nodes[0].as_ref().unwrap();
    assert_eq!(report.diagnostic.as_deref(), Some("truncated"));
    assert_eq!(report.status, NodeStatus::Invalid);
}

#[test]
fn a_root_over_budget_has_no_claims() {
    let mut engine = Engine::with(5);
    engine.recipe.budgets.reduce_input = 3;
    let mut model = Scripted::default();
    engine.build_with(&mut model, Options::default()).unwrap();
    assert_eq!(engine.output("reduce-00").status, NodeStatus::OverBudget);
    // Of the two groups, the one with a single child is copied; its claims are too many again.
    assert_eq!(engine.output("reduce-01").status, NodeStatus::Valid);
    assert_eq!(engine.output("root").status, NodeStatus::OverBudget);
    assert_eq!(model.calls, 5);
}
