//! A model's answer, read strictly. Two local repairs are made and recorded; nothing else is
//! mended, and what breaks a rule is INVALID with the code of the first rule it breaks. The rules
//! run claim by claim: all of one claim's, its evidence included, before any of the next.

use super::json::{self, Json, JsonFault};
use super::{Claim, MAX_EVIDENCE, MAX_LENGTH, Statement, is_forbidden};
use crate::document::CharsetFault;
use crate::evidence::{Evidence, EvidenceFault};
use crate::output::NodeStatus;

/// What an answer must keep to.
#[derive(Clone, Debug)]
pub struct AnswerRules<'a> {
    /// The most claims.
    pub max_claims: u64,
    /// The fields a claim may have.
    pub fields: &'a [String],
    /// The evidence that was offered, by the names the answer may use.
    pub allowed: Vec<&'a str>,
}

/// An answer as it was read.
#[derive(Clone, Debug)]
pub struct Answer {
    /// VALID or INVALID. It speaks of structure only.
    pub status: NodeStatus,
    /// The first rule that is broken.
    pub diagnostic: Option<Diagnostic>,
    /// The local repairs, in order; recorded also when the answer is INVALID.
    pub repairs: Vec<Repair>,
    /// The claims; none of an INVALID answer.
    pub claims: Vec<StatedClaim>,
}

/// A claim as an answer states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedClaim {
    /// What is said.
    pub statement: Statement,
    /// The names of the evidence it cites.
    pub evidence: Vec<String>,
}

impl StatedClaim {
    /// The claim with its evidence in place of the names under which it was offered.
    pub fn cite(self, offered: &[(String, Evidence)]) -> Claim {
        let named = |name: &String| offered.iter().find(|(offered, _)| offered == name);
        let evidence = self.evidence.iter().filter_map(named).map(|(_, held)| held.clone());
        Claim { evidence: evidence.collect(), statement: self.statement }
    }
}

/// A local repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// White space around the answer was removed.
    StripOuterWhitespace,
    /// One complete fence around the answer was removed.
    RemoveSingleCompleteJsonFence,
}

impl Repair {
    /// The code, the same for ever.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StripOuterWhitespace => "strip_outer_whitespace",
            Self::RemoveSingleCompleteJsonFence => "remove_single_complete_json_fence",
        }
    }
}

/// The first rule that an answer breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnostic {
    /// Generation did not end by itself.
    Truncated,
    /// The text is no acceptable JSON.
    Json(JsonFault),
    /// A key that no rule names.
    UnknownKey,
    /// A key that is not there.
    MissingKey,
    /// A value of another type.
    WrongType,
    /// More claims than allowed.
    TooManyClaims,
    /// A field that the recipe does not list.
    FieldUnknown,
    /// A subject of no or too many code points.
    SubjectLength,
    /// A value of no or too many code points.
    ValueLength,
    /// A control or bidi-override character.
    ControlCharacter,
    /// No or too many pieces of evidence.
    EvidenceCount,
    /// A piece of evidence twice.
    EvidenceDuplicate,
    /// A piece of evidence that was not offered.
    EvidenceOutsideInputs,
    /// A piece of evidence whose document may not have the id it has.
    DocumentId,
    /// A piece of evidence that was offered and does not hold now.
    Evidence(EvidenceFault),
}

impl Diagnostic {
    /// The code, the same for ever.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Json(JsonFault::Syntax) => "json_syntax",
            Self::Json(JsonFault::Trailing) => "json_trailing",
            Self::Json(JsonFault::Depth) => "json_depth",
            Self::Json(JsonFault::LoneSurrogate) => "json_string",
            Self::Json(JsonFault::DuplicateKey) => "duplicate_key",
            Self::UnknownKey => "unknown_key",
            Self::MissingKey => "missing_key",
            Self::WrongType => "wrong_type",
            Self::TooManyClaims => "too_many_claims",
            Self::FieldUnknown => "field_unknown",
            Self::SubjectLength => "subject_length",
            Self::ValueLength => "value_length",
            Self::ControlCharacter => "control_character",
            Self::EvidenceCount => "evidence_count",
            Self::EvidenceDuplicate => "evidence_duplicate",
            Self::EvidenceOutsideInputs => "evidence_outside_inputs",
            Self::DocumentId => CharsetFault::CODE,
            Self::Evidence(fault) => fault.code(),
        }
    }
}

