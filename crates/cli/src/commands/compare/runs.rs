//! The runs of each side, and where they come from.

use crate::common::Common;
use crate::state;
use fathom_record::{Run, Store};
use fathom_report::compared::Side;

/// The sides with their names; the first is the baseline.
pub struct Chosen(pub Vec<(String, Vec<Run>)>);

impl Chosen {
    pub fn pairs(&self) -> impl Iterator<Item = (Side<'_>, Side<'_>)> {
        let of = |i: usize| Side { name: self.0[i].0.clone(), runs: self.0[i].1.iter().collect() };
        (1..self.0.len()).map(move |i| (of(0), of(i)))
    }
}

/// Source of runs. Opens the store on first use: files do not need it.
pub struct RunSource<'c> {
    common: &'c Common,
    store: Option<Store>,
}

impl<'c> RunSource<'c> {
    pub fn new(common: &'c Common) -> Self {
        Self { common, store: None }
    }

    pub fn store(&mut self) -> anyhow::Result<&Store> {
        let store = match self.store.take() {
            Some(store) => store,
            None => state::kept(self.common.store.as_deref())?,
        };
        Ok(self.store.insert(store))
    }

    pub fn load(&mut self, ids: impl IntoIterator<Item = String>) -> anyhow::Result<Vec<Run>> {
        let store = self.store()?;
        ids.into_iter().map(|id| Ok(store.load(&id)?)).collect()
    }
}
