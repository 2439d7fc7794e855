//! Evidence: exact characters of one version of one document, and the checks by which a reference
//! to them holds. The checks run in a fixed order; the first that fails is the answer.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use dossier_store::encode::Value;
use dossier_store::hash::{BlobId, Sha256};
use dossier_store::read::{Lookup, ReadError};

use crate::document::{DocumentId, Span};
use crate::snapshot::Dossier;

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Evidence {
    /// The document.
    pub doc_id: DocumentId,
    /// Its version, from 1.
    pub version: u32,
    /// The cited code points.
    pub span: Span,
    /// Those characters.
    pub quote: String,
    /// SHA-256 of the version's whole text.
    pub text_sha256: Sha256,
}

impl Evidence {
    /// `doc_id@version:start:end`
    pub fn id(&self) -> String {
        format!("{}@{}:{}:{}", self.doc_id, self.version, self.span.start, self.span.end)
    }

    /// The canonical form, as outputs and claim ids hold it.
    pub(crate) fn value(&self) -> Value {
        Value::List(vec![
            self.doc_id.as_str().into(),
            u64::from(self.version).into(),
            self.span.start.into(),
            self.span.end.into(),
            self.quote.as_str().into(),
            self.text_sha256.into(),
        ])
    }

    /// Reads the canonical form.
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let Value::List(parts) = value else { return None };
        let [
            Value::Text(doc_id),
            Value::Number(version),
            Value::Number(start),
            Value::Number(end),
            Value::Text(quote),
            Value::Digest(text_sha256),
        ] = <[Value; 6]>::try_from(parts).ok()?
        else {
            return None;
        };
        let span = Span { start, end };
        Some(Self {
            doc_id: DocumentId::given(&doc_id).ok()?,
            version: u32::try_from(version).ok().filter(|version| *version > 0)?,
            span: (start < end).then_some(span)?,
            quote,
            text_sha256: Sha256(text_sha256),
        })
    }

    fn as_reference(&self) -> Reference<'_> {
        Reference {
            evidence_id: self.id().into(),
            doc_id: self.doc_id.as_str(),
            version: Some(u64::from(self.version)),
            start: Offset::Number(i128::from(self.span.start)),
            end: Offset::Number(i128::from(self.span.end)),
            quote: &self.quote,
            text_sha256: self.text_sha256.hex().into(),
        }
    }
}

/// The parts of `doc_id@version:start:end` as somebody wrote them; nothing of them is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdParts<'a> {
    /// Before the last `@`.
    pub doc_id: &'a str,
    /// The version.
    pub version: &'a str,
    /// The start.
    pub start: &'a str,
    /// The end.
    pub end: &'a str,
}

impl<'a> IdParts<'a> {
    /// Splits an evidence id, from the right.
    pub fn split(id: &'a str) -> Option<Self> {
        let (rest, end) = id.rsplit_once(':')?;
        let (rest, start) = rest.rsplit_once(':')?;
        let (doc_id, version) = rest.rsplit_once('@')?;
        Some(Self { doc_id, version, start, end })
    }

    /// The document, version and span, where the id is written as [`Evidence::id`] writes it: plain
    /// decimals without sign or leading zeros, a version from 1, a span that is not empty.
    pub fn exact(self) -> Option<(DocumentId, u32, Span)> {
        let version = u32::try_from(decimal(self.version)?).ok().filter(|version| *version > 0)?;
        let span = Span { start: decimal(self.start)?, end: decimal(self.end)? };
        let doc_id = DocumentId::given(self.doc_id).ok()?;
        (span.start < span.end).then_some((doc_id, version, span))
    }
}

fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// A reference as somebody states it; nothing of it is trusted.
#[derive(Clone, Debug)]
pub struct Reference<'a> {
    /// The stated id.
    pub evidence_id: std::borrow::Cow<'a, str>,
    /// The stated document.
    pub doc_id: &'a str,
    /// The stated version; none where it is no whole number.
    pub version: Option<u64>,
    /// The stated start.
    pub start: Offset,
    /// The stated end.
    pub end: Offset,
    /// The stated quote.
    pub quote: &'a str,
    /// The stated hash, in hexadecimal.
    pub text_sha256: std::borrow::Cow<'a, str>,
}

/// A stated offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// A whole number, of any sign; what does not fit counts as out of range.
    Number(i128),
    /// Anything else: a boolean, a fraction, a text.
    NotANumber,
}

impl Offset {
    /// Reads an offset of an evidence id: digits, with a minus before them or not. Digits that
    /// exceed every number are the largest: they are out of range in any text.
    pub fn written(text: &str) -> Self {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::NotANumber;
        }
        Self::Number(text.parse().unwrap_or(match text.starts_with('-') {
            true => i128::MIN,
            false => i128::MAX,
        }))
    }
}

/// A document as it is now.
#[derive(Clone, Copy, Debug)]
pub struct DocumentRecord<'a> {
    /// Its id.
    pub doc_id: &'a str,
    /// The version that is current.
    pub version: u64,
    /// Whether it takes part.
    pub active: bool,
    /// Whether the principal may see it.
    pub eligible: bool,
    /// The current version's text.
    pub text: &'a str,
    /// The recorded hash of that text.
    pub text_sha256: Sha256,
}

/// Why a reference does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.code())]
pub enum EvidenceFault {
    /// No such document.
    DocumentMissing,
    /// Withdrawn, or revoked from the principal.
    DocumentIneligible,
    /// Another version is current.
    StaleVersion,
    /// The reference names another hash than the document's record.
    TextHashMismatch,
    /// The stored text does not hash to its own record.
    StoreCorrupt,
    /// An offset is no whole number.
    OffsetType,
    /// The end is the start.
    EmptySpan,
    /// The span leaves the text, or is reversed.
    OffsetsOutOfRange,
    /// The quote is not what stands there.
    QuoteMismatch,
    /// The id says something else than its parts.
    EvidenceIdentity,
}

