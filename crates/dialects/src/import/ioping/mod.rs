//! ioping's requests and statistics, releases 0.6 to 1.3, as text, raw numbers (`-B`) or JSON: a cell for the statistics, and
//! one with a repetition per request.

mod json;

use super::Block;
use super::cell::{add, cell, converted, figure, run};
use super::context::Context;
use super::doubts::COURSE;
use super::lines::{Lines, all_numbers, leading};
use super::units::{Prefix, Unit, unit};
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S};
use fathom_record::{Phase, Repetition};

/// Foreign lines tolerated between two of its lines.
const MOST_UNKNOWN: usize = 2;

/// Requests or statistics starting at this line.
pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    if let Some(block) = json::parse(lines, at).or_else(|| raw(lines, at)) {
        return Some(block);
    }
    if request(lines.trimmed(at), at).is_none() && !is_head(lines.trimmed(at)) {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let (mut total, mut requests, mut reports) = (cell("random read"), course("request"), course("report"));
    let mut unknown = Vec::new();
    for n in at..lines.len() {
        let line = lines.trimmed(n);
        if line.is_empty() {
            continue;
        }
        // Statistics end a run.
        if n > at && !total.repetitions[0].figures.is_empty() && (is_head(line) || request(line, n).is_some())
        {
            break;
        }
        let taken = if let Some(request) = request(line, n) {
            total.axes.record_bytes = total.axes.record_bytes.or(request.bytes);
            (total.reads, total.writes) = (total.reads | request.reads, total.writes | request.writes);
            repeat(&mut requests, vec![request.latency]);
            true
        } else if let Some(figures) = report(line, n) {
            repeat(&mut reports, figures);
            true
        } else {
            is_head(line) || statistics(&mut total, line, n)
        };
        if !taken {
            unknown.push(n);
            if unknown.len() > MOST_UNKNOWN {
                break;
            }
            continue;
        }
        block.last = n;
        block.left.append(&mut unknown);
        if line.starts_with(ENDS) {
            break;
        }
    }
    let name = completed_name((total.reads, total.writes));
    block.what = match requests.repetitions.len() {
        0 => "ioping, statistics".into(),
        count => format!("ioping, {}", super::several(count, "request")),
    };
    let phases = [total, requests, reports].map(|p| Phase { name: name.into(), ..p }).into();
    let run = run("ioping", "ioping".into(), phases);
    if run.phases.is_empty() {
        return None;
    }
    block.runs.push(run);
    Some(block)
}

/// Name for reads, writes or both.
fn completed_name(directions: (bool, bool)) -> &'static str {
    match directions {
        (true, true) => "random mix",
        (false, true) => "random write",
        _ => "random read",
    }
}

/// The raw numbers of `-B` alone. They do not show whether requests were reads.
fn raw(lines: &Lines, at: usize) -> Option<Block> {
    let agreeing = |n: usize| {
        let figures = report(lines.trimmed(n), n)?;
        agrees(&figures).then_some(figures)
    };
    let mut total = cell("requests");
    total.repetitions[0].figures = agreeing(at)?;
    let mut last = at;
    // Several may be periodic reports or separate runs, which cannot be distinguished.
    let mut reports = course("report");
    while let Some(figures) = agreeing(last + 1) {
        last += 1;
        repeat(&mut reports, figures);
    }
    if last > at {
        reports.name.clone_from(&total.name);
        reports.repetitions.insert(0, std::mem::take(&mut total.repetitions[0]));
        (0u32..).zip(&mut reports.repetitions).for_each(|(n, r)| r.n = n);
        total = reports;
    }
    let what = format!("ioping, {} of raw statistics", super::several(last + 1 - at, "line"));
    Some(Block { last, what, runs: vec![run("ioping", "ioping".into(), vec![total])], ..Block::default() })
}

/// Whether ten numbers are consistent with ioping: rates and mean follow from count and time.
fn agrees(figures: &[fathom_record::Figure]) -> bool {
    let values: Vec<f64> = figures.iter().map(|f| f.value).collect();
    let [count, time, iops, _, min, avg, max, _, all, whole] = values[..] else { return false };
    let near = |a: f64, b: f64| (a - b).abs() <= 1.0;
    count >= 1.0
        && time >= 1.0
        && near(iops, count * 1e9 / time)
        && near(avg, time / count)
        && min <= avg + 1.0
        && avg <= max + 1.0
        && count <= all
        && time <= whole
}

