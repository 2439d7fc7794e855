//! Tests of evidence: the order of its checks, the reading of ids, canonical forms.

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
        "",
        "S/memo",
        "S/memo@2",
        "S/memo@2:2",
        "@2:2:8",
        "S/memo@0:2:8",
        "S/memo@02:2:8",
        "S/memo@+2:2:8",
        "S/memo@2:+2:8",
        "S/memo@2:02:8",
        "S/memo@2:2:8 ",
        "S/memo@2:8:8",
        "S/memo@2:-2:8",
        "S/memo@2:2:٨",
        "a@1@2:2:8",
        "a:1@2:2:8",
        "S/memo@4294967296:2:8",
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
            doc_id.into(),
            version,
            Value::Number(start),
            Value::Number(end),
            quote,
            hash.into(),
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
