//! `withdraw`, `restore`, `revoke`, `grant`: activity and rights, as events.

use dossier_store::Store;
use serde_json::json;

use super::args::{DocumentArgs, Global, GrantArgs, RevokeArgs};
use super::exit;
use super::failure::Failure;
use super::names;
use super::project::{Project, now_millis};
use super::ui::Ui;
use crate::event::{Author, EVENT, Event};
use crate::snapshot::Document;
use crate::text::escape;

pub(super) fn withdraw(of: &DocumentArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    append(&of.document, None, global, ui, |document| {
        let id = document.id.as_str().to_owned();
        // What a person withdraws stays withdrawn, whatever import finds.
        (document.withdrawn != Some(Author::User))
            .then_some(Event::Withdrawn { document: id, by: Author::User })
    })
}

pub(super) fn restore(of: &DocumentArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    append(&of.document, None, global, ui, |document| {
        let id = document.id.as_str().to_owned();
        (!document.active()).then_some(Event::Restored { document: id, by: Author::User })
    })
}

pub(super) fn revoke(of: &RevokeArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    append(&of.document, Some(&of.from), global, ui, |document| {
        document.eligible(&of.from).then(|| Event::Revoked {
            document: document.id.as_str().to_owned(),
            principal: of.from.clone(),
        })
    })
}

pub(super) fn grant(of: &GrantArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    append(&of.document, Some(&of.to), global, ui, |document| {
        (!document.eligible(&of.to)).then(|| Event::Granted {
            document: document.id.as_str().to_owned(),
            principal: of.to.clone(),
        })
    })
}

/// Appends the event that the document's state calls for; none if it is so already.
fn append(
    named: &str,
    whose: Option<&str>,
    global: &Global,
    ui: &Ui,
    event: impl Fn(&Document) -> Option<Event>,
) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    if let Some(principal) = whose {
        project.settings.principal(Some(principal))?;
    }
    let store = project.writable(ui)?;
    let (dossier, id, appended) = append_to(&store, named, event)?;
    let verb = appended.as_ref().map_or("unchanged", |(_, event)| event.verb());
    ui.line_or(
        || match &appended {
            Some((sequence, _)) => format!("event {sequence}: {} {verb}", escape(&id)),
            None => format!("{}: nothing to do", escape(&id)),
        },
        || {
            json!({
                "schema": "dossier.event/1",
                "dossier": dossier,
                "document": id,
                "change": verb,
                "event": appended.as_ref().map(|(sequence, _)| sequence),
            })
        },
    );
    if appended.is_some() {
        ui.hint(format!("dossier build {}", escape(&dossier)));
    }
    Ok(exit::DONE)
}

type Appended = (String, String, Option<(u64, Event)>);

fn append_to(
    store: &Store,
    named: &str,
    event: impl Fn(&Document) -> Option<Event>,
) -> Result<Appended, Failure> {
    // The name is resolved outside the transaction; the state is looked at again inside it.
    let id = names::document(&store.read()?, named)?.1.id.as_str().to_owned();
    let mut batch = store.write()?;
    let (dossier, document) = names::document(&batch, &id)?;
    let Some(event) = event(&document) else { return Ok((dossier.name, id, None)) };
    let record = batch.append(&dossier.name, EVENT, &event.encode(), now_millis())?;
    let sequence = record.sequence;
    batch.commit()?;
    Ok((dossier.name, id, Some((sequence, event))))
}
