//! The driver: realises what a plan finds missing, node by node, children first. Each finished node
//! is committed with its edges and record; a progress line follows its commit, never precedes it.
//! Nobody holds the store's write side while a node is worked on.

pub mod extract;
pub mod labels;
pub mod llama;
pub mod outcome;
pub mod scripted;
pub mod settle;
pub mod task;

mod commit;
pub mod node;
mod publish;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

use dossier_store::Store;
use dossier_store::encode::Map;
use dossier_store::hash::{BlobId, DerivationId};
use dossier_store::read::{Lookup, ReadError};
use dossier_store::write::WriteError;

use crate::claims::Claim;
use crate::graph::{Graph, Node, NodeIndex};
use crate::instantiate::Instantiation;
use crate::output::NodeStatus;
use crate::plan::{Plan, Planned};
use crate::recipe::{Level, Recipe};
use crate::snapshot::{Dossier, SnapshotError};

pub use outcome::{Built, Counts, Difference, NodeFault, NodeReport, Outcome, Stopped};
use task::{Task, TaskError};

/// Turns a task into claims. A realiser sees the resolved derivation and its inputs' bytes, read
/// as a [`Task`], and nothing else.
pub trait Realiser {
    /// Does the work, or says why it could not be done.
    fn realise(&mut self, task: &Task) -> Result<Production, Fault>;
}

/// What a realiser made.
#[derive(Clone, Debug)]
pub enum Production {
    /// Claims by rule; no model was called.
    Ruled {
        /// The claims.
        claims: Vec<Claim>,
    },
    /// A model's answer, not yet checked.
    Generated(Generation),
    /// The prompt is longer than its budget; no model was called.
    OverBudget {
        /// What the prompt would take.
        tokens: u64,
    },
}

/// A model's answer and the record of how it came about.
#[derive(Clone, Debug, Default)]
pub struct Generation {
    /// The answer, as generated.
    pub text: String,
    /// Why generation ended: `eos`, or anything else for an answer cut short.
    pub finish: String,
    /// Tokens of the prompt, the chat wrapper counted.
    pub tokens_in: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// The whole record: messages, prompt, token ids, times, fingerprint.
    pub raw: Vec<u8>,
}

/// Why a node could not be worked on. A fault is never a result: nothing of it is stored, and the
/// next build tries again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    /// The realiser cannot do this kind of work.
    #[error("the realiser cannot do this: {what}")]
    Unsuited {
        /// What was asked of it.
        what: String,
    },
    /// The model's process died, hung or spoke nonsense.
    #[error("the worker failed: {what}")]
    Worker {
        /// What happened, and what to try.
        what: String,
    },
}

/// What a build may reuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// Everything that is realised.
    #[default]
    Store,
    /// Nothing at these levels: their nodes run again beside the first, and are compared.
    NothingAt(Level),
    /// Nothing at all: an independent full run.
    Nothing,
}

/// Whether an equal resolved derivation spares a node its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutOff {
    /// It does.
    #[default]
    Early,
    /// Every node whose derivation is new does its work.
    Never,
}

/// What follows a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFault {
    /// The build ends.
    #[default]
    Stop,
    /// Nodes that do not depend on the faulty one are still realised.
    KeepGoing,
}

/// How a build is to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What may be reused.
    pub reuse: Reuse,
    /// Whether cut-off is used.
    pub cut_off: CutOff,
    /// What follows a fault.
    pub on_fault: OnFault,
    /// The most model calls.
    pub max_calls: Option<u64>,
    /// The most generated tokens.
    pub max_tokens: Option<u64>,
}

/// What a build tells while it runs.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The plan is made.
    Planned {
        /// Every node.
        graph: &'a Graph,
        /// What is to be done with it.
        plan: &'a Plan,
    },
    /// A node is being worked on.
    Started {
        /// Which one.
        node: &'a Node,
    },
    /// A node is committed.
    Finished {
        /// Which one.
        node: &'a Node,
        /// How it came about.
        report: &'a NodeReport,
    },
    /// The documents or rights changed meanwhile; what is finished is kept and the rest re-planned.
    Replanned,
    /// The root is the dossier's summary from now on.
    Published {
        /// The journal sequence of the publication.
        sequence: u64,
    },
}

/// Why a build could not run. What was committed before is kept.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The store could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The dossier's journal could not be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A derivation cannot be worked on.
    #[error("node {node}: {source}")]
    Task {
        /// The node.
        node: String,
        /// Why.
        source: TaskError,
    },
    /// The journal does not know the dossier.
    #[error("no dossier is named {0:?}")]
    UnknownDossier(String),
    /// The dossier has no document.
    #[error("dossier {0:?} has no documents")]
    NoDocuments(String),
    /// A text that an active document names is not in the store.
    #[error("the text {0} is missing from the store")]
    MissingText(BlobId),
}

/// One build of one dossier for one principal.
pub struct Build<'a> {
    /// Where everything is kept.
    pub store: &'a Store,
    /// The dossier's name.
    pub dossier: &'a str,
    /// For whom.
    pub principal: &'a str,
    /// What is to be made of the documents.
    pub recipe: &'a Recipe,
    /// Who makes it, as it enters the keys.
    pub builder: &'a Map,
    /// Who makes it.
    pub realiser: &'a mut dyn Realiser,
    /// How.
    pub options: Options,
    /// Set by Ctrl-C: the build ends after the node it is at.
    pub cancel: &'a AtomicBool,
    /// Microseconds since the Unix epoch; read for records alone, never for a decision on content.
    pub clock: &'a dyn Fn() -> u64,
}

