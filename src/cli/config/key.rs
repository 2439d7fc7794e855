//! Whether a setting is part of a key, and of which nodes' keys. A test changes every setting and
//! compares what a derivation is made of, so this says what is, not what was meant.

use crate::settings::{ChunkingMode, RealiserName, Settings};

/// Of which nodes' keys a setting is a part. A key covers what lies below, so a leaf's part reaches
/// every node above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enters {
    /// Of none.
    Never,
    /// Of leaves.
    Leaf,
    /// Of reduces.
    Reduce,
    /// Of every node.
    Both,
}

impl Enters {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Never => "not in key",
            Self::Leaf => "in key (leaves)",
            Self::Reduce => "in key (reduces)",
            Self::Both => "in key (leaves and reduces)",
        }
    }

    pub(super) fn levels(self) -> &'static [&'static str] {
        match self {
            Self::Never => &[],
            Self::Leaf => &["leaf"],
            Self::Reduce => &["reduce"],
            Self::Both => &["leaf", "reduce"],
        }
    }
}

/// Of which keys a setting is a part, under the realiser and chunking that are set.
pub(super) fn enters(setting: &str, settings: &Settings) -> Enters {
    match setting {
        // The principal a build is for is in every key; the list of those declared is in none.
        "realiser" | "principal" | "evidence.unit" => Enters::Both,
        "chunking.mode" => Enters::Leaf,
        "chunking.max_bytes" => match settings.chunking.mode {
            ChunkingMode::Lines => Enters::Leaf,
            ChunkingMode::Whole => Enters::Never,
        },
        setting => match settings.realiser {
            RealiserName::Extract => enters_extract(setting),
            RealiserName::Llama => enters_llama(setting, settings),
        },
    }
}

fn enters_extract(setting: &str) -> Enters {
    match setting {
        "claims.fields" => Enters::Leaf,
        rule if rule.starts_with("extract.") => Enters::Leaf,
        _ => Enters::Never,
    }
}

fn enters_llama(setting: &str, settings: &Settings) -> Enters {
    match setting {
        "claims.leaf_max" | "budgets.map_input" | "llama.subject" => Enters::Leaf,
        "llama.chunk_bytes" => enters("chunking.max_bytes", settings),
        "claims.reduce_max" | "claims.choose" | "budgets.reduce_input" => Enters::Reduce,
        "claims.fields" | "budgets.output" => Enters::Both,
        // The file's hash is in the key; a known model's name stands for it where none is given.
        "llama.model" if settings.llama.sha256.is_none() => Enters::Both,
        "llama.sha256" | "llama.profile" | "llama.instruction" => Enters::Both,
        _ => Enters::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::{ExtractRule, Level};
    use crate::settings::{ChoiceName, RuleSettings, TakeName, UnitName};

    type Change = fn(&mut Settings);

    /// A change of every setting that lies in `dossier.toml`.
    const CHANGES: &[(&str, Change)] = &[
        ("principals", |s| s.principals.push("auditor".into())),
        ("realiser", |s| {
            s.realiser = match s.realiser {
                RealiserName::Extract => RealiserName::Llama,
                RealiserName::Llama => RealiserName::Extract,
            }
        }),
        ("import.max_bytes", |s| s.import.max_bytes += 1),
        ("import.ignore", |s| s.import.ignore.push("*.bak".into())),
        ("import.convert", |s| {
            s.import.convert.insert("pdf".into(), vec!["cat".into()]);
        }),
        ("evidence.unit", |s| s.evidence.unit = UnitName::Block),
        ("chunking.mode", |s| {
            s.chunking.mode = match s.chunking.mode {
                ChunkingMode::Whole => ChunkingMode::Lines,
                ChunkingMode::Lines => ChunkingMode::Whole,
            }
        }),
        ("chunking.max_bytes", |s| s.chunking.max_bytes += 1),
        ("claims.fields", |s| s.claims.fields.push("colour".into())),
        ("claims.leaf_max", |s| s.claims.leaf_max += 1),
        ("claims.reduce_max", |s| s.claims.reduce_max += 1),
        ("claims.choose", |s| s.claims.choose = ChoiceName::Always),
        ("budgets.map_input", |s| s.budgets.map_input += 1),
        ("budgets.reduce_input", |s| s.budgets.reduce_input += 1),
        ("budgets.output", |s| s.budgets.output += 1),
        ("extract.rule", |s| {
            let pattern = format!("{}x", ExtractRule::fact_grammar().pattern);
            s.extract.rules.push(RuleSettings { pattern, field: None, take: TakeName::All });
        }),
        ("extract.subject", |s| s.extract.subject = Some("(?<subject>x)".into())),
        ("llama.model", |s| s.llama.model = "other".into()),
        ("llama.profile", |s| s.llama.profile = "free".into()),
        ("llama.instruction", |s| s.llama.instruction = "Look for dates.".into()),
        ("llama.subject", |s| s.llama.subject = Some("P-[0-9]+".into())),
        ("llama.chunk_bytes", |s| s.llama.chunk_bytes = Some(1000)),
        ("llama.sha256", |s| s.llama.sha256 = Some("0a".repeat(32))),
    ];

    /// What a node's key is made of besides its sources.
    fn part(settings: &Settings, level: Level) -> impl PartialEq + use<> {
        let known = crate::model::known(&settings.llama.model).and_then(|known| known.sha256());
        let recipe = settings.lower(settings.realiser, known);
        let builder = crate::builder::of(settings.realiser);
        (builder, recipe.arguments(level), recipe.instructions(level))
    }

    fn observed(settings: &Settings, change: Change) -> Enters {
        let mut changed = settings.clone();
        change(&mut changed);
        let differs = |level| part(settings, level) != part(&changed, level);
        match (differs(Level::Leaf), differs(Level::Reduce)) {
            (false, false) => Enters::Never,
            (true, false) => Enters::Leaf,
            (false, true) => Enters::Reduce,
            (true, true) => Enters::Both,
        }
    }

    fn parse(text: &str) -> Settings {
        Settings::parse(text, std::path::Path::new("dossier.toml")).unwrap()
    }

    #[test]
    fn every_setting_is_in_the_keys_that_are_named() {
        for realiser in ["extract", "llama"] {
            for further in ["", "[chunking]\nmode = \"lines\"", "[llama]\nsha256 = \"HASH\""] {
                let further = further.replace("HASH", &"0b".repeat(32));
                let text = format!("realiser = \"{realiser}\"\n{further}");
                let settings = parse(&text);
                for (name, change) in CHANGES {
                    let (said, seen) = (enters(name, &settings), observed(&settings, *change));
                    assert_eq!(said, seen, "{name} under {text}");
                }
            }
        }
    }

    #[test]
    fn no_setting_is_forgotten() {
        for (name, _) in super::super::flattened(&parse("")).unwrap() {
            assert!(CHANGES.iter().any(|(known, _)| *known == name), "{name} is changed nowhere");
        }
    }
}
