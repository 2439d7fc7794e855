//! `cat`: the exact text of a version, or a span of it, under today's rights.

use dossier_store::Reader;
use dossier_store::hash::Sha256;
use dossier_store::read::Lookup as _;
use serde_json::json;

use super::args::{CatArgs, Global};
use super::exit;
use super::failure::Failure;
use super::names::{self, Name};
use super::project::Project;
use super::ui::Ui;
use crate::document::Span;
use crate::event::{EVENT, Event};
use crate::snapshot::{Document, Version};

pub(super) fn run(of: &CatArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.read_only(ui)?;
    let reader = store.read()?;
    let (named, version, span) = wanted(&of.version)?;
    let (dossier, document) =
        names::document(&reader, &named).map_err(|failure| match failure.hint {
            None => failure
                .hint("name a version as DOC@2 or DOC@2:120:154; `dossier graph` lists documents"),
            Some(_) => failure,
        })?;
    refuse_unreadable(&document, &project.principal)?;
    let number = version.unwrap_or(document.current);
    let version = shown_version(&reader, &dossier.name, &document, number)?;
    let whole = text(&reader, &document, number, version)?;
    let length = whole.chars().count() as u64;
    let (start, end) = span.unwrap_or((0, length));
    let text = match span {
        Some((start, end)) => slice(&whole, Span { start, end }, length)?,
        None => &whole,
    };
    match ui.json {
        true => ui.document(&json!({
            "schema": "dossier.cat/1",
            "doc_id": document.id.as_str(),
            "version": number,
            "start": start,
            "end": end,
            "text": text,
            "text_sha256": version.text_sha256.hex(),
            "out": version.blob.to_string(),
        })),
        false => ui.exact(text),
    }
    Ok(exit::DONE)
}

type Wanted = (String, Option<u32>, Option<(u64, u64)>);

/// The document, its version where one is named, and the span where one is named.
fn wanted(text: &str) -> Result<Wanted, Failure> {
    match Name::parse(text) {
        Name::Version { document, version, span } => Ok((document, Some(version), span)),
        Name::Document(document) | Name::Dossier(document) => Ok((document, None, None)),
        _ => Err(names::not_found(format!("version {text:?}"))
            .hint("name a version as DOC@2, or a span of it as DOC@2:120:154")),
    }
}

/// Rights come before everything else: not even the number of versions is told.
fn refuse_unreadable(document: &Document, principal: &str) -> Result<(), Failure> {
    let id = document.id.as_str();
    match (document.active(), document.eligible(principal)) {
        (false, _) => Err(Failure::new(exit::DENIED, format!("{id} is withdrawn"))
            .hint(format!("dossier restore {id}"))),
        (true, false) => {
            Err(Failure::new(exit::DENIED, format!("{id} is revoked from {principal}"))
                .hint(format!("dossier grant {id} --to {principal}")))
        }
        (true, true) => Ok(()),
    }
}

/// The version with this number, if an activation ever showed it.
fn shown_version<'a>(
    reader: &Reader,
    dossier: &str,
    document: &'a Document,
    number: u32,
) -> Result<&'a Version, Failure> {
    let id = document.id.as_str();
    let mut last = 0;
    for record in reader.records(dossier)?.iter().filter(|record| record.kind == EVENT) {
        match Event::decode(record).map_err(|error| Failure::of(exit::STORE, &error))? {
            Event::Activated { document, version, .. } if document == id => {
                last = last.max(version);
            }
            _ => {}
        }
    }
    let version = (number as usize).checked_sub(1).filter(|_| number <= last);
    version.and_then(|at| document.versions.get(at)).ok_or_else(|| {
        names::not_found(format!("version {number} of {id}"))
            .hint(format!("it has versions 1 to {last}; the current one is {}", document.current))
    })
}

/// The text, hashed again: the store does so by its own id, and here by the version's record.
fn text(
    reader: &Reader,
    document: &Document,
    number: u32,
    version: &Version,
) -> Result<String, Failure> {
    let damaged = |what: &str| {
        let id = document.id.as_str();
        Failure::new(exit::STORE, format!("the text of {id}@{number} {what}"))
            .hint("run `dossier store verify`, and `dossier import` to store it again")
    };
    let bytes = reader.blob(version.blob)?.ok_or_else(|| damaged("is missing from the store"))?;
    if Sha256::of(&bytes) != version.text_sha256 {
        return Err(damaged("has another SHA-256 than its record"));
    }
    String::from_utf8(bytes).map_err(|_| damaged("is not UTF-8"))
}

/// The span's characters; a span that cannot be is misuse, one beyond the text is not found.
fn slice(text: &str, span: Span, length: u64) -> Result<&str, Failure> {
    let Span { start, end } = span;
    let fault = |code, what: &str| {
        Err(Failure::new(code, format!("span {start}:{end} {what}"))
            .hint("give START:END in code points, END beyond START"))
    };
    match span.slice(text) {
        Some(text) => Ok(text),
        None if start == end => fault(exit::USAGE, "is empty"),
        None if start > end => fault(exit::USAGE, "ends before it starts"),
        None => {
            fault(exit::NOT_FOUND, &format!("is out of range: the text has {length} code points"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str, start: u64, end: u64) -> u8 {
        slice(text, Span { start, end }, text.chars().count() as u64).unwrap_err().code
    }

    #[test]
    fn spans_count_code_points_and_faulty_ones_are_named() {
        assert_eq!(slice("Đà Nẵng", Span { start: 3, end: 7 }, 7).unwrap(), "Nẵng");
        assert_eq!(code("abc", 1, 1), exit::USAGE);
        assert_eq!(code("abc", 2, 1), exit::USAGE);
        assert_eq!(code("abc", 2, 4), exit::NOT_FOUND);
        assert_eq!(code("abc", 0, u64::MAX), exit::NOT_FOUND);
    }

    #[test]
    fn a_document_without_a_version_means_the_current_one() {
        assert_eq!(wanted("S/a.txt").unwrap(), ("S/a.txt".into(), None, None));
        assert_eq!(wanted("S/a.txt@2:1:3").unwrap(), ("S/a.txt".into(), Some(2), Some((1, 3))));
        assert_eq!(wanted("S-010#root").unwrap_err().code, exit::NOT_FOUND);
    }
}
