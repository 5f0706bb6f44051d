//! One-line times: of zsh, and of GNU time without options.

use super::super::cell::{add, figure};
use super::{named, seconds};
use fathom_record::Phase;
use fathom_record::imported::units::{NS, PERCENT};

/// "sleep 1  0.00s user 0.00s system 0% cpu 1.003 total", or "0.00user 0.00system 0:00.10elapsed 0%CPU (0avgtext+...)k".
pub(super) fn takes(phase: &mut Phase, line: &str, n: usize) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let times = match words.as_slice() {
        [command @ .., user, "user", system, "system", cpu, "cpu", total, "total"] => {
            let times = [(*user).strip_suffix('s'), (*system).strip_suffix('s'), Some(*total)];
            times.into_iter().collect::<Option<Vec<_>>>().map(|times| (command.join(" "), times, *cpu))
        }
        [user, system, elapsed, cpu, ..] => {
            let times =
                [user.strip_suffix("user"), system.strip_suffix("system"), elapsed.strip_suffix("elapsed")];
            let cpu = cpu.strip_suffix("CPU").unwrap_or("");
            times.into_iter().collect::<Option<Vec<_>>>().map(|times| (String::new(), times, cpu))
        }
        _ => None,
    };
    let Some((command, times, cpu)) = times else {
        return words.len() == 3 && words[0].contains("inputs+") && words[1].ends_with(")pagefaults");
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
    true
}
