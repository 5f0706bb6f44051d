//! The comparison tables of fsperf, the btrfs project's performance suite: a run for the baseline and one for the current results, a cell
//! for each test. The deviation is the baseline's. Names of figures include the unit.

use super::Block;
use super::cell::{add, cell, converted, figure, run};
use super::context::{Context, is_rule};
use super::lines::{Lines, leading_decimal};
use super::units::Unit;
use fathom_record::Phase;
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT, UNKNOWN};

/// Lines without a table between two tests, which only have a name.
const MOST_BETWEEN: usize = 8;

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = opening(lines, at)?;
    let mut block = Block { last: at, has_own_rules: true, ..Block::default() };
    let (mut baseline, mut current): (Vec<Phase>, Vec<Phase>) = (Vec::new(), Vec::new());
    let mut head = Some(first);
    while let Some(at) = head {
        // Without a table, "NAME results" only says that the test ran.
        let test = (at.saturating_sub(2)..at).rev().find_map(|n| test(lines.trimmed(n))).unwrap_or("fsperf");
        let has_deviation = columns(lines.trimmed(at))?;
        let [mut before, mut after] = [cell(test), cell(test)];
        let mut n = at + 1;
        while n < lines.len() {
            let line = lines.trimmed(n);
            if !is_rule(line) {
                let words: Vec<&str> = line.split_whitespace().collect();
                if !row(&mut before, &mut after, &words, has_deviation, n) {
                    if words.iter().any(|word| uncolored(word).ends_with('%')) {
                        block.partly.push(n);
                    } else {
                        break;
                    }
                }
            }
            block.last = n;
            n += 1;
        }
        baseline.push(before);
        current.push(after);
        head = next(lines, n);
        // The names of tests between two tables are no figures.
        let between = n..head.unwrap_or(n);
        block.left.extend(between.filter(|n| !lines.is_blank(*n) && test_line(lines.trimmed(*n)).is_none()));
    }
    for (phases, label) in [(baseline, "baseline"), (current, "current")] {
        let mut run = run("fsperf", "fsperf".into(), phases);
        run.label = label.into();
        block.runs.push(run);
    }
    let tests = block.runs[0].phases.len();
    block.what = format!("fsperf, {} compared", super::several(tests, "test"));
    (tests > 0).then_some(block)
}

/// The heading of the first table, if this line or the name above it begins one.
fn opening(lines: &Lines, at: usize) -> Option<usize> {
    let head = if test(lines.trimmed(at)).is_some() { at + 1 } else { at };
    (columns(lines.trimmed(head)).is_some() && is_rule(lines.trimmed(head + 1))).then_some(head)
}

/// The heading of the next table.
fn next(lines: &Lines, from: usize) -> Option<usize> {
    let at = lines.find(from, MOST_BETWEEN, |line| columns(line).is_some())?;
    let are_names = (from..at).all(|n| lines.is_blank(n) || test_line(lines.trimmed(n)).is_some());
    (are_names && is_rule(lines.trimmed(at + 1))).then_some(at)
}

/// "dio4kbs16threads results".
fn test(line: &str) -> Option<&str> {
    line.strip_suffix(" results").filter(|name| !name.contains(' '))
}

/// A test's name, or "squota test results" above those of a configuration.
fn test_line(line: &str) -> Option<&str> {
    line.strip_suffix(" results")
}

/// Whether a heading is one of fsperf, and whether it has a deviation, which older releases lack.
fn columns(line: &str) -> Option<bool> {
    match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["metric", "baseline", "current", "stdev", "diff"] => Some(true),
        ["metric", "baseline", "current", "diff"] => Some(false),
        _ => None,
    }
}

/// "write_iops  10482.37  15702.75  392.92  49.80% *".
fn row(before: &mut Phase, after: &mut Phase, words: &[&str], has_deviation: bool, n: usize) -> bool {
    let words = words.strip_suffix(&["*"]).unwrap_or(words);
    let (name, old, new, deviation, change) = match words {
        [name, old, new, deviation, change] if has_deviation => {
            (*name, *old, *new, Some(*deviation), *change)
        }
        [name, old, new, change] if !has_deviation => (*name, *old, *new, None, *change),
        _ => return false,
    };
    // Releases that color it leave escapes around it.
    let change = uncolored(change);
    let number = |word: &str| leading_decimal(word).filter(|(_, _, rest)| rest.is_empty()).map(|(v, _, _)| v);
    let percent = leading_decimal(change).filter(|(_, _, rest)| *rest == "%").map(|(v, _, _)| v);
    let spread = deviation.map(|word| number(word).map(|value| (value, word)));
    let (Some(old_value), Some(new_value), Some(percent)) = (number(old), number(new), percent) else {
        return false;
    };
    if spread == Some(None) {
        return false;
    }
    let unit = unit(name);
    add(before, converted(name, old_value, unit, old.into(), n));
    add(after, converted(name, new_value, unit, new.into(), n));
    if let Some(Some((value, word))) = spread {
        let mut f = converted(&format!("{name}, standard deviation"), value, unit, word.into(), n);
        f.higher_is_better = None;
        add(before, f);
    }
    add(after, figure(&format!("{name}, change"), percent, PERCENT, change.into(), n));
    true
}

/// A word without the escapes that color it.
fn uncolored(word: &str) -> &str {
    let word = word.strip_prefix("\u{1b}[").and_then(|w| w.split_once('m')).map_or(word, |(_, rest)| rest);
    word.split('\u{1b}').next().unwrap_or(word)
}

/// The unit that a name implies.
fn unit(name: &str) -> Unit {
    let has = |part: &str| name.split('_').any(|p| p == part);
    let (base, factor) = match name {
        "elapsed" => (NS, 1e9),
        "sys_cpu" => (PERCENT, 1.0),
        // dbench's, in its units.
        "throughput" => (BYTES_PER_S, 1e6),
        "ntcreatex" | "close" | "rename" | "unlink" | "deltree" | "mkdir" | "qpathinfo" | "qfileinfo"
        | "qfsinfo" | "sfileinfo" | "find" | "writex" | "readx" | "lockx" | "unlockx" | "flush" => (NS, 1e6),
        // Counters of the device over the whole test, whatever their name.
        "dev_read_iops" | "dev_write_iops" | "commits" => (COUNT, 1.0),
        _ if has("calls") || has("count") => (COUNT, 1.0),
        _ if has("ns") => (NS, 1.0),
        _ if has("ms") => (NS, 1e6),
        _ if has("pct") => (PERCENT, 1.0),
        _ if name.ends_with("_bw_bytes") => (BYTES_PER_S, 1.0),
        _ if has("bytes") => (BYTES, 1.0),
        _ if has("kbytes") => (BYTES, 1024.0),
        _ if has("iops") => (OPS_PER_S, 1.0),
        _ => (UNKNOWN, 1.0),
    };
    Unit { base, factor }
}