/// The last line of the statistics.
const ENDS: &str = "min/avg/max/mdev =";

fn is_head(line: &str) -> bool {
    line.starts_with("--- ") && line.ends_with(" ioping statistics ---")
}

/// A cell with a repetition per request or report.
fn course(of: &str) -> Phase {
    let mut phase = cell("");
    phase.axes.tags.insert(COURSE.into(), of.into());
    phase.repetitions.clear();
    phase
}

fn repeat(phase: &mut Phase, figures: Vec<fathom_record::Figure>) {
    let n = phase.repetitions.len() as u32;
    phase.repetitions.push(Repetition { n, figures, ..Repetition::default() });
}

struct Request {
    bytes: Option<u64>,
    reads: bool,
    writes: bool,
    latency: fathom_record::Figure,
}

/// "4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=2 time=1.66 ms (slow)", preceded by the time of day if enabled;
/// "4096 bytes from . (ext4 /dev/sda3): request=1 time=0.2 ms" in old releases.
fn request(line: &str, n: usize) -> Option<Request> {
    let (head, rest) = line.split_once(": request=")?;
    let (_, time) = rest.split_once(" time=")?;
    let (latency, printed, rest) = amount(time)?;
    let (arrow, writes) = [(" <<< ", false), (" >>> ", true), (" from ", false), (" to ", true)]
        .into_iter()
        .find(|(arrow, _)| head.contains(arrow))?;
    let before = head.split(arrow).next()?;
    // After a time of day, the size is the last two words.
    let words: Vec<&str> = before.split_whitespace().collect();
    let size = words[words.len().saturating_sub(2)..].join(" ");
    let bytes = amount(&size).filter(|(a, ..)| a.unit == BYTES).map(|(a, ..)| a.value as u64);
    // Not included in the statistics.
    let name = match rest.trim() {
        "" | "(fast)" | "(slow)" => "latency",
        "(warmup)" => "latency of a warm-up request",
        "(too fast)" | "(too slow)" => "latency of a request that is not counted",
        _ => return None,
    };
    let latency = figure(name, latency.value, latency.unit, printed.into(), n);
    (latency.unit == NS).then_some(Request { bytes, reads: !writes, writes, latency })
}

/// A value in base units.
struct Amount {
    value: f64,
    unit: &'static str,
}

/// "12.8 k", "968.6 ms", "50.0 MiB", "51.7 MiB/s", "1.5 min" at the start of a text, as printed, and the rest.
fn amount(text: &str) -> Option<(Amount, &str, &str)> {
    let text = text.trim();
    let (value, _, rest) = leading(text)?;
    let word = rest.split_whitespace().next().unwrap_or("");
    let (unit, factor) = match word {
        "k" | "M" | "G" => (COUNT, [1e3, 1e6, 1e9][["k", "M", "G"].iter().position(|w| *w == word)?]),
        "min" => (NS, 60e9),
        "hour" => (NS, 3600e9),
        "day" => (NS, 86_400e9),
        _ => unit(word, Prefix::Binary).map_or((COUNT, 1.0), |u| (u.base, u.factor)),
    };
    // If it is not a unit, it is a word of the sentence.
    let used = if unit == COUNT && factor == 1.0 { 0 } else { rest.find(word)? + word.len() };
    let printed = &text[..text.len() - rest.len() + used];
    Some((Amount { value: value * factor, unit }, printed, rest[used..].trim()))
}

/// Reads a statistics line.
fn statistics(phase: &mut Phase, line: &str, n: usize) -> bool {
    let figures = if let Some(values) = line.strip_prefix(ENDS) {
        latencies(values.trim(), n)
    } else if line.contains(" requests completed in ") {
        completed(phase, line, n)
    } else if line.contains("generated ") && line.contains(" requests in ") {
        generated(line, n)
    } else {
        None
    };
    let taken = figures.is_some();
    figures.into_iter().flatten().for_each(|f| add(phase, f));
    taken
}

/// "4 requests completed in 3.56 ms, 16 KiB read, 1.12 k iops, 4.39 MiB/s": the time covers the requests only.
fn completed(phase: &mut Phase, line: &str, n: usize) -> Option<Vec<fathom_record::Figure>> {
    phase.writes |= line.contains(" written,");
    phase.reads |= line.contains(" read,");
    let (count, rest) = line.split_once(" requests completed in ")?;
    sentence(count, rest, ["requests", TIME, "bytes", OPERATIONS, THROUGHPUT], n)
}