/// Reads an answer. `finish` is `eos` where generation ended by itself; anything else is
/// `truncated` before a character of the text is judged, though its repairs are recorded.
pub fn read(text: &str, finish: &str, rules: &AnswerRules<'_>) -> Answer {
    read_and_hold(text, finish, rules, |_| Ok(()))
}

/// Reads an answer as [`read`] does, and after the other rules of each claim asks whether the
/// evidence that it cites holds.
pub fn read_and_hold(
    text: &str,
    finish: &str,
    rules: &AnswerRules<'_>,
    mut holds: impl FnMut(&str) -> Result<(), Diagnostic>,
) -> Answer {
    let (text, repairs) = repair(text);
    let claims = match finish {
        "eos" => json::parse(text)
            .map_err(Diagnostic::Json)
            .and_then(|json| shape(json, rules, &mut holds)),
        _ => Err(Diagnostic::Truncated),
    };
    match claims {
        Ok(claims) => Answer { status: NodeStatus::Valid, diagnostic: None, repairs, claims },
        Err(diagnostic) => Answer {
            status: NodeStatus::Invalid,
            diagnostic: Some(diagnostic),
            repairs,
            claims: Vec::new(),
        },
    }
}

/// White space (Unicode White_Space, so no byte-order mark) around the text, then one fence. A fence
/// is judged by its two ends alone: they may not overlap, and what lies between is not looked at.
fn repair(text: &str) -> (&str, Vec<Repair>) {
    let mut repairs = Vec::new();
    let stripped = text.trim();
    if stripped.len() < text.len() {
        repairs.push(Repair::StripOuterWhitespace);
    }
    let unfenced = stripped.strip_prefix("```json\n").and_then(|rest| rest.strip_suffix("\n```"));
    if unfenced.is_some() {
        repairs.push(Repair::RemoveSingleCompleteJsonFence);
    }
    (unfenced.unwrap_or(stripped), repairs)
}

fn shape(
    json: Json,
    rules: &AnswerRules<'_>,
    holds: &mut impl FnMut(&str) -> Result<(), Diagnostic>,
) -> Result<Vec<StatedClaim>, Diagnostic> {
    let [claims] = values(json, ["claims"])?;
    let Json::Array(claims) = claims else { return Err(Diagnostic::WrongType) };
    if claims.len() as u64 > rules.max_claims {
        return Err(Diagnostic::TooManyClaims);
    }
    let checked = claims.into_iter().map(|claim| {
        let stated = stated(claim, rules)?;
        stated.evidence.iter().try_for_each(|name| holds(name))?;
        Ok(stated)
    });
    checked.collect()
}

/// The values of an object that has exactly these keys, in any order.
fn values<const N: usize>(json: Json, keys: [&str; N]) -> Result<[Json; N], Diagnostic> {
    let Json::Object(mut entries) = json else { return Err(Diagnostic::WrongType) };
    if entries.iter().any(|(key, _)| !keys.contains(&key.as_str())) {
        return Err(Diagnostic::UnknownKey);
    }
    let mut values = Vec::with_capacity(N);
    for key in keys {
        let place = entries.iter().position(|(known, _)| known == key);
        values.push(entries.swap_remove(place.ok_or(Diagnostic::MissingKey)?).1);
    }
    <[Json; N]>::try_from(values).map_err(|_| Diagnostic::MissingKey)
}

fn stated(claim: Json, rules: &AnswerRules<'_>) -> Result<StatedClaim, Diagnostic> {
    let (subject, field, value, evidence) =
        match values(claim, ["subject", "field", "value", "evidence"])? {
            [Json::Text(subject), Json::Text(field), Json::Text(value), Json::Array(evidence)] => {
                (subject, field, value, evidence)
            }
            _ => return Err(Diagnostic::WrongType),
        };
    let name = |item| match item {
        Json::Text(name) => Ok(name),
        _ => Err(Diagnostic::WrongType),
    };
    let evidence = evidence.into_iter().map(name).collect::<Result<Vec<_>, _>>()?;
    let stated = StatedClaim { statement: Statement { subject, field, value }, evidence };
    check_statement(&stated.statement, rules)?;
    check_evidence(&stated.evidence, rules)?;
    Ok(stated)
}

