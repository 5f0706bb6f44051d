//! Source of arrivals: the events of a trace file, or a generator. Looks at the first events, and further if those are
//! not enough, to find which device is meant and whether the trace has arrivals or only issued requests.

use super::super::super::trace::input;
use super::super::line::Replay;
use super::super::{SEED, traced};
use crate::exit::Usage;
use fathom_dialects::trace::{About, Trace, TraceError};
use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber};
use fathom_sim::replay::{Arrival, Arrivals, LeftOut, Synthetic};
use std::collections::VecDeque;
use std::io;

/// Events examined before the first is replayed.
const LOOK_AHEAD: usize = 4096;

/// Why arrivals end early.
#[derive(Debug)]
pub enum SourceError {
    /// The trace is malformed.
    Trace(TraceError),
    /// The log of the simulated device cannot be written.
    Log(io::Error),
    /// This arrival, counted from 1, writes to a read-only device.
    Writes(u64),
    /// A signal arrived.
    Signal(i32),
}

impl std::fmt::Display for SourceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trace(e) => e.fmt(f),
            Self::Log(e) => e.fmt(f),
            Self::Writes(number) => write!(f, "arrival {number} writes"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl std::error::Error for SourceError {}

/// Where the arrivals came from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The file, or a name in its place.
    pub file: String,
    /// Name of its format.
    pub format: &'static str,
    pub device: String,
    /// Whether issued requests serve as arrivals, because the trace has none.
    pub as_issued: bool,
    /// Skipped events.
    pub left_out: LeftOut,
    /// Events lost by the recorder.
    pub lost: u64,
    /// What the format cannot record.
    pub notes: Vec<String>,
}

pub enum Arriving {
    Read(Box<TraceReading>),
    MadeUp(Synthetic, Origin),
}

pub struct TraceReading {
    trace: Trace,
    ahead: VecDeque<BlockEvent>,
    arrivals: Arrivals,
    origin: Origin,
}

impl Arriving {
    /// `follows`: also return which completion each arrival follows.
    pub fn open(o: &Replay, capacity_sectors: u64, follows: bool) -> anyhow::Result<Self> {
        if let Some(count) = o.synthetic {
            for (given, what) in [
                (!o.files.is_empty(), "a trace, or --synthetic, but not both"),
                (
                    o.handing.from.is_some(),
                    "--from gives the format of a trace file; leave it out with --synthetic",
                ),
                (
                    o.handing.traced.is_some(),
                    "--traced names a device of a trace file; leave it out with --synthetic",
                ),
            ] {
                if given {
                    return Err(Usage(what.into()).into());
                }
            }
            let origin = Origin {
                file: format!("{count} arrivals, made up"),
                format: "synthetic",
                ..Origin::default()
            };
            return Ok(Self::MadeUp(Synthetic::new(count, capacity_sectors, o.seed.unwrap_or(SEED)), origin));
        }
        if o.seed.is_some() {
            return Err(Usage("--seed belongs to --synthetic: a recorded trace is not random".into()).into());
        }
        if o.files.is_empty() {
            return Err(Usage("what is to be replayed? Name a trace, or give --synthetic N".into()).into());
        }
        let input = traced::one(&o.source())?;
        let mut trace = input.open()?;
        let mut ahead = VecDeque::new();
        while ahead.len() < LOOK_AHEAD {
            let Some(event) = trace.next() else { break };
            ahead.push_back(event.map_err(input::wrong)?);
        }
        let about = trace.about();
        if follows && about.header.arrivals_only {
            return Err(Usage(format!(
                "{}: --mode dependent needs completions, and this format has none",
                input.name
            ))
            .into());
        }
        let mut seen = TraceDevices::default();
        ahead.iter().for_each(|event| seen.add(event));
        let named = |seen: &TraceDevices| {
            o.handing.traced.as_deref().map(|wanted| chosen(&about, wanted, seen, &input.name)).transpose()
        };
        let enough = |seen: &TraceDevices| named(seen).is_ok_and(|device| seen.arrives(device));
        let whole = ahead.len() < LOOK_AHEAD;
        if !whole && !enough(&seen) && !input.is_read_once() {
            // The device, or the first arrival, may come later in the trace.
            for event in input.open()?.skip(LOOK_AHEAD) {
                seen.add(&event.map_err(input::wrong)?);
                if enough(&seen) {
                    break;
                }
            }
        }
        let device = named(&seen)?;
        let arrives = seen.arrives(device);
        let mut notes = Vec::new();
        if !whole && !arrives && input.is_read_once() {
            let read = if input.name == "-" { "stdin" } else { input.name.as_str() };
            notes.push(format!(
                "the first {LOOK_AHEAD} events of {read} hold no arrival: issued requests are used instead"
            ));
        }
        let origin = Origin {
            file: input.name,
            format: about.format.word(),
            as_issued: !arrives,
            notes,
            ..Origin::default()
        };
        let arrivals = Arrivals::new(device, arrives, follows);
        Ok(Self::Read(Box::new(TraceReading { trace, ahead, arrivals, origin })))
    }

    pub fn next(&mut self) -> Result<Option<Arrival>, SourceError> {
        let reading = match self {
            Self::MadeUp(synthetic, _) => return Ok(synthetic.next()),
            Self::Read(reading) => reading,
        };
        loop {
            let event = match reading.ahead.pop_front() {
                Some(event) => event,
                None => match reading.trace.next() {
                    Some(event) => event.map_err(SourceError::Trace)?,
                    None => return Ok(None),
                },
            };
            if let Some(arrival) = reading.arrivals.take(&event) {
                return Ok(Some(arrival));
            }
        }
    }

    /// The origin, once all arrivals have been read.
    pub fn into_origin(self) -> Origin {
        match self {
            Self::MadeUp(_, origin) => origin,
            Self::Read(reading) => {
                let about = reading.trace.about();
                let device = reading.arrivals.device();
                Origin {
                    device: device.map(|number| traced::called(&about, number)).unwrap_or_default(),
                    left_out: reading.arrivals.left_out(),
                    lost: about.lost,
                    notes: [about.notes, reading.origin.notes.clone()].concat(),
                    ..reading.origin
                }
            }
        }
    }
}

/// The devices of a trace, and those with arrivals.
#[derive(Debug, Default)]
struct TraceDevices {
    devices: Vec<DeviceNumber>,
    arriving: Vec<DeviceNumber>,
}

impl TraceDevices {
    fn add(&mut self, event: &BlockEvent) {
        let note = |list: &mut Vec<DeviceNumber>| {
            if !list.contains(&event.device) {
                list.push(event.device);
            }
        };
        note(&mut self.devices);
        if event.action == BlockAction::Queue {
            note(&mut self.arriving);
        }
    }

    /// Whether the device has arrivals, or without a device, whether any has.
    fn arrives(&self, device: Option<DeviceNumber>) -> bool {
        device.map_or(!self.arriving.is_empty(), |device| self.arriving.contains(&device))
    }
}

fn chosen(about: &About, wanted: &str, seen: &TraceDevices, file: &str) -> Result<DeviceNumber, Usage> {
    let mut all: Vec<DeviceNumber> = about.devices.iter().map(|d| d.number).collect();
    all.extend(seen.devices.iter().filter(|&device| !all.contains(device)).collect::<Vec<_>>());
    traced::number_of(about, wanted, &all, file)
}
