//! A device profile fitted to a trace: the requests used for fitting and those held out, the fitted curve, and how long the
//! device and its model took for the held-out half.

use fathom_record::Histogram;
use fathom_record::course::Thinned;

/// A fitted profile with its data and its assessment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibrated {
    /// Name of the device in the trace.
    pub device: String,
    /// The trace file.
    pub file: String,
    /// Type of the model: "constant" or "disk".
    pub kind: String,
    /// Path of the written profile.
    pub profile: String,
    /// Number of requests in the fitted half.
    pub fitted_requests: u64,
    /// The profile's fitted values.
    pub values: Vec<Fitted>,
    /// The curve through the requests; `None` if there are too few.
    pub curve: Option<Curve>,
    /// Requests of the fitted half.
    pub fitted: Thinned<Request>,
    /// Requests of the held-out half.
    pub held_out: Thinned<Request>,
    /// Assessment on the held-out half; `None` if that has no requests.
    pub judged: Option<HeldOutResult>,
}

/// A value of the profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fitted {
    /// Its key in the profile.
    pub key: String,
    /// The value, in the unit of the key.
    pub value: f64,
    /// Its standard error; `None` if unknown.
    pub standard_error: Option<f64>,
    /// "fit" or "measured", and the source.
    pub from: String,
}

/// The variable that times depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    /// Bytes of a request: service times.
    #[default]
    Bytes,
    /// Seek distance in cylinders: seek times.
    Cylinders,
}

/// a + b·√x + c·x, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Curve {
    /// The meaning of x.
    pub over: Over,
    /// a.
    pub constant_ns: f64,
    /// b.
    pub root_ns: f64,
    /// c.
    pub linear_ns: f64,
}

impl Curve {
    /// The curve's value at `x`, ns.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.constant_ns + self.root_ns * x.sqrt() + self.linear_ns * x
    }
}

/// A request: x, and the time to be predicted, ns.
pub type Request = (u64, i64);

/// Assessment on the held-out half.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldOutResult {
    /// Response times in the trace.
    pub device: Histogram,
    /// Response times of the same requests on the fitted device.
    pub model: Histogram,
    /// Distance between the two distributions, % of the device's mean.
    pub demerit_percent: f64,
}

impl Calibrated {
    /// Root mean square error of the curve, ns, for the shown requests of the fitted half and of the held-out half.
    #[must_use]
    pub fn off_ns(&self) -> Option<(f64, Option<f64>)> {
        let curve = self.curve?;
        let root = |of: &Thinned<Request>| {
            let squares = of.kept.iter().map(|(x, ns)| {
                let off = *ns as f64 - curve.at(*x as f64);
                off * off
            });
            (!of.kept.is_empty()).then(|| (squares.sum::<f64>() / of.kept.len() as f64).sqrt())
        };
        Some((root(&self.fitted)?, root(&self.held_out)))
    }
}

#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// A disk: a seek curve, reads around it that waited up to half a turn less or more, and a model that is a little slow.
    pub(crate) fn disk() -> Calibrated {
        let curve =
            Curve { over: Over::Cylinders, constant_ns: 1_500_000.0, root_ns: 40_000.0, linear_ns: 100.0 };
        let read = |n: u64| {
            let x = 1 + n * n * 7919 % 30_000;
            let off = (n * 104_729 % 8000) as f64 * 1000.0 - 4_000_000.0;
            (x, (curve.at(x as f64) + off) as i64)
        };
        let times = |extra: u64| Histogram::from_values((0..400).map(|n| 2_000_000 + n * 30_000 + extra));
        Calibrated {
            device: "sda <1>".into(),
            file: "a.fbl".into(),
            kind: "disk".into(),
            profile: "mine.toml".into(),
            fitted_requests: 300,
            values: vec![Fitted {
                key: "mechanics.average_ms".into(),
                value: 8.5,
                standard_error: Some(0.12),
                from: "fit: least squares over 300 reads".into(),
            }],
            curve: Some(curve),
            fitted: Thinned { one_of: 1, kept: (0..300).map(read).collect() },
            held_out: Thinned { one_of: 2, kept: (300..450).map(read).collect() },
            judged: Some(HeldOutResult { device: times(0), model: times(500_000), demerit_percent: 6.25 }),
        }
    }
}
