//! The marker that keeps labels and engine apart: a file named `GOLD` says that whatever lies in
//! or below its folder may be read by an audit alone.

use std::path::{Path, PathBuf};

/// The name of the marker file.
pub const MARKER: &str = "GOLD";

/// Looks for a marker in this folder and every folder above it, nearest first. Symbolic links in
/// the path are followed, and a path that does not exist yet is judged by where it would lie. A
/// folder named `GOLD` is no marker.
pub fn find_marker(path: &Path) -> Option<PathBuf> {
    let is_marker =
        |candidate: &PathBuf| candidate.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir());
    resolved(path).ancestors().map(|folder| folder.join(MARKER)).find(is_marker)
}

/// Where a path really lies: its nearest existing ancestor without links, then the rest.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let real = path.ancestors().find_map(|ancestor| {
        let rest = path.strip_prefix(ancestor).ok()?;
        // The parent of a bare name is the empty path, which stands for the current folder.
        let folder = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
        Some(folder.canonicalize().ok()?.join(rest))
    });
    real.unwrap_or_else(|| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_marker_is_found_in_the_folder_and_above_it_only() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let labels = top.join("labels/deep");
        fs::create_dir_all(&labels).unwrap();
        fs::create_dir_all(top.join("beside")).unwrap();
        fs::write(top.join("labels").join(MARKER), "").unwrap();
        let marker = Some(top.join("labels").join(MARKER));
        assert_eq!(find_marker(&top.join("labels")), marker);
        assert_eq!(find_marker(&labels), marker);
        assert_eq!(find_marker(&labels.join("not/there/yet")), marker);
        assert_eq!(find_marker(&top.join("beside/../labels")), marker);
        assert_eq!(find_marker(&top.join("beside")), None);
        assert_eq!(find_marker(&labels.join("../../beside")), None);
    }

    #[test]
    fn a_folder_of_that_name_is_no_marker() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(MARKER)).unwrap();
        assert_eq!(find_marker(folder.path()), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_into_the_labels_is_seen_through() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("labels/deep")).unwrap();
        fs::write(top.join("labels").join(MARKER), "").unwrap();
        std::os::unix::fs::symlink(top.join("labels/deep"), top.join("link")).unwrap();
        assert_eq!(find_marker(&top.join("link")), Some(top.join("labels").join(MARKER)));
    }

    #[test]
    fn a_bare_name_is_judged_from_the_current_folder() {
        assert_eq!(
            resolved(Path::new("not-there")),
            Path::new(".").canonicalize().unwrap().join("not-there")
        );
    }
}
