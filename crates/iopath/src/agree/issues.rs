//! Requests that the kernel issued and completed: compares the model's choice, then makes the model follow the kernel.

use super::{Agreement, Choice, InDevice, Miss};
use crate::bio::Op;
use crate::queue::Next;
use crate::request::{Request, RequestId};
use crate::time::Nanos;

impl Agreement {
    pub(super) fn issued(&mut self, now: Nanos, op: Op, sector: u64, sectors: u32) -> Option<Miss> {
        if let Some(at) = self.requeued.iter().position(|&its| its == (op, sector)) {
            self.requeued.remove(at);
            return None;
        }
        let direct = self.holds_back && self.plugged(op, sector).is_some();
        // An issued request is no longer held back, whether or not the trace says when that ended.
        self.inserted(now, op, sector, false);
        let Some(holder) = self.holder(op, sector) else {
            self.counts.lost += 1;
            return None;
        };
        if direct {
            self.counts.direct += 1;
            let kernel = Choice { op, sector, sectors, waited: Nanos::ZERO };
            self.head = sector + u64::from(sectors);
            self.follow(now, &kernel, holder);
            return None;
        }
        // Asking changes the queue's state, so ask a clone.
        let mut asked = self.queue.clone();
        let choice = |request: &Request| Choice::of(request, now);
        let model = match asked.next(now, 1) {
            Next::Request(id) => asked.request(id).map(choice),
            Next::Nothing | Next::NotBefore(_) => None,
        };
        let waited = self.queue.request(holder).map_or(Nanos::ZERO, |request| choice(request).waited);
        let kernel = Choice { op, sector, sectors, waited };
        let (waiting, head) = (self.queue.waiting(), self.head);
        let same = model.is_some_and(|m| (m.op, m.sector, m.sectors) == (op, sector, sectors));
        let contested = waiting > 1;
        self.counts.issued += 1;
        self.counts.same += u64::from(same);
        self.counts.contested += u64::from(contested);
        self.counts.contested_same += u64::from(contested && same);
        self.head = sector + u64::from(sectors);
        self.follow(now, &kernel, holder);
        (!same).then_some(Miss { kernel, model, waiting, head })
    }

    /// Follows the kernel's choice. Where the two have merged differently, every model request within the kernel's request is issued.
    fn follow(&mut self, now: Nanos, kernel: &Choice, holder: RequestId) {
        let mut next = Some(holder);
        let end = kernel.sector + u64::from(kernel.sectors);
        while let Some(id) = next {
            let from = self.queue.request(id).map_or(end, Request::end);
            if self.queue.follow(now, id) {
                self.in_device.push(InDevice { id, op: kernel.op, sector: kernel.sector });
            } else {
                self.counts.lost += 1;
            }
            next = (from < end).then(|| self.holder(kernel.op, from)).flatten();
        }
        self.park(now);
    }

    pub(super) fn completed(&mut self, now: Nanos, op: Op, sector: u64) {
        let Self { in_device, queue, .. } = self;
        let before = in_device.len();
        in_device.retain(|its| {
            let is = its.op == op && its.sector == sector;
            if is {
                queue.completed(now, its.id, |_| {});
            }
            !is
        });
        self.counts.lost += u64::from(in_device.len() == before);
    }
}
