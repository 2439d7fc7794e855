//! The output blob of a node: exactly its status, its claims in order, and their evidence with each
//! text's SHA-256. A child's status and versions are thereby inside its parents' resolved ids.

use dossier_store::encode::{DecodeError, Value};

use crate::claims::Claim;

/// The format of the bytes below.
const FORMAT: u64 = 1;

/// What a node came to. It speaks of structure only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeStatus {
    /// The answer keeps the rules.
    Valid,
    /// It does, but a node below did not give what it should have.
    Partial,
    /// The answer breaks a rule.
    Invalid,
    /// The text must reach nobody.
    Ineligible,
    /// The prompt is longer than its budget.
    OverBudget,
}

const STATUSES: [NodeStatus; 5] = [
    NodeStatus::Valid,
    NodeStatus::Partial,
    NodeStatus::Invalid,
    NodeStatus::Ineligible,
    NodeStatus::OverBudget,
];

impl NodeStatus {
    /// The status as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "VALID",
            Self::Partial => "PARTIAL",
            Self::Invalid => "INVALID",
            Self::Ineligible => "INELIGIBLE",
            Self::OverBudget => "OVER_BUDGET",
        }
    }

    /// The status as it is stored.
    pub fn code(self) -> u8 {
        match self {
            Self::Valid => 1,
            Self::Partial => 2,
            Self::Invalid => 3,
            Self::Ineligible => 4,
            Self::OverBudget => 5,
        }
    }

    /// Reads a stored status.
    pub fn from_code(code: u8) -> Option<Self> {
        STATUSES.into_iter().find(|status| status.code() == code)
    }
}

/// A node's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// What the node came to.
    pub status: NodeStatus,
    /// Its claims.
    pub claims: Vec<Claim>,
}

impl Output {
    /// The canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        Value::List(vec![
            Value::Number(FORMAT),
            u64::from(self.status.code()).into(),
            Value::List(self.claims.iter().map(Claim::value).collect()),
        ])
        .encode()
    }

    /// Reads canonical bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let malformed = |expected| DecodeError { at: 0, expected };
        let Value::List(parts) = Value::decode(bytes)? else {
            return Err(malformed("the list of an output"));
        };
        let Ok([Value::Number(FORMAT), Value::Number(status), Value::List(claims)]) =
            <[Value; 3]>::try_from(parts)
        else {
            return Err(malformed("an output of format 1"));
        };
        let status = u8::try_from(status).ok().and_then(NodeStatus::from_code);
        let claims = claims.into_iter().map(Claim::from_value).collect::<Option<_>>();
        match (status, claims) {
            (Some(status), Some(claims)) => Ok(Self { status, claims }),
            _ => Err(malformed("a status and claims")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::tests::claim;
    use proptest::prelude::*;

    #[test]
    fn outputs_read_back_and_have_fixed_bytes() {
        let output =
            Output { status: NodeStatus::Partial, claims: vec![claim("s", "v", "S/a.txt")] };
        assert_eq!(Output::decode(&output.encode()), Ok(output.clone()));
        assert_eq!(
            dossier_store::hash::BlobId::of(&output.encode()).hex(),
            "fd007967ef359598794647bd57383a44e0c410a959554c3f1036c9dd909cbe07"
        );
    }

    #[test]
    fn other_bytes_are_refused() {
        assert!(Output::decode(b"").is_err());
        assert!(Output::decode(&Value::Number(1).encode()).is_err());
        let unknown = Value::List(vec![1u64.into(), 9u64.into(), Value::List(Vec::new())]);
        assert!(Output::decode(&unknown.encode()).is_err());
        let later = Value::List(vec![2u64.into(), 1u64.into(), Value::List(Vec::new())]);
        assert!(Output::decode(&later.encode()).is_err());
    }

    #[test]
    fn statuses_read_back() {
        let codes: Vec<u8> =
            (0..=255).filter(|code| NodeStatus::from_code(*code).is_some()).collect();
        assert_eq!(codes, STATUSES.map(NodeStatus::code));
        let names = STATUSES.map(NodeStatus::as_str);
        assert_eq!(names, ["VALID", "PARTIAL", "INVALID", "INELIGIBLE", "OVER_BUDGET"]);
    }

    proptest! {
        #[test]
        fn what_decodes_is_what_would_be_written(
            at in any::<prop::sample::Index>(), byte in any::<u8>(), kept in 0usize..400,
        ) {
            let output = Output { status: NodeStatus::Valid, claims: vec![claim("é🦀", "v", "S/a")] };
            let mut bytes = output.encode();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes.truncate(kept);
            if let Ok(decoded) = Output::decode(&bytes) {
                prop_assert_eq!(decoded.encode(), bytes);
            }
        }
    }
}
