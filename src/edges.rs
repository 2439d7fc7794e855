//! Reverse edges that are written with a realisation: from a document to the claims that cite it,
//! from a claim to the nodes in which it arose, from a statement to its claims. Further up, the
//! store's own input → user edges lead on.

use bincode::{Decode, Encode};
use dossier_store::hash::DerivationId;
use dossier_store::realisation::Edge;

use crate::claims::Claim;

dossier_store::define_ids! {
    /// Names a document as the start of edges.
    DocumentKey, "doc", "dossier 2026-12 document key 1";
}

/// From a document to a claim that cites it; the detail is a [`Citation`].
pub const CITED_BY: u8 = 1;
/// From a claim to a derivation in whose output it arose.
pub const CLAIM_OF: u8 = 2;
/// From a statement to a claim that makes it.
pub const MADE_BY: u8 = 3;

/// Where a claim cites a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Citation {
    /// The document's version.
    pub version: u32,
    /// The first code point.
    pub start: u64,
    /// One past the last code point.
    pub end: u64,
}

/// The edges of claims that arise in this derivation.
pub fn of_claims<'a>(
    derivation: DerivationId,
    claims: impl IntoIterator<Item = &'a Claim>,
) -> Vec<Edge> {
    let mut edges = Vec::new();
    for claim in claims {
        let id = claim.id();
        edges.push(edge(CLAIM_OF, id.0, derivation.0, Vec::new()));
        edges.push(edge(MADE_BY, claim.statement.id().0, id.0, Vec::new()));
        for evidence in &claim.evidence {
            let from = DocumentKey::of(evidence.doc_id.as_str().as_bytes());
            let citation = Citation {
                version: evidence.version,
                start: evidence.span.start,
                end: evidence.span.end,
            };
            edges.push(edge(CITED_BY, from.0, id.0, dossier_store::codec::encode(&citation)));
        }
    }
    edges
}

fn edge(relation: u8, from: [u8; 32], to: [u8; 32], detail: Vec<u8>) -> Edge {
    Edge { relation, from, to, detail }
}
