//! Doubts that follow from the machine: memory, space, governor, clock, hypervisor, compressing file systems.

use super::{DoubtInputs, about_run};
use crate::trust::{DRIFT_PPM, compresses, laid_out_compressible, shrinks_to};
use crate::words::percent;
use fathom_record::origin::bytes_words;
use fathom_record::{Doubt, Origin, Phase, Regime, Run};
use serde_json::Value;

/// Below this share of free space, file systems fragment new files.
const LITTLE_SPACE: f64 = 0.1;

pub(super) fn of(run: &Run, environment: &Value, seen: &DoubtInputs) -> Vec<Doubt> {
    [
        fits_memory(run, environment),
        space(run, environment),
        governor(environment),
        clock(run),
        virtual_machine(environment),
        compression(run, environment, seen),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A value of the environment by its dotted name.
fn at<'a>(environment: &'a Value, name: &str) -> Option<&'a Value> {
    let found = name.split('.').try_fold(environment, |value, part| value.get(part));
    found.filter(|v| !v.is_null())
}

fn number(environment: &Value, name: &str) -> Option<u64> {
    at(environment, name)?.as_u64()
}

fn word<'a>(environment: &'a Value, name: &str) -> Option<&'a str> {
    at(environment, name)?.as_str()
}

/// Total size of a phase's files as planned, one file per worker.
fn file_set_bytes(phase: &Phase) -> Option<u64> {
    Some(phase.axes.file_bytes?.saturating_mul(phase.axes.streams.unwrap_or(1).max(1)))
}

/// Total size of the files that a phase actually used. Workers that share a set, and flows, have no private file.
fn touched_bytes(phase: &Phase) -> Option<u64> {
    let looked_at = phase.repetitions.iter().filter_map(|r| r.extents).map(|e| e.bytes);
    file_set_bytes(phase).into_iter().chain(looked_at).max().filter(|&bytes| bytes > 0)
}

/// Buffered I/O on files that fit into free memory can be served from there, even if the counters do not show it. There is no doubt if
/// the counters prove that the device did all of it, if there is no device, or if there was no data to cache (holes).
fn fits_memory(run: &Run, environment: &Value) -> Option<Doubt> {
    let available = number(environment, "memory.available_bytes")?;
    // Of a stack that is memory in part, more data would show no more of the rest.
    let in_part = |p: &Phase| {
        matches!(p.origin().regime, Regime::Mixed | Regime::Memory)
            && p.repetitions.iter().any(|r| r.physical.part_memory().is_some())
    };
    let proven = |p: &Phase| {
        let certain = |r| {
            let regime = Origin::of(p, r).regime;
            matches!(regime, Regime::Device | Regime::Memory | Regime::Holes | Regime::NoIo)
        };
        in_part(p) || p.is_part_holes() || (!p.repetitions.is_empty() && p.repetitions.iter().all(certain))
    };
    let buffered: Vec<&Phase> =
        run.phases.iter().filter(|p| !p.direct && !p.sync_in_clock && !proven(p)).collect();
    let largest = buffered.iter().filter_map(|p| touched_bytes(p)).max()?;
    if largest >= available {
        return None;
    }
    // Past the cache of the files there is still that of the image, or of a FUSE server's files.
    let served = |p: &Phase| p.repetitions.iter().any(|r| r.physical.is_served());
    let past = if buffered.iter().any(|p| p.is_image_cached() || served(p)) { "" } else { " or O_DIRECT" };
    Some(about_run(
        "fits-memory",
        format!(
            "The largest set of files used without O_DIRECT has {}, and {} of memory were free: the page cache can hold all of it. For the storage's own speed use more than {}{past}.",
            bytes_words(largest),
            bytes_words(available),
            bytes_words(available)
        ),
    ))
}

fn space(run: &Run, environment: &Value) -> Option<Doubt> {
    // A file system that is only read, such as squashfs, is always full.
    if word(environment, "filesystem.options").is_some_and(|options| options.split(',').any(|o| o == "ro")) {
        return None;
    }
    let total = number(environment, "filesystem.total_bytes").filter(|&n| n > 0)?;
    let free = number(environment, "filesystem.free_bytes")?;
    let share = free as f64 / total as f64;
    let largest = run.phases.iter().filter_map(file_set_bytes).max();
    let tight = largest.filter(|&bytes| bytes > free / 2);
    if share >= LITTLE_SPACE && tight.is_none() {
        return None;
    }
    let beside = tight.map(|b| format!(", and the files need {}", bytes_words(b))).unwrap_or_default();
    Some(about_run(
        "space",
        format!(
            "Only {} of {} ({}) were free in the file system{beside}: free space is then fragmented, and flash slows down. Free some and repeat.",
            bytes_words(free),
            bytes_words(total),
            percent(share)
        ),
    ))
}

