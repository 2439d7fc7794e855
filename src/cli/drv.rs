//! `drv`: the preimage of a derivation's id, in words. It holds ids, hashes and rules of the
//! recipe, and no text of a document.

use dossier_store::Reader;
use dossier_store::derivation::{Derivation, InputSource as _, Source};
use dossier_store::hash::{DerivationId, hex};
use dossier_store::read::Lookup as _;
use dossier_store::realisation::Realisation;
use serde_json::{Value, json};

use super::args::{DrvArgs, Global};
use super::exit;
use super::failure::Failure;
use super::names::{self, Name};
use super::project::Project;
use super::ui::{self, Ui, faint, strong};
use crate::explain::Fields;
use crate::history::{self, Point};
use crate::output::NodeStatus;
use crate::serve::Standing;
use crate::text::escape;

/// A derivation with what is known of it.
struct Found {
    id: DerivationId,
    derivation: Derivation,
    realisation: Option<Realisation>,
    observations: usize,
}

pub(super) fn run(of: &DrvArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.read_only(ui)?;
    let reader = store.read()?;
    let (id, derivation) =
        named(&reader, &project, &of.id).map_err(|failure| match failure.hint {
            None => failure.hint("name it as drv:…, S-010#leaf-04 or S-010@-1"),
            Some(_) => failure,
        })?;
    let found = Found {
        realisation: reader.realisation(id)?,
        observations: reader.observations(id)?.len(),
        id,
        derivation,
    };
    ui.line_or(|| in_words(&found), || document(&found));
    Ok(exit::DONE)
}

fn named(
    reader: &Reader,
    project: &Project,
    name: &str,
) -> Result<(DerivationId, Derivation), Failure> {
    match Name::parse(name) {
        Name::Derivation(digits) => stored(reader, names::derivation(reader, &digits)?),
        Name::Node { dossier, node } => in_graph(reader, project, &dossier, &node),
        Name::Dossier(dossier) => in_graph(reader, project, &dossier, "root"),
        Name::Earlier { dossier, back } => {
            published(reader, project, &dossier, Point::Back(back), name)
        }
        Name::AsOf { dossier, event } => {
            published(reader, project, &dossier, Point::Event(event), name)
        }
        _ => Err(names::not_found(format!("derivation {name:?}"))),
    }
}

fn stored(reader: &Reader, id: DerivationId) -> Result<(DerivationId, Derivation), Failure> {
    let derivation = reader.derivation(id)?.ok_or_else(|| {
        Failure::new(exit::STORE, format!("the preimage of {id} cannot be read"))
            .hint("run `dossier store verify`")
    })?;
    Ok((id, derivation))
}

/// A node of the graph of the documents as they are now; it need not be realised.
fn in_graph(
    reader: &Reader,
    project: &Project,
    dossier: &str,
    node: &str,
) -> Result<(DerivationId, Derivation), Failure> {
    let dossier = names::dossier(reader, dossier)?.name;
    let graph = Standing::find(reader, &project.question(&dossier, false))?.graph;
    let index = graph.find(node).ok_or_else(|| {
        names::not_found(format!("node {node:?} of {dossier}"))
            .hint(format!("dossier graph {dossier}"))
    })?;
    let node = graph.node(index);
    Ok((node.id, node.derivation.clone()))
}

/// A root that was published.
fn published(
    reader: &Reader,
    project: &Project,
    dossier: &str,
    point: Point,
    named: &str,
) -> Result<(DerivationId, Derivation), Failure> {
    let dossier = names::dossier(reader, dossier)?;
    let old = history::old_root(reader, &dossier, &project.principal, point)?;
    let old = old.ok_or_else(|| names::not_found(format!("root {named}")))?;
    stored(reader, old.publication.root())
}

fn status(realisation: &Realisation) -> &'static str {
    NodeStatus::from_code(realisation.status).map_or("unknown", NodeStatus::as_str)
}

fn source_id(source: &Source) -> String {
    match source {
        Source::Blob(id) => id.to_string(),
        Source::Derivation(id) => id.to_string(),
    }
}

fn in_words(found: &Found) -> String {
    let mut words = format!(
        "{}\n  {} bytes of canonical encoding\n",
        strong(&found.id.to_string()),
        found.derivation.encode().len()
    );
    words.push_str(&match &found.realisation {
        Some(realisation) => format!(
            "  realised: {} (structure only), {}\n  {}",
            ui::status(status(realisation)),
            format!("{:?}", realisation.how).to_lowercase(),
            realisation.output
        ),
        None => "  not realised".into(),
    });
    let fields = Fields::of(&found.derivation);
    let width = fields.keys().map(|field| field.chars().count()).max().unwrap_or(0);
    for (field, value) in &fields {
        words.push_str(&format!(
            "\n  {} {}",
            faint(&format!("{:width$}", escape(field))),
            escape(value)
        ));
    }
    words
}

fn document(found: &Found) -> Value {
    let preimage = found.derivation.encode();
    let input = |input: &dossier_store::derivation::Input<Source>| {
        json!({
            "role": input.role,
            "kind": input.source.named().0,
            "id": source_id(&input.source),
        })
    };
    json!({
        "schema": "dossier.drv/1",
        "id": found.id.to_string(),
        "fields": Fields::of(&found.derivation),
        "inputs": found.derivation.inputs.iter().map(input).collect::<Vec<_>>(),
        "preimage_bytes": preimage.len(),
        "preimage_hex": hex(&preimage),
        "realised": found.realisation.is_some(),
        "out": found.realisation.map(|realisation| realisation.output.to_string()),
        "status": found.realisation.as_ref().map(status),
        "how": found.realisation.map(|realisation| format!("{:?}", realisation.how).to_lowercase()),
        "resolved": found.realisation.map(|realisation| realisation.resolved.to_string()),
        "observations": found.observations,
    })
}
