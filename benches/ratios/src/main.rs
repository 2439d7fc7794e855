//! What the engine costs beside the raw operations, as ratios measured in one run. Prints one line
//! a step: microseconds a node, and how many times the raw operation that is. The store lies in a
//! memory file system, so that flushing costs nothing; the last lines repeat the build on disk.

mod raw;
#[path = "../../world/mod.rs"]
mod world;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use dossier::output::Output;
use dossier::plan::Plan;
use dossier::realise::extract::Extract;
use dossier::realise::task::{Task, Work};
use dossier::realise::{Production, Realiser};
use dossier_store::derivation::ResolvedDerivation;
use dossier_store::read::Lookup;
use raw::Entry;
use world::{Failure, World, memory};

/// How often each step is timed. The least time counts: whatever else the machine does only adds.
const ROUNDS: usize = 15;
/// What keys, look-ups, reading, extracting and encoding may cost a node, in microseconds.
const NODE_LIMIT: f64 = 50.0;
/// What `status` may take on dossiers and documents of this number, in milliseconds.
const STATUS_LIMIT: f64 = 50.0;
const STATUS_SHAPE: (u32, u32) = (30, 12);

/// Takes how many dossiers, and of how many documents; without arguments, two shapes.
fn main() -> Result<(), Failure> {
    let asked = std::env::args().skip(1).map(|number| number.parse());
    match asked.collect::<Result<Vec<u32>, _>>()?.as_slice() {
        [dossiers, documents] => shape(*dossiers, *documents),
        [] => shape(STATUS_SHAPE.0, STATUS_SHAPE.1).and_then(|()| shape(1, 1000)),
        _ => Err("give the number of dossiers, and of documents in each".into()),
    }
}

/// All steps on one shape of world.
fn shape(dossiers: u32, documents: u32) -> Result<(), Failure> {
    let (cold, before, world) = cold(&memory(), dossiers, documents)?;
    let nodes = world.build()?.hit;
    println!("{dossiers} dossiers of {documents} documents: {nodes} nodes");
    let written = raw::written(&before, raw::entries(world.store.path())?);
    let raw = Raw::measure(&written, 2 * world.dossiers.len())?;
    let line = |step: &str, time: Duration, raw: Option<(&str, Duration)>| {
        let micros = time.as_secs_f64() * 1e6 / nodes as f64;
        match raw {
            Some((name, raw)) => {
                let ratio = time.as_secs_f64() / raw.as_secs_f64();
                println!("  {step:<34}{micros:>8.2} µs a node {ratio:>8.2} × {name}");
            }
            None => println!("  {step:<34}{micros:>8.2} µs a node"),
        }
    };
    line("raw: BLAKE3 of what is stored", raw.hash, None);
    line("raw: redb insert of the same", raw.insert, None);
    line("raw: redb get of realisations", raw.get, None);
    let (keys, plan) = keys_and_plan(&world)?;
    let (read, extract, encode) = leaves(&world)?;
    line("journal and keys", keys, Some(("BLAKE3", raw.hash)));
    line("look-ups of a plan", plan, Some(("redb get", raw.get)));
    line("reading tasks", read, Some(("BLAKE3", raw.hash)));
    line("extract itself", extract, Some(("BLAKE3", raw.hash)));
    line("encoding outputs", encode, Some(("BLAKE3", raw.hash)));
    let no_op = least(|| timed(|| world.build()))?;
    line("no-op build", no_op, Some(("redb get", raw.get)));
    line("cold build", cold, Some(("redb insert + BLAKE3", raw.insert + raw.hash)));
    let own = keys + plan + read + extract + encode;
    let rest = cold.saturating_sub(own);
    line("its writing, the rest", rest, Some(("redb insert + BLAKE3", raw.insert + raw.hash)));
    limit("engine without writing, µs a node", own.as_secs_f64() * 1e6 / nodes as f64, NODE_LIMIT);
    let status = least(|| timed(|| world.status()))?;
    line("status of everything", status, Some(("no-op build", no_op)));
    if (dossiers, documents) == STATUS_SHAPE {
        limit("status, ms", status.as_secs_f64() * 1e3, STATUS_LIMIT);
    }
    let disk = disk(dossiers, documents)?;
    line("cold build on disk, flushed", disk, Some(("the same in memory", cold)));
    Ok(())
}

fn limit(what: &str, found: f64, limit: f64) {
    let verdict = if found <= limit { "within" } else { "OVER" };
    println!("  {what:<34}{found:>8.2}            {verdict} {limit}");
}

