//! One resolver for every name form: dossiers, nodes, earlier roots, documents, versions, spans,
//! and prefixes of ids. An ambiguous name lists its candidates.

use dossier_store::hash::DerivationId;
use dossier_store::read::{IdKind, Lookup};

use super::exit;
use super::failure::Failure;
use crate::claims::ClaimId;
use crate::edges;
use crate::snapshot::{Document, Dossier};

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// A dossier, as of now.
    Dossier(String),
    /// A node of a dossier's graph.
    Node { dossier: String, node: String },
    /// The root published `back` publications before the last.
    Earlier { dossier: String, back: usize },
    /// The dossier as of a journal sequence.
    AsOf { dossier: String, event: u64 },
    /// A version of a document, or a span of it in code points.
    Version { document: String, version: u32, span: Option<(u64, u64)> },
    /// A document.
    Document(String),
    /// A derivation's id or prefix.
    Derivation(String),
    /// An output's id or prefix.
    Output(String),
    /// A claim's id or prefix.
    Claim(String),
    /// A statement's id or prefix.
    Statement(String),
}

impl Name {
    /// Reads a name; what it names need not exist.
    pub(super) fn parse(text: &str) -> Self {
        if let Some((kind, digits)) = text.split_once(':') {
            let digits = digits.to_owned();
            match kind {
                "drv" => return Self::Derivation(digits),
                "out" => return Self::Output(digits),
                "claim" => return Self::Claim(digits),
                "statement" => return Self::Statement(digits),
                _ => {}
            }
        }
        if let Some((dossier, node)) = text.split_once('#') {
            return Self::Node { dossier: dossier.into(), node: node.into() };
        }
        match text.rsplit_once('@').and_then(|(what, point)| at(what, point)) {
            Some(name) => name,
            None if text.contains('/') => Self::Document(text.into()),
            None => Self::Dossier(text.into()),
        }
    }
}

fn at(what: &str, point: &str) -> Option<Name> {
    let what = what.to_owned();
    if let Some(back) = point.strip_prefix('-') {
        return Some(Name::Earlier { dossier: what, back: back.parse().ok()? });
    }
    if let Some(event) = point.strip_prefix('e') {
        return Some(Name::AsOf { dossier: what, event: event.parse().ok()? });
    }
    let mut numbers = point.split(':');
    let version = numbers.next()?.parse().ok()?;
    let span = match (numbers.next(), numbers.next(), numbers.next()) {
        (None, ..) => None,
        (Some(start), Some(end), None) => Some((start.parse().ok()?, end.parse().ok()?)),
        _ => return None,
    };
    Some(Name::Version { document: what, version, span })
}

/// A name that means nothing here.
pub(super) fn not_found(what: impl std::fmt::Display) -> Failure {
    Failure::new(exit::NOT_FOUND, format!("{what} was not found"))
}

/// The dossiers that are meant: those named, or all.
pub(super) fn dossiers(store: &impl Lookup, named: &[String]) -> Result<Vec<String>, Failure> {
    let known = store.topics()?;
    if named.is_empty() {
        return Ok(known);
    }
    for name in named {
        if !known.contains(name) {
            return Err(unknown_dossier(name, &known));
        }
    }
    Ok(named.to_vec())
}

/// The dossier with this name.
pub(super) fn dossier(store: &impl Lookup, name: &str) -> Result<Dossier, Failure> {
    let dossier = Dossier::read(store, name)?;
    match dossier.is_known() {
        true => Ok(dossier),
        false => Err(unknown_dossier(name, &store.topics()?)),
    }
}

fn unknown_dossier(name: &str, known: &[String]) -> Failure {
    let failure = not_found(format!("dossier {name:?}"));
    match known {
        [] => failure.hint("run `dossier import` to add one"),
        known => failure.hint(format!("known dossiers: {}", some(known))),
    }
}

/// The document that is meant, with its dossier: by its id, or by the end of its id where that
/// is unambiguous.
pub(super) fn document(store: &impl Lookup, named: &str) -> Result<(Dossier, Document), Failure> {
    let mut found: Vec<(Dossier, Document)> = Vec::new();
    for topic in store.topics()? {
        let dossier = Dossier::read(store, &topic)?;
        if let Some(document) = dossier.document(named).cloned() {
            return Ok((dossier, document));
        }
        let documents = dossier.documents.clone();
        let alike = documents.into_iter().filter(|document| ends_with(document.id.as_str(), named));
        found.extend(alike.map(|document| (dossier.clone(), document)));
    }
    match found.len() {
        0 => Err(not_found(format!("document {named:?}"))),
        1 => Ok(found.swap_remove(0)),
        _ => {
            let ids: Vec<String> =
                found.iter().map(|(_, document)| document.id.as_str().to_owned()).collect();
            Err(ambiguous(named, &ids))
        }
    }
}

