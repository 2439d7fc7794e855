//! Everything that can alter an output is in the root's id, and nothing else. For each ingredient:
//! changing it changes the id; and where it is left out of the derivations, the change goes
//! unnoticed, which proves that the ingredient and nothing beside it made the difference.

use dossier::document::Unit;
use dossier::event::{Author, Event};
use dossier::graph::Graph;
use dossier::instantiate::Instantiation;
use dossier::recipe::{Choice, Chunking, ExtractRule, Level, Method, ModelRecipe, Recipe, Take};
use dossier::snapshot::Dossier;
use dossier_store::derivation::{Derivation, Source};
use dossier_store::encode::{Map, Value};
use dossier_store::hash::{BlobId, DerivationId, Sha256};
use dossier_store::journal::ORIGIN;

use crate::support::engine::model_recipe;

/// All that ids are made of.
#[derive(Clone)]
struct World {
    dossier: Dossier,
    principal: String,
    recipe: Recipe,
    builder: Map,
}

fn added(document: &str, version: u32, text: &str) -> Event {
    Event::VersionAdded {
        document: document.to_owned(),
        version,
        text_sha256: Sha256::of(text.as_bytes()).0,
        blob: BlobId::of(text.as_bytes()).0,
        length: text.len() as u64,
        original: None,
    }
}

fn activated(document: &str, version: u32) -> Event {
    Event::Activated { document: document.to_owned(), version, path: document.to_owned() }
}

const LONG: &str = "one line\ntwo lines\nthree lines\nfour lines\n";

fn world() -> World {
    let mut dossier = Dossier::empty("S", ORIGIN);
    for (document, text) in [("S/a", "alpha"), ("S/b", "beta"), ("S/c", LONG)] {
        dossier.apply(added(document, 1, text)).unwrap();
        // The same text as a second version, so that the number alone can differ.
        dossier.apply(added(document, 2, text)).unwrap();
        dossier.apply(activated(document, 1)).unwrap();
    }
    World {
        dossier,
        principal: "owner".into(),
        recipe: model_recipe(),
        builder: Map::from([
            ("realiser".into(), "llama".into()),
            ("output_format".into(), 1u64.into()),
            ("chat".into(), 1u64.into()),
            ("llama_cpp".into(), "0.1".into()),
            ("instructions".into(), "x86-64-v3".into()),
        ]),
    }
}

fn extract_world() -> World {
    let method = Method::Extract { subject: None, rules: vec![ExtractRule::fact_grammar()] };
    let mut world = world();
    world.recipe.method = method;
    world
}

impl World {
    fn graph(&self) -> Graph {
        let instantiation = Instantiation {
            dossier: &self.dossier,
            principal: &self.principal,
            recipe: &self.recipe,
            builder: &self.builder,
        };
        instantiation.graph(|_| Ok::<_, ()>(LONG.as_bytes().to_vec())).unwrap()
    }

    fn root(&self) -> DerivationId {
        self.graph().root().unwrap().id
    }

    /// The root's id if every derivation were made without an ingredient.
    fn root_without(&self, leave_out: &dyn Fn(Level, &mut Derivation)) -> DerivationId {
        let graph = self.graph();
        let mut ids: Vec<DerivationId> = Vec::new();
        for (_, node) in graph.nodes() {
            let mut derivation = node.derivation.clone();
            for input in &mut derivation.inputs {
                if let Source::Derivation(id) = &mut input.source {
                    *id = ids[graph.nodes().position(|(_, child)| child.id == *id).unwrap()];
                }
            }
            leave_out(node.level, &mut derivation);
            ids.push(derivation.id());
        }
        *ids.last().unwrap()
    }
}

/// One ingredient: how it changes, and how a derivation would be made without it.
struct Ingredient {
    name: &'static str,
    change: Box<dyn Fn(&mut World)>,
    leave_out: LeaveOut,
}

type LeaveOut = Box<dyn Fn(Level, &mut Derivation)>;

fn ingredient(
    name: &'static str,
    change: impl Fn(&mut World) + 'static,
    leave_out: impl Fn(Level, &mut Derivation) + 'static,
) -> Ingredient {
    Ingredient { name, change: Box::new(change), leave_out: Box::new(leave_out) }
}

/// Leaves an argument of a leaf's source out.
fn of_source(name: &'static str) -> impl Fn(Level, &mut Derivation) {
    move |_, derivation| {
        if let Some(Value::Map(source)) = derivation.arguments.get_mut("source") {
            source.remove(name).unwrap();
        }
    }
}

/// Leaves an argument out at one level.
fn argument_at(level: Level, name: &'static str) -> impl Fn(Level, &mut Derivation) {
    move |at, derivation| {
        if at == level {
            derivation.arguments.remove(name).unwrap();
        }
    }
}

