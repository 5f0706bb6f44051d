//! SysBench's fileio test: the report of 1.0 and 1.1 ("File operations:", "Throughput:") and that of 0.3 to 0.5 ("Operations
//! performed:"). Other lines describe the workload.

mod report;

use super::cell::{cell, figures, run};
use super::context::Context;
use super::lines::{Lines, after, leading, unit as word_of, value_after};
use super::units::{Prefix, unit};
use super::{Block, several};
use fathom_record::Phase;

/// Unknown lines that end a run.
const MOST_UNKNOWN: usize = 4;

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = lines.trimmed(at);
    if !begins(first) {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phase = cell("fileio");
    let (mut version, mut command) = (String::new(), Vec::new());
    let mut unknown = Vec::new();
    let mut reports = report::SysbenchReport::default();
    for n in at..lines.len() {
        let line = lines.trimmed(n);
        if line.is_empty() {
            continue;
        }
        // A second banner, or a second report of the same kind, starts another run.
        if n > at && (is_banner(line) || (reports.done() && begins(line))) {
            break;
        }
        let known = if is_banner(line) {
            version = line.split_whitespace().nth(1).unwrap_or("").trim_end_matches(':').into();
            true
        } else if is_command(line) && n == at {
            command = line
                .trim_start_matches(['$', '#', '%', ' '])
                .split_whitespace()
                .map(str::to_string)
                .collect();
            true
        } else {
            reports.takes(&mut phase, line, n) || settings(&mut phase, line)
        };
        if known {
            block.last = n;
            block.left.append(&mut unknown);
        } else {
            unknown.push(n);
        }
        if unknown.len() > MOST_UNKNOWN {
            break;
        }
    }
    reports.complete(&mut phase);
    // SysBench's other tests start and end with the same words.
    if figures(&phase) == 0 || !(at..=block.last).any(|n| is_of_files(lines.trimmed(n))) {
        return None;
    }
    let streams =
        phase.axes.streams.map_or(String::new(), |n| format!(", {}", several(n as usize, "thread")));
    block.what = format!("SysBench fileio, {}{streams}", phase.name);
    let mut run = run("sysbench", format!("sysbench {version}").trim_end().into(), vec![phase]);
    run.argv = command;
    block.runs.push(run);
    Some(block)
}

fn begins(line: &str) -> bool {
    is_banner(line)
        || is_command(line)
        || ["Running the test with following options:", "File operations:", "Operations performed:"]
            .iter()
            .any(|b| line.starts_with(b))
}

/// Whether only the file test prints this line.
fn is_of_files(line: &str) -> bool {
    ["File operations:", "Operations performed:", "Extra file open flags", "Block size"]
        .iter()
        .any(|b| line.starts_with(b))
        || line.contains("fsyncs/s:")
        || (line.contains("reads: ") && line.contains("writes: "))
}

fn is_banner(line: &str) -> bool {
    line.strip_prefix("sysbench ").is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()))
        || line.strip_prefix("sysbench v").is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether it is a command line; without a report after it, it is prose.
fn is_command(line: &str) -> bool {
    let typed = line.trim_start_matches(['$', '#', '%', ' ']);
    typed.split_whitespace().next().is_some_and(|w| w.rsplit('/').next() == Some("sysbench"))
        && line.contains("file-test-mode")
        && line.ends_with("run")
}

/// Lines about the workload, and lines without information.
fn settings(phase: &mut Phase, line: &str) -> bool {
    let size = |key: &str| {
        let (value, _, word) = value_after(line, key)?;
        unit(word, Prefix::Binary).map(|u| (value * u.factor) as u64)
    };
    if let Some(n) = after(line, "Number of threads").and_then(leading) {
        phase.axes.streams = Some(n.0 as u64);
    } else if line.starts_with("Block size") {
        phase.axes.record_bytes = size("Block size");
    } else if let Some(mode) = after(line, "Doing ").and_then(|l| l.strip_suffix(" test").or(Some(l))) {
        phase.name = mode_name(mode).into();
        phase.reads = mode.contains("read") || mode.contains("r/w");
        phase.writes = mode.contains("writ") || mode.contains("r/w");
    } else if let Some((value, _, rest)) =
        leading(line).filter(|(_, _, rest)| rest.contains("total file size"))
    {
        let total = unit(word_of(rest), Prefix::Binary).map(|u| (value * u.factor) as u64);
        phase.axes.tags.extend(total.map(|t| ("total_bytes".to_string(), t.to_string())));
    } else if line.starts_with("Extra file open flags") {
        phase.direct = line.contains("direct");
    } else {
        return CHATTER.iter().any(|c| line.starts_with(c))
            || line.contains(" files, ") && line.ends_with("each");
    }
    true
}

/// fathom's name of a mode, so that cells match.
fn mode_name(mode: &str) -> &'static str {
    match mode {
        m if m.contains("r/w") => "random mix",
        m if m.contains("random read") => "random read",
        m if m.contains("random write") => "random write",
        m if m.contains("rewrite") => "rewrite",
        m if m.contains("sequential read") => "read",
        m if m.contains("sequential write") => "write",
        _ => "fileio",
    }
}

/// Prefixes of lines without information to keep.
const CHATTER: [&str; 20] = [
    "Running the test with following options",
    "Initializing",
    "Random number generator seed",
    "Report intermediate results",
    "Report checkpoint",
    "Target transaction rate",
    "Validation checks",
    "Merging requests",
    "Number of IO requests",
    "Number of random requests",
    "Read/Write ratio",
    "Periodic FSYNC",
    "Calling fsync()",
    "Using synchronous",
    "Using asynchronous",
    "Using fast mmaped",
    "Using checksums",
    "Threads started",
    "Done.",
    "Maximum number of requests",
];
