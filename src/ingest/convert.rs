//! Converters: programs that turn a file into text, without a shell. One that fails, hangs or
//! floods costs its own file a line in the report and never the import.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::settings::ImportSettings;

/// How long a converter may take for one file.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How long a program may take to say its version.
const VERSION_TIME_LIMIT: Duration = Duration::from_secs(5);
/// The most bytes that are kept of what a program says of its version or of a fault.
const SAID_LIMIT: u64 = 4096;
/// How long a program may go on after it closed its output, in steps of [`STEP`].
const STEPS_TO_END: u32 = 200;
const STEP: Duration = Duration::from_millis(10);

/// Why a converter gave no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConverterFault {
    /// The program could not be started.
    NotStarted(String),
    /// It ended with a failure.
    Failed {
        /// How it ended.
        status: String,
        /// The first line it wrote to standard error.
        said: String,
    },
    /// It took more than this many seconds.
    TimedOut(u64),
    /// It gave more than this many bytes.
    TooMuch(u64),
    /// Its output could not be read.
    Unread(String),
}

impl fmt::Display for ConverterFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(error) => write!(f, "could not be started: {error}"),
            Self::Failed { status, said } if said.is_empty() => write!(f, "ended with {status}"),
            Self::Failed { status, said } => write!(f, "ended with {status}: {said}"),
            Self::TimedOut(seconds) => write!(f, "took more than {seconds} s"),
            Self::TooMuch(limit) => write!(f, "gave more than {limit} bytes"),
            Self::Unread(error) => write!(f, "gave output that could not be read: {error}"),
        }
    }
}

/// The converters of one scan.
pub(super) struct Converters<'a> {
    commands: &'a BTreeMap<String, Vec<String>>,
    limits: Limits,
    versions: BTreeMap<&'a str, String>,
}

#[derive(Clone, Copy)]
struct Limits {
    time: Duration,
    output: u64,
}

impl<'a> Converters<'a> {
    pub(super) fn new(settings: &'a ImportSettings) -> Self {
        let limits = Limits { time: TIME_LIMIT, output: settings.max_bytes };
        Self { commands: &settings.convert, limits, versions: BTreeMap::new() }
    }

    /// The command for a file of this name.
    pub(super) fn command(&self, path: &Path) -> Option<&'a [String]> {
        let extension = path.extension().and_then(OsStr::to_str)?.to_lowercase();
        self.commands.get(&extension).map(Vec::as_slice)
    }

    /// What the command makes of these bytes.
    pub(super) fn convert(
        &self,
        command: &[String],
        original: &[u8],
    ) -> Result<Vec<u8>, ConverterFault> {
        let finished = run(command, original.to_vec(), self.limits)?;
        match finished.status.success() {
            true => Ok(finished.output),
            false => Err(ConverterFault::Failed {
                status: finished.status.to_string(),
                said: first_line(&finished.errors).unwrap_or_default(),
            }),
        }
    }

    /// The first line the command's program says of its version; asked once a scan.
    pub(super) fn version(&mut self, command: &'a [String]) -> String {
        let program = command.first().map_or("", String::as_str);
        self.versions.entry(program).or_insert_with(|| version_of(program)).clone()
    }
}

/// `--version` is believed when the program succeeds with it, `-v` in any case: some programs know
/// only the latter, and some of those fail while they answer it.
fn version_of(program: &str) -> String {
    let ask = |option: &str| {
        let limits = Limits { time: VERSION_TIME_LIMIT, output: SAID_LIMIT };
        run(&[program.to_owned(), option.to_owned()], Vec::new(), limits).ok()
    };
    ask("--version")
        .filter(|finished| finished.status.success())
        .and_then(|finished| finished.first_line())
        .or_else(|| ask("-v").and_then(|finished| finished.first_line()))
        .unwrap_or_else(|| "unknown".to_owned())
}

struct Finished {
    status: ExitStatus,
    output: Vec<u8>,
    errors: Vec<u8>,
}

impl Finished {
    fn first_line(&self) -> Option<String> {
        first_line(&self.output).or_else(|| first_line(&self.errors))
    }
}

fn first_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(200).collect())
}

/// Runs a command to its end. The limits hold for whatever it starts as well: all of it is one
/// process group, and nothing here waits for a pipe that a survivor may still hold.
fn run(command: &[String], input: Vec<u8>, limits: Limits) -> Result<Finished, ConverterFault> {
    let mut child =
        spawn(command).map_err(|error| ConverterFault::NotStarted(error.to_string()))?;
    feed(child.stdin.take(), input);
    let output = collect(child.stdout.take(), limits.output);
    let errors = collect(child.stderr.take(), SAID_LIMIT);
    let waited = await_output(&output, limits).and_then(|output| {
        let status = await_end(&mut child).ok_or(timed_out(limits))?;
        let errors = errors.recv_timeout(STEP * 10).ok().and_then(Result::ok).unwrap_or_default();
        Ok(Finished { status, output, errors })
    });
    if waited.is_err() {
        end(&mut child);
    }
    waited
}

fn spawn(command: &[String]) -> io::Result<Child> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

fn feed(pipe: Option<impl Write + Send + 'static>, input: Vec<u8>) {
    if let Some(mut pipe) = pipe {
        // A program that has read enough closes its end early; that is its affair.
        thread::spawn(move || pipe.write_all(&input));
    }
}