fn check_statement(statement: &Statement, rules: &AnswerRules<'_>) -> Result<(), Diagnostic> {
    let of_length = |text: &str| (1..=MAX_LENGTH).contains(&text.chars().count());
    if !rules.fields.contains(&statement.field) {
        return Err(Diagnostic::FieldUnknown);
    }
    if !of_length(&statement.subject) {
        return Err(Diagnostic::SubjectLength);
    }
    if !of_length(&statement.value) {
        return Err(Diagnostic::ValueLength);
    }
    match statement.subject.contains(is_forbidden) || statement.value.contains(is_forbidden) {
        true => Err(Diagnostic::ControlCharacter),
        false => Ok(()),
    }
}

fn check_evidence(evidence: &[String], rules: &AnswerRules<'_>) -> Result<(), Diagnostic> {
    if !(1..=MAX_EVIDENCE).contains(&evidence.len()) {
        return Err(Diagnostic::EvidenceCount);
    }
    if (1..evidence.len()).any(|at| evidence[..at].contains(&evidence[at])) {
        return Err(Diagnostic::EvidenceDuplicate);
    }
    match evidence.iter().all(|name| rules.allowed.contains(&name.as_str())) {
        true => Ok(()),
        false => Err(Diagnostic::EvidenceOutsideInputs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(text: &str, finish: &str) -> (Option<&'static str>, usize) {
        let fields = ["status".to_owned()];
        let rules = AnswerRules { max_claims: 2, fields: &fields, allowed: vec!["L1", "L2"] };
        let answer = read(text, finish, &rules);
        (answer.diagnostic.map(Diagnostic::as_str), answer.repairs.len())
    }

    fn claim(subject: &str, field: &str, value: &str, evidence: &str) -> String {
        format!(
            r#"{{"claims":[{{"subject":"{subject}","field":"{field}","value":"{value}","evidence":{evidence}}}]}}"#
        )
    }

    #[test]
    fn every_code_is_reachable() {
        let long = "x".repeat(121);
        let good = claim("s", "status", "v", r#"["L1"]"#);
        for (text, expected) in [
            (good.clone(), None),
            (r#"{"claims":[]}"#.into(), None),
            ("[]".into(), Some("wrong_type")),
            (r#"{"claims":{}}"#.into(), Some("wrong_type")),
            (r#"{"claims":[],"more":1}"#.into(), Some("unknown_key")),
            ("{}".into(), Some("missing_key")),
            (r#"{"claims":[{"subject":1}]}"#.into(), Some("missing_key")),
            (r#"{"claims":[{"subject":1,"x":2}]}"#.into(), Some("unknown_key")),
            (r#"{"claims":[1,2,3]}"#.into(), Some("too_many_claims")),
            (r#"{"claims":[1]}"#.into(), Some("wrong_type")),
            (claim("s", "status", "v", r#"[1]"#), Some("wrong_type")),
            (claim("s", "STATUS", "v", r#"["L1"]"#), Some("field_unknown")),
            (claim("", "status", "v", r#"["L1"]"#), Some("subject_length")),
            (claim("s", "status", &long, r#"["L1"]"#), Some("value_length")),
            (claim("s", "status", "a\\u0007", r#"["L1"]"#), Some("control_character")),
            (claim("s", "status", "a\u{202e}", r#"["L1"]"#), Some("control_character")),
            (claim("s", "status", "v", "[]"), Some("evidence_count")),
            (claim("s", "status", "v", r#"["L1","L\u0031"]"#), Some("evidence_duplicate")),
            (claim("s", "status", "v", r#"["L9"]"#), Some("evidence_outside_inputs")),
        ] {
            assert_eq!(code(&text, "eos").0, expected, "{text}");
        }
        for finish in ["length", "stop", "EOS", "eos ", ""] {
            assert_eq!(code(&good, finish), (Some("truncated"), 0), "{finish}");
        }
    }

    #[test]
    fn the_first_broken_rule_of_the_first_broken_claim_is_the_answer() {
        let claims = |claims: &[&str]| format!(r#"{{"claims":[{}]}}"#, claims.join(","));
        let good = r#"{"subject":"s","field":"status","value":"v","evidence":["L1"]}"#;
        let long = "x".repeat(121);
        // Each text breaks the rule that is expected and every later one that can be broken.
        for (text, expected) in [
            (r#"{"claims":1,"claims":2} x"#.into(), "json_trailing"),
            (r#"{"claims":1,"claims":2}"#.into(), "duplicate_key"),
            (r#"{"claim":[]}"#.into(), "unknown_key"),
            (claims(&["1", "2", "3"]), "too_many_claims"),
            (claims(&[r#"{"subject":1,"Field":2}"#]), "unknown_key"),
            (claims(&[r#"{"subject":1,"field":2}"#]), "missing_key"),
            (claims(&[r#"{"subject":"","field":"x","value":null,"evidence":[]}"#]), "wrong_type"),
            (claims(&[r#"{"subject":"","field":"x","value":"","evidence":[1,1]}"#]), "wrong_type"),
            (claims(&[r#"{"subject":"","field":"x","value":"","evidence":[]}"#]), "field_unknown"),
            (claim("", "status", "", "[]"), "subject_length"),
            (claim("\\u0007", "status", &long, "[]"), "value_length"),
            (claim("\\u0007", "status", "v", "[]"), "control_character"),
            (claim("s", "status", "v", r#"["L9","L9","L9","L9","L9"]"#), "evidence_count"),
            (claim("s", "status", "v", r#"["L9","L9"]"#), "evidence_duplicate"),
            (
                claims(&[r#"{"subject":"s","field":"x","value":"v","evidence":["L1"]}"#, "1"]),
                "field_unknown",
            ),
            (claims(&[good, r#"{"subject":1,"field":2}"#]), "missing_key"),
        ] {
            assert_eq!(code(&text, "eos").0, Some(expected), "{text}");
        }
    }

    #[test]
    fn a_claims_evidence_is_held_before_the_next_claim_is_looked_at() {
        let fields = ["status".to_owned()];
        let rules = AnswerRules { max_claims: 2, fields: &fields, allowed: vec!["L1", "L2"] };
        let text =
            r#"{"claims":[{"subject":"s","field":"status","value":"v","evidence":["L1","L2"]},7]}"#;
        let stale = Diagnostic::Evidence(EvidenceFault::StaleVersion);
        let mut asked = Vec::new();
        let answer = read_and_hold(text, "eos", &rules, |name| {
            asked.push(name.to_owned());
            if name == "L2" { Err(stale) } else { Ok(()) }
        });
        assert_eq!(answer.diagnostic, Some(stale));
        assert_eq!(asked, ["L1", "L2"]);
        assert_eq!(read(text, "eos", &rules).diagnostic, Some(Diagnostic::WrongType));
    }

    #[test]
    fn lengths_are_code_points_and_only_overrides_are_forbidden() {
        for (value, expected) in [
            ("🦀".repeat(120), None),
            ("🦀".repeat(121), Some("value_length")),
            ("e\u{301}".repeat(60), None),
            ("\u{200f}\u{61c}א\u{200e}".into(), None),
            ("a\u{202a}".into(), Some("control_character")),
            ("a\u{2069}".into(), Some("control_character")),
            ("a\u{7f}".into(), Some("control_character")),
            ("a\u{85}".into(), Some("control_character")),
            ("\\n".into(), Some("control_character")),
            ("\u{2028}\u{feff}".into(), None),
        ] {
            let text = claim("s", "status", &value, r#"["L1"]"#);
            assert_eq!(code(&text, "eos").0, expected, "{value:?}");
        }
    }

    #[test]
    fn two_repairs_are_made_and_recorded() {
        let good = claim("s", "status", "v", r#"["L1"]"#);
        assert_eq!(code(&format!("\u{a0}\n{good}\u{2029}"), "eos"), (None, 1));
        assert_eq!(code(&format!("```json\n{good}\n```\n"), "eos"), (None, 2));
        assert_eq!(code(&format!("```\n{good}\n```"), "eos"), (Some("json_syntax"), 0));
        assert_eq!(code(" x", "eos"), (Some("json_syntax"), 1));
        assert_eq!(code(&format!(" ```json\n{good}\n```"), "length"), (Some("truncated"), 2));
        assert_eq!(code(&format!("```json\n \n{good}\n\n```"), "eos"), (None, 1));
        assert_eq!(
            code(&format!("```json\n```json\n{good}\n```\n```"), "eos"),
            (Some("json_syntax"), 1)
        );
        assert_eq!(code("```json\n```", "eos"), (Some("json_syntax"), 0));
        assert_eq!(code(&format!("```json {good}\n```"), "eos"), (Some("json_syntax"), 0));
        assert_eq!(code(&format!("\u{200b}{good}"), "eos"), (Some("json_syntax"), 0));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>(), finish in "eos|length") {
            let _ = code(&text, &finish);
        }
    }
}
