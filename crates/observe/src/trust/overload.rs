//! Whether streams with a rate kept it: how long operations were continuously late, and the achieved share of the requested operations.
//! The rate comes from the workload text in the record, not from its figures.

use super::{PhaseResult, summary};
use crate::words::time;
use fathom_record::{Histogram, OpKind, Phase, Repetition, Run, Trust, Verdict, Worker};
use fathom_workload::{Gaps, Program, Rate, Workload};

/// Continuous lateness above this is not a hiccup: the requested rate was too high.
const BEHIND_NS: u64 = 1_000_000_000;
/// The same limit as a share of the counted time; exceeding either limit is enough.
const BEHIND_SHARE: f64 = 0.1;
/// Minimum share of the requested operations if the rate was kept.
const LEAST: f64 = 0.99;
/// Random arrivals scatter. A shortfall of more than this many standard deviations is not chance.
const DEVIATIONS: f64 = 3.0;

pub(super) fn check(run: &Run) -> Trust {
    summary(run, "overload", paced(run).iter().map(found).collect(), (Verdict::Good, "no rate was set"))
}

/// The worst repetition of a phase with a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paced<'r> {
    /// The phase.
    pub(crate) phase: &'r Phase,
    /// Longest continuous time with late operations.
    pub(crate) behind_ns: u64,
    /// Requested and achieved operations per second of all workers with a rate; `None` if the workload does not give it.
    pub(crate) rates: Option<(f64, f64)>,
    /// Bytes per operation if all workers have their rate in bytes; else 0.
    per: u64,
    /// Whether the rate was kept.
    pub(crate) kept: bool,
}

impl Paced<'_> {
    /// "asked 400/s, got 396/s, behind for up to 2.00 s".
    pub(crate) fn figures(&self) -> String {
        let late = match self.behind_ns {
            0 => "never behind".to_string(),
            ns => format!("behind for up to {}", time(ns as f64)),
        };
        match self.rates {
            Some((asked, got)) => {
                let rate = |operations: f64| match self.per {
                    0 => per_s(operations),
                    per => format!("{:.2} MiB", operations * per as f64 / f64::from(1 << 20)),
                };
                format!("asked {}/s, got {}/s, {late}", rate(asked), rate(got))
            }
            None => late,
        }
    }

    /// Severity: the longest time behind, then the missing share.
    pub(crate) fn weight(&self) -> f64 {
        let missing = self.rates.map_or(0.0, |(asked, got)| (1.0 - got / asked).max(0.0));
        self.behind_ns as f64 + missing
    }
}

/// Enough digits to resolve 1 %: "99.5", "4000".
fn per_s(rate: f64) -> String {
    if rate < 999.95 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// Every phase with a rate, for both the check and the doubt.
pub(crate) fn paced(run: &Run) -> Vec<Paced<'_>> {
    let concerned: Vec<&Phase> =
        run.phases.iter().filter(|p| p.repetitions.iter().flat_map(|r| &r.workers).any(is_paced)).collect();
    if concerned.is_empty() {
        return Vec::new();
    }
    let workload = with_rates(&run.workload);
    let planned = |p: &Phase| workload.as_ref().and_then(|w| w.phases.get(p.seq as usize));
    concerned
        .into_iter()
        .filter_map(|phase| {
            let rates = planned(phase).map(rates_of).unwrap_or_default();
            let of_each = phase.repetitions.iter().map(|r| judged(phase, r, &rates));
            of_each.max_by(|a, b| b.kept.cmp(&a.kept).then(a.weight().total_cmp(&b.weight())))
        })
        .collect()
}

/// Parses the workload only if it has a rate: the text of a long survey takes a while to parse, and a long trace with timed operations
/// much memory, too.
fn with_rates(text: &str) -> Option<Workload> {
    if !text.contains("operations_per_s") {
        return None;
    }
    Workload::from_toml(text).ok()
}

fn is_paced(worker: &Worker) -> bool {
    worker.behind_ns > 0 || worker.stats.iter().any(|s| s.op == OpKind::Response)
}

/// The rate of each worker by index: groups, their processes, the threads of each, in the engine's order.
fn rates_of(phase: &fathom_workload::Phase) -> Vec<Option<Rate>> {
    let mut rates = Vec::new();
    for group in &phase.groups {
        for _ in 0..group.instances {
            for thread in &group.threads {
                let rate = match &thread.program {
                    Program::Stream(s) => s.pace.rate,
                    Program::Flow(_) => None,
                };
                rates.extend(std::iter::repeat_n(rate, thread.instances as usize));
            }
        }
    }
    rates
}

fn judged<'r>(phase: &'r Phase, repetition: &'r Repetition, rates: &[Option<Rate>]) -> Paced<'r> {
    let workers = || repetition.workers.iter().filter(|w| is_paced(w));
    let behind_ns = workers().map(|w| w.behind_ns).max().unwrap_or(0);
    let long =
        |w: &Worker| w.behind_ns > BEHIND_NS || w.behind_ns as f64 > w.elapsed_ns as f64 * BEHIND_SHARE;
    let (mut expected, mut came, mut asked, mut got, mut random) = (0.0, 0.0, 0.0, 0.0, false);
    let mut units = rates.iter().flatten().map(|rate| rate.per.0);
    let per = units.next().filter(|first| units.all(|per| per == *first)).unwrap_or(0);
    for worker in workers() {
        let rate = rates.get(worker.index as usize).copied().flatten();
        let seconds = counted_s(worker);
        let Some(rate) = rate.filter(|r| r.operations_per_s > 0.0 && seconds > 0.0) else { continue };
        // Operations still in flight at the end were issued in time; with fixed intervals the count may differ by one.
        expected += rate.operations_per_s * (seconds - service_s(worker)).max(0.0) - 1.0;
        // Counted for a rate in bytes.
        let came_here =
            if rate.per.0 > 0 { worker.bytes as f64 / rate.per.0 as f64 } else { worker.ops as f64 };
        came += came_here;
        asked += rate.operations_per_s;
        got += came_here / seconds;
        random |= rate.arrivals == Gaps::Poisson;
    }
    let least =
        if random { expected - DEVIATIONS * f64::max(expected, 0.0).sqrt() } else { expected * LEAST };
    let kept = !workers().any(long) && (asked == 0.0 || came >= least);
    Paced { phase, behind_ns, rates: (asked > 0.0).then_some((asked, got)), per, kept }
}