/// Leaves an argument out at both levels.
fn argument(name: &'static str) -> impl Fn(Level, &mut Derivation) {
    move |_, derivation| {
        derivation.arguments.remove(name).unwrap();
    }
}

/// Leaves the input of a role out at one level.
fn input_at(level: Level, role: &'static str) -> impl Fn(Level, &mut Derivation) {
    move |at, derivation| {
        if at == level {
            derivation.inputs.retain(|input| input.role != role);
        }
    }
}

fn model(world: &mut World) -> &mut ModelRecipe {
    match &mut world.recipe.method {
        Method::Model(model) => model,
        Method::Extract { .. } => panic!("the world has a model"),
    }
}

fn sources_and_rights() -> Vec<Ingredient> {
    let first = |world: &mut World| world.dossier.documents[0].versions[0].clone();
    vec![
        ingredient(
            "document id",
            |world| {
                world.dossier.documents[0].id =
                    dossier::document::DocumentId::given("S/z").unwrap();
            },
            of_source("document"),
        ),
        ingredient("version", |w| w.dossier.documents[1].current = 2, of_source("version")),
        ingredient(
            "text hash",
            move |world| {
                let mut version = first(world);
                version.text_sha256 = Sha256::of(b"other");
                world.dossier.documents[0].versions[0] = version;
            },
            of_source("text_sha256"),
        ),
        ingredient(
            "text",
            move |world| {
                let mut version = first(world);
                version.blob = BlobId::of(b"other");
                world.dossier.documents[0].versions[0] = version;
            },
            input_at(Level::Leaf, "text"),
        ),
        ingredient(
            "activity",
            |world| {
                let event = Event::Withdrawn { document: "S/b".into(), by: Author::User };
                world.dossier.apply(event).unwrap();
            },
            of_source("active"),
        ),
        ingredient(
            "eligibility",
            |world| {
                world.dossier.documents[2].revoked.insert("owner".into());
            },
            of_source("eligible"),
        ),
        ingredient(
            "access revision",
            |world| {
                world.dossier.documents[2].access_revisions.insert("owner".into(), 3);
            },
            of_source("access_revision"),
        ),
        ingredient(
            "principal",
            |world| world.principal = "guest".into(),
            |level, derivation| {
                of_source("principal")(level, derivation);
                if level == Level::Reduce {
                    derivation.arguments.remove("principal").unwrap();
                }
            },
        ),
        ingredient(
            "order of the children",
            |world| world.dossier.documents.swap(0, 1),
            |_, derivation| derivation.inputs.sort_by_key(|input| format!("{:?}", input.source)),
        ),
    ]
}

fn the_recipe() -> Vec<Ingredient> {
    let lines = Chunking::Lines { max_bytes: 1 << 20 };
    vec![
        ingredient(
            "evidence unit",
            |world| world.recipe.unit = Unit::Block,
            argument("evidence_unit"),
        ),
        ingredient(
            "chunking",
            move |world| world.recipe.chunking = lines,
            argument_at(Level::Leaf, "chunking"),
        ),
        ingredient("fields", |w| w.recipe.schema.fields.push("colour".into()), argument("fields")),
        ingredient(
            "most claims of a leaf",
            |world| world.recipe.schema.leaf_max = 5,
            argument_at(Level::Leaf, "max_claims"),
        ),
        ingredient(
            "most claims of a reduce",
            |world| world.recipe.schema.reduce_max = 5,
            argument_at(Level::Reduce, "max_claims"),
        ),
        ingredient(
            "choice",
            |world| world.recipe.schema.choice = Choice::Above,
            argument_at(Level::Reduce, "selection"),
        ),
        ingredient(
            "map input budget",
            |world| world.recipe.budgets.map_input = 1,
            argument_at(Level::Leaf, "budgets"),
        ),
        ingredient(
            "reduce input budget",
            |world| world.recipe.budgets.reduce_input = 1,
            argument_at(Level::Reduce, "budgets"),
        ),
        ingredient("output budget", |w| w.recipe.budgets.output = 1, argument("budgets")),
        ingredient("profile", |w| model(w).profile = "other".into(), argument("profile")),
        ingredient(
            "pattern of subjects",
            |world| model(world).subject = Some("P-.*".into()),
            argument_at(Level::Leaf, "subject"),
        ),
        ingredient(
            "map prompt",
            |world| model(world).map_prompt.push('!'),
            input_at(Level::Leaf, "prompt"),
        ),
        ingredient(
            "reduce prompt",
            |world| model(world).reduce_prompt.push('!'),
            input_at(Level::Reduce, "prompt"),
        ),
        ingredient(
            "model",
            |world| model(world).model_sha256 = Sha256([8; 32]),
            argument("model_sha256"),
        ),
    ]
}

