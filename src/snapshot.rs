//! A dossier as it stands: the fold of its events. A snapshot for one principal says which version
//! of each document is active, whether it is eligible, and at which access revision.

use std::collections::{BTreeMap, BTreeSet};

use dossier_store::hash::{BlobId, RecordId, Sha256};
use dossier_store::journal::Record;
use dossier_store::read::{Lookup, ReadError};

use crate::document::DocumentId;
use crate::event::{Author, EVENT, Event, Original, PUBLICATION, Publication, RecordError};

/// The point of the journal that an answer speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsOf {
    /// The last event of the dossier.
    pub event: u64,
    /// The journal's head.
    pub head: RecordId,
}

/// One stored version of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// SHA-256 of the text.
    pub text_sha256: Sha256,
    /// The stored text.
    pub blob: BlobId,
    /// Bytes of the text.
    pub length: u64,
    /// What the text was converted from.
    pub original: Option<Original>,
}

impl Version {
    /// The hash of the file as it lies in the folder: the original's, where there was one.
    pub fn file_sha256(&self) -> Sha256 {
        self.original.as_ref().map_or(self.text_sha256, |original| Sha256(original.sha256))
    }
}

/// A document and everything that ever was said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// Its file's path below the bound folder.
    pub path: String,
    /// Every version; version `n` is at `n - 1`.
    pub versions: Vec<Version>,
    /// The current version, from 1; 0 before the first activation.
    pub current: u32,
    /// Who withdrew it, while it is withdrawn.
    pub withdrawn: Option<Author>,
    /// The principals who may not see it.
    pub revoked: BTreeSet<String>,
    /// How often a principal's access changed, from 1; principals not named stand at 1.
    pub access_revisions: BTreeMap<String, u64>,
}

impl Document {
    /// The current version.
    pub fn version(&self) -> Option<&Version> {
        self.versions.get((self.current as usize).checked_sub(1)?)
    }

    /// Whether it takes part.
    pub fn active(&self) -> bool {
        self.withdrawn.is_none()
    }

    /// Whether this principal may see it.
    pub fn eligible(&self, principal: &str) -> bool {
        !self.revoked.contains(principal)
    }

    /// Whether its text may reach this principal now.
    pub fn readable(&self, principal: &str) -> bool {
        self.active() && self.eligible(principal)
    }

    /// How often this principal's access changed, from 1.
    pub fn access_revision(&self, principal: &str) -> u64 {
        self.access_revisions.get(principal).copied().unwrap_or(1)
    }

    fn bump_access(&mut self, principal: String) {
        *self.access_revisions.entry(principal).or_insert(1) += 1;
    }
}

/// A dossier as its events left it. Documents stand in slot order: a slot is the position, it is
/// taken once, and a withdrawn document keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dossier {
    /// Its name.
    pub name: String,
    /// The folder it mirrors; none for a dossier made from events alone.
    pub folder: Option<String>,
    /// Its documents in slot order.
    pub documents: Vec<Document>,
    /// The point of the journal it was read at.
    pub as_of: AsOf,
    /// Its publications, each with its journal sequence, oldest first.
    pub publications: Vec<(u64, Publication)>,
    /// Versions stored for documents that no activation has shown yet.
    unseen: BTreeMap<String, Vec<Version>>,
    /// Where each document stands, by id.
    slots: BTreeMap<String, usize>,
}

/// Why a dossier could not be read from the journal.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] ReadError),
    /// A record could not be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A record contradicts those before it.
    #[error("journal record {sequence} of dossier {dossier} {contradiction}")]
    Contradiction {
        /// The record's place in the journal.
        sequence: u64,
        /// The dossier it belongs to.
        dossier: String,
        /// What is wrong with it.
        contradiction: &'static str,
    },
}

impl Dossier {
    /// A dossier of which nothing is known yet.
    pub fn empty(name: &str, head: RecordId) -> Self {
        Self {
            name: name.to_owned(),
            folder: None,
            documents: Vec::new(),
            as_of: AsOf { event: 0, head },
            publications: Vec::new(),
            unseen: BTreeMap::new(),
            slots: BTreeMap::new(),
        }
    }

    /// Reads a dossier as the journal has it now; a name without records gives an empty dossier.
    pub fn read(store: &impl Lookup, name: &str) -> Result<Self, SnapshotError> {
        Self::read_until(store, name, u64::MAX)
    }

