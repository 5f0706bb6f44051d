//! Queue rules of a host's kernel (pools, plugs, clock tick), for workloads and traces.

use super::{Host, QueueRules};
use crate::sources::{Tally, Uncertain};
use fathom_iopath::{Hz, Limits, Rules};

impl Host {
    /// Keys of the values that determine its queue: all that a replay takes from a host.
    pub const OF_QUEUE: [&'static str; 3] = ["block.queue", "block.requests", "cpu.hz"];

    /// Pools, plugs and clock tick of its kernel, for a device that takes `depth` commands at once.
    #[must_use]
    pub fn queue_rules(&self, limits: Limits, depth: u32) -> Rules {
        let rules = match self.block.queue.get() {
            QueueRules::Linux24 => Rules::linux24(limits),
            QueueRules::Linux26 if depth > 1 => Rules::linux26(limits).parking(),
            QueueRules::Linux26 => Rules::linux26(limits),
            QueueRules::Today => Rules::today(limits, depth),
            QueueRules::Gathered => Rules::bare(limits).gathering(),
            QueueRules::Bare => Rules::bare(limits),
        };
        let rules = rules.with_hz(Hz::new(self.cpu.hz.get()));
        match self.block.requests.get() {
            0 => rules,
            requests => rules.with_requests(requests),
        }
    }

    /// Sources of the values that determine the queue, and the uncertain ones among them.
    #[must_use]
    pub fn queue_sources(&self) -> (Tally, Uncertain) {
        let (mut tally, mut uncertain) = (Tally::default(), Uncertain::default());
        let sources = [self.block.queue.src, self.block.requests.src, self.cpu.hz.src];
        for (name, src) in Self::OF_QUEUE.into_iter().zip(sources) {
            tally.count(src);
            uncertain.note(name, src);
        }
        (tally, uncertain)
    }
}
