//! Statements and claims. A statement says something; a claim is a statement with the exact
//! evidence it cites. Both have content ids: statements are followed through edits, claims name
//! exact characters.

pub mod answer;
pub mod json;

use dossier_store::encode::Value;

use crate::evidence::Evidence;

dossier_store::define_ids! {
    /// Names a statement, whatever it cites.
    StatementId, "statement", "dossier 2026-12 statement 1";
    /// Names a statement together with the exact evidence it cites.
    ClaimId, "claim", "dossier 2026-12 claim 1";
}

/// The most code points of a subject or value.
pub const MAX_LENGTH: usize = 120;
/// The most pieces of evidence a claim cites.
pub const MAX_EVIDENCE: usize = 4;

/// Something that is said.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    /// Of what.
    pub subject: String,
    /// Which of its fields.
    pub field: String,
    /// What that is.
    pub value: String,
}

/// A statement and what it cites.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// What is said.
    pub statement: Statement,
    /// One to four pieces of evidence.
    pub evidence: Vec<Evidence>,
}

impl Statement {
    /// The content id.
    pub fn id(&self) -> StatementId {
        StatementId::of(&self.value().encode())
    }

    pub(crate) fn value(&self) -> Value {
        let Self { subject, field, value } = self;
        Value::List(vec![subject.as_str().into(), field.as_str().into(), value.as_str().into()])
    }

    /// Reads the canonical form.
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let Value::List(parts) = value else { return None };
        let [Value::Text(subject), Value::Text(field), Value::Text(value)] =
            <[Value; 3]>::try_from(parts).ok()?
        else {
            return None;
        };
        Some(Self { subject, field, value })
    }
}

impl Claim {
    /// The content id.
    pub fn id(&self) -> ClaimId {
        ClaimId::of(&self.value().encode())
    }

    pub(crate) fn value(&self) -> Value {
        let evidence = self.evidence.iter().map(Evidence::value).collect();
        Value::List(vec![self.statement.value(), Value::List(evidence)])
    }

    /// Reads the canonical form.
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let Value::List(parts) = value else { return None };
        let [statement, Value::List(evidence)] = <[Value; 2]>::try_from(parts).ok()? else {
            return None;
        };
        let evidence = evidence.into_iter().map(Evidence::from_value).collect::<Option<_>>()?;
        Some(Self { statement: Statement::from_value(statement)?, evidence })
    }
}

/// Whether a character may not stand in a subject or value: controls (C0, DEL, C1), and what
/// embeds, overrides or isolates a reading direction (U+202A–202E, U+2066–2069). The plain marks
/// U+200E, U+200F and U+061C belong to right-to-left writing, reorder nothing but themselves, and
/// may stand.
pub fn is_forbidden(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a statement keeps the limits of every claim.
pub fn fits(statement: &Statement, fields: &[String]) -> bool {
    let sound = |text: &str| {
        (1..=MAX_LENGTH).contains(&text.chars().count()) && !text.contains(is_forbidden)
    };
    fields.contains(&statement.field) && sound(&statement.subject) && sound(&statement.value)
}

/// Claims in order, each statement once with the evidence of all its mentions, four pieces at most.
pub fn merge<'a>(claims: impl Iterator<Item = &'a Claim>) -> Vec<Claim> {
    let mut merged: Vec<Claim> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for claim in claims {
        let place = *places.entry(&claim.statement).or_insert_with(|| {
            merged.push(Claim { statement: claim.statement.clone(), evidence: Vec::new() });
            merged.len() - 1
        });
        let held = &mut merged[place].evidence;
        for evidence in &claim.evidence {
            if held.len() < MAX_EVIDENCE && !held.contains(evidence) {
                held.push(evidence.clone());
            }
        }
    }
    merged
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::document::{DocumentId, Span};
    use dossier_store::hash::Sha256;

    /// A claim with one piece of evidence, for tests.
    pub(crate) fn claim(subject: &str, value: &str, document: &str) -> Claim {
        Claim {
            statement: Statement {
                subject: subject.into(),
                field: "status".into(),
                value: value.into(),
            },
            evidence: vec![Evidence {
                doc_id: DocumentId::given(document).unwrap(),
                version: 1,
                span: Span { start: 0, end: 5 },
                quote: "quote".into(),
                text_sha256: Sha256([7; 32]),
            }],
        }
    }

    #[test]
    fn golden_digests() {
        let claim = claim("P-10-04", "open", "S/d.txt");
        assert_eq!(
            claim.statement.id().hex(),
            "b35418054ef07a76b478415b1d0461e82ec4a996769e1f697479be077746b2c7"
        );
        assert_eq!(
            claim.id().hex(),
            "93029dc54f854ef3a6f7fb98ccd6dd91bfe5519dc2514be360224b5677247c7e"
        );
    }

    #[test]
    fn a_statement_keeps_its_id_when_its_evidence_moves() {
        let (a, b) = (claim("s", "v", "S/a"), claim("s", "v", "S/b"));
        assert_eq!(a.statement.id(), b.statement.id());
        assert_ne!(a.id(), b.id());
    }

    #[test]
    fn merging_keeps_each_statement_once_with_all_its_evidence() {
        let claims = [claim("s", "v", "S/a"), claim("t", "v", "S/a"), claim("s", "v", "S/b")];
        let merged = merge(claims.iter());
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[0].evidence.len(), 2);
        assert_eq!(merge(merged.iter()), merged);
    }

    #[test]
    fn canonical_forms_read_back() {
        let claim = claim("s", "v", "S/a");
        assert_eq!(Claim::from_value(claim.value()), Some(claim));
    }
}
