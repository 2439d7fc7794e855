//! Some of the claims that a reduce is offered, each whole and at most once, as many as may be. A
//! claim of a group that was chosen more often than another waits until the other was chosen, too.

use serde::{Deserialize, Serialize};

use super::options::Options;
use super::{GrammarError, Part, Pieces, Step};

/// What may be chosen.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OfferedRules {
    /// The claims.
    pub claims: Vec<OfferedClaim>,
    /// The most claims.
    pub max_claims: usize,
}

/// A claim that may be chosen.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OfferedClaim {
    /// It, as one JSON object.
    pub text: String,
    /// What it is counted with, such as its field.
    pub group: String,
}

/// A choice being made.
pub struct Offered {
    /// What is not chosen yet.
    left: Vec<Candidate>,
    chosen: Vec<OfferedClaim>,
    next: Vec<u32>,
    end: Vec<u32>,
    max_claims: usize,
    forced: Vec<u32>,
    state: State,
}

struct Candidate {
    claim: OfferedClaim,
    tokens: Vec<u32>,
}

enum State {
    /// Among these, by their number in what is left.
    Claim(Options<usize>),
    Ended,
}

impl Offered {
    /// Makes the offer ready.
    pub fn new(rules: OfferedRules, pieces: &Pieces) -> Result<Self, GrammarError> {
        let mut left: Vec<Candidate> = Vec::new();
        for claim in rules.claims {
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&claim.text)?;
            if !left.iter().any(|held| held.claim.text == claim.text) {
                let tokens = pieces.tokenise(&claim.text);
                left.push(Candidate { claim, tokens });
            }
        }
        let mut offered = Self {
            left,
            chosen: Vec::new(),
            next: pieces.tokenise(","),
            end: pieces.tokenise("]}"),
            max_claims: rules.max_claims,
            forced: pieces.tokenise(r#"{"claims":["#),
            state: State::Ended,
        };
        match offered.left.is_empty() || rules.max_claims == 0 {
            true => offered.forced = pieces.tokenise(r#"{"claims":[]}"#),
            false => offered.state = State::Claim(offered.options()),
        }
        Ok(offered)
    }

    /// The claims of the groups that were chosen least.
    fn options(&self) -> Options<usize> {
        let times = |candidate: &Candidate| {
            self.chosen.iter().filter(|chosen| chosen.group == candidate.claim.group).count()
        };
        let least = self.left.iter().map(times).min();
        let left = self.left.iter().enumerate();
        let open = left.filter(|(_, candidate)| Some(times(candidate)) == least);
        Options::new(open.map(|(number, candidate)| (number, candidate.tokens.clone())).collect())
    }

    /// The chosen claims, in the order of choice.
    pub(super) fn claims(&self) -> impl Iterator<Item = String> {
        self.chosen.iter().map(|claim| claim.text.clone())
    }

    pub(super) fn step(&mut self) -> Step {
        loop {
            if !self.forced.is_empty() {
                return Step::Forced(std::mem::take(&mut self.forced));
            }
            let agreed = match &self.state {
                State::Ended => return Step::End,
                State::Claim(options) => options.step(Part::Claim),
            };
            match agreed {
                Ok(step) => return step,
                Err(tokens) => self.force(tokens),
            }
        }
    }

    /// Puts tokens that need no choice into the answer.
    fn force(&mut self, tokens: Vec<u32>) {
        for token in &tokens {
            self.accept_option(*token);
        }
        self.forced = tokens;
        // What the last of them decided comes after it.
        self.settle();
    }

    pub(super) fn accept(&mut self, token: u32) {
        self.accept_option(token);
        self.settle();
    }

    fn accept_option(&mut self, token: u32) {
        if let State::Claim(options) = &mut self.state {
            options.accept(token);
        }
    }

    /// Goes on where a claim is decided, with the rest of its tokens forced.
    fn settle(&mut self) {
        let State::Claim(options) = &self.state else { return };
        let Some((number, rest)) = options.decided() else { return };
        self.forced.extend(rest);
        self.chosen.push(self.left.remove(number).claim);
        self.state = match self.left.is_empty() || self.chosen.len() >= self.max_claims {
            true => {
                self.forced.extend(&self.end);
                State::Ended
            }
            false => {
                self.forced.extend(&self.next);
                State::Claim(self.options())
            }
        };
    }
}
