//! Does our scheduler choose like the kernel of a trace? The block events of one device are followed step by step by several schedulers
//! at once. The result: how often each would have chosen the same request, whether bios merged alike, and the first disagreements with
//! their context. Nothing is simulated: time, arrivals and choices are the trace's.
//!
//! ```text
//! block events ─▶ look (which device, how deep) ─▶ events again ─▶ translate ─▶ iopath's Agreement, one a scheduler ─▶ text, JSON
//! ```
//!
//! Memory does not grow with the trace. It is read twice, because the device's queue depth is only known at its end.

mod look;
#[cfg(test)]
mod tests;
mod text;
mod translate;

pub use look::{Look, Traced};

use fathom_iopath::agree::{Agreement, AgreementCounts, Choice, Differs, MergeMiss, Miss};
use fathom_iopath::queue::PlugRule;
use fathom_iopath::{AnyElevator, Limits, Nanos, Op, Queue, Rules};
use fathom_record::BlockEvent;
use serde::Serialize;
use translate::Translate;

/// Elevators subtract from the current time (how long has this waited?), so a trace that starts at time 0 needs an offset.
const START: Nanos = Nanos::from_secs(86_400);

/// Configuration of a follower.
#[derive(Clone, Debug)]
pub struct FollowerSetup {
    /// The device, as found by the look.
    pub traced: Traced,
    /// Schedulers by their name in the result.
    pub schedulers: Vec<(String, AnyElevator)>,
    /// The device's limits per request.
    pub limits: Limits,
    /// Requests that the device holds at once; when it is full, the kernel puts its next request aside.
    pub places: u32,
    /// Number of disagreements kept.
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

/// Agreement of schedulers with a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreed {
    /// Events of the device that were followed.
    pub events: u64,
    /// Requests that bypass schedulers: flushes with their writes, and driver commands.
    pub passed_by: u64,
    /// Requests issued directly by their tasks, bypassing the scheduler; this happens without a scheduler while the driver has free tags.
    pub direct: u64,
    /// Assumed queue depth of the device.
    pub places: u32,
    /// One row per scheduler.
    pub rows: Vec<AgreementRow>,
}

/// Agreement of one scheduler.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgreementRow {
    /// Name of the scheduler.
    pub scheduler: String,
    /// Requests that the kernel issued.
    pub issued: u64,
    /// Issued requests that the scheduler would have chosen too.
    pub same: u64,
    /// Requests issued while others waited, so that there was a choice.
    pub contested: u64,
    /// Contested requests that the scheduler would have chosen too.
    pub contested_same: u64,
    /// Bios that the kernel merged.
    pub kernel_merges: u64,
    /// Bios that the model would have merged.
    pub model_merges: u64,
    /// Bios that only one of kernel and model merged.
    pub merges_differ: u64,
    /// Bios that the kernel did not merge where only the number of segments, which a trace lacks, can explain it.
    #[serde(rename = "merges_told")]
    pub merges_explained: u64,
    /// Events that could not be followed: their requests are older than the trace.
    pub not_followed: u64,
    /// The first disagreements on choices.
    pub disagreements: Vec<Disagreement>,
    /// The first disagreements on merges.
    pub merge_disagreements: Vec<MergeDisagreement>,
}

/// A choice that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// Time after the first event, ns.
    pub time_ns: u64,
    /// Number of the issue in the trace, from 1.
    pub issue: u64,
    /// Number of waiting requests.
    pub waiting: u64,
    /// End of the previously issued request.
    pub head_sector: u64,
    /// The kernel's choice.
    pub kernel: Chosen,
    /// The scheduler's choice; null if it would have issued nothing.
    pub model: Option<Chosen>,
}

/// A bio that only one of kernel and model merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergeDisagreement {
    /// Time after the first event, ns.
    pub time_ns: u64,
    /// "read", "write", "discard".
    pub operation: &'static str,
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// "kernel" or "model": which one merged it.
    pub merged_by: &'static str,
    /// The adjacent request; null if none waits.
    pub with: Option<Chosen>,
}

/// A chosen request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chosen {
    /// "read", "write", "discard".
    pub operation: &'static str,
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
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

impl AgreementRow {
    /// Share of the kernel's choices that the scheduler shares, percent; `None` without any.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        (self.issued > 0).then(|| self.same as f64 * 100.0 / self.issued as f64)
    }

    /// The same share among contested choices.
    #[must_use]
    pub fn contested_percent(&self) -> Option<f64> {
        (self.contested > 0).then(|| self.contested_same as f64 * 100.0 / self.contested as f64)
    }

    /// Whether at least this percentage of choices and all merges agree.
    #[must_use]
    pub fn holds(&self, at_least_percent: f64) -> bool {
        self.merges_differ == 0 && self.percent().is_some_and(|p| p >= at_least_percent)
    }
}

impl Follower {
    /// A follower before its first event.
    #[must_use]
    pub fn new(setup: FollowerSetup) -> Self {
        let FollowerSetup { traced, schedulers, limits, places, most_misses } = setup;
        // A trace does not show a task waiting for a tag or a request until it gets one, and it shows when a plug opens.
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

    /// Processes the next event.
    pub fn event(&mut self, event: &BlockEvent) {
        let Some((time_ns, seen)) = self.translate.event(event) else { return };
        self.events += 1;
        let now = Nanos(START.0.saturating_add(time_ns));
        for Following { agreement, disagreements, merges, .. } in &mut self.rows {
            match agreement.see(now, seen) {
                Some(Differs::Choice(miss)) if disagreements.len() < self.most_misses => {
                    disagreements.push(disagreement(time_ns, agreement.counts(), miss));
                }
                Some(Differs::Merge(miss)) if merges.len() < self.most_misses => {
                    merges.push(merge_disagreement(time_ns, miss));
                }
                _ => {}
            }
        }
    }

    /// Returns the result.
    #[must_use]
    pub fn finish(self, places: u32) -> Agreed {
        let row = |Following { scheduler, agreement, disagreements, merges }| {
            let counts: &AgreementCounts = agreement.counts();
            AgreementRow {
                scheduler,
                issued: counts.issued,
                same: counts.same,
                contested: counts.contested,
                contested_same: counts.contested_same,
                kernel_merges: counts.kernel_merges,
                model_merges: counts.model_merges,
                merges_differ: counts.merges_differ,
                merges_explained: counts.merges_told,
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

fn merge_disagreement(time_ns: u64, miss: MergeMiss) -> MergeDisagreement {
    MergeDisagreement {
        time_ns,
        operation: word(miss.op),
        sector: miss.sector,
        sectors: miss.sectors,
        merged_by: if miss.kernel { "kernel" } else { "model" },
        with: miss.with.map(Chosen::from),
    }
}

fn disagreement(time_ns: u64, counts: &AgreementCounts, miss: Miss) -> Disagreement {
    Disagreement {
        time_ns,
        issue: counts.issued,
        waiting: miss.waiting as u64,
        head_sector: miss.head,
        kernel: miss.kernel.into(),
        model: miss.model.map(Chosen::from),
    }
}
