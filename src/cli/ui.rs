//! The only writer to the terminal. stdout carries data; progress, warnings and hints go to stderr.
//! Everything that comes from a document, a path or a model is escaped before it gets here, or here.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};

use console::Style;

use super::args::{Global, LogFormat, When};
use super::failure::Failure;
use crate::text::escape;

/// Where and how things are written.
pub(super) struct Ui {
    /// One JSON document on stdout.
    pub(super) json: bool,
    /// Nothing but data and failures.
    pub(super) quiet: bool,
    /// More than usual.
    pub(super) verbose: bool,
    /// How progress is written.
    pub(super) log_format: LogFormat,
    live: bool,
}

impl Ui {
    pub(super) fn new(global: &Global) -> Self {
        match global.color {
            When::Always => console::set_colors_enabled(true),
            When::Never => console::set_colors_enabled(false),
            When::Auto => {}
        }
        if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            && global.color != When::Always
        {
            console::set_colors_enabled(false);
        }
        Self {
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            log_format: global.log_format,
            live: global.log_format == LogFormat::Auto && std::io::stderr().is_terminal(),
        }
    }

    /// Whether progress may redraw lines.
    pub(super) fn live(&self) -> bool {
        self.live && !self.quiet
    }

    /// A line of data.
    pub(super) fn line(&self, text: impl AsRef<str>) {
        self.bytes(format!("{}\n", text.as_ref()).as_bytes());
    }

    /// Data as it is: the text of a document that was asked for, when it does not go to a terminal.
    pub(super) fn exact(&self, text: &str) {
        match std::io::stdout().is_terminal() {
            true => self.line(text.split('\n').map(escape).collect::<Vec<_>>().join("\n")),
            false => self.bytes(text.as_bytes()),
        }
    }

    /// One JSON document.
    pub(super) fn document(&self, value: &serde_json::Value) {
        self.line(format!("{value:#}"));
    }

    /// The answer: in words, or as one JSON document.
    pub(super) fn line_or(
        &self,
        words: impl FnOnce() -> String,
        document: impl FnOnce() -> serde_json::Value,
    ) {
        match self.json {
            true => self.document(&document()),
            false => self.line(words()),
        }
    }

    /// One JSON document on one line.
    pub(super) fn compact(&self, value: &serde_json::Value) {
        self.line(value.to_string());
    }

    fn bytes(&self, bytes: &[u8]) {
        // A reader that closed the pipe has seen what it wanted.
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Something worth knowing.
    pub(super) fn note(&self, text: impl AsRef<str>) {
        if !self.quiet {
            eprintln!("{}", text.as_ref());
        }
    }

    /// One line of progress, as words or as JSON.
    pub(super) fn progress(
        &self,
        words: impl FnOnce() -> String,
        json: impl FnOnce() -> serde_json::Value,
    ) {
        match (self.quiet, self.log_format) {
            (true, _) => {}
            (false, LogFormat::Json) => eprintln!("{}", json()),
            (false, _) => eprintln!("{}", words()),
        }
    }

    /// Something that went otherwise than wished, though the command goes on.
    pub(super) fn warn(&self, text: impl AsRef<str>) {
        if !self.quiet {
            eprintln!("{} {}", yellow("warning:"), text.as_ref());
        }
    }

    /// The next command to try.
    pub(super) fn hint(&self, text: impl AsRef<str>) {
        if !self.quiet {
            eprintln!("{} {}", cyan("try:"), text.as_ref());
        }
    }

    /// The end of a command that failed.
    pub(super) fn failure(&self, failure: &Failure) {
        let mut text = format!("{} {}", red("error:"), escape(&failure.what));
        if let Some(hint) = &failure.hint {
            let _ = write!(text, "\n{} {}", cyan("try:"), escape(hint));
        }
        eprintln!("{text}");
    }
}

pub(super) fn red(text: &str) -> String {
    Style::new().for_stderr().red().bold().apply_to(text).to_string()
}

pub(super) fn yellow(text: &str) -> String {
    Style::new().for_stderr().yellow().bold().apply_to(text).to_string()
}

pub(super) fn cyan(text: &str) -> String {
    Style::new().for_stderr().cyan().apply_to(text).to_string()
}

/// Bold on stdout.
pub(super) fn strong(text: &str) -> String {
    Style::new().bold().apply_to(text).to_string()
}

/// Dim on stdout.
pub(super) fn faint(text: &str) -> String {
    Style::new().dim().apply_to(text).to_string()
}

/// A verdict or status on stdout, in its colour.
pub(super) fn status(text: &str) -> String {
    let style = match text {
        "CURRENT" | "VALID" => Style::new().green(),
        "PARTIAL" | "INELIGIBLE" | "NOT_BUILT" => Style::new().yellow(),
        _ => Style::new().red(),
    };
    style.bold().apply_to(text).to_string()
}

/// A line while a store that was not closed cleanly is repaired.
pub(super) fn repair_line(share: f64) {
    eprintln!("repairing the store: {:.0} %", share * 100.0);
}
