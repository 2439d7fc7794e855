//! Serving: recompute the root's id from the documents as they are now, then show the root or
//! refuse. A root with another id is refused before any claim is decoded. Needs no model.

use dossier_store::encode::{Map, Value};
use dossier_store::hash::{BlobId, DerivationId};
use dossier_store::read::{Lookup, ReadError};

use crate::claims::Claim;
use crate::current::{Current, CurrentError, Now};
use crate::event::Publication;
use crate::evidence::{self, EvidenceFault};
use crate::graph::Graph;
use crate::instantiate::Instantiation;
use crate::output::{NodeStatus, Output};
use crate::plan::{Plan, Planned};
use crate::settings::{RealiserName, Settings};
use crate::snapshot::{AsOf, Dossier};
use crate::stale::{self, Cause, StaleError};
use crate::support::{Support, support};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The dossier.
    pub dossier: &'a str,
    /// For whom.
    pub principal: &'a str,
    /// The settings as they are now.
    pub settings: &'a Settings,
    /// The declared model, for recipes that have one.
    pub model_sha256: Option<dossier_store::hash::Sha256>,
    /// What 'now' means.
    pub now: Now,
    /// Who would build, instead of whoever built last.
    pub realiser: Option<RealiserName>,
}

/// Whether a root may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the summary of the documents as they are.
    Current,
    /// The documents, rights or recipe changed since.
    Stale,
    /// Nothing was built for this principal, or there is nothing to build from.
    NotBuilt,
    /// The folder cannot be looked at.
    SourceUnreachable,
    /// The root itself is INVALID, INELIGIBLE or OVER_BUDGET, or an evidence reference does not
    /// hold.
    Invalid,
}

impl Verdict {
    /// The verdict as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "CURRENT",
            Self::Stale => "STALE",
            Self::NotBuilt => "NOT_BUILT",
            Self::SourceUnreachable => "SOURCE_UNREACHABLE",
            Self::Invalid => "INVALID",
        }
    }
}

/// The most that a rebuild costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuild {
    /// Nodes that are realised already.
    pub hits: usize,
    /// Nodes that have to be realised.
    pub missing: usize,
    /// Calls of the model, at most.
    pub model_calls: usize,
}

/// A root that may be shown.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its derivation.
    pub root: DerivationId,
    /// Its output.
    pub output: BlobId,
    /// VALID or PARTIAL.
    pub status: NodeStatus,
    /// Its claims, and how each is supported by what it cites.
    pub claims: Vec<(Claim, Support)>,
    /// Leaves that did not give what they should have, with their status.
    pub missing: Vec<(String, NodeStatus)>,
    /// Documents that take part and that no claim cites.
    pub silent: Vec<String>,
    /// The point of the journal this speaks of.
    pub as_of: AsOf,
}

/// Why nothing is shown.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict's reason in a code: `no_documents`, `never_built`, `root_invalid`, an evidence
    /// code, and the like.
    pub reason: String,
    /// The first causes of staleness.
    pub causes: Vec<Cause>,
    /// What a rebuild costs.
    pub rebuild: Rebuild,
    /// The status of the root last published.
    pub root_status: Option<NodeStatus>,
    /// The root last published.
    pub old_root: Option<DerivationId>,
    /// The root of the documents as they are.
    pub new_root: Option<DerivationId>,
    /// The point of the journal this speaks of.
    pub as_of: AsOf,
}

