//! `show`: serves a root or refuses it; with `--historical`, an old root under a loud label.

use dossier_store::Reader;
use serde_json::{Value, json};

use super::args::{Global, ShowArgs, ShowFormat};
use super::exit;
use super::failure::Failure;
use super::names::{self, Name};
use super::project::Project;
use super::ui::{self, Ui, faint, strong};
use crate::claims::Claim;
use crate::history::{self, Old};
use crate::output::NodeStatus;
use crate::serve::{Rebuild, Refusal, Served, Shown, Verdict, serve};
use crate::snapshot::AsOf;
use crate::stale::Cause;
use crate::support::Support;
use crate::text::escape;

pub(super) fn run(of: &ShowArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.read_only(ui)?;
    let reader = store.read()?;
    let json = ui.json || of.format == ShowFormat::Json;
    let earlier = match Name::parse(&of.target) {
        Name::Earlier { dossier, back } => Some((dossier, history::Point::Back(back))),
        Name::AsOf { dossier, event } => Some((dossier, history::Point::Event(event))),
        _ => None,
    };
    if let Some((dossier, point)) = earlier {
        return show_old(&reader, &project, &dossier, point, of, json, ui);
    }
    let name = names::dossier(&reader, &of.target)?.name;
    match serve(&reader, &project.question(&name, of.imported))? {
        Served::Refused(refusal) => Ok(refuse(&name, &refusal, json, ui)),
        Served::Shown(shown) => {
            let label = of.imported.then(|| format!("as of event {}", shown.as_of.event));
            match (json, of.format) {
                (true, _) => ui.document(&shown_document(&name, &shown)),
                (false, ShowFormat::Md) => ui.line(markdown(&name, &shown, label.as_deref())),
                (false, _) => ui.line(in_words(&name, &shown, label.as_deref())),
            }
            let partial = of.strict && shown.status == NodeStatus::Partial;
            Ok(if partial { exit::PARTIAL } else { exit::DONE })
        }
    }
}

fn refuse(name: &str, refusal: &Refusal, json: bool, ui: &Ui) -> u8 {
    let next = next_commands(name, refusal);
    match json {
        true => ui.document(&refusal_document(name, refusal, &next)),
        false => {
            ui.line(refusal_words(name, refusal));
            next.iter().for_each(|command| ui.hint(command));
        }
    }
    match refusal.verdict {
        Verdict::Current => exit::DONE,
        Verdict::Stale | Verdict::SourceUnreachable => exit::STALE,
        Verdict::NotBuilt => exit::NOT_BUILT,
        Verdict::Invalid => exit::INVALID,
    }
}

fn next_commands(name: &str, refusal: &Refusal) -> Vec<String> {
    let name = escape(name);
    match refusal.verdict {
        Verdict::SourceUnreachable => vec![
            format!("dossier show {name} --imported"),
            format!("dossier import PATH --dossier {name} --rebind"),
        ],
        Verdict::NotBuilt if refusal.reason == "no_documents" => {
            vec![format!("dossier import PATH --dossier {name}")]
        }
        Verdict::Stale => vec![
            format!("dossier build {name}"),
            format!("dossier why {name}"),
            format!("dossier show {name}@-0 --historical"),
        ],
        _ => vec![format!("dossier build {name}"), format!("dossier graph {name}")],
    }
}

fn refusal_words(name: &str, refusal: &Refusal) -> String {
    let mut words = format!(
        "{}  {}  {}",
        strong(&escape(name)),
        ui::status(refusal.verdict.as_str()),
        escape(&refusal.reason)
    );
    for cause in &refusal.causes {
        words.push_str(&format!("\n  because {}", cause_words(cause)));
    }
    if refusal.rebuild.missing > 0 {
        let Rebuild { hits, missing, model_calls } = refusal.rebuild;
        words.push_str(&format!(
            "\n  a rebuild realises at most {missing} nodes ({model_calls} model calls); {hits} are kept"
        ));
    }
    words.push_str("\n  nothing is shown");
    words
}

/// A cause with its event and its path to the root.
pub(super) fn cause_words(cause: &Cause) -> String {
    let event = cause.event.map(|event| format!(" (event {event})")).unwrap_or_default();
    format!("{}{event}: {}", escape(&cause.words), cause.path.join(" → "))
}

/// Causes as JSON.
pub(super) fn causes_document(causes: &[Cause]) -> Value {
    let cause = |cause: &Cause| {
        json!({
            "document": cause.document,
            "change": cause.change,
            "words": cause.words,
            "event": cause.event,
            "path": cause.path,
        })
    };
    causes.iter().map(cause).collect()
}

