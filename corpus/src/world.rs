//! The controlled world: dossiers S-010..S-039 of twelve documents each, every document in two
//! versions. Texts only; what is true of them is in [`crate::truth`].

use std::fmt;
use std::ops::RangeInclusive;

use crate::facts::Facts;
use crate::prose;
use crate::random::Random;

/// How many documents a dossier holds: slots 0 to 11.
pub const DOCUMENTS_PER_DOSSIER: u32 = 12;

const TEST: RangeInclusive<u32> = 10..=29;
const DEVELOPMENT: RangeInclusive<u32> = 30..=39;

/// The seed of the published world; another would be another world.
const SEED: u64 = 0x00d0_551e_2026_1201;

/// What a dossier may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// S-010..S-029: measured, never tuned on.
    Test,
    /// S-030..S-039: for choosing prompts and recipes.
    Development,
}

/// A dossier of the world, `S-010` to `S-039`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dossier {
    number: u32,
}

impl Dossier {
    /// Reads `S-010` to `S-039`; `None` for any other text.
    pub fn parse(id: &str) -> Option<Self> {
        Self::all().find(|dossier| dossier.to_string() == id)
    }

    /// All thirty, test dossiers first.
    pub fn all() -> impl Iterator<Item = Self> {
        TEST.chain(DEVELOPMENT).map(|number| Self { number })
    }

    /// The dossiers of one part, in order.
    pub fn of_part(part: Part) -> impl Iterator<Item = Self> {
        Self::all().filter(move |dossier| dossier.part() == part)
    }

    /// Which part the dossier belongs to.
    pub fn part(self) -> Part {
        if TEST.contains(&self.number) { Part::Test } else { Part::Development }
    }

    /// Its twelve documents in slot order.
    pub fn documents(self) -> impl Iterator<Item = Document> {
        (0..DOCUMENTS_PER_DOSSIER).map(move |slot| Document { dossier: self, slot })
    }

    /// The document at a slot; `None` from slot 12 on.
    pub fn document(self, slot: u32) -> Option<Document> {
        (slot < DOCUMENTS_PER_DOSSIER).then_some(Document { dossier: self, slot })
    }
}

impl fmt::Display for Dossier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S-{:03}", self.number)
    }
}

/// One of the two versions every document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Active at stage 0.
    First,
    /// The delivery date has changed, and the date that no longer holds is version 1's. Every
    /// other line is that of version 1, byte for byte.
    Second,
}

impl Version {
    /// Both, in order.
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    /// 1 or 2.
    pub fn number(self) -> u32 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }
}

/// One document of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Document {
    dossier: Dossier,
    slot: u32,
}

impl Document {
    /// The dossier it belongs to.
    pub fn dossier(self) -> Dossier {
        self.dossier
    }

    /// Its place in the dossier, 0 to 11.
    pub fn slot(self) -> u32 {
        self.slot
    }

    /// `DOC-00` to `DOC-11`; unique within the dossier.
    pub fn doc_id(self) -> String {
        doc_id(self.slot)
    }

    /// `S-010/DOC-04.txt`: the path below `documents/`, and so the id an import gives it.
    pub fn path(self) -> String {
        format!("{}/{}.txt", self.dossier, self.doc_id())
    }

    /// The exact text of a version: UTF-8, lines ended by LF, about one kilobyte.
    pub fn text(self, version: Version) -> String {
        self.origin().text(version)
    }

    pub(crate) fn facts(self) -> Facts {
        self.origin().facts()
    }

    fn origin(self) -> Origin {
        Origin { series: Series::World, seed: SEED, dossier: self.dossier.number, slot: self.slot }
    }
}

/// The document id of a slot of the world.
pub(crate) fn doc_id(slot: u32) -> String {
    format!("DOC-{slot:02}")
}

/// Keeps the world and the documents of a benchmark apart even under one seed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Series {
    World = 1,
    Scale = 2,
}

/// What fixes a document: everything about it is drawn from these numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) series: Series,
    pub(crate) seed: u64,
    pub(crate) dossier: u32,
    pub(crate) slot: u32,
}

impl Origin {
    pub(crate) fn facts(self) -> Facts {
        // The fact grammar has room for two digits each; larger worlds use products again.
        let product = format!("P-{:02}-{:02}", self.dossier % 100, self.slot % 100);
        Facts::draw(product, &mut self.random(1))
    }

    pub(crate) fn text(self, version: Version) -> String {
        prose::render(&self.facts(), version, self.random(2))
    }

