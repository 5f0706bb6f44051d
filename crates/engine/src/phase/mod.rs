//! One phase: plans workers, starts them, releases them together, watches them ([`watch`], [`rounds`]), and turns their slots
//! into a repetition ([`collect`]).

mod by_worker;
mod collect;
mod jitter;
mod limit;
mod rounds;
mod threads;
mod watch;

use crate::calls::Calls;
use crate::clock::Clock;
use crate::flow::{Said, Setting};
use crate::interrupt::StopOnSignal;
use crate::job::Job;
use crate::shared::{End, STOP_INTERRUPT, Shared, futex_wait, wake_all};
use crate::worker::work;
use crate::{EngineError, interrupted_by};
use fathom_record::Repetition;
use fathom_record::block::measured_threads_name;
use fathom_workload::drive::AWAY;
use fathom_workload::{Isolation, Phase};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use watch::Watch;

/// Names of a worker for the record.
#[derive(Clone, Default)]
struct WorkerNames<'a> {
    group: String,
    path: std::path::PathBuf,
    /// The files of a stream over a whole set.
    paths: &'a [std::path::PathBuf],
}

/// Raises the soft limit of open files: the usual 1024 are too few for many workers that each open all files of a set. The hard
/// limit stays; an open that exceeds it says so.
fn allow_open_files<'p>(jobs: impl Iterator<Item = &'p Job<'p>>) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const OWN: u64 = 64;
    let needed = jobs.map(Job::files).sum::<u64>() + OWN;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|now| now < needed) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// A process and the workers (threads) that run in it; `Isolation::Thread` workers run in this process.
struct Crew<'a> {
    own_process: bool,
    jobs: Vec<Job<'a>>,
}

/// Time given to all workers to wake up before the agreed start.
const WAKE_NS: u64 = 500_000;
/// Interval at which the parent checks for signals and dead children.
const LOOK_NS: u64 = 50_000_000;

