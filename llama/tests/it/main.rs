//! The worker as a process: what it answers, and how it ends.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod model;
mod pipes;
mod worker;