    /// A stream of its own for each purpose, so that another value drawn moves no word.
    fn random(self, purpose: u64) -> Random {
        let place = [self.dossier, self.slot].map(u64::from);
        Random::of(&[self.series as u64, self.seed, place[0], place[1], purpose])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::grammar::{FIELDS, Fact, is_fact_line};

    fn documents() -> impl Iterator<Item = Document> {
        Dossier::all().flat_map(Dossier::documents)
    }

    fn texts() -> impl Iterator<Item = (Document, Version, String)> {
        documents().flat_map(|document| {
            Version::ALL.map(|version| (document, version, document.text(version)))
        })
    }

    #[test]
    fn the_world_is_these_bytes() {
        let mut hasher = Sha256::new();
        for (document, version, text) in texts() {
            hasher.update(document.path());
            hasher.update(version.number().to_le_bytes());
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        }
        let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, "a110d3fd64dc834103d0405ac0aa3843c2e4be9b12088ebe6d5a1e13f9724d75");
    }

    #[test]
    fn there_are_720_different_texts_in_30_dossiers() {
        let distinct: BTreeSet<String> = texts().map(|(_, _, text)| text).collect();
        assert_eq!(distinct.len(), 720);
        assert_eq!(Dossier::of_part(Part::Test).count(), 20);
        assert_eq!(Dossier::of_part(Part::Development).count(), 10);
        let ids: Vec<_> = Dossier::all().map(|dossier| dossier.to_string()).collect();
        assert_eq!(
            [&*ids[0], &*ids[19], &*ids[20], &*ids[29]],
            ["S-010", "S-029", "S-030", "S-039"]
        );
    }

    #[test]
    fn texts_have_the_size_of_a_page() {
        for (document, _, text) in texts() {
            assert!((800..=1_250).contains(&text.len()), "{}: {}", document.path(), text.len());
        }
    }

    #[test]
    fn every_text_states_each_field_once_about_its_own_product() {
        for (document, _, text) in texts() {
            let facts: Vec<_> = text.lines().filter_map(Fact::parse).collect();
            let fields: BTreeSet<_> = facts.iter().map(|fact| fact.field).collect();
            assert_eq!((facts.len(), fields), (4, BTreeSet::from(FIELDS)), "{}", document.path());
            let dossier = &document.dossier().to_string()[3..];
            let product = format!("P-{dossier}-{:02}", document.slot());
            assert!(facts.iter().all(|fact| fact.subject == product), "{}", document.path());
        }
    }

    #[test]
    fn versions_differ_in_the_delivery_line_and_the_outdated_date_alone() {
        for document in documents() {
            let [first, second] = Version::ALL.map(|version| document.text(version));
            assert_eq!(first.lines().count(), second.lines().count());
            let pairs = first.lines().zip(second.lines());
            let (facts, prose): (Vec<_>, Vec<_>) =
                pairs.filter(|(a, b)| a != b).partition(|(a, _)| is_fact_line(a));
            let [(old, new)] = facts[..] else { panic!("{}: {facts:?}", document.path()) };
            let [old, new] = [old, new].map(|line| Fact::parse(line).unwrap());
            assert_eq!([old.field, new.field], ["delivery"; 2]);
            let [(_, outdated)] = prose[..] else { panic!("{}: {prose:?}", document.path()) };
            assert!(outdated.contains(old.value) && !is_fact_line(outdated), "{outdated}");
        }
    }

    #[test]
    fn every_text_negates_an_old_date_outside_its_facts() {
        for (document, version, text) in texts() {
            let outdated = document.facts().outdated(version).to_string();
            let lines: Vec<_> = text.lines().filter(|line| line.contains(&outdated)).collect();
            assert_eq!(lines.len(), 1, "{}: {lines:?}", document.path());
            assert!(!is_fact_line(lines[0]));
        }
    }

    #[test]
    fn every_text_quotes_one_hostile_line_that_is_no_fact() {
        for (document, _, text) in texts() {
            let quoted: Vec<_> = text.lines().filter(|line| line.contains('"')).collect();
            assert_eq!(quoted.len(), 1, "{}", document.path());
            assert!(!is_fact_line(quoted[0]));
        }
    }

    #[test]
    fn facts_stand_in_many_orders_and_places() {
        let layout = |document: Document| -> Vec<(usize, String)> {
            let text = document.text(Version::First);
            let lines = text.lines().enumerate();
            lines.filter_map(|(at, line)| Some((at, Fact::parse(line)?.field.to_owned()))).collect()
        };
        let layouts: BTreeSet<_> = documents().map(layout).collect();
        assert!(layouts.len() > 300, "{}", layouts.len());
    }

    #[test]
    fn ids_are_read_strictly() {
        assert_eq!(
            Dossier::parse("S-037").map(|dossier| dossier.to_string()),
            Some("S-037".into())
        );
        for id in ["S-009", "S-040", "S-37", "s-037", "S-037 ", ""] {
            assert_eq!(Dossier::parse(id), None, "{id:?}");
        }
        let dossier = Dossier::parse("S-010").unwrap();
        assert_eq!(dossier.document(4).map(Document::path), Some("S-010/DOC-04.txt".into()));
        assert_eq!(dossier.document(12), None);
    }
}
