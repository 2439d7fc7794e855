//! A chooser that picks at random among what is allowed, over a vocabulary made for it: whatever it
//! picks, the answer keeps every rule.

use std::rc::Rc;

use proptest::prelude::*;
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

/// Every byte is a token, and so are some common strings, two of which hold half a character.
fn pieces() -> Rc<Pieces> {
    let longer: [&[u8]; 12] = [
        b"\",\"",
        b"\":\"",
        b"field",
        b"value",
        b"claims",
        b"L1",
        b"10",
        b" 18",
        b"\\\"",
        b"\\",
        "é".as_bytes(),
        &[0xe8, 0xb5],
    ];
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let all: Vec<Vec<u8>> = bytes.chain(longer.iter().map(|it| it.to_vec())).collect();
    let known = all.clone();
    let tokenise = move |text: &str| {
        let mut rest = text.as_bytes();
        let mut tokens = Vec::new();
        while !rest.is_empty() {
            let longest = known.iter().enumerate().filter(|(_, it)| rest.starts_with(it));
            let (id, token) = longest.max_by_key(|(_, it)| it.len()).unwrap();
            tokens.push(id as u32);
            rest = &rest[token.len()..];
        }
        tokens
    };
    Rc::new(Pieces::new((0..).zip(all), tokenise))
}

fn bytes_of(token: u32) -> Vec<u8> {
    // Spelled through the vocabulary itself: the token covers exactly its own bytes.
    let longer: [&[u8]; 12] = [
        b"\",\"",
        b"\":\"",
        b"field",
        b"value",
        b"claims",
        b"L1",
        b"10",
        b" 18",
        b"\\\"",
        b"\\",
        "é".as_bytes(),
        &[0xe8, 0xb5],
    ];
    match token {
        0..=255 => vec![token as u8],
        _ => longer[token as usize - 256].to_vec(),
    }
}

struct Written {
    generated: Vec<u8>,
    answer: String,
    ended: bool,
}

/// Follows a constraint to its end, a dead end, or `limit` tokens.
fn write(mut constraint: Constraint, picks: &[usize], limit: usize) -> Written {
    let mut generated = Vec::new();
    let mut count = 0;
    let mut picks = picks.iter().cycle();
    let ended = loop {
        let token = match constraint.step().unwrap() {
            Step::End => break true,
            Step::Forced(tokens) => {
                count += tokens.len();
                generated.extend(tokens.into_iter().flat_map(bytes_of));
                continue;
            }
            Step::Choose(_, Allowed::Only(tokens)) if tokens.is_empty() || count >= limit => {
                break false;
            }
            Step::Choose(_, Allowed::Only(tokens)) => tokens[picks.next().unwrap() % tokens.len()],
            Step::Choose(_, Allowed::Any) => panic!("claims are never free"),
        };
        count += 1;
        generated.extend(bytes_of(token));
        constraint.accept(token).unwrap();
    };
    Written { generated, answer: constraint.answer().unwrap(), ended }
}

fn lines(texts: &[String]) -> Vec<OfferedLine> {
    let line = |(number, text): (usize, &String)| OfferedLine {
        label: format!("L{}", number + 1),
        chunks: text.split_word_bounds().map(String::from).collect(),
        subjects: None,
        barred: Vec::new(),
    };
    texts.iter().enumerate().map(line).collect()
}

fn copied(texts: &[String], fields: &[&str], max_claims: usize) -> Constraint {
    let rules = CopiedRules {
        nothing: Nothing { label: "L0".into(), text: "none".into() },
        lines: lines(texts),
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        max_claims,
        max_length: 120,
    };
    Constraint::Copied(Box::new(Copied::new(rules, pieces()).unwrap()))
}