impl EvidenceFault {
    /// The code, the same for ever.
    pub fn code(self) -> &'static str {
        match self {
            Self::DocumentMissing => "document_missing",
            Self::DocumentIneligible => "document_ineligible",
            Self::StaleVersion => "stale_version",
            Self::TextHashMismatch => "text_hash_mismatch",
            Self::StoreCorrupt => "store_corrupt",
            Self::OffsetType => "offset_type",
            Self::EmptySpan => "empty_span",
            Self::OffsetsOutOfRange => "offsets_out_of_range",
            Self::QuoteMismatch => "quote_mismatch",
            Self::EvidenceIdentity => "evidence_identity",
        }
    }
}

/// Checks a reference against a document as it is now. The text is hashed anew: its record is not
/// trusted.
pub fn validate(
    reference: &Reference<'_>,
    record: Option<&DocumentRecord<'_>>,
) -> Result<(), EvidenceFault> {
    validate_hashed(reference, record, |text| Sha256::of(text.as_bytes()))
}

/// [`validate`], where the hash of the record's text may have been computed before.
fn validate_hashed(
    reference: &Reference<'_>,
    record: Option<&DocumentRecord<'_>>,
    hash_of: impl FnOnce(&str) -> Sha256,
) -> Result<(), EvidenceFault> {
    let record = record.filter(|record| record.doc_id == reference.doc_id);
    let record = record.ok_or(EvidenceFault::DocumentMissing)?;
    if !record.active || !record.eligible {
        return Err(EvidenceFault::DocumentIneligible);
    }
    if reference.version != Some(record.version) {
        return Err(EvidenceFault::StaleVersion);
    }
    if reference.text_sha256 != record.text_sha256.hex() {
        return Err(EvidenceFault::TextHashMismatch);
    }
    if hash_of(record.text) != record.text_sha256 {
        return Err(EvidenceFault::StoreCorrupt);
    }
    let quote = span_of(reference)?.slice(record.text);
    match quote.ok_or(EvidenceFault::OffsetsOutOfRange)? == reference.quote {
        true => identity(reference),
        false => Err(EvidenceFault::QuoteMismatch),
    }
}

fn span_of(reference: &Reference<'_>) -> Result<Span, EvidenceFault> {
    let (Offset::Number(start), Offset::Number(end)) = (reference.start, reference.end) else {
        return Err(EvidenceFault::OffsetType);
    };
    if start == end {
        return Err(EvidenceFault::EmptySpan);
    }
    match (u64::try_from(start), u64::try_from(end)) {
        (Ok(start), Ok(end)) => Ok(Span { start, end }),
        _ => Err(EvidenceFault::OffsetsOutOfRange),
    }
}

fn identity(reference: &Reference<'_>) -> Result<(), EvidenceFault> {
    let Reference { doc_id, version, start, end, .. } = reference;
    let (Some(version), Offset::Number(start), Offset::Number(end)) = (version, start, end) else {
        return Err(EvidenceFault::EvidenceIdentity);
    };
    match reference.evidence_id == format!("{doc_id}@{version}:{start}:{end}") {
        true => Ok(()),
        false => Err(EvidenceFault::EvidenceIdentity),
    }
}

/// Checks evidence against the store, reading and hashing each text once.
#[derive(Default)]
pub struct Texts {
    read: BTreeMap<BlobId, Option<HashedText>>,
}

struct HashedText {
    text: String,
    sha256: Sha256,
}

impl Texts {
    /// The fault of a piece of evidence under the documents and rights as they are now, if any.
    pub fn check(
        &mut self,
        store: &impl Lookup,
        dossier: &Dossier,
        principal: &str,
        evidence: &Evidence,
    ) -> Result<Option<EvidenceFault>, ReadError> {
        let Some(document) = dossier.document(evidence.doc_id.as_str()) else {
            return Ok(Some(EvidenceFault::DocumentMissing));
        };
        let Some(version) = document.version() else {
            return Ok(Some(EvidenceFault::StaleVersion));
        };
        // Who may not read the document does not have its text read either.
        let unread = HashedText { text: String::new(), sha256: version.text_sha256 };
        let text = match document.readable(principal) {
            true => self.text(store, version.blob)?,
            false => Some(&unread),
        };
        let Some(HashedText { text, sha256 }) = text else {
            return Ok(Some(EvidenceFault::StoreCorrupt));
        };
        let record = DocumentRecord {
            doc_id: document.id.as_str(),
            version: u64::from(document.current),
            active: document.active(),
            eligible: document.eligible(principal),
            text,
            text_sha256: version.text_sha256,
        };
        Ok(validate_hashed(&evidence.as_reference(), Some(&record), |_| *sha256).err())
    }

    fn text(
        &mut self,
        store: &impl Lookup,
        blob: BlobId,
    ) -> Result<Option<&HashedText>, ReadError> {
        let held = match self.read.entry(blob) {
            Entry::Occupied(held) => held.into_mut(),
            Entry::Vacant(place) => place.insert(store.blob(blob)?.and_then(HashedText::of)),
        };
        Ok(held.as_ref())
    }
}

impl HashedText {
    fn of(bytes: Vec<u8>) -> Option<Self> {
        let sha256 = Sha256::of(&bytes);
        Some(Self { text: String::from_utf8(bytes).ok()?, sha256 })
    }
}

#[cfg(test)]
mod tests;
