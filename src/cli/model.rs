//! `model`: the known models, fetching one, checking the one that is set.

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::args::{Global, ModelArgs, ModelVerb};
use super::exit;
use super::failure::Failure;
use super::project::{Project, cache_folder};
use super::ui::{self, Ui, strong};
use crate::model::{self, FetchError, KNOWN, Known, Step};
use crate::text::escape;

pub(super) fn run(of: &ModelArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    match &of.verb {
        ModelVerb::List => list(ui),
        ModelVerb::Fetch { name } => fetch(name, ui),
        ModelVerb::Check => check(global, ui),
    }
}

fn list(ui: &Ui) -> Result<u8, Failure> {
    let cache = cache_folder()?;
    let here = |known: &Known| cache.join(known.file).exists();
    match ui.json {
        true => {
            let models: Vec<Value> = KNOWN
                .iter()
                .map(|known| {
                    json!({
                        "name": known.name,
                        "about": known.about,
                        "bytes": known.bytes,
                        "sha256": known.sha256,
                        "licence": known.licence,
                        "path": cache.join(known.file).display().to_string(),
                        "fetched": here(known),
                    })
                })
                .collect();
            ui.document(&json!({ "schema": "dossier.models/1", "models": models }));
        }
        false => {
            for known in KNOWN {
                ui.line(format!(
                    "{}  {}\n  {}, {} MB, {}\n  sha256 {}",
                    strong(known.name),
                    known.about,
                    known.licence,
                    known.bytes / 1_000_000,
                    if here(known) { "fetched" } else { "not fetched" },
                    if known.sha256.is_empty() { "unknown" } else { known.sha256 },
                ));
            }
            ui.note("a GGUF file of your own: set llama.model to its path and llama.sha256 in dossier.toml");
        }
    }
    Ok(exit::DONE)
}

fn fetch(name: &str, ui: &Ui) -> Result<u8, Failure> {
    let known = model::known(name).ok_or_else(|| {
        Failure::new(exit::NOT_FOUND, format!("no model is named {name:?}"))
            .hint("dossier model list")
    })?;
    let cache = cache_folder()?;
    let bar = bar(known, ui);
    let mut said = 0;
    let fetched = model::fetch(known, &cache, &mut |step| match step {
        Step::Trying(source) => ui.note(format!("trying {}", escape(&source))),
        Step::Failed(reason) => ui.note(format!("  {}", escape(&reason))),
        Step::Hashing => ui.note("hashing"),
        Step::Bytes(done) => match &bar {
            Some(bar) => bar.set_position(done),
            // Without a terminal, a line for every tenth.
            None if known.bytes > 0 && done * 10 / known.bytes > said => {
                said = done * 10 / known.bytes;
                ui.note(format!("{} % of {name}", said * 10));
            }
            None => {}
        },
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let path = fetched.map_err(|error| match &error {
        FetchError::Write { .. } => Failure::of(exit::STORE, &error)
            .hint("free room there, or set DOSSIER_CACHE to another folder"),
        _ => Failure::of(exit::STORE, &error)
            .hint("try again: what is fetched already is kept and resumed"),
    })?;
    ui.line_or(
        || format!("{}  sha256 {}", escape(&path.display().to_string()), known.sha256),
        || {
            json!({
                "schema": "dossier.model/1",
                "name": name,
                "path": path.display().to_string(),
                "sha256": known.sha256,
            })
        },
    );
    Ok(exit::DONE)
}

fn bar(known: &Known, ui: &Ui) -> Option<ProgressBar> {
    if !ui.live() {
        return None;
    }
    let bar = ProgressBar::new(known.bytes);
    let style =
        ProgressStyle::with_template("{bar:24} {bytes}/{total_bytes}  {bytes_per_sec}  ETA {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    Some(bar)
}

fn check(global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let file = project.model_file()?;
    let shown = file.path.display().to_string();
    let opened = std::fs::File::open(&file.path);
    let mut opened = opened.map_err(|error| {
        Failure::io(format!("cannot read the model {shown}"), &error)
            .hint(format!("dossier model fetch {}", project.settings.llama.model))
    })?;
    let found = dossier_store::hash::Sha256::of_reader(&mut opened)
        .map_err(|error| Failure::io(format!("cannot read the model {shown}"), &error))?;
    let holds = file.sha256 == Some(found);
    ui.line_or(
        || {
            let verdict = if holds { "VALID" } else { "INVALID" };
            format!("{}  {}  sha256 {found}", ui::status(verdict), escape(&shown))
        },
        || {
            json!({
                "schema": "dossier.model_check/1",
                "path": shown,
                "sha256": found.hex(),
                "declared": file.sha256.map(|sha256| sha256.hex()),
                "holds": holds,
            })
        },
    );
    if !holds {
        ui.warn("the file does not have the declared SHA-256; nothing is built with it");
        ui.hint(format!("dossier model fetch {}", project.settings.llama.model));
    }
    Ok(if holds { exit::DONE } else { exit::INVALID })
}
