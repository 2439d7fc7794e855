//! Which dossiers a folder stands for when none is named: itself, or each of its folders where it
//! holds nothing but folders.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::folder::is_hidden;
use super::ignored::Rules;
use super::scan::ScanError;
use super::settings::ImportSettings;
use super::walk::{is_own, reach};
use crate::document::DocumentId;

/// The dossiers a folder stands for, each with its folder, sorted by the folders' names. A dossier
/// has its folder's name, written as ids are. What an import skips does not count: hidden and
/// ignored entries, this program's own, and symbolic links.
pub fn dossiers_in(
    folder: &Path,
    settings: &ImportSettings,
) -> Result<Vec<(String, PathBuf)>, ScanError> {
    let root = reach(folder)?;
    let entries = counting_entries(&root, settings)?;
    let folders_only =
        !entries.is_empty() && entries.iter().all(|entry| entry.file_type().is_dir());
    match folders_only {
        true => entries.into_iter().map(|entry| named(entry.into_path())).collect(),
        false => Ok(vec![named(root)?]),
    }
}

fn counting_entries(root: &Path, settings: &ImportSettings) -> Result<Vec<DirEntry>, ScanError> {
    let rules = Rules::read(root, settings)?;
    let counts = |entry: &DirEntry| {
        let (name, kind) = (entry.file_name(), entry.file_type());
        let left_out = is_own(entry) || is_hidden(name) || kind.is_symlink();
        !left_out && !rules.ignore(Path::new(name), kind.is_dir())
    };
    let entries = WalkDir::new(root).min_depth(1).max_depth(1).sort_by_file_name();
    let mut counting = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| ScanError::of_walk(root, error))?;
        if counts(&entry) {
            counting.push(entry);
        }
    }
    Ok(counting)
}

fn named(folder: PathBuf) -> Result<(String, PathBuf), ScanError> {
    match folder.file_name().map(OsStr::to_owned) {
        Some(name) => Ok((DocumentId::component(&name), folder)),
        None => Err(ScanError::Nameless { folder }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        let dossiers = dossiers_in(folder, &ImportSettings::default()).unwrap();
        dossiers.into_iter().map(|(name, _)| name).collect()
    }

    fn folder(named: &str) -> (tempfile::TempDir, PathBuf) {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().canonicalize().unwrap().join(named);
        fs::create_dir(&folder).unwrap();
        (top, folder)
    }

    #[test]
    fn a_folder_with_a_file_is_a_dossier() {
        let (_top, folder) = folder("lease");
        assert_eq!(names(&folder), ["lease"], "an empty one, too");
        fs::create_dir(folder.join("annex")).unwrap();
        fs::write(folder.join("a.txt"), "").unwrap();
        let dossiers = dossiers_in(&folder, &ImportSettings::default()).unwrap();
        assert_eq!(dossiers, [("lease".to_owned(), folder)]);
    }

    #[test]
    fn a_folder_of_folders_is_one_dossier_each() {
        let (_top, folder) = folder("all");
        for name in ["S-011", "S-010", ".git", ".dossier", "drafts"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        fs::write(folder.join("dossier.toml"), "").unwrap();
        fs::write(folder.join(IGNORED), "drafts/\n").unwrap();
        std::os::unix::fs::symlink("S-010", folder.join("link")).unwrap();
        assert_eq!(names(&folder), ["S-010", "S-011"]);
        let dossiers = dossiers_in(&folder, &ImportSettings::default()).unwrap();
        assert_eq!(dossiers[0].1, folder.join("S-010"));
    }

    const IGNORED: &str = super::super::ignored::IGNORE_FILE;

    #[test]
    fn names_are_written_as_ids_are() {
        let (_top, folder) = folder("50% a#b");
        assert_eq!(names(&folder), ["50%25 a%23b"]);
    }

    #[test]
    fn a_folder_without_a_name_is_told_apart() {
        // The root of this machine holds folders, and perhaps files: it may only not be `Nameless`
        // if it stands for its folders.
        match dossiers_in(Path::new("/"), &ImportSettings::default()) {
            Err(ScanError::Nameless { folder }) => assert_eq!(folder, Path::new("/")),
            Ok(dossiers) => assert!(dossiers.iter().all(|(name, _)| !name.is_empty())),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn what_is_no_folder_is_refused() {
        let (_top, folder) = folder("x");
        let missing = dossiers_in(&folder.join("none"), &ImportSettings::default());
        assert!(matches!(missing, Err(ScanError::Unreachable { .. })));
        fs::write(folder.join("file"), "").unwrap();
        let file = dossiers_in(&folder.join("file"), &ImportSettings::default());
        assert!(matches!(file, Err(ScanError::NotAFolder { .. })));
    }
}
