//! What an answer must be, and how generation is kept to it. An answer of claims is a sequence of
//! literals, options and copied text; literals and options are tokenised by one fixed rule
//! ([`TOKENISATION`]), so what the grammar forces is evaluated together.

mod copied;
mod copying;
mod lark;
mod line;
mod offered;
mod options;
mod pieces;

use serde::{Deserialize, Serialize};

use crate::greedy::Allowed;

pub use copied::{Copied, CopiedRules, Nothing};
pub use lark::{Lark, LarkError, Larks};
pub use line::OfferedLine;
pub use offered::{Offered, OfferedClaim, OfferedRules};
pub use pieces::Pieces;

/// The rule by which literals and options become tokens: each literal, and each option together
/// with the literal after it, is tokenised by itself; copied text is chosen token by token and no
/// token crosses its ends. Part of every key.
pub const TOKENISATION: &str = "segments/1";

/// What an answer must be, as a request states it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Grammar {
    /// Anything that a grammar of llguidance's Lark dialect accepts.
    Lark {
        /// The grammar.
        text: String,
    },
    /// Claims copied from offered lines.
    Copied(CopiedRules),
    /// Some of the offered claims.
    Offered(OfferedRules),
}

/// A grammar that cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum GrammarError {
    /// It is no JSON of the expected shape.
    #[error("the grammar cannot be read: {0}")]
    Shape(#[from] serde_json::Error),
    /// It offers nothing.
    #[error("the grammar offers no {0}")]
    Empty(&'static str),
    /// llguidance refuses it.
    #[error(transparent)]
    Lark(#[from] LarkError),
}

/// The part of an answer that a choice belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text without a grammar, or under one of llguidance's.
    Text,
    /// A claim's subject.
    Subject,
    /// A claim's field.
    Field,
    /// A claim's value.
    Value,
    /// The label of the cited line.
    Label,
    /// One of the offered claims.
    Claim,
    /// Whether another claim follows.
    Between,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// These tokens and no others.
    Forced(Vec<u32>),
    /// One of several.
    Choose(Part, Allowed),
    /// Nothing: the answer is complete.
    End,
}

/// A constraint being followed.
pub enum Constraint {
    /// None. The model ends its answer itself.
    Free,
    /// A grammar of llguidance's.
    Lark(Box<Lark>),
    /// Claims copied from lines.
    Copied(Box<Copied>),
    /// Offered claims.
    Offered(Box<Offered>),
}

impl Constraint {
    /// What comes next.
    pub fn step(&mut self) -> Result<Step, LarkError> {
        Ok(match self {
            Self::Free => Step::Choose(Part::Text, Allowed::Any),
            Self::Lark(lark) => lark.step()?,
            Self::Copied(copied) => copied.step(),
            Self::Offered(offered) => offered.step(),
        })
    }

    /// Takes the chosen token.
    pub fn accept(&mut self, token: u32) -> Result<(), LarkError> {
        match self {
            Self::Free => {}
            Self::Lark(lark) => lark.accept(token)?,
            Self::Copied(copied) => copied.accept(token),
            Self::Offered(offered) => offered.accept(token),
        }
        Ok(())
    }

    /// The answer as far as it is whole: the claims that were completed. `None` where the answer is
    /// the generated text itself.
    pub fn answer(&self) -> Option<String> {
        match self {
            Self::Free | Self::Lark(_) => None,
            Self::Copied(copied) => Some(list(copied.claims())),
            Self::Offered(offered) => Some(list(offered.claims())),
        }
    }
}

/// An answer of these claims, each one JSON object.
fn list(claims: impl Iterator<Item = String>) -> String {
    format!(r#"{{"claims":[{}]}}"#, claims.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests;
