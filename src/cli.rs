//! The command line: one file a command. Only `ui` writes to the terminal; only this module and
//! those below it read the environment and the clock.

mod args;
mod exit;
mod failure;
mod names;
mod progress;
mod project;
mod realiser;
mod ui;

mod build;
mod cat;
mod check;
mod completions;
mod config;
mod doctor;
mod drv;
mod experiment;
mod graph;
mod import;
mod init;
mod model;
mod plan;
mod prov;
mod rights;
mod show;
mod status;
mod store;
mod why;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Verb};
use failure::Failure;
use ui::Ui;

/// The program: reads the arguments, runs the command, reports a failure.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let ui = Ui::new(&arguments.global);
    keep_caught_panics_quiet();
    let result = enter(&arguments).and_then(|()| run(&arguments, &ui));
    let code = match result {
        Ok(code) => code,
        Err(failure) => {
            ui.failure(&failure);
            failure.code
        }
    };
    ExitCode::from(code)
}

/// The database beneath panics on some damaged pages; where that is caught and becomes an error of
/// its own, the panic is not printed as well.
fn keep_caught_panics_quiet() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !dossier_store::fault::catches_panics() {
            print(panic);
        }
    }));
}

/// Help and version go to stdout with exit 0; a misuse goes to stderr with exit 2.
fn usage(error: &clap::Error) -> ExitCode {
    // A closed pipe while printing help is nobody's failure.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::DONE })
}

fn enter(arguments: &Arguments) -> Result<(), Failure> {
    let Some(directory) = &arguments.global.directory else { return Ok(()) };
    std::env::set_current_dir(directory)
        .map_err(|error| Failure::io(format!("cannot work in {}", directory.display()), &error))
}

fn run(arguments: &Arguments, ui: &Ui) -> Result<u8, Failure> {
    let global = &arguments.global;
    match &arguments.verb {
        Verb::Init(of) => init::run(of, ui),
        Verb::Import(of) => import::run(of, global, ui),
        Verb::Withdraw(of) => rights::withdraw(of, global, ui),
        Verb::Restore(of) => rights::restore(of, global, ui),
        Verb::Revoke(of) => rights::revoke(of, global, ui),
        Verb::Grant(of) => rights::grant(of, global, ui),
        Verb::Plan(of) => plan::run(of, global, ui),
        Verb::Build(of) => build::run(of, global, ui),
        Verb::Show(of) => show::run(of, global, ui),
        Verb::Status(of) => status::run(of, global, ui),
        Verb::Why(of) => why::run(of, global, ui),
        Verb::Prov(of) => prov::run(of, global, ui),
        Verb::Graph(of) => graph::run(of, global, ui),
        Verb::Cat(of) => cat::run(of, global, ui),
        Verb::Drv(of) => drv::run(of, global, ui),
        Verb::Check(of) => check::run(of, ui),
        Verb::Store(of) => store::run(of, global, ui),
        Verb::Experiment(of) => experiment::run(of, ui),
        Verb::Doctor => doctor::run(global, ui),
        Verb::Model(of) => model::run(of, global, ui),
        Verb::Config(of) => config::run(of, global, ui),
        Verb::Completions(of) => completions::run(of, ui),
    }
}
