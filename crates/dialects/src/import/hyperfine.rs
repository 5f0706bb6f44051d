//! `hyperfine --export-json`, `--export-csv` and `--export-markdown`: a cell for each command. The JSON has every execution, which is a
//! repetition; the others only have their summary.

use super::cell::{add, cell, converted, figure, run};
use super::context::Context;
use super::json_leaves::scan;
use super::lines::{Lines, decimal, fields};
use super::units::{Prefix, Unit, unit};
use super::{Block, several};
use fathom_record::imported::names::TIME;
use fathom_record::imported::units::{BYTES, NS, UNKNOWN};
use fathom_record::{Phase, Repetition};

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    csv(lines, at).or_else(|| markdown(lines, at)).or_else(|| json(lines, at))
}

/// The columns of the CSV behind the command, in seconds; columns of parameters follow.
const COLUMNS: [(&str, &str); 7] = [
    ("mean", "time avg"),
    ("stddev", "time stddev"),
    ("median", "time median"),
    ("user", "user CPU time"),
    ("system", "system CPU time"),
    ("min", "time min"),
    ("max", "time max"),
];

fn csv(lines: &Lines, at: usize) -> Option<Block> {
    let heads = fields(lines.trimmed(at), ',');
    let (first, heads) = heads.split_first()?;
    let are_known =
        heads.len() >= COLUMNS.len() && heads.iter().zip(COLUMNS).all(|(head, (name, _))| head == name);
    if first != "command" || !are_known {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phases: Vec<Phase> = Vec::new();
    for n in at + 1..lines.len() {
        let row = fields(lines.trimmed(n), ',');
        if row.len() != heads.len() + 1 {
            break;
        }
        block.last = n;
        let mut phase = cell(&row[0]);
        for (head, value) in heads.iter().zip(&row[1..]) {
            let Some((_, name)) = COLUMNS.iter().find(|(column, _)| column == head) else {
                phase.axes.tags.insert(head.trim_start_matches("parameter_").into(), value.clone());
                continue;
            };
            match decimal(value) {
                Some(seconds) => {
                    let mut figure = figure(name, seconds * 1e9, NS, format!("{value} s"), n);
                    figure.higher_is_better = figure.higher_is_better.filter(|_| head != "stddev");
                    add(&mut phase, figure);
                }
                // A command that ran once has no deviation.
                None if value.is_empty() => {}
                None => block.partly.push(n),
            }
        }
        phases.push(phase);
    }
    let run = run("hyperfine", "hyperfine".into(), phases);
    block.what = format!("hyperfine as CSV, {}", several(run.phases.len(), "command"));
    (!run.phases.is_empty()).then(|| {
        block.runs.push(run);
        block
    })
}

/// "| `ls` | 4.8 ± 1.1 | 3.6 | 5.8 | 3.61 ± 2.06 |" below "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |".
fn markdown(lines: &Lines, at: usize) -> Option<Block> {
    let heads = bars(lines.trimmed(at))?;
    let unit_of = |head: &str, name: &str| {
        let word = head.strip_prefix(name)?.trim_start().strip_prefix('[')?.strip_suffix(']')?;
        unit(word, Prefix::Decimal).filter(|unit| unit.base == NS).map(|unit| (unit, word.to_owned()))
    };
    let ["Command", mean, min, max, relative @ ..] = heads.as_slice() else { return None };
    let (time, word) = unit_of(mean, "Mean")?;
    if unit_of(min, "Min")?.0 != time
        || unit_of(max, "Max")?.0 != time
        || !matches!(relative, [] | ["Relative"])
    {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut phases: Vec<Phase> = Vec::new();
    for n in at + 1..lines.len() {
        let Some(cells) = bars(lines.trimmed(n)) else { break };
        block.last = n;
        if cells.iter().all(|c| c.contains('-') && c.chars().all(|c| "-: ".contains(c))) {
            continue;
        }
        // A command may have bars.
        let Some(first) = cells.len().checked_sub(heads.len() - 1).filter(|first| *first > 0) else {
            block.partly.push(n);
            continue;
        };
        let mut phase = cell(cells[..first].join(" | ").trim_matches('`'));
        for (at, text) in cells[first..].iter().enumerate() {
            let (value, deviation) =
                text.split_once('\u{b1}').map_or((*text, None), |(v, d)| (v, Some(d.trim())));
            let (names, unit, word) = match at {
                0 => (["time avg", "time stddev"], time, word.as_str()),
                1 => (["time min", ""], time, word.as_str()),
                2 => (["time max", ""], time, word.as_str()),
                _ => (["relative time", "relative time, stddev"], RATIO, ""),
            };
            for (name, text) in names.into_iter().zip([Some(value.trim()), deviation]) {
                let Some(text) = text else { continue };
                let Some(value) = decimal(text).filter(|_| !name.is_empty()) else {
                    block.partly.push(n);
                    continue;
                };
                let printed = format!("{text} {word}").trim_end().to_owned();
                let mut figure = converted(name, value, unit, printed, n);
                figure.higher_is_better = figure.higher_is_better.filter(|_| name != "time stddev");
                add(&mut phase, figure);
            }
        }
        phases.push(phase);
    }
    let run = run("hyperfine", "hyperfine".into(), phases);
    block.what = format!("hyperfine as Markdown, {}", several(run.phases.len(), "command"));
    (!run.phases.is_empty()).then(|| {
        block.runs.push(run);
        block
    })
}

const RATIO: Unit = Unit { base: UNKNOWN, factor: 1.0 };

/// The cells between bars.
fn bars(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

fn json(lines: &Lines, at: usize) -> Option<Block> {
    if !lines.document(at).next()?.trim_start().starts_with('{') {
        return None;
    }
    let mut phases: Vec<Phase> = Vec::new();
    let mut summary: Vec<Vec<fathom_record::Figure>> = Vec::new();
    let scanned = scan(lines.document(at), |leaf| {
        let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
        let ["results", _, rest @ ..] = path.as_slice() else { return };
        if rest == ["command"] {
            let mut phase = cell(&leaf.text);
            phase.repetitions.clear();
            phases.push(phase);
            summary.push(Vec::new());
            return;
        }
        let (Some(phase), Some(summary)) = (phases.last_mut(), summary.last_mut()) else { return };
        let value = leaf.text.parse::<f64>().ok().filter(|_| leaf.number);
        let seconds =
            |name: &str| value.map(|s| figure(name, s * 1e9, NS, format!("{} s", leaf.text), at + leaf.line));
        match rest {
            ["times", n] => {
                let n = n.parse().unwrap_or(0);
                phase.repetitions.push(Repetition {
                    n,
                    figures: seconds(TIME).into_iter().collect(),
                    ..Repetition::default()
                });
            }
            ["memory_usage_byte", n] => {
                let repetition = n.parse().ok().and_then(|n: usize| phase.repetitions.get_mut(n));
                if let (Some(r), Some(bytes)) = (repetition, value) {
                    r.figures.push(figure("memory", bytes, BYTES, leaf.text.clone(), at + leaf.line));
                }
            }
            ["parameters", key] => drop(phase.axes.tags.insert((*key).to_owned(), leaf.text)),
            ["mean"] => summary.extend(seconds("time avg")),
            ["stddev"] => {
                summary.extend(seconds("time stddev").map(|mut f| {
                    f.higher_is_better = None;
                    f
                }));
            }
            ["median" | "min" | "max"] => summary.extend(seconds(&format!("time {}", rest[0]))),
            ["user"] => summary.extend(seconds("user CPU time")),
            ["system"] => summary.extend(seconds("system CPU time")),
            _ => {}
        }
    });
    // Summaries over all times are stored once, in the last repetition.
    for (phase, summary) in phases.iter_mut().zip(summary) {
        if phase.repetitions.is_empty() {
            phase.repetitions.push(Repetition::default());
        }
        phase.repetitions.last_mut()?.figures.extend(summary);
    }
    if phases.is_empty() {
        return None;
    }
    let cut = if scanned.whole { "" } else { ", cut off" };
    let what = format!("hyperfine, {}{cut}", several(phases.len(), "command"));
    let runs = vec![run("hyperfine", "hyperfine".into(), phases)];
    Some(Block { last: at + scanned.last, what, runs, is_document: true, ..Block::default() })
}
