//! Does a scheduler of ours choose as the kernel of a trace did? The block events of one device are followed step by step, by any
//! number of schedulers at once; what comes out is how often each would have chosen the same request, whether bios merged alike, and
//! the first disagreements with what surrounded them. Nothing is simulated here: time, arrivals and choices are the trace's.
//!
//! ```text
//! block events ─▶ look (which device, how deep) ─▶ events again ─▶ translate ─▶ iopath's Agreement, one a scheduler ─▶ text, JSON
//! ```
//!
//! Memory does not grow with the length of the trace. It is read twice, because how many places a device has only its whole tells.

mod look;
#[cfg(test)]
mod tests;
mod text;
mod translate;

pub use look::{Look, Traced};

use fathom_iopath::agree::{Agreement, Choice, Counts, Differs, MergeMiss, Miss};
use fathom_iopath::queue::PlugRule;
use fathom_iopath::{AnyElevator, Limits, Nanos, Op, Queue, Rules};
use fathom_record::BlockEvent;
use serde::Serialize;
use translate::Translate;

/// Elevators count back from now (how long has this waited?); a trace may begin at time 0, and then there would be nothing before it.
const START: Nanos = Nanos::from_secs(86_400);

/// What is to be followed, and with what.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The device, as the look found it.
    pub traced: Traced,
    /// Schedulers by what they are called in the result.
    pub schedulers: Vec<(String, AnyElevator)>,
    /// What the device takes in one request.
    pub limits: Limits,
    /// Requests that the device takes at once; with all places taken the kernel sets its next request aside.
    pub places: u32,
    /// Disagreements that are kept.
    pub most_misses: usize,
}

/// Follows the events of a trace.
pub struct Follower {
    translate: Translate,
    rows: Vec<Following>,
    most_misses: usize,
    events: u64,
}

/// A scheduler that follows.
struct Following {
    scheduler: String,
    agreement: Agreement,
    disagreements: Vec<Disagreement>,
    merges: Vec<MergeDisagreement>,
}

/// How far schedulers agree with a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreed {
    /// Events of the device that were followed.
    pub events: u64,
    /// Requests that pass a scheduler by: flushes and what goes with them, commands of drivers.
    pub passed_by: u64,
    /// Requests that their tasks gave to the driver themselves, past the scheduler: so it is without one, while the driver has places.
    pub direct: u64,
    /// Requests that the device was taken to hold at once.
    pub places: u32,
    /// A row a scheduler.
    pub rows: Vec<Row>,
}

/// How far one scheduler agrees.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The scheduler.
    pub scheduler: String,
    /// Requests that the kernel issued.
    pub issued: u64,
    /// Of these, the scheduler would have chosen the same.
    pub same: u64,
    /// Requests issued while others waited too, so that there was a choice.
    pub contested: u64,
    /// Of these, the same.
    pub contested_same: u64,
    /// Bios that the kernel merged.
    pub kernel_merges: u64,
    /// Bios that would have been merged here.
    pub model_merges: u64,
    /// Bios that the one merged and the other did not.
    pub merges_differ: u64,
    /// Bios that the kernel did not merge where only the number of segments can say why, which is not in a trace.
    pub merges_told: u64,
    /// Events that could not be followed, of requests from before the trace.
    pub not_followed: u64,
    /// The first disagreements.
    pub disagreements: Vec<Disagreement>,
    /// The first bios that the one merged and the other did not.
    pub merge_disagreements: Vec<MergeDisagreement>,
}

/// A choice that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// When, ns after the first event.
    pub time_ns: u64,
    /// Which request of the trace, from 1.
    pub issue: u64,
    /// Requests that waited.
    pub waiting: u64,
    /// Where the request before it ended.
    pub head_sector: u64,
    /// The kernel's choice.
    pub kernel: Chosen,
    /// The scheduler's; null: it would have issued nothing.
    pub model: Option<Chosen>,
}

/// A bio that the one merged and the other did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergeDisagreement {
    /// When, ns after the first event.
    pub time_ns: u64,
    /// "read", "write", "discard".
    pub operation: &'static str,
    /// First sector.
    pub sector: u64,
    /// Sectors.
    pub sectors: u32,
    /// "kernel" or "model": who merged it.
    pub merged_by: &'static str,
    /// The request that it touches; null: none that waits.
    pub with: Option<Chosen>,
}

