//! One phase: workers are planned, started, released together, watched, and their slots turned into a repetition.

use crate::clock::Clock;
use crate::error::advice;
use crate::interrupt::StopOnSignal;
use crate::shared::{
    Call, End, Figures, Live, READ, RESPONSE, STOP_INTERRUPT, SYNC, Shared, WRITE, futex_wait, wake_all,
};
use crate::worker::{Plan, work};
use crate::{EngineError, interrupted_by};
use fathom_record::{Ending, Histogram, Interval, Marks, OpError, OpKind, OpStat, Repetition, Worker};
use fathom_workload::{Isolation, Phase};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// A process and the workers (threads) that run in it; `Isolation::Thread` workers run in ours.
struct Crew<'a> {
    own_process: bool,
    plans: Vec<Plan<'a>>,
}

/// Time given to all workers to wake up before the agreed start.
const WAKE_NS: u64 = 500_000;
/// How often the parent looks for signals and dead children.
const LOOK_NS: u64 = 50_000_000;

/// Executes the plans of one phase. `crews` pairs plans with the process they belong to.
pub(crate) fn run(
    phase: &Phase,
    plans: Vec<(Isolation, u32, Plan<'_>)>,
    clock: Clock,
    log_entries: usize,
    moments: &mut dyn Moments,
) -> Result<Repetition, EngineError> {
    let count = plans.len();
    let shared = Shared::new(count, log_entries)?;
    let crews = crews_of(plans);
    let _stop = StopOnSignal::new(&shared.control().stop);
    let mut repetition = Repetition::default();
    let mut names: Vec<(String, std::path::PathBuf)> = vec![Default::default(); count];
    for plan in crews.iter().flat_map(|c| &c.plans) {
        names[plan.index] = (plan.group.clone(), plan.path.clone());
    }
    std::thread::scope(|scope| -> Result<(), EngineError> {
        let mut children = Children::default();
        // Processes first: a process is cheaper to copy before there are threads.
        let (processes, threads): (Vec<_>, Vec<_>) = crews.iter().partition(|c| c.own_process);
        for crew in processes {
            children.start(crew, &shared, clock)?;
        }
        for plan in threads.iter().flat_map(|c| &c.plans) {
            let shared = &shared;
            let started =
                std::thread::Builder::new().spawn_scoped(scope, move || work(plan, shared, clock, false));
            if let Err(error) = started {
                abandon(shared, &mut children);
                return Err(EngineError::system("start a thread", error));
            }
        }
        let released = release(phase, &shared, &mut children, count, clock, moments);
        let mut watch = Watch { shared: &shared, count, clock, first: released.first, lost: released.lost };
        watch.until_clocks_stop(phase.interval.0, &mut children, &mut repetition.intervals);
        moments.clocks_stopped();
        shared.control().seen.store(1, Ordering::Release);
        wake_all(&shared.control().seen);
        watch.until_done(&mut children);
        children.reap();
        repetition.elapsed_ns = clock.between(released.last, clock.now());
        collect(&shared, &children, &names, clock, released.first, &mut repetition);
        Ok(())
    })?;
    Ok(repetition)
}

/// Groups plans by process. Mapped files always get processes of their own: a full file system shows as SIGBUS there.
fn crews_of(plans: Vec<(Isolation, u32, Plan<'_>)>) -> Vec<Crew<'_>> {
    let mut crews: Vec<Crew> = Vec::new();
    let mut by_process: BTreeMap<u32, usize> = BTreeMap::new();
    for (isolation, process, plan) in plans {
        let mapped = matches!(plan.stream.backend, fathom_workload::Backend::Mmap { .. });
        if mapped || isolation == Isolation::Thread {
            crews.push(Crew { own_process: mapped, plans: vec![plan] });
        } else if let Some(&at) = by_process.get(&process) {
            crews[at].plans.push(plan);
        } else {
            by_process.insert(process, crews.len());
            crews.push(Crew { own_process: true, plans: vec![plan] });
        }
    }
    crews
}

/// Child processes and the workers in each.
#[derive(Default)]
struct Children {
    alive: Vec<(libc::pid_t, Vec<usize>)>,
    /// Workers whose process was killed, with the signal.
    killed: BTreeMap<usize, i32>,
}

impl Children {
    fn start(&mut self, crew: &Crew, shared: &Shared, clock: Clock) -> Result<(), EngineError> {
        let parent = std::process::id();
        // SAFETY: the child runs only `child`, which works on memory it owns or shares and ends by _exit; glibc makes its
        // allocator usable after a fork of a threaded process.
        match unsafe { libc::fork() } {
            -1 => {
                let error = std::io::Error::last_os_error();
                abandon(shared, self);
                Err(EngineError::system("start a process", error))
            }
            0 => child(crew, shared, clock, parent),
            pid => {
                self.alive.push((pid, crew.plans.iter().map(|p| p.index).collect()));
                Ok(())
            }
        }
    }

    /// Notes children that are gone without waiting. Returns how many workers were lost by being killed.
    fn look(&mut self, shared: &Shared) -> usize {
        let mut lost = 0;
        self.alive.retain(|(pid, workers)| {
            let mut status = 0;
            // SAFETY: waits for our own child; the status lives through the call.
            if unsafe { libc::waitpid(*pid, &raw mut status, libc::WNOHANG) } == 0 {
                return true;
            }
            let signal = if libc::WIFSIGNALED(status) { libc::WTERMSIG(status) } else { 0 };
            for &w in workers {
                if shared.live(w).end.load(Ordering::Acquire) == End::Gone as u32 {
                    self.killed.insert(w, signal);
                    lost += 1;
                }
            }
            false
        });
        lost
    }

    /// Ends those that do not end by themselves.
    fn kill(&self) {
        for (pid, _) in &self.alive {
            // SAFETY: our own child that was not waited for: the number is still its.
            unsafe { libc::kill(*pid, libc::SIGKILL) };
        }
    }

    /// Waits for all that are left.
    fn reap(&mut self) {
        for (pid, workers) in self.alive.drain(..) {
            let mut status = 0;
            // SAFETY: waits for our own child. EINTR (a signal to us) is tried again.
            while unsafe { libc::waitpid(pid, &raw mut status, 0) } == -1
                && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
            {}
            if libc::WIFSIGNALED(status) {
                for w in workers {
                    self.killed.insert(w, libc::WTERMSIG(status));
                }
            }
        }
    }
}

/// A worker could not be started: those that were are let go without doing anything.
fn abandon(shared: &Shared, children: &mut Children) {
    let control = shared.control();
    control.stop.store(STOP_INTERRUPT, Ordering::Release);
    control.go.store(1, Ordering::Release);
    wake_all(&control.go);
    control.seen.store(1, Ordering::Release);
    wake_all(&control.seen);
    children.reap();
}

/// The child process: its workers and nothing else.
fn child(crew: &Crew, shared: &Shared, clock: Clock, parent: u32) -> ! {
    // SAFETY: plain prctl; if the parent died before it took effect, getppid tells.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() as u32 != parent {
            libc::_exit(0);
        }
    }
    match crew.plans.as_slice() {
        [only] => work(only, shared, clock, true),
        several => std::thread::scope(|scope| {
            for plan in several {
                let worker = move || work(plan, shared, clock, true);
                if std::thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                    // The parent reports workers that ended without a result.
                    // SAFETY: ends the child with all its threads.
                    unsafe { libc::_exit(1) };
                }
            }
        }),
    }
    // SAFETY: ends the child without running the parent's exit handlers or flushing its buffers.
    unsafe { libc::_exit(0) }
}

