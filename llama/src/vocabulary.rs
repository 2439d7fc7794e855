//! The model's vocabulary, and text turned into tokens such that nobody's text can form a special
//! one. The text is never altered: where it would, it is cut, and its parts are tokenised apart.

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token_type::LlamaTokenAttr;

use crate::grammar::{LarkError, Larks, Pieces};
use crate::protocol::Trust;

/// The rule by which untrusted text is cut. Part of every key.
pub const UNTRUSTED: &str = "cut after the first character of a user-defined token/1";

/// The most bytes of one text; llama.cpp counts bytes and tokens in 32 bits.
const MAX_TEXT: usize = 8 << 20;

/// A vocabulary and what is known of its tokens.
pub struct Vocabulary {
    model: &'static LlamaModel,
    /// Control, end-of-generation, unknown and user-defined tokens, by id.
    special: Vec<bool>,
    /// The texts of the user-defined tokens, which llama.cpp finds in any text.
    user_defined: Vec<String>,
}

/// A text that cannot become tokens.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokeniseError {
    /// It is too long for llama.cpp's own counters.
    #[error("a text of {bytes} bytes is too long for the tokenizer")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// A prompt of this program's own forms a special token.
    #[error("a prompt's own text forms the special token {token}")]
    SpecialInTemplate {
        /// The token.
        token: u32,
    },
    /// No cut keeps the text from forming a special token.
    #[error("a text forms the special token {token}, and no cut prevents it")]
    Unavoidable {
        /// The token.
        token: u32,
    },
    /// The tokens do not spell the text.
    #[error("this model's tokenizer alters text, so nothing exact can be made with it")]
    Altered,
}

impl Vocabulary {
    /// Looks at every token once.
    pub fn new(model: &'static LlamaModel) -> Self {
        let vocab = model.vocab();
        let mut special = Vec::new();
        let mut user_defined = Vec::new();
        for token in vocab.tokens() {
            let attributes = vocab.attr(token);
            let named = attributes.contains(LlamaTokenAttr::UserDefined);
            let control = attributes.contains(LlamaTokenAttr::Control)
                || attributes.contains(LlamaTokenAttr::Unknown);
            special.push(named || control || vocab.is_eog(token));
            if named {
                user_defined.extend(String::from_utf8(vocab.token_to_piece(token, true, None)));
            }
        }
        Self { model, special, user_defined }
    }

    /// Tokens in the vocabulary.
    pub fn size(&self) -> usize {
        self.special.len()
    }

    /// Whether the token ends an answer.
    pub fn is_end(&self, token: u32) -> bool {
        self.model.vocab().is_eog(llama_token(token))
    }

    /// The id of a special token that is written exactly so.
    pub fn special(&self, text: &str) -> Option<u32> {
        let tokens = self.model.vocab().tokenize(text.as_bytes(), false, true);
        match tokens.as_slice() {
            [LlamaToken(id)] => u32::try_from(*id).ok().filter(|id| self.is_special(*id)),
            _ => None,
        }
    }

    /// The token that the model wants at the start of every text, if it wants one.
    pub fn beginning(&self) -> Option<u32> {
        let vocab = self.model.vocab();
        vocab.should_add_bos().then(|| u32::try_from(vocab.bos().0).ok()).flatten()
    }

    fn is_special(&self, token: u32) -> bool {
        self.special.get(token as usize).copied().unwrap_or(true)
    }

    /// Turns text into ordinary tokens that spell it exactly.
    pub fn tokenise(&self, text: &str, trust: Trust) -> Result<Vec<u32>, TokeniseError> {
        if text.len() > MAX_TEXT {
            return Err(TokeniseError::TooLong { bytes: text.len() });
        }
        let parts = match trust {
            Trust::Template => vec![text],
            Trust::Untrusted => cut(text, &self.user_defined),
        };
        let tokens: Vec<u32> = parts.into_iter().flat_map(|part| self.ordinary(part)).collect();
        if let Some(&token) = tokens.iter().find(|token| self.is_special(**token)) {
            return Err(match trust {
                Trust::Template => TokeniseError::SpecialInTemplate { token },
                Trust::Untrusted => TokeniseError::Unavoidable { token },
            });
        }
        match self.spell(&tokens) == text.as_bytes() {
            true => Ok(tokens),
            false => Err(TokeniseError::Altered),
        }
    }

