//! Reports of CrystalDiskMark 3 to 8, KDiskMark, and programs with the same format: a cell per line.

use super::Block;
use super::cell::{add, cell, converted, run};
use super::context::{Context, is_rule};
use super::lines::{Lines, leading, unit as word_of};
use super::units::{Prefix, Unit, unit};
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, NS, OPS_PER_S};

/// Maximum number of lines between the program name and the first test.
const HEAD: usize = 10;
const MB: f64 = 1e6;
/// KDiskMark's MB: it takes KiB per second from fio and shifts the decimal point.
const THOUSAND_KIB: f64 = 1024e3;

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = lines.trimmed(at);
    let program = program(first);
    let has_tests = || lines.find(at + 1, HEAD, |l| test(l, Some(MarkDirection::Read)).is_some()).is_some();
    if test(first, None).is_none() && !((program.is_some() || section(first).is_some()) && has_tests()) {
        return None;
    }
    let mut block = Block { last: at, ..Block::default() };
    let mut tests = Vec::new();
    let mut section_is = None;
    let mut file_bytes = None;
    for n in at..lines.len() {
        let line = lines.trimmed(n);
        if line.is_empty() {
            continue;
        }
        if let Some(test) = test(line, section_is) {
            tests.push((n, test));
        } else if n > at && is_name(line) {
            block.left.push(n);
        } else if let Some(of) = section(line) {
            section_is = Some(of);
        } else if let Some((key, value)) = setting(line) {
            if key == "Test" {
                file_bytes = size(value);
            }
        } else if tests.is_empty() && (n == at || n < at + HEAD && is_head(line)) {
        } else {
            break;
        }
        block.last = n;
    }
    if tests.is_empty() {
        return None;
    }
    let mb = mb_of(&tests);
    let phases: Vec<Phase> = tests.iter().map(|(n, test)| test.cell(file_bytes, mb, *n)).collect();
    let program = program.unwrap_or("a disk mark");
    let said = if mb == MB { "" } else { ", MB of 1000 KiB according to its IOPS" };
    block.what = format!("{program}, {}{said}", super::several(phases.len(), "test"));
    block.has_own_rules = true;
    block.runs.push(run("diskmark", program.into(), phases));
    Some(block)
}

/// "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo", "KDiskMark (3.0.0): https://...".
fn program(line: &str) -> Option<&str> {
    let words = line.split(" (C)").next()?.split(": http").next()?;
    let is_one = words.len() < 60 && words.split([' ', '(']).next()?.ends_with("DiskMark");
    is_one.then_some(words.trim())
}

fn is_head(line: &str) -> bool {
    is_rule(line)
        || ["* MB/s =", "* KB =", "Crystal Dew World", "Flexible I/O Tester"]
            .iter()
            .any(|h| line.starts_with(h))
}

#[derive(Clone, Copy, PartialEq)]
enum MarkDirection {
    Read,
    Write,
    Mix,
}

/// "[Read]", "[Mix] Read 70%/Write 30%".
fn section(line: &str) -> Option<MarkDirection> {
    Some(match line.strip_prefix('[')?.split_once(']')? {
        ("Read", "") => MarkDirection::Read,
        ("Write", "") => MarkDirection::Write,
        ("Mix", _) => MarkDirection::Mix,
        _ => return None,
    })
}

/// Settings below the tests.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let known = ["Profile", "Test", "Mode", "Time", "Date", "OS", "Comment", "Mix Ratio"];
    known.contains(&key.trim()).then(|| (key.trim(), value.trim()))
}

/// "1 GiB (x5) [...]".
fn size(text: &str) -> Option<u64> {
    let (value, _, rest) = leading(text)?;
    let unit = unit(word_of(rest), Prefix::Binary).filter(|u| u.base == BYTES)?;
    Some((value * unit.factor) as u64)
}

