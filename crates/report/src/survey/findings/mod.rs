//! A survey's findings in sentences, each with its evidence. A rule without figures reports nothing.

mod curves;
mod image;
mod lasting;
mod noise;
mod records;

use super::facts::{files_per_s, in_memory, is_survey, latency, latency_of, named, of_stage, synced};
use crate::units::{bytes, count, percent, ratio, time_ns};
use curves::{knee, scaling};
use fathom_compare::summary::median;
use fathom_record::{Evidence, Finding, Phase, Run};
use image::image;
use lasting::sustained;
use records::record_size;

pub(crate) use curves::limit;

/// The findings of a survey with the stage each belongs to; empty for any other run.
#[must_use]
pub fn of_run(run: &Run) -> Vec<(&'static str, Finding)> {
    if !is_survey(run) {
        return Vec::new();
    }
    let limit = limit(run);
    // A rate limit lets unused capacity through at once, so short phases of more streams look like a gain.
    let direct = scaling(run, "parallel direct reads").filter(|_| limit.is_none());
    let mut found: Vec<(&'static str, Finding)> = place(run).into_iter().map(|f| ("place", f)).collect();
    let parts = [
        ("latency", distance(run)),
        ("latency", durable(run)),
        ("latency", amplified(run)),
        ("queue depth", limit.or_else(|| knee(run))),
        ("streams", direct),
        ("streams", scaling(run, "parallel cached reads")),
        ("streams", scaling(run, "parallel writers")),
        ("mix", mix(run)),
        ("small files", small(run)),
        ("long write", sustained(run)),
    ];
    found.extend(parts.into_iter().filter_map(|(part, finding)| Some((part, finding?))));
    let tests = ["cold read", "write to fsync", "cached read"];
    found.extend(tests.into_iter().filter_map(|test| Some(("record size", record_size(run, test)?))));
    found.extend(repeatable(run).map(|f| ("repetitions", f)));
    found
}

/// What must be known about the place before reading any figure.
pub(crate) fn place(run: &Run) -> Vec<Finding> {
    [memory(run), unknown_device(run), image(run), no_direct(run), out_of_time(run)]
        .into_iter()
        .flatten()
        .collect()
}

fn finding(rule: &str, sentence: String, evidence: Vec<Evidence>) -> Finding {
    Finding { rule: format!("survey-{rule}"), sentence, advice: String::new(), evidence }
}

fn proof(name: &str, value: f64, unit: &str) -> Evidence {
    Evidence { name: name.into(), value, unit: unit.into(), source: "our own calls".into() }
}

fn counted(name: &str, value: f64, unit: &str) -> Evidence {
    Evidence { source: "counters of the device".into(), ..proof(name, value, unit) }
}

fn per_s(rate: f64) -> String {
    format!("{}/s", count(rate.round() as u64))
}

fn memory(run: &Run) -> Option<Finding> {
    let sentence =
        "this is a file system in memory: nothing reached a device, and nothing outlives a power cut.";
    in_memory(run)
        .then(|| finding("memory", sentence.into(), vec![counted("bytes moved by a device", 0.0, "bytes")]))
}

fn unknown_device(run: &Run) -> Option<Finding> {
    let all = || run.phases.iter().flat_map(|p| &p.repetitions);
    if in_memory(run) || all().any(|r| !r.physical.devices.is_empty()) || all().next().is_none() {
        return None;
    }
    let why = all()
        .find_map(|r| r.physical.note.clone())
        .unwrap_or_else(|| "no block device is known below it".into());
    let kind = run.environment["filesystem"]["type"].as_str().unwrap_or("unknown");
    let sentence = format!("what reached a device is not known on this file system ({kind}): {why}.");
    Some(finding("unknown-device", sentence, vec![counted("repetitions with counters of a device", 0.0, "")]))
}

fn no_direct(run: &Run) -> Option<Finding> {
    // The last step of the ladder was measured, but an earlier one was not.
    let whole = named(run, "ladder", "write and fsync").is_some();
    if !whole || run.phases.iter().any(|p| p.direct) {
        return None;
    }
    let sentence =
        "O_DIRECT is refused here: reads are of evicted pages instead, and queue depth was not measured.";
    Some(finding("no-direct", sentence.into(), vec![proof("phases with O_DIRECT", 0.0, "")]))
}

/// Stages that a survey runs in every directory unless the place refuses.
const PARTS: [&str; 4] = ["small files", "scaling", "mix", "surface"];

fn out_of_time(run: &Run) -> Option<Finding> {
    let there = |part: &str| run.phases.iter().any(|p| crate::section::stage(p) == Some(part));
    // A device is not written to, and an interruption is reported elsewhere.
    let whole = run.status == fathom_record::Status::Completed && there("sustained");
    // A hundred small files need more than that.
    const FEW: u64 = 8 << 20;
    let full = run.environment["filesystem"]["free_bytes"].as_u64().is_some_and(|free| free < FEW);
    let expected = PARTS.into_iter().filter(|part| !full || *part != "small files");
    let missing: Vec<&str> = expected.filter(|part| !there(part)).collect();
    if !whole || missing.is_empty() {
        return None;
    }
    let sentence = format!(
        "time ran out before these parts were measured: {}. The storage is slow, or the machine is busy.",
        missing.join(", ")
    );
    let mut found = finding("out-of-time", sentence, vec![proof("parts left out", missing.len() as f64, "")]);
    found.advice = "Give it more time: without --quick, or with --thorough.".into();
    Some(found)
}

/// A read below memory takes at least this many times as long; otherwise memory answered.
const CACHE_HELPS: f64 = 2.0;

fn distance(run: &Run) -> Option<Finding> {
    let memory = latency(named(run, "ladder", "cached random read")?, 50.0)?;
    let device =
        named(run, "ladder", "direct random read").or_else(|| named(run, "ladder", "cold random read"))?;
    let there = latency(device, 50.0)?;
    if memory <= 0.0 || in_memory(run) {
        return None;
    }
    let p99 = time_ns(latency(device, 99.0)?);
    let sentence = if there < memory * CACHE_HELPS {
        // FUSE without a cache, or a cache below.
        format!(
            "4 KiB that were read just before take {}, past the cache {} ({}, p99 {p99}): the page cache makes no read faster here.",
            time_ns(memory),
            time_ns(there),
            device.name
        )
    } else {
        format!(
            "4 KiB from memory take {}, from below it {} ({}, p99 {p99}): {} as long.",
            time_ns(memory),
            time_ns(there),
            device.name,
            ratio(there / memory)
        )
    };
    Some(finding(
        "distance",
        sentence,
        vec![proof("p50 from memory", memory, "ns"), proof("p50 from below", there, "ns")],
    ))
}

fn durable(run: &Run) -> Option<Finding> {
    let sync = named(run, "ladder", "write and fsync")?;
    let plain = latency(named(run, "ladder", "buffered random write")?, 50.0)?;
    let (p50, p99) = (synced(sync, 50.0)?, synced(sync, 99.0)?);
    let sentence = format!(
        "an fsync after a write of 4 KiB takes {}, p99 {}; a write that is only in memory {}.",
        time_ns(p50),
        time_ns(p99),
        time_ns(plain)
    );
    let evidence = vec![
        proof("p50 of the fsync", p50, "ns"),
        proof("p99 of the fsync", p99, "ns"),
        proof("p50 of a write without", plain, "ns"),
    ];
    Some(finding("durable", sentence, evidence))
}

/// What the device wrote for the synced data.
fn amplified(run: &Run) -> Option<Finding> {
    let phase = named(run, "ladder", "write and fsync")?;
    let wrote: u64 = phase.repetitions.iter().filter_map(|r| r.physical.device_write_bytes()).sum();
    let asked: u64 = phase.repetitions.iter().map(fathom_record::Repetition::bytes).sum();
    let known = phase.repetitions.iter().all(|r| !r.physical.devices.is_empty()) && !in_memory(run);
    if !known || asked < 64 * 4096 {
        return None;
    }
    let share = wrote as f64 / asked as f64;
    let evidence = vec![
        proof("written with fsync", asked as f64, "bytes"),
        counted("written by the device", wrote as f64, "bytes"),
    ];
    if share < 0.5 {
        let sentence = format!(
            "fsync returned although the device had written only {} of {}: something below reports data as safe when it is not.",
            bytes(wrote),
            bytes(asked)
        );
        return Some(finding("sync-lies", sentence, evidence));
    }
    let each = bytes((share * 4096.0).round() as u64 / 512 * 512);
    let sentence = format!(
        "for each 4 KiB that are synced the device writes {each} (journal, metadata, other programs)."
    );
    (share > 1.5).then(|| finding("sync-amplified", sentence, evidence))
}

fn mix(run: &Run) -> Option<Finding> {
    let phases = of_stage(run, "mix");
    let with = |reads: &str| phases.iter().find(|p| p.axes.tags.get("reads").is_some_and(|r| r == reads));
    let read = |p: &Phase, at| latency_of(p, fathom_record::OpKind::Read, at);
    let (alone, beside) = (with("100 %")?, with("70 %")?);
    let (a, b) = (read(alone, 50.0)?, read(beside, 50.0)?);
    let (a99, b99) = (read(alone, 99.0)?, read(beside, 99.0)?);
    let sentence = format!(
        "beside 30 % writes a read takes {} (p99 {}), alone {} (p99 {}).",
        time_ns(b),
        time_ns(b99),
        time_ns(a),
        time_ns(a99)
    );
    let evidence = vec![
        proof("p50 alone", a, "ns"),
        proof("p50 beside writes", b, "ns"),
        proof("p99 alone", a99, "ns"),
        proof("p99 beside writes", b99, "ns"),
    ];
    Some(finding("mix", sentence, evidence))
}

fn small(run: &Run) -> Option<Finding> {
    let plain = files_per_s(named(run, "small files", "small files")?)?;
    let synced = files_per_s(named(run, "small files", "small files with fsync")?)?;
    let sentence = format!(
        "{} are created, written, looked up and deleted; {} if each is synced.",
        per_s(plain).replace("/s", " files of 4 KiB a second"),
        count(synced.round() as u64)
    );
    Some(finding(
        "small-files",
        sentence,
        vec![proof("files", plain, "/s"), proof("files with fsync", synced, "/s")],
    ))
}

/// How far repetitions of one test differ.
fn repeatable(run: &Run) -> Option<Finding> {
    let spread = |p: &Phase| {
        let rates: Vec<f64> = p.repetitions.iter().filter_map(fathom_record::Repetition::ops_per_s).collect();
        let (low, high) = (rates.iter().copied().reduce(f64::min)?, rates.iter().copied().reduce(f64::max)?);
        (rates.len() > 1 && low > 0.0).then(|| (high - low) / median(&rates).unwrap_or(high))
    };
    let spreads: Vec<f64> = run.phases.iter().filter_map(spread).collect();
    let (half, tests) = (median(&spreads)?, spreads.len());
    let once = run.phases.iter().filter(|p| p.repetitions.len() == 1).count();
    let sentence = format!(
        "repetitions of one test lie {} apart (median of {tests} tests, {once} more were measured once): smaller differences mean nothing.",
        percent(half)
    );
    Some(finding(
        "repeatable",
        sentence,
        vec![proof("spread", half * 100.0, "%"), proof("tests", tests as f64, "")],
    ))
}
