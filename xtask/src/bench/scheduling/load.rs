//! The loads, as workloads of fathom: who reads and writes where in one file, past the page cache, and how much is in flight. Text out
//! of numbers; the places of a load are drawn from a seed, so that they are the same in every round.

use super::test_bed::FILE_BYTES;
use crate::bench::spread::Random;
use std::fmt::Write as _;
use std::path::Path;

/// Bytes of one operation, but for sequential ones.
const RECORD: u64 = 4096;

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// At random places, each time two neighbours.
    Pairs { read_percent: u32 },
    /// From its own start onwards.
    Sequential,
    /// At random places, one by one.
    Random,
}

/// A process of a load.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    pub work: Work,
    pub operations: u64,
    pub in_flight: u32,
}

const fn process(work: Work, operations: u64, in_flight: u32) -> Process {
    Process { work, operations, in_flight }
}

const READ: Work = Work::Pairs { read_percent: 100 };
const WRITE: Work = Work::Pairs { read_percent: 0 };
const MIXED: Work = Work::Pairs { read_percent: 50 };

/// The loads under which choices are compared.
pub const LOADS: [(&str, &[Process]); 6] = [
    ("random read", &[process(READ, 1600, 512)]),
    ("random mixed", &[process(MIXED, 1600, 512)]),
    ("sequential", &[process(Work::Sequential, 6000, 512)]),
    ("4 readers", &[process(READ, 500, 128); 4]),
    (
        "2 readers, 2 writers",
        &[
            process(READ, 500, 128),
            process(READ, 500, 128),
            process(WRITE, 500, 128),
            process(WRITE, 500, 128),
        ],
    ),
    (
        "2 sequential, 2 random",
        &[
            process(Work::Sequential, 3000, 64),
            process(Work::Sequential, 3000, 64),
            process(READ, 500, 128),
            process(READ, 500, 128),
        ],
    ),
];

/// A load as a workload on a file, by the kernel's asynchronous I/O, a call for each operation. (Through io_uring, what finds the queue
/// full goes on in threads of the kernel, which reach the scheduler in any order and as separate tasks.)
pub fn workload(name: &str, processes: &[Process], file: &Path) -> String {
    let mut text = format!(
        "name = {name:?}\nseed = 1\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [{file:?}] }}\nsize = {{ fixed = {FILE_BYTES} }}\n\
         existing = \"reuse\"\nforeign_writable = true\n[[phase]]\nname = \"load\"\nholes = \"leave\"\n"
    );
    for (number, process) in processes.iter().enumerate() {
        text += &one(number as u64, processes.len() as u64, *process);
    }
    text
}

fn one(number: u64, of: u64, process: Process) -> String {
    let Process { work, operations, in_flight } = process;
    let mut text = format!(
        "[[phase.group]]\nname = \"p{number}\"\nisolation = \"process\"\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\n\
         fileset = \"f\"\npick = {{ one = 0 }}\nrecord = {{ fixed = {RECORD} }}\namount = {{ operations = {operations} }}\n\
         open = {{ direct = true }}\nbackend = {{ aio = {{ batch = 1 }} }}\nqueue_depth = {in_flight}\n"
    );
    // Writing to a text cannot fail.
    let _ = match work {
        Work::Sequential => {
            let share = FILE_BYTES / of / RECORD * RECORD;
            writeln!(
                text,
                "direction = \"read\"\naccess = \"sequential\"\nstart = {}\nlength = {share}",
                number * share
            )
        }
        Work::Random => {
            writeln!(text, "direction = \"read\"\naccess = {}", places(number, operations, 1))
        }
        Work::Pairs { read_percent } => {
            let direction = match read_percent {
                100 => "\"read\"".to_owned(),
                0 => "\"write\"".to_owned(),
                percent => format!("{{ mix = {{ read-percent = {percent} }} }}"),
            };
            writeln!(text, "direction = {direction}\naccess = {}", places(number, operations, 2))
        }
    };
    text
}

/// Offsets of N operations, in adjacent groups of `together` at random positions.
fn places(seed: u64, operations: u64, together: u64) -> String {
    let mut random = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut list = "{ listed = [".to_owned();
    let mut first = 0;
    for n in 0..operations {
        if n % together == 0 {
            first = random.below(FILE_BYTES / RECORD / together) * together;
        }
        let _ = write!(list, "{{ offset = {}, bytes = {RECORD} }}, ", (first + n % together) * RECORD);
    }
    list + "] }"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_is_toml_with_a_group_a_process() {
        for (name, processes) in LOADS {
            let text = workload(name, processes, Path::new("/d/f"));
            let value: toml::Value = toml::from_str(&text).unwrap();
            let groups = value["phase"][0]["group"].as_array().unwrap();
            assert_eq!(groups.len(), processes.len(), "{name}");
        }
    }

    #[test]
    fn pairs_lie_side_by_side_inside_the_file() {
        let text = workload("x", &[process(READ, 10, 4)], Path::new("/d/f"));
        let value: toml::Value = toml::from_str(&text).unwrap();
        let stream = &value["phase"][0]["group"][0]["thread"][0]["program"]["stream"];
        let list = stream["access"]["listed"].as_array().unwrap();
        let at = |n: usize| list[n]["offset"].as_integer().unwrap() as u64;
        assert_eq!(list.len(), 10);
        for pair in 0..5 {
            assert_eq!(at(pair * 2) + RECORD, at(pair * 2 + 1));
            assert!(at(pair * 2 + 1) + RECORD <= FILE_BYTES);
        }
    }
}
