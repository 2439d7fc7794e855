//! Why a root is stale: first causes only, each named by its event, with the path to the root.
//! Causes come from comparing the recorded derivations with those of the documents as they are
//! now; events only lend them their names.

use std::collections::BTreeMap;

use dossier_store::derivation::Derivation;
use dossier_store::encode::Value;
use dossier_store::hash::DerivationId;
use dossier_store::read::{Lookup, ReadError};

use crate::current::Current;
use crate::event::{EVENT, Event, RecordError};
use crate::explain::{self, Difference};
use crate::graph::{Graph, NodeIndex};
use crate::recipe::Level;

/// One first cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The document that changed; none for a changed recipe.
    pub document: Option<String>,
    /// What changed, in a word: `changed_on_disk`, `version`, `withdrawn`, `restored`, `revoked`,
    /// `granted`, `added`, `recipe`.
    pub change: &'static str,
    /// What changed, in words.
    pub words: String,
    /// The journal sequence of the event; none for what is not imported, or no event.
    pub event: Option<u64>,
    /// The names of the nodes from the one that changed up to the root.
    pub path: Vec<String>,
    /// Every field of the key that differs.
    pub fields: Vec<Difference>,
}

/// Why the causes could not be found.
#[derive(Debug, thiserror::Error)]
pub enum StaleError {
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A journal record could not be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// A leaf is followed through changes by its document and chunk.
type LeafKey = (String, Vec<u64>);

/// The first causes why the root published as `old` is not the root of `graph`. `since` is the
/// last event that the publication saw.
pub fn causes(
    store: &impl Lookup,
    old: DerivationId,
    graph: &Graph,
    current: &Current,
    since: u64,
) -> Result<Vec<Cause>, StaleError> {
    let mut before = Before::default();
    before.collect(store, old, graph)?;
    let events = Events::since(store, current, since)?;
    let mut causes = Vec::new();
    for (index, node) in graph.nodes() {
        let Some(key) = leaf_key(&node.derivation) else { continue };
        let fields = match before.leaves.get(&key) {
            Some(was) => explain::differences(was, &node.derivation),
            None if before.unchanged.contains(&node.id) => continue,
            None => explain::differences(&nothing(), &node.derivation),
        };
        if !fields.is_empty() && !causes.iter().any(|cause: &Cause| cause.is_of(&key.0, &fields)) {
            causes.push(cause(
                &key.0,
                before.knows(&key.0),
                fields,
                graph.path_to_root(index),
                &events,
            ));
        }
    }
    causes.extend(recipe_cause(&before, graph));
    Ok(causes)
}

impl Cause {
    /// Whether this cause already says what these fields of a document's chunk would say.
    fn is_of(&self, document: &str, fields: &[Difference]) -> bool {
        self.document.as_deref() == Some(document) && self.fields.len() <= fields.len()
    }
}

/// The derivations below an old root, down to where they are still the same.
#[derive(Default)]
struct Before {
    root: Option<Derivation>,
    leaves: BTreeMap<LeafKey, Derivation>,
    unchanged: std::collections::BTreeSet<DerivationId>,
}

impl Before {
    fn collect(
        &mut self,
        store: &impl Lookup,
        old: DerivationId,
        graph: &Graph,
    ) -> Result<(), ReadError> {
        let now: BTreeMap<DerivationId, NodeIndex> =
            graph.nodes().map(|(index, node)| (node.id, index)).collect();
        let mut open = vec![old];
        while let Some(id) = open.pop() {
            if let Some(&index) = now.get(&id) {
                self.keep_unchanged(graph, index);
                continue;
            }
            let Some(derivation) = store.derivation(id)? else { continue };
            open.extend(derivation.input_derivations());
            if let Some(key) = leaf_key(&derivation) {
                self.leaves.insert(key, derivation.clone());
            }
            self.root.get_or_insert(derivation);
        }
        Ok(())
    }

    fn keep_unchanged(&mut self, graph: &Graph, index: NodeIndex) {
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            let node = graph.node(index);
            self.unchanged.insert(node.id);
            open.extend(&node.children);
        }
    }

    fn knows(&self, document: &str) -> bool {
        self.leaves.keys().any(|(known, _)| known == document)
    }
}

/// What a leaf of a new document is compared with.
fn nothing() -> Derivation {
    Derivation { builder: Default::default(), arguments: Default::default(), inputs: Vec::new() }
}

fn leaf_key(derivation: &Derivation) -> Option<LeafKey> {
    let Some(Value::Map(source)) = derivation.arguments.get("source") else { return None };
    let Some(Value::Text(document)) = source.get("document") else { return None };
    let chunk = match derivation.arguments.get("chunk") {
        Some(Value::List(chunk)) => chunk.as_slice(),
        _ => &[],
    };
    let offset = |value: &Value| match value {
        Value::Number(offset) => Some(*offset),
        _ => None,
    };
    Some((document.clone(), chunk.iter().filter_map(offset).collect()))
}

