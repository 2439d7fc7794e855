//! What ends a command: what failed, where, and what to try next.

use std::error::Error;

use dossier_store::open::OpenError;
use dossier_store::read::ReadError;
use dossier_store::write::WriteError;

use super::exit;
use crate::current::CurrentError;
use crate::realise::BuildError;
use crate::serve::ServeError;
use crate::settings::SettingsError;
use crate::snapshot::SnapshotError;

/// The end of a command that could not do what was asked.
#[derive(Debug)]
pub(super) struct Failure {
    /// The exit code.
    pub(super) code: u8,
    /// What failed, with its causes.
    pub(super) what: String,
    /// What to try next.
    pub(super) hint: Option<String>,
}

impl Failure {
    pub(super) fn new(code: u8, what: impl Into<String>) -> Self {
        Self { code, what: what.into(), hint: None }
    }

    /// A failure with everything its error knows of its causes.
    pub(super) fn of(code: u8, error: &dyn Error) -> Self {
        let mut what = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_words = cause.to_string();
            if !what.contains(&cause_words) {
                what = format!("{what}: {cause_words}");
            }
            source = cause.source();
        }
        Self::new(code, what)
    }

    pub(super) fn io(what: impl std::fmt::Display, error: &std::io::Error) -> Self {
        Self::new(exit::STORE, format!("{what}: {error}"))
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::of(exit::STORE, &error).hint("run `dossier store verify` to see all that is damaged")
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        let failure = Self::of(exit::STORE, &error);
        match error {
            WriteError::Busy { .. } => failure.hint("wait for it, or give --wait SECONDS"),
            _ => failure.hint("nothing of this step was stored; free space or rights, then repeat"),
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let failure = Self::of(exit::STORE, &error);
        match error {
            OpenError::NotFound { .. } => failure.hint("run `dossier init` to make one"),
            OpenError::NewerFormat { .. } => failure.hint("use a newer `dossier`"),
            _ => failure,
        }
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        match &error {
            SettingsError::UnknownPrincipal { .. } => {
                Self::of(exit::DENIED, &error).hint("declare it under `principals` in dossier.toml")
            }
            _ => Self::of(exit::STORE, &error)
                .hint("`dossier config show --origin` lists every setting"),
        }
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Store(error) => error.into(),
            other => Self::of(exit::STORE, &other).hint("run `dossier store verify`"),
        }
    }
}

impl From<CurrentError> for Failure {
    fn from(error: CurrentError) -> Self {
        match error {
            CurrentError::Snapshot(error) => error.into(),
            CurrentError::Read(error) => error.into(),
            CurrentError::UnknownDossier(_) => Self::of(exit::NOT_FOUND, &error)
                .hint("`dossier status` lists the dossiers; `dossier import` adds one"),
            CurrentError::Unreachable { .. } => Self::of(exit::STALE, &error)
                .hint("mount or restore the folder, or look at the last import with --imported"),
            _ => Self::of(exit::STORE, &error).hint("run `dossier store verify`"),
        }
    }
}

impl From<crate::stale::StaleError> for Failure {
    fn from(error: crate::stale::StaleError) -> Self {
        Self::of(exit::STORE, &error).hint("run `dossier store verify`")
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Current(error) => error.into(),
            ServeError::Read(error) => error.into(),
            ServeError::Stale(error) => error.into(),
            ServeError::Lost { .. } => Self::of(exit::STORE, &error).hint("run `dossier build`"),
        }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Read(error) => error.into(),
            BuildError::Write(error) => error.into(),
            BuildError::Snapshot(error) => error.into(),
            BuildError::UnknownDossier(_) => {
                Self::of(exit::NOT_FOUND, &error).hint("run `dossier import` first")
            }
            BuildError::NoDocuments(_) => Self::of(exit::NOT_BUILT, &error)
                .hint("put documents into the folder and run `dossier import`"),
            _ => Self::of(exit::STORE, &error).hint("run `dossier store verify`"),
        }
    }
}
