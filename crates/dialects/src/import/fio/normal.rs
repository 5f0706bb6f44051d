//! The normal report, 2.x and 3.x: a heading for each job, then lines for each direction that start with a name and consist of
//! "key=value" pairs. The name determines the section.

use super::super::Block;
use super::super::cell::{add, cell, converted, figure, run};
use super::super::lines::{Lines, leading};
use super::super::units::{Prefix, Unit, unit};
use super::names::JobOptions;
use super::terse;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};
use fathom_record::{Phase, Status};
use std::collections::BTreeMap;

/// State while reading a report.
#[derive(Default)]
struct NormalReport {
    version: String,
    /// Options printed before the start, by job name.
    printed: BTreeMap<String, JobOptions>,
    job: JobOptions,
    phases: Vec<Phase>,
    /// Whether the last of `phases` is a direction's cell.
    direction: bool,
    /// Latency kind and unit of the percentiles that follow.
    percentiles: Option<(&'static str, Unit)>,
    /// Headings of jobs seen so far.
    heads: Vec<String>,
    /// Why a job ended early.
    error: Option<String>,
    /// Lines that were only partly understood.
    partly: Vec<usize>,
    /// Whether the current lines are about devices.
    disks: bool,
    jobs: usize,
}

pub(super) fn parse(lines: &Lines, at: usize) -> Option<Block> {
    let first = lines.trimmed(at);
    if !(is_told(first) || is_job(first)) {
        return None;
    }
    let mut report = NormalReport::default();
    let mut block = Block { last: at, ..Block::default() };
    let mut unknown = Vec::new();
    for n in at..lines.len() {
        let line = lines.trimmed(n);
        if line.is_empty() {
            continue;
        }
        // Repeated options after a report start the next report.
        if report.jobs > 0 && is_told(line) {
            break;
        }
        if report.takes(line, n) {
            block.last = n;
            block.left.append(&mut unknown);
        } else {
            unknown.push(n);
            // With several formats, the options of the jobs are printed before the terse lines.
            if unknown.len() > 3 || terse::parse(lines, n).is_some() {
                break;
            }
        }
    }
    let jobs = report.jobs;
    let mut run =
        run("fio", if report.version.is_empty() { "fio".into() } else { report.version }, report.phases);
    if run.phases.is_empty() {
        return None;
    }
    if let Some(error) = report.error {
        (run.status, run.error) = (Status::Failed, Some(error));
    }
    block.partly = report.partly;
    block.what = format!("fio report, {jobs} job{}", if jobs == 1 { "" } else { "s" });
    block.runs.push(run);
    Some(block)
}

/// "mix: (g=1): rw=randrw, bs=(R) 4096B-4096B, ..., ioengine=psync, iodepth=1".
fn is_told(line: &str) -> bool {
    line.contains(": (g=") && line.contains("rw=")
}

/// "mix: (groupid=1, jobs=2): err= 0: pid=14510: Sat Nov 21 19:31:12 2026".
fn is_job(line: &str) -> bool {
    line.contains(": (groupid=") && line.contains("jobs=")
}

impl NormalReport {
    fn takes(&mut self, line: &str, n: usize) -> bool {
        if is_told(line) {
            return self.options(line);
        }
        if is_job(line) {
            return self.head(line);
        }
        if line.starts_with("fio-") || line.starts_with("fio ") {
            self.version = line.split_whitespace().next().unwrap_or("fio").into();
            return true;
        }
        if line == "..."
            || CHATTER.iter().any(|c| line.starts_with(c))
            || line.contains(": Laying out IO file")
        {
            self.disks |= line.starts_with("Disk stats");
            return true;
        }
        if line.starts_with("Jobs: ") {
            return true;
        }
        if line.starts_with('|') {
            return self.percentile_line(line, n);
        }
        if self.disks && line.contains(": ios=") {
            return self.disk(line, n);
        }
        let Some((name, rest)) = line.split_once([':', '=']) else { return false };
        let rest = if line[name.len()..].starts_with('=') { line } else { rest };
        self.named(name.trim(), rest, n)
    }

