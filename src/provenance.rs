//! Where a claim comes from: claim → root → reduces → leaf → evidence → the quote in its exact
//! version. Every hop is read through its hash; with a check, each is hashed once more.

use dossier_store::hash::{DerivationId, Sha256};
use dossier_store::read::{Lookup, ReadError};
use dossier_store::realisation::How;

use crate::claims::{Claim, ClaimId};
use crate::edges;
use crate::event::{Publication, RecordError};
use crate::evidence::Evidence;
use crate::output::{NodeStatus, Output};
use crate::realise::node::Remarks;
use crate::snapshot::{Dossier, SnapshotError};

/// One step from the root down to a quote.
#[derive(Clone, Debug)]
pub struct Hop {
    /// What stands here.
    pub kind: HopKind,
    /// The full id of what stands here.
    pub id: String,
    /// Whether hashing it again gave this id.
    pub verified: bool,
}

/// What stands at a step.
#[derive(Clone, Debug)]
pub enum HopKind {
    /// A published root.
    Publication {
        /// The dossier.
        dossier: String,
        /// The publication's place in the journal.
        sequence: u64,
    },
    /// A node whose output holds the claim.
    Node {
        /// `root`, `reduce` or `leaf`.
        level: &'static str,
        /// Its status.
        status: NodeStatus,
        /// How it came about.
        how: How,
        /// When it was first produced, in milliseconds since 1970; none for a cut-off node.
        at_millis: Option<u64>,
        /// Tokens generated for it.
        tokens_out: u64,
        /// What the answer's reader remarked.
        remarks: Remarks,
    },
    /// The claim as it stands in that node's output.
    Claim(Box<Claim>),
    /// A cited piece of evidence.
    Evidence(Box<Evidence>),
    /// The text that holds the quote.
    Text {
        /// Its bytes.
        length: u64,
    },
}

/// A claim's whole way.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The claim.
    pub claim: Claim,
    /// The steps, from the publication to the quotes.
    pub hops: Vec<Hop>,
}

/// Why there is no provenance.
#[derive(Debug, thiserror::Error)]
pub enum ProvenanceError {
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A dossier's journal could not be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A journal record could not be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The claim is not in the store.
    #[error("{0} is in no output")]
    Unknown(ClaimId),
    /// A source of the claim is withdrawn, or hidden from the principal.
    #[error("{claim} cites a document that {principal} may not read now")]
    Denied {
        /// The claim.
        claim: ClaimId,
        /// Who asked.
        principal: String,
    },
    /// The claim arose in a node, but no published root holds it.
    #[error("{0} is in no published root")]
    Unpublished(ClaimId),
    /// Something on the way is gone.
    #[error("{what} {id} on the way of the claim cannot be read")]
    Broken {
        /// What it is.
        what: &'static str,
        /// Its id.
        id: String,
    },
}

/// Follows a claim from its latest published root down to its quotes.
pub fn trace(
    store: &impl Lookup,
    id: ClaimId,
    principal: &str,
) -> Result<Provenance, ProvenanceError> {
    let claim = find(store, id)?;
    let dossier = dossier_of(store, &claim)?;
    let readable = |evidence: &Evidence| {
        let document = dossier.document(evidence.doc_id.as_str());
        document.is_some_and(|document| document.readable(principal))
    };
    if !claim.evidence.iter().all(readable) {
        return Err(ProvenanceError::Denied { claim: id, principal: principal.to_owned() });
    }
    let (sequence, published) = publication_of(store, &dossier, principal, &claim)?;
    let mut way = Way { store, dossier: &dossier, hops: Vec::new(), seen: Vec::new() };
    way.publication(sequence, &published)?;
    for evidence in &claim.evidence {
        way.descend(published.root(), &claim, evidence)?;
        way.evidence(evidence)?;
    }
    Ok(Provenance { hops: way.hops, claim })
}

/// The claim with this id, from an output in which it arose.
pub fn find(store: &impl Lookup, id: ClaimId) -> Result<Claim, ProvenanceError> {
    for edge in store.edges(edges::CLAIM_OF, &id.0)? {
        if let Some((_, output)) = output_of(store, DerivationId(edge.to))?
            && let Some(claim) = output.claims.into_iter().find(|claim| claim.id() == id)
        {
            return Ok(claim);
        }
    }
    Err(ProvenanceError::Unknown(id))
}

fn dossier_of(store: &impl Lookup, claim: &Claim) -> Result<Dossier, ProvenanceError> {
    let document = claim.evidence.first().map_or("", |evidence| evidence.doc_id.as_str());
    let name = document.split_once('/').map_or(document, |(dossier, _)| dossier);
    Ok(Dossier::read(store, name)?)
}

/// The latest publication for the principal whose root holds the claim.
fn publication_of(
    store: &impl Lookup,
    dossier: &Dossier,
    principal: &str,
    claim: &Claim,
) -> Result<(u64, Publication), ProvenanceError> {
    for (sequence, publication) in dossier.publications.iter().rev() {
        let held = publication.principal == principal
            && output_of(store, publication.root())?
                .is_some_and(|(_, output)| output.claims.contains(claim));
        if held {
            return Ok((*sequence, publication.clone()));
        }
    }
    Err(ProvenanceError::Unpublished(claim.id()))
}

