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

#[cfg(test)]
mod tests {
    use dossier_store::derivation::{Derivation, ResolvedDerivation};
    use dossier_store::encode::Map;
    use dossier_store::realisation::How;
    use dossier_store::write::Commit;
    use dossier_store::{Options, Store};

    use super::*;
    use crate::claims::{Claim, Statement};
    use crate::document::{DocumentId, Span};
    use crate::event::{EVENT, Event};
    use crate::output::NodeStatus;

    type Change = fn(&mut Evidence);

    const TEXT: &str = "Đà Nẵng is a city.\n";

    /// A store with the version `S/a.txt@1` and a node for each given output.
    fn report(outputs: &[&[u8]]) -> EvidenceReport {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("store"), &Options::default()).unwrap();
        let mut batch = store.write().unwrap();
        let blob = batch.put_blob(TEXT.as_bytes()).unwrap();
        let added = Event::VersionAdded {
            document: "S/a.txt".into(),
            version: 1,
            text_sha256: Sha256::of(TEXT.as_bytes()).0,
            blob: blob.0,
            length: TEXT.len() as u64,
            original: None,
        };
        let activated =
            Event::Activated { document: "S/a.txt".into(), version: 1, path: "a.txt".into() };
        for event in [added, activated] {
            batch.append("S", EVENT, &event.encode(), 0).unwrap();
        }
        for (number, output) in outputs.iter().enumerate() {
            let builder = Map::from([("number".into(), (number as u64).into())]);
            let derivation = Derivation { builder, arguments: Map::new(), inputs: Vec::new() };
            let resolved: ResolvedDerivation = derivation.resolve(|_| None).unwrap();
            let commit = Commit {
                derivation: &derivation,
                resolved: &resolved,
                output,
                status: NodeStatus::Valid.code(),
                how: How::Settled,
                run: None,
                raw: None,
                edges: Vec::new(),
            };
            batch.realise(commit).unwrap();
        }
        batch.commit().unwrap();
        verify(&store.read().unwrap(), |_| true, |_, _| ControlFlow::Continue(())).unwrap()
    }

    fn sound() -> Evidence {
        Evidence {
            doc_id: DocumentId::given("S/a.txt").unwrap(),
            version: 1,
            span: Span { start: 3, end: 7 },
            quote: "Nẵng".into(),
            text_sha256: Sha256::of(TEXT.as_bytes()),
        }
    }

    fn citing(evidence: Evidence) -> Vec<u8> {
        let statement =
            Statement { subject: "s".into(), field: "site".into(), value: "Nẵng".into() };
        let claims = vec![Claim { statement, evidence: vec![evidence] }];
        Output { status: NodeStatus::Valid, claims }.encode()
    }

    #[test]
    fn sound_evidence_gives_no_finding() {
        let report = report(&[&citing(sound())]);
        assert_eq!((report.outputs, report.references), (1, 1));
        assert_eq!(report.findings, []);
    }

    #[test]
    fn every_fault_is_found_and_none_ends_the_search() {
        let changes: [(&str, Change); 5] = [
            ("quote_mismatch", |e| e.quote = "Nang".into()),
            ("offsets_out_of_range", |e| e.span.end = 99),
            ("text_hash_mismatch", |e| e.text_sha256 = Sha256([0; 32])),
            ("version_missing", |e| e.version = 2),
            ("document_missing", |e| e.doc_id = DocumentId::given("S/b.txt").unwrap()),
        ];
        for (code, change) in changes {
            let mut evidence = sound();
            change(&mut evidence);
            let report = report(&[b"no output", &citing(evidence.clone()), &citing(sound())]);
            let found: Vec<(Option<&str>, &str)> = report
                .findings
                .iter()
                .map(|finding| (finding.evidence.as_deref(), finding.detail.as_str()))
                .collect();
            assert_eq!(report.references, 2);
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found.contains(&(Some(&*evidence.id()), code)), "{code}: {found:?}");
            assert!(
                found
                    .iter()
                    .any(|(none, detail)| none.is_none() && detail.starts_with("it is no output"))
            );
        }
    }
}