/// A request that was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chosen {
    /// "read", "write", "discard".
    pub operation: &'static str,
    /// First sector.
    pub sector: u64,
    /// Sectors.
    pub sectors: u32,
    /// How long it had waited, ns.
    pub waited_ns: u64,
}

impl From<Choice> for Chosen {
    fn from(choice: Choice) -> Self {
        let operation = word(choice.op);
        Self { operation, sector: choice.sector, sectors: choice.sectors, waited_ns: choice.waited.0 }
    }
}

fn word(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Discard => "discard",
        Op::Other => "other",
    }
}

impl Row {
    /// Share of the kernel's choices that are the scheduler's too, in percent; `None` of nothing.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        (self.issued > 0).then(|| self.same as f64 * 100.0 / self.issued as f64)
    }

    /// The same where there was a choice.
    #[must_use]
    pub fn contested_percent(&self) -> Option<f64> {
        (self.contested > 0).then(|| self.contested_same as f64 * 100.0 / self.contested as f64)
    }

    /// Whether as many choices as this are the same, in percent, and all merges.
    #[must_use]
    pub fn holds(&self, at_least_percent: f64) -> bool {
        self.merges_differ == 0 && self.percent().is_some_and(|p| p >= at_least_percent)
    }
}

impl Follower {
    /// A follower that has seen nothing yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let Setup { traced, schedulers, limits, places, most_misses } = setup;
        // Who had to wait for a tag or a request is not in the trace before he got it, and when a plug opens it says.
        let held = traced.most_outstanding.max(places).clamp(128, 1 << 14) * 2;
        let rules = Rules {
            plug: PlugRule::Task { requests: u32::MAX, sectors: u32::MAX },
            ..Rules::today(limits, held).with_requests(held * 2)
        };
        let row = |(scheduler, elevator)| {
            let agreement = Agreement::new(Queue::new(elevator, rules), places as usize);
            let agreement = if traced.inserted > 0 { agreement.holding_back() } else { agreement };
            Following { scheduler, agreement, disagreements: Vec::new(), merges: Vec::new() }
        };
        Self {
            translate: Translate::new(traced.number),
            rows: schedulers.into_iter().map(row).collect(),
            most_misses,
            events: 0,
        }
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &BlockEvent) {
        let Some((time_ns, seen)) = self.translate.event(event) else { return };
        self.events += 1;
        let now = Nanos(START.0.saturating_add(time_ns));
        for Following { agreement, disagreements, merges, .. } in &mut self.rows {
            match agreement.see(now, seen) {
                Some(Differs::Choice(miss)) if disagreements.len() < self.most_misses => {
                    disagreements.push(told(time_ns, agreement.counts(), miss));
                }
                Some(Differs::Merge(miss)) if merges.len() < self.most_misses => {
                    merges.push(told_merge(time_ns, miss));
                }
                _ => {}
            }
        }
    }

    /// What it comes to.
    #[must_use]
    pub fn finish(self, places: u32) -> Agreed {
        let row = |Following { scheduler, agreement, disagreements, merges }| {
            let counts: &Counts = agreement.counts();
            Row {
                scheduler,
                issued: counts.issued,
                same: counts.same,
                contested: counts.contested,
                contested_same: counts.contested_same,
                kernel_merges: counts.kernel_merges,
                model_merges: counts.model_merges,
                merges_differ: counts.merges_differ,
                merges_told: counts.merges_told,
                not_followed: counts.lost,
                disagreements,
                merge_disagreements: merges,
            }
        };
        Agreed {
            events: self.events,
            passed_by: self.translate.passed_by(),
            direct: self.rows.first().map_or(0, |row| row.agreement.counts().direct),
            places,
            rows: self.rows.into_iter().map(row).collect(),
        }
    }
}

fn told_merge(time_ns: u64, miss: MergeMiss) -> MergeDisagreement {
    MergeDisagreement {
        time_ns,
        operation: word(miss.op),
        sector: miss.sector,
        sectors: miss.sectors,
        merged_by: if miss.kernel { "kernel" } else { "model" },
        with: miss.with.map(Chosen::from),
    }
}

fn told(time_ns: u64, counts: &Counts, miss: Miss) -> Disagreement {
    Disagreement {
        time_ns,
        issue: counts.issued,
        waiting: miss.waiting as u64,
        head_sector: miss.head,
        kernel: miss.kernel.into(),
        model: miss.model.map(Chosen::from),
    }
}