fn output_of(
    store: &impl Lookup,
    derivation: DerivationId,
) -> Result<Option<(dossier_store::realisation::Realisation, Output)>, ReadError> {
    let Some(realisation) = store.realisation(derivation)? else { return Ok(None) };
    let Some(bytes) = store.blob(realisation.output)? else { return Ok(None) };
    Ok(Output::decode(&bytes).ok().map(|output| (realisation, output)))
}

/// The steps gathered so far.
struct Way<'a, L> {
    store: &'a L,
    dossier: &'a Dossier,
    hops: Vec<Hop>,
    seen: Vec<String>,
}

impl<L: Lookup> Way<'_, L> {
    /// Adds a step, unless it stands there already.
    fn step(&mut self, kind: HopKind, id: String, verified: bool) {
        if !self.seen.contains(&id) {
            self.seen.push(id.clone());
            self.hops.push(Hop { kind, id, verified });
        }
    }

    fn publication(
        &mut self,
        sequence: u64,
        publication: &Publication,
    ) -> Result<(), ProvenanceError> {
        let broken = |id: u64| ProvenanceError::Broken { what: "record", id: id.to_string() };
        let record = self.store.record(sequence)?.ok_or_else(|| broken(sequence))?;
        let verified = record.computed_id() == record.id
            && Publication::decode(&record)?.root == publication.root;
        let dossier = self.dossier.name.clone();
        self.step(HopKind::Publication { dossier, sequence }, record.id.to_string(), verified);
        Ok(())
    }

    /// From a node to the leaf in which the claim cites this evidence.
    fn descend(
        &mut self,
        root: DerivationId,
        claim: &Claim,
        evidence: &Evidence,
    ) -> Result<(), ProvenanceError> {
        let mut next = Some((root, claim.clone(), "root"));
        while let Some((id, claim, level)) = next {
            let broken = || ProvenanceError::Broken { what: "node", id: id.to_string() };
            let derivation = self.store.derivation(id)?.ok_or_else(broken)?;
            let (realisation, output) = output_of(self.store, id)?.ok_or_else(broken)?;
            let verified = derivation.id() == id
                && dossier_store::hash::BlobId::of(&output.encode()) == realisation.output
                && output.claims.contains(&claim);
            let kind = self.node(level, id, output.status, realisation.how)?;
            self.step(kind, id.to_string(), verified);
            let claim_verified = verified;
            self.step(
                HopKind::Claim(Box::new(claim.clone())),
                claim.id().to_string(),
                claim_verified,
            );
            next = self.child_with(derivation.input_derivations(), &claim, evidence)?;
        }
        Ok(())
    }

    /// The child whose output makes the same statement from this evidence.
    fn child_with(
        &self,
        children: impl Iterator<Item = DerivationId>,
        claim: &Claim,
        evidence: &Evidence,
    ) -> Result<Option<(DerivationId, Claim, &'static str)>, ProvenanceError> {
        for child in children {
            let Some((_, output)) = output_of(self.store, child)? else { continue };
            let found = output
                .claims
                .into_iter()
                .find(|held| held.statement == claim.statement && held.evidence.contains(evidence));
            if let Some(found) = found {
                let derivation = self.store.derivation(child)?;
                let is_leaf = derivation
                    .is_some_and(|derivation| derivation.arguments.contains_key("source"));
                return Ok(Some((child, found, if is_leaf { "leaf" } else { "reduce" })));
            }
        }
        Ok(None)
    }

    fn node(
        &self,
        level: &'static str,
        id: DerivationId,
        status: NodeStatus,
        how: How,
    ) -> Result<HopKind, ProvenanceError> {
        let first = self.store.observations(id)?.first().copied();
        let observation = match first {
            Some(first) => self.store.observation(first)?,
            None => None,
        };
        let run = observation.map(|observation| observation.run);
        let remarks = run.as_ref().and_then(|run| dossier_store::codec::decode(&run.detail).ok());
        Ok(HopKind::Node {
            level,
            status,
            how,
            at_millis: run.as_ref().map(|run| run.at_millis),
            tokens_out: run.as_ref().map_or(0, |run| run.tokens_out),
            remarks: remarks.unwrap_or_default(),
        })
    }

    /// The evidence and the text it quotes.
    fn evidence(&mut self, evidence: &Evidence) -> Result<(), ProvenanceError> {
        let broken = || ProvenanceError::Broken { what: "text of", id: evidence.id() };
        let document = self.dossier.document(evidence.doc_id.as_str()).ok_or_else(broken)?;
        let version = (evidence.version as usize).checked_sub(1);
        let version = version.and_then(|at| document.versions.get(at)).ok_or_else(broken)?;
        let text = self.store.blob(version.blob)?.ok_or_else(broken)?;
        let sound = Sha256::of(&text) == evidence.text_sha256
            && evidence.text_sha256 == version.text_sha256;
        let quoted = std::str::from_utf8(&text).ok().and_then(|text| evidence.span.slice(text));
        let verified = sound && quoted == Some(evidence.quote.as_str());
        self.step(HopKind::Evidence(Box::new(evidence.clone())), evidence.id(), verified);
        let length = text.len() as u64;
        self.step(HopKind::Text { length }, format!("sha256:{}", evidence.text_sha256), sound);
        Ok(())
    }
}
