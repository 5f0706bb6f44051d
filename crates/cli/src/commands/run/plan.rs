//! A workload in words, for `--plan`: the files it makes, and the steps and workers of each phase. Opens, creates and
//! starts nothing. Steps that reach beyond the workload's own files (commands, remounts) are shown literally.

use crate::console;
use fathom_workload::{Action, CacheState, Existing, FileSet, Files, Holes, Phase, Steady, Workload};
use std::fmt::Write as _;

/// Files of a set listed by name; a set may have billions.
const MOST_FILES: u64 = 50;

pub fn of(workload: &Workload) -> String {
    let mut text = format!(
        "{}: {}, {}, seed {}\n",
        workload.name,
        console::counted(workload.phases.len() as u64, "phase"),
        console::counted(workload.repetitions.into(), "repetition"),
        workload.seed
    );
    for set in &workload.filesets {
        files(&mut text, set);
    }
    for (i, phase) in workload.phases.iter().enumerate() {
        steps(&mut text, i, phase);
    }
    text
}

fn files(text: &mut String, set: &FileSet) {
    let fate = match (set.existing, set.keep) {
        (Existing::Reuse, _) if set.may_modify => "is used if it exists, and made to fit",
        (Existing::Reuse, _) => "is used as it is if it exists",
        (Existing::Refuse, true) => "is made and kept",
        (Existing::Refuse, false) => "is made and removed",
        (Existing::Replace, true) => "is made and kept; what is there already is overwritten",
        (Existing::Replace, false) => "is made and removed; what is there already is overwritten",
    };
    let count = set.files.count();
    if let Files::Tree(tree) = &set.files {
        let _ = writeln!(
            text,
            "tree {} of {}: each {fate}",
            tree.root.display(),
            console::counted(count, "file")
        );
        return;
    }
    for path in (0..count.min(MOST_FILES)).filter_map(|i| set.files.path(i)) {
        let _ = writeln!(text, "file {} {fate}", path.display());
    }
    if let Some(last) = count.checked_sub(1).filter(|_| count > MOST_FILES).and_then(|i| set.files.path(i)) {
        let _ = writeln!(
            text,
            "... and {} more of the file set {}, up to {}",
            count - MOST_FILES,
            set.name,
            last.display()
        );
    }
}

fn steps(text: &mut String, number: usize, phase: &Phase) {
    let workers = phase.groups.iter().fold(0u64, |sum, g| {
        let threads = g.threads.iter().map(|t| u64::from(t.instances)).sum::<u64>();
        sum.saturating_add(threads.saturating_mul(g.instances.into()))
    });
    let who =
        if workers == 0 { "only the steps below".to_string() } else { console::counted(workers, "worker") };
    let _ = writeln!(text, "phase {number}: {}, {who}", phase.name);
    for action in &phase.before {
        let _ = writeln!(text, "  before: {}", words(action));
    }
    for line in conditions(phase) {
        let _ = writeln!(text, "  {line}");
    }
    for action in &phase.after {
        let _ = writeln!(text, "  after: {}", words(action));
    }
}

/// How a phase starts and what ends it.
fn conditions(phase: &Phase) -> Vec<String> {
    let mut lines = Vec::new();
    match phase.cache {
        CacheState::AsFound => {}
        CacheState::Cold => lines.push("begins: none of its files in the page cache".to_string()),
        CacheState::Warm => lines.push("begins: its files in the page cache".to_string()),
    }
    if phase.holes == Holes::Leave {
        lines.push("begins: holes in what it reads are left as they are".to_string());
    }
    if phase.ramp.0 > 0 {
        lines.push(format!("warm-up: {}, not counted", phase.ramp));
    }
    let stop = &phase.stop;
    let in_steady =
        stop.steady.map(|s| format!("in {}, at the latest after {} rounds", in_words(s), s.most_rounds));
    let ends = [
        stop.time.map(|t| format!("after {t}")),
        stop.operations.map(|n| format!("after {} of all workers", console::counted(n, "operation"))),
        stop.bytes.map(|b| format!("after {b} of all workers")),
        in_steady,
        stop.first_done.map(|_| "when the first worker is done".to_string()),
    ];
    let ends: Vec<String> = ends.into_iter().flatten().collect();
    if !ends.is_empty() {
        lines.push(format!("ends early: {}", ends.join(", or ")));
    }
    for of in &stop.steady_groups {
        let groups: Vec<String> = of.groups.iter().map(ToString::to_string).collect();
        lines.push(format!("groups {} end in {}", groups.join(", "), in_words(of.rule)));
    }
    lines
}

/// A steady-state criterion in words.
fn in_words(s: Steady) -> String {
    let (window, round) = (s.window, s.round);
    let Some(criterion) = s.criterion else {
        let (range, slope) = (s.range_percent, s.slope_percent);
        return format!("a steady state ({window} rounds of {round} within {range} %, trend {slope} %)");
    };
    let what = if criterion.is_slope() { "a slope" } else { "distances from the mean" };
    let limit = criterion.limit();
    let percent = if limit.is_percent() { " %" } else { "" };
    format!("a steady state ({window} rounds of {round} with {what} below {}{percent})", limit.number())
}