/// Sends what the pipe gives, or its first `limit + 1` bytes as soon as they are there; the rest is
/// read and dropped, so that the program is never held up by a full pipe.
fn collect(pipe: Option<impl Read + Send + 'static>, limit: u64) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = channel();
    if let Some(mut pipe) = pipe {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = pipe.by_ref().take(limit.saturating_add(1)).read_to_end(&mut bytes);
            // Whoever asked may have stopped waiting.
            let _ = sender.send(read.map(|_| bytes));
            io::copy(&mut pipe, &mut io::sink())
        });
    }
    receiver
}

fn await_output(
    output: &Receiver<io::Result<Vec<u8>>>,
    limits: Limits,
) -> Result<Vec<u8>, ConverterFault> {
    match output.recv_timeout(limits.time) {
        Ok(Ok(bytes)) if bytes.len() as u64 > limits.output => {
            Err(ConverterFault::TooMuch(limits.output))
        }
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(ConverterFault::Unread(error.to_string())),
        Err(RecvTimeoutError::Timeout) => Err(timed_out(limits)),
        Err(RecvTimeoutError::Disconnected) => Err(ConverterFault::Unread("no pipe".into())),
    }
}

fn timed_out(limits: Limits) -> ConverterFault {
    ConverterFault::TimedOut(limits.time.as_secs())
}

fn await_end(child: &mut Child) -> Option<ExitStatus> {
    for _ in 0..STEPS_TO_END {
        match child.try_wait() {
            Ok(None) => thread::sleep(STEP),
            Ok(Some(status)) => return Some(status),
            Err(_) => return None,
        }
    }
    None
}

/// Ends the program and whatever it started. Failing means there is nothing left to end.
fn end(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Limits = Limits { time: Duration::from_millis(300), output: 100_000 };

    fn command(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn run_shell(script: &str, input: &[u8]) -> Result<Finished, ConverterFault> {
        run(&command(&["sh", "-c", script]), input.to_vec(), QUICK)
    }

    #[test]
    fn the_file_goes_in_and_its_text_comes_out() {
        let input = b"abc\n".repeat(20_000);
        let finished = run(&command(&["tr", "a-c", "A-C"]), input, QUICK).unwrap();
        assert!(finished.status.success());
        assert_eq!(finished.output, b"ABC\n".repeat(20_000));
    }

    #[test]
    fn a_program_that_does_not_read_is_not_waited_for() {
        let finished = run_shell("echo done", &vec![b'x'; 1 << 20]).unwrap();
        assert_eq!(finished.output, b"done\n");
    }

    #[test]
    fn hanging_is_ended_with_everything_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        let script = format!("(sleep 1; echo late > {}) & sleep 100", trace.display());
        assert_eq!(run_shell(&script, b"").err(), Some(ConverterFault::TimedOut(0)));
        thread::sleep(Duration::from_millis(1200));
        assert!(!trace.exists(), "a process the converter started has survived it");
    }

    #[test]
    fn a_program_that_stays_after_closing_its_output_is_ended() {
        let fault = run_shell("exec >&-; sleep 100", b"").err();
        assert_eq!(fault, Some(ConverterFault::TimedOut(0)));
    }

    #[test]
    fn flooding_is_ended_at_the_limit() {
        assert_eq!(run_shell("yes", b"").err(), Some(ConverterFault::TooMuch(100_000)));
    }

    #[test]
    fn a_flood_of_complaints_does_not_block() {
        let finished = run_shell("yes complaint | head -c 300000 >&2; echo text", b"").unwrap();
        assert_eq!(finished.output, b"text\n");
        assert_eq!(finished.errors.len() as u64, SAID_LIMIT + 1);
    }

    #[test]
    fn a_failure_carries_what_the_program_said() {
        let settings = ImportSettings::default();
        let failing = command(&["sh", "-c", "echo broken file >&2; exit 3"]);
        let fault = Converters::new(&settings).convert(&failing, b"").unwrap_err();
        assert_eq!(fault.to_string(), "ended with exit status: 3: broken file");
    }

    #[test]
    fn a_missing_program_is_told_apart() {
        let settings = ImportSettings::default();
        let missing = command(&["/nowhere/at-all"]);
        let fault = Converters::new(&settings).convert(&missing, b"").unwrap_err();
        assert!(matches!(fault, ConverterFault::NotStarted(_)), "{fault}");
        assert_eq!(Converters::new(&settings).version(&missing), "unknown");
    }

    #[test]
    fn versions_come_from_either_option_and_either_stream() {
        let folder = tempfile::tempdir().unwrap();
        // Written by another process: a program that this one still held open for writing, or that
        // a process it starts meanwhile does, could not be run.
        let script = |name: &str, body: &str| {
            let path = folder.path().join(name).display().to_string();
            let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"";
            run(&command(&["sh", "-c", write, &path, body]), Vec::new(), QUICK).unwrap();
            version_of(&path)
        };
        assert_eq!(script("long", "[ $1 = --version ] && echo && echo long 1"), "long 1");
        assert_eq!(script("short", "[ $1 = -v ] || exit 1; echo short 2 >&2; exit 99"), "short 2");
        assert_eq!(script("silent", "exit 0"), "unknown");
    }

    #[test]
    fn commands_are_found_by_extension_in_either_case() {
        let convert = BTreeMap::from([("pdf".to_owned(), command(&["cat"]))]);
        let settings = ImportSettings { convert, ..ImportSettings::default() };
        let converters = Converters::new(&settings);
        assert!(converters.command(Path::new("a.b.PDF")).is_some());
        assert!(converters.command(Path::new("a.pdf.txt")).is_none());
        assert!(converters.command(Path::new("pdf")).is_none());
    }
}
