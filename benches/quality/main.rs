//! How good a model's claims are where the truth is known: one table by one command, for each
//! profile and model. `cargo bench --bench quality -- controlled --dossiers S-030`.

mod cases;
mod copyright;
mod measure;
mod table;

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use dossier::model::{self, known};

use cases::{Cases, Failure};
use measure::Setting;

/// Leaves of documents whose truth is known, realised by a model and compared with that truth.
#[derive(Parser)]
struct Arguments {
    /// Which documents.
    set: Option<Set>,
    /// Dossiers of the controlled world; development ones, unless you know what you do.
    #[arg(long, value_delimiter = ',', default_value = "S-030")]
    dossiers: Vec<String>,
    /// The most documents.
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
    documents: usize,
    /// Prompt profiles, side by side.
    #[arg(long, value_delimiter = ',', default_value = "anchored,free")]
    profiles: Vec<String>,
    /// Names of `dossier model list`.
    #[arg(long, value_delimiter = ',', default_value = "qwen2.5-coder-0.5b")]
    models: Vec<String>,
    /// Threads of a decode call.
    #[arg(long, default_value_t = 2)]
    threads: u16,
    /// The worker's program.
    #[arg(long, env = "DOSSIER_WORKER", default_value = "target-worker/worker/dossier-llama")]
    worker: PathBuf,
    /// The folder that holds `models`.
    #[arg(long, env = "DOSSIER_CACHE", default_value_os_t = user_cache())]
    cache: PathBuf,
    /// Prints every claim that is not right and every truth that was not found.
    #[arg(long)]
    faults: bool,
    /// Writes the figures to this file, too.
    #[arg(long)]
    json: Option<PathBuf>,
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Set {
    /// Documents of the controlled world; truth: what was drawn.
    Controlled,
    /// Debian copyright files of this machine; truth: parsed from the format.
    Copyright,
}

fn user_cache() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("dossier")
}

#[allow(clippy::print_stdout, reason = "a bench prints what it measures")]
fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let cases = match arguments.set {
        Some(Set::Controlled) => cases::controlled(&arguments.dossiers, arguments.documents)?,
        Some(Set::Copyright) => cases::copyright(arguments.documents)?,
        None => {
            println!("name the documents to measure on; see --help");
            return Ok(());
        }
    };
    println!("{}: {} documents, {} facts", cases.title, cases.documents.len(), cases.facts());
    let rows = rows(&arguments, &cases)?;
    print!("{}", table::markdown(&rows));
    if let Some(path) = &arguments.json {
        std::fs::write(path, table::json(&cases, &rows))?;
    }
    Ok(())
}

#[allow(clippy::print_stdout, reason = "a bench prints what it measures")]
fn rows(arguments: &Arguments, cases: &Cases) -> Result<Vec<measure::Row>, Failure> {
    let mut rows = Vec::new();
    for model in &arguments.models {
        for profile in &arguments.profiles {
            let row = measure::measure(cases, &setting(arguments, model, profile)?)?;
            if arguments.faults {
                println!("{model}, {profile}:");
                row.faults.iter().for_each(|fault| println!("  {fault}"));
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

fn setting(arguments: &Arguments, name: &str, profile: &str) -> Result<Setting, Failure> {
    known(name).ok_or_else(|| format!("{name} is no known model"))?;
    let file = model::locate(name, None, &arguments.cache.join("models"), Path::new("."));
    Ok(Setting {
        model: name.to_owned(),
        profile: profile.to_owned(),
        file: file.path,
        sha256: file.sha256.ok_or_else(|| format!("the hash of {name} is not known"))?,
        worker: arguments.worker.clone(),
        threads: arguments.threads,
    })
}
