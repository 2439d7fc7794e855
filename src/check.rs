//! The verifiers on their own: JSON in, JSON out, no store and no model.

use dossier_store::hash::Sha256;
use serde_json::{Map, Value, json};

use crate::claims::Statement;
use crate::claims::answer::{self, AnswerRules, Diagnostic, StatedClaim};
use crate::document::{CharsetFault, DocumentId, Span};
use crate::evidence::{DocumentRecord, EvidenceFault, IdParts, Offset, Reference, validate};

/// The fields of a claim where the input lists none: those of the controlled experiment.
const FIELDS: [&str; 4] = ["delivery", "status", "quantity", "site"];
/// The most claims where the input does not say.
const MAX_CLAIMS: u64 = 4;

/// Input that cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} {fault}")]
pub struct CheckInputError {
    /// The key of the input that is missing or wrong.
    pub key: String,
    /// What is wrong with it.
    pub fault: &'static str,
}

fn fault(key: &str, fault: &'static str) -> CheckInputError {
    CheckInputError { key: key.to_owned(), fault }
}

fn object<'a>(value: &'a Value, key: &str) -> Result<&'a Map<String, Value>, CheckInputError> {
    value.as_object().ok_or_else(|| fault(key, "must be an object"))
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Result<&'a str, CheckInputError> {
    let value = map.get(key).ok_or_else(|| fault(key, "is missing"))?;
    value.as_str().ok_or_else(|| fault(key, "must be a text"))
}

fn texts(map: &Map<String, Value>, key: &str) -> Result<Option<Vec<String>>, CheckInputError> {
    let Some(value) = map.get(key).filter(|value| !value.is_null()) else { return Ok(None) };
    let texts = value.as_array().and_then(|items| {
        items.iter().map(|item| item.as_str().map(String::from)).collect::<Option<Vec<_>>>()
    });
    texts.map(Some).ok_or_else(|| fault(key, "must be a list of texts"))
}

/// A right or activity; one that is not stated is not presumed.
fn flag(map: &Map<String, Value>, key: &str) -> Result<bool, CheckInputError> {
    let value = map.get(key).ok_or_else(|| fault(key, "is missing"))?;
    value.as_bool().ok_or_else(|| fault(key, "must be true or false"))
}

/// Judges an answer: `{"text","finish_reason","allowed":[…],"fields"?,"max_claims"?,"documents"?}`.
/// With `documents`, the spans that each claim cites are checked against them too.
pub fn claims(input: &Value) -> Result<Value, CheckInputError> {
    let input = object(input, "the input")?;
    let allowed = texts(input, "allowed")?.ok_or_else(|| fault("allowed", "is missing"))?;
    let fields = texts(input, "fields")?.unwrap_or_else(|| FIELDS.map(String::from).to_vec());
    let rules = AnswerRules {
        max_claims: max_claims(input)?,
        fields: &fields,
        allowed: allowed.iter().map(String::as_str).collect(),
    };
    let documents = documents(input)?;
    let (text, finish) = (text(input, "text")?, text(input, "finish_reason")?);
    let answer = answer::read_and_hold(text, finish, &rules, |id| match &documents {
        Some(documents) => hold(documents, id),
        None => Ok(()),
    });
    Ok(json!({
        "status": answer.status.as_str(),
        "diagnostic": answer.diagnostic.map(Diagnostic::as_str),
        "repairs": answer.repairs.iter().map(|repair| repair.as_str()).collect::<Vec<_>>(),
        "claims": answer.claims.iter().map(stated).collect::<Vec<_>>(),
    }))
}

fn max_claims(input: &Map<String, Value>) -> Result<u64, CheckInputError> {
    match input.get("max_claims").filter(|value| !value.is_null()) {
        None => Ok(MAX_CLAIMS),
        Some(value) => value.as_u64().ok_or_else(|| fault("max_claims", "must be a whole number")),
    }
}

fn stated(claim: &StatedClaim) -> Value {
    let Statement { subject, field, value } = &claim.statement;
    json!({ "subject": subject, "field": field, "value": value, "evidence": claim.evidence })
}

fn documents(
    input: &Map<String, Value>,
) -> Result<Option<Vec<DocumentRecord<'_>>>, CheckInputError> {
    let Some(documents) = input.get("documents").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let documents = documents.as_array().ok_or_else(|| fault("documents", "must be a list"))?;
    documents
        .iter()
        .map(|document| record(document, "documents"))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Whether the evidence of this id holds. An id carries document, version and offsets; its quote
