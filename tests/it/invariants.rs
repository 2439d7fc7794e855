//! The invariants of ARCHITECTURE.md that have no other home. The third is in `damage`, the fourth
//! in `keys`, the fifth in `incremental`, the sixth in `tidy`.

use std::collections::{BTreeMap, BTreeSet};

use dossier::edges;
use dossier::event::{PUBLICATION, Publication};
use dossier::output::{NodeStatus, Output};
use dossier::realise::scripted::Scripted;
use dossier::realise::{Options, Progress, Reuse};
use dossier::support::{Support, support};
use dossier_store::derivation::Source;
use dossier_store::hash::{BlobId, DerivationId};
use dossier_store::read::{Lookup, Reader};
use dossier_store::realisation::{How, INPUT_OF};
use dossier_store::{Access, Options as StoreOptions, Store};

use crate::support::engine::{Engine, NAME, read_blob};
use crate::support::program::Program;
use crate::support::{files, text};

/// Everything that a store was seen to hold, by name.
#[derive(Default)]
struct Seen(BTreeMap<String, Vec<u8>>);

impl Seen {
    /// Looks at everything that is known now; what was seen before must still be as it was.
    fn look(&mut self, engine: &Engine, derivations: &mut BTreeSet<DerivationId>) {
        derivations.extend(engine.graph().nodes().map(|(_, node)| node.id));
        let reader = engine.store.read().unwrap();
        let mut now = BTreeMap::new();
        for record in reader.records(NAME).unwrap() {
            now.insert(format!("record {}", record.sequence), record.id.0.to_vec());
        }
        for id in derivations.iter() {
            self::holdings(&reader, *id, &mut now);
        }
        for (name, bytes) in &self.0 {
            assert_eq!(now.get(name), Some(bytes), "{name} is gone or changed");
        }
        self.0 = now;
    }
}

fn holdings(reader: &Reader, id: DerivationId, now: &mut BTreeMap<String, Vec<u8>>) {
    let Some(realisation) = reader.realisation(id).unwrap() else { return };
    now.insert(format!("realisation {id}"), format!("{realisation:?}").into_bytes());
    now.insert(format!("preimage {id}"), reader.derivation(id).unwrap().unwrap().encode());
    now.insert(format!("output {id}"), read_blob(reader, realisation.output));
    let resolved = reader.resolved(realisation.resolved).unwrap().unwrap();
    now.insert(format!("resolved {id}"), format!("{resolved:?}").into_bytes());
    for (number, observation) in reader.observations(id).unwrap().into_iter().enumerate() {
        let observation = reader.observation(observation).unwrap().unwrap();
        now.insert(format!("observation {id} {number}"), format!("{observation:?}").into_bytes());
        now.insert(format!("observed {id} {number}"), read_blob(reader, observation.output));
        if let Some(raw) = observation.raw {
            now.insert(format!("raw {id} {number}"), read_blob(reader, raw));
        }
    }
    for relation in [INPUT_OF, edges::CLAIM_OF] {
        for edge in reader.edges(relation, &id.0).unwrap() {
            now.insert(format!("edge {id} {relation} {:?}", edge.to), edge.detail);
        }
    }
}

