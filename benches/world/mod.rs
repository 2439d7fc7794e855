//! Dossiers of one-kilobyte documents, imported into a store of their own and built with `extract`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dossier::graph::Graph;
use dossier::ingest::{self, ImportOptions, Mode, Rebind, Vanished};
use dossier::instantiate::Instantiation;
use dossier::realise::extract::Extract;
use dossier::realise::{Build, Counts, Options};
use dossier::recipe::Recipe;
use dossier::serve::{Question, Standing, Verdict};
use dossier::settings::{RealiserName, Settings};
use dossier::snapshot::Dossier;
use dossier_corpus::scale::Scale;
use dossier_store::encode::Map;
use dossier_store::read::{Lookup, Reader};
use dossier_store::{Options as StoreOptions, Store};
use tempfile::TempDir;

/// Whatever a bench can fail with.
pub(crate) type Failure = Box<dyn std::error::Error>;

const PRINCIPAL: &str = "owner";

/// An imported world; its folder goes when it is dropped.
pub(crate) struct World {
    _folder: TempDir,
    /// The store.
    pub(crate) store: Store,
    /// The settings of the kind `controlled`.
    pub(crate) settings: Settings,
    /// The dossiers' names.
    pub(crate) dossiers: Vec<String>,
    /// The recipe that the settings come to.
    pub(crate) recipe: Recipe,
    /// The builder of `extract`.
    pub(crate) builder: Map,
}

/// A place where writing to disk costs nothing, so that what remains is the program's own work:
/// the memory file system, or the usual place for temporary files where there is none.
pub(crate) fn memory() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

impl World {
    /// Imports so many dossiers of so many documents each, in a new folder below `place`.
    pub(crate) fn imported(place: &Path, dossiers: u32, documents: u32) -> Result<Self, Failure> {
        let folder = tempfile::tempdir_in(place)?;
        let documents_folder = folder.path().join("documents");
        let mut names = Vec::new();
        for document in (Scale { seed: 1, dossiers, documents }).documents() {
            let directory = documents_folder.join(&document.dossier);
            std::fs::create_dir_all(&directory)?;
            std::fs::write(directory.join(&document.doc_id).with_extension("txt"), document.text)?;
            if names.last() != Some(&document.dossier) {
                names.push(document.dossier);
            }
        }
        let store = Store::create(&folder.path().join("store"), &StoreOptions::default())?;
        let settings = Settings::parse("", Path::new("dossier.toml"))?;
        let recipe = settings.lower(RealiserName::Extract, None);
        let builder = dossier::builder::of(RealiserName::Extract);
        let world = Self { _folder: folder, store, settings, dossiers: names, recipe, builder };
        for name in &world.dossiers {
            let options = ImportOptions {
                vanished: Vanished::Guard,
                rebind: Rebind::Refuse,
                mode: Mode::Write,
            };
            let from = documents_folder.join(name);
            ingest::import(&world.store, name, &from, &world.settings.import, &options, 0)?;
        }
        Ok(world)
    }

    /// Builds every dossier and adds up the four counts.
    pub(crate) fn build(&self) -> Result<Counts, Failure> {
        let started = Instant::now();
        let clock = || started.elapsed().as_micros() as u64;
        let mut total = Counts::default();
        for dossier in &self.dossiers {
            let mut build = Build {
                store: &self.store,
                dossier,
                principal: PRINCIPAL,
                recipe: &self.recipe,
                builder: &self.builder,
                realiser: &mut Extract::default(),
                options: Options::default(),
                cancel: &AtomicBool::new(false),
                clock: &clock,
            };
            let counts = build.run(&mut |_| {})?.counts;
            total.hit += counts.hit;
            total.cut_off += counts.cut_off;
            total.generated += counts.generated;
            total.settled += counts.settled;
        }
        Ok(total)
    }

    /// The graph of one dossier: every key, nothing looked up but the journal.
    pub(crate) fn graph(&self, reader: &Reader, name: &str) -> Result<Graph, Failure> {
        let dossier = Dossier::read(reader, name)?;
        let instantiation = Instantiation {
            dossier: &dossier,
            principal: PRINCIPAL,
            recipe: &self.recipe,
            builder: &self.builder,
        };
        instantiation.graph(|version| {
            let text = reader.blob(version.blob)?;
            text.ok_or_else(|| Failure::from("a text is missing"))
        })
    }

    /// What `status` finds of every dossier: how many are CURRENT.
    pub(crate) fn status(&self) -> Result<usize, Failure> {
        let reader = self.store.read()?;
        let mut current = 0;
        for dossier in &self.dossiers {
            let standing = Standing::find(&reader, &self.question(dossier))?;
            standing.causes(&reader)?;
            standing.root_status(&reader)?;
            current += usize::from(standing.verdict().0 == Verdict::Current);
        }
        Ok(current)
    }

    fn question<'a>(&'a self, dossier: &'a str) -> Question<'a> {
        Question {
            dossier,
            principal: PRINCIPAL,
            settings: &self.settings,
            model_sha256: None,
            now: Default::default(),
            realiser: None,
        }
    }
}