    fn options(&mut self, line: &str) -> bool {
        let name = line.split(": (g=").next().unwrap_or("").to_string();
        let mut job = JobOptions { name: name.clone(), ..JobOptions::default() };
        for pair in line.split([',', ' ']) {
            if let Some((key, value)) = pair.split_once('=') {
                job.option(key, value);
            }
        }
        // "bs=(R) 4096B-4096B" in 3.x, "bs=4K-4K/4K-4K/4K-4K" in 2.x.
        if let Some(size) = line.split("bs=(R) ").nth(1).and_then(|r| r.split('-').next()) {
            job.option("bs", size);
        }
        self.printed.insert(name, job);
        true
    }

    fn head(&mut self, line: &str) -> bool {
        let name = line.split(": (groupid=").next().unwrap_or("").to_string();
        self.job = self.printed.get(&name).cloned().unwrap_or(JobOptions { name, ..JobOptions::default() });
        // Repeated with --status-interval: the earlier report is included in this one.
        let head = line.split("pid=").map(|part| part.split(':').next().unwrap_or(part)).collect::<String>();
        if self.heads.contains(&head) {
            self.heads.clear();
            self.phases.clear();
            self.jobs = 0;
        }
        self.heads.push(head);
        self.job.jobs = line.split("jobs=").nth(1).and_then(leading).map(|(n, _, _)| n as u64);
        self.jobs += 1;
        let code = line.split("err=").nth(1).and_then(leading).map_or(0.0, |(code, ..)| code);
        if code != 0.0 && self.error.is_none() {
            self.error = Some(super::error(&self.job.name, code as i64, Some(line)));
        }
        self.direction = false;
        self.disks = false;
        self.phases.push(self.job.cell("job"));
        true
    }

    fn named(&mut self, name: &str, rest: &str, n: usize) -> bool {
        let mut words = name.split([' ', '(', ')']).filter(|w| !w.is_empty());
        let (word, second) = (words.next().unwrap_or(""), words.next());
        match (word, second) {
            ("read" | "write" | "trim" | "mixed", None)
                if rest.contains("IOPS=") || rest.contains("iops=") =>
            {
                self.rates(word, rest, n)
            }
            ("READ" | "WRITE" | "TRIM" | "MIXED", None) => self.group(word, rest, n),
            ("errors", None) if rest.contains("total=") => self.errors(rest, n),
            ("slat" | "clat" | "lat" | "sync", Some(kind)) if rest.contains("min=") => {
                self.latency(word, kind, rest, n)
            }
            ("clat" | "lat" | "slat" | "sync", Some("percentiles")) => {
                let of = name.split(['(', ')']).nth(1).and_then(|u| unit(u, Prefix::Binary));
                self.percentiles = of.map(|unit| (kind_of_latency(word), unit));
                self.percentiles.is_some()
            }
            ("lat", Some("nsec" | "usec" | "msec")) => self.shares(name, rest, n),
            ("bw" | "iops", _) if rest.contains("min=") => self.spread(word, name, rest, n),
            ("cpu" | "submit" | "complete", _) | ("IO", Some("depths")) => self.shares(name, rest, n),
            ("issued" | "latency", _) => self.shares(name, rest, n),
            ("fsync/fdatasync/sync_file_range" | "fsync/fdatasync/sync_file_range/syncfs", None) => {
                self.phases.push(self.job.cell("sync"));
                self.direction = true;
                true
            }
            ("Description", _) => true,
            _ => false,
        }
    }

    /// The cell for lines without a direction.
    fn current(&mut self) -> Option<&mut Phase> {
        self.phases.last_mut()
    }

    /// The cell of the job itself: CPU time, depths.
    fn of_job(&mut self) -> Option<&mut Phase> {
        let job = &self.job.name;
        self.phases
            .iter_mut()
            .rev()
            .find(|p| p.name == "job" && p.axes.tags.get("job") == Some(job).filter(|j| !j.is_empty()))
    }