/// Whether an id ends with these path components; the last one's extension may be left out.
fn ends_with(id: &str, named: &str) -> bool {
    let ends = |id: &str| id.strip_suffix(named).is_some_and(|before| before.ends_with('/'));
    ends(id) || id.rsplit_once('.').is_some_and(|(stem, _)| ends(stem))
}

fn ambiguous(named: &str, candidates: &[String]) -> Failure {
    Failure::new(exit::NOT_FOUND, format!("{named:?} is ambiguous"))
        .hint(format!("name one of: {}", some(candidates)))
}

fn some(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut words = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        words = format!("{words}, … ({} in all)", names.len());
    }
    words
}

/// The derivation with this id or prefix.
pub(super) fn derivation(store: &impl Lookup, digits: &str) -> Result<DerivationId, Failure> {
    by_prefix(store, IdKind::Derivation, "drv", digits).map(DerivationId)
}

/// The claim with this id or prefix.
pub(super) fn claim(store: &impl Lookup, digits: &str) -> Result<ClaimId, Failure> {
    by_prefix(store, IdKind::From(edges::CLAIM_OF), "claim", digits).map(ClaimId)
}

fn by_prefix(
    store: &impl Lookup,
    kind: IdKind,
    prefix: &str,
    digits: &str,
) -> Result<[u8; 32], Failure> {
    let hexadecimal = digits.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase());
    if !hexadecimal || !(4..=64).contains(&digits.len()) {
        return Err(Failure::new(
            exit::NOT_FOUND,
            format!("{prefix}:{digits} is no id: give 4 to 64 lower-case hexadecimal digits"),
        ));
    }
    let found = store.ids_with_prefix(kind, digits, 13)?;
    match found.as_slice() {
        [] => Err(not_found(format!("{prefix}:{digits}"))),
        [one] => Ok(*one),
        many => {
            let ids: Vec<String> = many
                .iter()
                .map(|id| format!("{prefix}:{}", &dossier_store::hash::hex(id)[..16]))
                .collect();
            Err(ambiguous(&format!("{prefix}:{digits}"), &ids))
        }
    }
}

/// An id as text shows it: the shortest unambiguous prefix, of 8 digits at least.
pub(super) fn short(store: &impl Lookup, kind: IdKind, prefix: &str, id: &[u8; 32]) -> String {
    let digits = dossier_store::hash::hex(id);
    let unique = |length: &usize| {
        let alike = store.ids_with_prefix(kind, &digits[..*length], 2);
        alike.is_ok_and(|alike| alike.len() < 2)
    };
    let length = (8..64).step_by(4).find(unique).unwrap_or(64);
    format!("{prefix}:{}", &digits[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let version = |version, span| Name::Version { document: "S/d.txt".into(), version, span };
        for (text, name) in [
            ("S-010", Name::Dossier("S-010".into())),
            ("S-010#root", Name::Node { dossier: "S-010".into(), node: "root".into() }),
            ("S-010@-1", Name::Earlier { dossier: "S-010".into(), back: 1 }),
            ("S-010@e12", Name::AsOf { dossier: "S-010".into(), event: 12 }),
            ("S/d.txt@2", version(2, None)),
            ("S/d.txt@2:120:154", version(2, Some((120, 154)))),
            ("S/d.txt", Name::Document("S/d.txt".into())),
            ("drv:12ab", Name::Derivation("12ab".into())),
            ("claim:12ab", Name::Claim("12ab".into())),
        ] {
            assert_eq!(Name::parse(text), name, "{text}");
        }
    }

    #[test]
    fn a_document_is_known_by_the_end_of_its_id() {
        assert!(ends_with("S-010/DOC-04.txt", "DOC-04.txt"));
        assert!(ends_with("S-010/DOC-04.txt", "DOC-04"));
        assert!(!ends_with("S-010/DOC-04.txt", "04"));
    }
}
