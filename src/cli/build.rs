//! `build`: imports, realises what is missing, publishes the roots, and says what ran.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dossier_store::Store;
use serde_json::{Value, json};

use super::args::{BuildArgs, CheckLevel, Global};
use super::exit;
use super::failure::Failure;
use super::names;
use super::progress::Display;
use super::project::{Project, clock, now_millis};
use super::realiser::prepare;
use super::ui::{self, Ui, strong};
use crate::ingest::{self, ImportOptions, Mode, Rebind, Vanished};
use crate::output::NodeStatus;
use crate::realise::{Build, Built, CutOff, NodeReport, OnFault, Options, Reuse, Stopped};
use crate::recipe::Level;
use crate::snapshot::Dossier;
use crate::text::escape;

pub(super) fn run(of: &BuildArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let mut project = Project::find(global)?;
    if let Some(profile) = &of.profile {
        project.settings.choose_profile(profile, &project.settings_path)?;
    }
    let store = project.writable(ui)?;
    let targets = names::dossiers(&store.read()?, &of.targets)?;
    if targets.is_empty() {
        return Err(Failure::new(exit::NOT_BUILT, "there is no dossier to build")
            .hint("dossier import PATH"));
    }
    let cancel = cancelled_by_signal()?;
    let mut results = Vec::new();
    let mut code = exit::DONE;
    for name in targets {
        if !of.no_import {
            import(&store, &project, &name, of, ui)?;
        }
        let built = build_one(&store, &project, &name, of, &cancel, ui)?;
        code |= exit_code(&built);
        if !ui.json {
            ui.line(in_words(&name, &built));
        }
        warn(&name, &built, ui);
        let stopped = built.stopped.is_some() || (!built.faults.is_empty() && !of.keep_going);
        results.push(document(&name, &built));
        if stopped {
            break;
        }
    }
    if ui.json {
        ui.document(&json!({ "schema": "dossier.build/1", "targets": results }));
    }
    Ok(code)
}

/// A flag that Ctrl-C and a polite end set; the second Ctrl-C ends the process at once.
fn cancelled_by_signal() -> Result<Arc<AtomicBool>, Failure> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(exit::BUILD | exit::BUILD_INTERRUPTED));
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::new(exit::STORE, format!("cannot catch Ctrl-C: {error}")))?;
    Ok(cancel)
}

fn import(
    store: &Store,
    project: &Project,
    name: &str,
    of: &BuildArgs,
    ui: &Ui,
) -> Result<(), Failure> {
    let Some(folder) = Dossier::read(&store.read()?, name)?.folder else { return Ok(()) };
    let options = ImportOptions {
        vanished: if of.allow_vanished { Vanished::Allow } else { Vanished::Guard },
        rebind: Rebind::Refuse,
        mode: Mode::Write,
    };
    let folder = ingest::decode_path(&folder);
    if !folder.is_dir() {
        return Err(Failure::new(
            exit::STALE,
            format!(
                "SOURCE_UNREACHABLE: the folder {} of dossier {name} cannot be read",
                folder.display()
            ),
        )
        .hint("mount or restore it, or build the last import with --no-import"));
    }
    let settings = &project.settings.import;
    let imported = ingest::import(store, name, &folder, settings, &options, now_millis())
        .map_err(super::import::failure)?;
    for file in &imported.unreadable {
        ui.warn(escape(&format!(
            "{name}/{} was not read ({}): {}",
            file.path,
            file.reason.kind(),
            file.reason.remedy()
        )));
    }
    Ok(())
}

fn build_one(
    store: &Store,
    project: &Project,
    name: &str,
    of: &BuildArgs,
    cancel: &AtomicBool,
    ui: &Ui,
) -> Result<Built, Failure> {
    let realiser = of.realiser.map_or(project.settings.realiser, Into::into);
    let mut prepared = prepare(store, project, name, realiser, of, ui)?;
    let mut display = Display::new(name, ui);
    let mut build = Build {
        store,
        dossier: name,
        principal: &project.principal,
        recipe: &prepared.recipe,
        builder: &prepared.builder,
        realiser: prepared.realiser.as_mut(),
        options: options(of),
        cancel,
        clock: &clock,
    };
    let built = build.run(&mut |progress| display.show(progress))?;
    display.end();
    Ok(built)
}

fn options(of: &BuildArgs) -> Options {
    let reuse = match (of.full, of.check) {
        (true, _) | (_, Some(CheckLevel::All)) => Reuse::Nothing,
        (_, Some(CheckLevel::Leaf)) => Reuse::NothingAt(Level::Leaf),
        (_, Some(CheckLevel::Reduce)) => Reuse::NothingAt(Level::Reduce),
        (false, None) => Reuse::Store,
    };
    Options {
        reuse,
        cut_off: if of.no_cutoff { CutOff::Never } else { CutOff::Early },
        on_fault: if of.keep_going { OnFault::KeepGoing } else { OnFault::Stop },
        max_calls: of.max_calls,
        max_tokens: of.max_tokens,
    }
}

