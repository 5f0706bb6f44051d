//! Bios that the kernel merged or made requests of: compares the model's decision, then makes the model follow the kernel.

use super::{Agreement, Choice, MOST_UNDECIDED};
use crate::bio::{Bio, Op};
use crate::merge::MergeKind;
use crate::queue::Submitted;
use crate::request::{Request, RequestId, Stage};
use crate::time::Nanos;

const PAGE_SECTORS: u64 = 8;

/// A bio that only one of kernel and model merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeMiss {
    /// Operation.
    pub op: Op,
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// Whether the kernel merged it.
    pub kernel: bool,
    /// The waiting request that it touches; of several, the one that the model, or else the kernel, merged it with.
    pub with: Option<Choice>,
}

impl Agreement {
    pub(super) fn arrived(&mut self, bio: Bio) {
        if self.undecided.len() == MOST_UNDECIDED {
            self.undecided.remove(0);
            self.counts.lost += 1;
        }
        self.undecided.push(bio);
    }

    pub(super) fn split(&mut self, sector: u64, first: u32) {
        let its = |bio: &Bio| bio.sector() == sector && bio.sectors() > first;
        let Some(at) = self.undecided.iter().position(its) else {
            self.counts.lost += 1;
            return;
        };
        let whole = self.undecided[at];
        let part = |sector, sectors| {
            let bio = Bio::new(whole.op(), sector, sectors).by(whole.task()).on(whole.cpu());
            if whole.is_sync() { bio.sync() } else { bio }
        };
        self.undecided[at] = part(sector, first);
        self.undecided.push(part(sector + u64::from(first), whole.sectors() - first));
    }

    /// The kernel has added a bio to a request. Some recorders write the same event when a request became the tail of another.
    pub(super) fn merged(&mut self, now: Nanos, sector: u64, kind: MergeKind) -> Option<MergeMiss> {
        if self.undecided.iter().all(|bio| bio.sector() != sector) {
            let plugged =
                [Op::Read, Op::Write, Op::Discard].into_iter().find(|&op| self.plugged(op, sector).is_some());
            if let Some(op) = plugged {
                self.inserted(now, op, sector, true);
                return None;
            }
        }
        self.counts.kernel_merges += 1;
        self.decided(now, sector, Some(kind))
    }

    /// The kernel's decision on a bio: merged into a request, or a new one.
    pub(super) fn decided(
        &mut self,
        now: Nanos,
        sector: u64,
        kernel: Option<MergeKind>,
    ) -> Option<MergeMiss> {
        let Some(at) = self.undecided.iter().position(|bio| bio.sector() == sector) else {
            self.counts.lost += 1;
            return None;
        };
        let bio = self.undecided.remove(at);
        if self.flushing.take_if(|task| *task == bio.task()).is_some() {
            self.queue.finish_plug(now, bio.task());
        }
        // A request that the kernel still adds to is not parked.
        let parked = self.queue.parked().and_then(|id| self.queue.request(id));
        if kernel.is_some()
            && parked.is_some_and(|request| request.end() == sector || bio.end() == request.sector())
        {
            self.queue.unpark(now);
        }
        if self.holds_back {
            self.queue.start_plug(bio.task());
        }
        let model = self.asked(now, &bio, kernel.is_none());
        self.counts.model_merges += u64::from(model.is_some());
        let touched = self.touching(&bio, kernel);
        let with = model.or(touched).and_then(|id| self.choice(now, id));
        let became = match (model, kernel) {
            (Some(_), None) => self.queue.submit_apart(now, bio),
            (None, Some(kind)) => self.queue.submit_to(now, bio, touched, kind),
            _ => self.queue.submit(now, bio),
        };
        self.counts.lost += u64::from(matches!(became, Submitted::Full | Submitted::TooLarge));
        self.park(now);
        let differs = model.is_some() != kernel.is_some();
        self.counts.merges_differ += u64::from(differs);
        let (op, sectors) = (bio.op(), bio.sectors());
        differs.then_some(MergeMiss { op, sector, sectors, kernel: kernel.is_some(), with })
    }

    /// The request that the model would add a bio to. Where the kernel did not, and only the number of segments can be the reason, the
    /// model learns that the request is full.
    fn asked(&mut self, now: Nanos, bio: &Bio, kernel_did_not: bool) -> Option<RequestId> {
        self.touching(bio, None)?;
        let mut is_explained = false;
        let merged = loop {
            // Asking changes the queue's state, so ask a clone.
            let Submitted::Merged { request, .. } = self.queue.clone().submit(now, *bio) else { break None };
            if !kernel_did_not || !self.may_be_full(request, bio) || !self.queue.fill(request) {
                break Some(request);
            }
            is_explained = true;
        };
        self.counts.merges_told += u64::from(is_explained && merged.is_none());
        merged
    }

    /// Whether request and bio have too many segments if each of their pages is a separate one.
    fn may_be_full(&self, id: RequestId, bio: &Bio) -> bool {
        let data = matches!(bio.op(), Op::Read | Op::Write);
        let sectors = self.queue.request(id).map_or(0, |request| u64::from(request.sectors()));
        let pages = (sectors + u64::from(bio.sectors())).div_ceil(PAGE_SECTORS);
        data && pages > u64::from(self.queue.rules().limits.max_segments)
    }

    /// A request that can still grow and that a bio touches; with a kind, at that end.
    fn touching(&self, bio: &Bio, kind: Option<MergeKind>) -> Option<RequestId> {
        let requests = self.queue.requests();
        let touches = |request: &Request| {
            let grows =
                matches!(request.stage(), Stage::Waiting | Stage::Plugged) && request.op() == bio.op();
            let back = request.end() == bio.sector() && kind != Some(MergeKind::Front);
            let front = bio.end() == request.sector() && kind != Some(MergeKind::Back);
            grows && (back || front)
        };
        let all = requests.iter().filter(|(_, request)| touches(request));
        // Prefer one of the same task.
        all.min_by_key(|(_, request)| request.task() != bio.task()).map(|(slot, _)| requests.id(slot))
    }

    fn choice(&self, now: Nanos, id: RequestId) -> Option<Choice> {
        self.queue.request(id).map(|request| Choice::of(request, now))
    }
}
