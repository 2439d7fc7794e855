//! The tour of README.md is what the program prints: its console blocks are run, in one folder and
//! in order, and compared. `README_UPDATE=1` writes what came out instead. Times are not compared.

use std::path::Path;
use std::process::Command;

/// One command of the tour and what is said to come out of it.
struct Step {
    command: String,
    said: String,
}

fn is_ours(command: &str) -> bool {
    command.starts_with("dossier ") || command.starts_with("sed ")
}

fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => steps.push(Step { command: command.into(), said: String::new() }),
            None => {
                let step = steps.last_mut().expect("because a block begins with a command");
                step.said.push_str(line);
                step.said.push('\n');
            }
        }
    }
    steps
}

/// What a command prints, with its exit code where that is not 0.
fn run(command: &str, folder: &Path) -> String {
    assert!(is_ours(command), "the tour runs dossier and sed only: {command}");
    let program = Path::new(env!("CARGO_BIN_EXE_dossier")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("HOME", folder)
        .output()
        .unwrap();
    let mut said = String::from_utf8(output.stdout).unwrap();
    match output.status.code().unwrap() {
        0 => {}
        code => said.push_str(&format!("[exit {code}]\n")),
    }
    said
}

/// Times, and ids of what holds times, differ from run to run.
fn timeless(text: &str) -> String {
    let text = regex::Regex::new(r"[0-9.]+ s\b").unwrap().replace_all(text, "T s").into_owned();
    let moment = regex::Regex::new(r"\d{4}-\d\d-\d\dT[0-9:.]+Z").unwrap();
    let text = moment.replace_all(&text, "TIME").into_owned();
    regex::Regex::new(r"rec:[0-9a-f]+").unwrap().replace_all(&text, "rec:ID").into_owned()
}

#[test]
fn the_tour_is_what_the_program_prints() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&readme).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut written = String::new();
    let mut rest = text.as_str();
    let mut count = 0;
    while let Some((before, after)) = rest.split_once("```console\n") {
        let (block, after) = after.split_once("```").unwrap();
        written.push_str(before);
        written.push_str("```console\n");
        for step in steps(block) {
            let came = run(&step.command, folder.path());
            if std::env::var_os("README_UPDATE").is_none() {
                assert_eq!(timeless(&came), timeless(&step.said), "$ {}", step.command);
            }
            written.push_str(&format!("$ {}\n{came}", step.command));
            count += 1;
        }
        written.push_str("```");
        rest = after;
    }
    written.push_str(rest);
    assert!(count > 8, "the tour has only {count} commands");
    if std::env::var_os("README_UPDATE").is_some() {
        std::fs::write(&readme, written).unwrap();
    }
}
