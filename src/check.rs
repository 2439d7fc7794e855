//! The verifiers on their own: JSON in, JSON out, no store and no model.

use dossier_store::hash::Sha256;
use serde_json::{Map, Value, json};

use crate::claims::answer::{self, AnswerRules};
use crate::document::DocumentId;
use crate::evidence::{DocumentRecord, Offset, Reference, validate};
use crate::output::NodeStatus;

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

fn flag(map: &Map<String, Value>, key: &str) -> Result<bool, CheckInputError> {
    match map.get(key) {
        None => Ok(true),
        Some(value) => value.as_bool().ok_or_else(|| fault(key, "must be true or false")),
    }
}

/// Judges an answer: `{"text","finish_reason","allowed":[…],"fields"?,"max_claims"?,"documents"?}`.
/// With `documents`, the spans that the answer cites are checked against them too.
pub fn claims(input: &Value) -> Result<Value, CheckInputError> {
    let input = object(input, "the input")?;
    let allowed = texts(input, "allowed")?.ok_or_else(|| fault("allowed", "is missing"))?;
    let fields = texts(input, "fields")?
        .unwrap_or_else(|| ["delivery", "status", "quantity", "site"].map(String::from).to_vec());
    let max_claims = match input.get("max_claims") {
        None => 4,
        Some(value) => {
            value.as_u64().ok_or_else(|| fault("max_claims", "must be a whole number"))?
        }
    };
    let rules = AnswerRules {
        max_claims,
        fields: &fields,
        allowed: allowed.iter().map(String::as_str).collect(),
    };
    let answer = answer::read(text(input, "text")?, text(input, "finish_reason")?, &rules);
    let repairs: Vec<&str> = answer.repairs.iter().map(|repair| repair.as_str()).collect();
    let mut diagnostic = answer.diagnostic.map(|diagnostic| diagnostic.as_str());
    if diagnostic.is_none() {
        let cited = answer.claims.iter().flat_map(|claim| &claim.evidence);
        diagnostic = first_span_fault(input, cited)?;
    }
    let valid = diagnostic.is_none();
    let claims: Vec<Value> = answer
        .claims
        .iter()
        .filter(|_| valid)
        .map(|claim| {
            let statement = &claim.statement;
            json!({
                "subject": statement.subject,
                "field": statement.field,
                "value": statement.value,
                "evidence": claim.evidence,
            })
        })
        .collect();
    let status = if valid { NodeStatus::Valid } else { NodeStatus::Invalid };
    Ok(json!({
        "status": status.as_str(),
        "diagnostic": diagnostic,
        "repairs": repairs,
        "claims": claims,
    }))
}

