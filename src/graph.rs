//! The graph of a dossier: every node with its derivation, children before parents, the root last.
//! Node names and slots are for people; they are in no key, so a growing tree keeps its old nodes.

use dossier_store::derivation::Derivation;
use dossier_store::hash::DerivationId;

use crate::recipe::Level;

/// A node's place in its graph; children stand before their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub usize);

/// One node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name in this dossier: `leaf-04`, `reduce-01`, `root`.
    pub name: String,
    /// A leaf or a reduce.
    pub level: Level,
    /// Its recipe.
    pub derivation: Derivation,
    /// The id of its recipe.
    pub id: DerivationId,
    /// Its children, in slot order.
    pub children: Vec<NodeIndex>,
    /// The node it is a child of; none for the root.
    pub parent: Option<NodeIndex>,
    /// The slot of a leaf's document.
    pub slot: Option<usize>,
}

/// All nodes of a dossier.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Bytes that derivations name as inputs besides texts: rules and prompts.
    pub instructions: Vec<Vec<u8>>,
}

impl Graph {
    /// Adds a node above its children, which must be in the graph already.
    pub(crate) fn push(
        &mut self,
        name: String,
        level: Level,
        derivation: Derivation,
        children: Vec<NodeIndex>,
        slot: Option<usize>,
    ) -> NodeIndex {
        let index = NodeIndex(self.nodes.len());
        for child in &children {
            self.nodes[child.0].parent = Some(index);
        }
        let id = derivation.id();
        self.nodes.push(Node { name, level, derivation, id, children, parent: None, slot });
        index
    }

    /// Gives the topmost node its name.
    pub(crate) fn crown(&mut self) {
        if let Some(root) = self.nodes.last_mut() {
            root.name = "root".into();
        }
    }

    /// The root; none for a dossier without documents.
    pub fn root(&self) -> Option<&Node> {
        self.nodes.last()
    }

    /// The node at this place.
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.0]
    }

    /// All nodes, children before parents.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = (NodeIndex, &Node)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeIndex(index), node))
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node, since there is no document.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node with this name.
    pub fn find(&self, name: &str) -> Option<NodeIndex> {
        self.nodes.iter().position(|node| node.name == name).map(NodeIndex)
    }

    /// The names from a node up to the root.
    pub fn path_to_root(&self, index: NodeIndex) -> Vec<&str> {
        let upwards = std::iter::successors(Some(index), |&below| self.node(below).parent);
        upwards.map(|index| self.node(index).name.as_str()).collect()
    }

    /// The slots of the documents below a node, ascending and without repeats.
    pub fn slots_below(&self, index: NodeIndex) -> Vec<usize> {
        let mut slots = Vec::new();
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            let node = self.node(index);
            slots.extend(node.slot);
            open.extend(&node.children);
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}
