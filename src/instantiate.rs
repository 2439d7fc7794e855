//! From a snapshot and a recipe to the graph. Pure: every derivation id is known here, before any
//! model is started or anything is written.

use dossier_store::derivation::{Derivation, Input, Source};
use dossier_store::encode::{Map, Value};
use dossier_store::hash::BlobId;

use crate::chunk;
use crate::graph::{Graph, NodeIndex};
use crate::recipe::{CHILD, Chunking, Level, Recipe, TEXT};
use crate::snapshot::{Document, Dossier, Version};

/// How many children a reduce has at most.
pub const FAN_IN: usize = 4;

/// A dossier seen by one principal under one recipe and builder.
pub struct Instantiation<'a> {
    /// The documents as they are.
    pub dossier: &'a Dossier,
    /// For whom.
    pub principal: &'a str,
    /// What is to be made of them.
    pub recipe: &'a Recipe,
    /// Who makes it.
    pub builder: &'a Map,
}

impl Instantiation<'_> {
    /// Makes the graph. `text_of` is asked for a version's text only where chunking needs it, and
    /// never for a document that the principal may not read.
    pub fn graph<E>(
        &self,
        mut text_of: impl FnMut(&Version) -> Result<Vec<u8>, E>,
    ) -> Result<Graph, E> {
        let mut graph = Graph::default();
        let mut level = Vec::with_capacity(self.dossier.documents.len());
        for (slot, document) in self.dossier.documents.iter().enumerate() {
            level.push(self.document(&mut graph, slot, document, &mut text_of)?);
        }
        if !level.is_empty() {
            self.reduce_to_one(&mut graph, level);
            graph.crown();
        }
        for level in [Level::Leaf, Level::Reduce] {
            graph.instructions.extend(self.recipe.instructions(level).map(|(_, bytes)| bytes));
        }
        Ok(graph)
    }

    /// One leaf, or a leaf a chunk with reduces above them.
    fn document<E>(
        &self,
        graph: &mut Graph,
        slot: usize,
        document: &Document,
        text_of: &mut impl FnMut(&Version) -> Result<Vec<u8>, E>,
    ) -> Result<NodeIndex, E> {
        let chunks = self.chunks(document, text_of)?;
        if chunks.len() < 2 {
            let derivation = self.leaf(document, None);
            let name = format!("leaf-{slot:02}");
            return Ok(graph.push(name, Level::Leaf, derivation, Vec::new(), Some(slot)));
        }
        let mut level = Vec::with_capacity(chunks.len());
        for (number, chunk) in chunks.into_iter().enumerate() {
            let name = format!("leaf-{slot:02}-{number:02}");
            let derivation = self.leaf(document, Some(chunk));
            level.push(graph.push(name, Level::Leaf, derivation, Vec::new(), Some(slot)));
        }
        let mut height = 0;
        while level.len() > 1 {
            let single = level.len() <= FAN_IN;
            level = self.group(graph, &level, |number| match single {
                true => format!("document-{slot:02}"),
                false => format!("document-{slot:02}-{height}-{number:02}"),
            });
            height += 1;
        }
        Ok(level[0])
    }

    fn chunks<E>(
        &self,
        document: &Document,
        text_of: &mut impl FnMut(&Version) -> Result<Vec<u8>, E>,
    ) -> Result<Vec<chunk::Chunk>, E> {
        match (self.recipe.chunking, document.version()) {
            (Chunking::Lines { max_bytes }, Some(version))
                if document.readable(self.principal) && version.length > max_bytes =>
            {
                Ok(chunk::lines(&text_of(version)?, max_bytes))
            }
            _ => Ok(Vec::new()),
        }
    }

    fn reduce_to_one(&self, graph: &mut Graph, mut level: Vec<NodeIndex>) {
        for height in 0.. {
            level = self.group(graph, &level, |number| match height {
                0 => format!("reduce-{number:02}"),
                _ => format!("reduce-{height}-{number:02}"),
            });
            if level.len() == 1 {
                return;
            }
        }
    }

    fn group(
        &self,
        graph: &mut Graph,
        level: &[NodeIndex],
        name: impl Fn(usize) -> String,
    ) -> Vec<NodeIndex> {
        let groups = level.chunks(FAN_IN).enumerate().map(|(number, children)| {
            let derivation = self.reduce(graph, children);
            graph.push(name(number), Level::Reduce, derivation, children.to_vec(), None)
        });
        groups.collect()
    }

    fn leaf(&self, document: &Document, chunk: Option<chunk::Chunk>) -> Derivation {
        let mut arguments = self.recipe.arguments(Level::Leaf);
        arguments.insert("kind".into(), "leaf".into());
        arguments.insert("source".into(), self.source(document));
        if let Some(chunk) = chunk {
            arguments.insert("chunk".into(), vec![chunk.start as u64, chunk.end as u64].into());
        }
        let text = document.version().map(|version| version.blob);
        let text = text.map(|blob| Input { role: TEXT.into(), source: Source::Blob(blob) });
        let inputs = self.instructions(Level::Leaf).chain(text).collect();
        Derivation { builder: self.builder.clone(), arguments, inputs }
    }

    fn source(&self, document: &Document) -> Value {
        let mut source = Map::from([
            ("document".into(), document.id.as_str().into()),
            ("version".into(), u64::from(document.current).into()),
            ("active".into(), document.active().into()),
            ("eligible".into(), document.eligible(self.principal).into()),
            ("access_revision".into(), document.access_revision(self.principal).into()),
            ("principal".into(), self.principal.into()),
        ]);
        if let Some(version) = document.version() {
            source.insert("text_sha256".into(), version.text_sha256.into());
        }
        Value::Map(source)
    }

    fn reduce(&self, graph: &Graph, children: &[NodeIndex]) -> Derivation {
        let mut arguments = self.recipe.arguments(Level::Reduce);
        arguments.insert("kind".into(), "reduce".into());
        arguments.insert("principal".into(), self.principal.into());
        let children = children.iter().map(|&child| Input {
            role: CHILD.into(),
            source: Source::Derivation(graph.node(child).id),
        });
        let inputs = self.instructions(Level::Reduce).chain(children).collect();
        Derivation { builder: self.builder.clone(), arguments, inputs }
    }

    fn instructions(&self, level: Level) -> impl Iterator<Item = Input<Source>> + use<> {
        let instructions = self.recipe.instructions(level);
        instructions.into_iter().map(|(role, bytes)| Input {
            role: role.into(),
            source: Source::Blob(BlobId::of(&bytes)),
        })
    }
}
