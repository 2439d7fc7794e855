//! Where the store and the settings lie, and how they are opened.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dossier_store::hash::Sha256;
use dossier_store::{Access, Options, Store};

use super::args::Global;
use super::exit;
use super::failure::Failure;
use super::ui::Ui;
use crate::current::Now;
use crate::model::{self, ModelFile};
use crate::serve::Question;
use crate::settings::{self, Settings};

/// The folder that holds a store.
pub(super) const STORE_DIRECTORY: &str = ".dossier";
/// The store's file in that folder.
pub(super) const STORE_FILE: &str = "store.redb";

/// An existing store with its settings.
pub(super) struct Project {
    /// The folder that holds the store.
    pub(super) directory: PathBuf,
    /// The settings file beside it; it need not exist.
    pub(super) settings_path: PathBuf,
    /// The settings; the defaults where there is no file.
    pub(super) settings: Settings,
    /// For whom the command acts.
    pub(super) principal: String,
    wait: Duration,
}

impl Project {
    /// Finds the store that is meant and reads its settings.
    pub(super) fn find(global: &Global) -> Result<Self, Failure> {
        let directory = match &global.store {
            Some(directory) => directory.clone(),
            None => nearest()?,
        };
        refuse_labels(&directory)?;
        let beside = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
        let settings_path = beside.unwrap_or(Path::new(".")).join(settings::FILE_NAME);
        let settings = match settings_path.exists() {
            true => Settings::read(&settings_path)?,
            false => Settings::parse("", &settings_path)?,
        };
        let principal = settings.principal(global.principal.as_deref())?.to_owned();
        let wait = Duration::from_secs(global.wait);
        Ok(Self { directory, settings_path, settings, principal, wait })
    }

    /// Opens the store for looking.
    pub(super) fn read_only(&self, ui: &Ui) -> Result<Store, Failure> {
        self.open(Access::ReadOnly, ui)
    }

    /// Opens the store for changing.
    pub(super) fn writable(&self, ui: &Ui) -> Result<Store, Failure> {
        self.open(Access::ReadWrite, ui)
    }

    fn open(&self, access: Access, ui: &Ui) -> Result<Store, Failure> {
        let options = Options { wait: self.wait, ..Options::default() };
        let quiet = ui.quiet;
        let repair = move |share: f64| {
            if !quiet {
                super::ui::repair_line(share);
            }
        };
        Ok(Store::open(&self.store_file(), access, &options, repair)?)
    }

    /// The store's file.
    pub(super) fn store_file(&self) -> PathBuf {
        self.directory.join(STORE_FILE)
    }

    /// The model file that the settings declare.
    pub(super) fn model_file(&self) -> Result<ModelFile, Failure> {
        let llama = &self.settings.llama;
        let declared = llama.sha256.as_deref().and_then(Sha256::parse);
        let beside = self.settings_path.parent().unwrap_or(Path::new("."));
        Ok(model::locate(&llama.model, declared, &cache_folder()?, beside))
    }

    /// The declared model's hash. It is known without the file.
    pub(super) fn model_sha256(&self) -> Option<Sha256> {
        let llama = &self.settings.llama;
        let declared = llama.sha256.as_deref().and_then(Sha256::parse);
        declared.or_else(|| model::known(&llama.model)?.sha256())
    }

    /// A question about a dossier.
    pub(super) fn question<'a>(&'a self, dossier: &'a str, imported: bool) -> Question<'a> {
        Question {
            dossier,
            principal: &self.principal,
            settings: &self.settings,
            model_sha256: self.model_sha256(),
            now: if imported { Now::Imported } else { Now::Folder },
            realiser: None,
        }
    }
}

/// Refuses to work where the labels of the controlled world lie in or above a folder.
pub(super) fn refuse_labels(directory: &Path) -> Result<(), Failure> {
    match dossier_corpus::marker::find_marker(directory) {
        None => Ok(()),
        Some(marker) => Err(Failure::new(
            exit::DENIED,
            format!(
                "{} marks gold labels; nothing is built or imported beside them",
                marker.display()
            ),
        )
        .hint("keep the labels in a folder of their own, apart from store and documents")),
    }
}

/// The folder that models are kept in: `$DOSSIER_CACHE`, or `dossier/models` in the user's cache.
pub(super) fn cache_folder() -> Result<PathBuf, Failure> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = || {
        let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        cache.map(|cache| cache.join("dossier"))
    };
    set("DOSSIER_CACHE").or_else(user).map(|cache| cache.join("models")).ok_or_else(|| {
        Failure::new(exit::STORE, "no cache folder is known").hint("set HOME or DOSSIER_CACHE")
    })
}

fn nearest() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::io("cannot tell the current folder", &error))?;
    let candidates = here.ancestors().map(|folder| folder.join(STORE_DIRECTORY));
    let found = candidates.into_iter().find(|candidate| candidate.join(STORE_FILE).exists());
    found.ok_or_else(|| {
        Failure::new(
            exit::STORE,
            format!("there is no store in {} or any folder above it", here.display()),
        )
        .hint("run `dossier init`, or name one with --store PATH")
    })
}

/// Microseconds since the Unix epoch.
pub(super) fn clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Milliseconds since the Unix epoch.
pub(super) fn now_millis() -> u64 {
    clock() / 1000
}
