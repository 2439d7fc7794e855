//! The real model, end to end: a small dossier of the controlled world built by the worker with a
//! GGUF. It runs where `DOSSIER_WORKER` names the worker and the model is in the cache folder
//! (`make test` sees to both) and otherwise says that it did not.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

const MODEL: &str = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf";
/// Documents of the dossier: four leaves and a root.
const DOCUMENTS: usize = 4;

/// A project in a folder of its own, built by the model.
struct Project {
    folder: tempfile::TempDir,
    worker: PathBuf,
    cache: PathBuf,
}

/// The worker and the cache folder, if the real model can be run here.
fn real_model() -> Option<(PathBuf, PathBuf)> {
    let worker = std::env::var_os("DOSSIER_WORKER").map(PathBuf::from)?;
    let set = |name| std::env::var_os(name).map(PathBuf::from);
    let cache = set("DOSSIER_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("dossier")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/dossier")))?;
    (worker.exists() && cache.join("models").join(MODEL).exists()).then_some((worker, cache))
}

impl Project {
    fn new() -> Option<Self> {
        let Some((worker, cache)) = real_model() else {
            println!("NOT RUN: DOSSIER_WORKER is not set, or {MODEL} is not in the cache folder");
            return None;
        };
        let project = Self { folder: tempfile::tempdir().unwrap(), worker, cache };
        project.succeeds(&["experiment", "generate", "world", "--dossiers", "S-030"]);
        for slot in DOCUMENTS..12 {
            std::fs::remove_file(project.document(slot)).unwrap();
        }
        project.succeeds(&["init", "--kind", "controlled"]);
        let settings = project.path("dossier.toml");
        let text = std::fs::read_to_string(&settings).unwrap();
        let text = text.replace("realiser = \"extract\"", "realiser = \"llama\"");
        let text = text.replace("[\"owner\"]", "[\"owner\", \"auditor\"]");
        std::fs::write(&settings, text).unwrap();
        project.succeeds(&["import", "world/documents/S-030"]);
        Some(project)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn document(&self, slot: usize) -> PathBuf {
        self.path(&format!("world/documents/S-030/DOC-{slot:02}.txt"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dossier"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("DOSSIER_WORKER", &self.worker)
            .env("DOSSIER_CACHE", &self.cache)
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn succeeds(&self, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
        output
    }

    /// Builds, and gives the one target of the JSON.
    fn build(&self) -> Value {
        let output = self.succeeds(&["build", "S-030", "--json", "--quiet"]);
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["targets"][0].clone()
    }
}

fn counts(target: &Value) -> [u64; 4] {
    ["hit", "cut_off", "generated", "settled"].map(|name| target["counts"][name].as_u64().unwrap())
}

#[test]
fn a_root_is_built_changed_refused_and_rebuilt() {
    let Some(project) = Project::new() else { return };
    let first = project.build();
    println!(
        "RAN the real model: {} calls, {} new tokens, {} s, root {}",
        first["model_calls"], first["new_tokens"], first["seconds"], first["root_status"]
    );
    assert_eq!(counts(&first), [0, 0, DOCUMENTS as u64 + 1, 0]);
    assert_eq!(first["root_status"], "VALID");

    let shown = project.succeeds(&["show", "S-030", "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let claims = shown["claims"].as_array().unwrap();
    assert!((1..=4).contains(&claims.len()), "{claims:?}");
    for claim in claims {
        println!(
            "  {} / {} / {}: {}",
            claim["subject"], claim["field"], claim["value"], claim["support"]
        );
        assert_ne!(claim["support"], "unchecked", "an anchored claim is copied from its line");
    }
    let claim = claims[0]["id"].as_str().unwrap();
    let hops = project.succeeds(&["prov", claim, "--check", "--json"]);
    let hops: Value = serde_json::from_slice(&hops.stdout).unwrap();
    assert!(hops["hops"].as_array().unwrap().iter().all(|hop| hop["verified"] == true));

    // Nothing is missing, so neither the worker nor the model is needed.
    let elsewhere = Project { worker: "/bin/false".into(), cache: "/nowhere".into(), ..project };
    assert_eq!(counts(&elsewhere.build()), [DOCUMENTS as u64 + 1, 0, 0, 0]);

    let (worker, cache) = real_model().unwrap();
    let project = Project { worker, cache, ..elsewhere };
    let text = std::fs::read_to_string(project.document(2)).unwrap();
    std::fs::write(project.document(2), text.replace("delivery: ", "delivery: 1 or ")).unwrap();
    assert_eq!(project.run(&["show", "S-030"]).status.code(), Some(10));
    let second = project.build();
    assert_eq!(second["recomputed"], 2);
    assert_eq!(counts(&second)[0], DOCUMENTS as u64 - 1);
}

#[test]
fn a_killed_worker_is_a_fault_and_the_next_build_ends_as_an_undisturbed_one() {
    let Some(project) = Project::new() else { return };
    let mut build = project
        .command(&["build", "S-030", "--log-format", "json"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut finished = 0;
    let stderr = std::io::BufReader::new(build.stderr.take().unwrap());
    let mut said = String::new();
    for line in std::io::BufRead::lines(stderr) {
        let line = line.unwrap();
        said.push_str(&line);
        said.push('\n');
        finished += u32::from(line.contains("\"finished\""));
        if finished == 2 {
            // The third node is being generated.
            std::thread::sleep(Duration::from_millis(300));
            kill_workers_of(build.id());
            finished += 100;
        }
    }
    let status = build.wait().unwrap();
    assert_eq!(status.code(), Some(100), "{said}");
    assert!(said.contains("S-030#leaf-02"), "{said}");
    let resumed = project.build();
    println!("RAN the kill test: {} hits kept", counts(&resumed)[0]);
    assert_eq!(counts(&resumed)[0], 2);
    let undisturbed = Project::new().unwrap().build();
    assert_eq!(resumed["output"], undisturbed["output"]);
    assert_eq!(resumed["root"], undisturbed["root"]);
}

/// Kills the worker that a build started.
fn kill_workers_of(build: u32) {
    let children = std::fs::read_to_string(format!("/proc/{build}/task/{build}/children")).unwrap();
    assert!(!children.trim().is_empty(), "the build has no worker");
    for child in children.split_whitespace() {
        assert!(Command::new("kill").args(["-9", child]).status().unwrap().success());
    }
}

#[test]
fn no_worker_outlives_its_build_and_no_revoked_text_reaches_it() {
    let Some(mut project) = Project::new() else { return };
    let canary = "CANARY-7f3a91";
    let mut text = std::fs::read_to_string(project.document(1)).unwrap();
    text.push_str(&format!("\n{canary} stands here.\n"));
    std::fs::write(project.document(1), text).unwrap();
    project.succeeds(&["import", "world/documents/S-030"]);
    project.succeeds(&["revoke", "DOC-01", "--from", "owner"]);

    // Every frame that goes to the worker and comes back is recorded on the way.
    let tap = project.path("tap");
    let frames = project.path("frames");
    let script = format!(
        "#!/bin/sh\ntee -a '{0}' | '{1}' | tee -a '{0}'\n",
        frames.display(),
        project.worker.display()
    );
    std::fs::write(&tap, script).unwrap();
    make_executable(&tap);
    project.worker = tap;
    let mut build = project
        .command(&["build", "S-030", "--log-format", "json", "--max-calls", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = {
        let status = build.wait().unwrap();
        assert_eq!(status.code(), Some(97), "the limit of calls ends the build");
        build.wait_with_output().unwrap()
    };
    let frames = std::fs::read(&frames).unwrap();
    assert!(frames.len() > 1000, "the frames were recorded");
    for bytes in [&frames, &output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(bytes).contains(canary));
    }

    let (worker, _) = real_model().unwrap();
    project.worker = worker;
    let mut build = project
        .command(&["build", "S-030"])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let children = wait_for_child(build.id());
    build.kill().unwrap();
    build.wait().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    for child in children {
        assert!(!Path::new(&format!("/proc/{child}/exe")).exists(), "worker {child} lives on");
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn wait_for_child(build: u32) -> Vec<String> {
    for _ in 0..600 {
        let children = std::fs::read_to_string(format!("/proc/{build}/task/{build}/children"));
        let children: Vec<String> =
            children.unwrap_or_default().split_whitespace().map(String::from).collect();
        if !children.is_empty() {
            return children;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the build started no worker");
}
