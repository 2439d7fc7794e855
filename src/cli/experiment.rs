//! `experiment`: the controlled world. Its labels go to a folder of their own or nowhere.

use std::path::Path;

use dossier_corpus::marker::find_marker;
use dossier_corpus::truth::{WriteGoldError, write_gold};
use dossier_corpus::world::Dossier;
use dossier_corpus::write::{WriteWorldError, write_world};
use dossier_corpus::{FilesError, Written};
use serde_json::{Value, json};

use super::args::{ExperimentArgs, ExperimentVerb};
use super::exit;
use super::failure::Failure;
use super::names;
use super::ui::Ui;
use crate::text::escape;

pub(super) fn run(of: &ExperimentArgs, ui: &Ui) -> Result<u8, Failure> {
    let ExperimentVerb::Generate { directory, dossiers, gold } = &of.verb;
    let dossiers = chosen(dossiers)?;
    let labels = match gold {
        Some(gold) => Some((gold.as_path(), labels(gold, directory, &dossiers)?)),
        None => None,
    };
    let world = write_world(directory, &dossiers).map_err(world_failure)?;
    ui.line_or(
        || in_words(directory, &dossiers, world, labels),
        || document(directory, &dossiers, world, labels),
    );
    ui.hint(format!(
        "dossier import {}",
        escape(&directory.join("documents").display().to_string())
    ));
    Ok(exit::DONE)
}

/// The dossiers that are named, each once; all where none is.
fn chosen(named: &[String]) -> Result<Vec<Dossier>, Failure> {
    let mut dossiers = Vec::new();
    for name in named {
        let dossier = Dossier::parse(name.trim()).ok_or_else(|| {
            names::not_found(format!("dossier {name:?} of the controlled world"))
                .hint("it has S-010 to S-029 (test) and S-030 to S-039 (development)")
        })?;
        if !dossiers.contains(&dossier) {
            dossiers.push(dossier);
        }
    }
    Ok(if dossiers.is_empty() { Dossier::all().collect() } else { dossiers })
}

/// Writes the labels first, unless the world is going to be refused.
fn labels(gold: &Path, world: &Path, dossiers: &[Dossier]) -> Result<Written, Failure> {
    if let Some(marker) = find_marker(world) {
        return Err(world_failure(WriteWorldError::LabelsNearby {
            directory: world.to_path_buf(),
            marker,
        }));
    }
    write_gold(gold, world, dossiers).map_err(|error| match &error {
        WriteGoldError::NotApart { .. } => Failure::of(exit::DENIED, &error)
            .hint("write the labels to a folder that neither holds the world nor lies in it"),
        WriteGoldError::Files(files) => files_failure(&error, files),
    })
}

fn world_failure(error: WriteWorldError) -> Failure {
    match &error {
        WriteWorldError::LabelsNearby { .. } => Failure::of(exit::DENIED, &error)
            .hint("write the world to a folder apart from the labels"),
        WriteWorldError::Files(files) => files_failure(&error, files),
    }
}

fn files_failure(error: &dyn std::error::Error, files: &FilesError) -> Failure {
    let failure = Failure::of(exit::STORE, error);
    match files {
        FilesError::Differs { .. } => failure.hint("nothing was written; choose an empty folder"),
        _ => failure.hint("check that the folder can be written to and has room, then repeat"),
    }
}

type Labels<'a> = Option<(&'a Path, Written)>;

fn in_words(directory: &Path, dossiers: &[Dossier], world: Written, labels: Labels<'_>) -> String {
    let counted = |what: &str, written: Written, to: &Path| {
        let Written { created, unchanged } = written;
        let to = escape(&to.display().to_string());
        format!("{what}: {created} files written, {unchanged} unchanged, in {to}")
    };
    let mut words = counted(&format!("{} dossiers", dossiers.len()), world, directory);
    if let Some((gold, written)) = labels {
        words.push_str(&format!("\n{}", counted("labels", written, gold)));
    }
    words
}

fn document(directory: &Path, dossiers: &[Dossier], world: Written, labels: Labels<'_>) -> Value {
    let written = |written: Written, to: &Path| {
        json!({
            "directory": to.display().to_string(),
            "created": written.created,
            "unchanged": written.unchanged,
        })
    };
    json!({
        "schema": "dossier.generate/1",
        "dossiers": dossiers.iter().map(Dossier::to_string).collect::<Vec<_>>(),
        "world": written(world, directory),
        "gold": labels.map(|(gold, labels)| written(labels, gold)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dossiers_are_named_once_and_unknown_ones_refused() {
        let names =
            |names: &[&str]| chosen(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&[]).unwrap().len(), 30);
        assert_eq!(names(&["S-011", " S-010", "S-011"]).unwrap().len(), 2);
        let refused = names(&["S-010", "S-040"]).unwrap_err();
        assert_eq!(refused.code, exit::NOT_FOUND);
        assert!(refused.what.contains("S-040") && refused.hint.unwrap().contains("S-039"));
    }

    #[test]
    fn labels_and_world_stay_apart() {
        let folder = tempfile::tempdir().unwrap();
        let dossiers = chosen(&["S-010".to_owned()]).unwrap();
        let (world, gold) = (folder.path().join("world"), folder.path().join("gold"));
        assert_eq!(labels(&gold, &world, &dossiers).unwrap().created, 2);
        assert_eq!(labels(&world.join("gold"), &world, &dossiers).unwrap_err().code, exit::DENIED);
        let below = labels(&folder.path().join("other"), &gold.join("world"), &dossiers);
        assert_eq!(below.unwrap_err().code, exit::DENIED);
        assert!(!folder.path().join("other").exists());
    }
}
