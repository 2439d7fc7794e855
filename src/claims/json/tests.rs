//! Tests of the JSON reader: fault by fault, against another reader, and on anything at all.

use super::*;
use proptest::prelude::*;

#[test]
fn faults_are_found_in_the_order_of_their_kinds() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for (text, fault) in [
        ("", JsonFault::Syntax),
        ("NaN", JsonFault::Syntax),
        ("[1,]", JsonFault::Syntax),
        ("{\"a\":1,}", JsonFault::Syntax),
        ("01", JsonFault::Syntax),
        ("[-01]", JsonFault::Syntax),
        ("- 1", JsonFault::Syntax),
        ("+1", JsonFault::Syntax),
        ("-Infinity", JsonFault::Syntax),
        ("\u{feff}{}", JsonFault::Syntax),
        ("\u{a0}{}", JsonFault::Syntax),
        ("'a'", JsonFault::Syntax),
        (r#""\ud80""#, JsonFault::Syntax),
        (r#""\ud800\u12""#, JsonFault::Syntax),
        (r#""\u+041""#, JsonFault::Syntax),
        ("truex", JsonFault::Trailing),
        ("{}{", JsonFault::Trailing),
        (r#"{"\udfff":1}"#, JsonFault::LoneSurrogate),
        (r#""\ud800\ud83e\udd80""#, JsonFault::LoneSurrogate),
        (r#"{"é":1,"\u00E9":2}"#, JsonFault::DuplicateKey),
        (r#"{"a":{"b":[{"":1,"":1}]}}"#, JsonFault::DuplicateKey),
        ("1.", JsonFault::Syntax),
        ("\"\u{1}\"", JsonFault::Syntax),
        (r#""\x""#, JsonFault::Syntax),
        ("{} x", JsonFault::Trailing),
        (r#"{"a":1,"a":2} x"#, JsonFault::Trailing),
        (&deep(17), JsonFault::Depth),
        (r#""\ud800""#, JsonFault::LoneSurrogate),
        (r#""\udc00\ud800""#, JsonFault::LoneSurrogate),
        (r#""\ud800\u0041""#, JsonFault::LoneSurrogate),
        (r#"[{"a":1,"\u0061":2}]"#, JsonFault::DuplicateKey),
        (r#"{"a":1,"a":"\ud800"}"#, JsonFault::LoneSurrogate),
    ] {
        assert_eq!(parse(text), Err(fault), "{text}");
    }
    assert!(parse(&deep(16)).is_ok());
    assert_eq!(parse(&"[".repeat(1 << 20)), Err(JsonFault::Syntax));
    assert_eq!(parse(&deep(1 << 18)), Err(JsonFault::Depth));
}

#[test]
fn escapes_are_resolved() {
    let text = r#""\ud83e\udd80\u0040\n\/\\\"é""#;
    assert_eq!(parse(text), Ok(Json::Text("🦀@\n/\\\"é".into())));
    assert_eq!(parse("-1.5e+999"), Ok(Json::Number("-1.5e+999".into())));
}

fn document() -> impl Strategy<Value = serde_json::Value> {
    let scalar = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "\\PC{0,6}".prop_map(Into::into),
    ];
    scalar.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map("\\PC{0,4}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

fn plain(json: &Json) -> serde_json::Value {
    match json {
        Json::Null => serde_json::Value::Null,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => serde_json::from_str(number).unwrap(),
        Json::Text(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Object(entries) => serde_json::Value::Object(
            entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
        ),
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(document in document()) {
        for text in [document.to_string(), format!("{document:#}")] {
            prop_assert_eq!(plain(&parse(&text).unwrap()), document.clone());
        }
    }

    #[test]
    fn it_accepts_and_refuses_as_another_reader_does(
        text in "[\\[\\]{}\",:0-9eE+.\\\\/utrfalsn \t\n-]{0,24}",
    ) {
        agrees(&text);
    }

    #[test]
    fn a_spoilt_document_is_judged_as_another_reader_does(
        document in document(),
        at in any::<prop::sample::Index>(),
        put in "[\\[\\]{}\",:0-9\\\\u\u{1}\u{feff}é🦀]{0,2}",
    ) {
        let mut text: Vec<char> = document.to_string().chars().collect();
        let at = at.index(text.len());
        text.splice(at..=at, put.chars());
        agrees(&text.into_iter().collect::<String>());
    }

    #[test]
    fn no_text_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_escape_makes_it_panic(text in r#"["\\ud8-9a-f🦀é]{0,40}"#) {
        let _ = parse(&format!("\"{text}\""));
    }
}

/// Compares with another reader, which takes the last of equal keys and limits numbers.
fn agrees(text: &str) {
    let ours = parse(text);
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(other) => match ours {
            Ok(ours) => assert_eq!(plain(&ours), other, "{text}"),
            Err(fault) => assert_eq!(fault, JsonFault::DuplicateKey, "{text}"),
        },
        Err(error) if error.to_string().starts_with("number out of range") => {}
        Err(error) => match ours {
            Ok(_) | Err(JsonFault::DuplicateKey | JsonFault::Depth) => {
                panic!("{text}: {error}")
            }
            Err(_) => {}
        },
    }
}

#[test]
fn time_is_linear() {
    // A quadratic reader needs minutes for each of these.
    let count = 1 << 18;
    let keys: String = (0..count).map(|key| format!("\"{key}\":0,")).collect();
    for text in [
        format!("{{{keys}\"x\":0}}"),
        format!("\"{}\"", r"\ud83e\udd80\n".repeat(count)),
        format!("[{}0]", "[],".repeat(count)),
        format!("{}1", "1".repeat(count)),
    ] {
        assert!(parse(&text).is_ok());
    }
}
