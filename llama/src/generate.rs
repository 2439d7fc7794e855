//! Greedy generation under a constraint, with the whole record of how an answer came about. The
//! prompt and whatever the grammar forces are evaluated in one go; each decision is one more.

use std::time::Instant;

use sha2::{Digest, Sha256};

use crate::chat::{ChatError, Prompt};
use crate::gguf::hex;
use crate::grammar::{Constraint, Copied, Grammar, GrammarError, LarkError, Offered, Part, Step};
use crate::greedy::{self, Allowed, NotFinite};
use crate::model::{EvaluateError, Model, Sequence};
use crate::protocol::{
    CutShort, Decision, Decisions, Encoding, Generate, Generated, Logits, Message, Reply, Reuse,
    Stop,
};
use crate::vocabulary::Vocabulary;

/// Generation that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// Only a tokenizer is loaded, or nothing.
    #[error("no model is loaded")]
    NoModel,
    /// The prompt cannot be written.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The grammar cannot be followed.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// Prompt and answer do not fit the context.
    #[error("{tokens} tokens of prompt and answer do not fit the context of {context}")]
    Context {
        /// What they take.
        tokens: u64,
        /// What there is.
        context: u64,
    },
    /// llama.cpp failed.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// The model's numbers are broken.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
}

impl From<LarkError> for GenerateError {
    fn from(error: LarkError) -> Self {
        Self::Grammar(error.into())
    }
}

/// Tokens of a prompt, the chat wrapper counted.
pub fn count(model: &Model, messages: &[Message]) -> Result<u64, ChatError> {
    Ok(model.chat.render(messages, &model.vocabulary)?.tokens.len() as u64)
}

/// Continues a prompt.
pub fn generate(
    model: &mut Model,
    request: &Generate,
    progress: &mut dyn FnMut(u64),
) -> Result<Reply, GenerateError> {
    let prompt = model.chat.render(&request.messages, &model.vocabulary)?;
    let tokens = prompt.tokens.len() as u64;
    if tokens > request.input_budget.into() {
        return Ok(Reply::OverBudget { tokens, input_budget: request.input_budget.into() });
    }
    let constraint = constraint(model, request)?;
    let sequence = model.sequence.as_mut().ok_or(GenerateError::NoModel)?;
    let (total, context) = (tokens + u64::from(request.max_tokens), sequence.capacity() as u64);
    if total > context {
        return Err(GenerateError::Context { tokens: total, context });
    }
    let mut writing = Writing::new(sequence, &model.vocabulary, request, constraint, &prompt);
    while writing.step(progress)? == Next::More {}
    Ok(Reply::Generated(Box::new(writing.finish(prompt))))
}

fn constraint(model: &mut Model, request: &Generate) -> Result<Constraint, GrammarError> {
    let Some(text) = &request.grammar else { return Ok(Constraint::Free) };
    Ok(match serde_json::from_str(text)? {
        Grammar::Lark { text } => Constraint::Lark(Box::new(model.larks()?.follow(&text)?)),
        Grammar::Copied(rules) => Constraint::Copied(Box::new(Copied::new(rules, model.pieces())?)),
        Grammar::Offered(rules) => {
            Constraint::Offered(Box::new(Offered::new(rules, &model.pieces())?))
        }
    })
}

/// An answer being written.
struct Writing<'a> {
    sequence: &'a mut Sequence,
    vocabulary: &'a Vocabulary,
    request: &'a Generate,
    constraint: Constraint,
    reused: usize,
    /// Tokens to evaluate before the next decision.
    pending: Vec<u32>,
    output: Vec<u32>,
    stop: Stop,
    cut_short: Option<CutShort>,
    evaluations: u64,
    narrowest: Option<Decision>,
    decisions: Vec<Decision>,
    hasher: Sha256,
    started: Instant,
    seconds_prefill: f64,
}

/// Whether writing goes on.
#[derive(PartialEq)]
enum Next {
    More,
    Done,
}

impl<'a> Writing<'a> {
    fn new(
        sequence: &'a mut Sequence,
        vocabulary: &'a Vocabulary,
        request: &'a Generate,
        constraint: Constraint,
        prompt: &Prompt,
    ) -> Self {
        let shared = match request.reuse {
            Reuse::Nothing => 0,
            // The last token is evaluated again, for its logits.
            Reuse::Prefix => sequence.shared_with(&prompt.tokens[..prompt.tokens.len() - 1]),
        };
        let reused = sequence.keep(shared);
        Self {
            sequence,
            vocabulary,
            request,
            constraint,
            reused,
            pending: prompt.tokens[reused..].to_vec(),
            output: Vec::new(),
            stop: Stop::Eos,
            cut_short: None,
            evaluations: 0,
            narrowest: None,
            decisions: Vec::new(),
            hasher: Sha256::new(),
            started: Instant::now(),
            seconds_prefill: 0.0,
        }
    }