/// When the workers were released, in ticks.
struct Released {
    first: u64,
    last: u64,
    /// Workers that died before.
    lost: usize,
}

/// Moments of a phase at which its caller may want to read counters. Nothing of the phase happens while a moment is told.
pub trait Moments {
    /// Every worker is prepared (files open, earlier dirty pages written back if asked); the clocks start right after.
    fn ready(&mut self) {}
    /// The last worker's clock has stopped; what follows outside the clock has not begun for that worker.
    fn clocks_stopped(&mut self) {}
}

impl Moments for () {}

/// Waits until all are prepared, then releases them at one agreed time, or one after the other.
fn release(
    phase: &Phase,
    shared: &Shared,
    children: &mut Children,
    count: usize,
    clock: Clock,
    moments: &mut dyn Moments,
) -> Released {
    let control = shared.control();
    let mut lost = 0;
    // A worker may hang in an open or an fsync before the start: after a signal it has this long.
    let mut patience_ns = 2_000_000_000u64;
    loop {
        let ready = control.ready.load(Ordering::Acquire);
        if ready as usize + lost >= count {
            break;
        }
        futex_wait(&control.ready, ready, LOOK_NS);
        lost += children.look(shared);
        if interrupted_by().is_some() {
            patience_ns = patience_ns.saturating_sub(LOOK_NS);
            if patience_ns == 0 {
                children.kill();
            }
        }
    }
    moments.ready();
    if lost > 0 {
        control.stop.store(STOP_INTERRUPT, Ordering::Release);
    }
    let lead = if count > 1 { clock.ticks(WAKE_NS) } else { 0 };
    let first = clock.now() + lead;
    let stagger = clock.ticks(phase.stagger.0);
    for worker in 0..count {
        shared.live(worker).start_at.store(first + stagger * worker as u64, Ordering::Release);
    }
    control.go.store(1, Ordering::Release);
    wake_all(&control.go);
    Released { first, last: first + stagger * (count as u64).saturating_sub(1), lost }
}

