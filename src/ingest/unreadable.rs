//! Files that are there but cannot be documents: why, in one word and in a sentence, and what a
//! person can do about it.

use std::fmt;
use std::io;

use super::convert::ConverterFault;
use crate::document::Unreadable;

/// A file, or a folder, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableFile {
    /// Its path below the scanned folder, as [`super::encode_path`] writes it.
    pub path: String,
    /// Why.
    pub reason: Reason,
}

/// Why a file or folder could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its bytes are no text.
    Text(Unreadable),
    /// It has more bytes than the settings allow.
    TooLarge {
        /// How many they allow.
        limit: u64,
    },
    /// It is a FIFO, a socket or a device.
    Special,
    /// The user may not read it.
    Denied,
    /// The system could not read it.
    Io {
        /// What the system said.
        error: String,
    },
    /// The converter gave no text.
    Converter {
        /// The program.
        program: String,
        /// What went wrong.
        fault: ConverterFault,
    },
    /// What the converter gave is no text.
    ConverterText {
        /// The program.
        program: String,
        /// What it gave instead.
        fault: Unreadable,
    },
}

impl Reason {
    pub(super) fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Io { error: error.to_string() },
        }
    }

    /// The reason in one word, the same for ever.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(unreadable) => unreadable.kind(),
            Self::TooLarge { .. } => "too_large",
            Self::Special => "special_file",
            Self::Denied => "permission_denied",
            Self::Io { .. } => "io",
            Self::Converter { .. } => "converter_failed",
            Self::ConverterText { .. } => "converter_output",
        }
    }

    /// What would make the file readable, or keep it out of the report.
    pub fn remedy(&self) -> String {
        match self {
            Self::Text(unreadable) => unreadable.remedy().to_owned(),
            Self::TooLarge { .. } => "raise import.max_bytes, split the file, or ignore it".into(),
            Self::Special => "put a plain file in its place, or ignore it".into(),
            Self::Denied => "give yourself permission to read it, or ignore it".into(),
            Self::Io { .. } => "check the disk or the network share, then import again".into(),
            Self::Converter { program, .. } => {
                format!("try the file with {program:?} by hand, or change [convert]")
            }
            Self::ConverterText { program, .. } => {
                format!("make {program:?} write UTF-8, in [convert]")
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(unreadable) => unreadable.fmt(f),
            Self::TooLarge { limit } => write!(f, "it holds more than {limit} bytes"),
            Self::Special => f.write_str("it is a FIFO, a socket or a device"),
            Self::Denied => f.write_str("it may not be read"),
            Self::Io { error } => write!(f, "it could not be read: {error}"),
            Self::Converter { program, fault } => write!(f, "its converter {program:?} {fault}"),
            Self::ConverterText { program, fault } => {
                write!(f, "its converter {program:?} gave no text: {fault}")
            }
        }
    }
}
