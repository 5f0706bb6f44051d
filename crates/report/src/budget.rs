//! Where the time of one operation goes, layer by layer: from the workers' clocks and CPU times and from the device's requests.
//!
//! For successive operations the whole is the time from the start of one to that of the next. For asynchronous operations in
//! flight together it is the time from submission to completion. Requests that overlap, or that no operation waits for
//! (read-ahead, write-back), count only as far as there was waiting.

use crate::block::shown_repetition;
use fathom_record::block::{DeviceActivity, IssuerKind, RequestStats};
use fathom_record::{BlockLayer, Histogram, OpKind, Origin, Phase, Regime, Repetition};
use serde::Serialize;

/// Above this mean number of operations in flight per worker, operations are asynchronous. A worker whose calls return before
/// the next one has at most one; the margin is for rounding.
const TOGETHER: f64 = 1.05;

/// The layer that takes the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The measuring program: its CPU time in user mode.
    Program,
    /// Between operations and not runnable: a rate limit, think time.
    Pause,
    /// The kernel's code: system call, page cache, file system, block layer.
    Kernel,
    /// Runnable without a processor: others had it, or a control group's quota was used up.
    Processor,
    /// Above the driver: plugged or in the scheduler.
    Queue,
    /// In the device.
    Device,
    /// In a call, but not on a CPU, runnable, or waiting for a request: a lock, a limit, memory shortage, wake-up.
    Elsewhere,
    /// In a call and off the CPU, where requests were not watched, or not all of them.
    Unwatched,
    /// For asynchronous operations, the time in neither queue nor device: handed to the kernel, waiting to be reaped.
    Handling,
}

/// One layer's part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LayerShare {
    /// The layer.
    pub layer: Layer,
    /// Time per operation, ns.
    pub ns: f64,
}

/// The time of one operation, divided into parts that add up to the whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// "read", "write", "operation".
    pub operation: &'static str,
    /// Time per operation, ns.
    pub total_ns: f64,
    /// The non-zero parts, in the order in which an operation passes them.
    pub parts: Vec<LayerShare>,
    /// The devices below the file system: "vda", "sda+sdb"; empty if none was watched.
    pub devices: String,
    /// Whether the time in their queues is known (there is none for data from the page cache). If not, it is part of
    /// [`Layer::Elsewhere`] or [`Layer::Handling`].
    pub queue_watched: bool,
    /// Whether the workers' wait for a processor is known. If not, it is part of [`Layer::Pause`] and [`Layer::Elsewhere`].
    pub processor_watched: bool,
    /// Whether requests took more time than was waited, because some overlapped or no operation waited for them. The times of
    /// queue and device are then upper bounds.
    pub at_most: bool,
}

impl Budget {
    /// Divides the last repetition with watched requests, else the last one; `None` if no operation was timed.
    #[must_use]
    pub fn of(phase: &Phase) -> Option<Self> {
        let (repetition, layer) = match shown_repetition(phase) {
            Some((repetition, layer)) => (repetition, Some(layer)),
            None => (phase.repetitions.last()?, None),
        };
        let layer = layer.filter(|l| l.lost == 0 && tops(l).next().is_some());
        let spent = Spent::of(repetition)?;
        // Data from the page cache waits for no request: any requests are read-ahead, write-back or another program's. Data from
        // the page cache below a loop device does.
        let cached = Origin::of(phase, repetition).regime == Regime::PageCache && !phase.is_image_cached();
        let requests = layer
            .map(|l| if cached { RequestTime::default() } else { RequestTime::of(l, spent.in_flight()) });
        let together = spent.in_calls / spent.elapsed > TOGETHER;
        let (total, waited, parts) =
            if together { spent.together(requests.as_ref()) } else { spent.in_turn(requests.as_ref()) };
        let parts = parts.into_iter().filter(|(_, ns)| *ns > 0.0);
        Some(Self {
            operation: operation(phase),
            total_ns: total / spent.ops,
            parts: parts.map(|(layer, ns)| LayerShare { layer, ns: ns / spent.ops }).collect(),
            devices: layer.map_or_else(String::new, names),
            at_most: requests.is_some_and(|r| r.capped || r.queue + r.device > waited),
            processor_watched: spent.processor_wait.is_some(),
            queue_watched: cached || layer.is_some_and(|l| tops(l).all(|d| !d.in_queue.is_empty())),
        })
    }

