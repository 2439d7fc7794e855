//! Short labels for evidence. A model sees and answers with labels; the program maps them to
//! evidence, so no id ever goes through a model.

use super::task::{Task, Work};
use crate::evidence::Evidence;

/// The evidence that an answer may cite, each with its label: `L1`, `L2`, … for a leaf's pieces,
/// `E1`, `E2`, … for what a reduce's children cite.
pub fn labelled(task: &Task) -> Vec<(String, Evidence)> {
    let letter = match task.work {
        Work::Leaf(_) => 'L',
        Work::Reduce(_) => 'E',
    };
    let label = |(position, evidence)| (format!("{letter}{}", position + 1), evidence);
    task.offered().into_iter().enumerate().map(label).collect()
}
