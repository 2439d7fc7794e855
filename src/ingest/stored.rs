//! The versions a dossier has, by what they were made from, so that bytes it has are neither kept
//! nor converted again.

use std::collections::HashMap;

use super::scan::Source;
use crate::snapshot::{Dossier, Version};

/// A dossier's versions by source, each with its document's path.
pub(super) struct Stored<'a>(HashMap<Source<'a>, Vec<(&'a str, &'a Version)>>);

impl<'a> Stored<'a> {
    pub(super) fn of(known: &'a Dossier) -> Self {
        let mut by_source: HashMap<_, Vec<_>> = HashMap::new();
        for document in &known.documents {
            for version in &document.versions {
                let entry = (document.path.as_str(), version);
                by_source.entry(Source::of(version)).or_default().push(entry);
            }
        }
        Self(by_source)
    }

    /// A version of this source, if there is one: the document's at this path rather than
    /// another's, since two runs of one converter may have given two texts.
    pub(super) fn version(&self, source: &Source<'_>, path: &str) -> Option<&'a Version> {
        let versions = self.0.get(source)?;
        let own = versions.iter().rev().find(|(of, _)| *of == path);
        own.or(versions.last()).map(|(_, version)| *version)
    }
}
