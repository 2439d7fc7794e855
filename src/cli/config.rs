//! `config show`: every setting with its value, where it comes from, and whether it is part of a
//! key, so that nobody has to guess what a change would rebuild.

mod key;
mod origin;

use serde_json::{Value, json};

use super::args::{ConfigArgs, ConfigVerb, Global};
use super::exit;
use super::failure::Failure;
use super::project::Project;
use super::ui::{Ui, faint};
use crate::settings::Settings;
use crate::text::escape;
use key::Enters;
use origin::{Lines, Origin};

/// One setting as it holds now.
struct Setting {
    name: String,
    value: Value,
    origin: Origin,
    enters: Enters,
}

pub(super) fn run(of: &ConfigArgs, global: &Global, ui: &Ui) -> Result<u8, Failure> {
    let ConfigVerb::Show { origin } = of.verb;
    let project = Project::find(global)?;
    let settings = all(&project, global)?;
    match (ui.json, origin) {
        (true, _) => ui.document(&document(&project, &settings)),
        (false, true) => ui.line(with_origins(&project.settings, &settings)),
        (false, false) => ui.line(values(&settings)),
    }
    Ok(exit::DONE)
}

/// Every setting of the file, then what the command line and the environment settle.
fn all(project: &Project, global: &Global) -> Result<Vec<Setting>, Failure> {
    let text = match project.settings_path.exists() {
        true => std::fs::read_to_string(&project.settings_path).map_err(|error| {
            Failure::io(format!("cannot read {}", project.settings_path.display()), &error)
        })?,
        false => String::new(),
    };
    let lines = Lines::of(&text);
    let mut settings: Vec<Setting> = flattened(&project.settings)?
        .into_iter()
        .map(|(name, value)| Setting {
            origin: lines.origin(&name),
            enters: key::enters(&name, &project.settings),
            name,
            value,
        })
        .collect();
    let chosen = |name: &str, value: String, origin| Setting {
        name: name.to_owned(),
        value: Value::String(value),
        origin,
        enters: key::enters(name, &project.settings),
    };
    let store = project.directory.display().to_string();
    settings.push(chosen("store", store, origin::of_store(global)));
    let principal = project.principal.clone();
    settings.push(chosen("principal", principal, origin::of_principal(global)));
    Ok(settings)
}

/// Settings that may be absent, and then stand nowhere in the serialised form.
const OPTIONAL: [&str; 2] = ["extract.subject", "llama.sha256"];

/// Every setting by its name: `claims.fields`, `extract.rule[1].pattern`.
fn flattened(settings: &Settings) -> Result<Vec<(String, Value)>, Failure> {
    let value = serde_json::to_value(settings).map_err(|error| Failure::of(exit::STORE, &error))?;
    let mut flat = Vec::new();
    flatten(String::new(), value, &mut flat);
    for name in OPTIONAL {
        if !flat.iter().any(|(known, _)| known == name) {
            let table = name.split_once('.').map_or(name, |(table, _)| table);
            let of_table = |(known, _): &(String, Value)| known.starts_with(table);
            let place = flat.iter().rposition(of_table).map_or(flat.len(), |last| last + 1);
            flat.insert(place, (name.to_owned(), Value::Null));
        }
    }
    Ok(flat)
}

fn flatten(name: String, value: Value, into: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let name = if name.is_empty() { key } else { format!("{name}.{key}") };
                flatten(name, value, into);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (position, item) in items.into_iter().enumerate() {
                flatten(format!("{name}[{}]", position + 1), item, into);
            }
        }
        value => into.push((name, value)),
    }
}

fn value_words(value: &Value) -> String {
    match value {
        Value::Null => "(not set)".into(),
        value => escape(&value.to_string()),
    }
}

fn values(settings: &[Setting]) -> String {
    let line =
        |setting: &Setting| format!("{} = {}", escape(&setting.name), value_words(&setting.value));
    settings.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The value comes last, since it may be long.
fn with_origins(of: &Settings, settings: &[Setting]) -> String {
    let row = |setting: &Setting| {
        [
            escape(&setting.name),
            escape(&setting.origin.to_string()),
            setting.enters.words().to_owned(),
            value_words(&setting.value),
        ]
    };
    let rows: Vec<[String; 4]> = settings.iter().map(row).collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths = [0, 1, 2].map(|column| widest(column).unwrap_or(0));
    let line = |[name, origin, key, value]: &[String; 4]| {
        let [name_width, origin_width, key_width] = widths;
        let key = faint(&format!("{key:key_width$}"));
        format!("{name:name_width$}  {origin:origin_width$}  {key}  {value}")
    };
    let mut words: Vec<String> = rows.iter().map(line).collect();
    words.push(format!("(keys under the realiser that is set, {})", of.realiser.as_str()));
    words.join("\n")
}

fn document(project: &Project, settings: &[Setting]) -> Value {
    let setting = |setting: &Setting| {
        json!({
            "setting": setting.name,
            "value": setting.value,
            "origin": setting.origin.to_string(),
            "line": setting.origin.line(),
            "in_key": setting.enters != Enters::Never,
            "levels": setting.enters.levels(),
        })
    };
    json!({
        "schema": "dossier.config/1",
        "file": project.settings_path.display().to_string(),
        "file_exists": project.settings_path.exists(),
        "realiser": project.settings.realiser.as_str(),
        "settings": settings.iter().map(setting).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Settings {
        Settings::parse(text, std::path::Path::new("dossier.toml")).unwrap()
    }

    #[test]
    fn every_setting_is_listed_once_and_in_the_order_of_its_table() {
        let names = |settings: &Settings| -> Vec<String> {
            flattened(settings).unwrap().into_iter().map(|(name, _)| name).collect()
        };
        insta::assert_snapshot!(names(&parse("")).join("\n"), @r"
        principals
        realiser
        import.max_bytes
        import.ignore
        import.convert
        evidence.unit
        chunking.mode
        chunking.max_bytes
        claims.fields
        claims.leaf_max
        claims.reduce_max
        claims.choose
        budgets.map_input
        budgets.reduce_input
        budgets.output
        extract.rule
        extract.subject
        llama.model
        llama.profile
        llama.instruction
        llama.sha256
        ");
        let rules = parse(
            "[import.convert]\npdf = [\"cat\"]\n[extract]\nsubject = '(?<subject>x)'\n\
             [[extract.rule]]\npattern = '(?<value>x)'\nfield = \"site\"",
        );
        let names = names(&rules);
        for name in [
            "import.convert.pdf",
            "extract.subject",
            "extract.rule[1].pattern",
            "extract.rule[1].field",
        ] {
            assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
        }
    }
}
