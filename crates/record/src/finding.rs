//! Why a number is what it is: sentences that the rules of `observe` derive from the measurements, each with the figures that
//! prove it. A finding never changes a number, and none comes without evidence.

use serde::{Deserialize, Serialize};

/// One finding about a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable word of the rule that found it: "request-size", "read-ahead", "fsync-others"; docs/findings.md has the list.
    pub rule: String,
    /// The finding and its figures in a sentence for the reader.
    pub sentence: String,
    /// What to do about it or to look at next; empty if there is nothing to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
    /// The figures that the sentence rests on.
    pub evidence: Vec<Evidence>,
}

/// One figure of a finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Name of the figure: "requests", "bytes asked for".
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Its unit: "bytes", "requests", "ns", "ratio".
    pub unit: String,
    /// Where it was read: "block events", "counters of vda", "our own calls".
    pub source: String,
}