/// and hash are those of the text it names.
fn hold(documents: &[DocumentRecord<'_>], id: &str) -> Result<(), Diagnostic> {
    let missing = Diagnostic::Evidence(EvidenceFault::DocumentMissing);
    let IdParts { doc_id, version, start, end } = IdParts::split(id).ok_or(missing)?;
    DocumentId::given(doc_id).map_err(|_| Diagnostic::DocumentId)?;
    let document = documents.iter().find(|document| document.doc_id == doc_id).ok_or(missing)?;
    let (start, end) = (Offset::written(start), Offset::written(end));
    let reference = Reference {
        evidence_id: id.into(),
        doc_id,
        version: version.parse().ok(),
        start,
        end,
        quote: quoted(document.text, start, end).unwrap_or_default(),
        text_sha256: document.text_sha256.hex().into(),
    };
    validate(&reference, Some(document)).map_err(Diagnostic::Evidence)
}

fn quoted(text: &str, start: Offset, end: Offset) -> Option<&str> {
    let (Offset::Number(start), Offset::Number(end)) = (start, end) else { return None };
    Span { start: u64::try_from(start).ok()?, end: u64::try_from(end).ok()? }.slice(text)
}

/// Judges an evidence reference: `{"document":{…},"evidence":{…}}`. Without a document, or with
/// null for it, the reference is to a document that is missing.
pub fn evidence(input: &Value) -> Result<Value, CheckInputError> {
    let input = object(input, "the input")?;
    let stated = input.get("evidence").ok_or_else(|| fault("evidence", "is missing"))?;
    let reference = reference(object(stated, "evidence")?)?;
    let document = input.get("document").filter(|value| !value.is_null());
    let document = document.map(|document| record(document, "document")).transpose()?;
    let named = document.as_ref().map(|document| document.doc_id);
    if named.into_iter().chain([reference.doc_id]).any(|id| DocumentId::given(id).is_err()) {
        return Ok(json!({ "verdict": "refused_at_import", "reason": CharsetFault::CODE }));
    }
    Ok(match validate(&reference, document.as_ref()) {
        Ok(()) => json!({ "verdict": "valid", "reason": null }),
        Err(fault) => json!({ "verdict": "invalid", "reason": fault.code() }),
    })
}

/// A version that is no whole number is no version that could be current.
fn reference(stated: &Map<String, Value>) -> Result<Reference<'_>, CheckInputError> {
    let version = stated.get("version").ok_or_else(|| fault("version", "is missing"))?;
    Ok(Reference {
        evidence_id: text(stated, "evidence_id")?.into(),
        doc_id: text(stated, "doc_id")?,
        version: version.as_u64(),
        start: offset(stated, "start")?,
        end: offset(stated, "end")?,
        quote: text(stated, "quote")?,
        text_sha256: text(stated, "text_sha256")?.into(),
    })
}

/// An offset as it is written: a whole number of any size, or something else.
fn offset(map: &Map<String, Value>, key: &str) -> Result<Offset, CheckInputError> {
    let value = map.get(key).ok_or_else(|| fault(key, "is missing"))?;
    let whole = value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
    let whole = whole.or_else(|| beyond_64_bits(value.as_f64()?));
    Ok(whole.map_or(Offset::NotANumber, Offset::Number))
}

/// A whole number beyond 64 bits has become a float on its way here. Every float of that size is
/// whole, so `1e30` counts as a whole number too: either is out of range in any text.
fn beyond_64_bits(number: f64) -> Option<i128> {
    let beyond = number >= 2f64.powi(64) || number <= -(2f64.powi(63));
    beyond.then_some(number as i128)
}

fn record<'a>(value: &'a Value, key: &str) -> Result<DocumentRecord<'a>, CheckInputError> {
    let map = object(value, key)?;
    let content = text(map, "text")?;
    let recorded = match map.get("text_sha256").filter(|value| !value.is_null()) {
        None => Sha256::of(content.as_bytes()),
        Some(value) => value
            .as_str()
            .and_then(Sha256::parse)
            .ok_or_else(|| fault("text_sha256", "must be 64 lower-case hexadecimal digits"))?,
    };
    Ok(DocumentRecord {
        doc_id: text(map, "doc_id")?,
        version: number(map, "version")?,
        active: flag(map, "active")?,
        eligible: flag(map, "eligible")?,
        text: content,
        text_sha256: recorded,
    })
}

