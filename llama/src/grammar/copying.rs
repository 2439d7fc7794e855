//! Copying from lines: every place that the copied text may come from is followed at once, so the
//! line that is cited follows from what was copied.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Pieces;
use super::line::{Line, Place};

/// The lines that are copied from.
pub(super) struct Source {
    pub(super) lines: Vec<Line>,
    pub(super) max_length: usize,
    pub(super) pieces: Rc<Pieces>,
}

/// One place that a copy may be coming from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    line: usize,
    from: usize,
    at: usize,
    /// The byte beyond which it cannot go.
    last: usize,
}

impl Source {
    pub(super) fn text(&self, place: Place) -> &[u8] {
        self.lines[place.line].slice(place)
    }

    pub(super) fn label(&self, place: Place) -> &str {
        &self.lines[place.line].label
    }

    /// Everywhere a subject may begin.
    pub(super) fn subjects(&self) -> Vec<Thread> {
        self.threads(|_, line, from| line.subject_from(from, self.max_length))
    }

    /// The places that no value may touch, whatever was copied before.
    pub(super) fn barred(&self) -> impl Iterator<Item = Place> {
        let lines = self.lines.iter().enumerate();
        lines.flat_map(|(line, held)| {
            held.barred.iter().map(move |&(from, to)| Place { line, from, to })
        })
    }

    /// Everywhere a value may begin that keeps off the places in use.
    pub(super) fn values(&self, used: &[Place]) -> Vec<Thread> {
        self.threads(|number, line, from| {
            let limit = limit(used, number, from)?;
            line.furthest(from, self.max_length, limit)
        })
    }

    fn threads(&self, furthest: impl Fn(usize, &Line, usize) -> Option<usize>) -> Vec<Thread> {
        let mut threads = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            for from in line.starts() {
                if let Some(to) = furthest(number, line, from) {
                    let (at, last) = (line.byte(from), line.byte(to));
                    threads.push(Thread { line: number, from, at, last });
                }
            }
        }
        threads
    }

    /// The tokens that some thread can go on with.
    pub(super) fn next(&self, threads: &[Thread]) -> BTreeSet<u32> {
        let mut tokens = BTreeSet::new();
        for thread in threads {
            let rest = &self.lines[thread.line].bytes[thread.at..thread.last];
            self.pieces.along(rest, &mut tokens);
        }
        tokens
    }

    /// The threads that go on with this token.
    pub(super) fn follow(&self, threads: Vec<Thread>, token: u32) -> Vec<Thread> {
        let moved = |mut thread: Thread| {
            let rest = &self.lines[thread.line].bytes[thread.at..thread.last];
            thread.at += self.pieces.covers(token, rest)?;
            Some(thread)
        };
        threads.into_iter().filter_map(moved).collect()
    }

    /// Where the copied text stands, of the threads that are at an end. It is the same text in all
    /// of them.
    pub(super) fn places(&self, threads: &[Thread]) -> Vec<Place> {
        let place = |thread: &Thread| {
            let to = self.lines[thread.line].end_at(thread.at)?;
            (to > thread.from).then_some(Place { line: thread.line, from: thread.from, to })
        };
        threads.iter().filter_map(place).collect()
    }

    /// Those of them that may be a subject.
    pub(super) fn subject_places(&self, threads: &[Thread]) -> Vec<Place> {
        let mut places = self.places(threads);
        places.retain(|place| self.lines[place.line].is_subject(place.from, place.to));
        places
    }
}

/// The cut before which a copy must end that begins here; `None` where the place is in use.
fn limit(used: &[Place], line: usize, from: usize) -> Option<usize> {
    let mut limit = usize::MAX;
    for place in used.iter().filter(|place| place.line == line) {
        match place.from > from {
            true => limit = limit.min(place.from),
            false if from < place.to => return None,
            false => {}
        }
    }
    Some(limit)
}
