//! One node: resolve its inputs, reuse or work, check the answer.

use std::collections::HashSet;

use bincode::{Decode, Encode};
use dossier_store::derivation::ResolvedDerivation;
use dossier_store::hash::{BlobId, DerivationId};
use dossier_store::read::{Lookup, ReadError};
use dossier_store::realisation::{Edge, How};

use super::task::{self, Task, TaskError, Work};
use super::{
    Build, BuildError, CutOff, Fault, Generation, NodeFault, Production, Progress, Reuse, Round,
    labels, settle,
};
use crate::claims::{Claim, answer};
use crate::edges;
use crate::event::EVENT;
use crate::graph::{Node, NodeIndex};
use crate::output::{NodeStatus, Output};

/// What came of working on a node.
pub(super) enum Worked {
    /// It has an output, not yet committed.
    Finished(Box<Finished>),
    /// A node below it failed.
    Blocked,
    /// The documents or rights changed since the round was planned; no model was called.
    Moved,
    /// It failed.
    Failed(NodeFault),
}

/// A node's result before its commit.
pub(super) struct Finished {
    pub(super) index: NodeIndex,
    pub(super) derivation: DerivationId,
    pub(super) resolved: ResolvedDerivation,
    pub(super) how: How,
    pub(super) status: NodeStatus,
    pub(super) output: Vec<u8>,
    pub(super) edges: Vec<Edge>,
    pub(super) generation: Option<Generation>,
    pub(super) remarks: Remarks,
    pub(super) at: u64,
    pub(super) micros: u64,
}

/// What an observation keeps of how an answer was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Remarks {
    /// Why the answer is INVALID, in one code.
    pub diagnostic: Option<String>,
    /// The local repairs that were made.
    pub repairs: Vec<String>,
    /// Why generation ended.
    pub finish: Option<String>,
}

/// An output and how it came about.
struct Made {
    how: How,
    status: NodeStatus,
    output: Vec<u8>,
    edges: Vec<Edge>,
    generation: Option<Generation>,
    remarks: Remarks,
}

impl Finished {
    pub(super) fn called_model(&self) -> bool {
        self.generation.is_some()
    }

    pub(super) fn tokens_out(&self) -> u64 {
        self.generation.as_ref().map_or(0, |generation| generation.tokens_out)
    }
}

impl Build<'_> {
    /// Works on one missing node.
    pub(super) fn work_on(
        &mut self,
        round: &mut Round,
        index: NodeIndex,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Worked, BuildError> {
        let node = round.graph.node(index);
        let output_of = |id| round.known.get(&id).copied();
        let Some(resolved) = node.derivation.resolve(output_of) else {
            return Ok(Worked::Blocked);
        };
        let at = (self.clock)();
        progress(&Progress::Started { node });
        let made = match self.make(round, node, &resolved)? {
            Ok(Some(made)) => made,
            Ok(None) => return Ok(Worked::Moved),
            Err(fault) => {
                return Ok(Worked::Failed(NodeFault { node: node.name.clone(), fault }));
            }
        };
        let derivation = node.id;
        let output = BlobId::of(&made.output);
        round.known.insert(derivation, output);
        round.bytes.insert(output, made.output.clone());
        Ok(Worked::Finished(Box::new(Finished {
            index,
            derivation,
            resolved,
            how: made.how,
            status: made.status,
            output: made.output,
            edges: made.edges,
            generation: made.generation,
            remarks: made.remarks,
            at,
            micros: (self.clock)().saturating_sub(at),
        })))
    }

    fn make(
        &mut self,
        round: &Round,
        node: &Node,
        resolved: &ResolvedDerivation,
    ) -> Result<Result<Option<Made>, Fault>, BuildError> {
        if task::is_ineligible(&node.derivation) {
            return Ok(Ok(Some(Made::settled(settle::ineligible(), Vec::new()))));
        }
        if let Some(made) = self.cut_off(node, resolved)? {
            return Ok(Ok(Some(made)));
        }
        let inputs = self.inputs(round, resolved)?;
        let failed = |source: TaskError| BuildError::Task { node: node.name.clone(), source };
        let task = Task::read(resolved, &inputs).map_err(failed)?;
        if let Some(output) = settle::settle(&task) {
            let edges = edges::of_claims(node.id, fresh(&task, &output));
            return Ok(Ok(Some(Made::settled(output, edges))));
        }
        // A text that was revoked a moment ago reaches no prompt.
        if self.moved_since(round)? {
            return Ok(Ok(None));
        }
        let production = self.realiser.realise(&task);
        Ok(production.map(|production| Some(conclude(node.id, &task, production))))
    }

    fn moved_since(&self, round: &Round) -> Result<bool, BuildError> {
        let last = self.store.read()?.last_record(self.dossier, EVENT)?;
        Ok(last.map(|record| record.sequence) != Some(round.dossier.as_of.event))
    }

    /// An equal resolved derivation that is realised already, with a readable output.
    fn cut_off(
        &self,
        node: &Node,
        resolved: &ResolvedDerivation,
    ) -> Result<Option<Made>, BuildError> {
        if self.options.cut_off == CutOff::Never || self.options.reuse != Reuse::Store {
            return Ok(None);
        }
        let reader = self.store.read()?;
        let Some(entry) = reader.resolved(resolved.id())? else { return Ok(None) };
        let bytes = match reader.blob(entry.output) {
            Ok(bytes) => bytes,
            Err(ReadError::Damaged { .. }) => None,
            Err(other) => return Err(other.into()),
        };
        let Some((bytes, output)) = bytes
            .and_then(|b| Some((Output::decode(&b).ok()?, b)))
            .map(|(output, bytes)| (bytes, output))
        else {
            return Ok(None);
        };
        Ok(Some(Made {
            how: How::CutOff,
            status: output.status,
            edges: edges::of_claims(node.id, &output.claims),
            output: bytes,
            generation: None,
            remarks: Remarks::default(),
        }))
    }

    fn inputs(
        &self,
        round: &Round,
        resolved: &ResolvedDerivation,
    ) -> Result<Vec<Vec<u8>>, BuildError> {
        let reader = self.store.read()?;
        let input = |id: BlobId| match round.bytes.get(&id) {
            Some(bytes) => Ok(bytes.clone()),
            None => reader.blob(id)?.ok_or(BuildError::MissingText(id)),
        };
        resolved.inputs.iter().map(|of| input(of.source)).collect()
    }
}