/// Executes the jobs of one phase, each with its process. `flows`: state shared by the flow workers.
pub(crate) fn run(
    phase: &Phase,
    jobs: Vec<(Isolation, u32, Job<'_>)>,
    flows: Option<&Setting>,
    clock: Clock,
    (log_entries, call_entries): (usize, usize),
    moments: &mut dyn Moments,
) -> Result<(Repetition, Option<Calls>), EngineError> {
    let count = jobs.len();
    let parent = std::process::id();
    let shared = Shared::new(count, log_entries)?.with_calls(call_entries)?;
    let alone = phase.stop.failed == fathom_workload::Failed::Worker;
    shared.control().fail_alone.store(u32::from(alone), Ordering::Relaxed);
    let crews = crews_of(jobs);
    let _stop = StopOnSignal::new(&shared.control().stop);
    let mut repetition = Repetition::default();
    let mut names: Vec<WorkerNames> = vec![WorkerNames::default(); count];
    for job in crews.iter().flat_map(|c| &c.jobs) {
        let (group, path) = job.name();
        let paths = job.stream().and_then(|plan| plan.pool.as_ref()).map_or(&[][..], |p| p.paths);
        names[job.index()] = WorkerNames { group, path, paths };
    }
    allow_open_files(crews.iter().flat_map(|c| &c.jobs));
    std::thread::scope(|scope| -> Result<(), EngineError> {
        let mut children = Children::default();
        // Dropped before the children and before the scope waits for the threads.
        let _let_go = LetGo(&shared);
        // Fork the processes first: a fork is cheaper before the threads exist.
        let (processes, threads): (Vec<_>, Vec<_>) = crews.iter().partition(|c| c.own_process);
        for crew in processes {
            children.start(crew, &shared, clock)?;
        }
        for job in threads.iter().flat_map(|c| &c.jobs) {
            let shared = &shared;
            let run = move || {
                if count == 1 && makes_its_own_calls(job) {
                    own_file_table();
                }
                work(job, shared, clock, false)
            };
            let started = worker_thread(parent).spawn_scoped(scope, run);
            if let Err(error) = started {
                abandon(shared, &mut children);
                return Err(EngineError::system("start a thread", error));
            }
        }
        let released = release(phase, &shared, &mut children, count, clock, moments);
        let mut watch = Watch::new(phase, &shared, flows, count, clock, &released);
        watch.until_clocks_stop(&mut children, moments);
        moments.clocks_stopped();
        shared.control().seen.store(1, Ordering::Release);
        wake_all(&shared.control().seen);
        watch.until_done(&mut children, moments);
        children.reap();
        let by_worker = watch.record(&mut repetition);
        repetition.elapsed_ns = clock.between(released.last, clock.now());
        collect::collect(&shared, flows, &children, &names, clock, released.first, &mut repetition);
        if let Some(by_worker) = by_worker {
            by_worker.record(&mut repetition.workers);
        }
        Ok(())
    })?;
    let path_of =
        |worker: usize, set: usize, file: usize| match flows.and_then(|f| f.path_of(worker, set, file)) {
            Some(path) => Some(path),
            None => names.get(worker).map(|n| n.paths.get(file).unwrap_or(&n.path).clone()),
        };
    let calls = shared.calls().map(|log| log.read(clock, path_of));
    Ok((repetition, calls))
}

/// Groups plans by process. Mapped files always get separate processes: a full file system raises SIGBUS there.
fn crews_of(jobs: Vec<(Isolation, u32, Job<'_>)>) -> Vec<Crew<'_>> {
    let mut crews: Vec<Crew> = Vec::new();
    let mut by_process: BTreeMap<u32, usize> = BTreeMap::new();
    for (isolation, process, job) in jobs {
        let mapped = matches!(&job, Job::Stream(p) if matches!(p.stream.backend, fathom_workload::Backend::Mmap { .. }));
        if mapped || isolation == Isolation::Thread {
            crews.push(Crew { own_process: mapped, jobs: vec![job] });
        } else if let Some(&at) = by_process.get(&process) {
            crews[at].jobs.push(job);
        } else {
            by_process.insert(process, crews.len());
            crews.push(Crew { own_process: true, jobs: vec![job] });
        }
    }
    crews
}

/// Time that workers have after a signal; they leave at their next operation.
const PATIENCE_NS: u64 = 1_500_000_000;
/// Time for killed processes to disappear.
const DEATH_NS: u64 = 250_000_000;

/// In place of a signal number: killed by this process itself.
pub(super) const BY_US: i32 = -1;

/// Child processes and the workers in each.
#[derive(Default)]
struct Children {
    alive: Vec<(libc::pid_t, Vec<usize>)>,
    /// Workers whose process was killed, and the signal.
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
                self.alive.push((pid, crew.jobs.iter().map(Job::index).collect()));
                Ok(())
            }
        }
    }

    /// Collects dead children without blocking. Returns the number of workers lost because they were killed.
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
                    self.killed.entry(w).or_insert(signal);
                    // No other worker may wait for it.
                    shared.live(w).progress.store(AWAY, Ordering::Release);
                    lost += 1;
                }
            }
            false
        });
        lost
    }

    /// Kills children that do not end `waited_ns` after a signal, and finally this process, as its threads end only with it.
    fn press(&mut self, waited_ns: u64, moments: &mut dyn Moments) {
        if waited_ns > PATIENCE_NS {
            self.kill();
        }
        if waited_ns > PATIENCE_NS + DEATH_NS {
            moments.gives_up();
            // SAFETY: ends the process without waiting for its threads.
            unsafe { libc::_exit(128 + interrupted_by().unwrap_or(0)) };
        }
    }

    fn kill(&mut self) {
        for (pid, workers) in &self.alive {
            self.killed.extend(workers.iter().map(|&w| (w, BY_US)));
            // SAFETY: our own child, not yet waited for, so the pid is still valid.
            unsafe { libc::kill(*pid, libc::SIGKILL) };
        }
    }

    /// Waits for all remaining children.
    fn reap(&mut self) {
        for (pid, workers) in self.alive.drain(..) {
            let mut status = 0;
            // SAFETY: waits for our own child. EINTR (a signal to us) is retried.
            while unsafe { libc::waitpid(pid, &raw mut status, 0) } == -1
                && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
            {}
            if libc::WIFSIGNALED(status) {
                for w in workers {
                    self.killed.entry(w).or_insert(libc::WTERMSIG(status));
                }
            }
        }
    }
}

impl Drop for Children {
    /// Children remain only after a panic.
    fn drop(&mut self) {
        self.reap();
    }
}

/// Releases the workers when the parent panics: otherwise they would wait for it forever, and the panic would hang the program.
struct LetGo<'a>(&'a Shared);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let_go(self.0);
        }
    }
}

/// Ends the phase for all workers, including those that wait for its start.
fn let_go(shared: &Shared) {
    let control = shared.control();
    control.stop.store(STOP_INTERRUPT, Ordering::Release);
    control.go.store(1, Ordering::Release);
    wake_all(&control.go);
    control.seen.store(1, Ordering::Release);
    wake_all(&control.seen);
}

/// A worker could not be started: the started ones are let go without doing anything.
fn abandon(shared: &Shared, children: &mut Children) {
    let_go(shared);
    children.reap();
}

/// A worker thread of the process `me`, with the name by which block layer tracing finds it.
fn worker_thread(me: u32) -> std::thread::Builder {
    std::thread::Builder::new().name(measured_threads_name(me))
}

/// Whether the worker's thread alone uses its files; POSIX AIO has helper threads.
fn makes_its_own_calls(job: &Job<'_>) -> bool {
    job.stream().is_some_and(|p| !p.stream.backend.is_asynchronous() && p.stream.queue_depth <= 1)
}

/// Gives the calling thread its own file table, shown as /proc/thread-self. The calls of a lone worker then need no reference counts on
/// its file, as in a process with one thread: 5 % of a cached 4 KiB read.
fn own_file_table() {
    // SAFETY: what the worker uses of its parent was opened before and stays open, and no other thread uses what the worker opens.
    let _ = unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FILES) };
}

