//! What a simulated run stood on. A run that has this measured nothing: its figures follow from a model of a host, a kernel and a
//! device, and are as good as the values those are made of. Whoever shows, lists or compares runs says so.

use crate::inside::PhaseInside;
use serde::{Deserialize, Serialize};

/// The model behind a simulated run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulation {
    /// Profile of the host, by name or file.
    pub host: String,
    /// Profile of the device, by name or file.
    pub device: String,
    /// The I/O scheduler with its version and what was set of it.
    pub scheduler: String,
    /// The read-ahead policy with what was set of it.
    pub readahead: String,
    /// Layers that were simulated: "full", "nocache", "replay".
    pub stack: String,
    /// Where the values of the profiles come from.
    pub values: ValueSources,
    /// What happened inside, counted: (name, count).
    pub counts: Vec<(String, u64)>,
    /// How phases went inside, to be drawn; none of traces, and of workloads with very many phases those that come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseInside>,
}

/// How many values of profiles come from where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSources {
    /// Data sheets, manuals, kernel sources.
    pub datasheet: u32,
    /// Measured on the thing itself.
    pub measured: u32,
    /// Set so that one figure comes out.
    pub fitted: u32,
    /// Guessed.
    pub guessed: u32,
}

impl std::fmt::Display for ValueSources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [
            (self.datasheet, "from data sheets"),
            (self.measured, "measured"),
            (self.fitted, "fitted"),
            (self.guessed, "guessed"),
        ];
        let told: Vec<String> =
            parts.iter().filter(|p| p.0 > 0).map(|(n, what)| format!("{n} {what}")).collect();
        f.write_str(if told.is_empty() { "none" } else { "" })?;
        f.write_str(&told.join(", "))
    }
}

impl Simulation {
    /// The sentence that every report of such a run begins with.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "This run is simulated, nothing was measured: host {}, device {}, scheduler {}, read-ahead {}; values of the profiles: {}.",
            self.host, self.device, self.scheduler, self.readahead, self.values
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_what_it_stands_on() {
        let values = ValueSources { datasheet: 11, fitted: 1, guessed: 6, measured: 0 };
        let s = Simulation { host: "h".into(), device: "d".into(), values, ..Simulation::default() };
        let sentence = s.sentence();
        assert!(
            sentence.starts_with("This run is simulated, nothing was measured: host h, device d"),
            "{sentence}"
        );
        assert!(sentence.ends_with("11 from data sheets, 1 fitted, 6 guessed."), "{sentence}");
        assert_eq!(ValueSources::default().to_string(), "none");
    }
}
