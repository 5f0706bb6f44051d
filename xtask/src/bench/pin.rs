//! Which CPU a contender runs on. Everything measured on one thread runs on CPU 1 (on CPU 0 where there is no other), because
//! interrupts and the rest of the machine prefer CPU 0.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The CPU of everything with one thread.
pub fn cpu() -> usize {
    1 % cpus()
}

/// CPUs of the machine.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Ties the calling thread to a CPU. Failure leaves it free, which shows in the figures and breaks nothing.
pub fn this_thread(cpu: usize) {
    let set = set_of(cpu);
    // SAFETY: the set is valid and only read.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) };
}

/// Has a command start tied to a CPU; its children inherit it.
pub fn command(command: &mut Command, cpu: usize) -> &mut Command {
    let set = set_of(cpu);
    // SAFETY: between fork and exec only sched_setaffinity is called, on memory of this closure.
    unsafe {
        command.pre_exec(move || {
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
            Ok(())
        })
    }
}

fn set_of(cpu: usize) -> libc::cpu_set_t {
    // SAFETY: a zeroed set is valid; CPU_SET checks its index.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_command_sees_one_cpu() {
        let output = super::command(&mut Command::new("nproc"), cpu()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1");
    }
}
