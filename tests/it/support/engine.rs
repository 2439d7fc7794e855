//! The engine in process: a store, events appended directly, builds with a scripted model and a
//! clock that only counts.

use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicBool;

use dossier::document::Unit;
use dossier::event::{Author, EVENT, Event};
use dossier::graph::Graph;
use dossier::instantiate::Instantiation;
use dossier::output::Output;
use dossier::plan::{Plan, Planned};
use dossier::realise::scripted::Scripted;
use dossier::realise::{
    Build, BuildError, Built, Fault, Generation, Options, Production, Progress, Realiser,
    task::{Task, Work},
};
use dossier::recipe::{Budgets, Choice, Chunking, ClaimSchema, Method, ModelRecipe, Recipe};
use dossier::snapshot::Dossier;
use dossier_store::encode::Map;
use dossier_store::hash::{BlobId, Sha256};
use dossier_store::read::{Lookup, Reader};
use dossier_store::{Access, Options as StoreOptions, Store};
use tempfile::TempDir;

/// The dossier of every engine.
pub(crate) const NAME: &str = "S";

/// A store with one dossier, and what builds need.
pub(crate) struct Engine {
    folder: TempDir,
    /// The store.
    pub(crate) store: Store,
    /// What is made of the documents.
    pub(crate) recipe: Recipe,
    /// Who makes it.
    pub(crate) builder: Map,
    /// Whom builds are for, unless they say otherwise.
    pub(crate) principal: String,
    /// Ends a build that runs.
    pub(crate) cancel: AtomicBool,
    clock: Cell<u64>,
}

/// A build and what it told.
pub(crate) struct Ran {
    /// The result.
    pub(crate) built: Built,
    /// What it told, one line each.
    pub(crate) log: Vec<String>,
}

/// The recipe of the controlled experiment: four claims everywhere, the model chooses.
pub(crate) fn model_recipe() -> Recipe {
    Recipe {
        unit: Unit::Line,
        chunking: Chunking::Whole,
        schema: ClaimSchema {
            fields: ["delivery", "status", "quantity", "site"].map(String::from).to_vec(),
            leaf_max: 4,
            reduce_max: 4,
            choice: Choice::Always,
        },
        budgets: Budgets { map_input: 2048, reduce_input: 3072, output: 384 },
        method: Method::Model(ModelRecipe {
            profile: "anchored".into(),
            subject: Some("P-[0-9]{2}-[0-9]{2}".into()),
            map_prompt: "State the facts.".into(),
            reduce_prompt: "Choose among the claims.".into(),
            model_sha256: Sha256([7; 32]),
        }),
    }
}

/// The id of the document at a slot.
pub(crate) fn document(slot: usize) -> String {
    format!("{NAME}/d{slot:02}.txt")
}

impl Engine {
    /// So many documents in their first version.
    pub(crate) fn with(documents: usize) -> Self {
        let folder = super::folder();
        let store = Store::create(&folder.path().join("store"), &StoreOptions::default()).unwrap();
        let engine = Self {
            folder,
            store,
            recipe: model_recipe(),
            builder: Map::from([
                ("realiser".into(), "scripted".into()),
                ("output_format".into(), 1u64.into()),
            ]),
            principal: "owner".into(),
            cancel: AtomicBool::new(false),
            clock: Cell::new(1_000_000),
        };
        engine.append(&Event::Bound { folder: "/nowhere".into() });
        for slot in 0..documents {
            engine.set(slot, &super::text(slot, 1));
        }
        engine
    }

    /// Another handle on the same file, as another process would have it.
    pub(crate) fn second_handle(&self) -> Store {
        let options = StoreOptions::default();
        Store::open(&self.folder.path().join("store"), Access::ReadWrite, &options, |_| {}).unwrap()
    }

    /// Appends an event.
    pub(crate) fn append(&self, event: &Event) -> u64 {
        append_to(&self.store, event)
    }

