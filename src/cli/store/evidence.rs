//! The evidence layer of a verification: whatever any output ever cited stands, character for
//! character, in the stored version that its hash names. Rights and freshness are not asked here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use dossier_store::hash::{BlobId, Sha256};
use dossier_store::read::{IdKind, Lookup, ReadError};

use crate::evidence::{Evidence, EvidenceFault};
use crate::output::Output;
use crate::snapshot::Dossier;

/// The bit of the exit code that says that evidence does not hold.
pub(super) const EVIDENCE_BIT: u8 = 8;

/// How many bytes of texts are kept for the next output.
const KEPT_BYTES: usize = 64 << 20;

/// Evidence that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EvidenceFinding {
    /// The output that cites it, in full.
    pub(super) output: String,
    /// `doc_id@version:start:end`; none where the output itself says nothing.
    pub(super) evidence: Option<String>,
    /// What does not fit.
    pub(super) detail: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EvidenceReport {
    /// Outputs that were read.
    pub(super) outputs: u64,
    /// References that were checked.
    pub(super) references: u64,
    /// All that does not hold.
    pub(super) findings: Vec<EvidenceFinding>,
    /// Whether it was stopped before the end.
    pub(super) stopped: bool,
}

/// Checks the outputs that `selected` chooses; `progress` hears how many of how many were visited.
pub(super) fn verify(
    store: &impl Lookup,
    selected: impl Fn(&BlobId) -> bool,
    mut progress: impl FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<EvidenceReport, ReadError> {
    let outputs = outputs(store)?;
    let total = outputs.len() as u64;
    let mut layer = Layer { store, dossiers: BTreeMap::new(), texts: Texts::default() };
    let mut report = EvidenceReport::default();
    for (visited, output) in outputs.into_iter().enumerate() {
        if selected(&output) {
            layer.output(output, &mut report)?;
        }
        if progress(visited as u64 + 1, total).is_break() {
            report.stopped = true;
            break;
        }
    }
    Ok(report)
}

/// Every output of a realisation, each once.
fn outputs(store: &impl Lookup) -> Result<BTreeSet<BlobId>, ReadError> {
    let mut outputs = BTreeSet::new();
    for id in store.ids_with_prefix(IdKind::Derivation, "", usize::MAX)? {
        let realisation = store.realisation(dossier_store::hash::DerivationId(id))?;
        outputs.extend(realisation.map(|realisation| realisation.output));
    }
    Ok(outputs)
}

struct Layer<'a, L> {
    store: &'a L,
    dossiers: BTreeMap<String, Option<Dossier>>,
    texts: Texts,
}

/// Texts that were read, each hashed once.
#[derive(Default)]
struct Texts {
    bytes: usize,
    kept: BTreeMap<BlobId, Option<String>>,
}

impl<L: Lookup> Layer<'_, L> {
    fn output(&mut self, id: BlobId, report: &mut EvidenceReport) -> Result<(), ReadError> {
        let bytes = match self.store.blob(id) {
            Ok(Some(bytes)) => bytes,
            // A missing or damaged blob is the store's own finding.
            Ok(None) => return Ok(()),
            Err(error) if error.is_damage() => return Ok(()),
            Err(error) => return Err(error),
        };
        report.outputs += 1;
        let finding =
            |evidence, detail: String| EvidenceFinding { output: id.to_string(), evidence, detail };
        let output = match Output::decode(&bytes) {
            Ok(output) => output,
            Err(error) => {
                report.findings.push(finding(None, format!("it is no output: {error}")));
                return Ok(());
            }
        };
        for evidence in output.claims.iter().flat_map(|claim| &claim.evidence) {
            report.references += 1;
            if let Some(detail) = self.fault(evidence)? {
                report.findings.push(finding(Some(evidence.id()), detail));
            }
        }
        Ok(())
    }

    /// What does not fit, if anything.
    fn fault(&mut self, evidence: &Evidence) -> Result<Option<String>, ReadError> {
        let code = |fault: EvidenceFault| Some(fault.code().to_owned());
        let name = evidence.doc_id.as_str().split('/').next().unwrap_or_default().to_owned();
        let Some(dossier) = self.dossier(&name)? else {
            return Ok(Some(format!("the journal of dossier {name} cannot be read")));
        };
        let Some(document) = dossier.document(evidence.doc_id.as_str()) else {
            return Ok(code(EvidenceFault::DocumentMissing));
        };
        let version = (evidence.version as usize).checked_sub(1);
        let Some(version) = version.and_then(|at| document.versions.get(at)) else {
            return Ok(Some("version_missing".into()));
        };
        let (blob, recorded) = (version.blob, version.text_sha256);
        if recorded != evidence.text_sha256 {
            return Ok(code(EvidenceFault::TextHashMismatch));
        }
        let Some(text) = self.texts.get(self.store, blob, recorded)? else {
            return Ok(code(EvidenceFault::StoreCorrupt));
        };
        Ok(match evidence.span.slice(text) {
            Some(quote) if quote == evidence.quote => None,
            Some(_) => code(EvidenceFault::QuoteMismatch),
            None => code(EvidenceFault::OffsetsOutOfRange),
        })
    }

    /// The dossier as the journal has it; none where the journal is damaged.
    fn dossier(&mut self, name: &str) -> Result<Option<&Dossier>, ReadError> {
        if !self.dossiers.contains_key(name) {
            // Whatever is wrong with the journal is the store's own finding.
            let dossier = Dossier::read(self.store, name).ok();
            self.dossiers.insert(name.to_owned(), dossier);
        }
        Ok(self.dossiers.get(name).and_then(Option::as_ref))
    }
}

impl Texts {
    /// The text, if its bytes have the recorded hash.
    fn get(
        &mut self,
        store: &impl Lookup,
        id: BlobId,
        recorded: Sha256,
    ) -> Result<Option<&str>, ReadError> {
        if !self.kept.contains_key(&id) {
            let bytes = match store.blob(id) {
                Err(error) if error.is_damage() => None,
                other => other?,
            };
            self.keep(id, bytes.filter(|bytes| Sha256::of(bytes) == recorded));
        }
        Ok(self.kept.get(&id).and_then(Option::as_deref))
    }

    fn keep(&mut self, id: BlobId, bytes: Option<Vec<u8>>) {
        self.bytes += bytes.as_ref().map_or(0, Vec::len);
        if self.bytes > KEPT_BYTES {
            self.bytes = bytes.as_ref().map_or(0, Vec::len);
            self.kept.clear();
        }
        self.kept.insert(id, bytes.and_then(|bytes| String::from_utf8(bytes).ok()));
    }
}
