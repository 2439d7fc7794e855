//! `completions`: a script for a shell.

use clap::CommandFactory as _;

use super::args::{Arguments, CompletionsArgs};
use super::exit;
use super::failure::Failure;
use super::ui::Ui;

pub(super) fn run(of: &CompletionsArgs, ui: &Ui) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(of.shell, &mut Arguments::command(), "dossier", &mut script);
    ui.line(String::from_utf8_lossy(&script).trim_end());
    Ok(exit::DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
