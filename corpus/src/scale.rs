//! Documents like those of the world, in any number, for benches and for tests that kill the
//! program. Any one of them can be had without those before it.

use crate::world::{Origin, Series, Version};

/// How many documents, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Another seed gives other documents.
    pub seed: u64,
    /// How many dossiers.
    pub dossiers: u32,
    /// How many documents in each.
    pub documents: u32,
}

/// One document of a [`Scale`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleDocument {
    /// `B-000000` and up; sorts by number up to a million.
    pub dossier: String,
    /// `DOC-000000` and up, within its dossier.
    pub doc_id: String,
    /// UTF-8, lines ended by LF, about one kilobyte, four fact lines. Product numbers repeat after
    /// 100 dossiers and after 100 documents, as the fact grammar has two digits for each.
    pub text: String,
}

impl Scale {
    /// Version 1 of every document, dossier by dossier, made as they are asked for.
    pub fn documents(self) -> impl Iterator<Item = ScaleDocument> {
        let slots = move |dossier| (0..self.documents).map(move |slot| (dossier, slot));
        let places = (0..self.dossiers).flat_map(slots);
        places.map(move |(dossier, slot)| self.document(dossier, slot, Version::First))
    }

    /// One document in one version. It depends on the seed and its place, not on how many there
    /// are, so a larger scale begins with the documents of a smaller one.
    pub fn document(self, dossier: u32, slot: u32, version: Version) -> ScaleDocument {
        let origin = Origin { series: Series::Scale, seed: self.seed, dossier, slot };
        ScaleDocument {
            dossier: format!("B-{dossier:06}"),
            doc_id: format!("DOC-{slot:06}"),
            text: origin.text(version),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::grammar::is_fact_line;

    fn fact_lines(text: &str) -> Vec<&str> {
        text.lines().filter(|line| is_fact_line(line)).collect()
    }

    #[test]
    fn the_same_scale_gives_the_same_documents() {
        let scale = Scale { seed: 7, dossiers: 3, documents: 5 };
        let documents: Vec<_> = scale.documents().collect();
        assert_eq!(documents, scale.documents().collect::<Vec<_>>());
        assert_eq!(documents.len(), 15);
        let other: Vec<_> = Scale { seed: 8, ..scale }.documents().collect();
        assert!(documents.iter().zip(&other).all(|(a, b)| a.text != b.text));
    }

    #[test]
    fn a_larger_scale_holds_the_smaller_one() {
        let small = Scale { seed: 7, dossiers: 2, documents: 3 };
        let large: Vec<_> = Scale { dossiers: 4, documents: 9, ..small }.documents().collect();
        assert!(small.documents().all(|document| large.contains(&document)));
    }

    #[test]
    fn numbers_beyond_99_keep_the_fact_grammar() {
        let scale = Scale { seed: 1, dossiers: 150, documents: 120 };
        let document = scale.document(149, 119, Version::First);
        assert_eq!((&*document.dossier, &*document.doc_id), ("B-000149", "DOC-000119"));
        let lines = fact_lines(&document.text);
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.starts_with("Product P-49-19 ")), "{lines:?}");
    }

    #[test]
    fn ids_are_unique_and_sort_in_their_order() {
        let scale = Scale { seed: 1, dossiers: 101, documents: 101 };
        let ids: Vec<_> = scale.documents().map(|d| (d.dossier, d.doc_id)).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 101 * 101);
    }

    #[test]
    fn a_second_version_changes_one_fact() {
        let scale = Scale { seed: 1, dossiers: 1, documents: 1 };
        let [first, second] = Version::ALL.map(|version| scale.document(0, 0, version).text);
        let pairs = fact_lines(&first).into_iter().zip(fact_lines(&second));
        let changed: Vec<_> = pairs.filter(|(a, b)| a != b).collect();
        assert_eq!(changed.len(), 1);
        assert!(changed[0].0.contains(" delivery: "));
    }

    #[test]
    fn the_series_of_world_and_scale_share_no_text() {
        let world = crate::world::Dossier::parse("S-010").unwrap().document(0).unwrap();
        let origin = |series| Origin { series, seed: 1, dossier: 10, slot: 0 };
        assert_ne!(
            origin(Series::World).text(Version::First),
            origin(Series::Scale).text(Version::First)
        );
        let scale = Scale { seed: 1, dossiers: 11, documents: 1 };
        assert!(scale.documents().all(|document| document.text != world.text(Version::First)));
    }
}
