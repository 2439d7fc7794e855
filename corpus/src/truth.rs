//! The labels: what every version of every document truly states, taken from what was drawn and
//! never from the text. For audits alone; whoever writes them marks the folder with `GOLD`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::events::Stage;
use crate::files::{FilesError, Planned, Written, write_all};
use crate::marker::{MARKER, resolved};
use crate::world::{Document, Dossier, Version};

/// The name and version of the shape of a label file.
pub const SCHEMA: &str = "dossier.gold/1";

const MARKER_TEXT: &str = "Labels of the controlled world. For audits alone.\n";

/// One true statement of one version of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Label {
    /// The document as an import names it: `S-010/DOC-04.txt`.
    pub document: String,
    /// 1 or 2.
    pub version: u32,
    /// The product, `P-10-04`.
    pub subject: String,
    /// One of [`crate::grammar::FIELDS`].
    pub field: String,
    /// The value without the full stop of its line.
    pub value: String,
}

/// The labels of one dossier; the content of `labels/<dossier>.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gold {
    /// [`SCHEMA`].
    pub schema: String,
    /// `S-010` to `S-039`.
    pub dossier: String,
    /// By slot, version, and field in the order of [`crate::grammar::FIELDS`]: 96 of them.
    pub labels: Vec<Label>,
}

impl Gold {
    /// All labels of a dossier, both versions of each document.
    pub fn of(dossier: Dossier) -> Self {
        let versions = dossier.documents().flat_map(|document| {
            Version::ALL.into_iter().flat_map(move |version| labels(document, version))
        });
        Self { schema: SCHEMA.to_owned(), dossier: dossier.to_string(), labels: versions.collect() }
    }
}

/// What is true at a stage: the labels of the active version of every active, eligible document.
pub fn labels_at(dossier: Dossier, stage: Stage) -> Vec<Label> {
    let documents = dossier.documents().map(|document| (document, stage.state(document.slot())));
    let usable = documents.filter(|(_, state)| state.is_usable());
    usable
        .flat_map(|(document, state)| {
            let current = Version::ALL.into_iter().filter(move |v| v.number() == state.version);
            current.flat_map(move |version| labels(document, version))
        })
        .collect()
}

fn labels(document: Document, version: Version) -> [Label; 4] {
    let facts = document.facts();
    facts.values(version).map(|(field, value)| Label {
        document: document.path(),
        version: version.number(),
        subject: facts.product.clone(),
        field: field.to_owned(),
        value,
    })
}

/// Why labels were not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteGoldError {
    /// Labels and world would lie one within the other; nothing was written.
    #[error("writing labels to {}: not apart from the world at {}", .directory.display(), .world.display())]
    NotApart {
        /// The folder asked for.
        directory: PathBuf,
        /// The world's folder.
        world: PathBuf,
    },
    /// A file is in the way, or the file system refused.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// Writes `GOLD` and `labels/<dossier>.json` below `directory`. `world` is where the documents lie
/// or will lie; neither folder may be within the other. Writing again changes nothing.
pub fn write_gold(
    directory: &Path,
    world: &Path,
    dossiers: &[Dossier],
) -> Result<Written, WriteGoldError> {
    let [real_directory, real_world] = [directory, world].map(resolved);
    if real_directory.starts_with(&real_world) || real_world.starts_with(&real_directory) {
        let [directory, world] = [directory, world].map(Path::to_path_buf);
        return Err(WriteGoldError::NotApart { directory, world });
    }
    // The marker is first, so that no label ever lies in an unmarked folder.
    let mut files = vec![Planned::text(directory.join(MARKER), MARKER_TEXT.to_owned())];
    for dossier in dossiers {
        files.push(Planned::json(label_file(directory, *dossier), &Gold::of(*dossier))?);
    }
    Ok(write_all(&files)?)
}

/// Why labels could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadGoldError {
    /// The file system refused; a file not found is a dossier without labels.
    #[error("reading labels: cannot read {}", .path.display())]
    Io {
        /// The label file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The file is not the JSON of labels.
    #[error("reading labels: {} is malformed", .path.display())]
    Malformed {
        /// The label file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// The file is of another shape, or of another dossier.
    #[error("reading labels: {} holds {schema} of {dossier}", .path.display())]
    Unexpected {
        /// The label file.
        path: PathBuf,
        /// The schema it states.
        schema: String,
        /// The dossier it states.
        dossier: String,
    },
}

/// Reads the labels of a dossier from a folder that [`write_gold`] wrote.
pub fn read_gold(directory: &Path, dossier: Dossier) -> Result<Gold, ReadGoldError> {
    let path = label_file(directory, dossier);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(source) => return Err(ReadGoldError::Io { path, source }),
    };
    match serde_json::from_slice::<Gold>(&bytes) {
        Ok(gold) if gold.schema == SCHEMA && gold.dossier == dossier.to_string() => Ok(gold),
        Ok(Gold { schema, dossier, .. }) => {
            Err(ReadGoldError::Unexpected { path, schema, dossier })
        }
        Err(source) => Err(ReadGoldError::Malformed { path, source }),
    }
}