    /// Gives the document at a slot this text: a new version, or the earlier one of equal bytes.
    pub(crate) fn set(&self, slot: usize, text: &str) {
        let (id, path) = (document(slot), format!("d{slot:02}.txt"));
        let dossier = self.dossier();
        let hash = Sha256::of(text.as_bytes());
        let versions = dossier.document(&id).map(|d| d.versions.clone()).unwrap_or_default();
        let earlier = versions.iter().position(|version| version.text_sha256 == hash);
        let number = earlier.unwrap_or(versions.len()) as u32 + 1;
        let mut batch = self.store.write().unwrap();
        if earlier.is_none() {
            let blob = batch.put_blob(text.as_bytes()).unwrap();
            let event = Event::VersionAdded {
                document: id.clone(),
                version: number,
                text_sha256: hash.0,
                blob: blob.0,
                length: text.len() as u64,
                original: None,
            };
            batch.append(NAME, EVENT, &event.encode(), 0).unwrap();
        }
        let event = Event::Activated { document: id, version: number, path };
        batch.append(NAME, EVENT, &event.encode(), 0).unwrap();
        batch.commit().unwrap();
    }

    /// Takes the document at a slot out.
    pub(crate) fn withdraw(&self, slot: usize) {
        self.append(&Event::Withdrawn { document: document(slot), by: Author::User });
    }

    /// Lets it take part again.
    pub(crate) fn restore(&self, slot: usize) {
        self.append(&Event::Restored { document: document(slot), by: Author::User });
    }

    /// Hides it from a principal.
    pub(crate) fn revoke(&self, slot: usize, principal: &str) {
        self.append(&revoked(slot, principal));
    }

    /// Shows it again.
    pub(crate) fn grant(&self, slot: usize, principal: &str) {
        let principal = principal.to_owned();
        self.append(&Event::Granted { document: document(slot), principal });
    }

    /// The dossier as it stands.
    pub(crate) fn dossier(&self) -> Dossier {
        Dossier::read(&self.store.read().unwrap(), NAME).unwrap()
    }

    /// The graph as it stands.
    pub(crate) fn graph(&self) -> Graph {
        let dossier = self.dossier();
        let reader = self.store.read().unwrap();
        let instantiation = Instantiation {
            dossier: &dossier,
            principal: &self.principal,
            recipe: &self.recipe,
            builder: &self.builder,
        };
        instantiation.graph(|version| Ok::<_, ()>(read_blob(&reader, version.blob))).unwrap()
    }

    /// The names of the nodes that a build would realise.
    pub(crate) fn missing(&self) -> Vec<String> {
        let graph = self.graph();
        let plan = Plan::make(&graph, &self.store.read().unwrap()).unwrap();
        let missing =
            graph.nodes().filter(|(index, _)| matches!(plan.nodes[index.0], Planned::Missing(_)));
        missing.map(|(_, node)| node.name.clone()).collect()
    }

    /// Builds with a model that follows the rules.
    pub(crate) fn build(&self) -> Ran {
        self.build_with(&mut Scripted::default(), Options::default()).unwrap()
    }

    /// Builds.
    pub(crate) fn build_with(
        &self,
        realiser: &mut dyn Realiser,
        options: Options,
    ) -> Result<Ran, BuildError> {
        self.build_watched(realiser, options, &mut |_| {})
    }

