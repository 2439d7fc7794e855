//! What happens to the world: the cumulative stages of the experiment and the exercise on S-037.
//! Which snapshot a stage leaves is a fold of its changes, never a table of its own.

use serde::{Deserialize, Serialize};

use crate::world::{self, Dossier, Part, Version};

/// The name and version of the shape of `events.json`.
pub const SCHEMA: &str = "dossier.world-events/1";

/// The dossier of the exercise.
pub const EXERCISE_DOSSIER: &str = "S-037";

/// A stage of the experiment. Each includes the changes of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// 0: every document at version 1.
    Initial,
    /// 1: slot 0 at version 2; its delivery date has changed.
    DateChanged,
    /// 2: slot 4 withdrawn.
    Withdrawn,
    /// 3: slot 8 revoked: not eligible, access revision 2.
    Revoked,
}

impl Stage {
    /// All, in order.
    pub const ALL: [Self; 4] = [Self::Initial, Self::DateChanged, Self::Withdrawn, Self::Revoked];

    /// 0 to 3.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The name in `events.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::DateChanged => "date_changed",
            Self::Withdrawn => "withdrawn",
            Self::Revoked => "revoked",
        }
    }

    /// What this stage adds to the one before.
    pub fn change(self) -> Option<Change> {
        match self {
            Self::Initial => None,
            Self::DateChanged => Some(Change::new_version(0)),
            Self::Withdrawn => Some(Change { slot: 4, effect: Effect::Withdraw }),
            Self::Revoked => {
                let effect = Effect::Revoke { eligible: false, access_revision: 2 };
                Some(Change { slot: 8, effect })
            }
        }
    }

    /// The document of a slot after this stage.
    pub fn state(self, slot: u32) -> DocumentState {
        let reached = Self::ALL.into_iter().filter(|stage| *stage <= self);
        let changes = reached.filter_map(Self::change).filter(|change| change.slot == slot);
        changes.fold(DocumentState::initial(), |state, change| state.after(change.effect))
    }
}

/// The one change of the exercise: slot 11 of [`EXERCISE_DOSSIER`] moves to version 2.
pub fn exercise() -> Change {
    Change::new_version(11)
}

/// One thing that happens to the document of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The slot it happens to.
    pub slot: u32,
    /// What happens.
    pub effect: Effect,
}

impl Change {
    fn new_version(slot: u32) -> Self {
        Self { slot, effect: Effect::NewVersion { version: Version::Second.number() } }
    }
}

/// What can happen to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Effect {
    /// This version becomes the active one.
    NewVersion {
        /// Counted from 1.
        version: u32,
    },
    /// The document is no longer active.
    Withdraw,
    /// The reading principal loses the document.
    Revoke {
        /// What eligibility becomes.
        eligible: bool,
        /// What the access revision becomes.
        access_revision: u32,
    },
}

/// A document as one principal has it after some stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentState {
    /// The active version, counted from 1.
    pub version: u32,
    /// Not withdrawn.
    pub active: bool,
    /// Not revoked.
    pub eligible: bool,
    /// Counted from 1.
    pub access_revision: u32,
}

impl DocumentState {
    fn initial() -> Self {
        let version = Version::First.number();
        Self { version, active: true, eligible: true, access_revision: 1 }
    }

    fn after(self, effect: Effect) -> Self {
        match effect {
            Effect::NewVersion { version } => Self { version, ..self },
            Effect::Withdraw => Self { active: false, ..self },
            Effect::Revoke { eligible, access_revision } => {
                Self { eligible, access_revision, ..self }
            }
        }
    }

    /// May its text be used: active and eligible.
    pub fn is_usable(self) -> bool {
        self.active && self.eligible
    }
}

/// The content of `events.json`. It describes the whole world, whichever dossiers were written:
/// the stages happen to every test dossier, the development dossiers stay at stage 0.
///
/// ```json
/// {
///   "schema": "dossier.world-events/1",
///   "test": ["S-010", "…", "S-029"],
///   "development": ["S-030", "…", "S-039"],
///   "stages": [
///     {"stage": 0, "name": "initial", "change": null},
///     {"stage": 1, "name": "date_changed",
///      "change": {"slot": 0, "doc_id": "DOC-00", "kind": "new_version", "version": 2}},
///     {"stage": 2, "name": "withdrawn",
///      "change": {"slot": 4, "doc_id": "DOC-04", "kind": "withdraw"}},
///     {"stage": 3, "name": "revoked",
///      "change": {"slot": 8, "doc_id": "DOC-08", "kind": "revoke",
///                 "eligible": false, "access_revision": 2}}
///   ],
///   "exercise": {"dossier": "S-037",
///     "change": {"slot": 11, "doc_id": "DOC-11", "kind": "new_version", "version": 2}}
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// [`SCHEMA`].
    pub schema: String,
    /// The ids of the test dossiers.
    pub test: Vec<String>,
    /// The ids of the development dossiers.
    pub development: Vec<String>,
    /// The stages in order, cumulative.
    pub stages: Vec<StageRecord>,
    /// The exercise, apart from the stages.
    pub exercise: ExerciseRecord,
}