    /// "IOPS=17.4k, BW=68.1MiB/s (71.4MB/s)(11.1MiB/163msec)", in 2.x "io=1984.0KB, bw=32000KB/s, iops=8000, runt=    62msec".
    fn rates(&mut self, word: &str, rest: &str, n: usize) -> bool {
        let mut phase = self.job.cell(word);
        let prefix = prefix(rest);
        for (key, value) in keyed(rest) {
            let Some((number, text, behind)) = scaled(value) else { continue };
            // fio prints zeros for the sum of both directions, with its latencies below them.
            if word == "mixed" && number == 0.0 {
                continue;
            }
            let figure = match key.to_ascii_lowercase().as_str() {
                "iops" => figure(OPERATIONS, number, OPS_PER_S, text, n),
                "bw" | "io" | "runt" => {
                    let Some(unit) = of_bytes_or_bits(behind, prefix) else { continue };
                    let name = match unit.base {
                        BYTES_PER_S => THROUGHPUT,
                        BYTES => "bytes",
                        NS => TIME,
                        _ => continue,
                    };
                    converted(name, number, unit, text, n)
                }
                _ => continue,
            };
            add(&mut phase, figure);
        }
        // In 3.x the last bracket has amount and time.
        if let Some((amount, time)) =
            rest.rsplit_once('(').and_then(|(_, b)| b.split(')').next()).and_then(|b| b.split_once('/'))
            && let (Some((bytes, a, ua)), Some((ms, b, ub))) = (scaled(amount), scaled(time))
            && let (Some(ua), Some(ub)) = (
                of_bytes_or_bits(ua, prefix).filter(|u| u.base == BYTES),
                of_bytes_or_bits(ub, prefix).filter(|u| u.base == NS),
            )
        {
            if word != "mixed" || bytes > 0.0 {
                add(&mut phase, converted("bytes", bytes, ua, a, n));
            }
            add(&mut phase, converted(TIME, ms, ub, b, n));
        }
        self.direction = true;
        self.phases.push(phase);
        true
    }

    /// "clat (usec): min=46, max=8017, avg=109.80, stdev=305.99".
    fn latency(&mut self, word: &str, kind: &str, rest: &str, n: usize) -> bool {
        let Some(unit) = unit(kind, Prefix::Binary).filter(|u| u.base == NS) else { return false };
        let name = kind_of_latency(word);
        let Some(phase) = self.phases.last_mut() else { return false };
        for (key, value) in keyed(rest) {
            let Some((number, text, _)) = scaled(value) else {
                self.partly.push(n);
                continue;
            };
            let mut figure = converted(&format!("{name} {key}"), number, unit, format!("{text} {kind}"), n);
            if key == "stdev" {
                figure.higher_is_better = None;
            }
            add(phase, figure);
        }
        true
    }

    /// "|  1.00th=[   57],  5.00th=[   63],".
    fn percentile_line(&mut self, line: &str, n: usize) -> bool {
        let Some((name, unit)) = self.percentiles else { return false };
        let Some(phase) = self.current() else { return false };
        let mut any = false;
        for part in line.trim_start_matches('|').split("],") {
            let Some((p, value)) = part.split_once("th=[") else { continue };
            let Some((value, text, _)) = leading(value) else { continue };
            let p = p.trim().trim_end_matches('0').trim_end_matches('.');
            add(phase, converted(&format!("{name} p{p}"), value, unit, text.into(), n));
            any = true;
        }
        any
    }

    /// "bw (  KiB/s): min=  532, max=  686, per=0.10%, avg=622.87, stdev=24.82, samples=  100", and iops likewise.
    fn spread(&mut self, word: &str, name: &str, rest: &str, n: usize) -> bool {
        let kind = name.split(['(', ')']).nth(1).map_or("", str::trim);
        let of = match word {
            "iops" => Unit { base: OPS_PER_S, factor: 1.0 },
            _ => of_bytes_or_bits(kind, Prefix::Binary).unwrap_or(Unit { base: BYTES_PER_S, factor: 1024.0 }),
        };
        let Some(phase) = self.phases.last_mut() else { return false };
        for (key, value) in keyed(rest) {
            let Some((number, text, behind)) = scaled(value) else {
                self.partly.push(n);
                continue;
            };
            let of = match key {
                "samples" => Unit { base: COUNT, factor: 1.0 },
                "per" => Unit { base: PERCENT, factor: 1.0 },
                _ => of,
            };
            let printed = if behind.is_empty() && word == "bw" && of.base == BYTES_PER_S {
                format!("{text} {kind}")
            } else {
                text
            };
            let mut figure = converted(&format!("{word} {key}"), number, of, printed, n);
            if key == "stdev" {
                figure.higher_is_better = None;
            }
            add(phase, figure);
        }
        true
    }

