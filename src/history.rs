//! Old roots, read under today's rights. They never become current by being looked at.

use dossier_store::hash::RecordId;
use dossier_store::read::{Lookup, ReadError};

use crate::claims::Claim;
use crate::event::Publication;
use crate::output::{NodeStatus, Output};
use crate::snapshot::Dossier;

/// A point of a dossier's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// So many publications before the last.
    Back(usize),
    /// The last publication that had seen nothing after this journal sequence.
    Event(u64),
}

/// An old root.
#[derive(Clone, Debug)]
pub struct Old {
    /// The publication.
    pub publication: Publication,
    /// Its place in the journal.
    pub sequence: u64,
    /// The journal as it was after the publication.
    pub head: RecordId,
    /// The root's status.
    pub status: NodeStatus,
    /// The claims whose sources may be read today.
    pub claims: Vec<Claim>,
    /// How many claims are not shown, because a source of theirs may not be read today.
    pub withheld: usize,
}

/// The root published for a principal at a point of history; none if there is no such point.
pub fn old_root(
    store: &impl Lookup,
    dossier: &Dossier,
    principal: &str,
    point: Point,
) -> Result<Option<Old>, ReadError> {
    let published = dossier.publications.iter().rev();
    let mut published = published.filter(|(_, publication)| publication.principal == principal);
    let found = match point {
        Point::Back(back) => published.nth(back),
        Point::Event(event) => published.find(|(_, publication)| publication.event <= event),
    };
    let Some((sequence, publication)) = found else { return Ok(None) };
    let Some(record) = store.record(*sequence)? else { return Ok(None) };
    let Some(bytes) = store.blob(publication.output())? else { return Ok(None) };
    let Ok(output) = Output::decode(&bytes) else { return Ok(None) };
    let (claims, hidden) = output.claims.into_iter().partition::<Vec<Claim>, _>(|claim| {
        claim.evidence.iter().all(|evidence| {
            let document = dossier.document(evidence.doc_id.as_str());
            document.is_some_and(|document| document.readable(principal))
        })
    });
    Ok(Some(Old {
        publication: publication.clone(),
        sequence: *sequence,
        head: record.id,
        status: output.status,
        claims,
        withheld: hidden.len(),
    }))
}
