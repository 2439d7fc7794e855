//! Summaries of document folders that can prove themselves.
