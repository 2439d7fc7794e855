//! Evidence: exact characters of one version of one document, and the checks by which a reference
//! to them holds. The checks run in a fixed order; the first that fails is the answer.

use std::collections::BTreeMap;

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
        if !self.read.contains_key(&blob) {
            let text = store.blob(blob)?.and_then(|bytes| String::from_utf8(bytes).ok());
            let hashed = text.map(|text| {
                let sha256 = Sha256::of(text.as_bytes());
                HashedText { text, sha256 }
            });
            self.read.insert(blob, hashed);
        }
        Ok(self.read.get(&blob).and_then(Option::as_ref))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "e\u{301}🦀 gate\r\nsite B\r\n";

    fn record() -> DocumentRecord<'static> {
        DocumentRecord {
            doc_id: "S/memo",
            version: 2,
            active: true,
            eligible: true,
            text: TEXT,
            text_sha256: Sha256::of(TEXT.as_bytes()),
        }
    }

    fn evidence() -> Evidence {
        Evidence {
            doc_id: DocumentId::given("S/memo").unwrap(),
            version: 2,
            span: Span { start: 2, end: 8 },
            quote: "🦀 gate".into(),
            text_sha256: Sha256::of(TEXT.as_bytes()),
        }
    }

    fn fault(reference: &Reference<'_>, record: &DocumentRecord<'_>) -> Option<&'static str> {
        validate(reference, Some(record)).err().map(EvidenceFault::code)
    }

    #[test]
    fn the_first_check_that_fails_is_the_answer() {
        // Each step breaks one thing more, from the last check to the first.
        let own = evidence();
        let (mut reference, mut record) = (own.as_reference(), record());
        assert_eq!(fault(&reference, &record), None);
        reference.evidence_id = "S/memo@2:2:9".into();
        assert_eq!(fault(&reference, &record), Some("evidence_identity"));
        reference.quote = "🦀 Gate";
        assert_eq!(fault(&reference, &record), Some("quote_mismatch"));
        reference.end = Offset::Number(1);
        assert_eq!(fault(&reference, &record), Some("offsets_out_of_range"));
        reference.end = Offset::Number(2);
        assert_eq!(fault(&reference, &record), Some("empty_span"));
        reference.start = Offset::NotANumber;
        assert_eq!(fault(&reference, &record), Some("offset_type"));
        record.text = "another text";
        assert_eq!(fault(&reference, &record), Some("store_corrupt"));
        reference.text_sha256 = "0".repeat(64).into();
        assert_eq!(fault(&reference, &record), Some("text_hash_mismatch"));
        record.version = 3;
        assert_eq!(fault(&reference, &record), Some("stale_version"));
        record.eligible = false;
        assert_eq!(fault(&reference, &record), Some("document_ineligible"));
        record.doc_id = "S/other";
        assert_eq!(fault(&reference, &record), Some("document_missing"));
        assert_eq!(validate(&reference, None), Err(EvidenceFault::DocumentMissing));
    }

    #[test]
    fn offsets_never_wrap_and_equal_ones_are_empty_before_they_are_out_of_range() {
        let own = evidence();
        for (start, end, code) in [
            (-1, 8, "offsets_out_of_range"),
            (-1, -1, "empty_span"),
            (2, 1 << 64, "offsets_out_of_range"),
            (1 << 32, (1 << 32) + 6, "offsets_out_of_range"),
            (8, 2, "offsets_out_of_range"),
            (99, 99, "empty_span"),
            (i128::MIN, i128::MAX, "offsets_out_of_range"),
            (2, 19, "offsets_out_of_range"),
            (2, 18, "quote_mismatch"),
        ] {
            let reference = Reference {
                start: Offset::Number(start),
                end: Offset::Number(end),
                ..own.as_reference()
            };
            assert_eq!(fault(&reference, &record()), Some(code), "{start}..{end}");
        }
    }

    #[test]
    fn ids_are_read_from_the_right_and_strictly() {
        let exact = |id| IdParts::split(id).and_then(IdParts::exact);
        let memo = DocumentId::given("S/memo").unwrap();
        assert_eq!(exact("S/memo@2:2:8"), Some((memo, 2, Span { start: 2, end: 8 })));
        for bad in [
            "", "S/memo", "S/memo@2", "S/memo@2:2", "@2:2:8", "S/memo@0:2:8", "S/memo@02:2:8",
            "S/memo@+2:2:8", "S/memo@2:+2:8", "S/memo@2:02:8", "S/memo@2:2:8 ", "S/memo@2:8:8",
            "S/memo@2:-2:8", "S/memo@2:2:٨", "a@1@2:2:8", "a:1@2:2:8", "S/memo@4294967296:2:8",
            "S/memo@2:2:18446744073709551616",
        ] {
            assert_eq!(exact(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn written_offsets_are_digits() {
        assert_eq!(Offset::written("007"), Offset::Number(7));
        assert_eq!(Offset::written("-6"), Offset::Number(-6));
        assert_eq!(Offset::written(&"9".repeat(99)), Offset::Number(i128::MAX));
        assert_eq!(Offset::written(&format!("-{}", "9".repeat(99))), Offset::Number(i128::MIN));
        for other in ["", "-", "--1", "+1", "True", "1.0", " 1", "١"] {
            assert_eq!(Offset::written(other), Offset::NotANumber, "{other:?}");
        }
    }

    #[test]
    fn a_canonical_form_that_no_evidence_has_is_refused() {
        let form = |version: u32, start, end, doc_id: &str| {
            let hash = Sha256([7; 32]);
            let (version, quote) = (u64::from(version).into(), "q".into());
            Evidence::from_value(Value::List(vec![
                doc_id.into(), version, Value::Number(start), Value::Number(end), quote, hash.into(),
            ]))
        };
        assert!(form(1, 0, 1, "S/a").is_some());
        assert!(form(0, 0, 1, "S/a").is_none());
        assert!(form(1, 1, 1, "S/a").is_none());
        assert!(form(1, 0, 1, "S/../a").is_none());
    }

    proptest! {
        #[test]
        fn ids_name_their_evidence(
            name in "[a-zéя東🦀 .~]{1,8}x", version in 1u32.., start in any::<u32>(), length in 1u64..9,
        ) {
            let start = u64::from(start);
            let span = Span { start, end: start + length };
            let doc_id = DocumentId::given(&name).unwrap();
            let evidence = Evidence { doc_id: doc_id.clone(), version, span, ..evidence() };
            let id = evidence.id();
            prop_assert_eq!(IdParts::split(&id).and_then(IdParts::exact), Some((doc_id, version, span)));
        }

        #[test]
        fn every_piece_of_a_text_is_valid_evidence_and_no_moved_one_is(
            text in "([aé🦀\u{301}\u{202e}\0\r ]{0,5}\r?\n?){0,6}", shift in 1u64..5,
        ) {
            use crate::document::{Unit, pieces};
            let text_sha256 = Sha256::of(text.as_bytes());
            let record = DocumentRecord { text: &text, text_sha256, ..record() };
            for piece in pieces(&text, Unit::Line) {
                let quote = text[piece.bytes].to_owned();
                let own = Evidence { span: piece.span, quote, text_sha256, ..evidence() };
                prop_assert_eq!(fault(&own.as_reference(), &record), None);
                let end = Offset::Number(i128::from(piece.span.end + shift));
                let moved = Reference { end, ..own.as_reference() };
                prop_assert!(fault(&moved, &record).is_some());
            }
        }

        #[test]
        fn any_id_is_split_without_a_panic(id in any::<String>()) {
            if let Some((doc_id, version, span)) = IdParts::split(&id).and_then(IdParts::exact) {
                let again = Evidence { doc_id, version, span, ..evidence() };
                prop_assert_eq!(again.id(), id);
            }
        }
    }
}