/// The least time of a cold build, the store's entries before the last one, and what it left.
fn cold(
    place: &Path,
    dossiers: u32,
    documents: u32,
) -> Result<(Duration, Vec<Entry>, World), Failure> {
    let mut times = Vec::with_capacity(ROUNDS);
    loop {
        let world = World::imported(place, dossiers, documents)?;
        let before = raw::entries(world.store.path())?;
        times.push(timed(|| world.build())?);
        if times.len() == ROUNDS {
            let least = times.into_iter().min().unwrap_or_default();
            return Ok((least, before, world));
        }
    }
}

fn disk(dossiers: u32, documents: u32) -> Result<Duration, Failure> {
    let place = std::env::current_exe()?.parent().ok_or("a program lies in a folder")?.to_owned();
    Ok(cold(&place, dossiers, documents)?.0)
}

/// The raw operations on what one build wrote.
struct Raw {
    hash: Duration,
    insert: Duration,
    get: Duration,
}

impl Raw {
    fn measure(written: &[Entry], commits: usize) -> Result<Self, Failure> {
        let folder = tempfile::tempdir_in(memory())?;
        let mut number = 0;
        let insert = least(|| {
            number += 1;
            let database = raw::database(&folder.path().join(number.to_string()))?;
            timed(|| raw::insert(&database, written, commits))
        })?;
        let database = raw::database(&folder.path().join("last"))?;
        raw::insert(&database, written, commits)?;
        let realisations = written.iter().filter(|entry| entry.table == "realisation");
        let keys: Vec<&[u8]> = realisations.map(|entry| entry.key.as_slice()).collect();
        Ok(Self {
            hash: least(|| timed(|| Ok(black_box(raw::hash(written)))))?,
            insert,
            get: least(|| timed(|| raw::get(&database, "realisation", &keys)))?,
        })
    }
}

/// The times of all graphs, and of all plans.
fn keys_and_plan(world: &World) -> Result<(Duration, Duration), Failure> {
    let keys = least(|| {
        let reader = world.store.read()?;
        timed(|| {
            world
                .dossiers
                .iter()
                .map(|name| world.graph(&reader, name))
                .collect::<Result<Vec<_>, _>>()
        })
    })?;
    let plan = least(|| {
        let reader = world.store.read()?;
        let graphs = world.dossiers.iter().map(|name| world.graph(&reader, name));
        let graphs: Vec<_> = graphs.collect::<Result<_, _>>()?;
        timed(|| {
            let plans = graphs.iter().map(|graph| Plan::make(graph, &reader));
            Ok(black_box(plans.collect::<Result<Vec<_>, _>>()?))
        })
    })?;
    Ok((keys, plan))
}

/// The times of reading every node's task, of extracting from all leaves, and of encoding what
/// came out.
fn leaves(world: &World) -> Result<(Duration, Duration, Duration), Failure> {
    let inputs = resolved(world)?;
    let read = || -> Result<Vec<Task>, Failure> {
        Ok(inputs.iter().map(|(node, bytes)| Task::read(node, bytes)).collect::<Result<_, _>>()?)
    };
    let tasks = read()?;
    let extract = || -> Result<Vec<Output>, Failure> {
        let mut extract = Extract::default();
        let leaves = tasks.iter().filter(|task| matches!(task.work, Work::Leaf(_)));
        let outputs = leaves.map(|task| match extract.realise(task)? {
            Production::Ruled { claims } => {
                Ok(Output { status: dossier::output::NodeStatus::Valid, claims })
            }
            _ => Err(Failure::from("a rule-based answer was expected")),
        });
        outputs.collect()
    };
    let outputs = extract()?;
    let encode = || Ok(outputs.iter().map(|output| output.encode().len()).sum::<usize>());
    Ok((least(|| timed(read))?, least(|| timed(extract))?, least(|| timed(|| encode()))?))
}

/// Every node resolved, with the bytes of its inputs.
fn resolved(world: &World) -> Result<Vec<(ResolvedDerivation, Vec<Vec<u8>>)>, Failure> {
    let reader = world.store.read()?;
    let mut nodes = Vec::new();
    for name in &world.dossiers {
        for (_, node) in world.graph(&reader, name)?.nodes() {
            let output = |id| Some(reader.realisation(id).ok()??.output);
            let resolved = node.derivation.resolve(output).ok_or("everything is realised")?;
            let bytes = resolved.inputs.iter().map(|input| {
                Ok::<_, Failure>(reader.blob(input.source)?.ok_or("every input is stored")?)
            });
            let bytes = bytes.collect::<Result<_, _>>()?;
            nodes.push((resolved, bytes));
        }
    }
    Ok(nodes)
}

fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<Duration, Failure> {
    let started = Instant::now();
    black_box(work()?);
    Ok(started.elapsed())
}

fn least(mut time: impl FnMut() -> Result<Duration, Failure>) -> Result<Duration, Failure> {
    let times = (0..ROUNDS).map(|_| time()).collect::<Result<Vec<_>, _>>()?;
    Ok(times.into_iter().min().unwrap_or_default())
}
