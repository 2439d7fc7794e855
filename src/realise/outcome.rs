//! What a build came to. The four counts are kept apart, always.

use dossier_store::hash::{BlobId, DerivationId};

use super::{Done, Fault, Round, status_of};
use crate::graph::Graph;
use crate::output::NodeStatus;
use crate::plan::Planned;
use crate::snapshot::AsOf;

/// How a node came to be realised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The derivation was realised already.
    Hit,
    /// The resolved derivation was realised already.
    CutOff,
    /// The model was called.
    Generated,
    /// Realised without a model.
    Settled,
}

impl Outcome {
    /// The outcome as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::CutOff => "cut_off",
            Self::Generated => "generated",
            Self::Settled => "settled",
        }
    }
}

/// One node as the build left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    /// How it came about.
    pub outcome: Outcome,
    /// Its status.
    pub status: NodeStatus,
    /// Its output.
    pub output: BlobId,
    /// Tokens generated for it.
    pub new_tokens: u64,
    /// Microseconds spent on it.
    pub micros: u64,
    /// Why the model's answer is INVALID, in one code.
    pub diagnostic: Option<String>,
}

/// A node that could not be worked on.
#[derive(Clone, Debug)]
pub struct NodeFault {
    /// Its name.
    pub node: String,
    /// Why.
    pub fault: Fault,
}

/// Why a build ended before its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Ctrl-C.
    Interrupted,
    /// The limit of model calls is reached.
    CallLimit,
    /// The limit of generated tokens is reached.
    TokenLimit,
}

/// A node whose second run came out otherwise than the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub node: String,
    /// The output of the first run, which stays the node's output.
    pub first: BlobId,
    /// The output of this run.
    pub second: BlobId,
}

/// The four counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Derivations that were realised already.
    pub hit: usize,
    /// Resolved derivations that were realised already.
    pub cut_off: usize,
    /// Calls of the model that gave a result.
    pub generated: usize,
    /// Nodes realised without a model.
    pub settled: usize,
}

impl Counts {
    /// Everything that was no hit.
    pub fn recomputed(&self) -> usize {
        self.cut_off + self.generated + self.settled
    }

    fn add(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Hit => &mut self.hit,
            Outcome::CutOff => &mut self.cut_off,
            Outcome::Generated => &mut self.generated,
            Outcome::Settled => &mut self.settled,
        } += 1;
    }
}

/// A build's result.
#[derive(Clone, Debug)]
pub struct Built {
    /// The graph that was built.
    pub graph: Graph,
    /// One entry a node, in the graph's order; none for a node that was not reached.
    pub nodes: Vec<Option<NodeReport>>,
    /// The four counts.
    pub counts: Counts,
    /// Tokens generated.
    pub new_tokens: u64,
    /// Microseconds from the first look to the last commit.
    pub micros: u64,
    /// Nodes that could not be worked on.
    pub faults: Vec<NodeFault>,
    /// Why the build ended early, if it did.
    pub stopped: Option<Stopped>,
    /// Nodes that came out otherwise than before, in a second run.
    pub differences: Vec<Difference>,
    /// The point of the journal that was built.
    pub as_of: AsOf,
}

impl Built {
    /// The root's derivation.
    pub fn root(&self) -> Option<DerivationId> {
        self.graph.root().map(|root| root.id)
    }

    /// The root as it came out; none where the build did not reach it.
    pub fn root_report(&self) -> Option<&NodeReport> {
        self.nodes.last()?.as_ref()
    }
}

/// Puts a build's result together: what this build did, and the hits of its last plan.
pub(super) fn built(round: Round, done: Done, micros: u64) -> Built {
    let mut counts = Counts::default();
    let mut nodes = Vec::with_capacity(round.graph.len());
    let mut differences = Vec::new();
    for (index, node) in round.graph.nodes() {
        let report =
            done.reports.get(&node.id).cloned().or_else(|| match &round.plan.nodes[index.0] {
                Planned::Hit(hit) => Some(NodeReport {
                    outcome: Outcome::Hit,
                    status: status_of(hit.status),
                    output: hit.output,
                    new_tokens: 0,
                    micros: 0,
                    diagnostic: None,
                }),
                Planned::Missing(_) => None,
            });
        if let Some(report) = &report {
            counts.add(report.outcome);
            if let Some(&first) = done.firsts.get(&node.id)
                && first != report.output
            {
                let second = report.output;
                differences.push(Difference { node: node.name.clone(), first, second });
            }
        }
        nodes.push(report);
    }
    Built {
        graph: round.graph,
        nodes,
        counts,
        new_tokens: done.tokens,
        micros,
        faults: done.faults,
        stopped: done.stopped,
        differences,
        as_of: round.dossier.as_of,
    }
}