    /// Builds, and lets somebody watch.
    pub(crate) fn build_watched(
        &self,
        realiser: &mut dyn Realiser,
        options: Options,
        watch: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Ran, BuildError> {
        let log = RefCell::new(Vec::new());
        let clock = || {
            self.clock.set(self.clock.get() + 1);
            self.clock.get()
        };
        let mut build = Build {
            store: &self.store,
            dossier: NAME,
            principal: &self.principal,
            recipe: &self.recipe,
            builder: &self.builder,
            realiser,
            options,
            cancel: &self.cancel,
            clock: &clock,
        };
        let built = build.run(&mut |progress| {
            log.borrow_mut().extend(line(progress));
            watch(progress);
        })?;
        Ok(Ran { built, log: log.into_inner() })
    }

    /// A fresh store with the same events.
    pub(crate) fn replayed(&self) -> Self {
        let fresh = Self {
            recipe: self.recipe.clone(),
            builder: self.builder.clone(),
            principal: self.principal.clone(),
            ..Self::with(0)
        };
        let reader = self.store.read().unwrap();
        let mut batch = fresh.store.write().unwrap();
        for record in reader.records(NAME).unwrap().iter().filter(|record| record.kind == EVENT) {
            if let Event::VersionAdded { blob, .. } = Event::decode(record).unwrap() {
                batch.put_blob(&read_blob(&reader, BlobId(blob))).unwrap();
            }
            batch.append(NAME, EVENT, &record.body, 0).unwrap();
        }
        batch.commit().unwrap();
        fresh
    }

    /// A node's output as it is stored.
    pub(crate) fn output(&self, name: &str) -> Output {
        let graph = self.graph();
        let node = graph.node(graph.find(name).unwrap());
        let reader = self.store.read().unwrap();
        let realisation = reader.realisation(node.id).unwrap().unwrap();
        Output::decode(&read_blob(&reader, realisation.output)).unwrap()
    }
}

impl Ran {
    /// Hits, cut off, generated, settled.
    pub(crate) fn counts(&self) -> [usize; 4] {
        let counts = self.built.counts;
        [counts.hit, counts.cut_off, counts.generated, counts.settled]
    }

    /// The root's output.
    pub(crate) fn root_output(&self) -> BlobId {
        self.built.root_report().unwrap().output
    }

    /// What came of the nodes that were worked on, in the order of their commits.
    pub(crate) fn worked(&self) -> Vec<&str> {
        let told = self.log.iter().map(String::as_str);
        told.filter(|line| !line.starts_with("started") && *line != "published").collect()
    }
}

/// Appends an event through any handle.
pub(crate) fn append_to(store: &Store, event: &Event) -> u64 {
    let mut batch = store.write().unwrap();
    let sequence = batch.append(NAME, EVENT, &event.encode(), 0).unwrap().sequence;
    batch.commit().unwrap();
    sequence
}

/// The event that hides a document.
pub(crate) fn revoked(slot: usize, principal: &str) -> Event {
    Event::Revoked { document: document(slot), principal: principal.to_owned() }
}

/// A blob that must be there.
pub(crate) fn read_blob(reader: &Reader, id: BlobId) -> Vec<u8> {
    reader.blob(id).unwrap().unwrap()
}

fn line(progress: &Progress<'_>) -> Option<String> {
    match progress {
        Progress::Planned { .. } => None,
        Progress::Started { node } => Some(format!("started {}", node.name)),
        Progress::Finished { node, report } => {
            Some(format!("{} {} {}", node.name, report.outcome.as_str(), report.status.as_str()))
        }
        Progress::Replanned => Some("replanned".into()),
        Progress::Published { .. } => Some("published".into()),
    }
}

/// A scripted model during whose calls something else happens.
pub(crate) struct Meddling<'a> {
    /// The model.
    pub(crate) model: Scripted,
    /// What happens before each answer.
    pub(crate) meddle: &'a mut dyn FnMut(&Task),
}

impl Realiser for Meddling<'_> {
    fn realise(&mut self, task: &Task) -> Result<Production, Fault> {
        (self.meddle)(task);
        self.model.realise(task)
    }
}

/// Answers leaves by the rules and every reduce with this text.
pub(crate) struct Stubborn {
    /// Answers leaves.
    pub(crate) model: Scripted,
    /// Answers reduces.
    pub(crate) reduce: &'static str,
}

impl Realiser for Stubborn {
    fn realise(&mut self, task: &Task) -> Result<Production, Fault> {
        match &task.work {
            Work::Leaf(_) => self.model.realise(task),
            Work::Reduce(_) => Ok(Production::Generated(Generation {
                text: self.reduce.into(),
                finish: "eos".into(),
                tokens_out: 1,
                raw: self.reduce.into(),
                ..Generation::default()
            })),
        }
    }
}
