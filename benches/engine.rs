//! The engine's steps on thirty dossiers of twelve documents (480 nodes), in a memory file system.
//! Absolute times; `ratios` sets them against the raw operations of the same run.

mod world;

use divan::Bencher;
use divan::counter::ItemsCount;
use dossier::plan::Plan;
use world::{World, memory};

const DOSSIERS: u32 = 30;
const DOCUMENTS: u32 = 12;
const NODES: usize = 480;

fn main() {
    divan::main();
}

fn imported() -> World {
    World::imported(&memory(), DOSSIERS, DOCUMENTS).expect("the world can be written")
}

fn built() -> World {
    let world = imported();
    world.build().expect("the world can be built");
    world
}

/// Journal to graph: every derivation id.
#[divan::bench]
fn instantiate(bencher: Bencher<'_, '_>) {
    let world = imported();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| {
        let reader = world.store.read().expect("the store can be read");
        let graphs = world.dossiers.iter().map(|name| world.graph(&reader, name));
        graphs.map(|graph| graph.expect("the journal is sound").len()).sum::<usize>()
    });
}

/// Graph to plan, everything realised: one look-up a node.
#[divan::bench]
fn plan(bencher: Bencher<'_, '_>) {
    let world = built();
    let reader = world.store.read().expect("the store can be read");
    let graphs = world.dossiers.iter().map(|name| world.graph(&reader, name));
    let graphs: Vec<_> = graphs.map(|graph| graph.expect("the journal is sound")).collect();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| {
        let reader = world.store.read().expect("the store can be read");
        let plans = graphs.iter().map(|graph| Plan::make(graph, &reader));
        plans.map(|plan| plan.expect("the store can be read").hits()).sum::<usize>()
    });
}

/// Everything from nothing, two commits a dossier.
#[divan::bench(sample_count = 10)]
fn cold_build(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(NODES))
        .with_inputs(imported)
        .bench_local_refs(|world| world.build().expect("the world can be built"));
}

/// A build that finds nothing to do.
#[divan::bench]
fn no_op_build(bencher: Bencher<'_, '_>) {
    let world = built();
    bencher
        .counter(ItemsCount::new(NODES))
        .bench_local(|| world.build().expect("the world can be built"));
}

/// `status` on thirty dossiers, each folder re-hashed.
#[divan::bench]
fn status(bencher: Bencher<'_, '_>) {
    let world = built();
    bencher
        .counter(ItemsCount::new(u64::from(DOSSIERS)))
        .bench_local(|| world.status().expect("the store can be read"));
}
