//! The op stream of a [`Flow`]: which operation of the list comes next, with every drawn number fixed. Picking files and slots
//! depends on what other threads did and belongs to the executor.

use super::{Place, Sampler, derive_seed};
use crate::{Flow, Value, Workload};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::collections::BTreeMap;

/// Purposes of derived seeds (see order.rs): flows use 100 and up.
const FOR_OFFSETS: u64 = 100;
const FOR_VARIABLES: u64 = 101;

/// The next thing a thread does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowStep {
    /// Position of the operation in the flow.
    pub op: usize,
    /// Bytes per I/O.
    pub size: u64,
    /// Range of random offsets, 0 = the file.
    pub working_set: u64,
    /// Count, bytes, seconds or loops.
    pub value: u64,
    /// Entry to pick, if the operation says which.
    pub entry: Option<u64>,
    /// Uniform in 0..1: where a random offset falls inside its range.
    pub position: f64,
}

/// Iterates over the steps of one thread.
pub struct FlowOps {
    flow: Flow,
    samplers: BTreeMap<String, Sampler>,
    offsets: Xoshiro256PlusPlus,
    at: usize,
    repeats_left: u64,
    loops_left: Option<u64>,
}

impl FlowOps {
    /// The flow's steps for the thread at `place`; `None` if a random variable it uses is impossible.
    #[must_use]
    pub fn new(flow: &Flow, workload: &Workload, place: Place) -> Option<Self> {
        let mut samplers = BTreeMap::new();
        for (i, (name, variable)) in workload.variables.iter().enumerate() {
            let seed = derive_seed(workload.seed.0, place, FOR_VARIABLES + i as u64);
            samplers.insert(name.clone(), Sampler::new(variable, seed)?);
        }
        let offsets = Xoshiro256PlusPlus::seed_from_u64(derive_seed(workload.seed.0, place, FOR_OFFSETS));
        let mut this =
            Self { flow: flow.clone(), samplers, offsets, at: 0, repeats_left: 0, loops_left: flow.loops };
        this.repeats_left = this.repeats_of(0);
        Some(this)
    }

    fn number(&mut self, value: &Value) -> u64 {
        match value {
            Value::Number(n) => u64::from(*n),
            Value::Bytes(b) => b.0,
            Value::Variable { variable } => self.samplers.get_mut(variable).map_or(0, Sampler::draw_u64),
        }
    }

    fn repeats_of(&mut self, at: usize) -> u64 {
        match self.flow.ops.get(at).map(|op| op.repeat.clone()) {
            Some(repeat) => self.number(&repeat),
            None => 0,
        }
    }

    /// The next step; `None` when the loops are done, or if a whole loop repeats nothing.
    #[expect(clippy::should_implement_trait, reason = "same name as StreamOps::next")]
    pub fn next(&mut self) -> Option<FlowStep> {
        let mut skipped = 0;
        loop {
            if self.loops_left == Some(0) || skipped > self.flow.ops.len() {
                return None;
            }
            if self.repeats_left > 0 {
                self.repeats_left -= 1;
                return Some(self.step());
            }
            skipped += 1;
            self.at += 1;
            if self.at >= self.flow.ops.len() {
                self.at = 0;
                self.loops_left = self.loops_left.map(|n| n - 1);
            }
            self.repeats_left = self.repeats_of(self.at);
        }
    }

    fn step(&mut self) -> FlowStep {
        let op = self.flow.ops[self.at].clone();
        FlowStep {
            op: self.at,
            size: self.number(&op.size),
            working_set: self.number(&op.working_set),
            value: self.number(&op.value),
            entry: op.entry.as_ref().map(|e| self.number(e)),
            position: if op.random {
                (self.offsets.next_u64() >> 11) as f64 / (1u64 << 53) as f64
            } else {
                0.0
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload() -> (Workload, Flow) {
        let text = r#"
            name = "t"
            seed = 3
            [variables.size]
            shape = { uniform = { low = 1.0, high = 100.0 } }
            [[fileset]]
            name = "f"
            files = { list = ["x"] }
            [[phase]]
            name = "p"
            [[phase.group]]
            name = "g"
            [[phase.group.thread]]
            [phase.group.thread.program.flow]
            loops = 2
            [[phase.group.thread.program.flow.op]]
            name = "a"
            act = "read"
            size = { variable = "size" }
            random = true
            repeat = 3
            [[phase.group.thread.program.flow.op]]
            name = "b"
            act = "write"
            size = "8KiB"
        "#;
        let w = Workload::from_toml(text).unwrap();
        let flow = match &w.phases[0].groups[0].threads[0].program {
            crate::Program::Flow(f) => f.clone(),
            crate::Program::Stream(_) => unreachable!("the text holds a flow"),
        };
        (w, flow)
    }

    fn steps(w: &Workload, flow: &Flow, worker: u32) -> Vec<FlowStep> {
        let mut ops = FlowOps::new(flow, w, Place { worker, ..Place::default() }).unwrap();
        std::iter::from_fn(|| ops.next()).collect()
    }

    #[test]
    fn repeats_and_loops_are_obeyed() {
        let (w, flow) = workload();
        let order: Vec<usize> = steps(&w, &flow, 0).iter().map(|s| s.op).collect();
        assert_eq!(order, [0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(steps(&w, &flow, 0)[3].size, 8192);
    }

    #[test]
    fn the_same_place_draws_the_same_numbers_and_another_place_others() {
        let (w, flow) = workload();
        assert_eq!(steps(&w, &flow, 0), steps(&w, &flow, 0));
        assert_ne!(steps(&w, &flow, 0), steps(&w, &flow, 1));
    }

    #[test]
    fn a_loop_that_repeats_nothing_ends() {
        let (w, mut flow) = workload();
        for op in &mut flow.ops {
            op.repeat = Value::Number(0);
        }
        flow.loops = None;
        assert_eq!(steps(&w, &flow, 0), []);
    }
}