/// "generated 5 requests in 400.2 ms, 20 KiB, 12 iops, 50.0 KiB/s": includes warm-up and pauses. "2 too slow" may precede.
fn generated(line: &str, n: usize) -> Option<Vec<fathom_record::Figure>> {
    let (before, rest) = line.split_once("generated ")?;
    let (count, rest) = rest.split_once(" requests in ")?;
    let mut figures = Vec::new();
    for part in before.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (count, printed, what) = amount(part)?;
        figures.push(figure(&format!("requests {what}"), count.value, COUNT, printed.into(), n));
    }
    let names = [
        "generated requests",
        "time with pauses",
        "generated bytes",
        "generated requests per second",
        "generated bytes per second",
    ];
    figures.extend(sentence(count, rest, names, n)?);
    Some(figures)
}

/// A count, and comma-separated parts: time, bytes, requests per second, bytes per second.
fn sentence(count: &str, rest: &str, names: [&str; 5], n: usize) -> Option<Vec<fathom_record::Figure>> {
    let (number, printed, _) = amount(count)?;
    let mut figures = vec![figure(names[0], number.value, COUNT, printed.into(), n)];
    for part in rest.split(", ") {
        let (value, printed, word) = amount(part)?;
        let (name, unit, printed) = match (value.unit, word) {
            (NS, "") => (names[1], NS, printed.to_owned()),
            (BYTES, "" | "read" | "written") => (names[2], BYTES, printed.to_owned()),
            (OPS_PER_S, "") => (names[3], OPS_PER_S, printed.to_owned()),
            (COUNT, "iops") => (names[3], OPS_PER_S, format!("{printed} iops")),
            (BYTES_PER_S, "") => (names[4], BYTES_PER_S, printed.to_owned()),
            _ => return None,
        };
        figures.push(figure(name, value.value, unit, printed, n));
    }
    Some(figures)
}

/// "48.6 us / 889.2 us / 1.74 ms / 811.1 us", or "0.2/2.8/12.7/5.0 ms" in old releases.
fn latencies(values: &str, n: usize) -> Option<Vec<fathom_record::Figure>> {
    let names = ["latency min", "latency avg", "latency max", "latency mdev"];
    let parts: Vec<&str> = values.split('/').map(str::trim).collect();
    let common = parts.last()?.split_whitespace().nth(1)?;
    let of = |(name, part): (&&str, &&str)| {
        let text = if part.contains(' ') { (*part).to_owned() } else { format!("{part} {common}") };
        let (value, printed, rest) = amount(&text)?;
        let latency = without_direction_of_spread(figure(name, value.value, value.unit, printed.into(), n));
        (latency.unit == NS && rest.is_empty()).then_some(latency)
    };
    (parts.len() == 4).then(|| names.iter().zip(&parts).map(of).collect()).flatten()
}

/// A deviation has no better direction.
fn without_direction_of_spread(mut figure: fathom_record::Figure) -> fathom_record::Figure {
    figure.higher_is_better = figure.higher_is_better.filter(|_| !figure.name.ends_with("mdev"));
    figure
}

/// The ten numbers of `-p` and `-B`. Alone they might come from any program.
fn report(line: &str, n: usize) -> Option<Vec<fathom_record::Figure>> {
    let one = |base| Unit { base, factor: 1.0 };
    let columns = [
        ("requests", one(COUNT)),
        (TIME, one(NS)),
        (OPERATIONS, one(OPS_PER_S)),
        (THROUGHPUT, one(BYTES_PER_S)),
        ("latency min", one(NS)),
        ("latency avg", one(NS)),
        ("latency max", one(NS)),
        ("latency mdev", one(NS)),
        ("generated requests", one(COUNT)),
        ("time with pauses", one(NS)),
    ];
    let numbers = all_numbers(line).filter(|n| n.len() == columns.len())?;
    let of = |((name, unit), (value, word)): (&(&str, Unit), &(f64, &str))| {
        without_direction_of_spread(converted(name, *value, *unit, (*word).into(), n))
    };
    Some(columns.iter().zip(&numbers).map(of).collect())
}
