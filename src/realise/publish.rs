//! Publication: the statement that a root is the dossier's summary. It is made only if the
//! documents and rights are still those that were built from.

use dossier_store::read::Lookup as _;

use super::{Build, BuildError, Progress, Round};
use crate::event::{PUBLICATION, Publication};
use crate::snapshot::Dossier;

/// What came of publishing.
pub(super) enum Published {
    /// The root is published now, or was the last one published.
    Yes,
    /// The root was not reached.
    No,
    /// The dossier moved meanwhile; nothing was published.
    Moved,
}

impl Build<'_> {
    /// Publishes the round's root.
    pub(super) fn publish(
        &self,
        round: &Round,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Published, BuildError> {
        let root = round.graph.root().map(|root| root.id);
        let Some(root) = root.filter(|root| round.known.contains_key(root)) else {
            return Ok(Published::No);
        };
        if round
            .dossier
            .last_publication(self.principal)
            .is_some_and(|(_, last)| last.root() == root)
        {
            return Ok(Published::Yes);
        }
        let mut batch = self.store.write()?;
        let now = Dossier::read(&batch, self.dossier)?;
        if now.as_of.event != round.dossier.as_of.event {
            return Ok(Published::Moved);
        }
        // In a second run, what stands is the first root; where the store could keep none, there is
        // nothing to publish.
        let Some(realised) = batch.realisation(root)? else { return Ok(Published::No) };
        let publication = Publication {
            principal: self.principal.to_owned(),
            event: now.as_of.event,
            root: root.0,
            output: realised.output.0,
            previous: now.last_publication(self.principal).map(|(sequence, _)| *sequence),
        };
        let body = publication.encode();
        let record = batch.append(self.dossier, PUBLICATION, &body, (self.clock)() / 1000)?;
        let sequence = record.sequence;
        batch.commit()?;
        progress(&Progress::Published { sequence });
        Ok(Published::Yes)
    }
}
