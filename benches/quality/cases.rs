//! Documents and what is true of them.

use dossier::settings::{KINDS, Settings};
use dossier_corpus::events::Stage;
use dossier_corpus::truth;
use dossier_corpus::world::{Dossier, Version};

use crate::copyright;

/// Whatever a bench can fail with.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Documents of one kind.
pub(crate) struct Cases {
    /// What they are, in words.
    pub(crate) title: String,
    /// The settings that ship for their kind.
    pub(crate) settings: Settings,
    /// The documents.
    pub(crate) documents: Vec<Document>,
}

/// A document and its facts.
pub(crate) struct Document {
    /// Its name, unique among its cases.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    /// What it states.
    pub(crate) facts: Vec<Fact>,
}

/// A fact, and the ways to say it.
pub(crate) struct Fact {
    /// The field.
    pub(crate) field: String,
    /// Subjects that are right.
    pub(crate) subjects: Vec<String>,
    /// Values that are right.
    pub(crate) values: Vec<String>,
}

impl Cases {
    /// How many facts there are.
    pub(crate) fn facts(&self) -> usize {
        self.documents.iter().map(|document| document.facts.len()).sum()
    }
}

/// The first versions of the documents of some dossiers.
pub(crate) fn controlled(dossiers: &[String], most: usize) -> Result<Cases, Failure> {
    let mut documents = Vec::new();
    for id in dossiers {
        let dossier = Dossier::parse(id).ok_or_else(|| format!("{id} is no controlled dossier"))?;
        let labels = truth::labels_at(dossier, Stage::Initial);
        documents.extend(dossier.documents().map(|document| Document {
            name: document.path(),
            text: document.text(Version::First),
            facts: labels.iter().filter(|l| l.document == document.path()).map(fact).collect(),
        }));
    }
    documents.truncate(most);
    let title = format!("Controlled documents of {}", dossiers.join(", "));
    Ok(Cases { title, settings: kind("controlled")?, documents })
}

fn fact(label: &truth::Label) -> Fact {
    Fact {
        field: label.field.clone(),
        subjects: vec![label.subject.clone()],
        values: vec![label.value.clone()],
    }
}

/// Machine-readable copyright files of this machine.
pub(crate) fn copyright(most: usize) -> Result<Cases, Failure> {
    let documents = copyright::installed(most)?;
    let title = "Debian copyright files (DEP-5)".to_owned();
    Ok(Cases { title, settings: kind("copyright")?, documents })
}

fn kind(name: &str) -> Result<Settings, Failure> {
    let (_, text) = KINDS.iter().find(|(kind, _)| *kind == name).ok_or("no such kind")?;
    Ok(Settings::parse(text, std::path::Path::new(name))?)
}
