//! `dossier.toml`: what a person may set. Settings are typed here and lowered to a recipe; they are
//! never hashed themselves, so a comment or a new default spelled out changes no key.

mod tables;

use std::path::{Path, PathBuf};

use dossier_store::hash::Sha256;
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::document::Unit;
use crate::ingest::ImportSettings;
use crate::realise::llama::prompts::{self, Profile};
use crate::recipe::{
    Budgets, Choice, Chunking, ClaimSchema, ExtractRule, Method, ModelRecipe, Recipe, Take,
};

pub use tables::{
    BudgetSettings, ChoiceName, ChunkingMode, ChunkingSettings, ClaimSettings, EvidenceSettings,
    ExtractSettings, LlamaSettings, RealiserName, RuleSettings, TakeName, UnitName,
};

/// The name of the settings file.
pub const FILE_NAME: &str = "dossier.toml";

/// The kinds of documents that `init` knows, with their commented settings.
pub const KINDS: &[(&str, &str)] = &[
    ("generic", include_str!("settings/generic.toml")),
    ("contract", include_str!("settings/contract.toml")),
    ("copyright", include_str!("settings/copyright.toml")),
    ("changelog", include_str!("settings/changelog.toml")),
    ("controlled", include_str!("settings/controlled.toml")),
];

/// Everything in `dossier.toml`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Who may be named with `--principal`; the first is meant where none is named.
    #[serde(default = "default_principals")]
    pub principals: Vec<String>,
    /// What realises the nodes.
    #[serde(default)]
    pub realiser: RealiserName,
    /// How the folder is read.
    #[serde(default)]
    pub import: ImportSettings,
    /// What turns files into text; read into `import`.
    #[serde(default, skip_serializing)]
    convert: Converters,
    /// What counts as one piece of evidence.
    #[serde(default)]
    pub evidence: EvidenceSettings,
    /// How long documents are cut.
    #[serde(default)]
    pub chunking: ChunkingSettings,
    /// What a claim may say, and how many there may be.
    #[serde(default)]
    pub claims: ClaimSettings,
    /// Token budgets of the model's input and output.
    #[serde(default)]
    pub budgets: BudgetSettings,
    /// The rules of the `extract` realiser.
    #[serde(default)]
    pub extract: ExtractSettings,
    /// The `llama` realiser.
    #[serde(default)]
    pub llama: LlamaSettings,
}

/// `[convert]`, a table of its own in the file and a part of [`ImportSettings`] in the program.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
struct Converters {
    #[serde(deserialize_with = "crate::ingest::converters")]
    by_extension: std::collections::BTreeMap<String, Vec<String>>,
}

fn default_principals() -> Vec<String> {
    vec!["owner".into()]
}

/// Settings that cannot be used; each names the file, the setting and what would do.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file could not be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is no TOML of the expected shape.
    #[error("{path} cannot be understood: {source}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// A setting has a value that makes no sense.
    #[error("{path}: {setting} {fault}")]
    Value {
        /// The file.
        path: PathBuf,
        /// The setting, as `table.key`.
        setting: String,
        /// What is wrong and what would do.
        fault: String,
    },
    /// The principal is not declared.
    #[error("principal {principal:?} is not declared in dossier.toml (declared: {declared})")]
    UnknownPrincipal {
        /// Who was named.
        principal: String,
        /// Who may be named.
        declared: String,
    },
}

