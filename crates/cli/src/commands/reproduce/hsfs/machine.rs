//! Readers, the reader core and the drive in virtual time. The core is the one of the mount (crate isofs), unchanged;
//! this adds a clock, the readers' threads (a thread that waits for a requested page also carries out work for others)
//! and the read-ahead pool.

use super::host::Host;
use super::reading::{REQUEST_NS, Reader, Requests, WINDOW_NS, WINDOW_PAGES, cpu_ns};
use fathom_iopath::Nanos;
use fathom_isofs::reader::{Call, Core, Job, PagePosition, Policy, Work};
use fathom_sim::SimError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Delay from a page's arrival, or new work for the pool, until a thread runs.
const WAKE_NS: u64 = 50_000;

/// Issuer of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Reader,
    Helper(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wake {
    Reader(usize),
    Helper(usize),
    Driver(u32),
    Elevator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HelperState {
    Idle,
    Called,
    Busy,
}

/// A thread of the pool.
#[derive(Clone, Copy, Debug)]
struct Helper {
    state: HelperState,
    /// Its requests in the driver.
    under_way: u32,
}

/// A request being carried out.
struct Carried {
    job: Job,
    by: By,
    byte: u64,
    bytes: u64,
}

/// A reader and its position in the current call.
struct Task<'r> {
    reader: &'r mut dyn Reader,
    call: Option<Call>,
    standing: Option<PagePosition>,
    /// The current call had to request a page.
    missed: bool,
    asleep: bool,
    /// The call has finished except for its CPU time.
    ending: bool,
    began_ns: u64,
    bytes: u64,
    /// Pages copied since CPU time was last charged, and the time charged to the call so far.
    copied: u32,
    taken_ns: u64,
}

pub(super) struct Machine {
    pub core: Core,
    pub host: Host,
    pub requests: Requests,
    now: u64,
    events: BinaryHeap<Reverse<(u64, u64, Wake)>>,
    order: u64,
    jobs: Vec<Option<Carried>>,
    free: Vec<u32>,
    helpers: Vec<Helper>,
    done: Vec<u32>,
    /// When the only reader last began a pass, and after how many commands.
    pass: Option<(u64, u64)>,
}

impl Machine {
    /// An idle laptop with a disc just mounted under a policy.
    pub(super) fn new(policy: &Policy, interval_ns: u64) -> Result<Self, SimError> {
        let host = Host::new(interval_ns)?;
        let core = Core::new(policy, 2048, host.medium_bytes());
        Ok(Self {
            core: core.map_err(|e| SimError::Unsupported(e.to_string()))?,
            host,
            requests: Requests::default(),
            now: 0,
            events: BinaryHeap::new(),
            order: 0,
            jobs: Vec::new(),
            free: Vec::new(),
            helpers: vec![Helper { state: HelperState::Idle, under_way: 0 }; policy.workers as usize],
            done: Vec::new(),
            pass: None,
        })
    }

    /// Runs the readers until they have nothing left to read, or until `until_ns`; requests in flight then are dropped.
    pub(super) fn run(&mut self, readers: Vec<&mut dyn Reader>, until_ns: u64) {
        let mut tasks: Vec<Task<'_>> = Vec::with_capacity(readers.len());
        for reader in readers {
            tasks.push(Task {
                reader,
                call: None,
                standing: None,
                missed: false,
                asleep: false,
                ending: false,
                began_ns: 0,
                bytes: 0,
                copied: 0,
                taken_ns: 0,
            });
        }
        for at in 0..tasks.len() {
            self.wake(0, Wake::Reader(at));
        }
        loop {
            let device = self.host.next_event();
            let event = self.events.peek().map(|Reverse(event)| event.0);
            let Some(at) = device.into_iter().chain(event).min() else { break };
            if at.max(self.now) >= until_ns {
                break;
            }
            self.now = self.now.max(at);
            if device == Some(at) {
                self.arrived(&mut tasks);
                continue;
            }
            let Some(Reverse((.., wake))) = self.events.pop() else { break };
            match wake {
                Wake::Reader(at) => {
                    let alone = tasks.len() == 1;
                    self.go_on(at, &mut tasks[at], alone.then_some(until_ns));
                }
                Wake::Helper(at) => self.help(at),
                Wake::Driver(tag) => {
                    if let Some(of) = &self.jobs[tag as usize] {
                        self.host.submit(self.now, tag, of.byte, of.bytes);
                    }
                }
                Wake::Elevator => self.work(By::Reader),
            }
        }
    }

    fn wake(&mut self, after_ns: u64, wake: Wake) {
        self.events.push(Reverse((self.now + after_ns, self.order, wake)));
        self.order += 1;
    }

    /// Advances a reader as far as possible.
    fn go_on(&mut self, at: usize, task: &mut Task<'_>, until_ns: Option<u64>) {
        if std::mem::take(&mut task.ending) {
            task.reader.done(task.began_ns, self.now);
        }
        loop {
            if let (Some(standing), Some(call)) = (&task.standing, &task.call) {
                if task.missed && self.core.is_pending(standing) {
                    self.work(By::Reader);
                }
                if self.core.is_pending(standing) {
                    task.asleep = true;
                    return;
                }
                if let Some(standing) = task.standing.take() {
                    self.core.release(call, standing);
                    task.copied += 1;
                }
                if task.copied == WINDOW_PAGES {
                    // Lets other readers run while a window is copied; otherwise a stream would always come first.
                    task.copied = 0;
                    task.taken_ns += WINDOW_NS;
                    return self.wake(WINDOW_NS, Wake::Reader(at));
                }
            }
            if let Some(call) = &mut task.call {
                let before = self.core.waiting().0;
                task.standing = self.core.touch(Nanos(self.now), call);
                if let Some(standing) = &task.standing {
                    task.missed |= standing.missed();
                    if !standing.missed() && self.core.waiting().0 > before {
                        self.call_pool();
                    }
                    continue;
                }
                if let Some(call) = task.call.take() {
                    self.core.end(call);
                }
                task.ending = true;
                let left_ns = cpu_ns(task.bytes).saturating_sub(task.taken_ns);
                return self.wake(left_ns, Wake::Reader(at));
            }
            let Some(read) = task.reader.next(&mut self.core) else { return };
            if let Some(until_ns) = until_ns.filter(|_| read.restarts) {
                self.repeat_passes(task.reader, until_ns);
            }
            (task.began_ns, task.bytes, task.missed) = (self.now, read.bytes, false);
            (task.copied, task.taken_ns) = (0, 0);
            task.call = self.core.begin(read.stream, read.offset, read.bytes);
            if task.call.is_none() {
                return; // nothing is open under that name: the reader ends
            }
        }
    }

    /// A pass without commands to the driver repeats identically, so further ones are counted, not simulated.
    fn repeat_passes(&mut self, reader: &mut dyn Reader, until_ns: u64) {
        let submitted = self.host.submitted();
        let before = self.pass.replace((self.now, submitted));
        let Some((then_ns, then)) = before.filter(|before| before.0 < self.now) else { return };
        if then == submitted && until_ns < u64::MAX {
            let pass_ns = self.now - then_ns;
            let passes = until_ns.saturating_sub(self.now) / pass_ns;
            reader.repeat(passes);
            self.now += passes * pass_ns;
            self.pass = None;
        }
    }

    /// The strategy routine: sends everything the elevator dispatches to the driver.
    fn work(&mut self, by: By) {
        let mut spent_ns = 0;
        loop {
            match self.core.work(Nanos(self.now)) {
                Work::Job(job) => {
                    spent_ns += REQUEST_NS;
                    self.carry_out(job, by, spent_ns);
                }
                Work::Nothing => return,
                Work::NotBefore(until) => {
                    return self.wake(until.0.saturating_sub(self.now), Wake::Elevator);
                }
            }
        }
    }

    fn carry_out(&mut self, mut job: Job, by: By, after_ns: u64) {
        let (byte, bytes) = (job.byte(), job.bytes());
        job.discard();
        let sizes = match by {
            By::Reader => &mut self.requests.by_readers,
            By::Helper(at) => {
                self.helpers[at].under_way += 1;
                &mut self.requests.by_pool
            }
        };
        *sizes.entry(bytes).or_default() += 1;
        let tag = self.free.pop().unwrap_or_else(|| {
            self.jobs.push(None);
            u32::try_from(self.jobs.len() - 1).unwrap_or(u32::MAX)
        });
        self.jobs[tag as usize] = Some(Carried { job, by, byte, bytes });
        self.wake(after_ns, Wake::Driver(tag));
    }

    /// Handles an event of the drive.
    fn arrived(&mut self, tasks: &mut [Task<'_>]) {
        let mut done = std::mem::take(&mut self.done);
        self.host.advance(self.now, &mut done);
        if done.is_empty() {
            self.done = done;
            return;
        }
        for tag in done.drain(..) {
            let Some(Carried { job, by, .. }) = self.jobs[tag as usize].take() else { continue };
            self.free.push(tag);
            self.core.complete(Nanos(self.now), job, 0, None);
            if let By::Helper(at) = by {
                self.helpers[at].under_way -= 1;
            }
        }
        self.done = done;
        // Readers waiting for the lock or for a device slot retry.
        let left = self.core.waiting().0 > 0;
        let mut somebody = false;
        for (at, task) in tasks.iter_mut().enumerate().filter(|(_, task)| task.asleep) {
            let there = task.standing.as_ref().is_none_or(|standing| !self.core.is_pending(standing));
            if there || (left && task.missed) {
                somebody |= left && task.missed;
                task.asleep = false;
                self.wake(WAKE_NS, Wake::Reader(at));
            }
        }
        for at in 0..self.helpers.len() {
            let helper = self.helpers[at];
            somebody |= helper.state == HelperState::Called;
            if helper.state == HelperState::Busy && (left || helper.under_way == 0) {
                somebody = true;
                self.helpers[at].state = HelperState::Called;
                self.wake(WAKE_NS, Wake::Helper(at));
            }
        }
        if left && !somebody {
            self.call_pool();
        }
    }

    /// Wakes the pool to read ahead.
    fn call_pool(&mut self) {
        match self.helpers.iter().position(|helper| helper.state == HelperState::Idle) {
            Some(at) => {
                self.helpers[at].state = HelperState::Called;
                self.wake(WAKE_NS, Wake::Helper(at));
            }
            None if self.helpers.is_empty() => self.work(By::Reader),
            None => {} // those that are at work look again when a request is done
        }
    }

    /// A pool thread runs the strategy until its requests are done and nothing is left to dispatch.
    fn help(&mut self, at: usize) {
        self.work(By::Helper(at));
        let idle = self.helpers[at].under_way == 0 && self.core.waiting().0 == 0;
        self.helpers[at].state = if idle { HelperState::Idle } else { HelperState::Busy };
    }
}
