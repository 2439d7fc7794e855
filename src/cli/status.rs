//! `status`: whether each dossier's root is current, and what a rebuild costs.

use serde_json::{Value, json};

use super::args::{Global, StatusArgs};
use super::exit;
use super::failure::Failure;
use super::names;
use super::project::Project;
use super::show::{causes_document, rebuild_document};
use super::ui::{self, Ui, strong};
use crate::current::CurrentError;
use crate::output::NodeStatus;
use crate::serve::{Rebuild, ServeError, Standing, Verdict};
use crate::stale::Cause;
use crate::text::escape;

/// One dossier's line.
struct Line {
    dossier: String,
    verdict: Verdict,
    root_status: Option<NodeStatus>,
    causes: Vec<Cause>,
    rebuild: Rebuild,
}

pub(super) fn run(of: &StatusArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let project = Project::find(global)?;
    let store = project.read_only(ui)?;
    let reader = store.read()?;
    let mut lines = Vec::new();
    for name in names::dossiers(&reader, &of.targets)? {
        let question = project.question(&name, of.imported);
        lines.push(match Standing::find(&reader, &question) {
            Ok(standing) => Line {
                verdict: standing.verdict().0,
                root_status: standing.root_status(&reader)?,
                causes: standing.causes(&reader)?,
                rebuild: standing.rebuild(),
                dossier: name,
            },
            Err(ServeError::Current(CurrentError::Unreachable { .. })) => Line {
                dossier: name,
                verdict: Verdict::SourceUnreachable,
                root_status: None,
                causes: Vec::new(),
                rebuild: Rebuild::default(),
            },
            Err(other) => return Err(other.into()),
        });
    }
    match ui.json {
        true => {
            let dossiers: Vec<Value> = lines.iter().map(document).collect();
            ui.document(&json!({ "schema": "dossier.status/1", "dossiers": dossiers }));
        }
        false => lines.iter().for_each(|line| ui.line(in_words(line))),
    }
    Ok(if of.exit_code { worst(&lines) } else { exit::DONE })
}

/// The exit code that `show` would give for the worst of the dossiers.
fn worst(lines: &[Line]) -> u8 {
    let code = |line: &Line| match line.verdict {
        Verdict::Current => match line.root_status {
            Some(NodeStatus::Valid | NodeStatus::Partial) | None => exit::DONE,
            Some(_) => exit::INVALID,
        },
        Verdict::Stale | Verdict::SourceUnreachable => exit::STALE,
        Verdict::NotBuilt => exit::NOT_BUILT,
        Verdict::Invalid => exit::INVALID,
    };
    let codes: Vec<u8> = lines.iter().map(code).collect();
    let severity = [exit::STALE, exit::NOT_BUILT, exit::INVALID];
    severity.into_iter().find(|code| codes.contains(code)).unwrap_or(exit::DONE)
}

fn in_words(line: &Line) -> String {
    let mut words =
        format!("{}  {}", strong(&escape(&line.dossier)), ui::status(line.verdict.as_str()));
    if let Some(status) = line.root_status {
        words.push_str(&format!("  root {} (structure only)", ui::status(status.as_str())));
    }
    if line.rebuild.missing > 0 {
        words.push_str(&format!(
            "  rebuild: {} to realise, {} hits",
            line.rebuild.missing, line.rebuild.hits
        ));
    }
    for cause in &line.causes {
        words.push_str(&format!("\n  because {}", escape(&cause.words)));
    }
    words
}

fn document(line: &Line) -> Value {
    json!({
        "dossier": line.dossier,
        "verdict": line.verdict.as_str(),
        "root_status": line.root_status.map(NodeStatus::as_str),
        "causes": causes_document(&line.causes),
        "rebuild": rebuild_document(&line.rebuild),
    })
}
