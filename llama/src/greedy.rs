//! Greedy choice: the highest allowed logit wins, the lowest id on ties. Logits that are not finite
//! are an error, never a token.

use serde::Serialize;

/// One token chosen among those allowed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The token.
    pub token: u32,
    /// Its logit.
    pub logit: f32,
    /// How many tokens were allowed.
    pub allowed: u64,
    /// By how much it led the second-best allowed token.
    pub gap: Option<f32>,
    /// The best token of all.
    pub wanted: u32,
    /// By how much that one led the chosen one.
    pub reluctance: f32,
}

/// A logit that is no number, or infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the logit of token {token} is not finite")]
pub struct NotFinite {
    /// The first such token.
    pub token: u32,
}

/// What may be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Any token.
    Any,
    /// These, in ascending order.
    Only(Vec<u32>),
}

/// Chooses; `None` where nothing that the vocabulary knows is allowed.
pub fn choose(logits: &[f32], allowed: &Allowed) -> Result<Option<Choice>, NotFinite> {
    if let Some(token) = logits.iter().position(|logit| !logit.is_finite()) {
        return Err(NotFinite { token: token as u32 });
    }
    let wanted = best(logits, 0..logits.len() as u32);
    let chosen = match allowed {
        Allowed::Any => wanted,
        Allowed::Only(tokens) => best(logits, tokens.iter().copied()),
    };
    let (Some(wanted), Some(chosen)) = (wanted, chosen) else { return Ok(None) };
    Ok(Some(Choice {
        token: chosen.token,
        logit: chosen.logit,
        allowed: chosen.among,
        gap: chosen.second.map(|second| chosen.logit - second),
        wanted: wanted.token,
        reluctance: wanted.logit - chosen.logit,
    }))
}

#[derive(Clone, Copy)]
struct Best {
    token: u32,
    logit: f32,
    second: Option<f32>,
    among: u64,
}

fn best(logits: &[f32], tokens: impl Iterator<Item = u32>) -> Option<Best> {
    let mut best: Option<Best> = None;
    for token in tokens {
        let Some(&logit) = logits.get(token as usize) else { continue };
        match &mut best {
            None => best = Some(Best { token, logit, second: None, among: 1 }),
            Some(best) => best.meet(token, logit),
        }
    }
    best
}

impl Best {
    fn meet(&mut self, token: u32, logit: f32) {
        self.among += 1;
        if logit > self.logit {
            self.second = Some(self.logit);
            (self.token, self.logit) = (token, logit);
        } else if self.second.is_none_or(|second| logit > second) {
            self.second = Some(logit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_id_wins_a_tie() {
        let choice = choose(&[1.0, 3.0, 3.0, 2.0], &Allowed::Any).unwrap().unwrap();
        assert_eq!((choice.token, choice.gap), (1, Some(0.0)));
    }

    #[test]
    fn only_allowed_tokens_are_chosen_and_reluctance_is_told() {
        let only = Allowed::Only(vec![0, 3]);
        let choice = choose(&[1.0, 5.0, 3.0, 2.0], &only).unwrap().unwrap();
        assert_eq!((choice.token, choice.gap, choice.allowed), (3, Some(1.0), 2));
        assert_eq!((choice.wanted, choice.reluctance), (1, 3.0));
    }

    #[test]
    fn nothing_is_chosen_from_nothing() {
        assert!(choose(&[1.0], &Allowed::Only(vec![])).unwrap().is_none());
        assert!(choose(&[1.0], &Allowed::Only(vec![9])).unwrap().is_none());
        assert!(choose(&[], &Allowed::Any).unwrap().is_none());
    }

    #[test]
    fn logits_must_be_finite() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let fault = choose(&[0.0, bad], &Allowed::Only(vec![0])).unwrap_err();
            assert_eq!(fault, NotFinite { token: 1 });
        }
    }
}
