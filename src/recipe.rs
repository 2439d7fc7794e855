//! The recipe: everything besides the sources that can change an output, lowered from the settings
//! and ready to enter a derivation. Nothing here names a host, a path or a time.

use dossier_store::encode::{Map, Value};
use dossier_store::hash::Sha256;
use regex::{Regex, RegexBuilder};

use crate::document::Unit;
use crate::realise::llama::{grammar, prompts};

/// The role of the input that holds the rules of `extract`.
pub const RULES: &str = "rules";
/// The role of the input that holds what a model is told.
pub const PROMPT: &str = "prompt";
/// The role of the input that holds a document's text.
pub const TEXT: &str = "text";
/// The role of an input that is a child's output.
pub const CHILD: &str = "child";

/// Everything besides the sources that can change an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// What counts as one piece of evidence.
    pub unit: Unit,
    /// How long documents are cut.
    pub chunking: Chunking,
    /// What claims may say.
    pub schema: ClaimSchema,
    /// Token budgets.
    pub budgets: Budgets,
    /// Who makes the claims, and from which instructions.
    pub method: Method,
}

/// How long documents are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunking {
    /// Never: one leaf a document.
    Whole,
    /// Consecutive lines packed under so many bytes.
    Lines {
        /// The most bytes in one chunk; a longer line is a chunk of its own.
        max_bytes: u64,
    },
}

/// What claims may say, and how many there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimSchema {
    /// The fields a claim may have.
    pub fields: Vec<String>,
    /// The most claims of a leaf's answer.
    pub leaf_max: u64,
    /// The most claims of a reduce.
    pub reduce_max: u64,
    /// When the model chooses among the children's claims.
    pub choice: Choice,
}

/// When the model chooses among the children's claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// In every reduce that is offered a claim.
    Always,
    /// Only where more distinct statements are offered than a reduce may keep.
    Above,
}

/// Token budgets, the chat wrapper counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// A leaf's prompt.
    pub map_input: u64,
    /// A reduce's prompt.
    pub reduce_input: u64,
    /// An answer.
    pub output: u64,
}

/// Who makes the claims, and from which instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Rules over pieces of evidence; reduces join their children.
    Extract {
        /// Where the subject stands when a rule does not capture it.
        subject: Option<String>,
        /// The rules, in order.
        rules: Vec<ExtractRule>,
    },
    /// A language model.
    Model(ModelRecipe),
}

/// One rule of the `extract` realiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractRule {
    /// A regular expression over one piece of evidence.
    pub pattern: String,
    /// The field, where the pattern does not capture it.
    pub field: Option<String>,
    /// Which matches count.
    pub take: Take,
}

/// Which matches of a rule count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Every match in the document.
    All,
    /// The first match in the document.
    First,
}

/// What a model is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRecipe {
    /// `anchored` or `free`.
    pub profile: String,
    /// The pattern of subjects, for anchored leaves.
    pub subject: Option<String>,
    /// What a leaf's model is told before the text, in full.
    pub map_prompt: String,
    /// What a reduce's model is told before the claims, in full.
    pub reduce_prompt: String,
    /// The declared SHA-256 of the model file. The tokenizer is part of that file.
    pub model_sha256: Sha256,
}

impl ExtractRule {
    /// The fact grammar of the controlled world: `Product P-dd-dd <field>: <value>.`, whole line.
    pub fn fact_grammar() -> Self {
        Self {
            pattern:
                r"^Product (?<subject>P-[0-9]{2}-[0-9]{2}) (?<field>[a-z]+): (?<value>[^.\n]+)\.$"
                    .into(),
            field: None,
            take: Take::All,
        }
    }
}

/// Compiles a rule's pattern under a size limit, so that settings cannot exhaust memory. The regex
/// crate guarantees linear time.
pub fn compile_pattern(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(1 << 20).build()
}

/// Which place in the tree a recipe's arguments are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// One document, or one chunk of it.
    Leaf,
    /// Up to four children.
    Reduce,
}

impl Recipe {
    /// The recipe's part of a derivation's arguments at this level. What only the other level
    /// depends on is left out, so that a changed reduce prompt leaves every leaf's id untouched.
    pub fn arguments(&self, level: Level) -> Map {
        let mut map = Map::from([("evidence_unit".into(), self.unit.as_str().into())]);
        match level {
            Level::Leaf => {
                map.insert("chunking".into(), self.chunking.value());
                map.insert("fields".into(), self.schema.fields.clone().into());
            }
            Level::Reduce => {
                map.insert("selection".into(), self.selection());
            }
        }
        if let Method::Model(model) = &self.method {
            map.insert("max_claims".into(), self.max_claims(level).into());
            map.insert("fields".into(), self.schema.fields.clone().into());
            map.insert("budgets".into(), self.budgets_at(level));
            map.insert("model_sha256".into(), model.model_sha256.into());
            map.insert("tokenizer".into(), "embedded in the model file".into());
            map.insert("profile".into(), model.profile.as_str().into());
            map.insert("prompts".into(), prompts::PROMPTS.into());
            if model.profile != "free" {
                map.insert("grammar".into(), grammar::GENERATOR.into());
                if let (Level::Leaf, Some(subject)) = (level, &model.subject) {
                    map.insert("subject".into(), subject.as_str().into());
                }
            }
            map.insert("decoding".into(), "greedy, lowest id on ties".into());
        }
        map
    }