/// What stays true over the re-plannings of one build.
#[derive(Default)]
struct Done {
    reports: BTreeMap<DerivationId, NodeReport>,
    /// The outputs that stood already where this build made another observation.
    firsts: BTreeMap<DerivationId, BlobId>,
    faults: Vec<NodeFault>,
    stopped: Option<Stopped>,
    calls: u64,
    tokens: u64,
}

/// One dossier as planned: what the nodes of one round share.
struct Round {
    dossier: Dossier,
    graph: Graph,
    plan: Plan,
    /// The outputs of the nodes that are realised.
    known: BTreeMap<DerivationId, BlobId>,
    /// Bytes that may not be committed yet: outputs of this round, and instructions.
    bytes: HashMap<BlobId, Vec<u8>>,
}

impl Build<'_> {
    /// Realises what is missing and publishes the root.
    pub fn run(&mut self, progress: &mut dyn FnMut(&Progress<'_>)) -> Result<Built, BuildError> {
        let started = (self.clock)();
        let mut done = Done::default();
        loop {
            let mut round = self.plan_round(&done)?;
            progress(&Progress::Planned { graph: &round.graph, plan: &round.plan });
            let kept = self.run_round(&mut round, &mut done, progress)?;
            let published = match kept && done.stopped.is_none() && done.faults.is_empty() {
                true => self.publish(&round, progress)?,
                false => publish::Published::No,
            };
            if !kept || matches!(published, publish::Published::Moved) {
                // What failed is tried again, or is not asked for any more.
                done.faults.clear();
                progress(&Progress::Replanned);
                continue;
            }
            return Ok(outcome::built(round, done, (self.clock)().saturating_sub(started)));
        }
    }

    fn plan_round(&self, done: &Done) -> Result<Round, BuildError> {
        let reader = self.store.read()?;
        let dossier = Dossier::read(&reader, self.dossier)?;
        if !dossier.is_known() {
            return Err(BuildError::UnknownDossier(self.dossier.to_owned()));
        }
        let instantiation = Instantiation {
            dossier: &dossier,
            principal: self.principal,
            recipe: self.recipe,
            builder: self.builder,
        };
        let graph = instantiation.graph(|version| {
            reader.blob(version.blob)?.ok_or(BuildError::MissingText(version.blob))
        })?;
        if graph.is_empty() {
            return Err(BuildError::NoDocuments(self.dossier.to_owned()));
        }
        let mut plan = Plan::make(&graph, &reader)?;
        self.distrust_the_store(&graph, &mut plan, done);
        let instructions = graph.instructions.iter();
        let bytes = instructions.map(|bytes| (BlobId::of(bytes), bytes.clone())).collect();
        Ok(Round { dossier, graph, plan, known: BTreeMap::new(), bytes })
    }

    /// In a second run, nodes that this run has not made yet count as missing.
    fn distrust_the_store(&self, graph: &Graph, plan: &mut Plan, done: &Done) {
        for (index, node) in graph.nodes() {
            let again = match self.options.reuse {
                Reuse::Store => false,
                Reuse::NothingAt(level) => node.level == level,
                Reuse::Nothing => true,
            };
            if again && !done.reports.contains_key(&node.id) {
                plan.forget(index, &node.derivation);
            }
        }
    }

    /// Works through the nodes; `false` says that the dossier moved and the rest must be re-planned.
    fn run_round(
        &mut self,
        round: &mut Round,
        done: &mut Done,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<bool, BuildError> {
        let mut pending = commit::Pending::new((self.clock)());
        for position in 0..round.graph.len() {
            let index = NodeIndex(position);
            if let Planned::Hit(realisation) = &round.plan.nodes[position] {
                round.known.insert(realisation.derivation, realisation.output);
                continue;
            }
            if let Some(stopped) = self.reason_to_stop(done) {
                done.stopped = Some(stopped);
                break;
            }
            match self.work_on(round, index, progress)? {
                node::Worked::Finished(finished) => {
                    done.calls += u64::from(finished.called_model());
                    done.tokens += finished.tokens_out();
                    pending.push(*finished);
                }
                node::Worked::Blocked => {}
                node::Worked::Moved => {
                    self.flush(round, done, &mut pending, progress)?;
                    return Ok(false);
                }
                node::Worked::Failed(fault) => {
                    done.faults.push(fault);
                    if self.options.on_fault == OnFault::Stop {
                        break;
                    }
                }
            }
            let due = pending.is_due((self.clock)());
            if due && !self.flush(round, done, &mut pending, progress)? {
                return Ok(false);
            }
        }
        self.flush(round, done, &mut pending, progress)
    }

    fn reason_to_stop(&self, done: &Done) -> Option<Stopped> {
        let reached = |limit: Option<u64>, spent: u64| limit.is_some_and(|limit| spent >= limit);
        if self.cancel.load(Ordering::Relaxed) {
            Some(Stopped::Interrupted)
        } else if reached(self.options.max_calls, done.calls) {
            Some(Stopped::CallLimit)
        } else if reached(self.options.max_tokens, done.tokens) {
            Some(Stopped::TokenLimit)
        } else {
            None
        }
    }
}

/// The status of a node as a code that this program wrote; unknown codes are INVALID.
fn status_of(code: u8) -> NodeStatus {
    NodeStatus::from_code(code).unwrap_or(NodeStatus::Invalid)
}
