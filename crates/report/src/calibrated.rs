//! A device's profile as it was fitted to a trace: the requests it was fitted to and those that were held out, the curve through them, and
//! how long the device and its model took for the half that was held out.

use fathom_record::Histogram;
use fathom_record::inside::Thinned;

/// What was fitted, with what it was fitted to and judged on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibrated {
    /// The device of the trace.
    pub device: String,
    /// The trace.
    pub file: String,
    /// "constant" or "disk".
    pub kind: String,
    /// Where the profile was written.
    pub profile: String,
    /// Requests of the half that was fitted.
    pub fitted_requests: u64,
    /// What the profile got.
    pub values: Vec<Fitted>,
    /// The course through the requests; none where too few tell it.
    pub curve: Option<Curve>,
    /// Requests of the half that was fitted.
    pub fitted: Thinned<Request>,
    /// Requests of the half that was held out.
    pub held_out: Thinned<Request>,
    /// How the half that was held out was judged; none if it has no request.
    pub judged: Option<Judged>,
}

/// A value of the profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fitted {
    /// Its key.
    pub key: String,
    /// The value, in the unit of the key.
    pub value: f64,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// "fit" or "measured", and from what.
    pub from: String,
}

/// What times are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    /// Bytes of a request: service times.
    #[default]
    Bytes,
    /// Cylinders that the arm went: seek times.
    Cylinders,
}

/// a + b·√x + c·x, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Curve {
    /// What x is.
    pub over: Over,
    /// a.
    pub constant_ns: f64,
    /// b.
    pub root_ns: f64,
    /// c.
    pub linear_ns: f64,
}

impl Curve {
    /// Its value.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.constant_ns + self.root_ns * x.sqrt() + self.linear_ns * x
    }
}

/// A request: x, and the time that the curve is to say, ns.
pub type Request = (u64, i64);

/// The half that was held out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// Response times in the trace.
    pub device: Histogram,
    /// Those of the same requests on the fitted device.
    pub model: Histogram,
    /// How far the two distributions are apart, % of the device's mean.
    pub demerit_percent: f64,
}

impl Calibrated {
    /// Root mean square of what the curve is off by, ns: of the requests shown of the half that was fitted, and of the other.
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

    /// A disk: a seek curve, reads around it that had to wait for half a turn less or more, and a model that is a little slow.
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
            judged: Some(Judged { device: times(0), model: times(500_000), demerit_percent: 6.25 }),
        }
    }
}
