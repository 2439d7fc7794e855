//! The worker of the `llama` realiser and its model: whether they are there. `show`, `status` and
//! the rules of `extract` need neither, so their absence is never a failure.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Examined, State};
use crate::settings::{RealiserName, Settings};

/// The worker's program.
const PROGRAM: &str = "dossier-llama";

pub(super) fn examine(settings: Option<&Settings>) -> Vec<Examined> {
    let wanted = settings.is_some_and(|settings| settings.realiser == RealiserName::Llama);
    let model = settings.map(|settings| settings.llama.model.as_str());
    let mut examined = vec![program(wanted)];
    examined.extend(model.map(|model| model_file(model, wanted)));
    examined
}

fn program(wanted: bool) -> Examined {
    match candidates().into_iter().find(|candidate| candidate.is_file()) {
        Some(found) => Examined::ok("worker", found.display().to_string()),
        None => absent("worker", format!("{PROGRAM} is not installed"), wanted)
            .help(format!("put {PROGRAM} beside dossier or on PATH")),
    }
}

fn model_file(model: &str, wanted: bool) -> Examined {
    let file = model_path(model, cache_folder());
    match file {
        Some(file) if file.is_file() => Examined::ok("model", file.display().to_string()),
        Some(file) => {
            absent("model", format!("{model} is not installed ({})", file.display()), wanted)
                .help("put the GGUF file there, or name another as llama.model in dossier.toml")
        }
        None => {
            absent("model", format!("{model} is not installed (no cache folder is known)"), wanted)
                .help("set HOME or XDG_CACHE_HOME")
        }
    }
}

/// Something absent, and whether the settings ask for it.
fn absent(what: &'static str, words: String, wanted: bool) -> Examined {
    match wanted {
        true => Examined::new(what, State::Warn, format!("{words}; `dossier build` needs it")),
        false => Examined::ok(what, format!("{words}; the realiser that is set does not need it")),
    }
}

/// Beside this program first, then on the path.
fn candidates() -> Vec<PathBuf> {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let here = std::env::current_exe().ok();
    let beside = here.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside
        .into_iter()
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join(&name))
        .collect()
}

/// Where fetched models lie.
fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let cache = set("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")));
    cache.map(|cache| cache.join("dossier").join("models"))
}

/// A known model lies in the cache under its name; anything else is the path of a file.
fn model_path(model: &str, cache: Option<PathBuf>) -> Option<PathBuf> {
    match model.contains(std::path::MAIN_SEPARATOR) || model.ends_with(".gguf") {
        true => Some(PathBuf::from(model)),
        false => cache.map(|cache| cache.join(format!("{model}.gguf"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_a_name_or_a_path() {
        let cache = || Some(PathBuf::from("/cache"));
        let path = |model| model_path(model, cache()).unwrap();
        assert_eq!(path("qwen2.5-coder-0.5b"), Path::new("/cache/qwen2.5-coder-0.5b.gguf"));
        assert_eq!(path("models/own.gguf"), Path::new("models/own.gguf"));
        assert_eq!(path("own.gguf"), Path::new("own.gguf"));
        assert_eq!(model_path("name", None), None);
    }

    #[test]
    fn absence_is_a_warning_only_where_it_matters() {
        assert_eq!(absent("worker", String::new(), true).state, State::Warn);
        assert_eq!(absent("worker", String::new(), false).state, State::Ok);
    }
}
