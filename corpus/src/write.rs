//! Writes dossiers of the world as folders of text files. No label is ever among them, and no
//! world is written where labels lie in or above the folder.

use std::path::{Path, PathBuf};

use crate::events::Events;
use crate::files::{FilesError, Planned, Written, write_all};
use crate::marker::find_marker;
use crate::world::{Document, Dossier, Version};

/// Why a world was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteWorldError {
    /// Labels lie in or above the folder; nothing was written.
    #[error("writing a world to {}: labels are marked by {}", .directory.display(), .marker.display())]
    LabelsNearby {
        /// The folder asked for.
        directory: PathBuf,
        /// The marker found.
        marker: PathBuf,
    },
    /// A file is in the way, or the file system refused.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// Writes `documents/<dossier>/<doc_id>.txt` (version 1, active at stage 0),
/// `versions/<dossier>/<doc_id>/v<N>.txt` (both versions) and `events.json` below `directory`,
/// creating folders as needed. Writing again changes nothing, and further dossiers may be added.
pub fn write_world(directory: &Path, dossiers: &[Dossier]) -> Result<Written, WriteWorldError> {
    if let Some(marker) = find_marker(directory) {
        return Err(WriteWorldError::LabelsNearby { directory: directory.to_path_buf(), marker });
    }
    let documents = dossiers.iter().flat_map(|dossier| dossier.documents());
    let mut files: Vec<_> = documents.flat_map(|document| files_of(directory, document)).collect();
    files.push(Planned::json(directory.join("events.json"), &Events::published())?);
    Ok(write_all(&files)?)
}

fn files_of(directory: &Path, document: Document) -> [Planned; 3] {
    let active = directory.join("documents").join(document.path());
    let versions =
        directory.join("versions").join(document.dossier().to_string()).join(document.doc_id());
    let [first, second] = Version::ALL.map(|version| {
        let path = versions.join(format!("v{}.txt", version.number()));
        Planned::text(path, document.text(version))
    });
    [Planned::text(active, document.text(Version::First)), first, second]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::marker::MARKER;

    fn dossier(id: &str) -> Dossier {
        Dossier::parse(id).unwrap()
    }

    fn files_below(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
        }
        found
    }

    #[test]
    fn the_whole_world_is_1081_files_and_holds_no_labels() {
        let folder = tempfile::tempdir().unwrap();
        let all: Vec<_> = Dossier::all().collect();
        let written = write_world(folder.path(), &all).unwrap();
        assert_eq!(written, Written { created: 1_081, unchanged: 0 });
        assert_eq!(
            write_world(folder.path(), &all).unwrap(),
            Written { created: 0, unchanged: 1_081 }
        );
        let files = files_below(folder.path());
        assert_eq!(files.len(), 1_081);
        for file in files {
            assert_ne!(file.file_name().unwrap(), MARKER);
            assert!(!fs::read_to_string(file).unwrap().contains(crate::truth::SCHEMA));
        }
    }

    #[test]
    fn files_lie_where_they_are_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        write_world(folder.path(), &[dossier("S-010")]).unwrap();
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
        let document = dossier("S-010").document(4).unwrap();
        assert_eq!(read("documents/S-010/DOC-04.txt"), document.text(Version::First));
        assert_eq!(read("versions/S-010/DOC-04/v1.txt"), document.text(Version::First));
        assert_eq!(read("versions/S-010/DOC-04/v2.txt"), document.text(Version::Second));
        let events: Events = serde_json::from_str(&read("events.json")).unwrap();
        assert_eq!(events, Events::published());
    }

    #[test]
    fn dossiers_can_be_added_to_a_world() {
        let folder = tempfile::tempdir().unwrap();
        write_world(folder.path(), &[dossier("S-010")]).unwrap();
        let written = write_world(folder.path(), &[dossier("S-010"), dossier("S-037")]).unwrap();
        assert_eq!(written, Written { created: 36, unchanged: 37 });
    }

    #[test]
    fn a_changed_document_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        write_world(folder.path(), &[dossier("S-010")]).unwrap();
        let changed = folder.path().join("documents/S-010/DOC-03.txt");
        fs::write(&changed, "edited").unwrap();
        let refused = write_world(folder.path(), &[dossier("S-010"), dossier("S-011")]);
        let Err(WriteWorldError::Files(FilesError::Differs { path })) = refused else {
            panic!("must refuse")
        };
        assert_eq!(path, changed);
        assert_eq!(fs::read_to_string(changed).unwrap(), "edited");
        assert!(!folder.path().join("documents/S-011").exists());
    }

    #[test]
    fn no_world_is_written_in_or_below_labels() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MARKER), "").unwrap();
        for directory in [folder.path().to_path_buf(), folder.path().join("new/world")] {
            let refused = write_world(&directory, &[dossier("S-010")]);
            assert!(matches!(refused, Err(WriteWorldError::LabelsNearby { .. })), "{refused:?}");
        }
        assert_eq!(files_below(folder.path()).len(), 1);
    }
}
