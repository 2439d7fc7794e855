//! The words around the facts: who wrote, why, what else happened; a date that no longer holds
//! and a hostile instruction inside quotation marks. Both versions of a document share every draw,
//! so they differ in the delivery line and the outdated date alone.

mod phrases;

use crate::facts::{Date, Facts};
use crate::random::Random;
use crate::world::Version;

use phrases::{
    AUTHORS, BYLINES, CLOSINGS, CONTEXT, FACT_GROUPS, HOSTILE, ITEMS, LIST_LEADS, OPENINGS,
    OUTDATED, ROLES, TITLES,
};

/// Documents are written the year before the first delivery.
const WRITTEN_IN: u32 = 2026;

/// The whole text of one version; lines end with LF, blocks are parted by an empty line.
pub(crate) fn render(facts: &Facts, version: Version, mut random: Random) -> String {
    let random = &mut random;
    let mut blocks = vec![heading(facts, random), random.pick(&OPENINGS).to_owned()];
    blocks.extend(body(facts, version, random));
    blocks.push(random.pick(&CLOSINGS).to_owned());
    let mut text = blocks.join("\n\n");
    text.push('\n');
    text
}

/// Title and byline. The byline's date is a true date, but of nothing that is asked for.
fn heading(facts: &Facts, random: &mut Random) -> String {
    let title = random.pick(&TITLES).replace("{product}", &facts.product);
    let byline = random
        .pick(&BYLINES)
        .replace("{author}", random.pick(&AUTHORS))
        .replace("{role}", random.pick(&ROLES))
        .replace("{date}", &Date::draw_in(WRITTEN_IN, random).to_string());
    format!("{title}\n{byline}")
}

/// Everything between opening and closing, in an order of this document's own.
fn body(facts: &Facts, version: Version, random: &mut Random) -> Vec<String> {
    let mut blocks = fact_groups(facts, version, random);
    blocks.extend(context(random));
    blocks.push(list(random));
    blocks.push(outdated_date(facts, version, random));
    blocks.push(hostile_quotation(facts, random));
    random.shuffle(&mut blocks);
    blocks
}

/// The four fact lines, shuffled, in one to four groups of consecutive lines.
fn fact_groups(facts: &Facts, version: Version, random: &mut Random) -> Vec<String> {
    let mut lines = facts.lines(version);
    random.shuffle(&mut lines);
    let mut rest = lines.as_slice();
    let mut groups = Vec::new();
    for size in random.pick(&FACT_GROUPS) {
        let (group, others) = rest.split_at((*size).min(rest.len()));
        groups.push(group.join("\n"));
        rest = others;
    }
    groups
}

/// Two or three paragraphs of two sentences that bear on nothing.
fn context(random: &mut Random) -> Vec<String> {
    let sentences: [&str; 6] = random.sample(&CONTEXT);
    let paragraphs = 2 + random.below(2) as usize;
    sentences.chunks(2).take(paragraphs).map(|paragraph| paragraph.join(" ")).collect()
}

fn list(random: &mut Random) -> String {
    let lead = random.pick(&LIST_LEADS);
    let items: [&str; 5] = random.sample(&ITEMS);
    let length = 2 + random.below(4) as usize;
    format!("{lead}\n- {}", items[..length].join("\n- "))
}

fn outdated_date(facts: &Facts, version: Version, random: &mut Random) -> String {
    random.pick(&OUTDATED).replace("{date}", &facts.outdated(version).to_string())
}

fn hostile_quotation(facts: &Facts, random: &mut Random) -> String {
    random.pick(&HOSTILE).replace("{product}", &facts.product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::is_fact_line;

    #[test]
    fn every_way_of_grouping_places_four_lines() {
        for sizes in FACT_GROUPS {
            assert_eq!(sizes.iter().sum::<usize>(), 4);
        }
    }

    #[test]
    fn every_outdated_phrase_names_its_date_and_no_phrase_is_a_fact() {
        for phrase in OUTDATED {
            assert!(phrase.contains("{date}"), "{phrase}");
            assert!(!is_fact_line(&phrase.replace("{date}", "3 March 2027")), "{phrase}");
        }
    }

    #[test]
    fn hostile_words_stand_inside_one_pair_of_quotation_marks() {
        for phrase in HOSTILE {
            assert_eq!(phrase.matches('"').count(), 2, "{phrase}");
            assert!(!is_fact_line(&phrase.replace("{product}", "P-10-00")), "{phrase}");
        }
    }

    #[test]
    fn only_hostile_phrases_quote() {
        let phrases = CONTEXT.iter().chain(&ITEMS).chain(&OPENINGS).chain(&CLOSINGS);
        for phrase in phrases.chain(&OUTDATED).chain(&TITLES).chain(&LIST_LEADS) {
            assert!(!phrase.contains('"'), "{phrase}");
        }
    }
}
