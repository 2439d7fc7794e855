//! Programs that behave badly in the worker's place.

use std::os::unix::fs::PermissionsExt;

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);
const IMPATIENCE: Duration = Duration::from_millis(400);

/// A worker that is this shell script.
fn scripted(folder: &tempfile::TempDir, script: &str, patience: Duration) -> Worker {
    let path = folder.path().join("worker");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    loop {
        match Worker::spawn(&path, patience) {
            // Another test's process still holds the file open between its fork and its exec.
            Err(WorkerFault::Spawn { source, .. })
                if source.kind() == ErrorKind::ExecutableFileBusy =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            spawned => return spawned.unwrap(),
        }
    }
}

fn fault(script: &str) -> WorkerFault {
    fault_within(script, PATIENCE)
}

fn fault_within(script: &str, patience: Duration) -> WorkerFault {
    let folder = tempfile::tempdir().unwrap();
    scripted(&folder, script, patience).count(&[]).unwrap_err()
}

#[test]
fn a_missing_program_is_a_fault() {
    let spawned = Worker::spawn(Path::new("/nonexistent/worker"), PATIENCE);
    assert!(matches!(spawned.err(), Some(WorkerFault::Spawn { .. })));
}

#[test]
fn death_is_a_fault_that_says_how() {
    let told = fault("exit 3");
    let WorkerFault::Died { status, .. } = &told else { panic!("{told}") };
    assert!(status.contains('3'), "{status}");
}

#[test]
fn silence_is_a_fault() {
    assert!(matches!(fault_within("exec sleep 30", IMPATIENCE), WorkerFault::Silent { .. }));
}

#[test]
fn nonsense_is_a_fault() {
    for script in [
        "echo hello; exec sleep 30",
        r"printf '\377\377\377\377'; exec sleep 30",
        r"printf '\005\000\000\000no it'; exec sleep 30",
        r"printf '\002\000\000\000{}'; exec sleep 30",
        // It takes the request first: one that ends before that has died.
        r"head -c 4 > /dev/null; printf '\011\000\000\000{}'",
    ] {
        let told = fault(script);
        assert!(matches!(told, WorkerFault::Garbage { .. }), "{script}: {told}");
    }
}

#[test]
fn progress_is_waited_for_and_a_refusal_is_in_order() {
    let progress = r#"{"event":"progress","tokens":1}"#;
    let refusal = r#"{"reply":"error","code":"no_model","message":"none"}"#;
    let frame = |json: &str| format!(r"printf '\{:03o}\000\000\000%s' '{json}'", json.len());
    let wait = "sleep 1.2";
    let script = format!(
        "{p}; {wait}; {p}; {wait}; {r}; exec sleep 30",
        p = frame(progress),
        r = frame(refusal)
    );
    let told = fault_within(&script, Duration::from_secs(2));
    let WorkerFault::Refused { code, .. } = &told else { panic!("{told}") };
    assert_eq!(code, "no_model");
}

#[test]
fn a_dropped_worker_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let worker = scripted(&folder, "exec sleep 30", PATIENCE);
    let process = rustix::process::Pid::from_child(&worker.child);
    assert!(rustix::process::test_kill_process(process).is_ok());
    drop(worker);
    assert!(rustix::process::test_kill_process(process).is_err());
}
