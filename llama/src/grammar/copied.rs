//! Claims whose subject and value are copied from offered lines. Nothing that the grammar lets
//! through can break a rule of shape. A subject and a value are two different places of the text,
//! and no place is a value twice. Every field is asked for once before the model may stop; a field
//! that the text does not state is answered with the line that stands for nothing.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::copying::{Source, Thread};
use super::line::{self, Line, Place};
use super::options::Options;
use super::{GrammarError, OfferedLine, Part, Pieces, Step};
use crate::greedy::Allowed;

/// What claims may be made of.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CopiedRules {
    /// The line that stands for nothing: a claim that cites it is not part of the answer.
    pub nothing: Nothing,
    /// The lines, in order.
    pub lines: Vec<OfferedLine>,
    /// The fields a claim may have.
    pub fields: Vec<String>,
    /// The most claims.
    pub max_claims: usize,
    /// The most code points of a subject or value.
    pub max_length: usize,
}

/// The line that stands for nothing.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {
    /// Its label.
    pub label: String,
    /// Its text.
    pub text: String,
}

/// The line that stands for nothing comes first.
const NOTHING: usize = 0;

/// Copied claims being written.
pub struct Copied {
    source: Source,
    fields: Vec<Field>,
    literals: Literals,
    max_claims: usize,
    forced: Vec<u32>,
    state: State,
    made: Vec<Made>,
}

struct Literals {
    after_subject: Vec<u32>,
    after_value: Vec<u32>,
    next: Vec<u32>,
    end: Vec<u32>,
}

struct Field {
    /// As it stands in JSON.
    text: String,
    /// With the literal after it.
    tokens: Vec<u32>,
    asked: Asked,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    NotYet,
    Stated,
    Absent,
}

/// A claim that was made, and the place its value was copied from.
struct Made {
    subject: Vec<u8>,
    field: usize,
    value: Vec<u8>,
    place: Place,
    /// The labels as they stand in JSON, without the outer quotation marks.
    labels: String,
}

enum State {
    Subject(Vec<Thread>),
    Field { subjects: Vec<Place>, options: Options<usize> },
    Value { subjects: Vec<Place>, field: usize, threads: Vec<Thread> },
    Label { claim: Open, options: Options<(Place, String)> },
    Between(Options<Another>),
    Ended,
}

