//! Computing for a given time instead of a call: CPU load beside other streams. The pause between two operations is that of the
//! stream.

use super::{Backend, Handle};
use crate::fault::Fault;
use crate::stream_plan::StreamPlan;
use fathom_workload::Backend as Kind;
use rustix::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Numbers sorted at once: 256 KiB, more than a CPU's first-level cache.
const NUMBERS: usize = 1 << 16;

pub(crate) struct Computing {
    time: Duration,
    /// The numbers to sort; empty: spin without sorting.
    numbers: Vec<u32>,
    random: u64,
}

impl Computing {
    /// Computes for at least the requested time; time in which the CPU ran other tasks counts.
    fn compute(&mut self) {
        let end = Instant::now() + self.time;
        if self.numbers.is_empty() {
            while Instant::now() < end {
                for _ in 0..256 {
                    std::hint::spin_loop();
                }
            }
            return;
        }
        while Instant::now() < end {
            // A linear congruential sequence, as sorted input would take no time.
            for number in &mut self.numbers {
                self.random = self
                    .random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                *number = (self.random >> 32) as u32;
            }
            // In pieces, so that the end time is met closely.
            for piece in self.numbers.chunks_mut(NUMBERS / 16) {
                piece.sort_unstable();
                if Instant::now() >= end {
                    break;
                }
            }
            std::hint::black_box(&self.numbers);
        }
    }
}

impl Handle for Computing {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let (time, sort) = match plan.stream.backend {
            Kind::Compute(compute) => (compute.time.0, compute.sort),
            _ => (0, false),
        };
        let numbers = if sort { vec![0; NUMBERS] } else { Vec::new() };
        Ok(Self { time: Duration::from_nanos(time), numbers, random: plan.seed })
    }

    fn read_now(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        Ok(())
    }

    fn sync(&mut self, _: bool) -> Result<(), Fault> {
        Ok(())
    }

    fn close(self) -> Result<(), Fault> {
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

impl Backend for Computing {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        self.compute();
        Ok(())
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), Fault> {
        self.compute();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_computes_as_long_as_asked() {
        for numbers in [Vec::new(), vec![0; NUMBERS]] {
            let mut computing = Computing { time: Duration::from_millis(3), numbers, random: 1 };
            let from = Instant::now();
            computing.compute();
            assert!(from.elapsed() >= Duration::from_millis(3));
        }
    }
}