    /// The instructions that a derivation at this level takes as its first input, and their role.
    pub fn instructions(&self, level: Level) -> Option<(&'static str, Vec<u8>)> {
        match (&self.method, level) {
            (Method::Extract { subject, rules }, Level::Leaf) => {
                Some((RULES, encode_rules(subject.as_deref(), rules)))
            }
            (Method::Extract { .. }, Level::Reduce) => None,
            (Method::Model(model), Level::Leaf) => Some((PROMPT, model.map_prompt.clone().into())),
            (Method::Model(model), Level::Reduce) => {
                Some((PROMPT, model.reduce_prompt.clone().into()))
            }
        }
    }

    /// The most claims a model may answer with at this level.
    pub fn max_claims(&self, level: Level) -> u64 {
        match level {
            Level::Leaf => self.schema.leaf_max,
            Level::Reduce => self.schema.reduce_max,
        }
    }

    fn selection(&self) -> Value {
        match (&self.method, self.schema.choice) {
            (Method::Extract { .. }, _) => "join".into(),
            (Method::Model(_), Choice::Always) => "model".into(),
            (Method::Model(_), Choice::Above) => "keep distinct, model above the limit".into(),
        }
    }

    fn budgets_at(&self, level: Level) -> Value {
        let input = match level {
            Level::Leaf => self.budgets.map_input,
            Level::Reduce => self.budgets.reduce_input,
        };
        Value::Map(Map::from([
            ("input".into(), input.into()),
            ("output".into(), self.budgets.output.into()),
        ]))
    }
}

impl Chunking {
    fn value(self) -> Value {
        match self {
            Self::Whole => "whole".into(),
            Self::Lines { max_bytes } => Value::List(vec!["lines".into(), max_bytes.into()]),
        }
    }
}

/// The rules as the bytes that a leaf's derivation takes as an input and `extract` reads.
pub fn encode_rules(subject: Option<&str>, rules: &[ExtractRule]) -> Vec<u8> {
    let optional = |text: Option<&str>| Value::List(text.into_iter().map(Value::from).collect());
    let rule = |rule: &ExtractRule| {
        Value::List(vec![
            rule.pattern.as_str().into(),
            optional(rule.field.as_deref()),
            Value::Flag(rule.take == Take::First),
        ])
    };
    Value::List(vec![
        Value::Number(1),
        optional(subject),
        Value::List(rules.iter().map(rule).collect()),
    ])
    .encode()
}

/// Reads what [`encode_rules`] wrote; `None` for anything else.
pub fn decode_rules(bytes: &[u8]) -> Option<(Option<String>, Vec<ExtractRule>)> {
    let Value::List(parts) = Value::decode(bytes).ok()? else { return None };
    let [Value::Number(1), Value::List(subject), Value::List(rules)] =
        <[Value; 3]>::try_from(parts).ok()?
    else {
        return None;
    };
    let rules = rules.into_iter().map(decode_rule).collect::<Option<_>>()?;
    Some((optional_text(subject)?, rules))
}

fn decode_rule(value: Value) -> Option<ExtractRule> {
    let Value::List(parts) = value else { return None };
    let [Value::Text(pattern), Value::List(field), Value::Flag(first)] =
        <[Value; 3]>::try_from(parts).ok()?
    else {
        return None;
    };
    let take = if first { Take::First } else { Take::All };
    Some(ExtractRule { pattern, field: optional_text(field)?, take })
}

fn optional_text(list: Vec<Value>) -> Option<Option<String>> {
    match <[Value; 1]>::try_from(list) {
        Ok([Value::Text(text)]) => Some(Some(text)),
        Ok(_) => None,
        Err(rest) => rest.is_empty().then_some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_back() {
        let rules = vec![
            ExtractRule::fact_grammar(),
            ExtractRule { pattern: "x".into(), field: Some("f".into()), take: Take::First },
        ];
        for subject in [None, Some("s")] {
            let bytes = encode_rules(subject, &rules);
            let expected = (subject.map(String::from), rules.clone());
            assert_eq!(decode_rules(&bytes), Some(expected));
        }
        assert_eq!(decode_rules(b"nonsense"), None);
    }
}