/// A claim whose value is complete.
struct Open {
    subject: Vec<u8>,
    field: usize,
    value: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Another {
    Claim,
    None,
}

impl Copied {
    /// Makes the rules ready.
    pub fn new(rules: CopiedRules, pieces: Rc<Pieces>) -> Result<Self, GrammarError> {
        if rules.fields.is_empty() {
            return Err(GrammarError::Empty("field"));
        }
        let Nothing { label, text } = rules.nothing;
        let nothing = OfferedLine {
            label,
            chunks: vec![text],
            subjects: Some(Vec::new()),
            barred: Vec::new(),
        };
        let lines = std::iter::once(nothing).chain(rules.lines).map(Line::new).collect();
        let literals = Literals {
            after_subject: pieces.tokenise(r#"","field":""#),
            after_value: pieces.tokenise(r#"","evidence":[""#),
            next: pieces.tokenise(r#",{"subject":""#),
            end: pieces.tokenise("]}"),
        };
        let mut copied = Self {
            fields: rules.fields.iter().map(|name| Field::new(name, &pieces)).collect(),
            forced: pieces.tokenise(r#"{"claims":[{"subject":""#),
            source: Source { lines, max_length: rules.max_length, pieces },
            literals,
            max_claims: rules.max_claims,
            state: State::Ended,
            made: Vec::new(),
        };
        match copied.source.subjects() {
            threads if threads.is_empty() || copied.max_claims == 0 => {
                copied.forced = copied.source.pieces.tokenise(r#"{"claims":[]}"#);
            }
            threads => copied.state = State::Subject(threads),
        }
        Ok(copied)
    }

    /// The claims so far, in order, each one JSON object.
    pub(super) fn claims(&self) -> impl Iterator<Item = String> {
        self.stated().map(|made| {
            let Made { subject, field, value, labels, .. } = made;
            let (subject, value) = (String::from_utf8_lossy(subject), String::from_utf8_lossy(value));
            let field = &self.fields[*field].text;
            format!(
                r#"{{"subject":"{subject}","field":"{field}","value":"{value}","evidence":["{labels}"]}}"#
            )
        })
    }

    fn stated(&self) -> impl Iterator<Item = &Made> {
        self.made.iter().filter(|made| made.place.line != NOTHING)
    }

    pub(super) fn step(&mut self) -> Step {
        loop {
            if !self.forced.is_empty() {
                return Step::Forced(std::mem::take(&mut self.forced));
            }
            let agreed = match &self.state {
                State::Ended => return Step::End,
                State::Subject(threads) => return self.copy_step(Part::Subject, threads),
                State::Value { threads, .. } => return self.copy_step(Part::Value, threads),
                State::Field { options, .. } => options.step(Part::Field),
                State::Label { options, .. } => options.step(Part::Label),
                State::Between(options) => options.step(Part::Between),
            };
            match agreed {
                Ok(step) => return step,
                Err(tokens) => self.force(tokens),
            }
        }
    }

    /// Puts tokens that need no choice into the answer.
    fn force(&mut self, tokens: Vec<u32>) {
        for token in &tokens {
            self.accept_option(*token);
        }
        self.forced = tokens;
        // What the last of them decided comes after it.
        self.settle();
    }

    fn copy_step(&self, part: Part, threads: &[Thread]) -> Step {
        let mut tokens = self.source.next(threads);
        if self.may_end(threads) {
            tokens.extend(self.close().first());
        }
        Step::Choose(part, Allowed::Only(tokens.into_iter().collect()))
    }

    /// The literal after the copy being made.
    fn close(&self) -> &[u32] {
        match self.state {
            State::Subject(_) => &self.literals.after_subject,
            _ => &self.literals.after_value,
        }
    }

    fn may_end(&self, threads: &[Thread]) -> bool {
        match &self.state {
            State::Subject(_) => !self.source.subject_places(threads).is_empty(),
            State::Value { subjects, field, .. } => {
                let (value, subject) = (self.source.places(threads), subjects.first());
                let (Some(value), Some(subject)) = (value.first(), subject) else { return false };
                let (value, subject) = (self.source.text(*value), self.source.text(*subject));
                let same = |made: &Made| {
                    made.field == *field && made.subject == subject && made.value == value
                };
                !self.made.iter().any(same)
            }
            _ => false,
        }
    }

    pub(super) fn accept(&mut self, token: u32) {
        let copying = match &mut self.state {
            State::Subject(threads) | State::Value { threads, .. } => std::mem::take(threads),
            _ => {
                self.accept_option(token);
                return self.settle();
            }
        };
        if self.may_end(&copying) && self.close().first() == Some(&token) {
            self.forced = self.close()[1..].to_vec();
            return self.end_copy(&copying);
        }
        let moved = self.source.follow(copying, token);
        if let State::Subject(threads) | State::Value { threads, .. } = &mut self.state {
            *threads = moved;
        }
    }

    fn end_copy(&mut self, threads: &[Thread]) {
        self.state = match std::mem::replace(&mut self.state, State::Ended) {
            State::Subject(_) => State::Field {
                subjects: self.source.subject_places(threads),
                options: Options::new(self.open_fields()),
            },
            State::Value { subjects, field, .. } => {
                let values = self.source.places(threads);
                let text = |places: &[Place]| {
                    places.first().map(|first| self.source.text(*first).to_vec())
                };
                let claim = Open {
                    subject: text(&subjects).unwrap_or_default(),
                    field,
                    value: text(&values).unwrap_or_default(),
                };
                State::Label { claim, options: self.label_options(&subjects, &values) }
            }
            other => other,
        };
    }

    /// Fields that were not asked for yet; once all were, those that the text states.
    fn open_fields(&self) -> Vec<(usize, Vec<u32>)> {
        let with = |asked: Asked| -> Vec<(usize, Vec<u32>)> {
            let fields = self.fields.iter().enumerate();
            let fields = fields.filter(|(_, field)| field.asked == asked);
            fields.map(|(number, field)| (number, field.tokens.clone())).collect()
        };
        match with(Asked::NotYet) {
            fields if fields.is_empty() => with(Asked::Stated),
            fields => fields,
        }
    }

    /// The lines that the claim may cite: those that hold value and subject in different places;
    /// where there are none, the value's line and the nearest that holds the subject.
    fn label_options(&self, subjects: &[Place], values: &[Place]) -> Options<(Place, String)> {
        let beside = |value: &Place| {
            let here = |it: &Place| it.line == value.line && !it.overlaps(*value);
            value.line == NOTHING || subjects.iter().any(here)
        };
        let alone = values.iter().filter(|value| beside(value));
        let mut options: Vec<(Place, String)> =
            alone.map(|value| (*value, self.source.label(*value).to_owned())).collect();
        if options.iter().all(|(value, _)| value.line == NOTHING) {
            for value in values.iter().filter(|value| value.line != NOTHING) {
                let Some(subject) = nearest(subjects, *value) else { continue };
                let labels = (self.source.label(*value), self.source.label(subject));
                options.push((*value, format!(r#"{}","{}"#, labels.0, labels.1)));
            }
        }
        options.dedup_by(|(_, later), (_, earlier)| later == earlier);
        let tokenised = |(place, labels): (Place, String)| {
            let tokens = self.source.pieces.tokenise(&format!(r#"{labels}"]}}"#));
            ((place, labels), tokens)
        };
        Options::new(options.into_iter().map(tokenised).collect())
    }

    fn accept_option(&mut self, token: u32) {
        match &mut self.state {
            State::Field { options, .. } => options.accept(token),
            State::Label { options, .. } => options.accept(token),
            State::Between(options) => options.accept(token),
            State::Subject(_) | State::Value { .. } | State::Ended => {}
        }
    }

    /// Goes on where an option is decided, with the rest of its tokens forced.
    fn settle(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Ended) {
            State::Field { subjects, options } => match options.decided() {
                Some((field, rest)) => {
                    self.forced.extend(rest);
                    let threads = self.source.values(&self.used(&subjects));
                    State::Value { subjects, field, threads }
                }
                None => State::Field { subjects, options },
            },
            State::Label { claim, options } => match options.decided() {
                Some(((place, labels), rest)) => {
                    self.forced.extend(rest);
                    self.end_claim(claim, place, labels)
                }
                None => State::Label { claim, options },
            },
            State::Between(options) => match options.decided() {
                Some((another, rest)) => {
                    self.forced.extend(rest);
                    self.after(another)
                }
                None => State::Between(options),
            },
            other => other,
        };
    }

    /// The places that no value may touch.
    fn used(&self, subjects: &[Place]) -> Vec<Place> {
        let mut used: Vec<Place> = self.stated().map(|made| made.place).collect();
        used.extend(self.source.barred());
        // A subject that stands at several places leaves each of them free for a value.
        if let [only] = subjects {
            used.push(*only);
        }
        used
    }

    fn end_claim(&mut self, claim: Open, place: Place, labels: String) -> State {
        let Open { subject, field, value } = claim;
        self.fields[field].asked = match place.line {
            NOTHING => Asked::Absent,
            _ => Asked::Stated,
        };
        self.made.push(Made { subject, field, value, place, labels });
        let mut options = Vec::new();
        if self.fields.iter().all(|field| field.asked != Asked::NotYet) {
            options.push((Another::None, self.literals.end.clone()));
        }
        if !self.open_fields().is_empty() {
            options.push((Another::Claim, self.literals.next.clone()));
        }
        if self.stated().count() >= self.max_claims {
            options = vec![(Another::None, self.literals.end.clone())];
        }
        State::Between(Options::new(options))
    }

    fn after(&self, another: Another) -> State {
        match another {
            Another::Claim => State::Subject(self.source.subjects()),
            Another::None => State::Ended,
        }
    }
}

impl Field {
    fn new(name: &str, pieces: &Pieces) -> Self {
        let mut bytes = Vec::new();
        line::escape(name, &mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let tokens = pieces.tokenise(&format!(r#"{text}","value":""#));
        Self { text, tokens, asked: Asked::NotYet }
    }
}

/// The nearest subject before the value, or else after it: headings come first.
fn nearest(subjects: &[Place], value: Place) -> Option<Place> {
    let others = || subjects.iter().filter(|subject| subject.line != value.line).copied();
    let before = others().filter(|subject| subject.line < value.line).max_by_key(|it| it.line);
    before.or_else(|| others().min_by_key(|subject| subject.line))
}
