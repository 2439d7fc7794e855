//! What is asked of the worker and what it answers. One request, one reply; while it works, progress
//! frames may come first. Unknown requests and unknown members are refused, not guessed at.

use serde::{Deserialize, Serialize};

/// The version of this protocol; both sides state it.
pub const PROTOCOL: u32 = 1;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Who works here, and what the header of a model file says; no weights are loaded.
    Identity {
        /// The model file, if its header is asked for.
        model_path: Option<String>,
    },
    /// Hash a model file and load it through the same descriptor.
    Load(Load),
    /// How many tokens a prompt takes, the chat wrapper counted. The tokenizer is enough.
    Count {
        /// The prompt.
        messages: Vec<Message>,
    },
    /// Continue a prompt greedily.
    Generate(Generate),
}

/// What is to be loaded, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The model file.
    pub model_path: String,
    /// Its SHA-256 in hexadecimal; another file is refused.
    pub expected_sha256: String,
    /// How much of it is needed.
    #[serde(default)]
    pub part: Part,
    /// Threads of a decode call, from 1.
    pub threads: u16,
    /// The most tokens of a prompt and its answer together.
    pub context: u32,
    /// Tokens of one physical batch. Another value than the default leaves the canonical schedule
    /// and is for self-tests.
    #[serde(default = "canonical_ubatch")]
    pub ubatch: u32,
    /// The kind of attention.
    #[serde(default)]
    pub attention: Attention,
}

/// Tokens of one physical batch in the canonical schedule.
pub const CANONICAL_UBATCH: u32 = 512;

fn canonical_ubatch() -> u32 {
    CANONICAL_UBATCH
}

/// How much of a model file is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Everything.
    #[default]
    Whole,
    /// The tokenizer, for `count`.
    Tokenizer,
}

/// The kind of attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    /// Flash attention off: on a processor, logits do not depend on threads or batches.
    #[default]
    Eager,
    /// Flash attention on.
    Flash,
}

/// One message of a chat.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, piece by piece.
    pub pieces: Vec<Piece>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// The text, unaltered in the prompt.
    pub text: String,
    /// Who wrote it.
    pub trust: Trust,
}

/// Who wrote a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// This program's prompts. A special token in them is a mistake and refused.
    Template,
    /// Anybody. It is cut where it would form a special token, and stays the same text.
    Untrusted,
}

/// What is to be generated.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generate {
    /// The prompt.
    pub messages: Vec<Message>,
    /// What the answer must be; see [`crate::grammar::Grammar`].
    pub grammar: Option<String>,
    /// The most tokens of the answer.
    pub max_tokens: u32,
    /// The most tokens of the prompt; a longer one is not evaluated.
    pub input_budget: u32,
    /// What earlier work may be kept.
    #[serde(default)]
    pub reuse: Reuse,
    /// Whether all logits are hashed.
    #[serde(default)]
    pub logits: Logits,
    /// Whether every decision is reported.
    #[serde(default)]
    pub decisions: Decisions,
}

/// What earlier work may be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reuse {
    /// None: every prompt token is evaluated.
    #[default]
    Nothing,
    /// The state of the longest prefix shared with the prompt before.
    Prefix,
}

/// Whether all logits are hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Logits {
    /// They are not.
    #[default]
    Unhashed,
    /// SHA-256 over every logit of every decision, as 32-bit floats, little-endian.
    Hashed,
}

/// Whether every decision is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decisions {
    /// Only the narrowest.
    #[default]
    Narrowest,
    /// All of them.
    All,
}

/// A frame that is no reply yet.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The worker is alive and has come this far.
    Progress {
        /// Tokens evaluated or generated so far.
        tokens: u64,
    },
}

/// A reply.
#[derive(Debug, Serialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// Who works here.
    Identity(Box<crate::identity::Identity>),
    /// The model is loaded.
    Loaded(Loaded),
    /// The prompt's length.
    Counted {
        /// Tokens, the chat wrapper counted.
        tokens: u64,
    },
    /// An answer and how it came about.
    Generated(Box<Generated>),
    /// The prompt is longer than its budget; the model was not called.
    OverBudget {
        /// What the prompt takes.
        tokens: u64,
        /// What it may take.
        input_budget: u64,
    },
    /// The request could not be served.
    Error {
        /// What went wrong, in one code.
        code: String,
        /// What went wrong, in words.
        message: String,
    },
}

/// A loaded model.
#[derive(Debug, Serialize)]
pub struct Loaded {
    /// The SHA-256 of the bytes that were loaded.
    pub sha256: String,
    /// How much was loaded.
    pub part: Part,
    /// The most tokens of a prompt and its answer together; 0 for a tokenizer alone.
    pub context: u32,
    /// Seconds of hashing.
    pub seconds_hash: f64,
    /// Seconds of loading.
    pub seconds_load: f64,
}

/// An answer and how it came about.
#[derive(Debug, Serialize)]
pub struct Generated {
    /// Tokens of the prompt, the chat wrapper counted.
    pub tokens_in: u64,
    /// Tokens of the prompt whose state was kept from the prompt before.
    pub tokens_reused: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// The prompt as the model saw it, special tokens written out.
    pub prompt: String,
    /// The prompt's token ids.
    pub prompt_ids: Vec<u32>,
    /// SHA-256 over the prompt's ids, each as four bytes, little-endian.
    pub prompt_ids_sha256: String,
    /// The answer's token ids.
    pub output_ids: Vec<u32>,
    /// What was generated, the bytes of those tokens.
    pub written: String,
    /// Whether those bytes are that text.
    pub encoding: Encoding,
    /// The answer. Under a grammar of claims these are the claims that were completed and that do
    /// not cite the line that stands for nothing; otherwise it is what was generated.
    pub text: String,
    /// Why generation ended.
    pub stop: Stop,
    /// Why the claim that was begun last is not part of the answer, if it is not.
    pub cut_short: Option<CutShort>,
    /// Seconds spent on the prompt.
    pub seconds_prefill: f64,
    /// Seconds spent on the answer.
    pub seconds_decode: f64,
    /// Decode calls for the answer: decisions, and tokens evaluated without one.
    pub evaluations: u64,
    /// The decision that came nearest to being another one.
    pub narrowest: Option<Decision>,
    /// SHA-256 over all logits of all decisions, if asked for.
    pub logits_sha256: Option<String>,
    /// Every decision, if asked for.
    pub decisions: Option<Vec<Decision>>,
}

/// Whether an answer's bytes are its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// They are UTF-8.
    Exact,
    /// They are not, as where an answer is cut inside a character; what does not fit is U+FFFD.
    Replaced,
}

/// Why generation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model ended its answer, or the grammar left nothing more to say.
    Eos,
    /// The output budget is spent.
    Length,
}

/// Why the claim that was begun last is not part of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CutShort {
    /// It would not have ended within the output budget.
    Budget,
    /// Nothing was left that it could have gone on with.
    DeadEnd,
}

/// One choice among allowed tokens.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Decision {
    /// How many tokens of the answer came before.
    pub position: u64,
    /// What it was about.
    pub part: crate::grammar::Part,
    /// What was chosen, and how clearly.
    #[serde(flatten)]
    pub choice: crate::greedy::Choice,
}