    /// A layer's share of the whole, 0 to 1.
    #[must_use]
    pub fn share(&self, layer: Layer) -> f64 {
        let ns: f64 = self.parts.iter().filter(|p| p.layer == layer).map(|p| p.ns).sum();
        ns / self.total_ns
    }
}

/// The word for one operation of the phase.
fn operation(phase: &Phase) -> &'static str {
    match (phase.reads, phase.writes) {
        (true, false) => "read",
        (false, true) => "write",
        _ => "operation",
    }
}

/// Total time of all workers, ns.
struct Spent {
    workers: f64,
    ops: f64,
    elapsed: f64,
    user: f64,
    system: f64,
    /// Runnable without a processor; `None` if unknown.
    processor_wait: Option<f64>,
    /// Total duration of the operations, including syncs and anything else timed among them.
    in_calls: f64,
}

impl Spent {
    fn of(repetition: &Repetition) -> Option<Self> {
        let sum = |of: fn(&fathom_record::Worker) -> u64| -> f64 {
            repetition.workers.iter().map(|w| of(w) as f64).sum()
        };
        let stats = || repetition.workers.iter().flat_map(|w| &w.stats);
        let data: u64 = stats().filter(|s| matches!(s.op, OpKind::Read | OpKind::Write)).map(|s| s.ops).sum();
        // Where only reads and writes count as operations, files are opened and closed outside the clock.
        let files_apart = data == repetition.workers.iter().map(|w| w.ops).sum::<u64>();
        let apart = |op| files_apart && matches!(op, OpKind::Open | OpKind::Close);
        // Only some workloads time the final fsync; in the others it is not part of the time.
        let timed = stats().filter(|s| !s.op.is_part() && s.op != OpKind::FinalSync && !apart(s.op));
        let spent = Self {
            workers: repetition.workers.len() as f64,
            ops: sum(|w| w.ops),
            elapsed: sum(|w| w.elapsed_ns),
            user: sum(|w| w.cpu_user_ns),
            system: sum(|w| w.cpu_system_ns),
            processor_wait: repetition
                .workers
                .iter()
                .map(|w| Some(w.thread_counts?.processor_wait_ns? as f64))
                .sum(),
            in_calls: timed.map(|s| s.latency.sum_ns() as f64).sum(),
        };
        (spent.ops > 0.0 && spent.elapsed > 0.0 && spent.in_calls > 0.0).then_some(spent)
    }

    /// Mean number of operations in flight, at least one per worker.
    fn in_flight(&self) -> f64 {
        self.workers * (self.in_calls / self.elapsed).max(1.0)
    }

    /// For successive operations: the whole, the waiting in it, and all parts.
    fn in_turn(&self, requests: Option<&RequestTime>) -> (f64, f64, Vec<(Layer, f64)>) {
        let total = self.elapsed;
        let user = self.user.min(total);
        let system = self.system.min(total - user);
        let free = total - user - system;
        let pause = (total - self.in_calls.min(total) - user).clamp(0.0, free);
        let waited = free - pause;
        let mut waits = match requests {
            Some(requests) => requests.within(waited, Layer::Elsewhere),
            None => vec![(Layer::Unwatched, waited)],
        };
        // Waits for a processor occur in calls and between them; time explained by requests goes to the requests.
        let mut pause = pause;
        let mut processor = 0.0;
        for part in waits.last_mut().map(|(_, ns)| ns).into_iter().chain([&mut pause]) {
            let taken = part.min(self.processor_wait.unwrap_or(0.0) - processor);
            *part -= taken;
            processor += taken;
        }
        let mut parts = vec![
            (Layer::Program, user),
            (Layer::Pause, pause),
            (Layer::Kernel, system),
            (Layer::Processor, processor),
        ];
        parts.append(&mut waits);
        (total, waited, parts)
    }

    /// For operations in flight together: each is timed separately and waits all the time.
    fn together(&self, requests: Option<&RequestTime>) -> (f64, f64, Vec<(Layer, f64)>) {
        let parts = match requests {
            Some(requests) => requests.within(self.in_calls, Layer::Handling),
            None => vec![(Layer::Unwatched, self.in_calls)],
        };
        (self.in_calls, self.in_calls, parts)
    }
}

