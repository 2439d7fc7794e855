//! Grammars of llguidance's Lark dialect, for answers that are no list of claims.

use std::sync::Arc;

use llguidance::api::{ParserLimits, TopLevelGrammar};
use llguidance::toktrie::{ApproximateTokEnv, InferenceCapabilities, TokEnv, TokRxInfo, TokTrie};
use llguidance::{Matcher, ParserFactory};

use super::{Part, Step};
use crate::greedy::Allowed;

/// llguidance refused a grammar or lost its way in one.
#[derive(Debug, thiserror::Error)]
#[error("llguidance: {0}")]
pub struct LarkError(String);

/// Makes grammars for one vocabulary.
pub struct Larks {
    factory: ParserFactory,
}

/// One grammar being followed.
pub struct Lark {
    matcher: Matcher,
}

impl Larks {
    /// `tokens` holds every token's bytes by id, special ones empty; `ends` are the tokens that end
    /// an answer, the usual one first.
    pub fn new(tokens: &[Vec<u8>], ends: &[u32]) -> Result<Self, LarkError> {
        let first = *ends.first().ok_or_else(|| LarkError("no token ends an answer".into()))?;
        let info = TokRxInfo::new(tokens.len() as u32, first);
        let trie = TokTrie::from(&info, tokens).with_eos_tokens(ends);
        let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let mut factory = ParserFactory::new(&environment, InferenceCapabilities::default(), &[])
            .map_err(told)?;
        factory.quiet();
        *factory.limits_mut() = ParserLimits::default();
        Ok(Self { factory })
    }

    /// Reads a grammar.
    pub fn follow(&self, text: &str) -> Result<Lark, LarkError> {
        let parser = self.factory.create_parser(TopLevelGrammar::from_lark(text.to_owned()));
        let matcher = Matcher::new(parser);
        match matcher.get_error() {
            Some(fault) => Err(LarkError(fault)),
            None => Ok(Lark { matcher }),
        }
    }
}

fn told(fault: impl std::fmt::Display) -> LarkError {
    LarkError(fault.to_string())
}

impl Lark {
    pub(super) fn step(&mut self) -> Result<Step, LarkError> {
        if self.matcher.is_stopped() {
            return match self.matcher.get_error() {
                Some(fault) => Err(LarkError(fault)),
                None => Ok(Step::End),
            };
        }
        let mask = self.matcher.compute_mask().map_err(told)?;
        let mut tokens = Vec::new();
        mask.iter_set_entries(|token| tokens.push(token as u32));
        Ok(Step::Choose(Part::Text, Allowed::Only(tokens)))
    }

    pub(super) fn accept(&mut self, token: u32) -> Result<(), LarkError> {
        self.matcher.consume_token(token).map_err(told)
    }
}
