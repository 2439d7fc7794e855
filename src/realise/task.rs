//! A resolved derivation and its inputs, read back into what a realiser works on. Nothing else
//! reaches a realiser, so nothing else can change an output.

use dossier_store::derivation::{Derivation, InputSource, Recipe, ResolvedDerivation};
use dossier_store::encode::{Map, Value};
use dossier_store::hash::Sha256;

use crate::claims::Claim;
use crate::document::{DocumentId, Span, Unit, pieces};
use crate::evidence::Evidence;
use crate::output::{NodeStatus, Output};
use crate::recipe::{CHILD, PROMPT, RULES, TEXT};

/// What is to be done, with everything needed for it.
#[derive(Clone, Debug)]
pub struct Task {
    /// The rules or the prompt; empty where the recipe has none at this level.
    pub instructions: Vec<u8>,
    /// The most claims an answer may hold.
    pub max_claims: u64,
    /// The fields a claim may have.
    pub fields: Vec<String>,
    /// Token budgets of a model's input and output.
    pub budgets: Option<Budgets>,
    /// `anchored` or `free`, for a model.
    pub profile: String,
    /// The pattern that subjects of an anchored leaf match.
    pub subject: Option<String>,
    /// The work itself.
    pub work: Work,
}

/// Token budgets, the chat wrapper counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// The prompt.
    pub input: u64,
    /// The answer.
    pub output: u64,
}

/// The two kinds of work.
#[derive(Clone, Debug)]
pub enum Work {
    /// Claims are made from a document's text.
    Leaf(Leaf),
    /// Claims are chosen from the children's.
    Reduce(Reduce),
}

/// A document's text, or a chunk of it.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The document.
    pub document: DocumentId,
    /// The pieces of evidence that may be cited, in the order of the text.
    pub evidence: Vec<Evidence>,
}

/// The children's outputs, in slot order.
#[derive(Clone, Debug)]
pub struct Reduce {
    /// How claims are chosen.
    pub selection: Selection,
    /// What the children came to.
    pub children: Vec<Output>,
}

/// How a reduce chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Every distinct statement is kept.
    Join,
    /// The model chooses.
    Model,
    /// Every distinct statement is kept; above the limit the model chooses.
    ModelAboveLimit,
}

/// Why a derivation cannot be worked on. It cannot come from `instantiate`; a store that somebody
/// else wrote may hold it.
#[derive(Debug, thiserror::Error)]
#[error("the derivation cannot be worked on: {fault}")]
pub struct TaskError {
    /// What does not fit.
    pub fault: String,
}

fn fault(fault: impl Into<String>) -> TaskError {
    TaskError { fault: fault.into() }
}

/// Whether the derivation is a leaf whose text must reach nobody.
pub fn is_ineligible<S>(recipe: &Recipe<S>) -> bool {
    let Some(Value::Map(source)) = recipe.arguments.get("source") else { return false };
    let allowed = |name| source.get(name) == Some(&Value::Flag(true));
    !(allowed("active") && allowed("eligible"))
}

/// Whether realising the derivation may call a model.
pub fn may_call_model(derivation: &Derivation) -> bool {
    derivation.arguments.contains_key("model_sha256") && !is_ineligible(derivation)
}

impl Task {
    /// Reads a resolved derivation; `inputs` are the bytes of its inputs, in their order.
    pub fn read(resolved: &ResolvedDerivation, inputs: &[Vec<u8>]) -> Result<Self, TaskError> {
        let arguments = &resolved.arguments;
        let work = match text(arguments, "kind")? {
            "leaf" => Work::Leaf(read_leaf(resolved, inputs)?),
            "reduce" => Work::Reduce(read_reduce(resolved, inputs)?),
            other => return Err(fault(format!("kind {other:?} is unknown"))),
        };
        let instructions = [RULES, PROMPT].iter().find_map(|role| input(resolved, inputs, role));
        Ok(Self {
            instructions: instructions.cloned().unwrap_or_default(),
            max_claims: optional_number(arguments, "max_claims").unwrap_or(u64::MAX),
            fields: texts(arguments, "fields"),
            budgets: read_budgets(arguments),
            profile: text(arguments, "profile").unwrap_or_default().to_owned(),
            subject: text(arguments, "subject").ok().map(String::from),
            work,
        })
    }

    /// The evidence that an answer may cite: a leaf's own pieces, or what a reduce's children
    /// cite, in order and without repeats.
    pub fn offered(&self) -> Vec<Evidence> {
        match &self.work {
            Work::Leaf(leaf) => leaf.evidence.clone(),
            Work::Reduce(reduce) => {
                let mut offered: Vec<Evidence> = Vec::new();
                let cited = reduce.children.iter().flat_map(|child| &child.claims);
                for evidence in cited.flat_map(|claim| &claim.evidence) {
                    if !offered.contains(evidence) {
                        offered.push(evidence.clone());
                    }
                }
                offered
            }
        }
    }
}

