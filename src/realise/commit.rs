//! Commits finished nodes. A model's result goes in by itself the moment it is checked; cheap ones
//! wait for each other a little. The rights of a node's own sources are checked again inside the
//! transaction, and nothing is stored of a node that lost them.

use dossier_store::hash::BlobId;
use dossier_store::observation::Run;
use dossier_store::read::Lookup;
use dossier_store::realisation::How;
use dossier_store::write::{Batch, Commit, WriteError};

use super::node::Finished;
use super::outcome::{NodeReport, Outcome};
use super::{Build, BuildError, Done, Progress, Reuse, Round};
use crate::event::EVENT;
use crate::graph::NodeIndex;
use crate::snapshot::Dossier;

/// How many cheap results wait for each other, at most.
const MANY: usize = 1024;
/// How long they wait, in microseconds.
const LONG: u64 = 50_000;

/// Finished nodes that wait for their commit.
pub(super) struct Pending {
    nodes: Vec<Finished>,
    since: u64,
    urgent: bool,
}

impl Pending {
    pub(super) fn new(now: u64) -> Self {
        Self { nodes: Vec::new(), since: now, urgent: false }
    }

    pub(super) fn push(&mut self, finished: Finished) {
        self.urgent |= finished.called_model();
        self.nodes.push(finished);
    }

    pub(super) fn is_due(&self, now: u64) -> bool {
        self.urgent || self.nodes.len() >= MANY || now.saturating_sub(self.since) >= LONG
    }
}

impl Build<'_> {
    /// Commits what waits; `false` says that the dossier moved meanwhile.
    pub(super) fn flush(
        &self,
        round: &Round,
        done: &mut Done,
        pending: &mut Pending,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<bool, BuildError> {
        let waiting = std::mem::replace(pending, Pending::new((self.clock)())).nodes;
        if waiting.is_empty() {
            return Ok(true);
        }
        let mut batch = self.store.write()?;
        let moved = self.moved(round, &batch)?;
        let mut committed = Vec::with_capacity(waiting.len());
        for bytes in &round.graph.instructions {
            batch.put_blob(bytes)?;
        }
        for finished in &waiting {
            let lost = moved.as_ref().is_some_and(|now| self.lost(round, finished.index, now));
            if !lost && self.commit_one(round, &mut batch, finished, done)? {
                committed.push(finished);
            }
        }
        batch.commit()?;
        for finished in committed {
            let node = round.graph.node(finished.index);
            let report = report(finished);
            progress(&Progress::Finished { node, report: &report });
            done.reports.insert(finished.derivation, report);
        }
        Ok(moved.is_none())
    }

    /// The dossier as it is inside the transaction, if it is no longer what the round was planned
    /// from.
    fn moved(&self, round: &Round, batch: &Batch<'_>) -> Result<Option<Dossier>, BuildError> {
        let last = batch.last_record(self.dossier, EVENT)?.map(|record| record.sequence);
        match last == Some(round.dossier.as_of.event) {
            true => Ok(None),
            false => Ok(Some(Dossier::read(batch, self.dossier)?)),
        }
    }

    /// Whether a source below this node may no longer reach the principal, although it could when
    /// the round was planned.
    fn lost(&self, round: &Round, index: NodeIndex, now: &Dossier) -> bool {
        round.graph.slots_below(index).into_iter().any(|slot| {
            let readable = |dossier: &Dossier| {
                let document = dossier.documents.get(slot);
                document.is_some_and(|document| document.readable(self.principal))
            };
            readable(&round.dossier) && !readable(now)
        })
    }

    /// Writes one node into the batch; `false` says that nothing of it can be kept.
    fn commit_one(
        &self,
        round: &Round,
        batch: &mut Batch<'_>,
        finished: &Finished,
        done: &mut Done,
    ) -> Result<bool, BuildError> {
        let run = run_of(finished);
        let raw = finished.generation.as_ref().map(|generation| generation.raw.as_slice());
        if self.options.reuse != Reuse::Store
            && let Some(first) = batch.realisation(finished.derivation)?
        {
            let resolved = finished.resolved.id();
            batch.observe(finished.derivation, resolved, &finished.output, raw, &run)?;
            done.firsts.insert(finished.derivation, first.output);
            return Ok(true);
        }
        let cut_off = finished.how == How::CutOff;
        let realised = batch.realise(Commit {
            derivation: &round.graph.node(finished.index).derivation,
            resolved: &finished.resolved,
            output: &finished.output,
            status: finished.status.code(),
            how: finished.how,
            run: (!cut_off).then_some(run),
            raw,
            edges: finished.edges.clone(),
        });
        match realised {
            Ok(_) => Ok(true),
            // In a second run a child came out otherwise; its parent cannot stand beside the first.
            Err(WriteError::Unresolved { .. }) if self.options.reuse != Reuse::Store => Ok(false),
            Err(other) => Err(other.into()),
        }
    }
}

fn run_of(finished: &Finished) -> Run {
    let tokens_in = finished.generation.as_ref().map_or(0, |generation| generation.tokens_in);
    Run {
        at_millis: finished.at / 1000,
        micros: finished.micros,
        tokens_in,
        tokens_out: finished.tokens_out(),
        detail: dossier_store::codec::encode(&finished.remarks),
    }
}

fn report(finished: &Finished) -> NodeReport {
    NodeReport {
        outcome: match finished.how {
            How::CutOff => Outcome::CutOff,
            How::Generated => Outcome::Generated,
            How::Settled => Outcome::Settled,
        },
        status: finished.status,
        output: BlobId::of(&finished.output),
        new_tokens: finished.tokens_out(),
        micros: finished.micros,
        diagnostic: finished.remarks.diagnostic.clone(),
    }
}
