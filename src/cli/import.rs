//! `import`: mirrors a folder as events, and says what it could not read.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::args::{Global, ImportArgs};
use super::exit;
use super::failure::Failure;
use super::project::{Project, now_millis};
use super::ui::{Ui, strong};
use crate::ingest::{
    self, Change, ChangeKind, ImportError, ImportOptions, Imported, Mode, Rebind, Vanished,
};
use crate::text::escape;

pub(super) fn run(of: &ImportArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.writable(ui)?;
    let options = ImportOptions {
        vanished: if of.allow_vanished { Vanished::Allow } else { Vanished::Guard },
        rebind: if of.rebind { Rebind::Allow } else { Rebind::Refuse },
        mode: if of.dry_run { Mode::DryRun } else { Mode::Write },
    };
    let settings = &project.settings.import;
    let mut imported = Vec::new();
    for (name, folder) in targets(of, settings)? {
        let one = ingest::import(&store, &name, &folder, settings, &options, now_millis());
        imported.push(one.map_err(failure)?);
    }
    match ui.json {
        true => ui.document(&json!({
            "schema": "dossier.import/1",
            "dry_run": of.dry_run,
            "dossiers": imported.iter().map(document).collect::<Vec<_>>(),
        })),
        false => imported.iter().for_each(|one| ui.line(in_words(one, of.dry_run))),
    }
    imported.iter().for_each(|one| warn_unreadable(one, ui));
    if !of.dry_run && imported.iter().any(|one| one.events > 0) {
        ui.hint("dossier build");
    }
    let unreadable = imported.iter().any(|one| !one.unreadable.is_empty());
    Ok(if unreadable { exit::STORE } else { exit::DONE })
}

fn targets(
    of: &ImportArgs,
    settings: &ingest::ImportSettings,
) -> Result<Vec<(String, PathBuf)>, Failure> {
    match &of.dossier {
        Some(name) => Ok(vec![(name.clone(), of.path.clone())]),
        None => ingest::dossiers_in(&of.path, settings).map_err(|error| failure(error.into())),
    }
}

/// What an import's failure means on the command line.
pub(super) fn failure(error: ImportError) -> Failure {
    match error {
        ImportError::Scan(_) => {
            Failure::of(exit::STORE, &error).hint("check the path and that its folder can be read")
        }
        ImportError::Gold { .. } => Failure::of(exit::DENIED, &error)
            .hint("keep the labels in a folder of their own, apart from store and documents"),
        ImportError::OtherFolder { .. } => Failure::of(exit::STORE, &error)
            .hint("give --rebind if the dossier is to change its folder"),
        ImportError::Mirror(_) => Failure::of(exit::STORE, &error)
            .hint("if they are really gone, give --allow-vanished; nothing was changed"),
        ImportError::Snapshot { source, .. } => source.into(),
        ImportError::Read { source, .. } => source.into(),
        ImportError::Write { source, .. } => source.into(),
        ImportError::Contradiction { .. } => {
            Failure::of(exit::STORE, &error).hint("run `dossier store verify`")
        }
    }
}

fn warn_unreadable(one: &Imported, ui: &Ui) {
    for file in &one.unreadable {
        ui.warn(escape(&format!(
            "{}/{} was not read ({}): {}",
            one.dossier,
            file.path,
            file.reason.kind(),
            file.reason.remedy()
        )));
    }
}

fn in_words(one: &Imported, dry_run: bool) -> String {
    let would = if dry_run { " (nothing written)" } else { "" };
    let mut words = format!(
        "{}: {} changes, {} unchanged, {} unreadable, {} skipped{would}",
        strong(&escape(&one.dossier)),
        one.changes.len(),
        one.unchanged,
        one.unreadable.len(),
        one.skipped.hidden
            + one.skipped.ignored
            + one.skipped.own
            + one.skipped.symlinks.len() as u64
    );
    for change in &one.changes {
        words.push_str(&format!("\n  {}", escape(&change_words(change))));
    }
    words
}

fn change_words(change: &Change) -> String {
    let detail = match &change.kind {
        ChangeKind::Changed { from, to } | ChangeKind::Reactivated { from, to } => {
            format!(" version {from} → {to}")
        }
        ChangeKind::Moved { from } => format!(" from {from}"),
        _ => String::new(),
    };
    format!("{} {}{detail}", change.kind.verb(), change.document)
}

fn document(one: &Imported) -> Value {
    let changes: Vec<Value> = one
        .changes
        .iter()
        .map(|change| {
            json!({
                "document": change.document,
                "path": change.path,
                "change": change.kind.verb(),
                "words": change_words(change),
            })
        })
        .collect();
    let unreadable: Vec<Value> = one.unreadable.iter().map(|file| {
        json!({ "path": file.path, "kind": file.reason.kind(), "remedy": file.reason.remedy() })
    }).collect();
    json!({
        "dossier": one.dossier,
        "folder": one.folder,
        "changes": changes,
        "unchanged": one.unchanged,
        "unreadable": unreadable,
        "skipped": {
            "hidden": one.skipped.hidden,
            "ignored": one.skipped.ignored,
            "own": one.skipped.own,
            "symlinks": one.skipped.symlinks,
        },
        "events": one.events,
    })
}
