//! The builder's part of a key: the formats and programs whose change can change an output.

use dossier_store::encode::Map;

use crate::realise::extract;
use crate::settings::RealiserName;

/// The version of the output blob's format and of the parser of answers.
const OUTPUT_FORMAT: u64 = 1;
/// The version of the rules by which reduces settle, keep and merge.
const SETTLING: u64 = 1;

/// The builder of the `llama` realiser: ours, and what the worker says of itself.
pub fn with_worker(identity: Map) -> Map {
    let mut builder = of(RealiserName::Llama);
    builder.extend(identity);
    builder
}

/// The builder of a realiser that needs no fingerprint of its own.
pub fn of(realiser: RealiserName) -> Map {
    let mut builder = Map::from([
        ("realiser".into(), realiser.as_str().into()),
        ("output_format".into(), OUTPUT_FORMAT.into()),
        ("settling".into(), SETTLING.into()),
    ]);
    if realiser == RealiserName::Extract {
        builder.insert("extract".into(), extract::VERSION.into());
    }
    builder
}
