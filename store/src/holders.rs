//! Who has the store open, for the message that someone else is writing.

use std::path::Path;

/// The processes that have the file open, as `name (pid n)`, without this one. Empty where the
/// system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn of(path: &Path) -> Vec<String> {
    let Ok(path) = path.canonicalize() else { return Vec::new() };
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut holders: Vec<(u32, String)> = processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != std::process::id() && has_open(*pid, &path))
        .map(|pid| (pid, format!("{} (pid {pid})", name(pid))))
        .collect();
    holders.sort();
    holders.into_iter().map(|(_, holder)| holder).collect()
}

#[cfg(target_os = "linux")]
fn has_open(pid: u32, path: &Path) -> bool {
    let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    files.flatten().any(|file| std::fs::read_link(file.path()).is_ok_and(|link| link == path))
}

#[cfg(target_os = "linux")]
fn name(pid: u32) -> String {
    match std::fs::read_to_string(format!("/proc/{pid}/comm")) {
        Ok(name) => name.trim_end().to_owned(),
        Err(_) => "a process".to_owned(),
    }
}

/// The processes that have the file open. Empty: this system does not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn of(_path: &Path) -> Vec<String> {
    Vec::new()
}