/// Checks every rule of an answer's shape, and that what it says stands in the lines it cites.
fn check(answer: &str, texts: &[String], fields: &[&str], max_claims: usize) {
    let parsed: Value = serde_json::from_str(answer).unwrap();
    let claims = parsed["claims"].as_array().unwrap();
    assert!(claims.len() <= max_claims);
    for (number, claim) in claims.iter().enumerate() {
        let keys: Vec<&String> = claim.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 4, "{claim}");
        let text = |key: &str| claim[key].as_str().unwrap().to_owned();
        assert!(fields.contains(&text("field").as_str()));
        let labels = claim["evidence"].as_array().unwrap();
        let cited = |label: &Value| {
            let number: usize = label.as_str().unwrap()[1..].parse().unwrap();
            texts[number - 1].as_str()
        };
        let cited: Vec<&str> = labels.iter().map(cited).collect();
        assert!((1..=2).contains(&cited.len()));
        for key in ["subject", "value"] {
            let said = text(key);
            assert!((1..=120).contains(&said.chars().count()), "{said:?}");
            assert!(!said.contains(|it: char| it.is_control() || it == '\u{202e}'));
            assert!(!said.starts_with(char::is_whitespace) && !said.ends_with(char::is_whitespace));
            assert!(cited.iter().any(|line| line.contains(&said)), "{said:?} in {cited:?}");
        }
        assert!(cited[0].contains(&text("value")));
        let same = |other: &Value| {
            ["subject", "field", "value"].iter().all(|key| other[*key] == claim[*key])
        };
        assert!(!claims[..number].iter().any(same), "{claim} twice");
    }
}

/// Words of every class that could break an answer.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "[0-9.,:-]{1,6}",
        Just("\"quoted\"".to_owned()),
        Just("back\\slash\\".to_owned()),
        Just("{\"claims\":[]}".to_owned()),
        Just("\",\"evidence\":[\"L9\"]}".to_owned()),
        Just("<|im_end|><tool_call>".to_owned()),
        Just("资料没有空格".to_owned()),
        Just("Đường Nguyễn".to_owned()),
        Just("السلام عليكم".to_owned()),
        Just("👩‍👩‍👧🇰🇿".to_owned()),
        Just("e\u{301}\u{327}".to_owned()),
        Just("tab\there".to_owned()),
        Just("\u{202e}reversed".to_owned()),
        Just("x\u{0}y".to_owned()),
        Just("none".to_owned()),
        "[a-z]{121,140}",
        Just("𝔘𝔫𝔦".to_owned()),
    ]
}

fn document() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![
        9 => prop::collection::vec(word(), 0..6).prop_map(|words| words.join(" ")),
        1 => prop::collection::vec(word(), 60..90).prop_map(|words| words.join(" ")),
    ];
    prop::collection::vec(line, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whatever_is_chosen_the_answer_keeps_the_rules(
        texts in document(),
        picks in prop::collection::vec(0usize..1000, 1..200),
        max_claims in 0usize..6,
        limit in prop_oneof![Just(usize::MAX), 0usize..200],
    ) {
        let fields = ["site", "status", "sta\"tus"];
        let written = write(copied(&texts, &fields, max_claims), &picks, limit);
        check(&written.answer, &texts, &fields, max_claims);
        if written.ended {
            let whole: Value = serde_json::from_slice(&written.generated).unwrap();
            let answer: Value = serde_json::from_str(&written.answer).unwrap();
            let said = |value: &Value| value["claims"].as_array().unwrap().clone();
            let mut kept = said(&whole);
            kept.retain(|claim| claim["evidence"] != serde_json::json!(["L0"]));
            prop_assert_eq!(kept, said(&answer));
        }
    }

    #[test]
    fn offered_claims_come_whole_and_once(
        subjects in prop::collection::vec("[a-c]{1,3}", 0..8),
        picks in prop::collection::vec(0usize..1000, 1..50),
        max_claims in 0usize..6,
    ) {
        let claim = |subject: &String| {
            let group = subject.chars().next().unwrap().to_string();
            OfferedClaim { text: format!(r#"{{"subject":"{subject}"}}"#), group }
        };
        let claims: Vec<OfferedClaim> = subjects.iter().map(claim).collect();
        let rules = OfferedRules { claims: claims.clone(), max_claims };
        let offered = Offered::new(rules, &pieces()).unwrap();
        let written = write(Constraint::Offered(Box::new(offered)), &picks, usize::MAX);
        prop_assert!(written.ended);
        prop_assert_eq!(written.generated, written.answer.as_bytes());
        let parsed: Value = serde_json::from_str(&written.answer).unwrap();
        let chosen: Vec<&str> = parsed["claims"].as_array().unwrap().iter()
            .map(|claim| claim["subject"].as_str().unwrap()).collect();
        let distinct: std::collections::BTreeSet<&String> = subjects.iter().collect();
        prop_assert_eq!(chosen.len(), max_claims.min(distinct.len()));
        let mut once = chosen.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), chosen.len());
    }
}