    /// Reads a dossier as it stood when the journal's last record was `sequence`.
    pub fn read_until(
        store: &impl Lookup,
        name: &str,
        sequence: u64,
    ) -> Result<Self, SnapshotError> {
        let mut dossier = Self::empty(name, store.head()?.id);
        for record in store.records(name)? {
            if record.sequence > sequence {
                break;
            }
            match record.kind.as_str() {
                EVENT => dossier.follow(&record)?,
                PUBLICATION => {
                    dossier.publications.push((record.sequence, Publication::decode(&record)?));
                }
                _ => {}
            }
        }
        Ok(dossier)
    }

    /// The last publication for a principal, with its journal sequence.
    pub fn last_publication(&self, principal: &str) -> Option<&(u64, Publication)> {
        self.publications.iter().rev().find(|(_, publication)| publication.principal == principal)
    }

    /// Whether the journal knows this dossier.
    pub fn is_known(&self) -> bool {
        self.as_of.event > 0
    }

    /// The document with this id.
    pub fn document(&self, id: &str) -> Option<&Document> {
        self.slots.get(id).map(|&slot| &self.documents[slot])
    }

    /// The slot of the document with this id.
    pub fn slot(&self, id: &str) -> Option<usize> {
        self.slots.get(id).copied()
    }

    fn follow(&mut self, record: &Record) -> Result<(), SnapshotError> {
        self.apply(Event::decode(record)?).map_err(|contradiction| {
            SnapshotError::Contradiction {
                sequence: record.sequence,
                dossier: record.topic.clone(),
                contradiction,
            }
        })?;
        self.as_of.event = record.sequence;
        Ok(())
    }

    /// Applies one event; the error says in words what the event contradicts.
    pub fn apply(&mut self, event: Event) -> Result<(), &'static str> {
        match event {
            Event::Bound { folder } => self.folder = Some(folder),
            Event::VersionAdded { document, version, text_sha256, blob, length, original } => {
                let version_record = Version {
                    text_sha256: Sha256(text_sha256),
                    blob: BlobId(blob),
                    length,
                    original,
                };
                self.add_version(document, version, version_record)?;
            }
            Event::Activated { document, version, path } => {
                self.activate(document, version, path)?;
            }
            Event::Moved { document, path } => self.known(&document)?.path = path,
            Event::Withdrawn { document, by } => self.known(&document)?.withdrawn = Some(by),
            Event::Restored { document, by: _ } => self.known(&document)?.withdrawn = None,
            Event::Revoked { document, principal } => {
                let document = self.known(&document)?;
                document.revoked.insert(principal.clone());
                document.bump_access(principal);
            }
            Event::Granted { document, principal } => {
                let document = self.known(&document)?;
                document.revoked.remove(&principal);
                document.bump_access(principal);
            }
        }
        Ok(())
    }

    fn add_version(
        &mut self,
        document: String,
        number: u32,
        version: Version,
    ) -> Result<(), &'static str> {
        let versions = match self.slots.get(&document) {
            Some(&slot) => &mut self.documents[slot].versions,
            None => self.unseen.entry(document).or_default(),
        };
        if versions.len() + 1 != number as usize {
            return Err("adds a version out of turn");
        }
        versions.push(version);
        Ok(())
    }

    fn activate(
        &mut self,
        document: String,
        version: u32,
        path: String,
    ) -> Result<(), &'static str> {
        if !self.slots.contains_key(&document) {
            let versions = self.unseen.remove(&document).ok_or("activates an unknown document")?;
            let id = DocumentId::given(&document).map_err(|_| "names an impossible document id")?;
            self.slots.insert(document.clone(), self.documents.len());
            self.documents.push(Document {
                id,
                path: String::new(),
                versions,
                current: 0,
                withdrawn: None,
                revoked: BTreeSet::new(),
                access_revisions: BTreeMap::new(),
            });
        }
        let document = self.known(&document)?;
        if version == 0 || version as usize > document.versions.len() {
            return Err("activates a version that was never added");
        }
        document.current = version;
        document.path = path;
        Ok(())
    }

    fn known(&mut self, document: &str) -> Result<&mut Document, &'static str> {
        let slot = *self.slots.get(document).ok_or("speaks of an unknown document")?;
        Ok(&mut self.documents[slot])
    }
}