    /// "usr=1.25%, sys=21.94%, ctx=2843", "1=100.0%, 2=0.0%", "total=496,528,0,0 short=0,0,0,0".
    fn shares(&mut self, name: &str, rest: &str, n: usize) -> bool {
        let name: String = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some(phase) = self.of_job() else { return false };
        let mut any = false;
        for (key, value) in keyed(rest) {
            for (which, value) in value.split(',').filter(|v| !v.trim().is_empty()).enumerate() {
                let Some((number, text, behind)) = scaled(value) else { continue };
                let which = if which > 0 { format!(" {}", which + 1) } else { String::new() };
                let base = unit(behind, Prefix::Binary).unwrap_or(Unit { base: COUNT, factor: 1.0 });
                let mut figure = converted(&format!("{name} {key}{which}"), number, base, text, n);
                figure.higher_is_better = None;
                add(phase, figure);
                any = true;
            }
        }
        any
    }

    /// "READ: bw=68.1MiB/s (71.4MB/s), 68.1MiB/s-68.1MiB/s (...), io=11.1MiB (11.6MB), run=163-163msec", in 2.x "io=.., aggrb=..".
    fn group(&mut self, word: &str, rest: &str, n: usize) -> bool {
        let mut phase = cell(&format!("group {}", word.to_ascii_lowercase()));
        let prefix = prefix(rest);
        (phase.reads, phase.writes) = (word == "READ", word == "WRITE");
        for (key, value) in keyed(rest) {
            // "163-170msec" are the shortest and the longest job; the group took as long as the longest.
            if let ("run", Some((shortest, longest))) = (key, value.split_once('-')) {
                let unit = unit(
                    super::super::lines::unit(longest.trim_start_matches(|c: char| c.is_numeric())),
                    Prefix::Binary,
                );
                for (name, value) in [("time of the shortest job", shortest), (TIME, longest)] {
                    if let (Some((number, text, _)), Some(unit)) = (scaled(value), unit) {
                        add(&mut phase, converted(name, number, unit, text, n));
                    }
                }
                continue;
            }
            let range = value.split(", ").nth(1).filter(|_| key == "bw");
            if let Some((slowest, fastest)) = range.and_then(|range| range.split_once('-')) {
                for (name, value) in
                    [("throughput of the slowest job", slowest), ("throughput of the fastest job", fastest)]
                {
                    if let Some((number, text, behind)) = scaled(value)
                        && let Some(unit) = of_bytes_or_bits(super::super::lines::unit(behind), prefix)
                    {
                        add(&mut phase, converted(name, number, unit, text, n));
                    }
                }
            }
            let Some((number, text, behind)) = scaled(value) else { continue };
            let Some(unit) = of_bytes_or_bits(super::super::lines::unit(behind), prefix) else { continue };
            let name = match (key, unit.base) {
                ("bw" | "aggrb", BYTES_PER_S) => THROUGHPUT,
                ("io", _) => "bytes",
                ("run", _) => TIME,
                (other, _) => other,
            };
            add(&mut phase, converted(name, number, unit, text, n));
        }
        // All groups print the same name.
        let groups = self.phases.iter().filter(|p| p.name == phase.name).count();
        if groups > 0 {
            phase.axes.tags.insert("group".into(), groups.to_string());
        }
        self.phases.push(phase);
        true
    }

    /// "total=17, first_error=5/<Input/output error>": with `continue_on_error` the job went on.
    fn errors(&mut self, rest: &str, n: usize) -> bool {
        let words = format!("errors: {}", rest.trim());
        self.error = Some(match self.error.take() {
            Some(first) => format!("{first}; {words}"),
            None => format!("fio: job {}: {words}", self.job.name),
        });
        let total = keyed(rest).into_iter().find(|(key, _)| *key == "total").and_then(|(_, v)| scaled(v));
        if let (Some((number, text, _)), Some(phase)) = (total, self.of_job()) {
            add(phase, figure("errors", number, COUNT, text, n));
        }
        true
    }

