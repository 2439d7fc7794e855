//! `store`: care of the store. Verifying reports every finding, never stops at the first, and
//! changes nothing in the store.

mod evidence;
mod verify;

use dossier_store::Store;
use dossier_store::read::Lookup as _;
use dossier_store::stats::Stats;
use serde_json::{Value, json};

use super::args::{Global, StoreArgs, StoreVerb};
use super::exit;
use super::failure::Failure;
use super::project::Project;
use super::ui::{Ui, strong};
use crate::text::escape;

pub(super) use verify::quick;

pub(super) fn run(of: &StoreArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.read_only(ui)?;
    match &of.verb {
        StoreVerb::Verify { subset, resume } => {
            verify::run(&project, &store, subset.as_deref(), *resume, ui)
        }
        StoreVerb::Stats => stats(&store, ui),
        StoreVerb::Head => head(&store, ui),
    }
}

fn head(store: &Store, ui: &Ui) -> Result<u8, Failure> {
    let head = store.read()?.head()?;
    ui.line_or(
        || format!("{} {}", head.sequence, head.id),
        || {
            json!({
                "schema": "dossier.head/1",
                "sequence": head.sequence,
                "record": head.id.to_string(),
            })
        },
    );
    Ok(exit::DONE)
}

fn stats(store: &Store, ui: &Ui) -> Result<u8, Failure> {
    let stats = store.stats()?;
    let path = store.path().display().to_string();
    ui.line_or(|| in_words(&path, &stats), || document(&path, &stats));
    Ok(exit::DONE)
}

fn in_words(path: &str, stats: &Stats) -> String {
    let file = stats.file_bytes.map_or_else(|| "unknown".into(), |bytes| bytes.to_string());
    let mut words = format!("{}  {file} bytes", escape(path));
    let heading =
        format!("{:<16}{:>12}{:>16}{:>16}{:>16}", "table", "entries", "stored", "tree", "free");
    words.push_str(&format!("\n{}", strong(&heading)));
    for table in &stats.tables {
        words.push_str(&format!(
            "\n{:<16}{:>12}{:>16}{:>16}{:>16}",
            table.table.name(),
            table.entries,
            table.stored_bytes,
            table.metadata_bytes,
            table.fragmented_bytes
        ));
    }
    words
}

fn document(path: &str, stats: &Stats) -> Value {
    let table = |table: &dossier_store::stats::TableStats| {
        json!({
            "table": table.table.name(),
            "entries": table.entries,
            "stored_bytes": table.stored_bytes,
            "metadata_bytes": table.metadata_bytes,
            "fragmented_bytes": table.fragmented_bytes,
        })
    };
    json!({
        "schema": "dossier.stats/1",
        "path": path,
        "file_bytes": stats.file_bytes,
        "tables": stats.tables.iter().map(table).collect::<Vec<_>>(),
    })
}