impl Made {
    fn settled(output: Output, edges: Vec<Edge>) -> Self {
        Self {
            how: How::Settled,
            status: output.status,
            output: output.encode(),
            edges,
            generation: None,
            remarks: Remarks::default(),
        }
    }
}

/// The claims that stand in no child's output as they stand here.
fn fresh<'a>(task: &'a Task, output: &'a Output) -> impl Iterator<Item = &'a Claim> {
    let children = match &task.work {
        Work::Leaf(_) => &[][..],
        Work::Reduce(reduce) => &reduce.children,
    };
    let held: HashSet<&Claim> = children.iter().flat_map(|child| &child.claims).collect();
    output.claims.iter().filter(move |claim| !held.contains(claim))
}

/// Turns what the realiser made into the node's output. A model's answer goes through the strict
/// parser, which trusts nothing; what it refuses stays INVALID.
fn conclude(derivation: DerivationId, task: &Task, production: Production) -> Made {
    match production {
        Production::Ruled { claims } => {
            let output = Output { status: valid_status(task), claims };
            let edges = edges::of_claims(derivation, fresh(task, &output));
            Made::settled(output, edges)
        }
        Production::OverBudget { tokens } => {
            let mut made = Made::settled(settle::over_budget(), Vec::new());
            made.remarks.diagnostic = Some(format!("over_budget: {tokens} tokens"));
            made
        }
        Production::Generated(generation) => {
            let (output, remarks) = read_answer(task, &generation);
            let edges = edges::of_claims(derivation, fresh(task, &output));
            Made {
                how: How::Generated,
                status: output.status,
                output: output.encode(),
                edges,
                generation: Some(generation),
                remarks,
            }
        }
    }
}

fn read_answer(task: &Task, generation: &Generation) -> (Output, Remarks) {
    let labelled = labels::labelled(task);
    let answer = answer::read(
        &generation.text,
        &generation.finish,
        &answer::AnswerRules {
            max_claims: task.max_claims,
            fields: &task.fields,
            allowed: labelled.iter().map(|(label, _)| label.as_str()).collect(),
        },
    );
    let remarks = Remarks {
        diagnostic: answer.diagnostic.map(|code| code.as_str().to_owned()),
        repairs: answer.repairs.iter().map(|repair| repair.as_str().to_owned()).collect(),
        finish: Some(generation.finish.clone()),
    };
    let claims = answer.claims.into_iter().map(|stated| stated.cite(&labelled));
    match answer.status {
        NodeStatus::Valid => {
            (Output { status: valid_status(task), claims: claims.collect() }, remarks)
        }
        _ => (Output { status: NodeStatus::Invalid, claims: Vec::new() }, remarks),
    }
}

fn valid_status(task: &Task) -> NodeStatus {
    match &task.work {
        Work::Leaf(_) => NodeStatus::Valid,
        Work::Reduce(reduce) => reduce.status(),
    }
}