    fn ordinary(&self, text: &str) -> Vec<u32> {
        let tokens = self.model.vocab().tokenize(text.as_bytes(), false, false);
        tokens.into_iter().filter_map(|LlamaToken(id)| u32::try_from(id).ok()).collect()
    }

    /// The bytes that tokens stand for, special ones written out.
    pub fn spell(&self, tokens: &[u32]) -> Vec<u8> {
        tokens.iter().flat_map(|token| self.bytes(*token)).collect()
    }

    fn bytes(&self, token: u32) -> Vec<u8> {
        match (token as usize) < self.size() {
            true => self.model.vocab().token_to_piece(llama_token(token), true, None),
            false => Vec::new(),
        }
    }

    /// The ordinary tokens, for grammars.
    pub fn pieces(&self) -> Pieces {
        let ordinary = (0..self.size() as u32).filter(|token| !self.is_special(*token));
        let model = self.model;
        Pieces::new(ordinary.map(|token| (token, self.bytes(token))), move |text| {
            let tokens = model.vocab().tokenize(text.as_bytes(), false, false);
            tokens.into_iter().filter_map(|LlamaToken(id)| u32::try_from(id).ok()).collect()
        })
    }

    /// The environment of llguidance's grammars.
    pub fn larks(&self) -> Result<Larks, LarkError> {
        let all = 0..self.size() as u32;
        let bytes = |token| match self.is_special(token) {
            true => Vec::new(),
            false => self.bytes(token),
        };
        let usual = [self.model.vocab().eot(), self.model.vocab().eos()];
        let usual = usual.iter().filter_map(|LlamaToken(id)| u32::try_from(*id).ok());
        let mut ends: Vec<u32> = usual.take(1).collect();
        ends.extend(all.clone().filter(|token| self.is_end(*token)));
        ends.dedup();
        Larks::new(&all.map(bytes).collect::<Vec<_>>(), &ends)
    }
}

/// A token as llama.cpp wants it.
pub(crate) fn llama_token(token: u32) -> LlamaToken {
    LlamaToken::new(i32::try_from(token).unwrap_or(i32::MAX))
}

/// Cuts a text after the first character of every place where one of the words stands.
fn cut<'a>(text: &'a str, words: &[String]) -> Vec<&'a str> {
    let mut cuts: Vec<usize> = words.iter().flat_map(|word| places(text, word)).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut parts = Vec::with_capacity(cuts.len() + 1);
    let mut start = 0;
    for end in cuts.into_iter().chain([text.len()]) {
        parts.push(&text[start..end]);
        start = end;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The places after the first character of each occurrence, overlapping ones included.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let first = word.chars().next().map_or(0, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        if first == 0 {
            return None;
        }
        let found = text.get(from..)?.find(word)? + from;
        from = found + first;
        Some(found + first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn text_is_cut_inside_every_word_and_stays_the_same() {
        let words = words(&["<tool_call>", "aa"]);
        for (text, expected) in [
            ("plain", vec!["plain"]),
            ("x<tool_call>y", vec!["x<", "tool_call>y"]),
            ("<<tool_call>", vec!["<<", "tool_call>"]),
            ("aaa", vec!["a", "a", "a"]),
            ("", vec![]),
        ] {
            let parts = cut(text, &words);
            assert_eq!(parts, expected);
            assert_eq!(parts.concat(), text);
            assert!(parts.iter().all(|part| !words.iter().any(|word| part.contains(word))));
        }
    }
}
