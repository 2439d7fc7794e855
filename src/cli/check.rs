//! `check`: a verifier on its own. One JSON object in, one out; with `--jsonl` one a line, in the
//! same order, and a line that cannot be judged gives an error object in its place.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;

use serde_json::{Value, json};

use super::args::{CheckArgs, Verifier};
use super::exit;
use super::failure::Failure;
use super::ui::Ui;
use crate::check;

pub(super) fn run(of: &CheckArgs, ui: &Ui) -> Result<u8, Failure> {
    let mut input = open(of.file.as_deref())?;
    let tally = match of.jsonl {
        true => lines(&mut input, of.verifier, |answer| ui.compact(answer)),
        false => whole(&mut input, of.verifier, |answer| ui.document(answer)),
    };
    let tally = tally.map_err(|error| Failure::io("cannot read the input", &error))?;
    if let Some(first) = &tally.first_fault {
        let what = match tally.faulty {
            1 => first.clone(),
            more => format!("{first} (and {} more that cannot be judged)", more - 1),
        };
        return Err(Failure::new(exit::USAGE, what).hint(shape(of.verifier)));
    }
    Ok(if of.exit_code && tally.refused > 0 { exit::DIFFERENCE } else { exit::DONE })
}

fn open(file: Option<&Path>) -> Result<Box<dyn BufRead>, Failure> {
    match file.filter(|file| *file != Path::new("-")) {
        None => Ok(Box::new(BufReader::new(stdin()))),
        Some(path) => {
            let file = File::open(path).map_err(|error| {
                Failure::io(format!("cannot read {}", path.display()), &error)
                    .hint("name a file, or - for standard input")
            })?;
            Ok(Box::new(BufReader::new(file)))
        }
    }
}

fn shape(verifier: Verifier) -> &'static str {
    match verifier {
        Verifier::Claims => {
            r#"give {"text","finish_reason","allowed":[…],"fields":[…]?,"documents":[…]?}"#
        }
        Verifier::Evidence => {
            r#"give {"document":{doc_id,version,text,active,eligible,access_revision},"evidence":{…}}"#
        }
    }
}

/// What became of the inputs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    refused: u64,
    faulty: u64,
    first_fault: Option<String>,
}

impl Tally {
    /// Judges one input; `place` names it in what is said of a fault.
    fn judge(&mut self, verifier: Verifier, input: &[u8], place: &str) -> Value {
        let judged = serde_json::from_slice::<Value>(input)
            .map_err(|error| malformed(&error))
            .and_then(|input| judge(verifier, &input));
        match judged {
            Ok(answer) => {
                self.refused += u64::from(!accepted(verifier, &answer));
                answer
            }
            Err(fault) => {
                let fault = format!("{place}{fault}");
                self.faulty += 1;
                self.first_fault.get_or_insert(fault.clone());
                json!({ "error": fault })
            }
        }
    }
}

/// What is wrong with JSON, with the column alone: the line within one line says nothing.
fn malformed(error: &serde_json::Error) -> String {
    let words = error.to_string();
    match error.line() {
        0 | 1 => words.replace(" at line 1 column ", " at column "),
        _ => words,
    }
}

fn judge(verifier: Verifier, input: &Value) -> Result<Value, String> {
    let judged = match verifier {
        Verifier::Claims => check::claims(input),
        Verifier::Evidence => check::evidence(input),
    };
    judged.map_err(|error| error.to_string())
}

fn accepted(verifier: Verifier, answer: &Value) -> bool {
    match verifier {
        Verifier::Claims => answer["status"] == "VALID",
        Verifier::Evidence => answer["verdict"] == "valid",
    }
}

fn whole(
    input: &mut dyn BufRead,
    verifier: Verifier,
    mut tell: impl FnMut(&Value),
) -> std::io::Result<Tally> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let mut tally = Tally::default();
    tell(&tally.judge(verifier, &bytes, ""));
    Ok(tally)
}

/// One line at a time, so that any number of them goes through.
fn lines(
    input: &mut dyn BufRead,
    verifier: Verifier,
    mut tell: impl FnMut(&Value),
) -> std::io::Result<Tally> {
    let mut tally = Tally::default();
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let input = line.strip_suffix(b"\n").unwrap_or(&line);
        tell(&tally.judge(verifier, input, &format!("line {number}: ")));
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = r#"{"document":{"doc_id":"S/a.txt","version":1,"text":"one two","active":true,"eligible":true,"access_revision":1},"evidence":{"evidence_id":"S/a.txt@1:0:3","doc_id":"S/a.txt","version":1,"start":0,"end":3,"quote":"one","text_sha256":"HASH"}}"#;

    fn valid() -> String {
        VALID.replace("HASH", &dossier_store::hash::Sha256::of(b"one two").hex())
    }

    fn judged(input: &str) -> (Vec<Value>, Tally) {
        let mut answers = Vec::new();
        let tally = lines(&mut input.as_bytes(), Verifier::Evidence, |answer| {
            answers.push(answer.clone());
        });
        (answers, tally.unwrap())
    }

    #[test]
    fn every_line_has_its_answer_in_its_place() {
        let wrong = valid().replace("\"quote\":\"one\"", "\"quote\":\"two\"");
        let input = format!("{}\n{{\"x\n\n{{}}\n{wrong}\n{}", valid(), valid());
        let (answers, tally) = judged(&input);
        let verdicts: Vec<&str> =
            answers.iter().map(|answer| answer["verdict"].as_str().unwrap_or("error")).collect();
        assert_eq!(verdicts, ["valid", "error", "error", "error", "invalid", "valid"]);
        assert_eq!((tally.refused, tally.faulty), (1, 3));
        let first = tally.first_fault.unwrap();
        assert!(first.starts_with("line 2: ") && first.contains("at column"), "{first}");
        let missing = answers[3]["error"].as_str().unwrap();
        assert!(missing.starts_with("line 4: ") && missing.contains("evidence"), "{missing}");
    }

    #[test]
    fn no_line_is_no_fault() {
        assert_eq!(judged("").1, Tally::default());
    }

    #[test]
    fn bytes_that_are_no_utf8_are_a_fault_of_their_line_alone() {
        let mut answers = Vec::new();
        let bytes = [b"\"\xff\"\n", valid().as_bytes()].concat();
        let tally =
            lines(&mut bytes.as_slice(), Verifier::Evidence, |a| answers.push(a.clone())).unwrap();
        assert_eq!(tally.faulty, 1);
        assert_eq!(answers[1]["verdict"], "valid");
    }

    #[test]
    fn one_document_may_span_lines() {
        let input = valid().replace("},", "},\n");
        let mut answer = Value::Null;
        let tally =
            whole(&mut input.as_bytes(), Verifier::Evidence, |a| answer = a.clone()).unwrap();
        assert_eq!((tally, &answer["verdict"]), (Tally::default(), &json!("valid")));
    }
}