fn governor(environment: &Value) -> Option<Doubt> {
    let governor = word(environment, "cpu.governor").filter(|&g| g != "performance")?;
    Some(about_run(
        "governor",
        format!(
            "The CPU frequency governor is {governor}: a CPU that sleeps between operations answers slowly, and short operations look more expensive than they are. Set it to performance (`cpupower frequency-set -g performance`) and repeat."
        ),
    ))
}

fn clock(run: &Run) -> Option<Doubt> {
    let clock = &run.clock;
    let drift = clock.drift_ppm.filter(|d| d.abs() > DRIFT_PPM);
    if let Some(drift) = drift {
        return Some(about_run(
            "clock",
            format!(
                "The clock ({}) drifted by {drift:.0} parts per million against the kernel's during the run: times are wrong by that much, and latencies may jump. Repeat; if it persists, do not trust the time stamp counter of this machine.",
                clock.source
            ),
        ));
    }
    if clock.source.is_empty() || clock.source == "tsc" {
        return None;
    }
    Some(about_run(
        "clock",
        format!(
            "Times were taken with {} instead of the processor's time stamp counter: one reading costs {:.0} ns and is inside every latency. Operations that take less than about {:.0} ns are dominated by it.",
            clock.source,
            clock.cost_ns,
            clock.cost_ns * 10.0
        ),
    ))
}

fn virtual_machine(environment: &Value) -> Option<Doubt> {
    let hypervisor = word(environment, "cpu.hypervisor").filter(|&h| h != "none")?;
    Some(about_run(
        "virtual-machine",
        format!(
            "This is a virtual machine (hypervisor {hypervisor}): its disk may be a file in the host's page cache, and the longest latencies may be the host's. Even O_DIRECT reaches only what the host presents."
        ),
    ))
}