/// The first fault of the cited ids against the given documents, in the order of citation.
fn first_span_fault<'a>(
    input: &Map<String, Value>,
    cited: impl Iterator<Item = &'a String>,
) -> Result<Option<&'static str>, CheckInputError> {
    let Some(documents) = input.get("documents").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let documents = documents.as_array().ok_or_else(|| fault("documents", "must be a list"))?;
    let documents = documents.iter().map(|document| Document::read(document, "documents"));
    let documents = documents.collect::<Result<Vec<_>, _>>()?;
    for id in cited {
        let found = span_fault(&documents, id);
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// An id carries document, version and offsets; its quote and hash are those of the text it names.
fn span_fault(documents: &[Document<'_>], id: &str) -> Option<&'static str> {
    let mut parts = id.rsplitn(3, ':');
    let (end, start, version_of) = (parts.next(), parts.next(), parts.next());
    let (doc_id, version) = version_of.and_then(|text| text.rsplit_once('@')).unwrap_or((id, ""));
    let document = documents.iter().find(|document| document.record.doc_id == doc_id);
    let offset = |text: Option<&str>| {
        text.and_then(|text| text.parse().ok()).map_or(Offset::NotANumber, Offset::Number)
    };
    let (start, end) = (offset(start), offset(end));
    let quote = match (document, start, end) {
        (Some(document), Offset::Number(start), Offset::Number(end)) => {
            quoted(document.record.text, start, end)
        }
        _ => "",
    };
    let reference = Reference {
        evidence_id: id.into(),
        doc_id,
        version: version.parse().ok(),
        start,
        end,
        quote,
        text_sha256: document.map(|d| d.record.text_sha256.hex()).unwrap_or_default().into(),
    };
    let record = document.map(|document| &document.record);
    validate(&reference, record).err().map(|fault| fault.code())
}

fn quoted(text: &str, start: i128, end: i128) -> &str {
    let (Ok(start), Ok(end)) = (u64::try_from(start), u64::try_from(end)) else { return "" };
    crate::document::Span { start, end }.slice(text).unwrap_or("")
}

/// Judges an evidence reference: `{"document":{…},"evidence":{…}}`.
pub fn evidence(input: &Value) -> Result<Value, CheckInputError> {
    let input = object(input, "the input")?;
    let stated = input.get("evidence").ok_or_else(|| fault("evidence", "is missing"))?;
    let stated = object(stated, "evidence")?;
    let document = input.get("document").filter(|value| !value.is_null());
    let document = document.map(|document| Document::read(document, "document")).transpose()?;
    let named = document.as_ref().map(|document| document.record.doc_id);
    for id in named.into_iter().chain([text(stated, "doc_id")?]) {
        if let Err(refused) = DocumentId::given(id) {
            let code = refused.to_string();
            let code = code.split(':').next().unwrap_or_default();
            return Ok(json!({ "verdict": "refused_at_import", "reason": code }));
        }
    }
    let reference = Reference {
        evidence_id: text(stated, "evidence_id")?.into(),
        doc_id: text(stated, "doc_id")?,
        version: stated.get("version").and_then(Value::as_u64),
        start: offset(stated, "start")?,
        end: offset(stated, "end")?,
        quote: text(stated, "quote")?,
        text_sha256: text(stated, "text_sha256")?.into(),
    };
    Ok(match validate(&reference, document.as_ref().map(|document| &document.record)) {
        Ok(()) => json!({ "verdict": "valid", "reason": null }),
        Err(fault) => json!({ "verdict": "invalid", "reason": fault.code() }),
    })
}

/// An offset as it is written: whole numbers of any size, or something else.
fn offset(map: &Map<String, Value>, key: &str) -> Result<Offset, CheckInputError> {
    let value = map.get(key).ok_or_else(|| fault(key, "is missing"))?;
    let Value::Number(number) = value else { return Ok(Offset::NotANumber) };
    if let Some(whole) = number.as_i64() {
        return Ok(Offset::Number(i128::from(whole)));
    }
    if let Some(whole) = number.as_u64() {
        return Ok(Offset::Number(i128::from(whole)));
    }
    // A whole number beyond 64 bits reaches here as a float; it is out of any range.
    let written = number.to_string();
    let huge = number.as_f64().is_some_and(|value| value.abs() >= 1e19);
    Ok(match huge && !written.contains('.') {
        true => Offset::Number(if written.starts_with('-') { i128::MIN } else { i128::MAX }),
        false => Offset::NotANumber,
    })
}

struct Document<'a> {
    record: DocumentRecord<'a>,
}

impl<'a> Document<'a> {
    fn read(value: &'a Value, key: &str) -> Result<Self, CheckInputError> {
        let map = object(value, key)?;
        let content = text(map, "text")?;
        let recorded = match map.get("text_sha256").filter(|value| !value.is_null()) {
            None => Sha256::of(content.as_bytes()),
            Some(value) => value
                .as_str()
                .and_then(Sha256::parse)
                .ok_or_else(|| fault("text_sha256", "must be 64 lower-case hexadecimal digits"))?,
        };
        let version = map.get("version").and_then(Value::as_u64);
        Ok(Self {
            record: DocumentRecord {
                doc_id: text(map, "doc_id")?,
                version: version.ok_or_else(|| fault("version", "must be a whole number"))?,
                active: flag(map, "active")?,
                eligible: flag(map, "eligible")?,
                text: content,
                text_sha256: recorded,
            },
        })
    }
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

    #[test]
    fn spans_are_checked_where_documents_are_given() {
        let answer = |id: &str| {
            json!({
                "text": json!({"claims": [{
                    "subject": "s", "field": "status", "value": "v", "evidence": [id],
                }]}).to_string(),
                "finish_reason": "eos",
                "allowed": [id],
                "documents": [{ "doc_id": "memo", "version": 1, "text": "one\ntwo\n" }],
            })
        };
        for (id, diagnostic) in [
            ("memo@1:0:3", Value::Null),
            ("memo@2:0:3", "stale_version".into()),
            ("other@1:0:3", "document_missing".into()),
            ("memo@1:3:3", "empty_span".into()),
            ("memo@1:0:99", "offsets_out_of_range".into()),
            ("memo@1:a:3", "offset_type".into()),
        ] {
            assert_eq!(claims(&answer(id)).unwrap()["diagnostic"], diagnostic, "{id}");
        }
    }

    #[test]
    fn input_that_cannot_be_judged_names_its_key() {
        assert_eq!(claims(&json!({})).unwrap_err().key, "allowed");
        assert_eq!(evidence(&json!({ "evidence": {} })).unwrap_err().key, "doc_id");
    }
}
