//! Prediction errors of a profile fitted to several traces on a trace that it was not fitted to: the basis of an error bar.

use fathom_record::OffHeldOut;
use serde::{Deserialize, Serialize};

/// From this number on, the error bar is the value that one in twenty exceeds.
const MANY: usize = OffHeldOut::MANY as usize;

/// Two runs of the same load on a real device differ by up to this.
const RUNS_DIFFER_PERCENT: f64 = 5.0;

/// A trace, or part of one, that was left out of a fit and then predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldOut {
    /// Name of the trace.
    pub trace: String,
    /// Its coverage: kinds, sizes, order, depth.
    pub load: String,
    /// Whether all of it or its second half was held out.
    pub part: Part,
    /// Number of predicted requests.
    pub requests: u64,
    /// Error of the number of requests per second, in percent of the device's; positive if the model is faster.
    pub throughput_percent: f64,
    /// Error of the mean response time, in percent of the device's; positive if the model is slower.
    pub response_percent: f64,
}

/// The part of a trace left out of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// All of it.
    Whole,
    /// The second half; the first was used because no other trace has such requests.
    SecondHalf,
}

impl HeldOut {
    /// The larger of the two absolute errors.
    #[must_use]
    pub fn off_percent(&self) -> f64 {
        self.throughput_percent.abs().max(self.response_percent.abs())
    }

    /// The error bar of an answer: the worst error, or with many errors the one that one in twenty exceeds, and the difference between two
    /// runs, which does not depend on it.
    #[must_use]
    pub fn bar_percent(all: &[Self]) -> Option<f64> {
        let mut off: Vec<f64> = all.iter().map(Self::off_percent).collect();
        off.sort_by(f64::total_cmp);
        let beyond = if off.len() < MANY { 0 } else { off.len() / MANY };
        off.len().checked_sub(1 + beyond).map(|at| off[at].hypot(RUNS_DIFFER_PERCENT))
    }

    /// As an entry of a profile.
    #[must_use]
    pub fn table(&self) -> String {
        let part = match self.part {
            Part::Whole => "whole",
            Part::SecondHalf => "second-half",
        };
        let plain = |text: &str| text.replace(|c: char| c == '"' || c == '\\' || c.is_control(), "'");
        format!(
            "\n[[held_out]]\ntrace = \"{}\"\nload = \"{}\"\npart = \"{part}\"\nrequests = {}\nthroughput_percent = {:.2}\nresponse_percent = {:.2}\n",
            plain(&self.trace),
            plain(&self.load),
            self.requests,
            self.throughput_percent,
            self.response_percent
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off(throughput_percent: f64, response_percent: f64) -> HeldOut {
        HeldOut {
            trace: "a \"b\".fbl".into(),
            load: "reads".into(),
            part: Part::SecondHalf,
            requests: 100,
            throughput_percent,
            response_percent,
        }
    }

    #[test]
    fn the_error_bar_is_the_worst_error_or_a_high_percentile_of_many() {
        assert_eq!(HeldOut::bar_percent(&[]), None);
        assert_eq!(HeldOut::bar_percent(&[off(0.0, 0.0)]), Some(5.0));
        assert_eq!(HeldOut::bar_percent(&[off(-3.0, 2.0), off(-12.0, 2.0)]), Some(13.0));
        let many: Vec<HeldOut> = (1..=40).map(|n| off(f64::from(n), 0.0)).collect();
        assert_eq!(HeldOut::bar_percent(&many), Some(38_f64.hypot(5.0)));
        assert_eq!(HeldOut::bar_percent(&many[..19]), Some(19_f64.hypot(5.0)));
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let table: toml::Table = off(-1.25, 2.5).table().parse().unwrap();
        let all: Vec<HeldOut> = table["held_out"].clone().try_into().unwrap();
        assert_eq!(all, [HeldOut { trace: "a 'b'.fbl".into(), ..off(-1.25, 2.5) }]);
    }
}