/// The cost of a rebuild as JSON.
pub(super) fn rebuild_document(rebuild: &Rebuild) -> Value {
    json!({
        "recomputed": rebuild.missing,
        "hit": rebuild.hits,
        "model_calls": rebuild.model_calls,
    })
}

fn as_of_document(as_of: &AsOf) -> Value {
    json!({ "event": as_of.event, "head": as_of.head.to_string() })
}

fn refusal_document(name: &str, refusal: &Refusal, next: &[String]) -> Value {
    json!({
        "schema": "dossier.refusal/1",
        "dossier": name,
        "verdict": refusal.verdict.as_str(),
        "reason": refusal.reason,
        "causes": causes_document(&refusal.causes),
        "rebuild": rebuild_document(&refusal.rebuild),
        "root_status": refusal.root_status.map(NodeStatus::as_str),
        "old_root": refusal.old_root.map(|root| root.to_string()),
        "new_root": refusal.new_root.map(|root| root.to_string()),
        "as_of": as_of_document(&refusal.as_of),
        "try": next,
    })
}

fn claim_document(claim: &Claim, support: Option<Support>) -> Value {
    let evidence: Vec<Value> = claim
        .evidence
        .iter()
        .map(|evidence| {
            json!({
                "evidence_id": evidence.id(),
                "doc_id": evidence.doc_id.as_str(),
                "version": evidence.version,
                "start": evidence.span.start,
                "end": evidence.span.end,
                "quote": evidence.quote,
                "text_sha256": evidence.text_sha256.hex(),
            })
        })
        .collect();
    json!({
        "id": claim.id().to_string(),
        "statement": claim.statement.id().to_string(),
        "subject": claim.statement.subject,
        "field": claim.statement.field,
        "value": claim.statement.value,
        "support": support.map(Support::as_str),
        "evidence": evidence,
    })
}

fn missing_document(missing: &[(String, NodeStatus)]) -> Value {
    let leaf =
        |(node, status): &(String, NodeStatus)| json!({ "node": node, "status": status.as_str() });
    missing.iter().map(leaf).collect()
}

fn shown_document(name: &str, shown: &Shown) -> Value {
    let claims: Vec<Value> =
        shown.claims.iter().map(|(claim, support)| claim_document(claim, Some(*support))).collect();
    json!({
        "schema": "dossier.show/1",
        "dossier": name,
        "root": shown.root.to_string(),
        "output": shown.output.to_string(),
        "verdict": Verdict::Current.as_str(),
        "root_status": shown.status.as_str(),
        "root_status_means": "structure only",
        "as_of": as_of_document(&shown.as_of),
        "claims": claims,
        "missing": missing_document(&shown.missing),
        "documents_without_claims": shown.silent,
    })
}

/// Claims grouped by the document they cite first, in the order of first mention.
fn by_document<'a>(claims: impl Iterator<Item = &'a Claim>) -> Vec<(String, Vec<&'a Claim>)> {
    let mut groups: Vec<(String, Vec<&Claim>)> = Vec::new();
    for claim in claims {
        let document = claim.evidence.first().map_or("", |evidence| evidence.doc_id.as_str());
        match groups.iter_mut().find(|(known, _)| known == document) {
            Some((_, group)) => group.push(claim),
            None => groups.push((document.to_owned(), vec![claim])),
        }
    }
    groups
}

fn in_words(name: &str, shown: &Shown, label: Option<&str>) -> String {
    let mut words = format!(
        "{}  {}  root {} (structure only)  {} claims",
        strong(&escape(name)),
        ui::status(label.map_or(Verdict::Current.as_str(), |_| "IMPORTED")),
        ui::status(shown.status.as_str()),
        shown.claims.len()
    );
    words.extend(label.map(|label| format!("  {label}")));
    for (document, claims) in by_document(shown.claims.iter().map(|(claim, _)| claim)) {
        words.push_str(&format!("\n\n{}", strong(&escape(&document))));
        for claim in claims {
            words.push_str(&claim_words(claim));
        }
    }
    words.push_str(&what_is_absent(shown));
    words
}

fn claim_words(claim: &Claim) -> String {
    let statement = &claim.statement;
    let mut words = format!(
        "\n  {} · {} · {}   {}",
        escape(&statement.subject),
        escape(&statement.field),
        escape(&statement.value),
        faint(&format!(
            "{} {}",
            &claim.id().to_string()[..18],
            crate::support::support(claim).as_str()
        ))
    );
    for evidence in &claim.evidence {
        words.push_str(&format!(
            "\n      “{}” {}",
            escape(&evidence.quote),
            faint(&escape(&evidence.id()))
        ));
    }
    words
}

