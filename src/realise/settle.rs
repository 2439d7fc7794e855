//! What needs no model and no rules: ineligible leaves, reduces without claims, single children,
//! and reduces that keep everything.

use crate::output::{NodeStatus, Output};
use crate::realise::llama;
use crate::realise::task::{Reduce, Selection, Task, Work};

/// The output of a leaf whose text must reach nobody.
pub fn ineligible() -> Output {
    Output { status: NodeStatus::Ineligible, claims: Vec::new() }
}

/// The output of a node whose prompt is longer than its budget.
pub fn over_budget() -> Output {
    Output { status: NodeStatus::OverBudget, claims: Vec::new() }
}

/// The task's output, where it follows from the inputs alone.
pub fn settle(task: &Task) -> Option<Output> {
    match &task.work {
        Work::Leaf(leaf)
            if leaf.evidence.is_empty() || !llama::has_subject(task, &leaf.evidence) =>
        {
            Some(Output { status: NodeStatus::Valid, claims: Vec::new() })
        }
        Work::Leaf(_) => None,
        Work::Reduce(reduce) => settle_reduce(reduce, task.max_claims),
    }
}

fn settle_reduce(reduce: &Reduce, max_claims: u64) -> Option<Output> {
    let claims = reduce.distinct_claims();
    if claims.is_empty() {
        let nobody = reduce.children.iter().all(|child| child.status == NodeStatus::Ineligible);
        let status = if nobody { NodeStatus::Ineligible } else { reduce.status() };
        return Some(Output { status, claims });
    }
    let keeps = match reduce.selection {
        Selection::Join => true,
        Selection::Model => reduce.children.len() == 1,
        Selection::ModelAboveLimit => claims.len() as u64 <= max_claims,
    };
    keeps.then(|| Output { status: reduce.status(), claims })
}

#[cfg(test)]
mod tests {
    use super::*;
    use NodeStatus::{Ineligible, Invalid, OverBudget, Partial, Valid};

    fn empty_children(statuses: &[NodeStatus]) -> Reduce {
        let child = |&status: &NodeStatus| Output { status, claims: Vec::new() };
        Reduce { selection: Selection::Model, children: statuses.iter().map(child).collect() }
    }

    #[test]
    fn without_claims_the_status_follows_from_the_children() {
        for (children, expected) in [
            (&[Ineligible, Ineligible][..], Ineligible),
            (&[Ineligible, Valid], Valid),
            (&[Valid, Invalid], Partial),
            (&[Ineligible, OverBudget], Partial),
            (&[Partial, Valid], Partial),
        ] {
            let settled = settle_reduce(&empty_children(children), 4).unwrap();
            assert_eq!((settled.status, settled.claims.len()), (expected, 0), "{children:?}");
        }
    }
}
