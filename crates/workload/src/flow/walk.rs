//! The way through the steps of a program: which operation comes next.

use super::numbers::Numbers;
use super::program::{Program, Step};
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The operation of this number.
    Do(usize),
    /// A sequence begins anew: a moment to see whether the phase goes on, as nothing in it may count.
    Again,
    /// The program has been gone through once.
    Through,
    /// It has been gone through as often as it should.
    Over,
}

/// Where a thread is in its program.
#[derive(Clone, Debug)]
pub struct Walk {
    at: usize,
    /// Repeats of the operation at hand that are still to come, and which it is.
    left: u64,
    op: usize,
    counters: Vec<u64>,
    loops: Option<u64>,
}

impl Walk {
    /// At the beginning of a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        Self { at: 0, left: 0, op: 0, counters: vec![0; program.counters], loops: program.loops }
    }

    /// The next turn. How often an operation is repeated is drawn when it comes.
    #[inline(always)]
    pub fn next<A: Deref<Target = [AtomicU64]>>(
        &mut self,
        program: &Program,
        numbers: &mut Numbers<'_, A>,
    ) -> Turn {
        if self.left > 0 {
            self.left -= 1;
            return Turn::Do(self.op);
        }
        self.step(program, numbers)
    }

    fn step<A: Deref<Target = [AtomicU64]>>(
        &mut self,
        program: &Program,
        numbers: &mut Numbers<'_, A>,
    ) -> Turn {
        if self.at == 0 && self.loops == Some(0) {
            return Turn::Over;
        }
        while let Some(step) = program.steps.get(self.at) {
            self.at += 1;
            match *step {
                Step::Do { op, repeat } => {
                    let repeat = numbers.of(repeat);
                    if repeat > 0 {
                        (self.op, self.left) = (op, repeat - 1);
                        return Turn::Do(op);
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
                        return Turn::Again;
                    }
                }
            }
        }
        self.at = 0;
        self.loops = self.loops.map(|n| n - 1);
        Turn::Through
    }
}
