//! One of several traces: its data for a fit, its coverage, and how well a model fitted to others predicts it.

use super::super::super::trace::input::{self, Input};
use super::workload_filter::WorkloadFilter;
use crate::console;
use crate::exit::Usage;
use fathom_dialects::trace::TraceError;
use fathom_iopath::queue::Rules;
use fathom_iopath::{Limits, Queue, elevator};
use fathom_record::block::{
    Analysis, BlockAction, BlockEvent, DeviceActivity, DeviceNumber, IssuerKind, Options, RequestClass,
    WatchedDevice,
};
use fathom_sim::calibrate::Services;
use fathom_sim::calibrate::parallel::Gathered;
use fathom_sim::devices::{Coverage, Device as _, DeviceProfile, HeldOut, Part};
use fathom_sim::replay::{Arrivals, Mode, ReplaySetup, Scale, replay};
use std::ops::RangeInclusive;

/// Fewer requests to predict are not enough for a verdict.
const LEAST: u64 = 20;

pub(super) struct TracedLoad {
    pub input: Input,
    pub number: DeviceNumber,
    pub called: String,
    pub whole: Gathered,
    /// Its first half, and the second to be predicted.
    pub first_half: Gathered,
    pub activity: DeviceActivity,
    pub coverage: Coverage,
    /// Reads and writes from outside the traced workload.
    pub left_out: u64,
    between: RangeInclusive<u64>,
    second_half: RangeInclusive<u64>,
}

impl TracedLoad {
    /// Reads a trace to its end three times.
    pub fn read(input: Input, number: DeviceNumber, called: String) -> anyhow::Result<Self> {
        let mut filter = WorkloadFilter::of(&input, number)?;
        let own = |filter: &mut WorkloadFilter, event: &BlockEvent| {
            event.action == BlockAction::Issue && filter.is_its(event)
        };
        let watched = WatchedDevice { number, name: called.clone(), level: 0, bio_based: false };
        let mut analysis = Analysis::new(Options { devices: vec![watched], ..Options::default() });
        let (mut whole, mut left_out) = (Gathered::new(number), 0);
        for event in input.open()? {
            let event = event.map_err(input::wrong)?;
            let is_its = own(&mut filter, &event);
            whole.take(&event, is_its);
            let issued = event.device == number && event.action == BlockAction::Issue;
            if issued && !is_its {
                left_out += u64::from(event.sectors > 0);
            } else {
                analysis.event(&event, IssuerKind::Other);
            }
        }
        let whole = whole.finish();
        if whole.impossible() > 0 {
            console::warning(&format!(
                "{}: {} events lie at sectors that no device has (above 2^54); they are left out",
                input.name,
                whole.impossible()
            ));
        }
        let (mut first_half, mut until_ns) = (Gathered::new(number), 0);
        for event in input.open()? {
            let event = event.map_err(input::wrong)?;
            if first_half.requests() >= whole.requests() / 2 {
                break;
            }
            until_ns = event.time_ns;
            let is_its = own(&mut filter, &event);
            first_half.take(&event, is_its);
        }
        let activity = analysis.finish(0).devices.into_iter().next().unwrap_or_default();
        let between = filter.between();
        Ok(Self {
            number,
            called,
            whole,
            first_half: first_half.finish(),
            coverage: Coverage::of(&activity),
            activity,
            left_out,
            second_half: until_ns.saturating_add(1)..=*between.end(),
            between,
            input,
        })
    }

    /// Error of a profile on this trace or its second half; `None` if that has too few requests.
    pub fn predicted(&self, profile: &str, part: Part) -> anyhow::Result<Option<HeldOut>> {
        let range = match part {
            Part::Whole => self.between.clone(),
            Part::SecondHalf => self.second_half.clone(),
        };
        let profile =
            DeviceProfile::parse("the fitted profile", profile).map_err(|e| Usage(e.to_string()))?;
        let device = profile.build().map_err(|e| Usage(e.to_string()))?;
        // Requests are replayed as issued: nothing is split again.
        let limits = Limits { max_sectors: 1 << 20, max_segments: u16::MAX, ..Limits::LOOP_618 };
        let rules = Rules::today(limits, device.depth());
        let queue = Queue::new(elevator::by_name("none").map_err(|e| Usage(e.to_string()))?, rules);
        let mut trace = self.input.open()?;
        let mut services = Services::new(self.number);
        let mut arrivals = Arrivals::in_turn(self.number);
        let mut real = Took::default();
        let source = || -> Result<_, TraceError> {
            for event in trace.by_ref() {
                let event = event?;
                // Requests issued within the part are followed to their completion.
                if event.action == BlockAction::Issue && !range.contains(&event.time_ns)
                    || event.time_ns < *range.start()
                {
                    continue;
                }
                if let Some(service) = services.take(&event) {
                    real.add(event.time_ns - service.response_ns, event.time_ns, service.response_ns);
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
        let data = out.block.devices.iter().flat_map(|d| &d.requests);
        let data = data.filter(|r| matches!(r.class, RequestClass::Read | RequestClass::Write));
        let (requests, sum) = data.fold((0_u64, 0.0), |(requests, sum), class| {
            let n = class.d2c.count();
            (requests + n, sum + class.d2c.mean_ns().unwrap_or(0.0) * n as f64)
        });
        if real.requests < LEAST || requests < LEAST || out.elapsed_ns == 0 {
            return Ok(None);
        }
        let percent = |model: f64, real: f64| (model / real - 1.0) * 100.0;
        let model_s = out.elapsed_ns as f64 / requests as f64;
        let real_s = real.until_ns.saturating_sub(real.from_ns.unwrap_or(0)) as f64 / real.requests as f64;
        Ok(Some(HeldOut {
            trace: self.input.name.clone(),
            load: self.coverage.words(),
            part,
            requests: real.requests,
            throughput_percent: percent(real_s, model_s),
            response_percent: percent(sum / requests as f64, real.response_ns / real.requests as f64),
        }))
    }
}

/// Measured service times.
#[derive(Default)]
struct Took {
    requests: u64,
    response_ns: f64,
    from_ns: Option<u64>,
    until_ns: u64,
}

impl Took {
    fn add(&mut self, issued: u64, done: u64, response_ns: u64) {
        self.requests += 1;
        self.response_ns += response_ns as f64;
        self.from_ns = Some(self.from_ns.map_or(issued, |from| from.min(issued)));
        self.until_ns = self.until_ns.max(done);
    }
}
