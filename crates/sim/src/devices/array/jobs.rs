//! Work on stripes: a job is a list of stripes to write, several of them in parallel, or a set of reads. Each stripe is read, if its plan
//! requires it, and then written. Two writes to one stripe never overlap, since that would corrupt its parity.

use super::dirty::DestageUnit;
use super::layout::{ArrayLayout, MemberExtent};
use super::members::Members;
use super::plan::{self, StripePlan};
use crate::devices::Command;
use std::collections::VecDeque;

/// Purpose of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// A host read.
    Read(Command),
    /// Commands that bypass the cache: tags and sectors.
    Bypass(Vec<(u32, u32)>),
    /// Write-back of this many sectors from the cache.
    Destage(u64),
}

/// Stripes written with one access to each member, or parts of one stripe.
#[derive(Clone, Debug)]
enum StripeWork {
    Full(u64, u64),
    Part(u64, Vec<(u64, u64)>),
}

impl StripeWork {
    fn stripes(&self) -> std::ops::Range<u64> {
        match self {
            Self::Full(first, count) => *first..first + count,
            Self::Part(stripe, _) => *stripe..stripe + 1,
        }
    }
}

#[derive(Debug)]
struct StripeJob {
    kind: JobKind,
    pieces: VecDeque<StripeWork>,
    at_once: u32,
    running: u32,
}

/// A piece in progress.
#[derive(Debug)]
struct Running {
    job: usize,
    stripes: std::ops::Range<u64>,
    /// Accesses in flight.
    left: u32,
    /// Writes to start once those are done.
    writes: Vec<MemberExtent>,
}

/// All jobs and their pieces.
#[derive(Debug, Default)]
pub struct Jobs {
    jobs: Vec<Option<StripeJob>>,
    running: Vec<Option<Running>>,
    count: usize,
}

fn place<T>(slots: &mut Vec<Option<T>>, value: T) -> usize {
    match slots.iter().position(Option::is_none) {
        Some(at) => {
            slots[at] = Some(value);
            at
        }
        None => {
            slots.push(Some(value));
            slots.len() - 1
        }
    }
}

impl Jobs {
    /// Whether there is no work.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a piece is working on the stripe.
    pub fn is_busy(&self, stripe: u64) -> bool {
        self.running.iter().flatten().any(|running| running.stripes.contains(&stripe))
    }

    /// Starts reads of extents.
    pub fn start_read(&mut self, now: u64, kind: JobKind, extents: &[MemberExtent], members: &mut Members) {
        self.count += 1;
        let job = place(&mut self.jobs, StripeJob { kind, pieces: VecDeque::new(), at_once: 0, running: 1 });
        let left = extents.len() as u32;
        let owner = place(&mut self.running, Running { job, stripes: 0..0, left, writes: Vec::new() });
        for &extent in extents {
            members.ask(now, extent, false, owner as u32);
        }
    }

    /// Queues stripes with their written parts, `at_once` of them in parallel (0: all).
    pub fn start_write(&mut self, kind: JobKind, stripes: VecDeque<(u64, Vec<(u64, u64)>)>, at_once: u32) {
        self.count += 1;
        let pieces = stripes.into_iter().map(|(stripe, runs)| StripeWork::Part(stripe, runs)).collect();
        place(&mut self.jobs, StripeJob { kind, pieces, at_once, running: 0 });
    }

    /// Queues stripes that leave the cache; returns their sectors.
    pub fn start_destage(&mut self, leaving: DestageUnit, stripe_sectors: u64) -> u64 {
        self.count += 1;
        let (piece, sectors) = match leaving {
            DestageUnit::Full(first, count) => (StripeWork::Full(first, count), count * stripe_sectors),
            DestageUnit::Part(stripe, runs) => {
                let sectors = runs.iter().map(|(from, to)| to - from).sum();
                (StripeWork::Part(stripe, runs), sectors)
            }
        };
        let kind = JobKind::Destage(sectors);
        place(&mut self.jobs, StripeJob { kind, pieces: VecDeque::from([piece]), at_once: 1, running: 0 });
        sectors
    }

    /// Starts every piece that may start.
    pub fn go_on(&mut self, now: u64, layout: &ArrayLayout, reconstruct: bool, members: &mut Members) {
        for at in 0..self.jobs.len() {
            while let Some(piece) = self.next_piece(at) {
                let plan = match &piece {
                    StripeWork::Full(first, count) => plan::of_full_stripes(layout, *first, *count),
                    StripeWork::Part(stripe, runs) => plan::of_stripe(layout, *stripe, runs, reconstruct),
                };
                self.begin(now, at, piece.stripes(), plan, members);
            }
        }
    }

    fn next_piece(&mut self, at: usize) -> Option<StripeWork> {
        let job = self.jobs[at].as_ref()?;
        if job.at_once > 0 && job.running >= job.at_once {
            return None;
        }
        let stripes = job.pieces.front()?.stripes();
        if stripes.into_iter().any(|stripe| self.is_busy(stripe)) {
            return None;
        }
        let job = self.jobs[at].as_mut()?;
        job.running += 1;
        job.pieces.pop_front()
    }

    fn begin(
        &mut self,
        now: u64,
        job: usize,
        stripes: std::ops::Range<u64>,
        plan: StripePlan,
        members: &mut Members,
    ) {
        let write_now = plan.reads.is_empty();
        let (first, then) = if write_now { (plan.writes, Vec::new()) } else { (plan.reads, plan.writes) };
        let running = Running { job, stripes, left: first.len() as u32, writes: then };
        let owner = place(&mut self.running, running);
        for extent in first {
            members.ask(now, extent, write_now, owner as u32);
        }
    }

    /// Completes an access; returns the purpose of its job if that was the last access.
    pub fn access_done(&mut self, now: u64, owner: u32, members: &mut Members) -> Option<JobKind> {
        let slot = &mut self.running[owner as usize];
        let running = slot.as_mut()?;
        running.left -= 1;
        if running.left > 0 {
            return None;
        }
        if !running.writes.is_empty() {
            let writes = std::mem::take(&mut running.writes);
            running.left = writes.len() as u32;
            for extent in writes {
                members.ask(now, extent, true, owner);
            }
            return None;
        }
        let job = running.job;
        *slot = None;
        self.piece_done(job)
    }

    fn piece_done(&mut self, at: usize) -> Option<JobKind> {
        let job = self.jobs[at].as_mut()?;
        job.running -= 1;
        if job.running > 0 || !job.pieces.is_empty() {
            return None;
        }
        self.count -= 1;
        self.jobs[at].take().map(|job| job.kind)
    }
}
