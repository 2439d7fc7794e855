//! Where a setting comes from: a line of `dossier.toml`, the command line, the environment, or the
//! defaults.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::args::Global;
use crate::settings::FILE_NAME;

/// The environment variable that names the store.
const STORE_VARIABLE: &str = "DOSSIER_STORE";

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A line of the settings file, from 1.
    Line(usize),
    /// Nobody set it.
    Default,
    /// An option of the command line.
    Option(&'static str),
    /// A variable of the environment.
    Environment(&'static str),
    /// It was looked for, as these words say.
    Found(&'static str),
}

impl Origin {
    pub(super) fn line(&self) -> Option<usize> {
        match self {
            Self::Line(line) => Some(*line),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "{FILE_NAME}:{line}"),
            Self::Default => f.write_str("default"),
            Self::Option(option) => f.write_str(option),
            Self::Environment(variable) => write!(f, "environment {variable}"),
            Self::Found(how) => f.write_str(how),
        }
    }
}

/// A settings file's keys with their lines.
pub(super) struct Lines<'a> {
    text: &'a str,
    table: Option<Spanned<DeTable<'a>>>,
}

impl<'a> Lines<'a> {
    /// Reads the keys. A file that cannot be parsed was refused before.
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, table: DeTable::parse(text).ok() }
    }

    /// Where the setting `claims.fields` or `extract.rule[1].pattern` comes from.
    pub(super) fn origin(&self, name: &str) -> Origin {
        let place = self.table.as_ref().and_then(|table| place(table.get_ref(), name));
        match place {
            Some(place) => Origin::Line(self.text[..place].matches('\n').count() + 1),
            None => Origin::Default,
        }
    }
}

/// The byte at which the key stands that sets this.
fn place(table: &DeTable<'_>, name: &str) -> Option<usize> {
    let (first, rest) =
        name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
    let (first, position) = match first.strip_suffix(']').and_then(|first| first.split_once('[')) {
        Some((first, position)) => (first, position.parse::<usize>().ok()),
        None => (first, None),
    };
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    let value = match position {
        Some(position) => value.get_ref().as_array()?.get(position.checked_sub(1)?)?,
        None => value,
    };
    match (rest, value.get_ref()) {
        (None, _) => Some(key.span().start),
        (Some(rest), DeValue::Table(table)) => place(table, rest),
        (Some(_), _) => None,
    }
}

/// Where the store's folder comes from.
pub(super) fn of_store(global: &Global) -> Origin {
    let variable = std::env::var_os(STORE_VARIABLE);
    match &global.store {
        None => Origin::Found("the nearest upwards"),
        Some(store) if variable.is_some_and(|variable| variable == store.as_os_str()) => {
            Origin::Environment(STORE_VARIABLE)
        }
        Some(_) => Origin::Option("--store"),
    }
}

/// Where the principal comes from.
pub(super) fn of_principal(global: &Global) -> Origin {
    match &global.principal {
        Some(_) => Origin::Option("--principal"),
        None => Origin::Found("the first of principals"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A comment.\nprincipals = [\n  \"owner\",\n]\n\n[claims]\nleaf_max = 3\n\
        fields = [\"é\"]\n\n[[extract.rule]]\npattern = 'a'\n[[extract.rule]]\nfield = \"f\"\n\
        pattern = 'b'\n[import]\nconvert.pdf = [\"x\"]\n";

    #[test]
    fn every_key_is_found_on_its_line() {
        let lines = Lines::of(TEXT);
        for (name, line) in [
            ("principals", 2),
            ("claims.leaf_max", 7),
            ("claims.fields", 8),
            ("extract.rule[1].pattern", 11),
            ("extract.rule[2].field", 13),
            ("extract.rule[2].pattern", 14),
            ("import.convert.pdf", 16),
        ] {
            assert_eq!(lines.origin(name), Origin::Line(line), "{name}");
        }
    }

    #[test]
    fn what_nobody_set_is_the_default() {
        let lines = Lines::of(TEXT);
        for name in [
            "realiser",
            "claims.reduce_max",
            "extract.rule[1].field",
            "extract.rule[3].take",
            "budgets.output",
        ] {
            assert_eq!(lines.origin(name), Origin::Default, "{name}");
        }
        assert_eq!(Lines::of("").origin("principals"), Origin::Default);
    }
}