struct MarkTest<'t> {
    direction: MarkDirection,
    is_random: bool,
    record_bytes: Option<u64>,
    queue_depth: Option<u64>,
    streams: Option<u64>,
    /// Value and its printed form.
    rate: (f64, &'t str),
    operations: Option<(f64, &'t str)>,
    latency: Option<(f64, &'t str)>,
}

/// "RND    4KiB (Q= 32, T=16):  4094.649 MB/s [ 999670.2 IOPS] <   494.56 us>", "Sequential Read (Q= 32,T= 1) :   554.872 MB/s",
/// "Random Read 4KB (QD=1) :    25.206 MB/s [  6153.8 IOPS]".
fn test(line: &str, section: Option<MarkDirection>) -> Option<MarkTest<'_>> {
    let (name, values) = line.split_once(':')?;
    if !is_name(name) {
        return None;
    }
    let is_random = name.starts_with("RND") || name.starts_with("Random");
    let (rate, rest) = values.split_once("MB/s")?;
    let rate = (alone(rate)?, rate.trim());
    let between = |open: &str, close: &str| {
        let part = rest.split_once(open)?.1.split_once(close)?.0.trim();
        Some((alone(part)?, part))
    };
    let operations = between("[", " IOPS]");
    let latency = between("<", " us>");
    // The rest of the line must match the fields found.
    if rest.contains('[') != operations.is_some() || rest.contains('<') != latency.is_some() {
        return None;
    }
    let direction = match (name.contains("Read"), name.contains("Write"), name.contains("Mix")) {
        (true, ..) => MarkDirection::Read,
        (_, true, _) => MarkDirection::Write,
        (.., true) => MarkDirection::Mix,
        _ => section?,
    };
    let (words, setting) = name.split_once('(').unwrap_or((name, ""));
    let record_bytes = words.find(|c: char| c.is_ascii_digit()).and_then(|from| size(&words[from..]));
    let count = |keys: &[&str]| {
        let parts = setting.trim().trim_end_matches(')').split(',');
        let mut pairs = parts.filter_map(|p| p.split_once('='));
        pairs.find(|(key, _)| keys.contains(&key.trim()))?.1.trim().parse().ok()
    };
    Some(MarkTest {
        direction,
        is_random,
        record_bytes,
        queue_depth: count(&["Q", "QD"]),
        streams: count(&["T"]),
        rate,
        operations,
        latency,
    })
}

/// Whether a test line may start like this.
fn is_name(line: &str) -> bool {
    ["RND", "Random", "SEQ", "Sequential"].iter().any(|name| line.starts_with(name))
}

fn alone(text: &str) -> Option<f64> {
    leading(text).filter(|(.., rest)| rest.trim().is_empty()).map(|(value, ..)| value)
}

/// Bytes per MB, computed from the operations and MB of the fastest line, which has the most digits.
fn mb_of(tests: &[(usize, MarkTest)]) -> f64 {
    let fastest = tests
        .iter()
        .filter_map(|(_, t)| Some((t.rate.0, t.operations?.0 * t.record_bytes? as f64)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let ratio = fastest.filter(|(rate, _)| *rate > 0.0).map(|(rate, bytes)| bytes / rate);
    if ratio.is_some_and(|r| (r / THOUSAND_KIB - 1.0).abs() < 0.01) { THOUSAND_KIB } else { MB }
}

impl MarkTest<'_> {
    fn cell(&self, file_bytes: Option<u64>, mb: f64, n: usize) -> Phase {
        let mut phase = cell(match (self.is_random, self.direction) {
            (false, MarkDirection::Read) => "read",
            (false, MarkDirection::Write) => "write",
            (false, MarkDirection::Mix) => "mix",
            (true, MarkDirection::Read) => "random read",
            (true, MarkDirection::Write) => "random write",
            (true, MarkDirection::Mix) => "random mix",
        });
        phase.reads = self.direction != MarkDirection::Write;
        phase.writes = self.direction != MarkDirection::Read;
        phase.axes.file_bytes = file_bytes;
        phase.axes.record_bytes = self.record_bytes;
        phase.axes.queue_depth = self.queue_depth;
        phase.axes.streams = self.streams;
        let figures = [
            (THROUGHPUT, Some(self.rate), Unit { base: BYTES_PER_S, factor: mb }, "MB/s"),
            (OPERATIONS, self.operations, Unit { base: OPS_PER_S, factor: 1.0 }, "IOPS"),
            ("latency avg", self.latency, Unit { base: NS, factor: 1e3 }, "us"),
        ];
        for (name, value, unit, word) in figures {
            if let Some((value, printed)) = value {
                add(&mut phase, converted(name, value, unit, format!("{printed} {word}"), n));
            }
        }
        phase
    }
}
