//! What a simulated run stood on. A run that has this measured nothing: its figures follow from a model of a host, a kernel and a
//! device, and are as good as the values those are made of. Whoever shows, lists or compares runs says so.

use crate::inside::PhaseInside;
use serde::{Deserialize, Serialize};

/// The model behind a simulated run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Which of them were fitted or guessed, and how far the model was from a device; empty in records of older versions.
    #[serde(default)]
    pub rests_on: RestsOn,
    /// What happened inside, counted: (name, count).
    pub counts: Vec<(String, u64)>,
    /// How phases went inside, to be drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseInside>,
}

/// What an answer of a model rests on beside what is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RestsOn {
    /// Values that were set so that a figure comes out, by their names in the profiles ("device interface.overhead_ms").
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Values that nobody knows.
    #[serde(default)]
    pub guessed: Vec<String>,
    /// How far response times of the device's model were from those of the device, on requests that it was not fitted to: the demerit
    /// figure in % of their mean. `None` if nobody has held the one beside the other.
    #[serde(default)]
    pub demerit_percent: Option<f64>,
}

impl RestsOn {
    /// The error bar in words, without a full stop.
    #[must_use]
    pub fn error_bar(&self) -> String {
        self.demerit_percent.map_or_else(
            || "no demerit known: how far this model is from a device is not known".into(),
            |percent| format!("error bar: the device's model was {percent:.1} % off a device (demerit)"),
        )
    }

    /// The error bar, and every value that the answer rests on without anybody knowing it, in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut text = self.error_bar();
        for (what, names) in [("fitted", &self.fitted), ("guessed", &self.guessed)] {
            if !names.is_empty() {
                text += &format!("; {what}: {}", names.join(", "));
            }
        }
        text.replace_range(..1, &text[..1].to_uppercase());
        text + "."
    }
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

    #[test]
    fn an_answer_names_what_it_rests_on_and_its_error() {
        let unknown = RestsOn { guessed: vec!["host cpu.call_us".into()], ..RestsOn::default() };
        let sentence = unknown.sentence();
        assert!(
            sentence.starts_with("No demerit known: how far this model is from a device is not known"),
            "{sentence}"
        );
        assert!(sentence.ends_with("; guessed: host cpu.call_us."), "{sentence}");
        let known = RestsOn {
            fitted: vec!["device service.mb_s".into(), "device service.command_us".into()],
            demerit_percent: Some(7.26),
            ..RestsOn::default()
        };
        assert_eq!(
            known.sentence(),
            "Error bar: the device's model was 7.3 % off a device (demerit); fitted: device service.mb_s, device service.command_us."
        );
        // Records of older versions have none of this.
        let old = "{\"host\":\"h\",\"device\":\"d\",\"scheduler\":\"s\",\"readahead\":\"r\",\"stack\":\"full\",\
                   \"values\":{\"datasheet\":1,\"measured\":0,\"fitted\":0,\"guessed\":0},\"counts\":[]}";
        let read: Simulation = serde_json::from_str(old).unwrap();
        assert_eq!(read.rests_on, RestsOn::default());
    }
}
