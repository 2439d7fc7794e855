//! Why two derivations differ, in words. The fields come from the same walk that feeds the hasher,
//! through a second sink, so that the explanation and the key cannot disagree.

use std::collections::BTreeMap;

use dossier_store::derivation::{Derivation, InputSource, Recipe};
use dossier_store::encode::{Group, Scalar, Sink};
use dossier_store::hash::hex;

/// Every field of a derivation by its path, in words.
#[derive(Default)]
pub struct Fields {
    path: Vec<String>,
    fields: BTreeMap<String, String>,
}

impl Fields {
    /// The fields of a derivation: `arguments.source.version` → `2`.
    pub fn of<S: InputSource>(derivation: &Recipe<S>) -> BTreeMap<String, String> {
        let mut fields = Self::default();
        derivation.walk(&mut fields);
        fields.fields
    }

    fn enter(&mut self, name: &str) {
        self.path.push(name.to_owned());
    }

    fn named(&self, name: &str) -> String {
        let mut path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        path.push(name);
        path.retain(|part| !part.is_empty());
        path.join(".")
    }
}

impl Sink for Fields {
    fn scalar(&mut self, name: &str, value: Scalar<'_>) {
        let words = match value {
            Scalar::Flag(flag) => flag.to_string(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Text(text) => text.to_owned(),
            Scalar::Digest(digest) => hex(digest),
        };
        self.fields.insert(self.named(name), words);
    }

    fn open(&mut self, name: &str, _group: Group, count: u64) {
        self.enter(name);
        if count == 0 {
            self.fields.insert(self.named(""), "(none)".into());
        }
    }

    fn close(&mut self) {
        self.path.pop();
    }
}

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The field's path.
    pub field: String,
    /// What it was; none if it is new.
    pub old: Option<String>,
    /// What it is; none if it is gone.
    pub new: Option<String>,
}

/// The fields in which two derivations differ, in the order of their paths.
pub fn differences(old: &Derivation, new: &Derivation) -> Vec<Difference> {
    let (old, mut new) = (Fields::of(old), Fields::of(new));
    let mut differences = Vec::new();
    for (field, old) in old {
        let new = new.remove(&field);
        if new.as_ref() != Some(&old) {
            differences.push(Difference { field, old: Some(old), new });
        }
    }
    differences.extend(new.into_iter().map(|(field, new)| Difference {
        field,
        old: None,
        new: Some(new),
    }));
    differences.sort_by(|a, b| a.field.cmp(&b.field));
    differences
}

#[cfg(test)]
mod tests {
    use super::*;
    use dossier_store::derivation::{Input, Source};
    use dossier_store::encode::{Map, Value};
    use dossier_store::hash::BlobId;

    fn leaf(version: u64, blob: u8) -> Derivation {
        let source = Value::Map(Map::from([("version".into(), version.into())]));
        Derivation {
            builder: Map::from([("realiser".into(), "extract".into())]),
            arguments: Map::from([("source".into(), source)]),
            inputs: vec![Input { role: "text".into(), source: Source::Blob(BlobId([blob; 32])) }],
        }
    }

    #[test]
    fn equal_derivations_do_not_differ() {
        assert_eq!(differences(&leaf(1, 1), &leaf(1, 1)), []);
    }

    #[test]
    fn each_differing_field_is_named_with_both_values() {
        let differences = differences(&leaf(1, 1), &leaf(2, 7));
        let fields: Vec<_> = differences.iter().map(|d| d.field.as_str()).collect();
        assert_eq!(fields, ["arguments.source.version", "inputs.0.source"]);
        assert_eq!(differences[0].old.as_deref(), Some("1"));
        assert_eq!(differences[0].new.as_deref(), Some("2"));
    }

    #[test]
    fn derivations_differ_exactly_where_their_ids_do() {
        for (a, b) in [(leaf(1, 1), leaf(1, 1)), (leaf(1, 1), leaf(1, 2)), (leaf(3, 1), leaf(1, 1))]
        {
            assert_eq!(differences(&a, &b).is_empty(), a.id() == b.id());
        }
    }
}
