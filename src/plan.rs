//! What a build would do, as a value. A plan only reads; it is an upper bound, since a re-run leaf
//! may come out unchanged and cut its parents off.

use std::collections::BTreeSet;

use dossier_store::derivation::Derivation;
use dossier_store::read::{Lookup, ReadError};
use dossier_store::realisation::Realisation;

use crate::graph::{Graph, NodeIndex};
use crate::output::NodeStatus;
use crate::realise::task;

/// What a build would do with one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// Nothing: the derivation is realised.
    Hit(Realisation),
    /// It has to be realised; this is the most that can cost.
    Missing(Work),
}

/// The most that realising a node can cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// No model is called.
    Rule,
    /// The model may be called.
    Model,
}

/// A plan: one entry a node, in the graph's order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What would be done with each node.
    pub nodes: Vec<Planned>,
}

impl Plan {
    /// Looks every node up.
    pub fn make(graph: &Graph, store: &impl Lookup) -> Result<Self, ReadError> {
        let mut nodes = Vec::with_capacity(graph.len());
        for (_, node) in graph.nodes() {
            nodes.push(match store.realisation(node.id)? {
                Some(realisation) => Planned::Hit(realisation),
                None => Planned::Missing(work(&node.derivation)),
            });
        }
        let mut plan = Self { nodes };
        plan.distrust_unreadable_outputs(graph, store)?;
        Ok(plan)
    }

    /// A hit whose output is needed and cannot be read is missing after all. Parents are visited
    /// before their children, so a node that became missing is seen to need its own children.
    fn distrust_unreadable_outputs(
        &mut self,
        graph: &Graph,
        store: &impl Lookup,
    ) -> Result<(), ReadError> {
        let mut needed: BTreeSet<usize> = graph.len().checked_sub(1).into_iter().collect();
        for (index, node) in graph.nodes().rev() {
            if needed.contains(&index.0) {
                self.distrust(index, &node.derivation, store)?;
            }
            if matches!(self.nodes[index.0], Planned::Missing(_)) {
                needed.extend(node.children.iter().map(|child| child.0));
            }
        }
        Ok(())
    }

    fn distrust(
        &mut self,
        index: NodeIndex,
        derivation: &Derivation,
        store: &impl Lookup,
    ) -> Result<(), ReadError> {
        if let Planned::Hit(realisation) = &self.nodes[index.0] {
            let readable = match store.blob(realisation.output) {
                Ok(output) => output.is_some(),
                Err(ReadError::Damaged { .. }) => false,
                Err(other) => return Err(other),
            };
            if !readable {
                self.forget(index, derivation);
            }
        }
        Ok(())
    }

    /// Counts a node as missing although it may be realised.
    pub(crate) fn forget(&mut self, index: NodeIndex, derivation: &Derivation) {
        self.nodes[index.0] = Planned::Missing(work(derivation));
    }

    /// How many nodes are realised already.
    pub fn hits(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node, Planned::Hit(_))).count()
    }

    /// How many nodes have to be realised.
    pub fn missing(&self) -> usize {
        self.nodes.len() - self.hits()
    }

    /// How often the model may be called, at most.
    pub fn model_calls(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node, Planned::Missing(Work::Model))).count()
    }

    /// The status of a node that is realised.
    pub fn status(&self, index: NodeIndex) -> Option<NodeStatus> {
        match &self.nodes[index.0] {
            Planned::Hit(realisation) => NodeStatus::from_code(realisation.status),
            Planned::Missing(_) => None,
        }
    }
}

fn work(derivation: &Derivation) -> Work {
    match task::may_call_model(derivation) {
        true => Work::Model,
        false => Work::Rule,
    }
}
