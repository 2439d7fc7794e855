//! Frames, errors and endings, without a model.

use std::time::Duration;

use serde_json::json;

use super::worker::Worker;

const SOON: Duration = Duration::from_secs(5);

#[test]
fn the_identity_needs_no_model() {
    let mut worker = Worker::start();
    let identity = worker.ask(&json!({ "request": "identity", "model_path": null }));
    assert_eq!(identity["reply"], "identity");
    assert_eq!(identity["builder"]["attention"], "eager");
    assert_ne!(identity["builder"]["instruction_level"], "native");
    assert!(identity["model"].is_null());
    assert_eq!(identity["devices"][0]["backend"], "CPU");
}

#[test]
fn the_end_of_input_ends_the_worker_in_order_and_silently() {
    let mut worker = Worker::start();
    worker.close_input();
    assert!(worker.ended_within(SOON).is_some());
    assert_eq!(worker.errors(), "");
}

#[test]
fn a_frame_that_is_no_request_is_answered_and_ends_the_worker() {
    let frames: [&[u8]; 7] = [
        &[255, 255, 255, 255],
        &[0, 0, 0, 0],
        &[1, 0, 0, 1],
        b"\x05\0\0\0no it",
        b"\x02\0\0\0{}",
        b"\x14\0\0\0{\"request\":\"unknown\"",
        b"\x23\0\0\0{\"request\":\"identity\",\"surprise\":1}",
    ];
    for frame in frames {
        let mut worker = Worker::start();
        worker.send_bytes(frame);
        let reply = worker.frame().unwrap();
        assert_eq!(reply["reply"], "error", "{frame:?}");
        assert!(worker.frame().is_none(), "{frame:?}");
        assert!(!worker.ended_within(SOON).unwrap().success(), "{frame:?}");
    }
}

#[test]
fn what_needs_a_model_is_refused_without_one() {
    let mut worker = Worker::start();
    let count = worker.ask(&json!({ "request": "count", "messages": [] }));
    assert_eq!((&count["reply"], &count["code"]), (&json!("error"), &json!("no_model")));
    let generate = json!({
        "request": "generate", "messages": [], "grammar": null,
        "max_tokens": 1, "input_budget": 1,
    });
    assert_eq!(worker.ask(&generate)["code"], "no_model");
}

#[test]
fn bad_model_files_are_told_apart_and_the_worker_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("text"), "hello").unwrap();
    std::fs::write(path("short"), b"GGUF\x03\0\0\0").unwrap();
    let mut worker = Worker::start();
    for (name, code) in [
        ("none", "model_missing"),
        ("", "model_not_a_file"),
        ("text", "model_not_gguf"),
        ("short", "model_truncated"),
    ] {
        let identity = json!({ "request": "identity", "model_path": path(name) });
        assert_eq!(worker.ask(&identity)["code"], code);
    }
    let load = |threads: u32| {
        json!({
            "request": "load", "model_path": path("text"), "expected_sha256": "00",
            "threads": threads, "context": 512,
        })
    };
    assert_eq!(worker.ask(&load(1))["code"], "model_mismatch");
    assert_eq!(worker.ask(&load(0))["code"], "out_of_range");
}