    /// One step of the answer.
    fn step(&mut self, progress: &mut dyn FnMut(u64)) -> Result<Next, GenerateError> {
        match self.constraint.step()? {
            Step::End => Ok(Next::Done),
            Step::Forced(tokens) => Ok(self.push(&tokens)),
            Step::Choose(part, allowed) => {
                if self.room() == 0 {
                    return Ok(self.cut_short(CutShort::Budget));
                }
                match self.decide(part, &allowed, progress)? {
                    Some(token) => self.take(part, token),
                    None => Ok(self.cut_short(CutShort::DeadEnd)),
                }
            }
        }
    }

    fn room(&self) -> usize {
        self.request.max_tokens as usize - self.output.len()
    }

    fn push(&mut self, tokens: &[u32]) -> Next {
        let fitting = &tokens[..tokens.len().min(self.room())];
        self.pending.extend(fitting);
        self.output.extend(fitting);
        match fitting.len() == tokens.len() {
            true => Next::More,
            false => self.cut_short(CutShort::Budget),
        }
    }

    fn take(&mut self, part: Part, token: u32) -> Result<Next, GenerateError> {
        self.push(&[token]);
        if part == Part::Text && self.vocabulary.is_end(token) {
            return Ok(Next::Done);
        }
        self.constraint.accept(token)?;
        Ok(Next::More)
    }

    /// Ends the answer after its last whole claim; text that is no claims is simply cut.
    fn cut_short(&mut self, why: CutShort) -> Next {
        match self.constraint.answer() {
            Some(_) => self.cut_short = Some(why),
            None => self.stop = Stop::Length,
        }
        Next::Done
    }

    /// Evaluates what is pending and chooses; `None` where nothing is allowed.
    fn decide(
        &mut self,
        part: Part,
        allowed: &Allowed,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<u32>, GenerateError> {
        if *allowed == Allowed::Only(Vec::new()) {
            return Ok(None);
        }
        let tokens = (self.reused + self.output.len()) as u64;
        self.sequence.evaluate(&self.pending, || progress(tokens))?;
        self.pending.clear();
        self.evaluations += 1;
        if self.evaluations == 1 {
            self.seconds_prefill = self.started.elapsed().as_secs_f64();
        }
        let logits = self.sequence.logits();
        if self.request.logits == Logits::Hashed {
            logits.iter().for_each(|logit| self.hasher.update(logit.to_le_bytes()));
        }
        let Some(choice) = greedy::choose(logits, allowed)? else { return Ok(None) };
        self.record(Decision { position: self.output.len() as u64, part, choice });
        Ok(Some(choice.token))
    }

    fn record(&mut self, decision: Decision) {
        let gap = |decision: &Decision| decision.choice.gap.unwrap_or(f32::INFINITY);
        if self.narrowest.as_ref().is_none_or(|narrowest| gap(&decision) < gap(narrowest)) {
            self.narrowest = Some(decision);
        }
        if self.request.decisions == Decisions::All {
            self.decisions.push(decision);
        }
    }

    fn finish(self, prompt: Prompt) -> Generated {
        let bytes = self.vocabulary.spell(self.said());
        let (written, encoding) = match String::from_utf8(bytes) {
            Ok(text) => (text, Encoding::Exact),
            Err(fault) => (String::from_utf8_lossy(fault.as_bytes()).into(), Encoding::Replaced),
        };
        let seconds = self.started.elapsed().as_secs_f64();
        Generated {
            tokens_in: prompt.tokens.len() as u64,
            tokens_reused: self.reused as u64,
            tokens_out: self.output.len() as u64,
            prompt: prompt.text,
            prompt_ids_sha256: ids_sha256(&prompt.tokens),
            prompt_ids: prompt.tokens,
            text: self.constraint.answer().unwrap_or_else(|| written.clone()),
            written,
            encoding,
            stop: self.stop,
            cut_short: self.cut_short,
            seconds_prefill: self.seconds_prefill,
            seconds_decode: seconds - self.seconds_prefill,
            evaluations: self.evaluations,
            narrowest: self.narrowest,
            logits_sha256: (self.request.logits == Logits::Hashed).then(|| hex(self.hasher)),
            decisions: (self.request.decisions == Decisions::All).then_some(self.decisions),
            output_ids: self.output,
        }
    }

    /// The answer without the token that ended it.
    fn said(&self) -> &[u32] {
        match self.output.split_last() {
            Some((last, rest)) if self.vocabulary.is_end(*last) => rest,
            _ => &self.output,
        }
    }
}

/// SHA-256 over token ids, each as four bytes, little-endian.
fn ids_sha256(ids: &[u32]) -> String {
    let mut hasher = Sha256::new();
    ids.iter().for_each(|id| hasher.update(id.to_le_bytes()));
    hex(hasher)
}
