//! From the user's folder to the journal: the only reader of that folder. [`scan`] reads it,
//! [`mirror`] says as events what differs from the dossier, [`import`] writes them. The folder is
//! never written to, and nothing outside it is read.

mod settings;

mod folder;
mod ignored;
mod open;

mod convert;
mod unreadable;

mod scan;
mod stored;
mod walk;

mod dossiers;

mod mirror;
mod pairing;

mod import;

#[cfg(test)]
mod import_tests;
#[cfg(test)]
mod mirror_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod walk_tests;

pub use convert::ConverterFault;
pub use dossiers::dossiers_in;
pub use folder::{decode_path, encode_path};
pub use ignored::IGNORE_FILE;
pub use import::{ImportError, ImportOptions, Imported, Mode, Rebind, import};
pub use mirror::{Change, ChangeKind, Mirror, MirrorError, Vanished, mirror};
pub use scan::{Scan, ScanError, ScannedFile, Skipped};
pub use settings::{ImportSettings, converters};
pub use unreadable::{Reason, UnreadableFile};
pub use walk::scan;
