//! One of several token sequences. Tokens that all of what is left agree on are no choice.

use super::{Part, Step};
use crate::greedy::Allowed;

/// The options that are left, each with the tokens still to come.
#[derive(Debug)]
pub(super) struct Options<Item> {
    left: Vec<(Item, Vec<u32>)>,
    depth: usize,
}

/// Where a choice among options stands.
enum Standing<Item> {
    /// One is left; these of its tokens are still to come.
    Decided(Item, Vec<u32>),
    /// All that are left go on with this token.
    Agreed(u32),
    /// They go on with these, in ascending order.
    Open(Vec<u32>),
}

impl<Item: Clone> Options<Item> {
    pub(super) fn new(left: Vec<(Item, Vec<u32>)>) -> Self {
        Self { left, depth: 0 }
    }

    /// Where the choice stands; `None` where nothing is left.
    fn standing(&self) -> Option<Standing<Item>> {
        let (first, tokens) = self.left.first()?;
        let mut next: Vec<u32> =
            self.left.iter().filter_map(|(_, tokens)| tokens.get(self.depth).copied()).collect();
        next.sort_unstable();
        next.dedup();
        // Options are distinct texts of which none begins another; equal tokens are one option.
        if self.left.len() == 1 || next.is_empty() {
            return Some(Standing::Decided(first.clone(), tokens[self.depth..].to_vec()));
        }
        Some(match next.as_slice() {
            [token] => Standing::Agreed(*token),
            _ => Standing::Open(next),
        })
    }

    /// The step that comes next, or the tokens that need no choice.
    pub(super) fn step(&self, part: Part) -> Result<Step, Vec<u32>> {
        match self.standing() {
            None => Ok(Step::Choose(part, Allowed::Only(Vec::new()))),
            Some(Standing::Open(tokens)) => Ok(Step::Choose(part, Allowed::Only(tokens))),
            Some(Standing::Agreed(token)) => Err(vec![token]),
            Some(Standing::Decided(_, tokens)) => Err(tokens),
        }
    }

    /// What is decided, and its tokens that are still to come.
    pub(super) fn decided(&self) -> Option<(Item, Vec<u32>)> {
        match self.standing() {
            Some(Standing::Decided(item, rest)) => Some((item, rest)),
            _ => None,
        }
    }

    pub(super) fn accept(&mut self, token: u32) {
        let depth = self.depth;
        self.left.retain(|(_, tokens)| tokens.get(depth) == Some(&token));
        self.depth += 1;
    }
}