impl Settings {
    /// Reads and checks a settings file.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| SettingsError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Reads and checks settings from text; `path` is named in errors.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SettingsError> {
        let mut settings: Self = toml::from_str(text).map_err(|source| SettingsError::Syntax {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        settings.import.convert.extend(std::mem::take(&mut settings.convert.by_extension));
        settings.check().map_err(|(setting, fault)| SettingsError::Value {
            path: path.to_owned(),
            setting,
            fault,
        })?;
        Ok(settings)
    }

    /// The principal that is meant: the one named, if declared, else the first declared.
    pub fn principal<'a>(&'a self, named: Option<&'a str>) -> Result<&'a str, SettingsError> {
        let named = named.unwrap_or(&self.principals[0]);
        match self.principals.iter().any(|principal| principal == named) {
            true => Ok(named),
            false => Err(SettingsError::UnknownPrincipal {
                principal: named.to_owned(),
                declared: self.principals.join(", "),
            }),
        }
    }

    /// Takes another prompt profile than the file's.
    pub fn choose_profile(&mut self, profile: &str, path: &Path) -> Result<(), SettingsError> {
        self.llama.profile = profile.to_owned();
        self.check().map_err(|(setting, fault)| SettingsError::Value {
            path: path.to_owned(),
            setting,
            fault,
        })
    }

    fn check(&self) -> Result<(), (String, String)> {
        let fault = |setting: &str, fault: String| Err((setting.to_owned(), fault));
        if self.principals.is_empty() || self.principals.iter().any(|name| !is_name(name)) {
            return fault(
                "principals",
                "must be one or more names of letters, digits, . _ -".into(),
            );
        }
        if self.claims.fields.is_empty() || self.claims.fields.iter().any(|name| !is_name(name)) {
            return fault(
                "claims.fields",
                "must be one or more names of letters, digits, . _ -".into(),
            );
        }
        for (setting, number, most) in [
            ("claims.leaf_max", self.claims.leaf_max, 64),
            ("claims.reduce_max", self.claims.reduce_max, 4096),
            ("chunking.max_bytes", self.chunking.max_bytes, 1 << 30),
            ("llama.chunk_bytes", self.llama.chunk_bytes.unwrap_or(1), 1 << 30),
            ("budgets.map_input", self.budgets.map_input, 1 << 20),
            ("budgets.reduce_input", self.budgets.reduce_input, 1 << 20),
            ("budgets.output", self.budgets.output, 1 << 20),
        ] {
            if number == 0 || number > most {
                return fault(setting, format!("is {number}; it must lie between 1 and {most}"));
            }
        }
        if !["anchored", "free"].contains(&self.llama.profile.as_str()) {
            return fault("llama.profile", "must be \"anchored\" or \"free\"".into());
        }
        if self.llama.sha256.as_deref().is_some_and(|text| Sha256::parse(text).is_none()) {
            return fault("llama.sha256", "must be 64 lower-case hexadecimal digits".into());
        }
        if let Some(Err(error)) = self.llama.subject.as_deref().map(compile) {
            return fault("llama.subject", error);
        }
        self.check_rules()
    }

    fn check_rules(&self) -> Result<(), (String, String)> {
        if let Some(pattern) = &self.extract.subject {
            let regex = compile(pattern).map_err(|fault| ("extract.subject".to_owned(), fault))?;
            if !has_group(&regex, "subject") {
                return Err(("extract.subject".into(), "needs a group (?<subject>…)".into()));
            }
        }
        for (position, rule) in self.extract.rules.iter().enumerate() {
            self.check_rule(rule)
                .map_err(|fault| (format!("extract.rule {} pattern", position + 1), fault))?;
        }
        Ok(())
    }

    fn check_rule(&self, rule: &RuleSettings) -> Result<(), String> {
        let regex = compile(&rule.pattern)?;
        if !has_group(&regex, "value") {
            return Err("needs a group (?<value>…)".into());
        }
        if !has_group(&regex, "subject") && self.extract.subject.is_none() {
            return Err("needs a group (?<subject>…), or extract.subject must be set".into());
        }
        match &rule.field {
            None if !has_group(&regex, "field") => {
                Err("needs a group (?<field>…), or the rule's field must be set".into())
            }
            Some(field) if !self.claims.fields.contains(field) => {
                Err(format!("is for the field {field:?}, which claims.fields does not list"))
            }
            _ => Ok(()),
        }
    }

    /// Lowers the settings to what a build with this realiser depends on.
    pub fn lower(&self, realiser: RealiserName, model_sha256: Option<Sha256>) -> Recipe {
        Recipe {
            unit: match self.evidence.unit {
                UnitName::Line => Unit::Line,
                UnitName::Block => Unit::Block,
            },
            chunking: match self.chunking.mode {
                ChunkingMode::Whole => Chunking::Whole,
                ChunkingMode::Lines => Chunking::Lines { max_bytes: self.chunk_bytes(realiser) },
            },
            schema: ClaimSchema {
                fields: self.claims.fields.clone(),
                leaf_max: self.claims.leaf_max,
                reduce_max: self.claims.reduce_max,
                choice: match self.claims.choose {
                    ChoiceName::Always => Choice::Always,
                    ChoiceName::Above => Choice::Above,
                },
            },
            budgets: Budgets {
                map_input: self.budgets.map_input,
                reduce_input: self.budgets.reduce_input,
                output: self.budgets.output,
            },
            method: match realiser {
                RealiserName::Extract => self.lower_extract(),
                RealiserName::Llama => self.lower_llama(model_sha256),
            },
        }
    }

    fn chunk_bytes(&self, realiser: RealiserName) -> u64 {
        let limit = self.llama.chunk_bytes.filter(|_| realiser == RealiserName::Llama);
        limit.unwrap_or(u64::MAX).min(self.chunking.max_bytes)
    }

    fn lower_extract(&self) -> Method {
        let rule = |rule: &RuleSettings| ExtractRule {
            pattern: rule.pattern.clone(),
            field: rule.field.clone(),
            take: match rule.take {
                TakeName::All => Take::All,
                TakeName::First => Take::First,
            },
        };
        Method::Extract {
            subject: self.extract.subject.clone(),
            rules: match self.extract.rules.as_slice() {
                [] => vec![ExtractRule::fact_grammar()],
                rules => rules.iter().map(rule).collect(),
            },
        }
    }

    fn lower_llama(&self, model_sha256: Option<Sha256>) -> Method {
        let declared = self.llama.sha256.as_deref().and_then(Sha256::parse);
        let (claims, instruction) = (&self.claims, &self.llama.instruction);
        let profile = match self.llama.profile.as_str() {
            "free" => Profile::Free,
            _ => Profile::Anchored,
        };
        Method::Model(ModelRecipe {
            profile: self.llama.profile.clone(),
            subject: self.llama.subject.clone(),
            map_prompt: prompts::map_prompt(profile, &claims.fields, claims.leaf_max, instruction),
            reduce_prompt: prompts::reduce_prompt(claims.reduce_max, instruction),
            model_sha256: declared.or(model_sha256).unwrap_or(Sha256([0; 32])),
        })
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && name.chars().count() <= 64 && name.chars().all(allowed)
}

fn compile(pattern: &str) -> Result<Regex, String> {
    crate::recipe::compile_pattern(pattern).map_err(|error| error.to_string())
}

fn has_group(regex: &Regex, name: &str) -> bool {
    regex.capture_names().flatten().any(|group| group == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, SettingsError> {
        Settings::parse(text, Path::new("dossier.toml"))
    }

    #[test]
    fn every_kind_that_ships_is_valid() {
        for (kind, text) in KINDS {
            let settings = parse(text);
            assert!(settings.is_ok(), "{kind}: {settings:?}");
        }
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        let settings = parse("").unwrap();
        assert_eq!(settings.principals, ["owner"]);
        assert_eq!(settings.budgets.map_input, 2048);
        assert_eq!(settings.realiser, RealiserName::Extract);
    }

    #[test]
    fn converters_have_a_table_of_their_own() {
        let settings = parse("[convert]\npdf = [\"pdftotext\", \"-\", \"-\"]").unwrap();
        assert_eq!(settings.import.convert["pdf"][0], "pdftotext");
        assert!(parse("[convert]\npdf = []").is_err());
    }

    #[test]
    fn hostile_settings_are_refused_with_the_setting_named() {
        for (text, named) in [
            ("principals = []", "principals"),
            ("[claims]\nfields = []", "claims.fields"),
            ("[claims]\nleaf_max = 0", "claims.leaf_max"),
            ("[budgets]\noutput = 99999999999", "budgets.output"),
            ("[llama]\nprofile = \"rm -rf\"", "llama.profile"),
            ("[llama]\nsha256 = \"00\"", "llama.sha256"),
            ("[llama]\nchunk_bytes = 0", "llama.chunk_bytes"),
            ("[[extract.rule]]\npattern = \"(\"", "extract.rule 1 pattern"),
            ("[[extract.rule]]\npattern = \"x\"", "extract.rule 1 pattern"),
            ("surprise = 1", "surprise"),
            ("[extract]\nsubject = \"x\"", "extract.subject"),
            ("[[extract.rule]]\npattern = '(?<subject>a)(?<value>b)'\nfield = \"z\"", "\"z\""),
            ("[[extract.rule]]\npattern = '(?<value>(\\w{9999}){9999})'", "extract.rule 1"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }

    #[test]
    fn only_declared_principals_are_accepted() {
        let settings = parse("principals = [\"owner\", \"auditor\"]").unwrap();
        assert_eq!(settings.principal(None).unwrap(), "owner");
        assert_eq!(settings.principal(Some("auditor")).unwrap(), "auditor");
        assert!(settings.principal(Some("nobody")).is_err());
    }
}
