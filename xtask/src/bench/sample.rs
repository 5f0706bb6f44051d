//! One measurement of one contender, and where CPU time is read: getrusage of this process (the floor runs inside it) or of the
//! children that have ended.

use anyhow::Result;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// What one operation cost in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub wall_ns: f64,
    /// User and system time; None where it is not known.
    pub cpu_ns: Option<f64>,
}

/// Whose CPU time is meant.
#[derive(Clone, Copy)]
pub enum CpuTimeOf {
    Own,
    Children,
}

/// User and system time so far.
pub fn cpu_ns(whose: CpuTimeOf) -> f64 {
    let who = match whose {
        CpuTimeOf::Own => libc::RUSAGE_SELF,
        CpuTimeOf::Children => libc::RUSAGE_CHILDREN,
    };
    // SAFETY: a zeroed rusage is valid, and the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    };
    let ns = |t: libc::timeval| t.tv_sec as f64 * 1e9 + t.tv_usec as f64 * 1e3;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

/// A child that has ended: what it printed, how long it took from start to exit, and the CPU time of it and its own children.
pub struct Ended {
    pub output: Output,
    pub wall_ns: f64,
    pub cpu_ns: f64,
}

/// Runs a command to its end. No other child may end meanwhile.
pub fn run(command: &mut Command) -> Result<Ended> {
    command.stdin(Stdio::null());
    let cpu_before = cpu_ns(CpuTimeOf::Children);
    let start = Instant::now();
    let output = command.output()?;
    let wall_ns = start.elapsed().as_nanos() as f64;
    Ok(Ended { output, wall_ns, cpu_ns: cpu_ns(CpuTimeOf::Children) - cpu_before })
}

/// CPU time per operation of a peer that only says how many operations it did, or how fast: the share of its life on a CPU, from
/// start to exit, times the wall time per operation it reports. Where start and exit are short this is what its loop took.
pub fn of_whole_life(ended: &Ended, wall_ns: f64) -> Sample {
    Sample { wall_ns, cpu_ns: Some(wall_ns * ended.cpu_ns / ended.wall_ns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_timed_and_its_cpu_time_is_not_more() {
        let ended =
            run(Command::new("sh").args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo x"]))
                .unwrap();
        assert_eq!(ended.output.stdout, b"x\n");
        assert!(ended.cpu_ns > 0.0 && ended.wall_ns > 0.0);
    }

    #[test]
    fn the_share_of_a_life_on_the_cpu_scales_the_wall_time() {
        let output = Command::new("true").output().unwrap();
        let ended = Ended { output, wall_ns: 2e9, cpu_ns: 1e9 };
        assert_eq!(of_whole_life(&ended, 800.0), Sample { wall_ns: 800.0, cpu_ns: Some(400.0) });
    }
}
