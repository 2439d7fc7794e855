//! A build's progress: a live tree of the running node with rate and ETA on a terminal, plain lines
//! elsewhere, JSON lines on request. A finished node's line is written after its commit.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::ui::Ui;
use crate::graph::{Graph, NodeIndex};
use crate::realise::{NodeReport, Outcome, Progress};
use crate::text::escape;

/// Shows one dossier's build.
pub(super) struct Display<'a> {
    dossier: String,
    ui: &'a Ui,
    bar: Option<ProgressBar>,
    paths: std::collections::BTreeMap<String, String>,
    tokens: u64,
    micros: u64,
}

impl<'a> Display<'a> {
    pub(super) fn new(dossier: &str, ui: &'a Ui) -> Self {
        let paths = std::collections::BTreeMap::new();
        Self { dossier: dossier.to_owned(), ui, bar: None, paths, tokens: 0, micros: 0 }
    }

    /// Shows one thing the build tells.
    pub(super) fn show(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Planned { graph, plan } => {
                let missing = plan.missing();
                self.paths = graph
                    .nodes()
                    .map(|(index, node)| (node.name.clone(), path(graph, index)))
                    .collect();
                if missing > 0 {
                    self.begin(missing as u64, plan.hits());
                }
            }
            Progress::Started { node } => {
                if self.ui.verbose && self.bar.is_none() {
                    let path = self.paths.get(&node.name).cloned().unwrap_or_default();
                    self.ui.progress(
                        || format!("{} ({})", path, escape(&self.dossier)),
                        || json!({ "event": "started", "dossier": self.dossier, "node": node.name }),
                    );
                }
                if let Some(bar) = &self.bar {
                    let path = self.paths.get(&node.name).cloned().unwrap_or_default();
                    bar.set_message(escape(&format!("{path} ({})", self.dossier)));
                }
            }
            Progress::Finished { node, report } => self.finished(&node.name, report),
            Progress::Replanned => self.ui.progress(
                || "the documents or rights changed meanwhile; planning again".into(),
                || json!({ "event": "replanned", "dossier": self.dossier }),
            ),
            Progress::Published { sequence } => self.ui.progress(
                || format!("published {} as record {sequence}", escape(&self.dossier)),
                || json!({ "event": "published", "dossier": self.dossier, "sequence": sequence }),
            ),
        }
    }

    /// Leaves the terminal as it was.
    pub(super) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn begin(&mut self, missing: u64, hits: usize) {
        self.end();
        if self.ui.live() {
            let bar = ProgressBar::with_draw_target(Some(missing), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(
                "{bar:24} {pos}/{len} nodes  {per_sec}  ETA {eta}  {msg}",
            );
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(200));
            self.bar = Some(bar);
            return;
        }
        self.ui.progress(
            || format!("{}: {missing} nodes to realise, {hits} hits", escape(&self.dossier)),
            || json!({ "event": "planned", "dossier": self.dossier, "missing": missing, "hit": hits }),
        );
    }

    fn finished(&mut self, node: &str, report: &NodeReport) {
        self.tokens += report.new_tokens;
        self.micros += report.micros;
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if report.outcome != Outcome::Generated {
                return;
            }
        }
        let words = || {
            let rate = match report.new_tokens {
                0 => String::new(),
                tokens => format!(
                    ", {tokens} tokens at {:.1}/s",
                    tokens as f64 * 1e6 / report.micros.max(1) as f64
                ),
            };
            format!(
                "{}#{node} {} {}{rate}",
                escape(&self.dossier),
                report.outcome.as_str(),
                report.status.as_str()
            )
        };
        match &self.bar {
            Some(bar) => bar.println(words()),
            None => self.ui.progress(words, || {
                json!({
                    "event": "finished",
                    "dossier": self.dossier,
                    "node": node,
                    "outcome": report.outcome.as_str(),
                    "status": report.status.as_str(),
                    "out": report.output.to_string(),
                    "new_tokens": report.new_tokens,
                    "micros": report.micros,
                })
            }),
        }
    }
}

/// `leaf-04 ← reduce-01 ← root`
fn path(graph: &Graph, index: NodeIndex) -> String {
    graph.path_to_root(index).join(" ← ")
}
