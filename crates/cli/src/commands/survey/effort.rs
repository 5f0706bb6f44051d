//! How much time a survey takes, and how it is divided.

use fathom_workload::Duration;

const MS: u64 = 1_000_000;
const GIB: u64 = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortChoice {
    Quick,
    Ordinary,
    Thorough,
}

#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub wish: EffortChoice,
    pub total: std::time::Duration,
    /// How often everything is measured if time permits.
    pub rounds: u32,
    /// Longest phase.
    pub phase: Duration,
    /// Longest cell of a surface.
    pub cell: Duration,
    /// Duration of the long write at the end.
    pub sustained: Duration,
    pub most_streams: u32,
    /// Bytes that may be written.
    pub most_written: u64,
}

impl Effort {
    pub fn of(wish: EffortChoice, cpus: u32) -> Self {
        let most_streams = (cpus * 2).clamp(2, 8);
        let (total, rounds, phase, cell, sustained, most_written) = match wish {
            EffortChoice::Quick => (14, 2, 70 * MS, 30 * MS, 1_500 * MS, GIB),
            EffortChoice::Ordinary => (58, 3, 330 * MS, 70 * MS, 4_000 * MS, 2 * GIB),
            EffortChoice::Thorough => (590, 5, 1_500 * MS, 250 * MS, 120_000 * MS, 64 * GIB),
        };
        Self {
            wish,
            total: std::time::Duration::from_secs(total),
            rounds,
            phase: Duration(phase),
            cell: Duration(cell),
            sustained: Duration(sustained),
            most_streams,
            most_written,
        }
    }

    /// Time per depth, and the number of operations that ends it earlier: a slow or rate-limited device gets the time.
    pub fn depth(&self) -> (Duration, u64) {
        match self.wish {
            EffortChoice::Quick => (Duration(400 * MS), 2_000),
            EffortChoice::Ordinary => (Duration(600 * MS), 20_000),
            EffortChoice::Thorough => (Duration(2_000 * MS), 200_000),
        }
    }

    /// Time for everything but the long write.
    pub fn rounds_time(&self) -> std::time::Duration {
        self.total.saturating_sub(std::time::Duration::from_nanos(self.sustained.0))
    }

    /// Time of the first round, which decides what is measured.
    pub fn first_round(&self) -> std::time::Duration {
        self.rounds_time() / self.rounds
    }

    /// Numbers of streams: all, or powers of two.
    pub fn streams(&self) -> Vec<u32> {
        let all = 1..=self.most_streams;
        if self.wish == EffortChoice::Thorough {
            all.collect()
        } else {
            all.filter(|n| n.is_power_of_two()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_write_leaves_most_of_the_time() {
        for wish in [EffortChoice::Quick, EffortChoice::Ordinary, EffortChoice::Thorough] {
            let effort = Effort::of(wish, 64);
            assert!(effort.rounds_time() * 4 > effort.total * 3, "{effort:?}");
            assert!(
                effort.first_round() > std::time::Duration::from_nanos(effort.phase.0 * 20),
                "{effort:?}"
            );
            assert_eq!(effort.streams()[0], 1);
            assert_eq!(effort.streams().last(), Some(&8));
        }
    }
}
