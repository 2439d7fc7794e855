//! Puts the named instruction level of this build into the program, where keys take it from.
//! `native` names another level on every machine and is refused.

fn main() {
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let level = flags.split('\u{1f}').rev().find_map(|flag| flag.split("target-cpu=").nth(1));
    let baseline = match std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => "x86-64",
        _ => "baseline",
    };
    let level = level.unwrap_or(baseline);
    if level == "native" {
        println!("cargo::error=a worker needs a named instruction level, such as x86-64-v3");
    }
    println!("cargo::rustc-env=DOSSIER_INSTRUCTION_LEVEL={level}");
}
