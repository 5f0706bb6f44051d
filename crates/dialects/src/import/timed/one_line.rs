//! One-line times: of zsh, and of GNU time without options.

use super::super::cell::{add, figure};
use super::super::lines::number;
use super::{named, seconds};
use fathom_record::Phase;
use fathom_record::imported::units::{BYTES, COUNT, NS, PERCENT};

/// "sleep 1  0.00s user 0.00s system 0% cpu 1.003 total", or "0.00user 0.00system 0:00.10elapsed 0%CPU (0avgtext+...)k".
pub(super) fn takes(phase: &mut Phase, line: &str, n: usize) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let times = match words.as_slice() {
        [command @ .., user, "user", system, "system", cpu, "cpu", total, "total"] => {
            let times = [(*user).strip_suffix('s'), (*system).strip_suffix('s'), Some(*total)];
            times.into_iter().collect::<Option<Vec<_>>>().map(|times| (command.join(" "), times, *cpu))
        }
        [user, system, elapsed, cpu, rest @ ..] if is_memory(rest) => {
            let times =
                [user.strip_suffix("user"), system.strip_suffix("system"), elapsed.strip_suffix("elapsed")];
            let times = times.into_iter().collect::<Option<Vec<_>>>();
            times.zip(cpu.strip_suffix("CPU")).map(|(times, cpu)| (String::new(), times, cpu))
        }
        _ => None,
    };
    let Some((command, times, cpu)) = times else {
        return words.len() == 3
            && words[0].contains("inputs+")
            && words[1].ends_with(")pagefaults")
            && resources(phase, line, n);
    };
    let values: Option<Vec<f64>> = times.iter().map(|word| seconds(word)).collect();
    let Some(values) = values else { return false };
    if !command.is_empty() {
        named(phase, &command);
    }
    let names = ["user CPU time", "system CPU time", "real time"];
    for ((name, value), word) in names.into_iter().zip(values).zip(times) {
        add(phase, figure(name, value * 1e9, NS, word.into(), n));
    }
    if let Some(share) = cpu.strip_suffix('%').and_then(|share| share.parse().ok()) {
        add(phase, figure("share of a processor", share, PERCENT, cpu.into(), n));
    }
    if line.contains("avgtext+") {
        resources(phase, line, n);
    }
    true
}

/// What follows GNU time's four times on their line: "(0avgtext+0avgdata 1780maxresident)k", if anything.
fn is_memory(words: &[&str]) -> bool {
    match words {
        [] => true,
        [texts, resident] => {
            texts.starts_with('(') && texts.contains("avgtext+") && resident.ends_with("maxresident)k")
        }
        _ => false,
    }
}

/// What GNU time prints behind the times, with the names that `-v` gives them.
const RESOURCES: [(&str, &str, &str, f64); 8] = [
    ("avgtext", "Average shared text size", BYTES, 1024.0),
    ("avgdata", "Average unshared data size", BYTES, 1024.0),
    ("maxresident", "Maximum resident set size", BYTES, 1024.0),
    ("inputs", "File system inputs", COUNT, 1.0),
    ("outputs", "File system outputs", COUNT, 1.0),
    ("major", "Major (requiring I/O) page faults", COUNT, 1.0),
    ("minor", "Minor (reclaiming a frame) page faults", COUNT, 1.0),
    ("swaps", "Swaps", COUNT, 1.0),
];

/// "(0avgtext+0avgdata 1780maxresident)k", "0inputs+0outputs (0major+101minor)pagefaults 0swaps".
fn resources(phase: &mut Phase, line: &str, n: usize) -> bool {
    let mut any = false;
    for word in line.split([' ', '+', '(', ')']) {
        let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let known = RESOURCES.iter().find(|(key, ..)| *key == &word[digits..]);
        if let (Some((_, name, unit, factor)), Some(value)) = (known, number(&word[..digits])) {
            add(phase, figure(name, value * factor, unit, word[..digits].into(), n));
            any = true;
        }
    }
    any
}
