//! What a folder's owner does not want imported: `.dossierignore` and the settings' patterns, both
//! in `.gitignore` syntax. A rule that cannot be read is an error: it may be the one that protects.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::open::{self, Refusal};
use super::scan::ScanError;
use super::settings::ImportSettings;

/// The file of ignore patterns, in the folder that is imported.
pub const IGNORE_FILE: &str = ".dossierignore";

/// The most bytes of an ignore file.
const MAX_IGNORE_FILE: u64 = 1 << 20;

/// The rules of one folder; the last one that matches decides.
pub(super) struct Rules(Gitignore);

impl Rules {
    /// The settings' patterns, then those of the folder's own file.
    pub(super) fn read(folder: &Path, settings: &ImportSettings) -> Result<Self, ScanError> {
        let mut builder = GitignoreBuilder::new(folder);
        for pattern in &settings.ignore {
            add(&mut builder, "the setting import.ignore", pattern)?;
        }
        for pattern in own_rules(folder)?.lines() {
            add(&mut builder, IGNORE_FILE, pattern)?;
        }
        let rules = builder.build().map_err(|source| ScanError::IgnorePattern {
            origin: "the ignore patterns together",
            pattern: String::new(),
            source: Box::new(source),
        })?;
        Ok(Self(rules))
    }

    /// Whether an entry, below the folder, is not to be imported.
    pub(super) fn ignore(&self, path: &Path, is_folder: bool) -> bool {
        self.0.matched(path, is_folder).is_ignore()
    }
}

fn add(
    builder: &mut GitignoreBuilder,
    origin: &'static str,
    pattern: &str,
) -> Result<(), ScanError> {
    builder.add_line(None, pattern).map(|_| ()).map_err(|source| ScanError::IgnorePattern {
        origin,
        pattern: pattern.to_owned(),
        source: Box::new(source),
    })
}

fn own_rules(folder: &Path) -> Result<String, ScanError> {
    let fault = |fault: String| ScanError::IgnoreFile { path: folder.join(IGNORE_FILE), fault };
    let bytes = match open::read(&folder.join(IGNORE_FILE), MAX_IGNORE_FILE) {
        Ok(bytes) => bytes,
        Err(Refusal::Gone) => return Ok(String::new()),
        Err(Refusal::Symlink) => return Err(fault("is a symbolic link".into())),
        Err(Refusal::Special) => return Err(fault("is no plain file".into())),
        Err(Refusal::TooLarge) => return Err(fault("holds more than 1 MiB".into())),
        Err(Refusal::Io(error)) => return Err(fault(format!("cannot be read: {error}"))),
    };
    String::from_utf8(bytes).map_err(|error| {
        fault(format!("is not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(own: &str, setting: &[&str]) -> Result<Rules, ScanError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(IGNORE_FILE), own).unwrap();
        let ignore = setting.iter().map(|&pattern| pattern.to_owned()).collect();
        Rules::read(folder.path(), &ImportSettings { ignore, ..ImportSettings::default() })
    }

    #[test]
    fn patterns_mean_what_they_mean_to_git() {
        let rules =
            rules("# a comment\n/top.txt\ndrafts/\n*.tmp\n!keep.tmp\n", &["*.bak"]).unwrap();
        for (path, is_folder, expected) in [
            ("top.txt", false, true),
            ("deep/top.txt", false, false),
            ("drafts", true, true),
            ("drafts", false, false),
            ("deep/a.tmp", false, true),
            ("deep/keep.tmp", false, false),
            ("a.bak", false, true),
            ("a.txt", false, false),
        ] {
            assert_eq!(rules.ignore(Path::new(path), is_folder), expected, "{path}");
        }
    }

    #[test]
    fn the_folders_own_file_has_the_last_word() {
        assert!(!rules("!a.bak", &["*.bak"]).unwrap().ignore(Path::new("a.bak"), false));
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_named() {
        let error = rules("ok\na{b\n", &[]).err().unwrap().to_string();
        assert!(error.contains("a{b") && error.contains(IGNORE_FILE), "{error}");
    }

    #[test]
    fn an_ignore_file_that_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join(IGNORE_FILE)).unwrap();
        let error = Rules::read(folder.path(), &ImportSettings::default()).err().unwrap();
        assert!(error.to_string().contains("symbolic link"), "{error}");
        std::fs::remove_file(folder.path().join(IGNORE_FILE)).unwrap();
        std::fs::write(folder.path().join(IGNORE_FILE), b"a\xff").unwrap();
        let error = Rules::read(folder.path(), &ImportSettings::default()).err().unwrap();
        assert!(error.to_string().contains("byte 1"), "{error}");
    }
}