fn words(action: &Action) -> String {
    match action {
        Action::Sync => "write back everything dirty on this machine (sync)".into(),
        Action::Evict(set) => format!("drop the files of {set} from the page cache"),
        Action::Warm(set) => format!("read the files of {set} into the page cache"),
        Action::Prepare(set) => format!("write the files of {set} to their full size"),
        Action::Reserve(set) => {
            format!("reserve the space of the files of {set} (fallocate), without writing them")
        }
        Action::ReserveBehind(set) => {
            format!("reserve the space of the files of {set} (fallocate), and leave their size as it is")
        }
        Action::Extend(set) => format!("give the files of {set} their full size, without space"),
        Action::MakeDirectories(set) => format!("make the missing directories of {set}"),
        Action::Recreate(set) => format!("remove the files of {set} and make them again, empty"),
        Action::Remove(set) => format!("remove the files of {set}"),
        Action::Remount(point) => format!("UNMOUNT {} and mount it again", quoted(&point.to_string_lossy())),
        Action::Sleep(time) => format!("wait {time}"),
        Action::Command(words) => {
            let line: Vec<String> = words.iter().map(|w| quoted(w)).collect();
            format!("RUN THE COMMAND {}", line.join(" "))
        }
    }
}

/// Quotes a word so that its ends and special characters show.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_string() } else { format!("{word:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> String {
        of(&Workload::from_toml(text).unwrap_or_else(|d| panic!("{}", d.render("t", text))))
    }

    #[test]
    fn every_step_is_listed_with_its_words() {
        let text = r#"
name = "t"
seed = "0x2a"
[[fileset]]
name = "f"
files = { list = ["x"] }
size = { fixed = "1MiB" }
existing = "replace"
[[phase]]
name = "steps"
before = [
  "sync", { evict = "f" }, { warm = "f" }, { prepare = "f" }, { recreate = "f" }, { remove = "f" },
  { remount = "/mnt/a disk" }, { sleep = "2s" }, { command = ["sh", "-c", "rm -rf /tmp/x; echo \u001b"] },
]
after = [{ command = ["sysctl", "vm.drop_caches=3"] }]
"#;
        let wanted = r#"t: 1 phase, 1 repetition, seed 0x2a
file x is made and removed; what is there already is overwritten
phase 0: steps, only the steps below
  before: write back everything dirty on this machine (sync)
  before: drop the files of f from the page cache
  before: read the files of f into the page cache
  before: write the files of f to their full size
  before: remove the files of f and make them again, empty
  before: remove the files of f
  before: UNMOUNT "/mnt/a disk" and mount it again
  before: wait 2s
  before: RUN THE COMMAND sh -c "rm -rf /tmp/x; echo \u{1b}"
  after: RUN THE COMMAND sysctl vm.drop_caches=3
"#;
        assert_eq!(plan(text), wanted);
    }

    #[test]
    fn what_a_phase_begins_with_and_what_ends_it_is_listed() {
        let text = r#"
name = "t"
[[phase]]
name = "p"
cache = "cold"
holes = "leave"
ramp = "1s"
stop = { time = "10s", operations = 1, bytes = "1GiB", steady = { round = "1s" }, first_done = {} }
"#;
        let wanted = "t: 1 phase, 1 repetition, seed 0x0
phase 0: p, only the steps below
  begins: none of its files in the page cache
  begins: holes in what it reads are left as they are
  warm-up: 1s, not counted
  ends early: after 10s, or after 1 operation of all workers, or after 1GiB of all workers, or in a steady state (5 rounds of 1s within 20 %, trend 10 %), at the latest after 25 rounds, or when the first worker is done
";
        assert_eq!(plan(text), wanted);
        let by_slope =
            text.replace(r#"round = "1s""#, r#"round = "1s", criterion = { slope = { percent = 0.3 } }"#);
        assert!(plan(&by_slope).contains("(5 rounds of 1s with a slope below 0.3 %)"), "{}", plan(&by_slope));
    }

    #[test]
    fn billions_of_files_are_counted_and_not_listed() {
        let text = r#"
name = "many"
repetitions = 2
[[fileset]]
name = "f"
files = { numbered = { prefix = "d/x", count = 4000000000 } }
size = { fixed = "4KiB" }
[[phase]]
name = "p"
[[phase]]
name = "q"
"#;
        let found = plan(text);
        assert!(found.starts_with("many: 2 phases, 2 repetitions, "), "{found}");
        assert_eq!(found.lines().filter(|l| l.starts_with("file ")).count(), 50);
        assert!(
            found.contains("... and 3999999950 more of the file set f, up to d/x3999999999\n"),
            "{found}"
        );
        let fifty = plan(&text.replace("4000000000", "50"));
        assert!(!fifty.contains("..."), "{fifty}");
    }
}
