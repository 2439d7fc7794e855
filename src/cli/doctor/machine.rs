//! The machine: its instruction set, cores and memory.

use super::{Examined, State};

pub(super) fn examine() -> Vec<Examined> {
    vec![instructions(), cores(), memory()]
}

/// The level that the worker is compiled for.
#[cfg(target_arch = "x86_64")]
fn instructions() -> Examined {
    let features = [
        ("AVX2", is_x86_feature_detected!("avx2")),
        ("FMA", is_x86_feature_detected!("fma")),
        ("F16C", is_x86_feature_detected!("f16c")),
        ("BMI2", is_x86_feature_detected!("bmi2")),
    ];
    let named = |wanted: bool| -> String {
        let names = features.iter().filter(|(_, present)| *present == wanted);
        names.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    };
    match features.iter().all(|(_, present)| *present) {
        true => Examined::ok("processor", format!("x86-64 with {}", named(true))),
        false => Examined::new(
            "processor",
            State::Warn,
            format!("x86-64 without {}; a local model needs them, rules do not", named(false)),
        ),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> Examined {
    let words = format!(
        "{}: exactness of a local model was measured on x86-64 only",
        std::env::consts::ARCH
    );
    Examined::new("processor", State::Warn, words)
}

fn cores() -> Examined {
    match std::thread::available_parallelism() {
        Ok(cores) => Examined::ok("cores", cores.to_string()),
        Err(error) => Examined::new("cores", State::Warn, format!("unknown: {error}")),
    }
}

fn memory() -> Examined {
    let told = std::fs::read_to_string("/proc/meminfo").ok();
    let total = told.as_deref().and_then(|told| gibibytes(told, "MemTotal"));
    let available = told.as_deref().and_then(|told| gibibytes(told, "MemAvailable"));
    match (total, available) {
        (Some(total), Some(available)) => {
            Examined::ok("memory", format!("{total:.1} GiB, {available:.1} GiB available"))
        }
        _ => Examined::new("memory", State::Warn, "unknown: this system does not tell"),
    }
}

/// A line of `/proc/meminfo`, which counts in KiB.
fn gibibytes(told: &str, name: &str) -> Option<f64> {
    let line = told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_gibibytes() {
        let told = "MemTotal:       25165824 kB\nMemFree: 1 kB\nMemAvailable:    1048576 kB\n";
        assert_eq!(gibibytes(told, "MemTotal"), Some(24.0));
        assert_eq!(gibibytes(told, "MemAvailable"), Some(1.0));
        assert_eq!(gibibytes(told, "Mem"), None);
        assert_eq!(gibibytes("MemTotal: many", "MemTotal"), None);
    }
}
