//! The `dossier` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    dossier::cli::main()
}