/// The events that a publication did not see, the latest of each kind for each document.
struct Events {
    latest: BTreeMap<(String, &'static str), u64>,
    on_disk: Vec<Event>,
}

impl Events {
    fn since(store: &impl Lookup, current: &Current, since: u64) -> Result<Self, StaleError> {
        let mut latest = BTreeMap::new();
        for record in store.records(&current.dossier.name)? {
            if record.kind == EVENT && record.sequence > since {
                let event = Event::decode(&record)?;
                if let Some(document) = event.document() {
                    latest.insert((document.to_owned(), event.verb()), record.sequence);
                }
            }
        }
        Ok(Self { latest, on_disk: current.on_disk.clone() })
    }

    fn of(&self, document: &str, verb: &'static str) -> Option<u64> {
        self.latest.get(&(document.to_owned(), verb)).copied()
    }

    fn is_on_disk(&self, document: &str) -> bool {
        self.on_disk.iter().any(|event| event.document() == Some(document))
    }
}

fn cause(
    document: &str,
    known: bool,
    fields: Vec<Difference>,
    path: Vec<&str>,
    events: &Events,
) -> Cause {
    let (change, words, verb) = in_words(document, known, &fields);
    let on_disk = events.is_on_disk(document);
    let words = if on_disk { format!("{words} (on disk, not imported)") } else { words };
    Cause {
        document: (change != "recipe").then(|| document.to_owned()),
        change: if on_disk && change != "recipe" { "changed_on_disk" } else { change },
        words,
        event: verb.and_then(|verb| events.of(document, verb)),
        path: path.into_iter().map(String::from).collect(),
        fields,
    }
}

/// What a leaf's differing fields say: the cause in a word, in words, and the verb of its event.
fn in_words(
    document: &str,
    known: bool,
    fields: &[Difference],
) -> (&'static str, String, Option<&'static str>) {
    let field = |name: &str| fields.iter().find(|difference| difference.field == name);
    let flag = |name: &str| field(name).and_then(|difference| difference.new.as_deref());
    if !known {
        return ("added", format!("{document} is new"), Some("activated"));
    }
    match (flag("arguments.source.active"), flag("arguments.source.eligible")) {
        (Some("false"), _) => {
            return ("withdrawn", format!("{document} was withdrawn"), Some("withdrawn"));
        }
        (Some(_), _) => return ("restored", format!("{document} was restored"), Some("restored")),
        (_, Some("false")) => {
            return ("revoked", format!("access to {document} was revoked"), Some("revoked"));
        }
        (_, Some(_)) => {
            return ("granted", format!("access to {document} was granted"), Some("granted"));
        }
        _ => {}
    }
    let both = |difference: &Difference| {
        let old = difference.old.clone().unwrap_or_else(|| "none".into());
        let new = difference.new.clone().unwrap_or_else(|| "none".into());
        (old, new)
    };
    if let Some(version) = field("arguments.source.version") {
        let (old, new) = both(version);
        return ("version", format!("{document} version {old} → {new}"), Some("activated"));
    }
    if let Some(revision) = field("arguments.source.access_revision") {
        let (old, new) = both(revision);
        let words = format!("{document} access revision {old} → {new}");
        return ("granted", words, Some("granted"));
    }
    let named: Vec<&str> = fields.iter().map(|difference| difference.field.as_str()).collect();
    ("recipe", format!("the recipe of leaves changed: {}", named.join(", ")), None)
}

/// A changed recipe of the reduces shows at the root; a leaf's shows at the leaves.
fn recipe_cause(before: &Before, graph: &Graph) -> Option<Cause> {
    let (was, root) = (before.root.as_ref()?, graph.root()?);
    let mut fields = explain::differences(was, &root.derivation);
    let instructed = |difference: &Difference| match difference.field.strip_prefix("inputs.") {
        None => true,
        // The first input of a reduce is its prompt, where it has one.
        Some("0.source") => {
            root.derivation.inputs.first().is_some_and(|input| input.role == "prompt")
        }
        Some(_) => false,
    };
    fields.retain(instructed);
    if fields.is_empty() || root.level != Level::Reduce {
        return None;
    }
    let named: Vec<&str> = fields.iter().map(|difference| difference.field.as_str()).collect();
    Some(Cause {
        document: None,
        change: "recipe",
        words: format!("the recipe of reduces changed: {}", named.join(", ")),
        event: None,
        path: vec!["root".into()],
        fields,
    })
}
