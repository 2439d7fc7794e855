//! `graph`: the graph of the documents as they are now, with statuses.

use std::collections::BTreeSet;

use dossier_store::Reader;

use super::args::{Global, GraphArgs, GraphFormat};
use super::exit;
use super::failure::Failure;
use super::names::{self, Name};
use super::project::Project;
use super::ui::{self, Ui, faint, strong};
use crate::graph_view::{Drawing, Paint};
use crate::serve::Standing;
use crate::text::escape;

pub(super) fn run(of: &GraphArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.read_only(ui)?;
    let reader = store.read()?;
    let name = meant(&reader, of.target.as_deref())?;
    let standing = Standing::find(&reader, &project.question(&name, of.imported))?;
    let causes = standing.causes(&reader)?;
    let stale: BTreeSet<String> = causes.into_iter().flat_map(|cause| cause.path).collect();
    let dossier = &standing.current.dossier;
    let drawing = Drawing::of(dossier, &project.principal, &standing.graph, &standing.plan, &stale);
    let verdict = standing.verdict().0.as_str();
    match (ui.json, of.format) {
        (true, _) | (_, GraphFormat::Json) => {
            let mut document = drawing.json();
            document["verdict"] = verdict.into();
            ui.document(&document);
        }
        (_, GraphFormat::Tree) => {
            ui.line(format!("{}  {}", strong(&escape(&name)), ui::status(verdict)));
            ui.line(drawing.tree(Paint { state: &dressed, faint: &faint }));
        }
        (_, GraphFormat::Dot) => ui.line(drawing.dot()),
        (_, GraphFormat::Mermaid) => ui.line(drawing.mermaid()),
    }
    Ok(exit::DONE)
}

/// The dossier that is named, or the only one there is.
fn meant(reader: &Reader, target: Option<&str>) -> Result<String, Failure> {
    match target.map(Name::parse) {
        Some(Name::Dossier(name)) => Ok(names::dossier(reader, &name)?.name),
        Some(_) => Err(names::not_found(format!("dossier {:?}", target.unwrap_or_default()))
            .hint("`graph` draws a whole dossier as it is now, such as S-010")),
        None => match names::dossiers(reader, &[])?.as_slice() {
            [only] => Ok(only.clone()),
            known => {
                Err(Failure::new(exit::NOT_FOUND, format!("there are {} dossiers", known.len()))
                    .hint(if known.is_empty() {
                        "dossier import PATH"
                    } else {
                        "name one; `dossier status` lists them"
                    }))
            }
        },
    }
}

fn dressed(state: &str) -> String {
    match state {
        "missing" => faint(state),
        state => ui::status(state),
    }
}
