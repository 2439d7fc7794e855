//! What can happen to a dossier, as journal records. Everything the program knows of documents and
//! rights is a fold of these events; nothing is ever taken back, only followed by another event.

use bincode::{Decode, Encode};
use dossier_store::hash::{BlobId, DerivationId};
use dossier_store::journal::Record;

/// The journal kind of an event.
pub const EVENT: &str = "event";
/// The journal kind of a publication.
pub const PUBLICATION: &str = "publication";

/// Who caused a document to be withdrawn or restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Author {
    /// Import, mirroring the folder. Import restores only what import withdrew.
    Import,
    /// A person, by name of the document.
    User,
}

/// One event of one dossier; the dossier is the record's topic.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Event {
    /// The dossier mirrors this folder from now on (absolute path).
    Bound {
        /// The absolute path, as UTF-8 with other bytes percent-encoded.
        folder: String,
    },
    /// A document has a further version; nothing shows it until it is activated.
    VersionAdded {
        /// The document's id.
        document: String,
        /// Counted from 1, without gaps.
        version: u32,
        /// SHA-256 of the text.
        text_sha256: [u8; 32],
        /// The stored text.
        blob: [u8; 32],
        /// Bytes of the text.
        length: u64,
        /// What was converted to give this text, if anything was.
        original: Option<Original>,
    },
    /// This version is the document's current one; the first activation takes the next free slot.
    Activated {
        /// The document's id.
        document: String,
        /// The version that is current from now on.
        version: u32,
        /// The file's path below the bound folder.
        path: String,
    },
    /// The file moved; the document keeps its id and slot.
    Moved {
        /// The document's id.
        document: String,
        /// The file's path below the bound folder.
        path: String,
    },
    /// The document takes no part until it is restored.
    Withdrawn {
        /// The document's id.
        document: String,
        /// Who withdrew it.
        by: Author,
    },
    /// The document takes part again.
    Restored {
        /// The document's id.
        document: String,
        /// Who restored it.
        by: Author,
    },
    /// The principal may not see the document.
    Revoked {
        /// The document's id.
        document: String,
        /// Who may not see it.
        principal: String,
    },
    /// The principal may see the document again.
    Granted {
        /// The document's id.
        document: String,
        /// Who may see it.
        principal: String,
    },
}

/// The bytes a converter turned into a version's text.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Original {
    /// SHA-256 of the original file.
    pub sha256: [u8; 32],
    /// The stored original.
    pub blob: [u8; 32],
    /// The command that converted it.
    pub command: Vec<String>,
    /// The first line the converter printed of its own version.
    pub converter_version: String,
}

/// The statement that a root was the dossier's summary at this point of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Publication {
    /// For whom it was built.
    pub principal: String,
    /// The last event of the dossier that the build saw.
    pub event: u64,
    /// The root's derivation.
    pub root: [u8; 32],
    /// The root's output.
    pub output: [u8; 32],
    /// The journal sequence of the publication before, for the same dossier and principal.
    pub previous: Option<u64>,
}

impl Publication {
    /// The root's derivation.
    pub fn root(&self) -> DerivationId {
        DerivationId(self.root)
    }

    /// The root's output.
    pub fn output(&self) -> BlobId {
        BlobId(self.output)
    }
}

/// A journal record that this program cannot read.
#[derive(Debug, thiserror::Error)]
#[error("journal record {sequence} of dossier {dossier} is no {kind} this program can read")]
pub struct RecordError {
    /// The record's place in the journal.
    pub sequence: u64,
    /// The dossier it belongs to.
    pub dossier: String,
    /// What it was read as.
    pub kind: &'static str,
    /// Why the payload could not be read.
    #[source]
    pub source: dossier_store::codec::CodecError,
}

impl Event {
    /// The payload of the journal record.
    pub fn encode(&self) -> Vec<u8> {
        dossier_store::codec::encode(self)
    }

    /// Reads the payload of a journal record.
    pub fn decode(record: &Record) -> Result<Self, RecordError> {
        payload(record, EVENT)
    }

    /// The document the event is about; `None` for an event of the dossier itself.
    pub fn document(&self) -> Option<&str> {
        match self {
            Self::Bound { .. } => None,
            Self::VersionAdded { document, .. }
            | Self::Activated { document, .. }
            | Self::Moved { document, .. }
            | Self::Withdrawn { document, .. }
            | Self::Restored { document, .. }
            | Self::Revoked { document, .. }
            | Self::Granted { document, .. } => Some(document),
        }
    }

    /// The event in one word, as it is printed.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Bound { .. } => "bound",
            Self::VersionAdded { .. } => "version-added",
            Self::Activated { .. } => "activated",
            Self::Moved { .. } => "moved",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Restored { .. } => "restored",
            Self::Revoked { .. } => "revoked",
            Self::Granted { .. } => "granted",
        }
    }
}

impl Publication {
    /// The payload of the journal record.
    pub fn encode(&self) -> Vec<u8> {
        dossier_store::codec::encode(self)
    }

    /// Reads the payload of a journal record.
    pub fn decode(record: &Record) -> Result<Self, RecordError> {
        payload(record, PUBLICATION)
    }
}

fn payload<T: Encode + Decode<()>>(record: &Record, kind: &'static str) -> Result<T, RecordError> {
    dossier_store::codec::decode(&record.body).map_err(|source| RecordError {
        sequence: record.sequence,
        dossier: record.topic.clone(),
        kind,
        source,
    })
}