fn compression(run: &Run, environment: &Value, seen: &DoubtInputs) -> Option<Doubt> {
    if let Some(share) = laid_out_compressible(seen) {
        return Some(about_run(
            "compression",
            format!(
                "The files read contain data that compresses to {} of its size: if any layer below compresses or detects zeros, less is read than reported. Lay them out with incompressible data (data = \"unique\", the default).",
                percent(share)
            ),
        ));
    }
    let who = compresses(environment)?;
    let share = shrinks_to(seen)?;
    // What is in the page cache is not decompressed again.
    let decompresses = |p: &Phase| p.reads && p.origin().regime != Regime::PageCache;
    let writes = run.phases.iter().any(|p| p.writes);
    if !writes && !run.phases.iter().any(decompresses) {
        return None;
    }
    let written = if writes { " written" } else { "" };
    let data = match share {
        Some(share) => format!("the data{written} shrinks to {} of its size", percent(share)),
        None => format!("the compressibility of the data{written} is not known"),
    };
    Some(about_run(
        "compression",
        format!(
            "The {who} and {data}: the figures may be those of the compressor, not of the device. Write incompressible data, or switch compression off for this directory."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::test_runs::{code_in, none_in, phase, run_of};
    use super::*;
    use fathom_record::{Extents, Physical};
    use serde_json::json;

    const MIB: u64 = 1 << 20;

    fn run() -> Run {
        run_of(vec![phase("read", 100 * MIB, 100 * MIB)])
    }

    /// A run of one phase without counters that show where its data came from.
    fn of_size(file_bytes: u64, streams: u64) -> Run {
        let mut run = run();
        run.phases[0].repetitions[0].physical = Physical::default();
        run.phases[0].repetitions[0].workers[0].bytes = 0;
        run.phases[0].axes.file_bytes = Some(file_bytes);
        run.phases[0].axes.streams = Some(streams);
        run
    }

    #[test]
    fn files_that_fit_into_free_memory_are_doubtful() {
        let environment = json!({"memory": {"available_bytes": 1000 * MIB}});
        let doubt = code_in(&of_size(100 * MIB, 2), &environment, &DoubtInputs::default(), "fits-memory");
        assert!(
            doubt.sentence.contains("200 MiB") && doubt.sentence.contains("1000 MiB"),
            "{}",
            doubt.sentence
        );
        none_in(&of_size(500 * MIB, 2), &environment, &DoubtInputs::default());
        let mut direct = of_size(100 * MIB, 2);
        direct.phases[0].direct = true;
        none_in(&direct, &environment, &DoubtInputs::default());
        none_in(&of_size(MIB, 1), &json!({"memory": {"available_bytes": null}}), &DoubtInputs::default());
    }

    #[test]
    fn holes_need_no_room_in_memory_and_an_image_has_its_own_cache() {
        let environment = json!({"memory": {"available_bytes": 1000 * MIB}});
        let mut run = run_of(vec![phase("read", 64 * MIB, 0)]);
        run.phases[0].axes.file_bytes = Some(64 * MIB);
        let extents = Extents { bytes: 64 * MIB, hole_bytes: 64 * MIB, ..Extents::default() };
        let fits = |run: &Run| {
            let all = crate::doubts::of(run, &environment, &DoubtInputs::default());
            all.into_iter().find(|d| d.code == "fits-memory").map(|d| d.sentence)
        };
        assert!(fits(&run).expect("doubtful").ends_with(" or O_DIRECT."));
        let mut part = run.clone();
        let of_kind = |name: &str, kind: &str, read_bytes| fathom_record::DeviceDelta {
            name: name.into(),
            kind: kind.into(),
            read_bytes,
            ..fathom_record::DeviceDelta::default()
        };
        let physical = &mut part.phases[0].repetitions[0].physical;
        physical.own_read_bytes = Some(64 * MIB);
        let both = [of_kind("ram0", "ram", 32 * MIB), of_kind("sda", "disk", 32 * MIB)];
        physical.devices = [vec![of_kind("ram0+sda", "", 64 * MIB)], both.to_vec()].concat();
        assert_eq!(fits(&part), None, "more data would be in ram0, too");
        let (mut holes, mut image) = (run.clone(), run);
        holes.phases[0].repetitions[0].extents = Some(extents);
        assert_eq!(fits(&holes), None);
        let half = &mut holes.phases[0].repetitions[0];
        half.extents = Some(Extents { hole_bytes: 32 * MIB, ..extents });
        half.physical.own_read_bytes = Some(32 * MIB);
        half.physical.devices[0].read_bytes = 32 * MIB;
        assert_eq!(fits(&holes), None);
        let device = |name: &str, kind: &str, level, read_bytes| fathom_record::DeviceDelta {
            name: name.into(),
            kind: kind.into(),
            level,
            read_bytes,
            ..fathom_record::DeviceDelta::default()
        };
        let physical = &mut image.phases[0].repetitions[0].physical;
        physical.own_read_bytes = Some(64 * MIB);
        physical.devices = vec![device("loop0", "loop", 0, 64 * MIB), device("vda", "disk", 1, 0)];
        assert!(fits(&image).expect("doubtful").ends_with("use more than 1000 MiB."));
    }

    #[test]
    fn files_that_all_workers_share_count_together() {
        let environment = json!({"memory": {"available_bytes": 1000 * MIB}});
        let mut run = of_size(16 * MIB, 1);
        run.phases[0].repetitions[0].extents = Some(Extents { bytes: 64 * MIB, ..Extents::default() });
        let doubt = code_in(&run, &environment, &DoubtInputs::default(), "fits-memory");
        assert!(doubt.sentence.contains("has 64 MiB"), "{}", doubt.sentence);
        run.phases[0].repetitions[0].extents = Some(Extents { bytes: 2000 * MIB, ..Extents::default() });
        none_in(&run, &environment, &DoubtInputs::default());
    }

    #[test]
    fn files_that_the_device_was_seen_to_move_are_not() {
        let environment = json!({"memory": {"available_bytes": 1000 * MIB}});
        let mut run = run();
        run.phases[0].axes.file_bytes = Some(100 * MIB);
        none_in(&run, &environment, &DoubtInputs::default());
        // A repetition that the device was not seen to read for, and a phase with a smaller file: the doubt names that phase.
        let mut other = run.phases[0].clone();
        other.axes.file_bytes = Some(64 * MIB);
        other.seq = 1;
        other.repetitions.push(other.repetitions[0].clone());
        other.repetitions[0].physical.devices[0].read_bytes = 0;
        other.repetitions[0].physical.own_read_bytes = Some(0);
        run.phases.push(other);
        let sentence = fits_memory(&run, &environment).expect("a doubt").sentence;
        assert!(sentence.contains("has 64 MiB"), "{sentence}");
    }

    #[test]
    fn a_file_system_in_memory_has_no_speed_of_its_storage() {
        let environment = json!({"memory": {"available_bytes": 1000 * MIB}});
        let mut run = of_size(16 * MIB, 1);
        run.phases[0].repetitions[0].physical.devices.clear();
        run.phases[0].repetitions[0].physical.method = "memory".into();
        assert_eq!(fits_memory(&run, &environment), None);
    }

    #[test]
    fn a_full_file_system_is_doubtful() {
        let full = |free: u64| json!({"filesystem": {"total_bytes": 1000 * MIB, "free_bytes": free}});
        assert!(
            code_in(&run(), &full(50 * MIB), &DoubtInputs::default(), "space").sentence.contains("(5.0 %)")
        );
        none_in(&run(), &full(100 * MIB), &DoubtInputs::default());
        let mut read_only = full(0);
        read_only["filesystem"]["options"] = "ro,relatime".into();
        none_in(&run(), &read_only, &DoubtInputs::default());
        let tight = code_in(&of_size(300 * MIB, 1), &full(500 * MIB), &DoubtInputs::default(), "space");
        assert!(tight.sentence.contains("the files need 300 MiB"), "{}", tight.sentence);
    }

    #[test]
    fn a_saving_governor_is_doubtful() {
        let with = |g: Value| json!({"cpu": {"governor": g}});
        assert!(
            code_in(&run(), &with("powersave".into()), &DoubtInputs::default(), "governor")
                .sentence
                .contains("powersave")
        );
        none_in(&run(), &with("performance".into()), &DoubtInputs::default());
        none_in(&run(), &with(Value::Null), &DoubtInputs::default());
    }

    #[test]
    fn a_slow_or_drifting_clock_is_doubtful() {
        let mut slow = run();
        slow.clock.source = "clock_gettime".into();
        slow.clock.cost_ns = 36.0;
        assert!(code_in(&slow, &Value::Null, &DoubtInputs::default(), "clock").sentence.contains("36 ns"));
        let mut drifting = run();
        drifting.clock.drift_ppm = Some(-250.0);
        assert!(code_in(&drifting, &Value::Null, &DoubtInputs::default(), "clock").sentence.contains("-250"));
        drifting.clock.drift_ppm = Some(99.0);
        none_in(&drifting, &Value::Null, &DoubtInputs::default());
    }

    #[test]
    fn a_virtual_machine_is_doubtful() {
        let with = |h: Value| json!({"cpu": {"hypervisor": h}});
        assert!(
            code_in(&run(), &with("KVMKVMKVM".into()), &DoubtInputs::default(), "virtual-machine")
                .sentence
                .contains("KVM")
        );
        none_in(&run(), &with("none".into()), &DoubtInputs::default());
        none_in(&run(), &with(Value::Null), &DoubtInputs::default());
    }

    #[test]
    fn constant_data_on_a_compressing_file_system_is_doubtful() {
        let on = |kind: &str, options: &str| json!({"filesystem": {"type": kind, "options": options}});
        let constant = DoubtInputs { compressed_share: Some(0.004), ..DoubtInputs::default() };
        let random = DoubtInputs { compressed_share: Some(1.0), ..DoubtInputs::default() };
        let btrfs = on("btrfs", "rw,compress=zstd:3");
        assert!(code_in(&run(), &btrfs, &constant, "compression").sentence.contains("0.4 %"));
        assert!(
            code_in(&run(), &btrfs, &DoubtInputs::default(), "compression").sentence.contains("not known")
        );
        assert!(code_in(&run(), &on("zfs", "rw"), &constant, "compression").sentence.contains("zfs"));
        none_in(&run(), &btrfs, &random);
        none_in(&run(), &on("btrfs", "rw"), &constant);
        none_in(&run(), &on("ext4", "rw"), &constant);
    }
}