/// The answer.
#[derive(Clone, Debug)]
pub enum Served {
    /// The root.
    Shown(Box<Shown>),
    /// A refusal.
    Refused(Box<Refusal>),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It cannot be said how the documents are now.
    #[error(transparent)]
    Current(#[from] CurrentError),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The causes could not be found.
    #[error(transparent)]
    Stale(#[from] StaleError),
    /// The root's recorded derivation or output is gone or damaged.
    #[error("{what} of dossier {dossier} cannot be read; build it again")]
    Lost {
        /// The dossier.
        dossier: String,
        /// What is lost.
        what: &'static str,
    },
}

/// Everything known of a dossier at one moment, before any claim is decoded.
pub struct Standing {
    /// The documents as they are now.
    pub current: Current,
    /// The graph of the documents as they are now, as the last build's builder would make it.
    pub graph: Graph,
    /// What a build would do.
    pub plan: Plan,
    /// The last publication for the principal.
    pub published: Option<Publication>,
}

impl Standing {
    /// Recomputes the root's id from the documents as they are now. Sources and recipe are taken
    /// as they are; the builder is the one the published root records.
    pub fn find(store: &impl Lookup, question: &Question<'_>) -> Result<Self, ServeError> {
        let Question { dossier, principal, settings, .. } = *question;
        let current = Current::read(store, dossier, &settings.import, question.now)?;
        let published = current.dossier.last_publication(principal);
        let published = published.map(|(_, publication)| publication.clone());
        let recorded = match &published {
            Some(publication) => store.derivation(publication.root())?,
            None => None,
        };
        let builder = recorded.map(|root| root.builder);
        let builder = builder.filter(|_| question.realiser.is_none());
        let chosen = question.realiser.unwrap_or(settings.realiser);
        let realiser = builder.as_ref().map_or(chosen, realiser_of);
        let recipe = settings.lower(realiser, question.model_sha256);
        let builder = builder.unwrap_or_else(|| crate::builder::of(realiser));
        let instantiation = Instantiation {
            dossier: &current.dossier,
            principal,
            recipe: &recipe,
            builder: &builder,
        };
        let graph = instantiation.graph(|version| current.text(store, version))?;
        let plan = Plan::make(&graph, store)?;
        Ok(Self { current, graph, plan, published })
    }

    /// The most that a rebuild costs.
    pub fn rebuild(&self) -> Rebuild {
        Rebuild {
            hits: self.plan.hits(),
            missing: self.plan.missing(),
            model_calls: self.plan.model_calls(),
        }
    }

    /// The verdict that follows from ids alone, and its reason.
    pub fn verdict(&self) -> (Verdict, &'static str) {
        match (self.graph.root(), &self.published) {
            (None, _) => (Verdict::NotBuilt, "no_documents"),
            (Some(_), None) => (Verdict::NotBuilt, "never_built"),
            (Some(root), Some(published)) if root.id != published.root() => {
                (Verdict::Stale, "root_differs")
            }
            (Some(_), Some(_)) => match self.plan.nodes.last() {
                Some(Planned::Hit(_)) => (Verdict::Current, "current"),
                _ => (Verdict::NotBuilt, "no_realisation"),
            },
        }
    }

    /// The first causes of staleness; none unless the root is stale.
    pub fn causes(&self, store: &impl Lookup) -> Result<Vec<Cause>, StaleError> {
        match &self.published {
            Some(published) if self.verdict().0 == Verdict::Stale => {
                let (root, since) = (published.root(), published.event);
                stale::causes(store, root, &self.graph, &self.current, since)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The status of the root last published.
    pub fn root_status(&self, store: &impl Lookup) -> Result<Option<NodeStatus>, ReadError> {
        let Some(published) = &self.published else { return Ok(None) };
        let realisation = store.realisation(published.root())?;
        Ok(realisation.and_then(|realisation| NodeStatus::from_code(realisation.status)))
    }

    fn refuse(
        &self,
        store: &impl Lookup,
        verdict: Verdict,
        reason: &str,
    ) -> Result<Served, ServeError> {
        Ok(Served::Refused(Box::new(Refusal {
            verdict,
            reason: reason.to_owned(),
            causes: self.causes(store)?,
            rebuild: self.rebuild(),
            root_status: self.root_status(store)?,
            old_root: self.published.as_ref().map(Publication::root),
            new_root: self.graph.root().map(|root| root.id),
            as_of: self.current.dossier.as_of,
        })))
    }
}

/// The realiser that a recorded builder names.
fn realiser_of(builder: &Map) -> RealiserName {
    match builder.get("realiser") {
        Some(Value::Text(name)) => RealiserName::parse(name).unwrap_or_default(),
        _ => RealiserName::default(),
    }
}

/// Shows the dossier's root or refuses.
pub fn serve(store: &impl Lookup, question: &Question<'_>) -> Result<Served, ServeError> {
    let standing = match Standing::find(store, question) {
        Ok(standing) => standing,
        Err(ServeError::Current(CurrentError::Unreachable { folder, .. })) => {
            return Ok(Served::Refused(Box::new(unreachable(store, question, &folder)?)));
        }
        Err(other) => return Err(other),
    };
    let (verdict, reason) = standing.verdict();
    if verdict != Verdict::Current {
        return standing.refuse(store, verdict, reason);
    }
    let Some(Planned::Hit(realisation)) = standing.plan.nodes.last() else {
        return standing.refuse(store, Verdict::NotBuilt, "no_realisation");
    };
    let lost = |what| ServeError::Lost { dossier: question.dossier.to_owned(), what };
    let bytes = store.blob(realisation.output)?.ok_or_else(|| lost("the root's output"))?;
    let output = Output::decode(&bytes).map_err(|_| lost("the root's output"))?;
    match output.status {
        NodeStatus::Valid | NodeStatus::Partial => {}
        refused => {
            let reason = format!("root_{}", refused.as_str().to_lowercase());
            return standing.refuse(store, Verdict::Invalid, &reason);
        }
    }
    let dossier = &standing.current.dossier;
    if let Some(fault) = first_fault(store, dossier, question.principal, &output)? {
        return standing.refuse(store, Verdict::Invalid, fault.code());
    }
    Ok(Served::Shown(Box::new(Shown {
        root: realisation.derivation,
        output: realisation.output,
        status: output.status,
        missing: incomplete_leaves(&standing),
        silent: silent(dossier, question.principal, &output),
        claims: output
            .claims
            .into_iter()
            .map(|c| {
                let s = support(&c);
                (c, s)
            })
            .collect(),
        as_of: dossier.as_of,
    })))
}

fn unreachable(
    store: &impl Lookup,
    question: &Question<'_>,
    folder: &std::path::Path,
) -> Result<Refusal, ServeError> {
    let dossier = Dossier::read(store, question.dossier).map_err(CurrentError::from)?;
    let published = dossier.last_publication(question.principal).map(|(_, last)| last.root());
    Ok(Refusal {
        verdict: Verdict::SourceUnreachable,
        reason: format!("the folder {} cannot be read", folder.display()),
        causes: Vec::new(),
        rebuild: Rebuild::default(),
        root_status: None,
        old_root: published,
        new_root: None,
        as_of: dossier.as_of,
    })
}

/// The first evidence reference that does not hold against the documents as they are now.
pub fn first_fault(
    store: &impl Lookup,
    dossier: &Dossier,
    principal: &str,
    output: &Output,
) -> Result<Option<EvidenceFault>, ServeError> {
    let mut texts = evidence::Texts::default();
    for evidence in output.claims.iter().flat_map(|claim| &claim.evidence) {
        let fault = texts.check(store, dossier, principal, evidence)?;
        if fault.is_some() {
            return Ok(fault);
        }
    }
    Ok(None)
}

fn incomplete_leaves(standing: &Standing) -> Vec<(String, NodeStatus)> {
    let leaves = standing.graph.nodes().filter(|(_, node)| node.children.is_empty());
    let faulty = leaves.filter_map(|(index, node)| {
        let status = standing.plan.status(index)?;
        let complete = matches!(status, NodeStatus::Valid | NodeStatus::Ineligible);
        (!complete).then(|| (node.name.clone(), status))
    });
    faulty.collect()
}

/// Documents that the principal may read and that no claim of the root cites.
fn silent(dossier: &Dossier, principal: &str, output: &Output) -> Vec<String> {
    let cited = |id: &str| {
        let evidence = output.claims.iter().flat_map(|claim| &claim.evidence);
        evidence.into_iter().any(|evidence| evidence.doc_id.as_str() == id)
    };
    let readable = dossier.documents.iter().filter(|document| document.readable(principal));
    let ids = readable.map(|document| document.id.as_str());
    ids.filter(|id| !cited(id)).map(String::from).collect()
}
