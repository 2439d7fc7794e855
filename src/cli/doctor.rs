//! `doctor`: examines store, settings, folders, machine and worker. It changes nothing, and says of
//! each thing whether it is well, what is wrong with it, and what would help.

mod machine;
mod worker;

use std::path::Path;

use dossier_store::Store;
use dossier_store::read::Lookup as _;
use serde_json::{Value, json};

use super::args::Global;
use super::exit;
use super::failure::Failure;
use super::project::{Project, STORE_DIRECTORY, STORE_FILE};
use super::ui::{self, Ui};
use crate::ingest;
use crate::snapshot::Dossier;
use crate::text::escape;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ok,
    Warn,
    Fail,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing that was examined.
#[derive(Clone, Debug)]
struct Examined {
    what: &'static str,
    state: State,
    words: String,
    help: Option<String>,
}

impl Examined {
    fn new(what: &'static str, state: State, words: impl Into<String>) -> Self {
        Self { what, state, words: words.into(), help: None }
    }

    fn ok(what: &'static str, words: impl Into<String>) -> Self {
        Self::new(what, State::Ok, words)
    }

    fn failed(what: &'static str, failure: Failure) -> Self {
        Self { help: failure.hint, ..Self::new(what, State::Fail, failure.what) }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

pub(super) fn run(global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let mut examined = Vec::new();
    let project = project(global, &mut examined);
    if let Some(project) = &project {
        store(project, ui, &mut examined);
    }
    examined.extend(machine::examine());
    examined.extend(worker::examine(project.as_ref()));
    let healthy = examined.iter().all(|examined| examined.state != State::Fail);
    match ui.json {
        true => ui.document(&document(healthy, &examined)),
        false => examined.iter().for_each(|examined| ui.line(in_words(examined))),
    }
    Ok(if healthy { exit::DONE } else { exit::STORE })
}

/// The store and settings that are meant. That there are none is worth a warning only, unless a
/// store was named.
fn project(global: &Global, examined: &mut Vec<Examined>) -> Option<Project> {
    match Project::find(global) {
        Ok(project) => {
            examined.push(settings(&project));
            Some(project)
        }
        Err(failure) => {
            examined.push(match global.store.is_none() && no_store_upwards() {
                true => {
                    Examined::new("store", State::Warn, "there is none here or in a folder above")
                        .help("dossier init")
                }
                false => Examined::failed("settings", failure),
            });
            None
        }
    }
}

fn no_store_upwards() -> bool {
    let holds_one = |folder: &Path| folder.join(STORE_DIRECTORY).join(STORE_FILE).exists();
    std::env::current_dir().is_ok_and(|here| !here.ancestors().any(holds_one))
}

fn settings(project: &Project) -> Examined {
    let path = project.settings_path.display();
    let settings = &project.settings;
    let file = match project.settings_path.exists() {
        true => format!("{path} is valid"),
        false => format!("{path} does not exist; the defaults hold"),
    };
    let principals = settings.principals.join(", ");
    let words = format!("{file}; realiser {}; principals {principals}", settings.realiser.as_str());
    Examined::ok("settings", words)
}

fn store(project: &Project, ui: &Ui, examined: &mut Vec<Examined>) {
    let path = project.store_file().display().to_string();
    let store = match project.read_only(ui) {
        Ok(store) => store,
        Err(failure) => return examined.push(Examined::failed("store", failure)),
    };
    match head(&store) {
        Ok(words) => examined.push(Examined::ok("store", format!("{path}, {words}"))),
        Err(failure) => examined.push(Examined::failed("store", failure)),
    }
    examined.push(contents(&store));
    folders(&store, examined);
}

fn head(store: &Store) -> Result<String, Failure> {
    let head = store.read()?.head()?;
    // A store of another format than this program's would not have opened.
    Ok(format!("opens, format known, head {} {}", head.sequence, head.id))
}

fn contents(store: &Store) -> Examined {
    match super::store::quick(store) {
        Ok((checked, 0)) => Examined::ok(
            "contents",
            format!("the journal and a sample checked, {checked} entries: nothing found"),
        ),
        Ok((_, findings)) => {
            Examined::new("contents", State::Fail, format!("{findings} findings in a sample"))
                .help("dossier store verify")
        }
        Err(failure) => Examined::failed("contents", failure),
    }
}

/// The folders of bound dossiers, in one line, and a line for each that cannot be listed.
fn folders(store: &Store, examined: &mut Vec<Examined>) {
    let bound = match bound(store) {
        Ok(bound) => bound,
        Err(failure) => return examined.push(Examined::failed("folders", failure)),
    };
    let before = examined.len();
    for (dossier, folder) in &bound {
        if let Err(error) = std::fs::read_dir(ingest::decode_path(folder)) {
            let words = format!("{folder} of dossier {dossier} cannot be read: {error}");
            let help =
                format!("mount or restore it, or dossier import PATH --dossier {dossier} --rebind");
            examined.push(Examined::new("folders", State::Fail, words).help(help));
        }
    }
    let reachable = bound.len() - (examined.len() - before);
    if reachable > 0 || bound.is_empty() {
        let words = format!("{reachable} of {} bound folders reachable", bound.len());
        examined.push(Examined::ok("folders", words));
    }
}

/// Every bound dossier with its folder.
fn bound(store: &Store) -> Result<Vec<(String, String)>, Failure> {
    let reader = store.read()?;
    let mut bound = Vec::new();
    for name in reader.topics()? {
        let folder = Dossier::read(&reader, &name)?.folder;
        bound.extend(folder.map(|folder| (name, folder)));
    }
    Ok(bound)
}

fn in_words(examined: &Examined) -> String {
    let mark = match examined.state {
        State::Ok => ui::faint("ok  "),
        State::Warn => ui::strong("warn"),
        State::Fail => ui::status("fail"),
    };
    // What a parser says of a settings file has lines of its own.
    let lines: Vec<String> = examined.words.trim_end().split('\n').map(escape).collect();
    let lines = lines.join("\n                 ");
    let mut words = format!("{mark}  {:<10} {lines}", examined.what);
    if let Some(help) = &examined.help {
        words.push_str(&format!("\n                 try: {}", escape(help)));
    }
    words
}

fn document(healthy: bool, examined: &[Examined]) -> Value {
    let check = |examined: &Examined| {
        json!({
            "what": examined.what,
            "state": examined.state.as_str(),
            "words": examined.words,
            "try": examined.help,
        })
    };
    json!({
        "schema": "dossier.doctor/1",
        "healthy": healthy,
        "checks": examined.iter().map(check).collect::<Vec<_>>(),
    })
}