    /// "vda: ios=1326/104, sectors=10624/16440, merge=0/4, ticks=97/11, in_queue=110, util=9.87%".
    fn disk(&mut self, line: &str, n: usize) -> bool {
        let Some((name, rest)) = line.split_once(':') else { return false };
        let mut phase = cell(&format!("device {}", name.trim()));
        for (key, value) in keyed(rest) {
            for (value, way) in value.trim_end_matches(',').split('/').zip(["read", "write"]) {
                let Some((number, text, behind)) = scaled(value) else { continue };
                let milliseconds = Unit { base: NS, factor: 1e6 };
                let count = Unit { base: COUNT, factor: 1.0 };
                let (unit, name) = match (key, behind) {
                    (_, "%") => (Unit { base: PERCENT, factor: 1.0 }, key.to_string()),
                    ("in_queue", _) => (milliseconds, key.to_string()),
                    ("ticks", _) => (milliseconds, format!("{way} {key}")),
                    _ => (count, format!("{way} {key}")),
                };
                let mut figure = converted(&name, number, unit, text, n);
                figure.higher_is_better = None;
                add(&mut phase, figure);
            }
        }
        self.phases.push(phase);
        true
    }
}

/// Whether "MB" is decimal or binary: decimal in output that also has "MiB" (`kb_base=1000`), binary in fio 2.x.
fn prefix(rest: &str) -> Prefix {
    if rest.contains("iB") || rest.contains("ibit") { Prefix::Decimal } else { Prefix::Binary }
}

/// A unit, also of bits (`unit_base=1`).
fn of_bytes_or_bits(word: &str, prefix: Prefix) -> Option<Unit> {
    match word.strip_suffix("bit/s") {
        Some(letters) => unit(&format!("{letters}B/s"), prefix).map(|u| Unit { factor: u.factor / 8.0, ..u }),
        None => unit(word, prefix),
    }
}

/// Latency name for the first word of a line.
fn kind_of_latency(word: &str) -> &'static str {
    match word {
        "slat" => "submission latency",
        "clat" => "completion latency",
        _ => "latency",
    }
}

const CHATTER: [&str; 4] = ["Starting ", "Run status group", "Disk stats", "note: both iodepth"];

/// "key=value" pairs; a value extends to the next key.
fn keyed(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, value)) = rest.split_once('=') {
        let mut key = before.rsplit([' ', ',', '(', ':']).next().unwrap_or(before);
        let mut value = value;
        // ">=64=0.0%": the sign is part of the key, as there may be a "64=" too.
        if before.ends_with('>') {
            let Some((number, behind)) = value.split_once('=') else { break };
            let start = before.len() - 1;
            key = &rest[start..start + ">=".len() + number.len()];
            value = behind;
        }
        let end = next_key(value);
        found.push((key, value[..end].trim().trim_end_matches(',')));
        rest = &value[end..];
    }
    found
}

/// Start of the next key: after the last blank or comma before the next "=".
fn next_key(value: &str) -> usize {
    let Some(at) = value.find('=') else { return value.len() };
    let before = value[..at].trim_end_matches('>');
    before.rfind([' ', ',']).map_or(0, |b| b + 1).min(at)
}

/// A number, possibly with a magnitude ("17.4k"), as printed, and the unit after it.
fn scaled(text: &str) -> Option<(f64, String, &str)> {
    let (value, word, rest) = leading(text.trim_start_matches(['(', ' ']))?;
    let suffix = super::super::lines::unit(rest);
    // "17.4k" and "1.2M" operations; byte units have more letters.
    let (factor, unit) = match suffix {
        "k" => (1e3, ""),
        "M" => (1e6, ""),
        other => (1.0, other),
    };
    if !rest.starts_with(suffix) {
        // After a blank it is a word, not a unit.
        return Some((value, word.into(), ""));
    }
    Some((value * factor, format!("{word}{suffix}"), unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_a_line() {
        assert_eq!(
            keyed(" min=  532, max=  686, per=0.10%"),
            [("min", "532"), ("max", "686"), ("per", "0.10%")]
        );
        assert_eq!(
            keyed(" 1=100.0%, 32=0.0%, >=64=1.5%"),
            [("1", "100.0%"), ("32", "0.0%"), (">=64", "1.5%")]
        );
        assert_eq!(
            keyed("total=496,528,0,0 short=0,0,0,0"),
            [("total", "496,528,0,0"), ("short", "0,0,0,0")]
        );
        assert_eq!(scaled("17.4k"), Some((17400.0, "17.4k".into(), "")));
        assert_eq!(scaled("68.1MiB/s (71.4MB/s)"), Some((68.1, "68.1MiB/s".into(), "MiB/s")));
    }
}