fn label_file(directory: &Path, dossier: Dossier) -> PathBuf {
    directory.join("labels").join(format!("{dossier}.json"))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::events::exercise;
    use crate::grammar::Fact;
    use crate::marker::find_marker;
    use crate::world::Part;
    use crate::write::write_world;

    fn dossier() -> Dossier {
        Dossier::parse("S-010").unwrap()
    }

    fn read_from_text(document: Document, version: Version) -> BTreeSet<Label> {
        let text = document.text(version);
        let facts = text.lines().filter_map(Fact::parse);
        facts
            .map(|fact| Label {
                document: document.path(),
                version: version.number(),
                subject: fact.subject.to_owned(),
                field: fact.field.to_owned(),
                value: fact.value.to_owned(),
            })
            .collect()
    }

    #[test]
    fn truth_is_what_the_fact_lines_of_every_text_state() {
        let mut count = 0;
        for document in Dossier::all().flat_map(Dossier::documents) {
            for version in Version::ALL {
                let truth = BTreeSet::from(labels(document, version));
                assert_eq!(truth, read_from_text(document, version));
                count += truth.len();
            }
        }
        assert_eq!(count, 2_880);
    }

    #[test]
    fn a_new_version_changes_the_delivery_and_nothing_else() {
        for document in Dossier::all().flat_map(Dossier::documents) {
            let [first, second] = Version::ALL.map(|version| labels(document, version));
            for (old, new) in first.iter().zip(&second) {
                assert_eq!((&old.subject, &old.field), (&new.subject, &new.field));
                assert_eq!(old.value == new.value, old.field != "delivery", "{old:?}");
            }
        }
    }

    #[test]
    fn stages_hold_as_many_labels_as_the_experiment_counts() {
        let count = |part, stage| -> usize {
            Dossier::of_part(part).map(|dossier| labels_at(dossier, stage).len()).sum()
        };
        assert_eq!(count(Part::Development, Stage::Initial), 480);
        assert_eq!(Stage::ALL.map(|stage| count(Part::Test, stage)), [960, 960, 880, 800]);
    }

    #[test]
    fn a_stage_holds_the_active_version_alone() {
        let deliveries = |stage| {
            let labels = labels_at(dossier(), stage);
            let slot_0 = labels.into_iter().filter(|label| label.subject == "P-10-00");
            slot_0.map(|label| label.version).collect::<BTreeSet<_>>()
        };
        assert_eq!(deliveries(Stage::Initial), BTreeSet::from([1]));
        assert_eq!(deliveries(Stage::DateChanged), BTreeSet::from([2]));
    }

    #[test]
    fn values_are_spread_over_the_world() {
        let truth = Dossier::all().flat_map(|dossier| labels_at(dossier, Stage::Initial));
        let mut counts = BTreeMap::<_, u32>::new();
        for label in truth.filter(|label| ["status", "site"].contains(&&*label.field)) {
            *counts.entry((label.field, label.value)).or_default() += 1;
        }
        for ((field, value), count) in &counts {
            // 360 documents: 45 for each of 8 statuses, 15 for each of 24 sites.
            let usual = if field == "status" { 28..=66 } else { 4..=30 };
            assert!(usual.contains(count), "{field} {value}: {count}");
        }
        assert_eq!(counts.len(), 8 + 24);
    }

    #[test]
    fn the_exercise_changes_a_date() {
        let exercised = Dossier::parse(crate::events::EXERCISE_DOSSIER).unwrap();
        let document = exercised.document(exercise().slot).unwrap();
        let [first, second] = Version::ALL.map(|version| labels(document, version)[0].clone());
        assert_eq!([&*first.field, &*second.field], ["delivery"; 2]);
        assert_ne!(first.value, second.value);
    }

    #[test]
    fn labels_are_marked_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let [gold, world] = ["gold", "world"].map(|name| folder.path().join(name));
        write_world(&world, &[dossier()]).unwrap();
        let written = write_gold(&gold, &world, &[dossier()]).unwrap();
        assert_eq!(written, Written { created: 2, unchanged: 0 });
        assert_eq!(write_gold(&gold, &world, &[dossier()]).unwrap().unchanged, 2);
        assert!(find_marker(&gold.join("labels")).is_some());
        assert_eq!(find_marker(&world), None);
        assert_eq!(read_gold(&gold, dossier()).unwrap(), Gold::of(dossier()));
        assert_eq!(Gold::of(dossier()).labels.len(), 96);
    }

    #[test]
    fn labels_and_world_lie_apart() {
        let folder = tempfile::tempdir().unwrap();
        let world = folder.path().join("world");
        for gold in [world.clone(), world.join("gold"), folder.path().to_path_buf()] {
            let refused = write_gold(&gold, &world, &[dossier()]);
            assert!(matches!(refused, Err(WriteGoldError::NotApart { .. })), "{refused:?}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn labels_of_another_dossier_or_shape_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let read = || read_gold(folder.path(), dossier());
        assert!(matches!(read(), Err(ReadGoldError::Io { .. })));
        let file = label_file(folder.path(), dossier());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{").unwrap();
        assert!(matches!(read(), Err(ReadGoldError::Malformed { .. })));
        let other = Gold::of(Dossier::parse("S-011").unwrap());
        fs::write(&file, serde_json::to_vec(&other).unwrap()).unwrap();
        assert!(matches!(read(), Err(ReadGoldError::Unexpected { .. })));
    }
}