/// What the parent does while the workers work: it sleeps, takes the interval series, and looks for dead children.
struct Watch<'a> {
    shared: &'a Shared,
    count: usize,
    clock: Clock,
    /// Release of the first worker, in ticks.
    first: u64,
    lost: usize,
}

impl Watch<'_> {
    /// Waits until every clock has stopped; the interval series ends there.
    fn until_clocks_stop(&mut self, width_ns: u64, children: &mut Children, series: &mut Vec<Interval>) {
        let mut last = (0u64, 0u64, 0u64);
        let mut next_ns = width_ns;
        loop {
            let event = self.shared.control().event.load(Ordering::Acquire);
            let stopped =
                self.shared.control().clocked.load(Ordering::Acquire) as usize + self.lost >= self.count;
            let now_ns = self.clock.between(self.first, self.clock.now());
            // A last piece shorter than half an interval is added to the one before: its rate would be noise.
            if stopped
                && now_ns.saturating_sub(last.0) < width_ns / 2
                && let Some(before) = series.last_mut()
            {
                let (ops, bytes) = totals(self.shared, self.count);
                before.width_ns += now_ns - before.end_ns;
                before.end_ns = now_ns;
                before.ops += ops - last.1;
                before.bytes += bytes - last.2;
            } else if width_ns > 0 && (now_ns >= next_ns || stopped) && now_ns > last.0 {
                let (ops, bytes) = totals(self.shared, self.count);
                series.push(Interval {
                    end_ns: now_ns,
                    width_ns: now_ns - last.0,
                    ops: ops - last.1,
                    bytes: bytes - last.2,
                    latencies: Vec::new(),
                });
                last = (now_ns, ops, bytes);
                next_ns = (now_ns / width_ns + 1) * width_ns;
            }
            if stopped {
                return;
            }
            let wait_ns =
                if width_ns > 0 { LOOK_NS.min(next_ns.saturating_sub(now_ns).max(1)) } else { LOOK_NS };
            self.sleep(event, wait_ns, children);
        }
    }

    /// Waits until every worker is done with what comes after its clock, too.
    fn until_done(&mut self, children: &mut Children) {
        loop {
            let event = self.shared.control().event.load(Ordering::Acquire);
            if self.shared.control().done.load(Ordering::Acquire) as usize + self.lost >= self.count {
                return;
            }
            self.sleep(event, LOOK_NS, children);
        }
    }

    fn sleep(&mut self, event: u32, wait_ns: u64, children: &mut Children) {
        let control = self.shared.control();
        futex_wait(&control.event, event, wait_ns);
        self.lost += children.look(self.shared);
        if self.lost > 0 {
            let _ = control.stop.compare_exchange(0, STOP_INTERRUPT, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

fn totals(shared: &Shared, count: usize) -> (u64, u64) {
    (0..count).map(|w| shared.live(w)).fold((0, 0), |sum, slot| {
        (sum.0 + slot.ops.load(Ordering::Relaxed), sum.1 + slot.bytes.load(Ordering::Relaxed))
    })
}

fn collect(
    shared: &Shared,
    children: &Children,
    names: &[(String, std::path::PathBuf)],
    clock: Clock,
    first: u64,
    out: &mut Repetition,
) {
    let mut starts: Vec<u64> = Vec::with_capacity(names.len());
    for (index, (group, path)) in names.iter().enumerate() {
        // SAFETY: every worker is done or gone: the processes were waited for, the threads have set `done`.
        let (live, slot) = (shared.live(index), unsafe { shared.figures(index) });
        let ending = ending_of(live, slot, path, children.killed.get(&index).copied());
        if slot.start_ticks > 0 {
            starts.push(slot.start_ticks);
        }
        out.workers.push(Worker {
            group: group.clone(),
            index: index as u32,
            start_ns: clock.between(first, slot.start_ticks),
            elapsed_ns: slot.elapsed_ns,
            bytes: live.bytes.load(Ordering::Acquire),
            ops: live.ops.load(Ordering::Acquire),
            uncounted_bytes: slot.uncounted_bytes,
            cpu_user_ns: slot.cpu_user_ns,
            cpu_system_ns: slot.cpu_system_ns,
            marks: Marks { last_op_ns: slot.last_op_ns, fsync_ns: slot.fsync_ns, close_ns: slot.close_ns },
            stats: stats_of(slot),
            ending,
            // SAFETY: as above.
            op_log: unsafe { shared.log(index) },
            ..Worker::default()
        });
    }
    if let (Some(min), Some(max)) = (starts.iter().min(), starts.iter().max()) {
        out.start_skew_ns = clock.between(*min, *max);
    }
}

fn stats_of(slot: &Figures) -> Vec<OpStat> {
    let mut stats = Vec::new();
    for (kind, op) in
        [(READ, OpKind::Read), (WRITE, OpKind::Write), (SYNC, OpKind::Sync), (RESPONSE, OpKind::Response)]
    {
        let s = &slot.stats[kind];
        if s.ops > 0 {
            let latency = Histogram::from_dense(&s.counts, u128::from(s.sum_ns), s.min_ns, s.max_ns);
            stats.push(OpStat { op, ops: s.ops, bytes: s.bytes, latency });
        }
    }
    for (ns, op) in [(slot.open_call_ns, OpKind::Open), (slot.close_call_ns, OpKind::Close)] {
        if ns > 0 {
            stats.push(OpStat { op, ops: 1, bytes: 0, latency: Histogram::from_values([ns]) });
        }
    }
    stats
}

fn ending_of(live: &Live, slot: &Figures, path: &std::path::Path, killed_by: Option<i32>) -> Ending {
    match live.end.load(Ordering::Acquire) {
        e if e == End::Completed as u32 => Ending::Completed,
        e if e == End::Stopped as u32 => Ending::Stopped,
        e if e == End::Interrupted as u32 && interrupted_by().is_some() => Ending::Interrupted,
        // Another worker's failure ended this one.
        e if e == End::Interrupted as u32 => Ending::Stopped,
        e if e == End::Failed as u32 => Ending::Failed(error_of(live, slot, path)),
        _ => Ending::Failed(OpError {
            call: "killed".into(),
            path: path.display().to_string(),
            offset: None,
            after_ops: live.ops.load(Ordering::Relaxed),
            errno: 0,
            message: killed_sentence(path, killed_by.unwrap_or(0)),
        }),
    }
}

fn killed_sentence(path: &std::path::Path, signal: i32) -> String {
    let path = path.display();
    match signal {
        libc::SIGBUS => format!(
            "the mapping of {path} could not be written or read (SIGBUS): the file system is full, the device failed, or the file was shortened meanwhile. Free space or choose smaller files; the kernel log tells of a failed device"
        ),
        libc::SIGKILL => format!(
            "the process working on {path} was killed (SIGKILL), perhaps for want of memory; see the kernel log"
        ),
        0 => format!("the process working on {path} ended without a result"),
        other => format!("the process working on {path} was killed by signal {other}"),
    }
}

fn error_of(live: &Live, slot: &Figures, path: &std::path::Path) -> OpError {
    let ops = live.ops.load(Ordering::Relaxed);
    let (what, path_text) = (slot.fault_call.word(), path.display());
    let place = match slot.fault_call {
        Call::Read | Call::Write | Call::FlaggedRead | Call::FlaggedWrite | Call::Verify | Call::Lock => {
            Some(slot.fault_offset)
        }
        _ => None,
    };
    let at = place.map_or(String::new(), |o| format!(" at offset {o}"));
    let message = if slot.fault_errno != 0 {
        let error = std::io::Error::from_raw_os_error(slot.fault_errno);
        let moved = if slot.fault_expected > 0 {
            format!(" ({} of {} bytes were moved)", slot.fault_found, slot.fault_expected)
        } else {
            String::new()
        };
        let advice = match (slot.fault_call, slot.fault_errno) {
            (Call::FlaggedRead | Call::FlaggedWrite, _) => &crate::backend::flag_advice(slot.fault_found),
            (Call::Ring, libc::ENOMEM) => {
                ". Registered buffers count against the limit of locked memory (ulimit -l): raise it, or set registered_buffers = false"
            }
            _ => advice(&error),
        };
        format!("cannot {what} {path_text}{at}: {error}{moved}{advice}")
    } else {
        match slot.fault_call {
            Call::Verify => format!(
                "{path_text} holds wrong data at offset {}: found byte {:#04x}, expected {:#04x}",
                slot.fault_offset, slot.fault_found, slot.fault_expected
            ),
            Call::Read => format!(
                "{path_text} ends too early: at offset {} only {} of {} bytes could be read",
                slot.fault_offset, slot.fault_found, slot.fault_expected
            ),
            Call::Nothing => format!(
                "the region of {path_text} ({} bytes) is smaller than a record ({} bytes)",
                slot.fault_found, slot.fault_expected
            ),
            _ => format!("cannot {what} {path_text}{at}"),
        }
    };
    OpError {
        call: what.split(' ').next().unwrap_or(what).into(),
        path: path_text.to_string(),
        offset: place,
        after_ops: ops,
        errno: slot.fault_errno,
        message,
    }
}