fn number(map: &Map<String, Value>, key: &str) -> Result<u64, CheckInputError> {
    let value = map.get(key).ok_or_else(|| fault(key, "is missing"))?;
    value.as_u64().ok_or_else(|| fault(key, "must be a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(kind: &str) -> Vec<Value> {
        let cases: Value =
            serde_json::from_str(include_str!("../tests/cases/verification.json")).unwrap();
        let cases = cases["cases"].as_array().unwrap();
        cases.iter().filter(|case| case["kind"] == kind).cloned().collect()
    }

    fn agree(kind: &str, keys: &[&str], judge: fn(&Value) -> Result<Value, CheckInputError>) {
        let cases = cases(kind);
        assert!(cases.len() > 10);
        for case in cases {
            let verdict = judge(&case["input"]).unwrap();
            for key in keys {
                assert_eq!(
                    verdict[key], case["expected"][key],
                    "{}: {}",
                    case["id"], case["title"]
                );
            }
        }
    }

    #[test]
    fn claims_agree_with_every_worked_case() {
        agree("claims_json", &["status", "diagnostic", "repairs"], claims);
    }

    #[test]
    fn evidence_agrees_with_every_worked_case() {
        agree("evidence_span", &["verdict", "reason"], evidence);
    }

    /// An answer of one claim for each list of ids, beside two documents.
    fn cited(claims: &[&[&str]]) -> Value {
        let claim = |ids: &&[&str]| json!({ "subject": "s", "field": "status", "value": "v", "evidence": ids });
        let claims_of: Vec<Value> = claims.iter().map(claim).collect();
        json!({
            "text": json!({ "claims": claims_of }).to_string(),
            "finish_reason": "eos",
            "allowed": claims.concat(),
            "documents": [
                { "doc_id": "memo", "version": 1, "text": "one\n🦀\n", "active": true, "eligible": true },
                { "doc_id": "gone", "version": 1, "text": "one", "active": false, "eligible": true },
                { "doc_id": "q@3:1", "version": 1, "text": "one", "active": true, "eligible": true },
                {
                    "doc_id": "bad", "version": 1, "text": "one", "active": true, "eligible": true,
                    "text_sha256": "0".repeat(64),
                },
            ],
        })
    }

    fn diagnostic(input: &Value) -> Value {
        claims(input).unwrap()["diagnostic"].clone()
    }

    #[test]
    fn spans_are_checked_where_documents_are_given() {
        for (id, expected) in [
            ("memo@1:0:3", Value::Null),
            ("memo@1:4:5", Value::Null),
            ("L1", "document_missing".into()),
            ("memo@1:0", "document_missing".into()),
            ("other@1:0:3", "document_missing".into()),
            ("q@3:1@1:0:2", "doc_id_charset".into()),
            ("gone@1:0:3", "document_ineligible".into()),
            ("memo@2:0:3", "stale_version".into()),
            ("memo@one:0:3", "stale_version".into()),
            ("bad@1:a:3", "store_corrupt".into()),
            ("memo@1:a:3", "offset_type".into()),
            ("memo@1:+0:3", "offset_type".into()),
            ("memo@1:3:3", "empty_span".into()),
            ("memo@1:0:99", "offsets_out_of_range".into()),
            ("memo@1:3:0", "offsets_out_of_range".into()),
            ("memo@1:-1:3", "offsets_out_of_range".into()),
            ("memo@1:0:99999999999999999999999999999999999999999", "offsets_out_of_range".into()),
            ("memo@01:0:3", "evidence_identity".into()),
            ("memo@1:00:3", "evidence_identity".into()),
        ] {
            assert_eq!(diagnostic(&cited(&[&[id]])), expected, "{id}");
        }
    }

    #[test]
    fn spans_are_checked_claim_by_claim_and_only_where_documents_are_given() {
        let mut input = cited(&[&["memo@1:0:3", "memo@2:0:3"], &["gone@1:0:3"]]);
        assert_eq!(diagnostic(&input), "stale_version");
        assert_eq!(claims(&input).unwrap()["claims"], json!([]));
        input["allowed"] = json!(["memo@1:0:3", "memo@2:0:3"]);
        assert_eq!(diagnostic(&input), "stale_version");
        input["allowed"] = json!(["memo@1:0:3"]);
        assert_eq!(diagnostic(&input), "evidence_outside_inputs");
        let mut input = cited(&[&["memo@2:0:3"]]);
        input["documents"] = Value::Null;
        assert_eq!(diagnostic(&input), Value::Null);
    }

    #[test]
    fn valid_claims_are_given_back_as_they_are_read() {
        let text =
            r#"{"claims":[{"value":"\u00e9","field":"owner","evidence":["L1"],"subject":"s"}]}"#;
        let mut input =
            json!({ "text": text, "finish_reason": "eos", "allowed": ["L1"], "fields": ["owner"] });
        let claim = json!({ "subject": "s", "field": "owner", "value": "é", "evidence": ["L1"] });
        assert_eq!(claims(&input).unwrap()["claims"], json!([claim]));
        input["max_claims"] = 0.into();
        assert_eq!(diagnostic(&input), "too_many_claims");
        input["fields"] = Value::Null;
        input["max_claims"] = Value::Null;
        assert_eq!(diagnostic(&input), "field_unknown");
    }

    fn reference_to(document: Value) -> Value {
        json!({
            "document": document,
            "evidence": {
                "evidence_id": "memo@1:0:3", "doc_id": "memo", "version": 1, "start": 0, "end": 3,
                "quote": "one", "text_sha256": Sha256::of(b"one").hex(),
            },
        })
    }

    fn memo() -> Value {
        reference_to(json!({
            "doc_id": "memo", "version": 1, "text": "one", "active": true, "eligible": true,
            "access_revision": 1,
        }))
    }

    #[test]
    fn offsets_are_whole_numbers_of_any_size() {
        for (written, reason) in [
            ("3", Value::Null),
            ("3.0", "offset_type".into()),
            ("3e0", "offset_type".into()),
            ("\"3\"", "offset_type".into()),
            ("true", "offset_type".into()),
            ("null", "offset_type".into()),
            ("[3]", "offset_type".into()),
            ("1.5e3", "offset_type".into()),
            ("0", "empty_span".into()),
            ("-3", "offsets_out_of_range".into()),
            ("4", "offsets_out_of_range".into()),
            ("4294967299", "offsets_out_of_range".into()),
            ("9223372036854775808", "offsets_out_of_range".into()),
            ("18446744073709551615", "offsets_out_of_range".into()),
            ("18446744073709551619", "offsets_out_of_range".into()),
            ("123456789012345678901234567890", "offsets_out_of_range".into()),
            ("-9223372036854775809", "offsets_out_of_range".into()),
            ("-123456789012345678901234567890", "offsets_out_of_range".into()),
        ] {
            let mut input = memo();
            input["evidence"]["end"] = serde_json::from_str(written).unwrap();
            assert_eq!(evidence(&input).unwrap()["reason"], reason, "{written}");
        }
        let mut input = memo();
        input["evidence"]["start"] = serde_json::from_str(&"9".repeat(30)).unwrap();
        input["evidence"]["end"] = serde_json::from_str(&"9".repeat(31)).unwrap();
        assert_eq!(evidence(&input).unwrap()["reason"], "offsets_out_of_range");
    }

    #[test]
    fn a_document_that_is_not_there_is_missing_and_an_impossible_id_is_refused_first() {
        assert_eq!(evidence(&memo()).unwrap(), json!({ "verdict": "valid", "reason": null }));
        let mut input = reference_to(Value::Null);
        assert_eq!(evidence(&input).unwrap()["reason"], "document_missing");
        input["evidence"]["doc_id"] = "a/../memo".into();
        let refused = json!({ "verdict": "refused_at_import", "reason": "doc_id_charset" });
        assert_eq!(evidence(&input).unwrap(), refused);
        let mut input = memo();
        input["document"]["doc_id"] = "memo#2".into();
        assert_eq!(evidence(&input).unwrap(), refused);
    }

    #[test]
    fn input_that_cannot_be_judged_names_its_key() {
        assert_eq!(claims(&json!([])).unwrap_err().key, "the input");
        let sound = cited(&[&["memo@1:0:3"]]);
        for (key, value) in [
            ("text", json!(1)),
            ("finish_reason", json!(null)),
            ("allowed", json!("memo@1:0:3")),
            ("allowed", json!([1])),
            ("fields", json!({})),
            ("max_claims", json!(-1)),
            ("documents", json!({})),
        ] {
            let mut input = sound.clone();
            input[key] = value;
            assert_eq!(claims(&input).unwrap_err().key, key);
        }
        for key in ["text", "finish_reason", "allowed"] {
            let mut input = sound.clone();
            input.as_object_mut().unwrap().remove(key);
            assert_eq!(claims(&input).unwrap_err(), fault(key, "is missing"));
        }
    }

    #[test]
    fn a_reference_or_document_that_lacks_a_part_cannot_be_judged() {
        let keys = |part: &str| -> Vec<String> {
            memo()[part].as_object().unwrap().keys().cloned().collect()
        };
        for part in ["document", "evidence"] {
            for key in keys(part).into_iter().filter(|key| key != "access_revision") {
                let mut input = memo();
                input[part].as_object_mut().unwrap().remove(&key);
                assert_eq!(evidence(&input).unwrap_err(), fault(&key, "is missing"));
            }
        }
        let mut input = memo();
        input["document"]["text_sha256"] = "abc".into();
        assert_eq!(evidence(&input).unwrap_err().key, "text_sha256");
    }
}