/// The time in which operations were issued, without a final sync or close that is part of the measured time.
fn counted_s(worker: &Worker) -> f64 {
    let last = if worker.marks.last_op_ns == 0 { u64::MAX } else { worker.marks.last_op_ns };
    worker.elapsed_ns.min(last) as f64 / 1e9
}

/// Mean service time of one of its operations.
fn service_s(worker: &Worker) -> f64 {
    let mut service = Histogram::default();
    for stat in worker.stats.iter().filter(|s| matches!(s.op, OpKind::Read | OpKind::Write)) {
        service.merge(&stat.latency);
    }
    service.percentile_ns(50.0).unwrap_or(0) as f64 / 1e9
}

fn found<'r>(paced: &Paced<'r>) -> PhaseResult<'r> {
    let (verdict, begin) =
        if paced.kept { (Verdict::Good, "the rate was kept") } else { (Verdict::Doubtful, "overloaded") };
    PhaseResult {
        phase: paced.phase,
        verdict,
        weight: paced.weight(),
        words: format!("{begin}: {}", paced.figures()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubts::test_runs;
    use fathom_record::OpStat;

    /// One worker of ten seconds with a requested rate of 100 operations a second, which did `ops`.
    fn run(arrivals: &str, ops: u64, behind_ns: u64) -> Run {
        let mut phase = test_runs::phase("read", 1 << 20, 1 << 20);
        let worker = &mut phase.repetitions[0].workers[0];
        worker.elapsed_ns = 10_000_000_000;
        worker.ops = ops;
        worker.behind_ns = behind_ns;
        let response =
            OpStat { op: OpKind::Response, ops, bytes: 0, latency: Histogram::from_values([1000]) };
        worker.stats = vec![response];
        let workload = format!(
            "name = \"w\"\nseed = 1\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"f\"] }}\nsize = {{ fixed = \"1MiB\" }}\n\
             [[phase]]\nname = \"read\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
             [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\nrecord = {{ fixed = \"4KiB\" }}\n\
             pace = {{ rate = {{ operations_per_s = 100.0, arrivals = \"{arrivals}\" }} }}\n"
        );
        Workload::from_toml(&workload).expect("a workload");
        Run { workload, ..test_runs::run_of(vec![phase]) }
    }

    #[track_caller]
    fn kept(run: &Run) -> bool {
        let paced = paced(run);
        assert!(paced[0].rates.is_some(), "{paced:?}");
        paced[0].kept
    }

    #[test]
    fn one_operation_in_a_hundred_may_be_missing() {
        assert!(kept(&run("even", 1000, 0)) && kept(&run("even", 995, 300)));
        assert!(!kept(&run("even", 980, 300)));
        // Three standard deviations of a thousand are 95.
        assert!(kept(&run("poisson", 920, 300)) && !kept(&run("poisson", 890, 300)));
    }

    #[test]
    fn late_for_a_second_or_a_tenth_of_the_time_is_overload() {
        assert!(kept(&run("even", 1000, 990_000_000)));
        assert!(!kept(&run("even", 1000, 1_010_000_000)));
        let mut short = run("even", 100, 101_000_000);
        short.phases[0].repetitions[0].workers[0].elapsed_ns = 1_000_000_000;
        assert!(!kept(&short), "a tenth of one second");
    }

    #[test]
    fn asked_got_and_longest_are_told() {
        let trust = check(&run("even", 500, 9_000_000_000));
        assert_eq!(trust.verdict, Verdict::Doubtful);
        assert_eq!(trust.sentence, "Overloaded: asked 100.0/s, got 50.0/s, behind for up to 9.00 s.");
        let good = check(&run("even", 1000, 0));
        assert_eq!(good.sentence, "The rate was kept: asked 100.0/s, got 100.0/s, never behind.");
        let missing = |ops| paced(&run("even", ops, 0))[0].weight();
        assert!(missing(500) > missing(700), "never late on end, and short all the same");
        let unread = Run { workload: "# nothing".into(), ..run("even", 500, 5_000_000) };
        assert_eq!(check(&unread).sentence, "The rate was kept: behind for up to 5.00 ms.");
    }

    #[test]
    fn a_workload_without_a_rate_is_not_read() {
        let text = run("even", 1, 0).workload;
        assert!(with_rates(&text).is_some());
        let (before, _) = text.split_once("pace = ").expect("a pace");
        Workload::from_toml(before).expect("a workload without it");
        assert_eq!(with_rates(before), None);
    }

    #[test]
    fn workers_are_numbered_as_the_engine_does() {
        let workload = Workload::from_toml(&run("even", 1, 0).workload).expect("a workload");
        let mut phase = workload.phases[0].clone();
        let mut idle = phase.groups[0].threads[0].clone();
        idle.instances = 2;
        if let Program::Stream(s) = &mut idle.program {
            s.pace.rate = None;
        }
        phase.groups[0].threads.push(idle);
        phase.groups[0].instances = 2;
        let paced: Vec<bool> = rates_of(&phase).iter().map(Option::is_some).collect();
        assert_eq!(paced, [true, false, false, true, false, false]);
    }
}
