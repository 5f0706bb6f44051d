//! The path through the steps of a program: which operation comes next.

use super::numbers::Numbers;
use super::program::{FlatProgram, Step};
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

/// The next action of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Execute the operation with this index.
    Do(usize),
    /// A sequence repeats: check whether the phase goes on, as a sequence may contain nothing that counts.
    Again,
    /// One pass through the program is complete.
    Through,
    /// All passes are complete.
    Over,
}

/// A thread's position in its program.
#[derive(Clone, Debug)]
pub struct Walk {
    at: usize,
    /// Repeats of the current operation still to come, and its index.
    left: u64,
    op: usize,
    counters: Vec<u64>,
    loops: Option<u64>,
}

impl Walk {
    /// At the beginning of a program.
    #[must_use]
    pub fn new(program: &FlatProgram) -> Self {
        Self { at: 0, left: 0, op: 0, counters: vec![0; program.counters], loops: program.loops }
    }

    /// The next turn. The repeat count of an operation is drawn when it comes.
    #[inline(always)]
    pub fn next<A: Deref<Target = [AtomicU64]>>(
        &mut self,
        program: &FlatProgram,
        numbers: &mut Numbers<'_, A>,
    ) -> NextStep {
        if self.left > 0 {
            self.left -= 1;
            return NextStep::Do(self.op);
        }
        self.step(program, numbers)
    }

    fn step<A: Deref<Target = [AtomicU64]>>(
        &mut self,
        program: &FlatProgram,
        numbers: &mut Numbers<'_, A>,
    ) -> NextStep {
        if self.at == 0 && self.loops == Some(0) {
            return NextStep::Over;
        }
        while let Some(step) = program.steps.get(self.at) {
            self.at += 1;
            match *step {
                Step::Do { op, repeat } => {
                    let repeat = numbers.of(repeat);
                    if repeat > 0 {
                        (self.op, self.left) = (op, repeat - 1);
                        return NextStep::Do(op);
                    }
                }
                Step::Begin { counter, repeat, end } => {
                    self.counters[counter] = numbers.of(repeat);
                    if self.counters[counter] == 0 {
                        self.at = end + 1;
                    }
                }
                Step::End { counter, begin } => {
                    self.counters[counter] -= 1;
                    if self.counters[counter] > 0 {
                        self.at = begin + 1;
                        return NextStep::Again;
                    }
                }
            }
        }
        self.at = 0;
        self.loops = self.loops.map(|n| n - 1);
        NextStep::Through
    }
}
