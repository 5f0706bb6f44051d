//! Error of a model's response times against the device's: the demerit figure of DiskSim and its forerunners (Ruemmler and Wilkes, IEEE
//! Computer, March 1994), the root mean square of the horizontal distance between the two distribution curves, in percent of the mean.

use fathom_record::Histogram;
use serde::Serialize;

/// Points at which the curves are compared.
const POINTS: u32 = 1000;

/// The held-out half, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Number of its requests.
    pub requests: u64,
    /// Mean response time of the device, ns.
    pub device_mean_ns: f64,
    /// Mean response time of the model, ns.
    pub model_mean_ns: f64,
    /// See [`demerit_percent`].
    pub demerit_percent: f64,
    /// Demerit between the device's own two halves: nothing fitted to the first can be expected to be closer.
    pub halves_percent: f64,
}

impl Judged {
    /// Compares both distributions of the second half, and the device's first half; `None` if one is empty.
    #[must_use]
    pub fn of(device: &Histogram, model: &Histogram, first: &Histogram) -> Option<Self> {
        Some(Self {
            requests: device.count(),
            device_mean_ns: device.mean_ns()?,
            model_mean_ns: model.mean_ns()?,
            demerit_percent: demerit_percent(device, model)?,
            halves_percent: demerit_percent(device, first)?,
        })
    }
}

/// The demerit of a model, in percent of the device's mean; `None` if a histogram is empty.
#[must_use]
pub fn demerit_percent(device: &Histogram, model: &Histogram) -> Option<f64> {
    let mean = device.mean_ns().filter(|m| *m > 0.0)?;
    let mut squares = 0.0;
    for point in 0..POINTS {
        let p = (f64::from(point) + 0.5) * 100.0 / f64::from(POINTS);
        let off = device.percentile_ns(p)? as f64 - model.percentile_ns(p)? as f64;
        squares += off * off;
    }
    Some((squares / f64::from(POINTS)).sqrt() * 100.0 / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demerit_is_the_distance_of_the_curves() {
        let device = Histogram::from_values((0..1000).map(|n| 1_000_000 + n * 1000));
        assert_eq!(demerit_percent(&device, &device), Some(0.0));
        // Every response 150 us longer, with a mean of 1.5 ms.
        let later = Histogram::from_values((0..1000).map(|n| 1_150_000 + n * 1000));
        let found = demerit_percent(&device, &later).unwrap();
        assert!((found - 10.0).abs() < 0.7, "{found}");
        assert_eq!(demerit_percent(&device, &Histogram::default()), None);
    }
}
