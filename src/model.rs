//! Models: the known ones with their hashes and licences, where their files lie, and how they are
//! fetched. Whatever the source, the SHA-256 decides.

mod fetch;
mod known;

use std::path::{Path, PathBuf};

use dossier_store::hash::Sha256;

pub use fetch::{FetchError, Step, fetch};
pub use known::{KNOWN, Known, Source, known};

/// A model file as the settings declare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// Where it lies, or would lie.
    pub path: PathBuf,
    /// The SHA-256 it must have.
    pub sha256: Option<Sha256>,
}

/// The file that a setting means: a known model in the cache folder, or a GGUF file of one's own.
/// A relative path starts at the settings file's folder.
pub fn locate(model: &str, sha256: Option<Sha256>, cache: &Path, beside: &Path) -> ModelFile {
    match known(model) {
        Some(known) => {
            ModelFile { path: cache.join(known.file), sha256: sha256.or(known.sha256()) }
        }
        None => ModelFile { path: beside.join(model), sha256 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_lie_in_the_cache_and_paths_beside_the_settings() {
        let (cache, beside) = (Path::new("/cache"), Path::new("/project"));
        let known = locate("qwen2.5-coder-0.5b", None, cache, beside);
        assert!(known.path.starts_with(cache) && known.sha256.is_some());
        assert_eq!(
            locate("m/own.gguf", None, cache, beside).path,
            Path::new("/project/m/own.gguf")
        );
        assert_eq!(locate("/abs/own.gguf", None, cache, beside).path, Path::new("/abs/own.gguf"));
    }

    #[test]
    fn known_models_are_well_formed() {
        for known in KNOWN {
            assert!(known.sha256.is_empty() || known.sha256().is_some(), "{}", known.name);
            assert!(known.file.ends_with(".gguf"));
        }
    }
}
