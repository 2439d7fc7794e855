//! The controlled world: seeded documents, versions, events, and the truth about them.
