//! The rule-based realiser: regular expressions over pieces of evidence. Every claim cites the
//! piece its value was matched in, and the piece that names its subject, if that is another.

use regex::{Captures, Regex};

use crate::claims::{Claim, Statement, fits};
use crate::evidence::Evidence;
use crate::realise::task::{Leaf, Task, Work};
use crate::realise::{Fault, Production, Realiser};
use crate::recipe::{Take, compile_pattern, decode_rules};

/// The version of the rules below; a change that alters an output raises it.
pub const VERSION: u64 = 1;

/// The rule-based realiser.
#[derive(Default)]
pub struct Extract {
    compiled: Option<(Vec<u8>, Rules)>,
}

struct Rules {
    subject: Option<Regex>,
    rules: Vec<Rule>,
}

struct Rule {
    pattern: Regex,
    field: Option<String>,
    take: Take,
}

impl Realiser for Extract {
    fn realise(&mut self, task: &Task) -> Result<Production, Fault> {
        let Work::Leaf(leaf) = &task.work else {
            return Err(Fault::Unsuited { what: "a reduce that asks for a model".into() });
        };
        Ok(Production::Ruled { claims: self.rules(&task.instructions)?.claims(leaf, &task.fields) })
    }
}

impl Extract {
    fn rules(&mut self, encoded: &[u8]) -> Result<&Rules, Fault> {
        let known = self.compiled.take().filter(|(bytes, _)| bytes == encoded);
        let compiled = match known {
            Some(compiled) => compiled,
            None => (encoded.to_vec(), Rules::compile(encoded)?),
        };
        Ok(&self.compiled.insert(compiled).1)
    }
}

impl Rules {
    fn compile(encoded: &[u8]) -> Result<Self, Fault> {
        let unsuited = || Fault::Unsuited { what: "rules that cannot be read".into() };
        let compile = |pattern: &str| compile_pattern(pattern).map_err(|_| unsuited());
        let (subject, rules) = decode_rules(encoded).ok_or_else(unsuited)?;
        let rules = rules.into_iter().map(|rule| {
            Ok(Rule { pattern: compile(&rule.pattern)?, field: rule.field, take: rule.take })
        });
        Ok(Self {
            subject: subject.as_deref().map(compile).transpose()?,
            rules: rules.collect::<Result<_, _>>()?,
        })
    }

    /// The claims in the order of the text; where rules match the same piece, in theirs. A match
    /// that no claim may state (too long, an unknown field) is passed over.
    fn claims(&self, leaf: &Leaf, fields: &[String]) -> Vec<Claim> {
        let subject = self.subject_of(leaf);
        let mut spent = vec![false; self.rules.len()];
        let mut claims: Vec<Claim> = Vec::new();
        for evidence in &leaf.evidence {
            for (rule, spent) in self.rules.iter().zip(&mut spent) {
                if *spent {
                    continue;
                }
                for found in rule.pattern.captures_iter(&evidence.quote) {
                    let claim = rule.claim(&found, evidence, subject.as_ref(), fields);
                    claims.extend(claim.filter(|claim| !claims.contains(claim)));
                    *spent = rule.take == Take::First;
                    if *spent {
                        break;
                    }
                }
            }
        }
        claims
    }

    fn subject_of(&self, leaf: &Leaf) -> Option<(String, Evidence)> {
        let pattern = self.subject.as_ref()?;
        leaf.evidence.iter().find_map(|evidence| {
            let found = pattern.captures(&evidence.quote)?;
            Some((found.name("subject")?.as_str().to_owned(), evidence.clone()))
        })
    }
}

impl Rule {
    fn claim(
        &self,
        found: &Captures<'_>,
        evidence: &Evidence,
        subject: Option<&(String, Evidence)>,
        fields: &[String],
    ) -> Option<Claim> {
        let group = |name| found.name(name).map(|group| group.as_str().to_owned());
        let mut cited = vec![evidence.clone()];
        let subject = match (group("subject"), subject) {
            (Some(own), _) => own,
            (None, Some((subject, line))) => {
                cited.extend((line != evidence).then(|| line.clone()));
                subject.clone()
            }
            (None, None) => return None,
        };
        let field = group("field").or_else(|| self.field.clone())?;
        let statement = Statement { subject, field, value: group("value")? };
        let sayable = fits(&statement, fields);
        sayable.then_some(Claim { statement, evidence: cited })
    }
}
