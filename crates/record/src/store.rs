//! The store: one SQLite file. (Filled by the next commit.)

/// What went wrong with the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {}
/// The store.
pub struct Store {}
