//! ioping's JSON, `-J`: an object per request and per statistics report. If a document is complete, its last statistics are
//! those of all requests.

use super::super::Block;
use super::super::cell::{cell, figure, run};
use super::super::json_leaves::{Leaf, scan};
use super::super::lines::Lines;
use super::{completed_name, course, repeat, without_direction_of_spread};
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S};
use fathom_record::{Figure, Phase};

pub(super) fn parse(lines: &Lines, at: usize) -> Option<Block> {
    let mut first = lines.document(at).take(3).map(str::trim);
    let begin: String = first.by_ref().collect();
    if !begin.replace(' ', "").starts_with("[{\"timestamp\":") {
        return None;
    }
    let mut all: Vec<Object> = Vec::new();
    let scanned = scan(lines.document(at), |leaf| {
        let Some(n) = leaf.path.first().and_then(|n| n.parse::<usize>().ok()) else { return };
        if all.len() <= n {
            all.push(Object::default());
        }
        if let Some(object) = all.last_mut() {
            object.take(&leaf, at + leaf.line);
        }
    });
    if !scanned.whole && !scanned.broken && lines.document_is_cut() {
        return Some(Block { last: at, too_long: true, ..Block::default() });
    }
    let (mut total, mut requests, mut reports) = (cell(""), course("request"), course("report"));
    let last = all.iter().rposition(|object| !object.statistics.is_empty()).filter(|_| scanned.whole);
    for (n, object) in all.into_iter().enumerate() {
        total.reads |= object.reads;
        total.writes |= object.writes;
        total.axes.record_bytes = total.axes.record_bytes.or(object.bytes);
        // It is unknown whether a truncated request counts.
        if let (Some(mut latency), Some(ignored)) = (object.latency, object.ignored) {
            if ignored {
                latency.name = "latency of a request that is not counted".into();
            }
            repeat(&mut requests, vec![latency]);
        }
        if Some(n) == last {
            total.repetitions[0].figures = object.statistics;
        } else if !object.statistics.is_empty() {
            repeat(&mut reports, object.statistics);
        }
    }
    let name = match (total.reads, total.writes) {
        (false, false) => "requests",
        directions => completed_name(directions),
    };
    let cut = if scanned.whole { "" } else { ", cut off" };
    let what = match requests.repetitions.len() {
        0 => format!("ioping JSON, statistics{cut}"),
        count => format!("ioping JSON, {}{cut}", super::super::several(count, "request")),
    };
    let phases = [total, requests, reports].map(|p| Phase { name: name.into(), ..p }).into();
    let runs = vec![run("ioping", "ioping".into(), phases)];
    if runs[0].phases.is_empty() {
        return None;
    }
    Some(Block { last: at + scanned.last, what, runs, is_document: true, ..Block::default() })
}

#[derive(Default)]
struct Object {
    bytes: Option<u64>,
    reads: bool,
    writes: bool,
    ignored: Option<bool>,
    latency: Option<Figure>,
    statistics: Vec<Figure>,
}

impl Object {
    fn take(&mut self, leaf: &Leaf, line: usize) {
        let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
        let value = leaf.text.parse::<f64>().ok().filter(|_| leaf.number);
        match path[1..] {
            ["io", "operation"] => {
                self.reads = leaf.text == "read";
                self.writes = leaf.text == "write";
            }
            ["io", "size"] => self.bytes = leaf.text.parse().ok().filter(|bytes| *bytes > 0),
            ["io", "ignored"] => self.ignored = Some(leaf.text == "true"),
            ["io", "time"] => {
                self.latency = value.map(|ns| figure("latency", ns, NS, format!("{} ns", leaf.text), line));
            }
            [part @ ("stat" | "load"), key] => {
                let (Some(value), Some((name, unit))) = (value, named(part, key)) else { return };
                let figure = figure(name, value, unit, leaf.text.clone(), line);
                self.statistics.push(without_direction_of_spread(figure));
            }
            _ => {}
        }
    }
}

/// Meaning of a number in the statistics; `load` covers all requests with the pauses between them.
fn named(part: &str, key: &str) -> Option<(&'static str, &'static str)> {
    Some(match (part, key) {
        ("stat", "count") => ("requests", COUNT),
        ("stat", "size") => ("bytes", BYTES),
        ("stat", "time") => (TIME, NS),
        ("stat", "iops") => (OPERATIONS, OPS_PER_S),
        ("stat", "bps") => (THROUGHPUT, BYTES_PER_S),
        ("stat", "min") => ("latency min", NS),
        ("stat", "avg") => ("latency avg", NS),
        ("stat", "max") => ("latency max", NS),
        ("stat", "mdev") => ("latency mdev", NS),
        ("load", "count") => ("generated requests", COUNT),
        ("load", "size") => ("generated bytes", BYTES),
        ("load", "time") => ("time with pauses", NS),
        ("load", "iops") => ("generated requests per second", OPS_PER_S),
        ("load", "bps") => ("generated bytes per second", BYTES_PER_S),
        _ => return None,
    })
}
