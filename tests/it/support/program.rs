//! The built program, run in a folder of its own with an empty environment.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder in which the program is run.
pub(crate) struct Program {
    folder: TempDir,
}

/// What one run came to.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The arguments, for messages.
    pub(crate) arguments: String,
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Program {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: super::folder() }
    }

    /// A store with these settings and documents at `docs`, imported as dossier `docs`.
    pub(crate) fn with_documents(settings: &str, documents: &[(&str, &str)]) -> Self {
        let program = Self::new();
        program.write("dossier.toml", settings);
        for (name, text) in documents {
            program.write(&format!("docs/{name}"), text);
        }
        program.ok("init");
        program.ok("import docs");
        program
    }

    /// Twelve documents of four facts each, imported as dossier `docs`.
    pub(crate) fn twelve() -> Self {
        Self::twelve_for("")
    }

    /// The same with settings.
    pub(crate) fn twelve_for(settings: &str) -> Self {
        let documents: Vec<(String, String)> =
            (0..12).map(|slot| (format!("d{slot:02}.txt"), super::text(slot, 1))).collect();
        let documents: Vec<(&str, &str)> =
            documents.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        Self::with_documents(settings, &documents)
    }

    /// Where the program is run.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The store's file.
    pub(crate) fn store_file(&self) -> PathBuf {
        self.path().join(".dossier/store.redb")
    }

    /// Writes a file below the folder.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The program, ready to be run with these arguments, split at spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dossier"));
        command.args(arguments.split_whitespace()).current_dir(self.path()).env_clear();
        command.env("HOME", self.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs the program with this on its standard input.
    pub(crate) fn run_with(&self, arguments: &str, input: &str) -> Ran {
        let file = super::folder();
        let path = file.path().join("input");
        std::fs::write(&path, input).unwrap();
        let mut command = self.command(arguments);
        let output = command.stdin(std::fs::File::open(path).unwrap()).output().unwrap();
        Ran {
            arguments: arguments.to_owned(),
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs the program, which must end with 0, and gives its standard output.
    pub(crate) fn ok(&self, arguments: &str) -> String {
        self.run(arguments).with_code(0).out
    }

    /// Runs the program with `--json` and reads what it prints.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        self.run(&format!("{arguments} --json")).with_code(0).json()
    }

    /// Starts the program with its output on pipes.
    pub(crate) fn start(&self, arguments: &str) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

impl Ran {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "dossier {}\n{}\n{}", self.arguments, self.out, self.err);
        self
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("dossier {}: {error}\n{}", self.arguments, self.out))
    }

    /// Everything that was printed.
    pub(crate) fn everything(&self) -> String {
        format!("{}\n{}", self.out, self.err)
    }
}
