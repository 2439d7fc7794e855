//! The tables of `dossier.toml`, one type each, with their defaults.

use serde::{Deserialize, Serialize};

/// The realisers by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RealiserName {
    /// Rules, no model.
    #[default]
    Extract,
    /// A local GGUF model.
    Llama,
}

impl RealiserName {
    /// The name as it stands in keys and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Llama => "llama",
        }
    }

    /// Reads the name back.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Extract, Self::Llama].into_iter().find(|realiser| realiser.as_str() == name)
    }
}

/// `[evidence]`
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvidenceSettings {
    /// A line, or a block of wrapped lines.
    pub unit: UnitName,
}

/// The evidence units by name.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitName {
    /// Every non-empty line.
    #[default]
    Line,
    /// A paragraph or list item.
    Block,
}

/// `[chunking]`
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChunkingSettings {
    /// Whether a document may be cut.
    pub mode: ChunkingMode,
    /// The most bytes of text in one chunk; a longer line is a chunk of its own.
    pub max_bytes: u64,
}

impl Default for ChunkingSettings {
    fn default() -> Self {
        Self { mode: ChunkingMode::Whole, max_bytes: 4_000 }
    }
}

/// The chunking modes by name.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChunkingMode {
    /// One leaf a document, refused if over budget.
    Whole,
    /// Consecutive lines packed under `max_bytes`, each chunk a leaf.
    Lines,
}

/// `[claims]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimSettings {
    /// The fields a claim may have.
    pub fields: Vec<String>,
    /// The most claims of a leaf's answer.
    pub leaf_max: u64,
    /// The most claims of a reduce.
    pub reduce_max: u64,
    /// When the model chooses among the children's claims.
    pub choose: ChoiceName,
}

impl Default for ClaimSettings {
    fn default() -> Self {
        let fields = ["delivery", "status", "quantity", "site"].map(String::from).to_vec();
        Self { fields, leaf_max: 4, reduce_max: 64, choose: ChoiceName::Above }
    }
}

/// How a reduce chooses, by name.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChoiceName {
    /// The model chooses in every reduce.
    Always,
    /// All distinct statements are kept; the model chooses only above `reduce_max`.
    Above,
}

/// `[budgets]`, in tokens with the chat wrapper counted.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetSettings {
    /// A leaf's prompt.
    pub map_input: u64,
    /// A reduce's prompt.
    pub reduce_input: u64,
    /// An answer.
    pub output: u64,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self { map_input: 2048, reduce_input: 3072, output: 384 }
    }
}

/// `[extract]`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExtractSettings {
    /// A pattern with the group `subject`; its first match names the subject of every claim whose
    /// own rule has no such group, and that piece is cited too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The rules, tried on every piece of evidence in the order written.
    #[serde(rename = "rule")]
    pub rules: Vec<RuleSettings>,
}

/// `[[extract.rule]]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSettings {
    /// A regular expression over one piece of evidence, with the group `value` and, unless set
    /// elsewhere, `subject` and `field`.
    pub pattern: String,
    /// The field, where the pattern has no group of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Which matches in a document count.
    #[serde(default)]
    pub take: TakeName,
}

/// Which matches of a rule count, by name.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TakeName {
    /// Every match.
    #[default]
    All,
    /// The first in a document.
    First,
}

/// `[llama]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LlamaSettings {
    /// A known model's name, or the path of a GGUF file.
    pub model: String,
    /// The file's SHA-256; known models bring their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// `anchored` (answers limited to what was offered) or `free`.
    pub profile: String,
    /// What these documents are and what to look for, in a sentence or two for the model.
    pub instruction: String,
    /// A pattern that every subject of an anchored answer matches, so that a title or a sentence is
    /// taken for none. A group `subject` is the subject, where the pattern has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The most bytes of text in one chunk where documents are cut, if fewer than
    /// `chunking.max_bytes`: a model reads less at once than rules do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
}

impl Default for LlamaSettings {
    fn default() -> Self {
        Self {
            model: "qwen2.5-coder-0.5b".into(),
            sha256: None,
            profile: "anchored".into(),
            instruction: String::new(),
            subject: None,
            chunk_bytes: None,
        }
    }
}