/// Follows a constraint, choosing the bytes of `wanted` wherever they are allowed.
fn guided(constraint: Constraint, wanted: &str) -> String {
    let mut constraint = constraint;
    let mut generated: Vec<u8> = Vec::new();
    loop {
        match constraint.step().unwrap() {
            Step::End => return constraint.answer().unwrap(),
            Step::Forced(tokens) => generated.extend(tokens.into_iter().flat_map(bytes_of)),
            Step::Choose(_, Allowed::Only(tokens)) => {
                let rest = &wanted.as_bytes()[generated.len()..];
                let fits = |token: &&u32| rest.starts_with(&bytes_of(**token));
                let Some(token) = tokens.iter().find(fits) else {
                    panic!(
                        "{} | {}",
                        String::from_utf8_lossy(&generated),
                        String::from_utf8_lossy(rest)
                    );
                };
                generated.extend(bytes_of(*token));
                constraint.accept(*token).unwrap();
            }
            Step::Choose(..) => panic!("claims are never free"),
        }
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_field_that_is_not_stated_leaves_no_claim() {
    let texts = texts(&["Product P-1 site: Lyon.", "Nothing else."]);
    let wanted = r#"{"claims":[{"subject":"P-1","field":"site","value":"Lyon","evidence":["L1"]},{"subject":"P-1","field":"status","value":"none","evidence":["L0"]},{"#;
    let wanted = wanted.trim_end_matches(",{").to_owned() + "]}";
    let answer = guided(copied(&texts, &["site", "status"], 4), &wanted);
    assert_eq!(
        answer,
        r#"{"claims":[{"subject":"P-1","field":"site","value":"Lyon","evidence":["L1"]}]}"#
    );
}

#[test]
fn a_subject_of_another_line_is_cited_too() {
    let texts = texts(&["About curl", "License: MIT"]);
    let wanted =
        r#"{"claims":[{"subject":"curl","field":"license","value":"MIT","evidence":["L2","L1"]}]}"#;
    assert_eq!(guided(copied(&texts, &["license"], 1), wanted), wanted);
}

#[test]
#[should_panic(expected = "Almaty")]
fn one_place_is_not_both_subject_and_value() {
    let texts = texts(&["site: Almaty"]);
    guided(
        copied(&texts, &["site"], 1),
        r#"{"claims":[{"subject":"Almaty","field":"site","value":"Almaty","evidence":["L1"]}]}"#,
    );
}

#[test]
fn equal_words_at_two_places_are_subject_and_value() {
    let texts = texts(&["Name: curl", "License: curl"]);
    let wanted = r#"{"claims":[{"subject":"curl","field":"license","value":"curl","evidence":["L2","L1"]}]}"#;
    assert_eq!(guided(copied(&texts, &["license"], 1), wanted), wanted);
}

#[test]
fn a_grammar_without_fields_and_other_shapes_are_refused() {
    assert!(serde_json::from_str::<Grammar>(r#"{"kind":"other"}"#).is_err());
    let rules = CopiedRules {
        nothing: Nothing { label: "L0".into(), text: "none".into() },
        lines: Vec::new(),
        fields: Vec::new(),
        max_claims: 4,
        max_length: 120,
    };
    assert!(matches!(Copied::new(rules, pieces()), Err(GrammarError::Empty("field"))));
}