fn what_is_absent(shown: &Shown) -> String {
    let mut words = String::new();
    if !shown.missing.is_empty() {
        let leaves: Vec<String> = shown
            .missing
            .iter()
            .map(|(node, status)| format!("{node} {}", status.as_str()))
            .collect();
        words.push_str(&format!("\n\nPARTIAL, since these gave nothing: {}", leaves.join(", ")));
    }
    if !shown.silent.is_empty() {
        let silent: Vec<String> = shown.silent.iter().map(|document| escape(document)).collect();
        words.push_str(&format!("\n\nDocuments that no claim cites: {}", silent.join(", ")));
    }
    words
}

fn markdown(name: &str, shown: &Shown, label: Option<&str>) -> String {
    let mut words = format!(
        "# {}\n\n{} · root {} (structure only) · {} claims · `{}`\n",
        markdown_text(name),
        label.unwrap_or(Verdict::Current.as_str()),
        shown.status.as_str(),
        shown.claims.len(),
        shown.root
    );
    for (document, claims) in by_document(shown.claims.iter().map(|(claim, _)| claim)) {
        words.push_str(&format!("\n## {}\n\n", markdown_text(&document)));
        for claim in claims {
            let statement = &claim.statement;
            words.push_str(&format!(
                "- {} — {}: **{}**\n",
                markdown_text(&statement.subject),
                markdown_text(&statement.field),
                markdown_text(&statement.value)
            ));
            for evidence in &claim.evidence {
                words.push_str(&format!(
                    "  > {} — {}\n",
                    markdown_text(&evidence.quote),
                    markdown_text(&evidence.id())
                ));
            }
        }
    }
    words.push_str(&what_is_absent(shown));
    words
}

/// Text that Markdown takes literally.
fn markdown_text(text: &str) -> String {
    let mut safe = String::new();
    for character in escape(text).chars() {
        if character.is_ascii_punctuation()
            && !matches!(character, ',' | '.' | ':' | ';' | '/' | '@')
        {
            safe.push('\\');
        }
        safe.push(character);
    }
    safe
}

fn show_old(
    reader: &Reader,
    project: &Project,
    dossier: &str,
    point: history::Point,
    of: &ShowArgs,
    json: bool,
    ui: &Ui,
) -> Result<u8, Failure> {
    if !of.historical {
        return Err(Failure::new(exit::STALE, format!("{} is an old root", of.target))
            .hint(format!("dossier show {} --historical", of.target)));
    }
    let dossier = names::dossier(reader, dossier)?;
    let old = history::old_root(reader, &dossier, &project.principal, point)?
        .ok_or_else(|| names::not_found(format!("root {}", of.target)))?;
    match json {
        true => ui.document(&old_document(&dossier.name, &old)),
        false => ui.line(old_words(&dossier.name, &old)),
    }
    Ok(exit::DONE)
}

fn old_words(name: &str, old: &Old) -> String {
    let mut words = format!(
        "{}  {}  {}\n  published as record {} after event {}; root {} (structure only)",
        strong(&escape(name)),
        ui::status("HISTORICAL"),
        "this is not the summary of the documents as they are",
        old.sequence,
        old.publication.event,
        ui::status(old.status.as_str())
    );
    if old.withheld > 0 {
        words.push_str(&format!(
            "\n  {} claims withheld: they cite documents that are withdrawn or revoked today",
            old.withheld
        ));
    }
    for (document, claims) in by_document(old.claims.iter()) {
        words.push_str(&format!("\n\n{}", strong(&escape(&document))));
        claims.into_iter().for_each(|claim| words.push_str(&claim_words(claim)));
    }
    words
}

fn old_document(name: &str, old: &Old) -> Value {
    let claims: Vec<Value> =
        old.claims.iter().map(|c| claim_document(c, Some(crate::support::support(c)))).collect();
    json!({
        "schema": "dossier.show/1",
        "dossier": name,
        "historical": true,
        "root": old.publication.root().to_string(),
        "output": old.publication.output().to_string(),
        "verdict": "HISTORICAL",
        "root_status": old.status.as_str(),
        "root_status_means": "structure only",
        "published": old.sequence,
        "as_of": { "event": old.publication.event, "head": old.head.to_string() },
        "claims": claims,
        "withheld": old.withheld,
        "missing": [],
    })
}