/// Time of the requests made for us, ns.
#[derive(Default)]
struct RequestTime {
    queue: f64,
    device: f64,
    /// The device's busy time was less than the requests' total time.
    capped: bool,
}

impl RequestTime {
    /// Waiting for a device is bounded by its busy time; each of several operations in flight together waits at most that long.
    fn of(layer: &BlockLayer, in_flight: f64) -> Self {
        let mut all = Self::default();
        for device in tops(layer) {
            let ours = ours(device);
            let sum = |of: fn(&RequestStats) -> &Histogram| -> f64 {
                device.requests.iter().map(|r| of(r).sum_ns() as f64 * ours).sum()
            };
            let (taken, most) = (sum(|r| &r.d2c), device.busy_ns as f64 * in_flight);
            all.queue += sum(|r| &r.q2d);
            all.device += taken.min(most);
            all.capped |= taken > most;
        }
        all
    }

    /// Splits a waiting time into queue, device and `rest`.
    fn within(&self, waited: f64, rest: Layer) -> Vec<(Layer, f64)> {
        let all = self.queue + self.device;
        let part = if all > waited { waited / all } else { 1.0 };
        let (queue, device) = (self.queue * part, self.device * part);
        vec![(Layer::Queue, queue), (Layer::Device, device), (rest, (waited - queue - device).max(0.0))]
    }
}

/// Share of a device's requests that were not another program's.
fn ours(device: &DeviceActivity) -> f64 {
    let count = |others: bool| -> f64 {
        let counted = device.issuers.iter().filter(|i| (i.kind == IssuerKind::Other) == others);
        counted.map(|i| i.reads as f64 + i.writes as f64 + i.others as f64).sum()
    };
    let (theirs, own) = (count(true), count(false));
    if theirs > 0.0 { own / (own + theirs) } else { 1.0 }
}

/// The devices that the file system uses directly.
fn tops(layer: &BlockLayer) -> impl Iterator<Item = &DeviceActivity> {
    layer.devices.iter().filter(|d| d.level == 0)
}