impl Reduce {
    /// The children's claims in order, each statement once with the evidence of all its mentions
    /// (four pieces at most).
    pub fn distinct_claims(&self) -> Vec<Claim> {
        crate::claims::merge(self.children.iter().flat_map(|child| &child.claims))
    }

    /// What a reduce's status is when its own work is valid.
    pub fn status(&self) -> NodeStatus {
        let incomplete = |child: &Output| {
            matches!(
                child.status,
                NodeStatus::Invalid | NodeStatus::Partial | NodeStatus::OverBudget
            )
        };
        match self.children.iter().any(incomplete) {
            true => NodeStatus::Partial,
            false => NodeStatus::Valid,
        }
    }
}

fn read_leaf(resolved: &ResolvedDerivation, inputs: &[Vec<u8>]) -> Result<Leaf, TaskError> {
    let Some(Value::Map(source)) = resolved.arguments.get("source") else {
        return Err(fault("a leaf needs a source"));
    };
    let bytes = input(resolved, inputs, TEXT).ok_or_else(|| fault("a leaf needs a text"))?;
    let text_sha256 = match source.get("text_sha256") {
        Some(Value::Digest(digest)) => Sha256(*digest),
        _ => return Err(fault("a source needs a text hash")),
    };
    if Sha256::of(bytes) != text_sha256 {
        return Err(fault("the text does not have the hash that the derivation names"));
    }
    let whole = std::str::from_utf8(bytes).map_err(|error| fault(error.to_string()))?;
    let document = DocumentId::given(text(source, "document")?)
        .map_err(|_| fault("the document's id is impossible"))?;
    let version = optional_number(source, "version").and_then(|n| u32::try_from(n).ok());
    let version = version.ok_or_else(|| fault("a source needs a version"))?;
    let unit = Unit::parse(text(&resolved.arguments, "evidence_unit")?)
        .ok_or_else(|| fault("the evidence unit is unknown"))?;
    let chunk = read_chunk(&resolved.arguments, whole)?;
    let before = whole[..chunk.start].chars().count() as u64;
    let part = &whole[chunk];
    let evidence = pieces(part, unit).into_iter().map(|piece| Evidence {
        doc_id: document.clone(),
        version,
        span: Span { start: piece.span.start + before, end: piece.span.end + before },
        quote: part[piece.bytes].to_owned(),
        text_sha256,
    });
    Ok(Leaf { evidence: evidence.collect(), document })
}

fn read_chunk(arguments: &Map, text: &str) -> Result<std::ops::Range<usize>, TaskError> {
    let chunk = match arguments.get("chunk") {
        None => return Ok(0..text.len()),
        Some(Value::List(chunk)) => chunk.as_slice(),
        Some(_) => return Err(fault("a chunk is two byte offsets")),
    };
    let [Value::Number(start), Value::Number(end)] = chunk else {
        return Err(fault("a chunk is two byte offsets"));
    };
    let range =
        usize::try_from(*start).unwrap_or(usize::MAX)..usize::try_from(*end).unwrap_or(usize::MAX);
    match text.get(range.clone()) {
        Some(_) => Ok(range),
        None => Err(fault("the chunk lies outside the text")),
    }
}

fn read_reduce(resolved: &ResolvedDerivation, inputs: &[Vec<u8>]) -> Result<Reduce, TaskError> {
    let selection = match text(&resolved.arguments, "selection")? {
        "join" => Selection::Join,
        "model" => Selection::Model,
        "keep distinct, model above the limit" => Selection::ModelAboveLimit,
        other => return Err(fault(format!("selection {other:?} is unknown"))),
    };
    let children = resolved.inputs.iter().zip(inputs).filter(|(input, _)| input.role == CHILD);
    let children = children.map(|(_, bytes)| Output::decode(bytes));
    let children = children.collect::<Result<_, _>>().map_err(|error| fault(error.to_string()))?;
    Ok(Reduce { selection, children })
}

fn read_budgets(arguments: &Map) -> Option<Budgets> {
    let Some(Value::Map(budgets)) = arguments.get("budgets") else { return None };
    let input = optional_number(budgets, "input")?;
    let output = optional_number(budgets, "output")?;
    Some(Budgets { input, output })
}

fn input<'a, S: InputSource>(
    recipe: &Recipe<S>,
    inputs: &'a [Vec<u8>],
    role: &str,
) -> Option<&'a Vec<u8>> {
    let position = recipe.inputs.iter().position(|input| input.role == role)?;
    inputs.get(position)
}

fn text<'a>(map: &'a Map, name: &str) -> Result<&'a str, TaskError> {
    match map.get(name) {
        Some(Value::Text(text)) => Ok(text),
        _ => Err(fault(format!("{name} is missing"))),
    }
}

fn texts(map: &Map, name: &str) -> Vec<String> {
    let Some(Value::List(items)) = map.get(name) else { return Vec::new() };
    let text = |item: &Value| match item {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

fn optional_number(map: &Map, name: &str) -> Option<u64> {
    match map.get(name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}
