//! The worker of the `llama` realiser and its model: whether they are there. `show`, `status` and
//! the rules of `extract` need neither, so their absence is never a failure.

use std::path::{Path, PathBuf};

use super::super::project::Project;
use super::super::realiser::PROGRAM;
use super::{Examined, State};
use crate::settings::RealiserName;

pub(super) fn examine(project: Option<&Project>) -> Vec<Examined> {
    let wanted = project.is_some_and(|project| project.settings.realiser == RealiserName::Llama);
    let mut examined = vec![program(wanted)];
    examined.extend(project.map(|project| model(project, wanted)));
    examined
}

fn program(wanted: bool) -> Examined {
    match candidates().into_iter().find(|candidate| candidate.is_file()) {
        Some(found) => Examined::ok("worker", found.display().to_string()),
        None => {
            let help = format!("put {PROGRAM} beside dossier or on PATH");
            absent("worker", format!("{PROGRAM} is not installed"), wanted, &help)
        }
    }
}

/// The model that the settings declare. Whether its bytes are the declared ones is for
/// `model check`, which reads all of them.
fn model(project: &Project, wanted: bool) -> Examined {
    let name = &project.settings.llama.model;
    match project.model_file() {
        Ok(file) if file.path.is_file() => {
            Examined::ok("model", format!("{name} in {}", file.path.display()))
        }
        Ok(file) => {
            let words = format!("{name} is not installed ({})", file.path.display());
            let help = match crate::model::known(name) {
                Some(_) => format!("dossier model fetch {name}"),
                None => "put the GGUF file there, or set llama.model in dossier.toml".to_owned(),
            };
            absent("model", words, wanted, &help)
        }
        Err(failure) => absent("model", failure.what, wanted, "set HOME or DOSSIER_CACHE"),
    }
}

/// Something absent: worth a warning where the settings ask for it.
fn absent(what: &'static str, words: String, wanted: bool, help: &str) -> Examined {
    match wanted {
        true => Examined::new(what, State::Warn, format!("{words}; `dossier build` needs it"))
            .help(help),
        false => Examined::ok(what, format!("{words}; only the llama realiser needs it")),
    }
}

/// Beside this program first, then on the path.
fn candidates() -> Vec<PathBuf> {
    let here = std::env::current_exe().ok();
    let beside = here.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(PROGRAM)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_is_a_warning_only_where_it_matters() {
        let absent = |wanted| absent("worker", String::new(), wanted, "dossier model fetch");
        assert_eq!((absent(true).state, absent(true).help.is_some()), (State::Warn, true));
        assert_eq!((absent(false).state, absent(false).help.is_some()), (State::Ok, false));
    }
}
