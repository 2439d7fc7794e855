//! The graph as people look at it: a tree, Graphviz, Mermaid or JSON. Pure, and never a word of a
//! document's text: nodes have names, statuses and document ids, nothing else.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::graph::{Graph, Node, NodeIndex};
use crate::output::NodeStatus;
use crate::plan::{Plan, Planned};
use crate::recipe::Level;
use crate::snapshot::{Document, Dossier};
use crate::text::escape;

/// How a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is realised, with this status.
    Realised(NodeStatus),
    /// It was never realised.
    Missing,
    /// It has to be realised again, since something below it changed after the last publication.
    Stale,
}

impl State {
    /// The state in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Realised(status) => status.as_str(),
            Self::Missing => "missing",
            Self::Stale => "stale",
        }
    }
}

/// The document of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafDocument {
    /// Its id.
    pub id: String,
    /// Its current version, from 1.
    pub version: u32,
    /// Why the principal may not read it: `withdrawn` or `revoked`.
    pub unreadable: Option<&'static str>,
}

/// One node of the drawing.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its name in the dossier.
    pub name: String,
    /// `root`, `reduce` or `leaf`.
    pub level: &'static str,
    /// How it stands.
    pub state: State,
    /// The derivation's id, in full.
    pub derivation: String,
    /// The output's id, in full; none unless it is realised.
    pub output: Option<String>,
    /// A leaf's document.
    pub document: Option<LeafDocument>,
    /// Where its children stand in [`Drawing::nodes`].
    pub children: Vec<usize>,
}

/// A dossier's graph, ready to be drawn.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The dossier.
    pub dossier: String,
    /// Children before parents, the root last.
    pub nodes: Vec<Drawn>,
}

/// How a terminal's words are dressed.
#[derive(Clone, Copy)]
pub struct Paint<'a> {
    /// Dresses a state.
    pub state: &'a dyn Fn(&str) -> String,
    /// Dresses what matters less.
    pub faint: &'a dyn Fn(&str) -> String,
}

impl Drawing {
    /// Draws a graph with what a plan found. `stale` names the nodes that a change since the last
    /// publication reaches.
    pub fn of(
        dossier: &Dossier,
        principal: &str,
        graph: &Graph,
        plan: &Plan,
        stale: &BTreeSet<String>,
    ) -> Self {
        let drawn = |(index, node): (NodeIndex, &Node)| {
            let (state, output) = standing(plan, index, stale.contains(&node.name));
            let slot = node.slot.filter(|_| node.children.is_empty());
            let document = slot.and_then(|slot| dossier.documents.get(slot));
            Drawn {
                name: node.name.clone(),
                level: level(node),
                state,
                derivation: node.id.to_string(),
                output,
                document: document.map(|document| leaf_document(document, principal)),
                children: node.children.iter().map(|child| child.0).collect(),
            }
        };
        Self { dossier: dossier.name.clone(), nodes: graph.nodes().map(drawn).collect() }
    }

    /// An indented tree, the root first, one line a node and no line feed at the end.
    pub fn tree(&self, paint: Paint<'_>) -> String {
        let mut lines = Vec::new();
        match self.nodes.len().checked_sub(1) {
            Some(root) => self.branch(root, "", "", &mut lines),
            None => return "(no documents)".into(),
        }
        let width = lines.iter().map(|(stem, _)| stem.chars().count()).max().unwrap_or(0);
        let line = |(stem, node): &(String, &Drawn)| {
            let gap = " ".repeat(width - stem.chars().count());
            let document = node.document.as_ref().map(document_words);
            let document = document.map(|words| format!("  {}", (paint.faint)(&words)));
            let state = (paint.state)(node.state.as_str());
            format!("{stem}{gap}  {state}{}", document.unwrap_or_default())
        };
        lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn branch<'a>(
        &'a self,
        at: usize,
        stem: &str,
        indent: &str,
        lines: &mut Vec<(String, &'a Drawn)>,
    ) {
        let node = &self.nodes[at];
        lines.push((format!("{stem}{}", escape(&node.name)), node));
        for (position, &child) in node.children.iter().enumerate() {
            let (joint, space) = match position + 1 == node.children.len() {
                true => ("└─ ", "   "),
                false => ("├─ ", "│  "),
            };
            let (stem, below) = (format!("{indent}{joint}"), format!("{indent}{space}"));
            self.branch(child, &stem, &below, lines);
        }
    }

    /// Graphviz, edges from a node to what it is made from.
    pub fn dot(&self) -> String {
        let mut text = format!("digraph {} {{\n", quoted(&self.dossier));
        text.push_str("  node [shape=box, fontname=\"monospace\"];\n");
        for (at, node) in self.nodes.iter().enumerate() {
            let lines = node.lines().join("\n");
            let _ = writeln!(
                text,
                "  n{at} [label={}, color={}];",
                quoted(&lines),
                quoted(colour(node.state))
            );
        }
        for (parent, child) in self.edges() {
            let _ = writeln!(text, "  n{parent} -> n{child};");
        }
        text.push('}');
        text
    }

    /// Mermaid, edges from a node to what it is made from.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart TD");
        for (at, node) in self.nodes.iter().enumerate() {
            let lines: Vec<String> = node.lines().iter().map(|line| entities(line)).collect();
            let class = node.state.as_str().to_lowercase();
            let _ = write!(text, "\n  n{at}[\"{}\"]:::{class}", lines.join("<br/>"));
        }
        for (parent, child) in self.edges() {
            let _ = write!(text, "\n  n{parent} --> n{child}");
        }
        let states: BTreeSet<(String, &str)> = self.nodes.iter().map(class).collect();
        for (class, colour) in states {
            let _ = write!(text, "\n  classDef {class} stroke:{colour},stroke-width:2px");
        }
        text
    }

