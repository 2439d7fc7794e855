//! `init`: makes the store and a commented `dossier.toml`.

use std::io::Write as _;
use std::path::Path;

use dossier_store::open::CreateError;
use dossier_store::{Options, Store};
use serde_json::json;

use super::args::InitArgs;
use super::exit;
use super::failure::Failure;
use super::project::{STORE_DIRECTORY, STORE_FILE, refuse_labels};
use super::ui::Ui;
use crate::settings::{FILE_NAME, KINDS};
use crate::text::escape;

pub(super) fn run(arguments: &InitArgs, ui: &Ui) -> Result<u8, Failure> {
    let directory = arguments.directory.as_deref().unwrap_or(Path::new("."));
    refuse_labels(directory)?;
    let store = directory.join(STORE_DIRECTORY).join(STORE_FILE);
    std::fs::create_dir_all(directory.join(STORE_DIRECTORY)).map_err(|error| {
        Failure::io(format!("cannot make {}", directory.join(STORE_DIRECTORY).display()), &error)
    })?;
    Store::create(&store, &Options::default()).map_err(|error| match &error {
        CreateError::AlreadyExists { .. } => {
            Failure::of(exit::STORE, &error).hint("this folder is ready; run `dossier import PATH`")
        }
        _ => Failure::of(exit::STORE, &error)
            .hint("check that the folder can be written to and has room"),
    })?;
    let settings = directory.join(FILE_NAME);
    let written = write_settings(&settings, &arguments.kind)?;
    ui.line_or(
        || {
            let settings_words = if written { "wrote" } else { "kept" };
            format!(
                "made {}\n{settings_words} {}",
                escape(&store.display().to_string()),
                escape(&settings.display().to_string())
            )
        },
        || {
            json!({
                "schema": "dossier.init/1",
                "store": store.display().to_string(),
                "settings": settings.display().to_string(),
                "settings_written": written,
                "kind": arguments.kind,
            })
        },
    );
    ui.hint("dossier import PATH");
    Ok(exit::DONE)
}

/// Writes the kind's settings, unless a settings file is there already.
fn write_settings(path: &Path, kind: &str) -> Result<bool, Failure> {
    let text = KINDS.iter().find(|(known, _)| *known == kind).map_or("", |(_, text)| text);
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    match opened {
        Ok(mut file) => file
            .write_all(text.as_bytes())
            .map(|()| true)
            .map_err(|error| Failure::io(format!("cannot write {}", path.display()), &error)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(Failure::io(format!("cannot write {}", path.display()), &error)),
    }
}
