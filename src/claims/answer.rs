//! A model's answer, read strictly. Two local repairs are made and recorded; nothing else is
//! mended, and what breaks a rule is INVALID with the code of the first rule it breaks.

use super::json::{self, Json, JsonFault};
use super::{Claim, MAX_EVIDENCE, MAX_LENGTH, Statement, is_forbidden};
use crate::evidence::Evidence;
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
        }
    }
}

/// Reads an answer. `finish` is `eos` where generation ended by itself.
pub fn read(text: &str, finish: &str, rules: &AnswerRules<'_>) -> Answer {
    let (text, repairs) = repair(text);
    let claims = match finish {
        "eos" => json::parse(text).map_err(Diagnostic::Json).and_then(|json| shape(json, rules)),
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

fn shape(json: Json, rules: &AnswerRules<'_>) -> Result<Vec<StatedClaim>, Diagnostic> {
    let [claims] = values(json, ["claims"])?;
    let Json::Array(claims) = claims else { return Err(Diagnostic::WrongType) };
    if claims.len() as u64 > rules.max_claims {
        return Err(Diagnostic::TooManyClaims);
    }
    claims.into_iter().map(|claim| stated(claim, rules)).collect()
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
        assert_eq!(code(&good, "length").0, Some("truncated"));
    }

    #[test]
    fn two_repairs_are_made_and_recorded() {
        let good = claim("s", "status", "v", r#"["L1"]"#);
        assert_eq!(code(&format!("\u{a0}\n{good}\u{2029}"), "eos"), (None, 1));
        assert_eq!(code(&format!("```json\n{good}\n```\n"), "eos"), (None, 2));
        assert_eq!(code(&format!("```\n{good}\n```"), "eos"), (Some("json_syntax"), 0));
        assert_eq!(code(" x", "eos"), (Some("json_syntax"), 1));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,60}", finish in "eos|length") {
            let _ = code(&text, &finish);
        }
    }
}
