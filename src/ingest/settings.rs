//! `[import]` of `dossier.toml`: which files of a folder are read, and which are converted first.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// How a folder is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImportSettings {
    /// The most bytes of one file, and of the text a converter makes of it.
    pub max_bytes: u64,
    /// Patterns as in `.gitignore`, besides those of the folder's own `.dossierignore`.
    pub ignore: Vec<String>,
    /// What turns a file into text, by the file's extension in lower case: the program and its
    /// arguments, run without a shell, the file on standard input and its text on standard output.
    #[serde(deserialize_with = "converters")]
    pub convert: BTreeMap<String, Vec<String>>,
}

impl Default for ImportSettings {
    fn default() -> Self {
        Self { max_bytes: 10 << 20, ignore: Vec::new(), convert: BTreeMap::new() }
    }
}

/// Reads converters, and refuses those that cannot be run.
pub fn converters<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Vec<String>>, D::Error> {
    let commands = BTreeMap::<String, Vec<String>>::deserialize(deserializer)?;
    for (extension, command) in &commands {
        check(extension, command)
            .map_err(|fault| D::Error::custom(format!("the converter of {extension:?} {fault}")))?;
    }
    Ok(commands)
}

fn check(extension: &str, command: &[String]) -> Result<(), &'static str> {
    if extension.is_empty() || extension.contains(['.', '/']) {
        return Err("must be named by an extension without dots, such as pdf");
    }
    if extension.chars().any(char::is_uppercase) {
        return Err("must be named in lower case; it then serves both cases");
    }
    match command.first() {
        Some(program) if !program.is_empty() => Ok(()),
        _ => Err("needs a program, such as [\"pdftotext\", \"-layout\", \"-\", \"-\"]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_set_means_ten_mebibytes_and_no_converter() {
        let settings: ImportSettings = toml::from_str("").unwrap();
        assert_eq!(settings, ImportSettings::default());
        assert_eq!(settings.max_bytes, 10_485_760);
    }

    #[test]
    fn converters_are_a_program_and_its_arguments() {
        let settings: ImportSettings =
            toml::from_str("[convert]\npdf = [\"pdftotext\", \"-\", \"-\"]").unwrap();
        assert_eq!(settings.convert["pdf"], ["pdftotext", "-", "-"]);
    }

    #[test]
    fn unusable_settings_are_refused_by_name() {
        for (text, named) in [
            ("surprise = 1", "surprise"),
            ("max_bytes = -1", "max_bytes"),
            ("[convert]\npdf = []", "\"pdf\" needs a program"),
            ("[convert]\npdf = [\"\"]", "\"pdf\" needs a program"),
            ("[convert]\nPDF = [\"cat\"]", "\"PDF\" must be named in lower case"),
            ("[convert]\n\".pdf\" = [\"cat\"]", "without dots"),
            ("[convert]\npdf = \"cat | sh\"", "sequence"),
        ] {
            let error = toml::from_str::<ImportSettings>(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
