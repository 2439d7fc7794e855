//! The worker program: one model behind standard input and output. The only code that links
//! llama.cpp.

use std::process::ExitCode;

fn main() -> ExitCode {
    dossier_llama::process::prepare();
    dossier_llama::serve::run()
}
