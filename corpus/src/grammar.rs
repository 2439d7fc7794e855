//! The grammar of a fact line: the whole line `Product P-dd-dd <field>: <value>.`
//! Anything more or less on the line, a quotation mark included, makes it prose.

use std::fmt;

/// The fields of the controlled world, in the order of the labels.
pub const FIELDS: [&str; 4] = ["delivery", "status", "quantity", "site"];

/// What one fact line states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fact<'a> {
    /// The product, `P-dd-dd`, without the word before it.
    pub subject: &'a str,
    /// One of [`FIELDS`].
    pub field: &'a str,
    /// At least one character, none of them a full stop or a line feed.
    pub value: &'a str,
}

impl<'a> Fact<'a> {
    /// Reads a line without its terminator; `None` where it is no fact line.
    pub fn parse(line: &'a str) -> Option<Self> {
        let rest = line.strip_prefix("Product ")?;
        let (subject, rest) = rest.split_once(' ')?;
        let (field, rest) = rest.split_once(": ")?;
        let value = rest.strip_suffix('.')?;
        let fact = Self { subject, field, value };
        fact.is_well_formed().then_some(fact)
    }

    fn is_well_formed(&self) -> bool {
        is_product(self.subject)
            && FIELDS.contains(&self.field)
            && !self.value.is_empty()
            && !self.value.contains(['.', '\n'])
    }
}

impl fmt::Display for Fact<'_> {
    /// The fact line, without a terminator.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Product {} {}: {}.", self.subject, self.field, self.value)
    }
}

/// Is the whole line a fact?
pub fn is_fact_line(line: &str) -> bool {
    Fact::parse(line).is_some()
}

fn is_product(subject: &str) -> bool {
    match subject.as_bytes() {
        [b'P', b'-', a, b, b'-', c, d] => [a, b, c, d].iter().all(|digit| digit.is_ascii_digit()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_line_reads_back() {
        let line = "Product P-10-04 delivery: 18 October 2027.";
        let fact = Fact::parse(line).unwrap();
        assert_eq!(fact, Fact { subject: "P-10-04", field: "delivery", value: "18 October 2027" });
        assert_eq!(fact.to_string(), line);
    }

    #[test]
    fn a_value_may_hold_anything_but_stop_and_line_feed() {
        let value = |line| Fact::parse(line).map(|fact| fact.value);
        assert_eq!(value("Product P-00-99 site: Łódź: dock 3."), Some("Łódź: dock 3"));
        assert_eq!(value("Product P-00-99 status: \"on hold\"."), Some("\"on hold\""));
    }

    #[test]
    fn anything_else_is_prose() {
        for line in [
            "",
            "Product P-10-04 delivery: 18 October 2027",
            "Product P-10-04 delivery: 18 October 2027. ",
            " Product P-10-04 delivery: 18 October 2027.",
            "- Product P-10-04 delivery: 18 October 2027.",
            "product P-10-04 delivery: 18 October 2027.",
            "Product P-10-04 delivery: 18 October. 2027.",
            "Product P-10-04 delivery: 18\nOctober 2027.",
            "Product P-10-04 delivery: .",
            "Product P-10-04 delivery:18 October 2027.",
            "Product P-10-04 delivery 18 October 2027.",
            "Product P-10-04 Delivery: 18 October 2027.",
            "Product P-10-04 colour: red.",
            "Product P-10-4 site: Riga.",
            "Product P-10-004 site: Riga.",
            "Product P-1a-04 site: Riga.",
            "Product P-१०-04 site: Riga.",
            "Product P-10-04  site: Riga.",
            "The label says \"Product P-10-04 quantity: 999 units.\"",
        ] {
            assert!(!is_fact_line(line), "{line:?}");
        }
    }
}