fn the_builder() -> Vec<Ingredient> {
    let names: Vec<String> = world().builder.keys().cloned().collect();
    let entry = |name: String| {
        let dropped = name.clone();
        ingredient(
            "builder entry",
            move |world| {
                world.builder.insert(name.clone(), "another".into());
            },
            move |_, derivation| {
                derivation.builder.remove(&dropped).unwrap();
            },
        )
    };
    names.into_iter().map(entry).collect()
}

fn the_rules() -> Vec<Ingredient> {
    let rules = |world: &mut World, change: &dyn Fn(&mut Option<String>, &mut Vec<ExtractRule>)| {
        match &mut world.recipe.method {
            Method::Extract { subject, rules } => change(subject, rules),
            Method::Model(_) => panic!("the world has rules"),
        }
    };
    let without = || input_at(Level::Leaf, "rules");
    vec![
        ingredient(
            "subject of the rules",
            move |world| rules(world, &|subject, _| *subject = Some("(?<subject>.)".into())),
            without(),
        ),
        ingredient(
            "pattern of a rule",
            move |world| rules(world, &|_, rules| rules[0].pattern.push(' ')),
            without(),
        ),
        ingredient(
            "field of a rule",
            move |world| rules(world, &|_, rules| rules[0].field = Some("site".into())),
            without(),
        ),
        ingredient(
            "which matches of a rule count",
            move |world| rules(world, &|_, rules| rules[0].take = Take::First),
            without(),
        ),
    ]
}

fn each_matters(world: fn() -> World, ingredients: Vec<Ingredient>) {
    for Ingredient { name, change, leave_out } in ingredients {
        let (before, mut after) = (world(), world());
        change(&mut after);
        assert_ne!(before.root(), after.root(), "{name} is in the root's id");
        assert_eq!(
            before.root_without(&leave_out),
            after.root_without(&leave_out),
            "{name} left out, its change goes unnoticed"
        );
    }
}

#[test]
fn every_source_and_right_is_in_the_root_id() {
    each_matters(world, sources_and_rights());
    each_matters(extract_world, sources_and_rights());
}

#[test]
fn every_part_of_the_recipe_is_in_the_root_id() {
    each_matters(world, the_recipe());
    each_matters(extract_world, the_rules());
}

#[test]
fn every_entry_of_the_builder_is_in_the_root_id() {
    each_matters(world, the_builder());
}

fn leaves(world: &World) -> Vec<DerivationId> {
    let graph = world.graph();
    let leaves = graph.nodes().filter(|(_, node)| node.level == Level::Leaf);
    leaves.map(|(_, node)| node.id).collect()
}

#[test]
fn what_only_reduces_depend_on_leaves_every_leaf_as_it_is() {
    for change in [
        (|world| model(world).reduce_prompt.push('!')) as fn(&mut World),
        |world| world.recipe.schema.reduce_max = 9,
        |world| world.recipe.schema.choice = Choice::Above,
        |world| world.recipe.budgets.reduce_input = 9,
    ] {
        let (before, mut after) = (world(), world());
        change(&mut after);
        assert_ne!(before.root(), after.root());
        assert_eq!(leaves(&before), leaves(&after));
    }
}

#[test]
fn chunks_of_one_document_differ_by_their_place_alone() {
    let mut world = world();
    world.recipe.chunking = Chunking::Lines { max_bytes: 12 };
    let graph = world.graph();
    let chunks = graph.nodes().filter(|(_, node)| node.name.starts_with("leaf-02-"));
    let chunks: Vec<Derivation> = chunks.map(|(_, node)| node.derivation.clone()).collect();
    assert!(chunks.len() > 2);
    for pair in chunks.windows(2) {
        assert_ne!(pair[0].id(), pair[1].id());
        let without = pair.iter().map(|chunk| {
            let mut chunk = chunk.clone();
            chunk.arguments.remove("chunk").unwrap();
            chunk.id()
        });
        let without: Vec<_> = without.collect();
        assert_eq!(without[0], without[1]);
    }
}

#[test]
fn neither_path_nor_folder_nor_name_nor_place_in_the_journal_is_in_an_id() {
    let before = world();
    let mut after = world();
    let moved = Event::Moved { document: "S/a".into(), path: "elsewhere".into() };
    after.dossier.apply(moved).unwrap();
    after.dossier.apply(Event::Bound { folder: "/other".into() }).unwrap();
    // A version that nothing has activated yet is invisible.
    after.dossier.apply(added("S/a", 3, "the future")).unwrap();
    after.dossier.as_of.event = 99;
    after.dossier.name = "T".into();
    let other = Event::Revoked { document: "S/a".into(), principal: "guest".into() };
    after.dossier.apply(other).unwrap();
    assert_eq!(before.root(), after.root());
}

#[test]
fn invariant_4_ids_are_the_same_on_any_machine() {
    assert_eq!(
        extract_world().root().hex(),
        "c5f1e34d5378356b3a982f83ef4f901cc6798a9313bea88259113d6660f592d6"
    );
}
