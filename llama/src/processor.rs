//! The instruction level that this program was compiled for, by name, and whether the processor
//! has it. llama.cpp is compiled for the same level and would die on the first missing instruction.

use serde::Serialize;

/// The level as it was given to the compiler; `build.rs` refuses one without a name.
pub const COMPILED_LEVEL: &str = env!("DOSSIER_INSTRUCTION_LEVEL");

/// What the processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Instructions {
    /// 256-bit integer vectors.
    pub avx2: bool,
    /// Fused multiply-add.
    pub fma: bool,
    /// Half-precision conversion.
    pub f16c: bool,
    /// Bit manipulation.
    pub bmi2: bool,
}

/// What this program's own code was compiled with.
pub const COMPILED: Instructions = Instructions {
    avx2: cfg!(target_feature = "avx2"),
    fma: cfg!(target_feature = "fma"),
    f16c: cfg!(target_feature = "f16c"),
    bmi2: cfg!(target_feature = "bmi2"),
};

impl Instructions {
    /// What the processor has now. The processor itself is asked: `is_x86_feature_detected` answers
    /// from what the program was compiled for, and would always agree.
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, unused_unsafe)]
    pub fn present() -> Self {
        use std::arch::x86_64::{__cpuid, __cpuid_count};
        let has = |register: u32, bit: u32| register & (1 << bit) != 0;
        // SAFETY: every x86-64 processor has the instruction; older compilers call it unsafe.
        let (basic, extended) = unsafe {
            let seventh = __cpuid(0).eax >= 7;
            (__cpuid(1).ecx, if seventh { __cpuid_count(7, 0).ebx } else { 0 })
        };
        // Without the system's support for wide registers none of them can be used.
        let usable = has(basic, 27) && has(basic, 28);
        Self {
            avx2: usable && has(extended, 5),
            fma: usable && has(basic, 12),
            f16c: usable && has(basic, 29),
            bmi2: has(extended, 8),
        }
    }

    /// None of these exist elsewhere.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn present() -> Self {
        Self { avx2: false, fma: false, f16c: false, bmi2: false }
    }

    /// The names of what is compiled in and missing here.
    fn missing(self, compiled: Self) -> Vec<&'static str> {
        let pairs = [
            ("AVX2", compiled.avx2, self.avx2),
            ("FMA", compiled.fma, self.fma),
            ("F16C", compiled.f16c, self.f16c),
            ("BMI2", compiled.bmi2, self.bmi2),
        ];
        pairs.iter().filter(|(_, compiled, here)| *compiled && !here).map(|it| it.0).collect()
    }
}

/// The processor is older than the level this program was compiled for.
#[derive(Debug, thiserror::Error)]
#[error(
    "this worker was built for {COMPILED_LEVEL} and the processor lacks {}; build it with \
     RUSTFLAGS=\"-C target-cpu=x86-64\" (several times slower, and another builder in every key)",
    missing.join(", ")
)]
pub struct ProcessorTooOld {
    /// What it lacks.
    pub missing: Vec<&'static str>,
}

/// Refuses a processor that lacks what was compiled in.
pub fn check() -> Result<(), ProcessorTooOld> {
    check_against(Instructions::present(), COMPILED)
}

fn check_against(here: Instructions, compiled: Instructions) -> Result<(), ProcessorTooOld> {
    let missing = here.missing(compiled);
    match missing.is_empty() {
        true => Ok(()),
        false => Err(ProcessorTooOld { missing }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_processor_is_refused_in_words() {
        let level = Instructions { avx2: true, fma: true, f16c: true, bmi2: true };
        let older = Instructions { avx2: false, bmi2: false, ..level };
        let refusal = check_against(older, level).unwrap_err().to_string();
        assert!(refusal.contains("lacks AVX2, BMI2;"), "{refusal}");
        assert!(check_against(level, older).is_ok());
    }
}