#[test]
fn invariant_1_nothing_deletes_or_overwrites() {
    let mut engine = Engine::with(6);
    let (mut seen, mut derivations) = (Seen::default(), BTreeSet::new());
    let full = Options { reuse: Reuse::Nothing, ..Options::default() };
    let steps: [&dyn Fn(&mut Engine); 8] = [
        &|engine| drop(engine.build()),
        &|engine| engine.set(2, &text(2, 2)),
        &|engine| engine.withdraw(3),
        &|engine| engine.restore(3),
        &|engine| engine.revoke(1, "owner"),
        &|engine| engine.grant(1, "owner"),
        &|engine| engine.principal = "guest".into(),
        &|engine| engine.recipe.schema.leaf_max = 2,
    ];
    for step in steps {
        step(&mut engine);
        engine.build();
        seen.look(&engine, &mut derivations);
        let answers = vec![("S/d00.txt".to_owned(), r#"{"claims":[]}"#.to_owned())];
        let mut other = Scripted { answers, ..Scripted::default() };
        engine.build_with(&mut other, full).unwrap();
        seen.look(&engine, &mut derivations);
    }
    assert!(seen.0.len() > 300, "{}", seen.0.len());
}

/// What is committed with a node, as another process sees it the moment its line is told.
fn assert_whole(reader: &Reader, id: DerivationId) {
    let derivation = reader.derivation(id).unwrap().expect("because the preimage is committed");
    let realisation = reader.realisation(id).unwrap().expect("because it is realised");
    let output = Output::decode(&read_blob(reader, realisation.output)).unwrap();
    assert_eq!(NodeStatus::from_code(realisation.status), Some(output.status));
    let observations = reader.observations(id).unwrap();
    assert_eq!(observations.is_empty(), realisation.how == How::CutOff);
    for observation in observations {
        let observation = reader.observation(observation).unwrap().unwrap();
        assert_eq!(observation.output, realisation.output);
        assert_eq!(observation.raw.is_some(), realisation.how == How::Generated);
    }
    for input in derivation.inputs {
        let from = match input.source {
            Source::Blob(id) => id.0,
            Source::Derivation(id) => id.0,
        };
        let users = reader.edges(INPUT_OF, &from).unwrap();
        assert!(users.iter().any(|edge| edge.to == id.0), "the input knows its user");
        if let Source::Blob(blob) = input.source {
            assert!(reader.blob(blob).unwrap().is_some(), "the input itself is there");
        }
    }
    // Claims arise in leaves, and anew in a cut-off node that takes an output over.
    let arose_here = derivation.arguments.contains_key("source") || realisation.how == How::CutOff;
    for claim in output.claims.iter().filter(|_| arose_here) {
        let arose = reader.edges(edges::CLAIM_OF, &claim.id().0).unwrap();
        assert!(arose.iter().any(|edge| edge.to == id.0), "the claim knows where it arose");
        let made = reader.edges(edges::MADE_BY, &claim.statement.id().0).unwrap();
        assert!(made.iter().any(|edge| edge.to == claim.id().0));
        let document = claim.evidence[0].doc_id.as_str();
        let cited = reader.edges(edges::CITED_BY, &edges::DocumentKey::of(document.as_bytes()).0);
        assert!(cited.unwrap().iter().any(|edge| edge.to == claim.id().0));
    }
}

#[test]
fn invariant_2_a_node_is_committed_whole_before_it_is_told_of() {
    let engine = Engine::with(12);
    let other = engine.second_handle();
    let mut told = 0;
    let mut silenced = || {
        let answers = vec![("S/d00.txt".to_owned(), r#"{"claims":[]}"#.to_owned())];
        let mut model = Scripted { answers, ..Scripted::default() };
        let mut watch = |progress: &Progress<'_>| {
            let Progress::Finished { node, .. } = progress else { return };
            assert_whole(&other.read().unwrap(), node.id);
            told += 1;
        };
        engine.build_watched(&mut model, Options::default(), &mut watch).unwrap()
    };
    silenced();
    engine.withdraw(5);
    engine.set(0, &text(0, 2));
    let second = silenced();
    assert!(second.built.counts.cut_off > 0 && second.built.counts.settled > 0);
    assert_eq!(told, 16 + second.built.counts.recomputed());
}

/// The ids of all blobs that a derivation's result came from.
fn closure(reader: &Reader, root: DerivationId) -> BTreeSet<BlobId> {
    let (mut blobs, mut open) = (BTreeSet::new(), vec![root]);
    while let Some(id) = open.pop() {
        blobs.insert(reader.realisation(id).unwrap().unwrap().output);
        let derivation = reader.derivation(id).unwrap().unwrap();
        for input in derivation.inputs {
            match input.source {
                Source::Blob(blob) => drop(blobs.insert(blob)),
                Source::Derivation(child) => open.push(child),
            }
        }
        for observation in reader.observations(id).unwrap() {
            blobs.extend(reader.observation(observation).unwrap().unwrap().raw);
        }
    }
    blobs
}

#[test]
fn invariant_7_no_label_is_reachable_from_a_claim() {
    let program = Program::new();
    program.ok("experiment generate world --dossiers S-010 --gold labels");
    program.ok("init --kind controlled");
    program.ok("import world/documents/S-010");
    program.ok("build");
    let options = StoreOptions::default();
    let store = Store::open(&program.store_file(), Access::ReadOnly, &options, |_| {}).unwrap();
    let reader = store.read().unwrap();
    let mut reached = BTreeSet::new();
    for record in reader.records("S-010").unwrap() {
        if record.kind == PUBLICATION {
            reached.extend(closure(&reader, Publication::decode(&record).unwrap().root()));
        }
    }
    assert!(reached.len() > 12, "texts, rules and outputs: {}", reached.len());
    let labels = files(&program.path().join("labels"), "json");
    assert!(!labels.is_empty());
    for label in labels {
        let bytes = std::fs::read(&label).unwrap();
        let id = BlobId::of(&bytes);
        assert!(!reached.contains(&id), "{} is reached", label.display());
        assert_eq!(reader.blob_length(id).unwrap(), None, "{} is stored", label.display());
    }
    // What is reached is the documents, and what was made of them: no other file of the world.
    let documents: BTreeSet<BlobId> = files(&program.path().join("world/documents"), "txt")
        .iter()
        .map(|path| BlobId::of(&std::fs::read(path).unwrap()))
        .collect();
    assert!(documents.is_subset(&reached));
    for blob in reached.difference(&documents) {
        let bytes = read_blob(&reader, *blob);
        let made =
            Output::decode(&bytes).is_ok() || dossier::recipe::decode_rules(&bytes).is_some();
        assert!(made, "{blob} is neither document, rule nor output");
    }
}

#[test]
fn invariant_8_valid_speaks_of_structure() {
    let engine = Engine::with(1);
    engine.set(0, "Product P-10-00 delivery: 18 October.\n");
    let answer = r#"{"claims":[{"subject":"P-10-00","field":"delivery","value":"23 October","evidence":["L1"]}]}"#;
    let answers = vec![("S/d00.txt".to_owned(), answer.to_owned())];
    let mut model = Scripted { answers, ..Scripted::default() };
    engine.build_with(&mut model, Options::default()).unwrap();
    let output = engine.output("root");
    assert_eq!(output.status, NodeStatus::Valid, "a false claim that cites a real line is VALID");
    assert_eq!(support(&output.claims[0]), Support::Unchecked, "and is supported by nothing");
}

fn keys(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn invariant_8_statuses_are_printed_as_structure_and_no_number_is_a_score() {
    let program = Program::twelve();
    program.ok("build");
    let claim = program.json("show docs")["claims"][0]["id"].as_str().unwrap().to_owned();
    let prov = format!("prov {claim}");
    for verb in [
        "build",
        "show docs",
        "show docs --format md",
        "show docs@-0 --historical",
        "status",
        &prov,
        "drv docs",
    ] {
        let out = program.ok(verb);
        for line in out.lines().filter(|line| line.contains("VALID") || line.contains("PARTIAL")) {
            assert!(line.contains("structure only"), "dossier {verb}: {line}");
        }
        let mut names = BTreeSet::new();
        if verb.ends_with("md") {
            continue;
        }
        keys(&program.json(verb), &mut names);
        for name in names {
            for word in ["score", "quality", "accuracy", "overall", "confidence", "grade"] {
                assert!(!name.contains(word), "dossier {verb} --json has {name:?}");
            }
        }
    }
}
