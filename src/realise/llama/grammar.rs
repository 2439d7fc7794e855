//! Grammars of answers: what the worker lets a model say. A leaf's claims are copied from the
//! offered lines; a reduce's are chosen from those of its children, whole. A grammar is a value; the
//! worker's own rules and their version are part of its identity.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value, json};
use unicode_segmentation::UnicodeSegmentation;

use crate::claims::MAX_LENGTH;

/// The version of what this module makes: where lines are cut and what is offered. Part of every
/// key of an anchored answer.
pub const GENERATOR: &str = "claims/1";

/// The label of the line that stands for nothing. Claims that cite it are left out of an answer.
pub const NOTHING_LABEL: &str = "L0";
/// The text of that line.
pub const NOTHING_TEXT: &str = "none";

/// A line that may be cited: its label and its text.
pub type LabelledLine = (String, String);

/// Where subjects may be found in a line.
pub enum Subjects<'a> {
    /// Anywhere.
    Anywhere,
    /// At these byte ranges of a line's text; a range that splits a word offers nothing.
    At(&'a dyn Fn(&str) -> Vec<Range<usize>>),
}

/// Whether values may be copied from what stands in quotation marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quotations {
    /// They may.
    #[default]
    Offered,
    /// They may not: what a text quotes is not what it says.
    Withheld,
}

/// What a leaf's claims may be made of.
pub struct LeafRules<'a> {
    /// The lines, in order.
    pub lines: &'a [LabelledLine],
    /// The fields a claim may have.
    pub fields: &'a [String],
    /// The most claims.
    pub max_claims: u64,
    /// Where subjects may be found.
    pub subjects: Subjects<'a>,
    /// Whether values may be copied from quotations.
    pub quotations: Quotations,
}

/// The text of a piece of evidence as it is shown and copied: one line, the white space at its
/// breaks being one space.
pub fn one_line(quote: &str) -> Cow<'_, str> {
    if !quote.contains('\n') {
        return Cow::Borrowed(quote);
    }
    let parts: Vec<&str> = quote.split_whitespace().collect();
    Cow::Owned(parts.join(" "))
}

/// The grammar of a leaf's answer: at most `max_claims` claims, each with one of the fields, subject
/// and value copied from the lines at the word boundaries of Unicode's UAX 29.
pub fn leaf_grammar(rules: &LeafRules<'_>) -> String {
    let lines: Vec<Value> = rules.lines.iter().map(|line| offered_line(line, rules)).collect();
    json!({
        "kind": "copied",
        "nothing": { "label": NOTHING_LABEL, "text": NOTHING_TEXT },
        "lines": lines,
        "fields": rules.fields,
        "max_claims": rules.max_claims,
        "max_length": MAX_LENGTH,
    })
    .to_string()
}

fn offered_line((label, text): &LabelledLine, rules: &LeafRules<'_>) -> Value {
    let mut line = Map::from_iter([("label".to_owned(), Value::from(label.as_str()))]);
    line.insert("chunks".to_owned(), text.split_word_bounds().collect());
    if let Subjects::At(find) = rules.subjects {
        line.insert("subjects".to_owned(), in_chunks(text, &find(text)));
    }
    if rules.quotations == Quotations::Withheld {
        line.insert("barred".to_owned(), in_chunks(text, &quotations(text)));
    }
    Value::Object(line)
}

/// Byte ranges as chunk numbers; a range that splits a chunk is left out.
fn in_chunks(text: &str, ranges: &[Range<usize>]) -> Value {
    let cuts: Vec<usize> =
        text.split_word_bound_indices().map(|(start, _)| start).chain([text.len()]).collect();
    let chunk = |byte: usize| cuts.binary_search(&byte).ok();
    let part =
        |range: &Range<usize>| Some(Value::from(vec![chunk(range.start)?, chunk(range.end)?]));
    ranges.iter().filter_map(part).collect()
}

