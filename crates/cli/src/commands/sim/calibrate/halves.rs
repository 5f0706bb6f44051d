//! Passes over a trace: one part is fitted, another is replayed on the fitted device.

use super::super::super::trace::input::{self, Input};
use crate::console;
use crate::exit::Usage;
use fathom_dialects::trace::TraceError;
use fathom_iopath::queue::Rules;
use fathom_iopath::{Limits, Queue, elevator};
use fathom_record::Histogram;
use fathom_record::block::{Analysis, DeviceNumber, IssuerKind, Options, WatchedDevice};
use fathom_sim::calibrate::{Fitting, LineFit, Points, Value, demerit_percent};
use fathom_sim::devices::{Coverage, Device as _, DeviceProfile};
use fathom_sim::replay::{Arrivals, Mode, ReplaySetup, Scale, replay};
use std::ops::RangeInclusive;

/// Response times buffered before they enter the histogram.
const GATHERED: usize = 4096;
/// The fewest channels win whose error on the first half is within this of the smallest error, in percent of the mean.
/// As many channels as requests always fit best, as every response time is then an observed one.
const NEAR: f64 = 5.0;

/// Response times of a part.
pub(super) struct ResponseTimes {
    pub device: Histogram,
    pub model: Histogram,
}

/// Result of the first half.
pub(super) struct Half {
    pub fitting: Fitting,
    pub values: Vec<Value>,
    /// The profile.
    pub text: String,
    pub requests: u64,
    /// When its last request completed.
    pub until_ns: u64,
    /// Its response times.
    pub times: Histogram,
}

/// A device of a trace.
#[derive(Clone, Copy)]
pub(super) struct Traced<'a> {
    pub input: &'a Input,
    pub number: DeviceNumber,
    /// Requests issued to it.
    pub issued: u64,
    pub called: &'a str,
}

/// Response times buffered for a histogram.
#[derive(Default)]
struct Gathered {
    all: Histogram,
    some: Vec<u64>,
}

impl Gathered {
    fn add(&mut self, ns: u64) {
        self.some.push(ns);
        if self.some.len() == GATHERED {
            self.all.merge(&Histogram::from_values(self.some.drain(..)));
        }
    }

    fn take(mut self) -> Histogram {
        self.all.merge(&Histogram::from_values(self.some));
        self.all
    }
}