/// A stage in `events.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageRecord {
    /// 0 to 3.
    pub stage: u32,
    /// Its name.
    pub name: String,
    /// What it adds; null for the first.
    pub change: Option<ChangeRecord>,
}

/// The exercise in `events.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExerciseRecord {
    /// The dossier it is done on.
    pub dossier: String,
    /// Its one change.
    pub change: ChangeRecord,
}

/// A change in `events.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRecord {
    /// The slot it happens to.
    pub slot: u32,
    /// The document of that slot.
    pub doc_id: String,
    /// What happens, its fields beside the others.
    #[serde(flatten)]
    pub effect: Effect,
}

impl Events {
    /// The events of the published world.
    pub fn published() -> Self {
        let ids = |part| Dossier::of_part(part).map(|dossier| dossier.to_string()).collect();
        Self {
            schema: SCHEMA.to_owned(),
            test: ids(Part::Test),
            development: ids(Part::Development),
            stages: Stage::ALL.map(StageRecord::from).to_vec(),
            exercise: ExerciseRecord {
                dossier: EXERCISE_DOSSIER.to_owned(),
                change: exercise().into(),
            },
        }
    }
}

impl From<Stage> for StageRecord {
    fn from(stage: Stage) -> Self {
        Self {
            stage: stage.number(),
            name: stage.name().to_owned(),
            change: stage.change().map(ChangeRecord::from),
        }
    }
}

impl From<Change> for ChangeRecord {
    fn from(change: Change) -> Self {
        Self { slot: change.slot, doc_id: world::doc_id(change.slot), effect: change.effect }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::DOCUMENTS_PER_DOSSIER;

    #[test]
    fn stages_are_cumulative() {
        let usable = |stage: Stage| {
            (0..DOCUMENTS_PER_DOSSIER).filter(|slot| stage.state(*slot).is_usable()).count()
        };
        assert_eq!(Stage::ALL.map(usable), [12, 12, 11, 10]);
        assert_eq!(Stage::ALL.map(|stage| stage.state(0).version), [1, 2, 2, 2]);
        assert_eq!(Stage::ALL.map(|stage| stage.state(4).active), [true, true, false, false]);
        assert_eq!(Stage::ALL.map(|stage| stage.state(8).access_revision), [1, 1, 1, 2]);
        assert_eq!(Stage::Revoked.state(1), DocumentState::initial());
    }

    #[test]
    fn the_file_has_the_documented_shape_and_reads_back() {
        let events = Events::published();
        let json = serde_json::to_value(&events).unwrap();
        assert_eq!(
            json["stages"],
            serde_json::json!([
                {"stage": 0, "name": "initial", "change": null},
                {"stage": 1, "name": "date_changed",
                 "change": {"slot": 0, "doc_id": "DOC-00", "kind": "new_version", "version": 2}},
                {"stage": 2, "name": "withdrawn",
                 "change": {"slot": 4, "doc_id": "DOC-04", "kind": "withdraw"}},
                {"stage": 3, "name": "revoked",
                 "change": {"slot": 8, "doc_id": "DOC-08", "kind": "revoke",
                            "eligible": false, "access_revision": 2}}
            ])
        );
        assert_eq!(
            json["exercise"],
            serde_json::json!({"dossier": "S-037", "change":
                {"slot": 11, "doc_id": "DOC-11", "kind": "new_version", "version": 2}})
        );
        assert_eq!((events.test.len(), events.development.len()), (20, 10));
        assert_eq!(serde_json::from_value::<Events>(json).unwrap(), events);
    }

    #[test]
    fn the_exercise_is_done_on_a_development_dossier() {
        let dossier = Dossier::parse(EXERCISE_DOSSIER).unwrap();
        assert_eq!(dossier.part(), Part::Development);
        assert!(dossier.document(exercise().slot).is_some());
    }
}
