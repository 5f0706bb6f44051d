//! The rules of a queue under a host's kernel: pools, plugs and clock tick, whether a workload or a trace is simulated.

use super::{Host, QueueRules};
use fathom_iopath::{Hz, Limits, Rules};

impl Host {
    /// Pools, plugs and clock tick of its kernel, before a device that takes `depth` commands at once.
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
}