impl Traced<'_> {
    /// The kinds of requests in the whole trace.
    pub fn coverage(self) -> anyhow::Result<Coverage> {
        let device =
            WatchedDevice { number: self.number, name: self.called.into(), level: 0, bio_based: false };
        let mut analysis = Analysis::new(Options { devices: vec![device], ..Options::default() });
        for event in self.input.open()? {
            analysis.event(&event.map_err(input::wrong)?, IssuerKind::Other);
        }
        Ok(analysis.finish(0).devices.first().map(Coverage::of).unwrap_or_default())
    }

    /// Fits the first half of the requests.
    pub fn first_half(
        self,
        mut fitting: Fitting,
        mut points: Option<&mut Points>,
        quiet: bool,
    ) -> anyhow::Result<Half> {
        let mut services = fitting.services(self.number);
        let (mut requests, mut until_ns, mut times) = (0, 0, Gathered::default());
        for event in self.input.open()? {
            let event = event.map_err(input::wrong)?;
            // Capacity and queue depth come from the whole trace.
            if let Some(service) = services.take(&event)
                && requests < self.issued / 2
            {
                fitting.add(&service);
                times.add(service.response_ns);
                if let Some(points) = points.as_deref_mut() {
                    fitting.point(&service).into_iter().for_each(|point| points.add(point, false));
                }
                requests += 1;
                until_ns = event.time_ns;
            }
        }
        let (file, called) = (&self.input.name, self.called);
        if services.impossible() > 0 && !quiet {
            console::warning(&format!(
                "{file}: {} events lie at sectors that no device has (above 2^54); they are left out",
                services.impossible()
            ));
        }
        if let Some(capacity) = fitting.capacity_sectors()
            && services.end_sector() > capacity
        {
            let end = services.end_sector();
            return Err(Usage(format!(
                "{file}: the trace goes up to sector {end} and the disk of --like has {capacity}; name a larger one"
            ))
            .into());
        }
        let values = fitting.fit().map_err(|e| Usage(format!("{file}: {called}: {e}")))?;
        let about = format!("fitted to {requests} requests of {called} in {file}");
        let text = fitting.profile(&about, &values, services.end_sector(), services.most_open());
        Ok(Half { fitting, values, text, requests, until_ns, times: times.take() })
    }

    /// Fits and replays a distribution with each number of channels on the first half, and takes the fewest that come
    /// close to the best. The held-out half has no influence.
    pub fn first_half_by_channels(self, points: &mut Points) -> anyhow::Result<Half> {
        // The fit over sizes gives the time per byte.
        let line = self.first_half(Fitting::constant(), Some(points), false)?;
        let Fitting::Constant(line) = line.fitting else { unreachable!("a constant fit is of that kind") };
        let (off, first, most) = self.judged_first_half(&line, 1)?;
        let mut all = vec![(off, first)];
        let mut channels = 1;
        while channels < most {
            channels = (channels * 2).min(most);
            let (off, half, _) = self.judged_first_half(&line, channels)?;
            all.push((off, half));
        }
        let nearest = all.iter().map(|(off, _)| *off).fold(f64::INFINITY, f64::min);
        let at = all.iter().position(|(off, _)| *off <= nearest + NEAR).unwrap_or(0);
        Ok(all.swap_remove(at).1)
    }

    /// How far off it is, the fit, and how many requests the device takes at once.
    fn judged_first_half(self, line: &LineFit, channels: usize) -> anyhow::Result<(f64, Half, usize)> {
        let half = self.first_half(Fitting::distribution(line, channels), None, true)?;
        let times = self.replayed(&half.text, 0..=half.until_ns, None)?;
        let off = demerit_percent(&times.device, &times.model).unwrap_or(f64::INFINITY);
        let profile =
            DeviceProfile::parse("the fitted profile", &half.text).map_err(|e| Usage(e.to_string()))?;
        let depth = profile.build().map_err(|e| Usage(e.to_string()))?.depth();
        Ok((off, half, depth as usize))
    }

    /// Replays the requests of a part on the fitted device, each as long after the completion its task had seen as in
    /// the trace.
    pub fn replayed(
        self,
        profile: &str,
        part: RangeInclusive<u64>,
        mut points: Option<(&Fitting, &mut Points)>,
    ) -> anyhow::Result<ResponseTimes> {
        let profile =
            DeviceProfile::parse("the fitted profile", profile).map_err(|e| Usage(e.to_string()))?;
        let device = profile.build().map_err(|e| Usage(e.to_string()))?;
        // Requests are replayed as issued: nothing is split again.
        let limits = Limits { max_sectors: 1 << 20, max_segments: u16::MAX, ..Limits::LOOP_618 };
        let rules = Rules::today(limits, device.depth());
        let queue = Queue::new(elevator::by_name("none").map_err(|e| Usage(e.to_string()))?, rules);
        let mut trace = self.input.open()?;
        let mut services = fathom_sim::calibrate::Services::new(self.number);
        let mut arrivals = Arrivals::new(Some(self.number), false, true);
        let mut measured = Gathered::default();
        let source = || -> Result<_, TraceError> {
            for event in trace.by_ref() {
                let event = event?;
                if !part.contains(&event.time_ns) {
                    continue;
                }
                if let Some(service) = services.take(&event) {
                    if let Some((fitting, points)) = &mut points {
                        fitting.point(&service).into_iter().for_each(|point| points.add(point, true));
                    }
                    measured.add(service.response_ns);
                }
                if let Some(arrival) = arrivals.take(&event) {
                    return Ok(Some(arrival));
                }
            }
            Ok(None)
        };
        let mode = Mode::Dependent(Scale::ONE);
        let setup = ReplaySetup { queue, device, device_name: "fitted".into(), mode };
        let out = replay(setup, source, |_| {}).map_err(|e| Usage(e.to_string()))?;
        let mut model = Histogram::default();
        for class in out.block.devices.iter().flat_map(|d| &d.requests) {
            model.merge(&class.d2c);
        }
        Ok(ResponseTimes { device: measured.take(), model })
    }
}
