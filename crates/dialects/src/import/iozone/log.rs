//! A log from its banner to "iozone test complete." and the reports after it. If the banner is missing, it starts at the first block
//! or table.

use super::super::Block;
use super::super::cell::run;
use super::super::lines::Lines;
use super::head::{BANNER, END, Head};
use super::{report, rows, throughput};
use fathom_record::{Phase, Status};

/// Unknown lines that end a truncated log.
const MOST_UNKNOWN: usize = 3;

/// Section of the log.
#[derive(PartialEq)]
enum LogSection {
    Head,
    Contributors,
    Figures,
}

/// A log starting at this line.
pub(super) fn parse(lines: &Lines, at: usize) -> Option<Block> {
    let first = lines.trimmed(at);
    let banner = first.contains(BANNER);
    if !(banner || throughput::begins(first) || rows::is_head(first) || is_above(lines, at)) {
        return None;
    }
    let mut head = Head::default();
    let mut phases: Vec<Phase> = Vec::new();
    let mut block = Block { last: at, ..Block::default() };
    let mut part = if banner { LogSection::Head } else { LogSection::Figures };
    let mut table = false;
    // Number of values in the table's previous row; `None` before the first.
    let mut width = None;
    let mut unknown = Vec::new();
    let mut errors: Vec<String> = Vec::new();
    let mut n = at;
    while n < lines.len() && unknown.len() <= MOST_UNKNOWN {
        let line = lines.trimmed(n);
        if n > at && line.contains(BANNER) {
            break;
        }
        let known = if line.is_empty() {
            // Blank lines may occur anywhere; they end the list of contributors.
            if part == LogSection::Contributors {
                part = LogSection::Head;
            }
            n += 1;
            continue;
        } else if line.starts_with(END) {
            block.last = n;
            block.left.append(&mut unknown);
            break;
        } else if rows::is_head(line) || rows::is_above_head(line) {
            (table, width) = (true, None);
            part = LogSection::Figures;
            true
        } else if let Some(read) = report::table(lines, n, &head) {
            report::merge(&mut phases, read.phases);
            block.left.append(&mut unknown);
            (n, block.last) = (read.last + 1, read.last);
            part = LogSection::Figures;
            continue;
        } else if part == LogSection::Figures && is_error(line) {
            errors.push(line.into());
            true
        } else if !errors.is_empty() {
            // Nothing follows.
            break;
        } else if throughput::takes(&mut phases, &head, line, n) {
            part = LogSection::Figures;
            true
        } else if table && rows::takes(&mut phases, &head, &mut width, lines.at(n), n) {
            true
        } else {
            if line.starts_with("Contributors") {
                part = LogSection::Contributors;
            }
            // Other banner lines are ignored; they contain no figures.
            head.takes(line) || part == LogSection::Contributors || (part == LogSection::Head && n - at < 80)
        };
        if known {
            block.last = n;
            block.left.append(&mut unknown);
        } else {
            unknown.push(n);
        }
        n += 1;
    }
    after_the_end(lines, &mut block, &mut phases, &head);
    if phases.is_empty() {
        return None;
    }
    block.what = what(&head, &phases, table);
    let mut run = run("iozone", program(&head), phases);
    run.argv.clone_from(&head.command);
    run.started_at.clone_from(&head.began);
    if !errors.is_empty() {
        (run.status, run.error) = (Status::Failed, Some(errors.join("; ")));
    }
    block.runs.push(run);
    Some(block)
}

/// IOzone's messages when it ends early, its own or from perror(3).
fn is_error(line: &str) -> bool {
    const CALLS: [&str; 14] = [
        "read", "write", "fread", "fwrite", "pread", "pwrite", "open", "close", "fsync", "lseek", "mmap",
        "creat", "fopen", "fdopen",
    ];
    line.starts_with("Error ")
        || line.starts_with("Seeked to ")
        || line.starts_with("Can not ")
        || line.starts_with("iozone: interrupted")
        || line
            .split_once(": ")
            .is_some_and(|(call, why)| CALLS.contains(&call) && why.starts_with(char::is_uppercase))
}

/// The line of words above a table without a banner.
fn is_above(lines: &Lines, at: usize) -> bool {
    rows::is_above_head(lines.trimmed(at)) && rows::is_head(lines.trimmed(at + 1))
}

/// Reads -R reports after "test complete".
fn after_the_end(lines: &Lines, block: &mut Block, phases: &mut Vec<Phase>, head: &Head) {
    let mut n = block.last + 1;
    let mut last = None;
    while n < lines.len() && n - block.last < 6 {
        if lines.trimmed(n).starts_with("Excel output is below") {
            last = Some(n);
        } else if let Some(read) = report::table(lines, n, head).filter(|_| last.is_some()) {
            report::merge(phases, read.phases);
            block.last = read.last;
            n = read.last;
        } else if !lines.is_blank(n) {
            break;
        }
        n += 1;
    }
    block.last = block.last.max(last.unwrap_or(0));
}

/// Program name with release.
pub(super) fn program(head: &Head) -> String {
    format!("IOzone {}", head.version).trim_end().to_string()
}

fn what(head: &Head, phases: &[Phase], table: bool) -> String {
    let direct = if head.direct { ", O_DIRECT" } else { "" };
    if table {
        let mut rows: Vec<_> = phases.iter().map(|p| (p.axes.file_bytes, p.axes.record_bytes)).collect();
        rows.sort_unstable();
        rows.dedup();
        return format!("IOzone table of {} rows{direct}", rows.len());
    }
    let mut streams: Vec<u64> = phases.iter().filter_map(|p| p.axes.streams).collect();
    streams.dedup();
    let list: Vec<String> = streams.iter().map(u64::to_string).collect();
    let noun = if streams == [1] { "process" } else { "processes" };
    format!("IOzone throughput mode, {} {noun}{direct}", list.join(", "))
}
