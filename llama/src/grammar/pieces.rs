//! The vocabulary as bytes: which tokens lie along a text, and how a literal is tokenised.

use std::collections::{BTreeSet, HashMap};

type Tokenise = dyn Fn(&str) -> Vec<u32>;

/// The ordinary tokens of a vocabulary, by their bytes.
pub struct Pieces {
    ids: HashMap<Vec<u8>, u32>,
    longest: usize,
    tokenise: Box<Tokenise>,
}

impl Pieces {
    /// `tokens` are the ordinary tokens in ascending order of their ids; `tokenise` is the model's
    /// own tokenizer.
    pub fn new(
        tokens: impl Iterator<Item = (u32, Vec<u8>)>,
        tokenise: impl Fn(&str) -> Vec<u32> + 'static,
    ) -> Self {
        let mut ids = HashMap::new();
        let mut longest = 0;
        for (id, bytes) in tokens.filter(|(_, bytes)| !bytes.is_empty()) {
            longest = longest.max(bytes.len());
            ids.entry(bytes).or_insert(id);
        }
        Self { ids, longest, tokenise: Box::new(tokenise) }
    }

    /// A literal's tokens.
    pub fn tokenise(&self, literal: &str) -> Vec<u32> {
        (self.tokenise)(literal)
    }

    /// Adds every token that the text begins with.
    pub(super) fn along(&self, text: &[u8], found: &mut BTreeSet<u32>) {
        for length in 1..=text.len().min(self.longest) {
            if let Some(id) = self.ids.get(&text[..length]) {
                found.insert(*id);
            }
        }
    }

    /// How many bytes of the text the token covers; `None` where the text does not begin with it.
    pub(super) fn covers(&self, token: u32, text: &[u8]) -> Option<usize> {
        (1..=text.len().min(self.longest))
            .find(|length| self.ids.get(&text[..*length]) == Some(&token))
    }
}
