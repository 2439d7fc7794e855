//! Exit codes. They are part of the interface.

/// Done; current.
pub(super) const DONE: u8 = 0;
/// A difference was found and `--exit-code` asked to say so.
pub(super) const DIFFERENCE: u8 = 1;
/// Misuse of the command line.
pub(super) const USAGE: u8 = 2;
/// The store, or input and output.
pub(super) const STORE: u8 = 3;
/// Not found, or ambiguous.
pub(super) const NOT_FOUND: u8 = 4;
/// Denied to this principal.
pub(super) const DENIED: u8 = 5;
/// STALE, or the source cannot be reached.
pub(super) const STALE: u8 = 10;
/// NOT_BUILT.
pub(super) const NOT_BUILT: u8 = 11;
/// INVALID.
pub(super) const INVALID: u8 = 12;
/// PARTIAL, with `--strict`.
pub(super) const PARTIAL: u8 = 13;
/// `store verify` found something: this, plus a bit for each kind of finding.
pub(super) const VERIFY: u8 = 64;
/// `build` did not end well: this, plus a bit for each reason.
pub(super) const BUILD: u8 = 96;
/// The build was interrupted, or met a limit.
pub(super) const BUILD_INTERRUPTED: u8 = 1;
/// The root is INVALID.
pub(super) const BUILD_INVALID: u8 = 2;
/// The worker failed.
pub(super) const BUILD_FAULT: u8 = 4;
/// A second run came out otherwise.
pub(super) const BUILD_DIFFERS: u8 = 8;
/// The root is over budget.
pub(super) const BUILD_OVER_BUDGET: u8 = 16;
