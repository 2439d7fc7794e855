//! Which file is which document. Paths decide first; bytes decide only between files at new paths
//! and documents whose files are gone.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::folder::decode_path;
use super::mirror::ChangeKind;
use super::scan::{Scan, ScannedFile, Source};
use super::unreadable::UnreadableFile;
use crate::document::DocumentId;
use crate::snapshot::{Document, Dossier};

/// A file and its document, if it has one.
type Paired<'k, 's> = (&'s ScannedFile, Option<&'k Document>);

/// A scan's files with their documents, and the documents without one.
pub(super) struct Pairing<'k, 's> {
    /// Every file in the scan's order, with its document unless it is new.
    pub(super) files: Vec<Paired<'k, 's>>,
    /// The active documents, in slot order, whose file is gone or cannot be read.
    pub(super) departed: Vec<(&'k Document, ChangeKind)>,
}

impl<'k, 's> Pairing<'k, 's> {
    pub(super) fn of(known: &'k Dossier, scan: &'s Scan) -> Self {
        let by_path = by_path(known);
        let document = |file: &ScannedFile| by_path.get(file.path.as_str()).copied();
        let mut files: Vec<_> = scan.files.iter().map(|file| (file, document(file))).collect();
        let unreadable = UnreadablePaths::of(&scan.unreadable);
        let absent = absent(known, &unreadable, &files);
        pair_moved(&mut files, absent);
        let departed = departed(known, &unreadable, &files);
        Self { files, departed }
    }
}

/// The paths that could not be read.
struct UnreadablePaths<'s>(HashSet<&'s str>);

impl<'s> UnreadablePaths<'s> {
    fn of(unreadable: &'s [UnreadableFile]) -> Self {
        Self(unreadable.iter().map(|unreadable| unreadable.path.as_str()).collect())
    }

    /// Whether the file at this path is hidden from us, by itself or with a folder it lies in.
    fn hide(&self, path: &str) -> bool {
        let mut folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        self.0.contains(path) || folders.any(|folder| self.0.contains(folder))
    }
}

/// The documents by path. Where several stand at one path, the active one is meant, else the first.
fn by_path(known: &Dossier) -> HashMap<&str, &Document> {
    let mut by_path: HashMap<&str, &Document> = HashMap::new();
    for document in &known.documents {
        let held = by_path.entry(&document.path).or_insert(document);
        if document.active() && !held.active() {
            *held = document;
        }
    }
    by_path
}

/// The documents whose file is gone, whoever withdrew them before: rights and withdrawals follow
/// the bytes to their new path. Those that were active stand first.
fn absent<'k>(
    known: &'k Dossier,
    unreadable: &UnreadablePaths<'_>,
    files: &[Paired<'k, '_>],
) -> Vec<&'k Document> {
    let present = ids(files);
    let is_absent = |document: &&Document| {
        !present.contains(document.id.as_str()) && !unreadable.hide(&document.path)
    };
    let mut absent: Vec<_> = known.documents.iter().filter(is_absent).collect();
    absent.sort_by_key(|document| (!document.active(), &document.path));
    absent
}

fn ids<'k>(files: &[Paired<'k, '_>]) -> HashSet<&'k str> {
    files.iter().filter_map(|(_, document)| Some(document.as_ref()?.id.as_str())).collect()
}

fn pair_moved<'k>(files: &mut [Paired<'k, '_>], absent: Vec<&'k Document>) {
    let mut by_source: HashMap<Source<'_>, VecDeque<&Document>> = HashMap::new();
    for document in absent {
        if let Some(version) = document.version() {
            by_source.entry(Source::of(version)).or_default().push_back(document);
        }
    }
    let mut new: Vec<_> = files.iter_mut().filter(|(_, document)| document.is_none()).collect();
    new.sort_by_key(|(file, _)| &file.path);
    for (file, document) in new {
        *document = by_source.get_mut(&Source::of(&file.version)).and_then(VecDeque::pop_front);
    }
}

fn departed<'k>(
    known: &'k Dossier,
    unreadable: &UnreadablePaths<'_>,
    files: &[Paired<'k, '_>],
) -> Vec<(&'k Document, ChangeKind)> {
    let present = ids(files);
    let gone = |document: &&Document| document.active() && !present.contains(document.id.as_str());
    let kind = |document: &Document| match unreadable.hide(&document.path) {
        true => ChangeKind::Unreadable,
        false => ChangeKind::Vanished,
    };
    known.documents.iter().filter(gone).map(|document| (document, kind(document))).collect()
}

/// The ids of the new files, by path. An id follows from the path unless a document that moved
/// away still has it: then the first free one of `id~2`, `id~3`, … is taken. Files whose own id
/// is free get it first, so that none of them is pushed aside by such a suffix.
pub(super) fn fresh_ids<'s>(
    known: &Dossier,
    pairing: &Pairing<'_, 's>,
) -> HashMap<&'s str, DocumentId> {
    let mut taken: BTreeSet<String> =
        known.documents.iter().map(|document| document.id.as_str().to_owned()).collect();
    let mut ids = HashMap::new();
    let mut pushed_aside = Vec::new();
    for (file, _) in pairing.files.iter().filter(|(_, document)| document.is_none()) {
        let id = DocumentId::from_path(&known.name, &decode_path(&file.path));
        match taken.insert(id.as_str().to_owned()) {
            true => drop(ids.insert(file.path.as_str(), id)),
            false => pushed_aside.push((file.path.as_str(), id)),
        }
    }
    for (path, id) in pushed_aside {
        let id = free_id(&id, &mut taken);
        ids.insert(path, id);
    }
    ids
}

fn free_id(id: &DocumentId, taken: &mut BTreeSet<String>) -> DocumentId {
    let mut number = 2u64;
    loop {
        let candidate = id.suffixed(number);
        if taken.insert(candidate.as_str().to_owned()) {
            return candidate;
        }
        number += 1;
    }
}
