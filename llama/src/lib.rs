//! The worker behind pipes: frames in, frames out, one model, one sequence, greedy. It opens no
//! file but the model, speaks to no network and trusts neither documents nor model files.
//! A bad request is answered in words; what llama.cpp aborts on is refused before it gets there.

pub mod frame;
pub mod protocol;

pub mod process;
pub mod processor;

pub mod gguf;
pub mod identity;
pub mod model_file;

pub mod chat;
pub mod vocabulary;

pub mod grammar;
pub mod greedy;

pub mod generate;
pub mod model;

pub mod serve;