fn names(layer: &BlockLayer) -> String {
    tops(layer).map(|d| crate::printable::clean(&d.name)).collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::block::{DepthTime, Issuer, RequestClass};
    use fathom_record::{OpStat, ThreadCounts, Worker};

    /// A worker that made `ops` reads of `latency` ns in `elapsed` ns, with the given CPU times.
    fn worker(ops: u64, latency: u64, elapsed_ns: u64, user: u64, system: u64) -> Worker {
        let latency = Histogram::from_values((0..ops).map(|_| latency));
        let stats = vec![OpStat { op: OpKind::Read, ops, bytes: ops * 4096, latency }];
        let bytes = ops * 4096;
        Worker {
            ops,
            bytes,
            elapsed_ns,
            cpu_user_ns: user,
            cpu_system_ns: system,
            stats,
            ..Worker::default()
        }
    }

    fn phase(workers: Vec<Worker>, requests: Option<(u64, u64, u64)>) -> Phase {
        let device = |(n, queue, device): (u64, u64, u64)| DeviceActivity {
            name: "vda".into(),
            busy_ns: n * device,
            requests: vec![RequestStats {
                class: RequestClass::Read,
                q2d: Histogram::from_values((0..n).map(|_| queue)),
                d2c: Histogram::from_values((0..n).map(|_| device)),
                ..RequestStats::default()
            }],
            ..DeviceActivity::default()
        };
        let block = requests.map(|r| BlockLayer { devices: vec![device(r)], ..BlockLayer::default() });
        let repetition = Repetition { workers, block, ..Repetition::default() };
        let mut phase = crate::samples::observed_run().phases.remove(0);
        (phase.reads, phase.writes) = (true, false);
        phase.repetitions = vec![repetition];
        phase
    }

    fn parts(budget: &Budget) -> Vec<(Layer, u64)> {
        budget.parts.iter().map(|p| (p.layer, p.ns.round() as u64)).collect()
    }

    #[test]
    fn one_after_the_other() {
        // 100 us per operation, 90 of them in the call: 5 us in user mode, 20 in the kernel, 50 in the device, 4 above it.
        let phase = phase(vec![worker(10, 90_000, 1_000_000, 50_000, 200_000)], Some((10, 4_000, 50_000)));
        let budget = Budget::of(&phase).unwrap();
        assert_eq!((budget.operation, budget.total_ns, budget.devices.as_str()), ("read", 100_000.0, "vda"));
        let expected = [
            (Layer::Program, 5_000),
            (Layer::Pause, 5_000),
            (Layer::Kernel, 20_000),
            (Layer::Queue, 4_000),
            (Layer::Device, 50_000),
            (Layer::Elsewhere, 16_000),
        ];
        assert_eq!(parts(&budget), expected);
        assert!(!budget.at_most);
        assert!((budget.share(Layer::Device) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn opening_files_outside_the_clock_is_no_part_of_a_read() {
        let mut one = worker(10, 90_000, 1_000_000, 50_000, 200_000);
        let latency = Histogram::from_values([1_290_000]);
        one.stats.push(OpStat { op: OpKind::Open, ops: 1, bytes: 0, latency });
        let total = |one: &Worker| Budget::of(&phase(vec![one.clone()], None)).unwrap().total_ns;
        assert!((total(&one) - 100_000.0).abs() < 1.0, "the elapsed time of a read");
        // A flow opens files within its time.
        one.ops += 1;
        assert!(total(&one) > 190_000.0);
    }

    #[test]
    fn a_read_of_a_cached_image_waits_for_the_loop_device() {
        let mut phase =
            phase(vec![worker(10, 90_000, 1_000_000, 50_000, 200_000)], Some((10, 4_000, 50_000)));
        let device = |name: &str, kind: &str, level, read_bytes| fathom_record::DeviceDelta {
            name: name.into(),
            kind: kind.into(),
            level,
            read_bytes,
            ..Default::default()
        };
        phase.repetitions[0].physical.devices =
            vec![device("loop0", "loop", 0, 40_960), device("vda", "disk", 1, 0)];
        assert_eq!(phase.origin().regime, Regime::PageCache);
        assert!((Budget::of(&phase).unwrap().share(Layer::Device) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn waiting_for_a_processor_is_no_pause_and_no_other_waiting() {
        // As in the first test, but for 18 of the 21 unexplained us it was runnable.
        let mut one = worker(10, 90_000, 1_000_000, 50_000, 200_000);
        one.thread_counts =
            Some(ThreadCounts { processor_wait_ns: Some(180_000), ..ThreadCounts::default() });
        let budget = Budget::of(&phase(vec![one], Some((10, 4_000, 50_000)))).unwrap();
        let expected = [
            (Layer::Program, 5_000),
            (Layer::Pause, 3_000),
            (Layer::Kernel, 20_000),
            (Layer::Processor, 18_000),
            (Layer::Queue, 4_000),
            (Layer::Device, 50_000),
        ];
        assert_eq!(parts(&budget), expected);
    }

    #[test]
    fn a_queue_that_was_watched_is_known() {
        let mut phase = phase(vec![worker(10, 90_000, 1_000_000, 0, 0)], Some((10, 4_000, 50_000)));
        assert!(!Budget::of(&phase).unwrap().queue_watched);
        phase.repetitions[0].block.as_mut().unwrap().devices[0].in_queue =
            vec![DepthTime { depth: 1, ns: 40_000 }];
        assert!(Budget::of(&phase).unwrap().queue_watched);
    }

    #[test]
    fn requests_count_as_far_as_somebody_waited() {
        // Each operation waited 75 us for requests of 200 us: mostly read ahead, in the background.
        let phase = phase(vec![worker(10, 95_000, 1_000_000, 50_000, 200_000)], Some((10, 50_000, 150_000)));
        let budget = Budget::of(&phase).unwrap();
        let expected = [
            (Layer::Program, 5_000),
            (Layer::Kernel, 20_000),
            (Layer::Queue, 18_750),
            (Layer::Device, 56_250),
        ];
        assert_eq!(parts(&budget), expected);
        assert!(budget.at_most);
    }

    #[test]
    fn nobody_waits_longer_than_the_device_is_busy() {
        // Written back in batches while the kernel compresses: the device is busy for a fifth of the time.
        let mut phase = phase(vec![worker(10, 90_000, 1_000_000, 0, 200_000)], Some((10, 0, 500_000)));
        phase.repetitions[0].block.as_mut().unwrap().devices[0].busy_ns = 200_000;
        let budget = Budget::of(&phase).unwrap();
        assert_eq!(parts(&budget)[2..], [(Layer::Device, 20_000), (Layer::Elsewhere, 50_000)]);
        assert!(budget.at_most);
    }

    #[test]
    fn several_in_flight() {
        let phase = phase(vec![worker(100, 80_000, 1_000_000, 50_000, 500_000)], Some((100, 10_000, 60_000)));
        let budget = Budget::of(&phase).unwrap();
        assert_eq!(budget.total_ns, 80_000.0);
        assert_eq!(
            parts(&budget),
            [(Layer::Queue, 10_000), (Layer::Device, 60_000), (Layer::Handling, 10_000)]
        );
    }

    #[test]
    fn requests_of_other_programs_are_not_waited_for() {
        let mut phase = phase(vec![worker(10, 100_000, 1_000_000, 0, 0)], Some((20, 0, 40_000)));
        let issuer = |kind, reads| Issuer { kind, reads, ..Issuer::default() };
        phase.repetitions[0].block.as_mut().unwrap().devices[0].issuers =
            vec![issuer(IssuerKind::Own, 10), issuer(IssuerKind::Other, 10)];
        assert_eq!(
            parts(&Budget::of(&phase).unwrap()),
            [(Layer::Device, 40_000), (Layer::Elsewhere, 60_000)]
        );
    }

    #[test]
    fn what_the_page_cache_served_waited_for_no_request() {
        let mut phase = phase(vec![worker(10, 100_000, 1_000_000, 0, 200_000)], Some((10, 0, 40_000)));
        phase.repetitions[0].physical.devices = vec![fathom_record::DeviceDelta::default()];
        phase.repetitions[0].physical.own_read_bytes = Some(0);
        assert_eq!(Origin::of(&phase, &phase.repetitions[0]).regime, Regime::PageCache);
        assert_eq!(parts(&Budget::of(&phase).unwrap())[1], (Layer::Elsewhere, 80_000));
    }

    #[test]
    fn without_requests_the_waiting_is_not_divided() {
        let phase = phase(vec![worker(10, 100_000, 1_000_000, 0, 200_000)], None);
        let budget = Budget::of(&phase).unwrap();
        assert_eq!(parts(&budget), [(Layer::Kernel, 20_000), (Layer::Unwatched, 80_000)]);
        assert!(budget.devices.is_empty());
    }

    #[test]
    fn lost_events_are_no_totals() {
        let mut phase = phase(vec![worker(10, 100_000, 1_000_000, 0, 200_000)], Some((5, 0, 50_000)));
        phase.repetitions[0].block.as_mut().unwrap().lost = 1;
        assert_eq!(parts(&Budget::of(&phase).unwrap())[1], (Layer::Unwatched, 80_000));
    }

    #[test]
    fn nothing_timed_is_nothing_told() {
        assert_eq!(Budget::of(&phase(vec![], None)), None);
        assert_eq!(Budget::of(&phase(vec![worker(0, 0, 0, 0, 0)], None)), None);
    }

    proptest::proptest! {
        #[test]
        fn parts_add_up(
            ops in 1u64..50, latency in 1u64..1_000_000, elapsed in 1u64..10_000_000, user in 0u64..10_000_000,
            system in 0u64..10_000_000, requests in proptest::option::of((0u64..50, 0u64..1_000_000, 0u64..1_000_000)),
        ) {
            let budget = Budget::of(&phase(vec![worker(ops, latency, elapsed, user, system)], requests)).unwrap();
            let sum: f64 = budget.parts.iter().map(|p| p.ns).sum();
            proptest::prop_assert!((sum - budget.total_ns).abs() <= 1e-6 * budget.total_ns);
            proptest::prop_assert!(budget.parts.iter().all(|p| p.ns > 0.0));
        }
    }
}
