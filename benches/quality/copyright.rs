//! Debian's machine-readable copyright files, and the truth that the format itself states: its
//! header and the first stanza about files. See <https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/>.

use std::path::Path;

use crate::cases::{Document, Fact, Failure};

const FOLDER: &str = "/usr/share/doc";

/// Up to so many files, by package name, that name their upstream; identical ones once.
pub(crate) fn installed(most: usize) -> Result<Vec<Document>, Failure> {
    let mut packages: Vec<_> = std::fs::read_dir(FOLDER)?.collect::<Result<_, _>>()?;
    packages.sort_by_key(std::fs::DirEntry::file_name);
    let mut found: Vec<Document> = Vec::new();
    for package in packages {
        let Some(text) = read(&package.path()) else { continue };
        let facts = facts(&text);
        if facts.is_empty() || found.iter().any(|document| document.text == text) {
            continue;
        }
        let name = format!("{}.txt", package.file_name().to_string_lossy());
        found.push(Document { name, text, facts });
        if found.len() == most {
            break;
        }
    }
    Ok(found)
}

fn read(package: &Path) -> Option<String> {
    let text = std::fs::read_to_string(package.join("copyright")).ok()?;
    let first = text.lines().next()?;
    (first.starts_with("Format:") && first.contains("copyright-format")).then_some(text)
}

/// What the header and the first stanza about files state. A file that names no upstream states
/// nothing about anything.
pub(crate) fn facts(text: &str) -> Vec<Fact> {
    let stanzas = stanzas(text);
    let Some(header) = stanzas.first() else { return Vec::new() };
    let Some(subject) = header.value("Upstream-Name").and_then(|lines| lines.first().copied())
    else {
        return Vec::new();
    };
    let files = stanzas.iter().find(|stanza| stanza.value("Files").is_some());
    let stated = [
        ("source", header.value("Source")),
        ("contact", header.value("Upstream-Contact")),
        ("license", files.and_then(|stanza| stanza.value("License")).map(|lines| &lines[..1])),
        ("holder", files.and_then(|stanza| stanza.value("Copyright"))),
    ];
    let fact = |(field, lines): (&str, Option<&[&str]>)| {
        Some(Fact {
            field: field.to_owned(),
            subjects: vec![subject.to_owned()],
            values: lines?.iter().flat_map(|line| spellings(line)).collect(),
        })
    };
    stated.into_iter().filter_map(fact).collect()
}

/// The line; the line without signs and years before a name; a name and an address each alone.
fn spellings(line: &str) -> Vec<String> {
    let named = line.trim_start_matches(|c: char| {
        c.is_ascii_digit() || c.is_whitespace() || "©,-–".contains(c)
    });
    let named = named.trim_start_matches("Copyright ").trim_start_matches("(C) ");
    let mut spellings = vec![line.to_owned(), named.to_owned()];
    if let Some((name, address)) = named.split_once(" <") {
        spellings.push(name.to_owned());
        spellings.push(address.trim_end_matches('>').to_owned());
    }
    spellings.push(line.trim_start_matches('<').trim_end_matches('>').to_owned());
    spellings.sort();
    spellings.dedup();
    spellings
}

struct Stanza<'a>(Vec<(&'a str, Vec<&'a str>)>);

impl<'a> Stanza<'a> {
    /// The lines of a field's value that are not empty; none where there is no such line.
    fn value(&self, field: &str) -> Option<&[&'a str]> {
        let (_, lines) = self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(field))?;
        (!lines.is_empty()).then_some(lines)
    }
}

fn stanzas(text: &str) -> Vec<Stanza<'_>> {
    let mut stanzas = vec![Stanza(Vec::new())];
    for line in text.lines() {
        let Some(Stanza(fields)) = stanzas.last_mut() else { continue };
        let value = match line.split_once(':') {
            _ if line.trim().is_empty() => {
                stanzas.push(Stanza(Vec::new()));
                continue;
            }
            Some((name, value)) if !line.starts_with([' ', '\t', '#']) => {
                fields.push((name, Vec::new()));
                value
            }
            _ => line,
        };
        if let Some((_, lines)) = fields.last_mut().filter(|_| !value.trim().is_empty()) {
            lines.push(value.trim());
        }
    }
    stanzas.retain(|Stanza(fields)| !fields.is_empty());
    stanzas
}
