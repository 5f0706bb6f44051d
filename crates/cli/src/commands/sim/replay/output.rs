//! A replay as text and as JSON. Neither contains its run time or a date: the same trace and set-up give the same
//! bytes.

use super::ReplayOutcome;
use super::source::Origin;
use fathom_record::block::BlockLayer;
use fathom_record::{OpKind, OpStat, Simulation};
use fathom_report::svg::idle_words;
use fathom_report::{text, units};
use fathom_sim::replay::Mode;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Name and version of the JSON format.
const SCHEMA: &str = "fathom-sim-replay/1";

/// What was skipped in the trace, as the end of a sentence; empty if nothing was.
pub fn left_out(origin: &Origin) -> String {
    let l = origin.left_out;
    let parts = [
        (l.other_devices, "at other devices"),
        (l.discards, "discards"),
        (l.others, "zone or driver commands"),
    ];
    let listed: Vec<String> =
        parts.iter().filter(|p| p.0 > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if listed.is_empty() { String::new() } else { format!("; left out: {}", listed.join(", ")) }
}

pub fn mode_words(mode: Mode) -> String {
    match mode {
        Mode::Open(scale) => format!("at the times of the trace{}", scaled(scale.factor())),
        Mode::Closed(depth) => format!("{depth} in flight at any time"),
        Mode::Dependent(scale) => {
            format!(
                "each as long after what its task had seen done as in the trace{}",
                scaled(scale.factor())
            )
        }
    }
}

fn scaled(factor: f64) -> String {
    if factor == 1.0 { String::new() } else { format!(", gaps times {factor}") }
}

/// The first sentence of every output.
pub fn sentence(done: &ReplayOutcome<'_>) -> String {
    // The submission mode follows below; there are no calls to read ahead for.
    let shown = Simulation { handed_in: None, ..done.simulation.clone() };
    let settings = shown.settings().into_iter().filter(|(name, _)| name != "read-ahead" && name != "layers");
    let listed: Vec<String> = settings.map(|(name, value)| format!("{name} {value}")).collect();
    format!(
        "This replay is simulated, nothing was measured: {}; values of the profiles: {}.",
        listed.join(", "),
        shown.values
    )
}

pub fn page(done: &ReplayOutcome<'_>) -> String {
    let (out, origin) = (&done.out, &done.origin);
    let counts = &out.counts;
    let mut text = format!("{}\n{}\n\n{}", sentence(done), done.simulation.rests_on.sentence(), origin.file);
    if !origin.device.is_empty() {
        let _ = write!(text, ": {} ({})", origin.device, origin.format);
    }
    let _ = writeln!(text, "; {}{}", mode_words(done.mode), left_out(origin));
    if origin.as_issued && origin.format != "synthetic" {
        text += "The trace has no arrivals: issued requests are used instead.\n";
    }
    if origin.lost > 0 {
        let _ = writeln!(text, "! the recorder lost {} events", origin.lost);
    }
    let seconds = out.elapsed_ns as f64 / 1e9;
    let bytes: u64 = out.served.iter().map(|s| s.bytes).sum();
    let per_second = |n: f64| if seconds > 0.0 { n / seconds } else { 0.0 };
    let _ = writeln!(
        text,
        "\nvirtual time  {}; {} arrivals, {}, {}",
        units::time_ns(out.elapsed_ns as f64),
        counts.arrivals,
        units::ops_rate(per_second(counts.arrivals as f64)),
        units::rate(per_second(bytes as f64))
    );
    served(&mut text, done);
    let m = &out.merges;
    let _ = writeln!(
        text,
        "merges        {} behind, {} before, {} requests with each other",
        m.back + m.plug_back,
        m.front + m.plug_front,
        m.joined + m.gathered
    );
    let d = &out.device;
    let of =
        |ns: u64| units::percent(if out.elapsed_ns > 0 { ns as f64 / out.elapsed_ns as f64 } else { 0.0 });
    let members = u64::from(d.side_by_side());
    let _ = writeln!(
        text,
        "device        busy {}: overhead {}, seeks {}, rotation {}, transfer {}; {} reads out of its cache, {} writes into it",
        of(d.busy_ns),
        of(d.overhead_ns),
        of(d.seek_ns / members),
        of(d.rotation_ns / members),
        of(d.transfer_ns / members),
        d.read_hits,
        d.cached_writes
    );
    if members > 1 {
        let _ = writeln!(
            text,
            "              seeks, rotation and transfer: the mean of {members} arms or channels"
        );
    }
    if let Some(words) = idle_words(&out.inside.idle_waits) {
        let _ = writeln!(text, "idle waits    {words}");
    }
    remarks(&mut text, done);
    for device in &out.block.devices {
        let _ = write!(text, "\n{}", text::block::device(&out.block, device));
    }
    text
}

/// The latencies seen by the submitters.
fn served(text: &mut String, done: &ReplayOutcome<'_>) {
    let _ = writeln!(
        text,
        "arrivals      {:>9} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "done", "bytes", "mean", "p50", "p90", "p99", "max"
    );
    for s in &done.out.served {
        let name = if s.op == OpKind::Sync { "flush" } else { s.op.word() };
        let time = |ns: Option<f64>| ns.map_or("-".to_owned(), units::time_ns);
        let at = |p| time(s.latency.percentile_ns(p).map(|ns| ns as f64));
        let _ = writeln!(
            text,
            "  {name:<11} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9}",
            s.ops,
            units::bytes_short(s.bytes),
            time(s.latency.mean_ns()),
            at(50.0),
            at(90.0),
            at(99.0),
            time(Some(s.latency.max_ns() as f64))
        );
    }
}

/// What makes the result differ from the trace on such a device.
fn remarks(text: &mut String, done: &ReplayOutcome<'_>) {
    let c = &done.out.counts;
    if c.full > 0 {
        let late = units::time_ns(c.late_ns as f64);
        let _ = writeln!(text, "- {} arrivals found the queue full; handed in late by {late} in all", c.full);
    }
    if c.wrapped > 0 {
        let _ = writeln!(
            text,
            "- {} arrivals lie beyond the end of this device and were put elsewhere on it: places are not the trace's",
            c.wrapped
        );
    }
    if c.empty > 0 {
        let _ = writeln!(text, "- for {} arrivals without data nothing was done", c.empty);
    }
}

/// See [`ReplayJson`].
pub fn json<'a>(done: &'a ReplayOutcome<'_>) -> ReplayJson<'a> {
    let (o, origin, out) = (done.options, &done.origin, &done.out);
    let (c, m, d, l) = (&out.counts, &out.merges, &out.device, &origin.left_out);
    let mode = match done.mode {
        Mode::Open(scale) => json!({ "name": "open", "scale": scale.factor() }),
        Mode::Closed(depth) => json!({ "name": "closed", "depth": depth }),
        Mode::Dependent(scale) => json!({ "name": "dependent", "scale": scale.factor() }),
    };
    let head = json!({
        "schema": SCHEMA,
        "simulated": sentence(done),
        "file": origin.file,
        "format": origin.format,
        "traced": origin.device,
        "requests_as_issued": origin.as_issued,
        "host": o.host,
        "device": o.device,
        "scheduler": o.scheduler(),
        "limits": done.simulation.limits,
        "set": done.simulation.set,
        "values": done.simulation.values,
        "rests_on": done.simulation.rests_on,
        "mode": mode,
        "virtual_ns": out.elapsed_ns,
        "counts": {
            "arrivals": c.arrivals, "done": c.done, "bios": c.bios, "bios_done": c.bios_done, "flushes": c.flushes,
            "empty": c.empty, "wrapped": c.wrapped, "queue_full": c.full, "late_ns": c.late_ns,
            "most_under_way": c.most_under_way,
        },
        "left_out": { "other_devices": l.other_devices, "discards": l.discards, "others": l.others, "lost": origin.lost },
        "merges": {
            "back": m.back + m.plug_back, "front": m.front + m.plug_front, "requests": m.joined + m.gathered,
        },
        "device_ns": {
            "busy": d.busy_ns, "overhead": d.overhead_ns, "seek": d.seek_ns, "rotation": d.rotation_ns,
            "transfer": d.transfer_ns, "destage": d.destage_ns,
        },
        "device_members": d.side_by_side(),
        "idle_waits": {
            "paid": out.inside.idle_waits.paid.count(), "paid_ns": out.inside.idle_waits.paid.sum_ns() as u64,
            "in_vain": out.inside.idle_waits.in_vain.count(), "in_vain_ns": out.inside.idle_waits.in_vain.sum_ns() as u64,
        },
        "device_counts": { "read_hits": d.read_hits, "cached_writes": d.cached_writes, "bypassed_writes": d.bypassed_writes },
        "scheduler_counts": out.scheduler.iter().map(|(name, n)| (name.to_string(), json!(n))).collect::<serde_json::Map<_, _>>(),
        "notes": origin.notes,
    });
    ReplayJson { head, served: &out.served, block: &out.block }
}

/// The JSON. Its sums have up to 128 bits, which a [`Value`] cannot hold, so they are written directly.
#[derive(Serialize)]
pub struct ReplayJson<'a> {
    #[serde(flatten)]
    head: Value,
    served: &'a [OpStat],
    block: &'a BlockLayer,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::block::{DeviceActivity, RequestStats, Seeks};

    #[test]
    fn seeks_of_a_hundred_million_requests_are_told_in_full() {
        let seeks = Seeks { total_bytes: u128::from(u64::MAX) + 1, ..Seeks::default() };
        let mut block = BlockLayer::default();
        block.devices.push(DeviceActivity::default());
        block.devices[0].requests.push(RequestStats { seeks, ..RequestStats::default() });
        let document = ReplayJson { head: json!({ "schema": SCHEMA }), served: &[], block: &block };
        let text = serde_json::to_string_pretty(&document).unwrap();
        assert!(text.contains("\"total_bytes\": 18446744073709551616"), "{text}");
        assert!(text.contains(SCHEMA), "{text}");
    }
}
