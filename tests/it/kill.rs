//! `kill -9` at any moment: what was said to be finished is there, the store is sound, and the next
//! build completes with the same roots as one that nobody disturbed.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use dossier_corpus::scale::Scale;
use serde_json::Value;

use crate::support::program::Program;

/// Twenty dossiers of twelve documents: 320 nodes.
const SCALE: Scale = Scale { seed: 9, dossiers: 20, documents: 12 };
const NODES: usize = 320;
const KILLS: u64 = 50;

fn imported() -> Program {
    let program = Program::new();
    for document in SCALE.documents() {
        let name = format!("docs/{}/{}.txt", document.dossier, document.doc_id);
        program.write(&name, document.text);
    }
    program.ok("init");
    program.ok("import docs");
    program
}

/// Another folder with a copy of the store.
fn copy(of: &Program) -> Program {
    let program = Program::new();
    program.write(".dossier/store.redb", std::fs::read(of.store_file()).unwrap());
    program
}

const BUILD: &str = "build --no-import --log-format json";

/// One progress line and when it was read.
type Told = (Duration, Value);

/// Builds, and kills the build after a while, if it still runs then.
fn build(program: &Program, kill_after: Option<Duration>) -> Vec<Told> {
    let started = Instant::now();
    let mut build = program.start(BUILD);
    let lines = BufReader::new(build.stderr.take().unwrap()).lines();
    let reader = std::thread::spawn(move || {
        // The last line of a killed program may be half a line, which says nothing.
        let lines = lines.map_while(Result::ok);
        let told =
            lines.map_while(|line| Some((started.elapsed(), serde_json::from_str(&line).ok()?)));
        told.collect::<Vec<Told>>()
    });
    if let Some(after) = kill_after {
        std::thread::sleep(after.saturating_sub(started.elapsed()));
        build.kill().unwrap();
    }
    build.wait().unwrap();
    reader.join().unwrap()
}

fn finished(told: &[Told]) -> impl Iterator<Item = (String, String)> {
    let lines = told.iter().filter(|(_, line)| line["event"] == "finished");
    lines.map(|(_, line)| {
        let name =
            format!("{}#{}", line["dossier"].as_str().unwrap(), line["node"].as_str().unwrap());
        (name, line["out"].as_str().unwrap().to_owned())
    })
}

/// A share from 0 to 1, seeded by a number and far from those of its neighbours (splitmix64).
fn share(number: u64) -> f64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Every node's output in the answer of `plan` or `build`, by dossier and name.
fn outputs(answer: &Value) -> BTreeMap<String, String> {
    let mut outputs = BTreeMap::new();
    for target in answer["targets"].as_array().unwrap() {
        for node in target["nodes"].as_array().unwrap() {
            let (dossier, name) = (target["dossier"].as_str(), node["name"].as_str());
            let name = format!("{}#{}", dossier.unwrap(), name.unwrap());
            outputs.extend(node["out"].as_str().map(|output| (name, output.to_owned())));
        }
    }
    outputs
}

/// What is realised in the store.
fn realised(program: &Program) -> BTreeMap<String, String> {
    outputs(&program.json("plan --imported"))
}

fn seconds(told: Option<&Told>) -> f64 {
    told.map_or(0.0, |(at, _)| at.as_secs_f64())
}

fn leftovers(folder: &Path) -> usize {
    std::fs::read_dir(folder.join(".dossier")).unwrap().count()
}

/// Kills one build, checks what is left of it, and completes it. How many nodes it told of.
fn kill(number: u64, template: &Program, expected: &BTreeMap<String, String>, span: f64) -> usize {
    let program = copy(template);
    let told = build(&program, Some(Duration::from_secs_f64(span * share(number))));
    let promised: BTreeMap<String, String> = finished(&told).collect();
    program.run("store verify").with_code(0);
    let kept = realised(&program);
    for (node, output) in &promised {
        assert_eq!(kept.get(node), Some(output), "kill {number}: {node} was said to be finished");
    }
    let completed = program.json("build --no-import");
    let ran = completed["targets"].as_array().unwrap().iter();
    let ran: u64 = ran.map(|target| target["recomputed"].as_u64().unwrap()).sum();
    assert_eq!(ran as usize, NODES - kept.len(), "kill {number}: what was missing ran");
    assert_eq!(outputs(&completed), *expected, "kill {number}");
    assert_eq!(leftovers(program.path()), 1, "nothing lies about");
    promised.len()
}

#[test]
fn a_killed_build_loses_nothing_it_told_of() {
    let template = imported();
    let undisturbed = copy(&template);
    let told = build(&undisturbed, None);
    let expected = realised(&undisturbed);
    assert_eq!(expected.len(), NODES);
    let first = told.iter().find(|(_, line)| line["event"] == "finished");
    let (first, last) = (seconds(first), seconds(told.last()));
    let kills = |parity: u64| {
        let numbers = (0..KILLS).filter(move |number| number % 2 == parity);
        let told = numbers.map(|number| kill(number, &template, &expected, last * 1.05));
        told.collect::<Vec<usize>>()
    };
    let told = std::thread::scope(|scope| {
        let odd = scope.spawn(|| kills(1));
        [kills(0), odd.join().unwrap()].concat()
    });
    let during = told.iter().filter(|told| (1..NODES).contains(told)).count();
    eprintln!(
        "{during} of {KILLS} kills fell between the first and the last commit \
         (undisturbed from {first:.2} s to {last:.2} s); {:?} nodes were told of",
        told
    );
    assert!(during >= 10, "too few kills fell into the build: {during}");
}
