//! What a simulated run is based on. Such a run measured nothing: its figures follow from a model of a host, a kernel and a
//! device, and are only as good as the model's values. Code that shows, lists or compares runs must say so.

use crate::course::PhaseCourse;
use serde::{Deserialize, Serialize};

/// The model behind a simulated run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// Host profile, by name or file.
    pub host: String,
    /// Device profile, by name or file.
    pub device: String,
    /// The I/O scheduler with its version and changed settings.
    pub scheduler: String,
    /// The read-ahead policy with its changed settings.
    pub readahead: String,
    /// Simulated layers: "full", "nocache", "replay".
    pub stack: String,
    /// Request limits of the device, by preset name; empty in records of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub limits: String,
    /// Profile values overridden for this run, as given: ("device.layout.unit_kib", "128").
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, String)>,
    /// How a trace was fed in; `None` for workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_in: Option<FeedMode>,
    /// Texts of the profiles that were files, since a file may have changed by now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<ProfileText>,
    /// Where the values of the profiles come from.
    pub values: ValueSources,
    /// Which values were fitted or guessed, and how far the model was off; empty in records of older versions.
    #[serde(default)]
    pub rests_on: Uncertainty,
    /// Internal event counts: (name, count).
    pub counts: Vec<(String, u64)>,
    /// The inner course of phases, for drawing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseCourse>,
}

/// How the arrivals of a trace were fed in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeedMode {
    /// "open": at the trace's times; "closed": a fixed number in flight; "dependent": after what their tasks waited for.
    pub mode: String,
    /// Factor applied to gaps in time; 1 if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Number kept in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

/// A profile that was read from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileText {
    /// Which profile: "host", "device", "device members.disk".
    pub of: String,
    /// Name of the file.
    pub file: String,
    /// Content of the file.
    pub text: String,
}

/// The uncertain values a model's answer rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// Values set so that a figure comes out, by their names in the profiles ("device interface.overhead_ms").
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Values without a source.
    #[serde(default)]
    pub guessed: Vec<String>,
    /// How far the model's response times were from the device's, on requests it was not fitted to: the demerit figure in % of
    /// their mean. `None` if they were never compared.
    #[serde(default)]
    pub demerit_percent: Option<f64>,
    /// How far the device's model was off on several traces that it was not fitted to. Replaces the demerit figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<OffHeldOut>,
    /// What the trace the device was fitted to lacks of this answer's requests ("no writes"); there is then no error bar.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
}

/// How far a model was off on traces it was not fitted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OffHeldOut {
    /// The error bar, percent of throughput or of the mean response time, whichever is larger.
    pub percent: f64,
    /// Number of traces held out in turn.
    pub traces: u64,
}

impl OffHeldOut {
    /// From this many traces on, the error bar is the value exceeded by one in twenty instead of the worst.
    pub const MANY: u64 = 20;
}

impl std::fmt::Display for OffHeldOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = if self.traces < Self::MANY { "" } else { "19 in 20 of " };
        write!(
            f,
            "at most {:.1} % off the device, in throughput and mean response time of {of}{} held-out traces, with 5 % for \
             the difference between two runs",
            self.percent, self.traces
        )
    }
}

impl Uncertainty {
    /// The error bar, percent; `None` if unknown.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        self.held_out.map(|held_out| held_out.percent).or(self.demerit_percent)
    }

    /// How far the model was off, in words that follow "the device's model was"; `None` if unknown.
    #[must_use]
    pub fn off(&self) -> Option<String> {
        let demerit = || self.demerit_percent.map(|percent| format!("{percent:.1} % off a device (demerit)"));
        self.held_out.map(|held_out| held_out.to_string()).or_else(demerit)
    }

    /// The error bar in words, without a full stop.
    #[must_use]
    pub fn error_bar(&self) -> String {
        if !self.instead.is_empty() {
            return format!(
                "not calibrated for this, so its error is unknown: the trace that the device was fitted to has {}",
                self.instead.join(", ")
            );
        }
        self.off().map_or_else(
            || "no demerit known: this model was not compared with a device".into(),
            |off| format!("error bar: the device's model was {off}"),
        )
    }

    /// The error bar and every uncertain value the answer rests on, in one sentence.
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

