//! The figures as a table for people and as JSON. Shares are printed beside what they are of.

use serde_json::json;

use crate::cases::Cases;
use crate::measure::Row;

/// One row for each model and profile.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| model | profile | leaves | INVALID | claims | exact fact line | copied | right | facts found \
         | tokens in | tokens out | evaluations | per claim | s per leaf | worker, MB |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

fn line(row: &Row) -> String {
    let megabytes = row.worker_peak_bytes.map(|bytes| (bytes / 1_000_000).to_string());
    let cells = [
        row.model.clone(),
        row.profile.clone(),
        row.leaves.to_string(),
        share(row.invalid, row.leaves),
        row.claims.to_string(),
        share(row.exact_lines, row.claims),
        share(row.copied, row.claims),
        share(row.right, row.claims),
        share(row.found, row.facts),
        row.tokens_in.to_string(),
        row.tokens_out.to_string(),
        row.evaluations.to_string(),
        each(row.evaluations as f64, row.claims),
        each(row.seconds, row.leaves),
        megabytes.unwrap_or_default(),
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => format!("{part} of 0"),
        _ => format!("{part} ({:.1} %)", part as f64 * 100.0 / whole as f64),
    }
}

fn each(total: f64, count: u64) -> String {
    if count == 0 { "–".to_owned() } else { format!("{:.1}", total / count as f64) }
}

/// The same figures, to be read by programs.
pub(crate) fn json(cases: &Cases, rows: &[Row]) -> String {
    let document = json!({
        "schema": "dossier.quality/1",
        "documents": cases.title,
        "count": cases.documents.len(),
        "facts": cases.facts(),
        "rows": rows,
    });
    format!("{document:#}\n")
}
