//! Where arrivals come from: the events of a trace file, or a generator. Looks at the first events to know which device is meant and
//! whether the trace has arrivals or only requests as they were issued.

use super::super::super::trace::input;
use super::super::line::Replay;
use super::super::traced;
use crate::exit::Usage;
use fathom_dialects::trace::{Trace, TraceError};
use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber};
use fathom_sim::replay::{Arrival, Arrivals, LeftOut, Synthetic};
use std::collections::VecDeque;
use std::io;

/// Events looked at before the first is replayed.
const LOOK_AHEAD: usize = 4096;

/// Why arrivals end before their time.
#[derive(Debug)]
pub enum Broken {
    /// The trace makes no sense.
    Trace(TraceError),
    /// The log of the simulated device cannot be written.
    Log(io::Error),
    /// Somebody wants no more.
    Signal(i32),
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trace(e) => e.fmt(f),
            Self::Log(e) => e.fmt(f),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl std::error::Error for Broken {}

/// What arrivals came from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The file, or what stands for it.
    pub file: String,
    /// The word of its form.
    pub format: &'static str,
    /// The device of the trace.
    pub device: String,
    /// Whether requests as they were issued stand for arrivals, because the trace has none.
    pub as_issued: bool,
    /// What was left out.
    pub left_out: LeftOut,
    /// Events that the recorder lost.
    pub lost: u64,
    /// What the form cannot tell.
    pub notes: Vec<String>,
}

/// Arrivals, one after the other.
pub enum Arriving {
    /// Out of a trace.
    Read(Box<Reading>),
    /// Made up.
    MadeUp(Synthetic, Origin),
}

/// A trace while it is read.
pub struct Reading {
    trace: Trace,
    ahead: VecDeque<BlockEvent>,
    arrivals: Arrivals,
    origin: Origin,
}

impl Arriving {
    /// `follows`: what each arrival came after is wanted too.
    pub fn open(o: &Replay, capacity_sectors: u64, follows: bool) -> anyhow::Result<Self> {
        if let Some(count) = o.synthetic {
            if !o.files.is_empty() {
                return Err(Usage("a trace, or --synthetic, but not both".into()).into());
            }
            let origin = Origin {
                file: format!("{count} arrivals, made up"),
                format: "synthetic",
                ..Origin::default()
            };
            return Ok(Self::MadeUp(Synthetic::new(count, capacity_sectors, o.seed), origin));
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
                "{}: --mode dependent keeps the time from a completion to what follows it, and this form has no completions",
                input.name
            ))
            .into());
        }
        let device = o
            .handing
            .traced
            .as_deref()
            .map(|wanted| chosen(&about, wanted, &ahead, &input.name))
            .transpose()?;
        let its = |e: &&BlockEvent| device.is_none_or(|number| e.device == number);
        let arrives = ahead.iter().filter(its).any(|e| e.action == BlockAction::Queue);
        let origin = Origin {
            file: input.name,
            format: about.format.word(),
            as_issued: !arrives,
            ..Origin::default()
        };
        let arrivals = Arrivals::new(device, arrives, follows);
        Ok(Self::Read(Box::new(Reading { trace, ahead, arrivals, origin })))
    }

    /// The next one.
    pub fn next(&mut self) -> Result<Option<Arrival>, Broken> {
        let reading = match self {
            Self::MadeUp(synthetic, _) => return Ok(synthetic.next()),
            Self::Read(reading) => reading,
        };
        loop {
            let event = match reading.ahead.pop_front() {
                Some(event) => event,
                None => match reading.trace.next() {
                    Some(event) => event.map_err(Broken::Trace)?,
                    None => return Ok(None),
                },
            };
            if let Some(arrival) = reading.arrivals.take(&event) {
                return Ok(Some(arrival));
            }
        }
    }

    /// What they came from, once they have all been read.
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
                    notes: about.notes,
                    ..reading.origin
                }
            }
        }
    }
}

fn chosen(
    about: &fathom_dialects::trace::About,
    wanted: &str,
    ahead: &VecDeque<BlockEvent>,
    file: &str,
) -> Result<DeviceNumber, Usage> {
    let mut all: Vec<DeviceNumber> = about.devices.iter().map(|d| d.number).collect();
    for event in ahead {
        if !all.contains(&event.device) {
            all.push(event.device);
        }
    }
    traced::number_of(about, wanted, &all, file)
}
