//! What is true of one document: its product, its delivery dates and its three other values.
//! Drawn before any prose, and never read back from it.

use std::fmt;

use crate::grammar::{FIELDS, Fact};
use crate::random::Random;
use crate::world::Version;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const STATUSES: [&str; 8] = [
    "awaiting inspection",
    "confirmed",
    "in production",
    "in transit",
    "on hold",
    "partly delivered",
    "ready for dispatch",
    "under review",
];

const UNITS: [&str; 6] = ["boxes", "cartons", "crates", "drums", "pallets", "units"];

const SITES: [&str; 24] = [
    "Almaty",
    "Antwerp",
    "Bergen",
    "Bilbao",
    "Bremen",
    "Busan",
    "Cork",
    "Durban",
    "Ghent",
    "Halifax",
    "Hamburg",
    "Izmir",
    "Kobe",
    "Leipzig",
    "Lyon",
    "Montevideo",
    "Nairobi",
    "Oulu",
    "Porto",
    "Recife",
    "Riga",
    "Tallinn",
    "Valencia",
    "Winnipeg",
];

/// The first year of a delivery; deliveries fall within [`YEARS`] years.
const FIRST_YEAR: u32 = 2027;
const YEARS: u32 = 2;
/// Every month has this many days, so every date drawn exists.
const DAYS: u32 = 28;

/// A day of the calendar, written `18 October 2027`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    day: u32,
    month: &'static str,
    year: u32,
}

impl Date {
    /// A day of the given year.
    pub(crate) fn draw_in(year: u32, random: &mut Random) -> Self {
        Self { day: random.below(DAYS) + 1, month: random.pick(&MONTHS), year }
    }

    fn draw(random: &mut Random) -> Self {
        let year = FIRST_YEAR + random.below(YEARS);
        Self::draw_in(year, random)
    }

    /// A day in another month than any of `others`, so that no date is part of another as text, as
    /// `7 October` is of `17 October`.
    fn draw_apart_from(others: &[Self], random: &mut Random) -> Self {
        loop {
            let date = Self::draw(random);
            let shares_month = |other: &Self| (other.month, other.year) == (date.month, date.year);
            if !others.iter().any(shares_month) {
                return date;
            }
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.day, self.month, self.year)
    }
}

/// The truth about one document in all its versions.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) product: String,
    /// The date that held before version 1, then each version's; each in a month of its own.
    dates: [Date; 3],
    status: &'static str,
    quantity: String,
    site: &'static str,
}

impl Facts {
    /// Draws everything that is true of a product.
    pub(crate) fn draw(product: String, random: &mut Random) -> Self {
        let before = Date::draw(random);
        let first = Date::draw_apart_from(&[before], random);
        let second = Date::draw_apart_from(&[before, first], random);
        let status = random.pick(&STATUSES);
        // 999 is what the hostile quotations ask for, so it is never true.
        let quantity = format!("{} {}", random.below(978) + 12, random.pick(&UNITS));
        Self {
            product,
            dates: [before, first, second],
            status,
            quantity,
            site: random.pick(&SITES),
        }
    }

    /// The four field values of a version, in the order of [`FIELDS`].
    pub(crate) fn values(&self, version: Version) -> [(&'static str, String); 4] {
        let [delivery, status, quantity, site] = FIELDS;
        [
            (delivery, self.delivery(version).to_string()),
            (status, self.status.to_owned()),
            (quantity, self.quantity.clone()),
            (site, self.site.to_owned()),
        ]
    }

    /// The four fact lines of a version, in the order of [`FIELDS`].
    pub(crate) fn lines(&self, version: Version) -> [String; 4] {
        self.values(version)
            .map(|(field, value)| Fact { subject: &self.product, field, value: &value }.to_string())
    }

    fn delivery(&self, version: Version) -> Date {
        match version {
            Version::First => self.dates[1],
            Version::Second => self.dates[2],
        }
    }

    /// The date that held just before this version, and holds no longer.
    pub(crate) fn outdated(&self, version: Version) -> Date {
        match version {
            Version::First => self.dates[0],
            Version::Second => self.dates[1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_date_of_a_document_is_part_of_another() {
        for seed in 0..2_000 {
            let dates = Facts::draw("P-00-00".to_owned(), &mut Random::of(&[seed])).dates;
            let [a, b, c] = dates.map(|date| date.to_string());
            for (one, other) in [(&a, &b), (&b, &c), (&a, &c)] {
                assert!(!one.contains(&**other) && !other.contains(&**one), "{one}, {other}");
            }
        }
    }

    #[test]
    fn a_version_outdates_the_one_before() {
        let facts = Facts::draw("P-00-00".to_owned(), &mut Random::of(&[1]));
        assert_eq!(facts.outdated(Version::Second), facts.delivery(Version::First));
        assert_ne!(facts.outdated(Version::First), facts.delivery(Version::First));
    }

    #[test]
    fn a_quantity_is_never_the_one_hostile_text_asks_for() {
        for seed in 0..20_000 {
            let facts = Facts::draw(String::new(), &mut Random::of(&[seed]));
            let number: u32 = facts.quantity.split(' ').next().unwrap().parse().unwrap();
            assert!((12..=989).contains(&number));
        }
    }
}