/// Number of profile values by origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSources {
    /// Data sheets, manuals, kernel sources.
    pub datasheet: u32,
    /// Measured on the hardware itself.
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
        let counts: Vec<String> =
            parts.iter().filter(|p| p.0 > 0).map(|(n, what)| format!("{n} {what}")).collect();
        f.write_str(if counts.is_empty() { "none" } else { "" })?;
        f.write_str(&counts.join(", "))
    }
}

impl Simulation {
    /// The sentence that begins every report of such a run.
    #[must_use]
    pub fn sentence(&self) -> String {
        let settings: Vec<String> = self
            .settings()
            .into_iter()
            .filter(|(name, value)| name != "layers" || !(value.is_empty() || value == "full"))
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        format!(
            "This run is simulated, nothing was measured: {}; values of the profiles: {}.",
            settings.join(", "),
            self.values
        )
    }

    /// Every setting beside the workload, by name.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = [
            ("host", &self.host),
            ("device", &self.device),
            ("scheduler", &self.scheduler),
            ("read-ahead", &self.readahead),
            ("layers", &self.stack),
        ]
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .to_vec();
        if !self.limits.is_empty() {
            all.push(("limits".into(), self.limits.clone()));
        }
        if let Some(handed) = &self.handed_in {
            all.push(("handed in".into(), handed.mode.clone()));
            all.extend(handed.depth.map(|n| ("under way".to_owned(), n.to_string())));
            all.extend(handed.scale.map(|x| ("gaps times".to_owned(), x.to_string())));
        }
        all.extend(self.set.iter().cloned());
        all
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
    fn what_was_asked_for_is_told_as_far_as_it_was() {
        let whole = Simulation {
            stack: "replay".into(),
            limits: "cciss".into(),
            handed_in: Some(FeedMode { mode: "closed".into(), depth: Some(8), scale: None }),
            set: vec![("device.layout.unit_kib".into(), "128".into())],
            ..Simulation::default()
        };
        let sentence = whole.sentence();
        let told =
            "layers replay, limits cciss, handed in closed, under way 8, device.layout.unit_kib 128; values";
        assert!(sentence.contains(told), "{sentence}");
        let plain = Simulation { stack: "full".into(), ..Simulation::default() };
        assert!(!plain.sentence().contains("layers"), "{}", plain.sentence());
    }

    #[test]
    fn an_answer_names_what_it_rests_on_and_its_error() {
        let unknown = Uncertainty { guessed: vec!["host cpu.call_us".into()], ..Uncertainty::default() };
        let sentence = unknown.sentence();
        assert!(
            sentence.starts_with("No demerit known: this model was not compared with a device"),
            "{sentence}"
        );
        assert!(sentence.ends_with("; guessed: host cpu.call_us."), "{sentence}");
        let known = Uncertainty {
            fitted: vec!["device service.mb_s".into(), "device service.command_us".into()],
            demerit_percent: Some(7.26),
            ..Uncertainty::default()
        };
        assert_eq!(
            known.sentence(),
            "Error bar: the device's model was 7.3 % off a device (demerit); fitted: device service.mb_s, device service.command_us."
        );
        let held_out = Some(OffHeldOut { percent: 12.34, traces: 6 });
        assert_eq!(
            Uncertainty { held_out, ..Uncertainty::default() }.sentence(),
            "Error bar: the device's model was at most 12.3 % off the device, in throughput and mean response time of 6 held-out traces, with 5 % for the difference between two runs."
        );
        // Records of older versions have none of these fields.
        let old = "{\"host\":\"h\",\"device\":\"d\",\"scheduler\":\"s\",\"readahead\":\"r\",\"stack\":\"full\",\
                   \"values\":{\"datasheet\":1,\"measured\":0,\"fitted\":0,\"guessed\":0},\"counts\":[]}";
        let read: Simulation = serde_json::from_str(old).unwrap();
        assert_eq!(read.rests_on, Uncertainty::default());
    }
}
