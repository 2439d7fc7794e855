//! `prov`: follows a claim down to its quote.

use dossier_store::read::IdKind;
use serde_json::{Value, json};

use super::args::{Global, ProvArgs};
use super::exit;
use super::failure::Failure;
use super::names::{self, Name};
use super::project::Project;
use super::ui::{Ui, faint, strong};
use crate::provenance::{self, Hop, HopKind, Provenance, ProvenanceError};
use crate::text::escape;

pub(super) fn run(of: &ProvArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.read_only(ui)?;
    let reader = store.read()?;
    let digits = match Name::parse(&of.claim) {
        Name::Claim(digits) => digits,
        _ => {
            return Err(names::not_found(format!("claim {:?}", of.claim))
                .hint("give a claim's id, as `dossier show` prints it: claim:…"));
        }
    };
    let claim = names::claim(&reader, &digits)?;
    let found = provenance::trace(&reader, claim, &project.principal).map_err(failure)?;
    let short = |kind, prefix: &str, id: &[u8; 32]| names::short(&reader, kind, prefix, id);
    match ui.json {
        true => ui.document(&document(&found, of.check)),
        false => ui.line(in_words(&found, of.check, &short)),
    }
    let sound = found.hops.iter().all(|hop| hop.verified);
    Ok(if of.check && !sound { exit::STORE } else { exit::DONE })
}

fn failure(error: ProvenanceError) -> Failure {
    match error {
        ProvenanceError::Read(error) => error.into(),
        ProvenanceError::Snapshot(error) => error.into(),
        ProvenanceError::Denied { .. } => Failure::of(exit::DENIED, &error)
            .hint("restore the document, or ask whoever may grant access"),
        ProvenanceError::Unknown(_) | ProvenanceError::Unpublished(_) => {
            Failure::of(exit::NOT_FOUND, &error).hint("`dossier show` lists the claims of a root")
        }
        _ => Failure::of(exit::STORE, &error).hint("run `dossier store verify`"),
    }
}

fn document(found: &Provenance, check: bool) -> Value {
    let hops: Vec<Value> = found.hops.iter().map(|hop| hop_document(hop, check)).collect();
    json!({
        "schema": "dossier.prov/1",
        "claim": found.claim.id().to_string(),
        "statement": found.claim.statement.id().to_string(),
        "checked": check,
        "hops": hops,
    })
}

fn hop_document(hop: &Hop, check: bool) -> Value {
    let mut document = match &hop.kind {
        HopKind::Publication { dossier, sequence } => {
            json!({ "kind": "publication", "dossier": dossier, "sequence": sequence })
        }
        HopKind::Node { level, status, how, at_millis, tokens_out, remarks } => json!({
            "kind": level,
            "status": status.as_str(),
            "how": format!("{how:?}").to_lowercase(),
            "at": at_millis.map(moment),
            "tokens_out": tokens_out,
            "diagnostic": remarks.diagnostic,
        }),
        HopKind::Claim(claim) => json!({
            "kind": "claim",
            "subject": claim.statement.subject,
            "field": claim.statement.field,
            "value": claim.statement.value,
        }),
        HopKind::Evidence(evidence) => json!({
            "kind": "evidence",
            "doc_id": evidence.doc_id.as_str(),
            "version": evidence.version,
            "start": evidence.span.start,
            "end": evidence.span.end,
            "quote": evidence.quote,
        }),
        HopKind::Text { length } => json!({ "kind": "text", "bytes": length }),
    };
    document["id"] = json!(hop.id);
    document["verified"] = if check { json!(hop.verified) } else { Value::Null };
    document
}

fn moment(millis: u64) -> String {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(millis).map_or_else(|_| "unknown".into(), |at| at.to_string())
}

fn in_words(
    found: &Provenance,
    check: bool,
    short: &dyn Fn(IdKind, &str, &[u8; 32]) -> String,
) -> String {
    let statement = &found.claim.statement;
    let mut words = strong(&escape(&format!(
        "{} · {} · {}",
        statement.subject, statement.field, statement.value
    )));
    for hop in &found.hops {
        let mark = match (check, hop.verified) {
            (false, _) => "",
            (true, true) => "  verified",
            (true, false) => "  DOES NOT HOLD",
        };
        let id = match hop.kind {
            HopKind::Node { .. } => dossier_store::hash::DerivationId::parse(&hop.id)
                .map_or_else(|| hop.id.clone(), |id| short(IdKind::Derivation, "drv", &id.0)),
            _ => hop.id.clone(),
        };
        let shown = if id.len() > 90 { id[..30].to_owned() } else { id };
        words.push_str(&format!("\n  {}  {}{mark}", hop_words(hop), faint(&escape(&shown))));
    }
    words
}

fn hop_words(hop: &Hop) -> String {
    match &hop.kind {
        HopKind::Publication { dossier, sequence } => {
            format!("published as record {sequence} of {}", escape(dossier))
        }
        HopKind::Node { level, status, how, at_millis, .. } => {
            let at = at_millis.map(|at| format!(" at {}", moment(at))).unwrap_or_default();
            let how = format!("{how:?}").to_lowercase();
            format!("↳ {level} {} (structure only), {how}{at}", status.as_str())
        }
        HopKind::Claim(_) => "    states it as".into(),
        HopKind::Evidence(evidence) => format!("↳ “{}”", escape(&evidence.quote)),
        HopKind::Text { length } => format!("    in a text of {length} bytes"),
    }
}