/// The child process: its workers and nothing else.
fn child(crew: &Crew, shared: &Shared, clock: Clock, parent: u32) -> ! {
    // SAFETY: plain prctl; getppid detects a parent that died before it took effect.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() as u32 != parent {
            libc::_exit(0);
        }
    }
    let worker = |job: &Job| work(job, shared, clock, true);
    match crew.jobs.as_slice() {
        [only] => worker(only),
        // The parent reports workers that ended without a result.
        several => threads::in_threads(several, &measured_threads_name(parent), &worker),
    }
    // SAFETY: ends the child without running the parent's exit handlers or flushing its buffers.
    unsafe { libc::_exit(0) }
}

/// When the workers were released, in ticks.
struct Released {
    first: u64,
    last: u64,
    /// Workers that died before the release.
    lost: usize,
}

/// Hooks at points of a phase where the caller may want to read counters. The phase waits while the first and the last hook run.
pub trait Moments {
    /// Every worker is prepared (files open, earlier dirty pages written back if requested); the clocks start right after.
    fn ready(&mut self) {}
    /// Release time, ns of CLOCK_MONOTONIC, if workers on other hosts are released at that time, too. Called once, right after
    /// [`Moments::ready`]; with `None` they are released as soon as all can be awake.
    fn release_at(&mut self) -> Option<u64> {
        None
    }
    /// Whether a cooperating worker outside this engine has ended the counting of all (the stop `first_done`). `here`: one of
    /// this engine has.
    fn first_done(&mut self, _here: bool) -> bool {
        false
    }
    /// The parent wakes at least this often, ns.
    fn look_every_ns(&self) -> u64 {
        LOOK_NS
    }
    /// After a warm-up: the first worker now counts, and the others do or will soon. Called within a millisecond, while the
    /// workers continue; not called for phases without a warm-up.
    fn counting(&mut self) {}
    /// The parent woke to check its workers: at least every 50 ms, from the start until the last worker is done. Slow sampling
    /// can be done here without a thread.
    fn look(&mut self) {}
    /// Whether to call [`Moments::state`] now.
    fn wants_state(&mut self) -> bool {
        false
    }
    /// What every worker has counted so far, while they continue.
    fn state(&mut self, _so_far: Repetition) {}
    /// An interval of the series is over. Called as soon as the parent has noticed, while the workers continue.
    fn interval(&mut self, _interval: &fathom_record::Interval) {}
    /// Whether to call [`Moments::rows`].
    fn wants_rows(&self) -> bool {
        false
    }
    /// Counts of every operation of every counting worker's flow up to the end of an interval, in nanoseconds since counting
    /// began. Called right after [`Moments::interval`].
    fn rows(&mut self, _counted_ns: u64, _rows: Vec<fathom_record::Row>) {}
    /// A flow has a message for the user. Called soon after, while the phase runs.
    fn said(&mut self, _said: &Said<'_>) {}
    /// Seconds after a signal, some workers are still in calls that do not return and would end only with this process, which is
    /// about to exit.
    fn gives_up(&mut self) {}
    /// The last worker's clock has stopped; its work outside the clock has not begun.
    fn clocks_stopped(&mut self) {}
}

impl Moments for () {}

/// Waits until all are prepared, then releases them at one agreed time or staggered.
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
    // A worker may hang in an open or an fsync before the start: after a signal, wait for it this long.
    let mut interrupted_at = None;
    loop {
        let ready = control.ready.load(Ordering::Acquire);
        if ready as usize + lost >= count {
            break;
        }
        futex_wait(&control.ready, ready, LOOK_NS);
        lost += children.look(shared);
        if interrupted_by().is_some() {
            let now = clock.now();
            let since = *interrupted_at.get_or_insert(now);
            children.press(clock.between(since, now), moments);
        }
    }
    moments.ready();
    if lost > 0 {
        control.stop.store(STOP_INTERRUPT, Ordering::Release);
    }
    let lead = if count > 1 { clock.ticks(WAKE_NS) } else { 0 };
    let first = match moments.release_at() {
        Some(agreed_ns) => clock.at_monotonic(agreed_ns),
        None => clock.now() + lead,
    };
    let stagger = clock.ticks(phase.stagger.0);
    let groups = phase.groups.iter();
    let delays = groups.flat_map(|g| crate::layout::instances(g).map(move |_| g.times.delay.0));
    let delays: Vec<u64> = delays.chain(std::iter::repeat(0)).take(count).collect();
    for (worker, delay_ns) in delays.into_iter().enumerate() {
        let start = first + stagger * worker as u64 + clock.ticks(delay_ns);
        shared.live(worker).start_at.store(start, Ordering::Release);
    }
    control.go.store(1, Ordering::Release);
    wake_all(&control.go);
    // A staggered worker is not late.
    Released { first, last: first + stagger * (count as u64).saturating_sub(1), lost }
}
