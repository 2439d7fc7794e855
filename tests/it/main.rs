//! The integration tests, as one program. Each file is about one promise; `tidy` sees to it that
//! none is forgotten here.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod support;

mod counts;
mod faults;
mod rights;
mod second_runs;
mod shapes;
mod statuses;

mod incremental;
mod keys;

mod canary;
mod commands;
mod damage;
mod hostile;
mod imports;
mod json;
mod serving;

mod kill;
mod meanwhile;

mod invariants;
mod readme;
mod tidy;
