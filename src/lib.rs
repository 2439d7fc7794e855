//! Summaries of document folders that can prove themselves: the pipeline of verbs, in the order the
//! data flows. A folder becomes versions and events, events a snapshot, snapshot and recipe a graph
//! of derivations, the graph a plan, the plan realisations, and a published root is served or
//! refused.

pub mod text;

pub mod document;
pub mod event;
pub mod evidence;

pub mod ingest;
pub mod snapshot;

pub mod current;

pub mod recipe;
pub mod settings;

pub mod builder;
pub mod chunk;
pub mod graph;
pub mod instantiate;

pub mod plan;

pub mod model;

pub mod claims;
pub mod edges;
pub mod output;
pub mod realise;

pub mod explain;
pub mod graph_view;
pub mod history;
pub mod provenance;
pub mod serve;
pub mod stale;
pub mod support;

pub mod check;

pub mod cli;
