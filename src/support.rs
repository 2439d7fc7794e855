//! How far a claim is supported by what it cites, as far as a program can see: the cited line
//! states it whole, its words are copied from the cited lines, or nothing was checked. None of
//! these says that the claim is true.

use crate::claims::Claim;

/// What was found of a claim's words in the lines it cites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// A cited quote is a whole fact line that states exactly this.
    ExactFactLine,
    /// Subject and value stand in the cited quotes, character for character (in a block, runs of
    /// white space count as one space).
    Copied,
    /// Neither; nothing was checked.
    Unchecked,
}

impl Support {
    /// The word as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ExactFactLine => "exact_fact_line",
            Self::Copied => "copied",
            Self::Unchecked => "unchecked",
        }
    }
}

/// Compares a claim with its quotes.
pub fn support(claim: &Claim) -> Support {
    let statement = &claim.statement;
    let fact = format!("Product {} {}: {}.", statement.subject, statement.field, statement.value);
    if claim.evidence.iter().any(|evidence| evidence.quote == fact) {
        return Support::ExactFactLine;
    }
    let quotes: Vec<String> = claim.evidence.iter().map(|e| one_spaced(&e.quote)).collect();
    let copied = |text: &str| {
        let text = one_spaced(text);
        quotes.iter().any(|quote| quote.contains(&text))
    };
    match copied(&statement.subject) && copied(&statement.value) {
        true => Support::Copied,
        false => Support::Unchecked,
    }
}

fn one_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