/// The exit code of one dossier's build; bits of several builds are OR-ed.
fn exit_code(built: &Built) -> u8 {
    let root = built.root_report().map(|report| report.status);
    let bits = [
        (built.stopped.is_some(), exit::BUILD_INTERRUPTED),
        (root == Some(NodeStatus::Invalid), exit::BUILD_INVALID),
        (!built.faults.is_empty(), exit::BUILD_FAULT),
        (!built.differences.is_empty(), exit::BUILD_DIFFERS),
        (root == Some(NodeStatus::OverBudget), exit::BUILD_OVER_BUDGET),
    ];
    let set = bits.iter().filter(|(is_so, _)| *is_so).fold(0, |bits, (_, bit)| bits | bit);
    if set == 0 { exit::DONE } else { exit::BUILD | set }
}

fn warn(name: &str, built: &Built, ui: &Ui) {
    for fault in &built.faults {
        ui.warn(escape(&format!("{name}#{}: {}", fault.node, fault.fault)));
    }
    for ((_, node), report) in built.graph.nodes().zip(&built.nodes) {
        let Some(report) = report else { continue };
        if matches!(report.status, NodeStatus::Invalid | NodeStatus::OverBudget) {
            let why =
                report.diagnostic.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
            ui.warn(escape(&format!("{name}#{} is {}{why}", node.name, report.status.as_str())));
        }
    }
    for difference in &built.differences {
        ui.warn(format!(
            "{}#{} came out otherwise: first {}, now {}",
            escape(name),
            difference.node,
            difference.first,
            difference.second
        ));
    }
    match built.stopped {
        Some(Stopped::Interrupted) => ui.note("interrupted; what is finished is kept"),
        Some(Stopped::CallLimit) => ui.note("the limit of model calls is reached"),
        Some(Stopped::TokenLimit) => ui.note("the limit of generated tokens is reached"),
        None => return,
    }
    ui.hint(format!("dossier build {}", escape(name)));
}

fn in_words(name: &str, built: &Built) -> String {
    let counts = built.counts;
    let seconds = built.micros as f64 / 1e6;
    let mut words = format!(
        "{}: {} recomputed ({} generated, {} settled, {} cut off), {} hits; {} new tokens, {seconds:.2} s",
        strong(&escape(name)),
        counts.recomputed(),
        counts.generated,
        counts.settled,
        counts.cut_off,
        counts.hit,
        built.new_tokens,
    );
    if counts.recomputed() == 0 && built.stopped.is_none() && built.faults.is_empty() {
        words.push_str("; nothing ran");
    }
    if let (Some(root), Some(report)) = (built.root(), built.root_report()) {
        words.push_str(&format!(
            "\n  root {} (structure only) {} {}",
            ui::status(report.status.as_str()),
            &root.to_string()[..16],
            &report.output.to_string()[..16]
        ));
    }
    words
}

fn document(name: &str, built: &Built) -> Value {
    let nodes: Vec<Value> = built
        .graph
        .nodes()
        .zip(&built.nodes)
        .filter_map(|((_, node), report)| {
            let NodeReport { outcome, status, output, new_tokens, diagnostic, .. } =
                report.as_ref()?;
            Some(json!({
                "name": node.name,
                "outcome": outcome.as_str(),
                "status": status.as_str(),
                "drv": node.id.to_string(),
                "out": output.to_string(),
                "new_tokens": new_tokens,
                "diagnostic": diagnostic,
            }))
        })
        .collect();
    let differences: Vec<Value> = built
        .differences
        .iter()
        .map(|difference| {
            json!({
                "name": difference.node,
                "first": difference.first.to_string(),
                "second": difference.second.to_string(),
            })
        })
        .collect();
    let faults: Vec<Value> = built
        .faults
        .iter()
        .map(|fault| json!({ "name": fault.node, "fault": fault.fault.to_string() }))
        .collect();
    let counts = built.counts;
    json!({
        "dossier": name,
        "root": built.root().map(|root| root.to_string()),
        "output": built.root_report().map(|report| report.output.to_string()),
        "root_status": built.root_report().map(|report| report.status.as_str()),
        "counts": {
            "hit": counts.hit,
            "cut_off": counts.cut_off,
            "generated": counts.generated,
            "settled": counts.settled,
        },
        "recomputed": counts.recomputed(),
        "model_calls": counts.generated,
        "new_tokens": built.new_tokens,
        "seconds": built.micros as f64 / 1e6,
        "as_of": { "event": built.as_of.event, "head": built.as_of.head.to_string() },
        "interrupted": built.stopped.is_some(),
        "faults": faults,
        "differences": differences,
        "nodes": nodes,
    })
}