    /// The document `dossier.graph/1`: every node, the root first.
    pub fn json(&self) -> Value {
        let names = |places: &[usize]| -> Vec<&str> {
            places.iter().map(|&at| self.nodes[at].name.as_str()).collect()
        };
        let node = |node: &Drawn| {
            json!({
                "name": node.name,
                "level": node.level,
                "status": node.state.as_str(),
                "drv": node.derivation,
                "out": node.output,
                "children": names(&node.children),
                "document": node.document.as_ref().map(|document| json!({
                    "doc_id": document.id,
                    "version": document.version,
                    "readable": document.unreadable.is_none(),
                    "unreadable": document.unreadable,
                })),
            })
        };
        json!({
            "schema": "dossier.graph/1",
            "dossier": self.dossier,
            "root": self.nodes.last().map(|root| root.derivation.as_str()),
            "nodes": self.nodes.iter().rev().map(node).collect::<Vec<_>>(),
        })
    }

    fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.flat_map(|(parent, node)| node.children.iter().map(move |&child| (parent, child)))
    }
}

impl Drawn {
    /// What stands in the node's box.
    fn lines(&self) -> Vec<String> {
        let document = self.document.as_ref().map(document_words);
        let state = Some(self.state.as_str().to_owned());
        [Some(escape(&self.name)), state, document].into_iter().flatten().collect()
    }
}

fn standing(plan: &Plan, index: NodeIndex, stale: bool) -> (State, Option<String>) {
    match plan.nodes.get(index.0) {
        Some(Planned::Hit(realisation)) => {
            // A status that this program does not know is as good as no realisation.
            let status = NodeStatus::from_code(realisation.status);
            let state = status.map_or(State::Missing, State::Realised);
            (state, Some(realisation.output.to_string()))
        }
        _ if stale => (State::Stale, None),
        _ => (State::Missing, None),
    }
}

fn level(node: &Node) -> &'static str {
    match (node.parent, node.level) {
        (None, _) => "root",
        (_, Level::Leaf) => "leaf",
        (_, Level::Reduce) => "reduce",
    }
}

fn leaf_document(document: &Document, principal: &str) -> LeafDocument {
    LeafDocument {
        id: document.id.as_str().to_owned(),
        version: document.current,
        unreadable: match (document.active(), document.eligible(principal)) {
            (false, _) => Some("withdrawn"),
            (true, false) => Some("revoked"),
            (true, true) => None,
        },
    }
}

fn document_words(document: &LeafDocument) -> String {
    let id = escape(&document.id);
    match document.unreadable {
        Some(why) => format!("{id}@{} ({why})", document.version),
        None => format!("{id}@{}", document.version),
    }
}

fn colour(state: State) -> &'static str {
    match state {
        State::Realised(NodeStatus::Valid) => "green",
        State::Realised(NodeStatus::Partial | NodeStatus::Ineligible) => "orange",
        State::Realised(NodeStatus::Invalid | NodeStatus::OverBudget) => "red",
        State::Missing | State::Stale => "gray",
    }
}

fn class(node: &Drawn) -> (String, &'static str) {
    (node.state.as_str().to_lowercase(), colour(node.state))
}

/// A string of the DOT language.
fn quoted(text: &str) -> String {
    let inside = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{inside}\"")
}

/// Text inside a quoted Mermaid label, where only letters, digits and a few signs mean themselves.
fn entities(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            plain if plain.is_alphanumeric() || " ./@-_()".contains(plain) => safe.push(plain),
            special => {
                let _ = write!(safe, "#{};", u32::from(special));
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests;