/// What stands in quotation marks, the marks included. A mark that nothing closes quotes nothing.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some((open, mark)) = text[rest..]
        .char_indices()
        .find_map(|(at, character)| closing(character).map(|close| (rest + at, (character, close))))
    {
        let (character, close) = mark;
        let inside = open + character.len_utf8();
        match text[inside..].char_indices().find(|(_, it)| close.contains(it)) {
            Some((at, it)) => {
                rest = inside + at + it.len_utf8();
                found.push(open..rest);
            }
            None => rest = inside,
        }
    }
    found
}

/// What closes a quotation that this mark opens.
fn closing(mark: char) -> Option<&'static [char]> {
    Some(match mark {
        '"' => &['"'],
        '“' => &['”'],
        '„' => &['“', '”'],
        '«' => &['»'],
        '「' => &['」'],
        '『' => &['』'],
        _ => return None,
    })
}

/// The grammar of a reduce's answer: as many of the offered claims as `max_claims` allows, each
/// whole and at most once; no field is chosen again while another was chosen less. Each claim is its
/// field and its JSON object as [`super::prompts::claim_line`] writes it.
pub fn choice_grammar(claims: &[(String, String)], max_claims: u64) -> String {
    let claim = |(field, text): &(String, String)| json!({ "text": text, "group": field });
    let claims: Vec<Value> = claims.iter().map(claim).collect();
    json!({ "kind": "offered", "claims": claims, "max_claims": max_claims }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grammar(text: &str, subjects: Subjects<'_>, quotations: Quotations) -> Value {
        let lines = [("L1".to_owned(), text.to_owned())];
        let fields = ["site".to_owned()];
        let rules =
            LeafRules { lines: &lines, fields: &fields, max_claims: 4, subjects, quotations };
        let made = leaf_grammar(&rules);
        serde_json::from_str::<Value>(&made).unwrap()["lines"][0].clone()
    }

    #[test]
    fn lines_are_cut_between_words_and_stay_the_same() {
        for (text, expected) in [
            ("It's 3.5 km.", vec!["It's", " ", "3.5", " ", "km", "."]),
            ("资料 done", vec!["资", "料", " ", "done"]),
            ("👩‍👩‍👧 é", vec!["👩‍👩‍👧", " ", "é"]),
            ("", vec![]),
        ] {
            let line = grammar(text, Subjects::Anywhere, Quotations::Offered);
            assert_eq!(line["chunks"], json!(expected));
            assert_eq!(line["label"], "L1");
            assert!(line.get("subjects").is_none());
        }
    }

    #[test]
    fn subjects_are_told_in_chunks() {
        let whole = |text: &str| vec![text.find("P-1").unwrap()..text.len(), 1..2];
        let line = grammar("of P-1", Subjects::At(&whole), Quotations::Offered);
        assert_eq!(line["subjects"], json!([[2, 5]]));
    }

    #[test]
    fn quotations_are_barred_where_they_are_withheld() {
        for (text, expected) in [
            ("say \"set it\" now", json!([[2, 7]])),
            ("„a“ and «b»", json!([[0, 3], [6, 9]])),
            ("an open \" mark", json!([])),
        ] {
            let line = grammar(text, Subjects::Anywhere, Quotations::Withheld);
            assert_eq!(line["barred"], expected, "{text}");
        }
    }

    #[test]
    fn a_wrapped_paragraph_becomes_one_line() {
        assert_eq!(one_line("a  b\n  c\r\nd"), "a b c d");
        assert_eq!(one_line("a\t b"), "a\t b");
    }

    #[test]
    fn offered_claims_are_kept_as_they_are() {
        let claim = r#"{"subject":"a"}"#.to_owned();
        let claims = [("site".to_owned(), claim.clone())];
        let made: Value = serde_json::from_str(&choice_grammar(&claims, 2)).unwrap();
        let offered = json!([{ "text": claim, "group": "site" }]);
        assert_eq!(made, json!({ "kind": "offered", "claims": offered, "max_claims": 2 }));
    }
}
