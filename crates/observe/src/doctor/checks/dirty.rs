//! Write-back: how much dirty data is allowed, how much there is now, and laptop mode, which delays write-back on purpose.

use super::super::finding::Finding;
use super::super::scene::Scene;
use fathom_record::origin::bytes_words;

/// Linux defaults: name and value.
const USUAL: [(&str, u64); 6] = [
    ("dirty_ratio", 20),
    ("dirty_bytes", 0),
    ("dirty_background_ratio", 10),
    ("dirty_background_bytes", 0),
    ("dirty_expire_centisecs", 3000),
    ("dirty_writeback_centisecs", 500),
];

/// A disk of 200 MB/s takes over a second to write more, which is long compared with a measurement of ten.
const MUCH_BYTES: u64 = 256 << 20;
/// Any system has up to this much dirty data.
const SOME_BYTES: u64 = 32 << 20;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    [limits(scene), now(scene), laptop(scene)].into_iter().flatten().collect()
}

fn limits(scene: &Scene) -> Option<Finding> {
    let source = "/proc/sys/vm/dirty_*";
    let value = |name: &str| scene.count(&format!("vm.{name}"));
    let available = scene.count("memory.available_bytes")?;
    // Of bytes and ratio the one that is not 0 counts; the ratio applies to available memory.
    let bound = |bytes: &str, ratio: &str| match value(bytes)? {
        0 => Some(available / 100 * value(ratio)?),
        n => Some(n),
    };
    let (most, begin) =
        (bound("dirty_bytes", "dirty_ratio")?, bound("dirty_background_bytes", "dirty_background_ratio")?);
    let figures = format!(
        "Write-back begins at {} of dirty data, and writers are held at {}",
        bytes_words(begin),
        bytes_words(most)
    );
    let other: Vec<String> = USUAL
        .iter()
        .filter_map(|(name, usual)| Some((name, usual, value(name)?)))
        // Setting one of a pair makes the kernel set the other to 0.
        .filter(|(name, usual, now)| now != *usual && !(*now == 0 && name.ends_with("ratio")))
        .map(|(name, usual, now)| format!("vm.{name} is {now}, the default {usual}"))
        .collect();
    let found = if other.is_empty() {
        Finding::good(
            "dirty-limits",
            source,
            format!("{figures}: a buffered write smaller than that measures memory."),
        )
    } else {
        Finding::notice(
            "dirty-limits",
            source,
            format!("{figures}; not the kernel's defaults: {}.", other.join("; ")),
        )
        .remedy("Keep it the same in everything you compare")
    };
    Some(found.figure("background", begin as f64, "bytes").figure("limit", most as f64, "bytes"))
}

fn now(scene: &Scene) -> Option<Finding> {
    let source = "/proc/meminfo";
    let bytes =
        scene.count("memory.dirty_bytes")?.saturating_add(scene.count("memory.writeback_bytes").unwrap_or(0));
    let sentence = format!("{} written by other programs wait in memory", bytes_words(bytes));
    let remedy = |f: Finding| f.remedy("Write them back first").command("sync");
    let found = if bytes >= MUCH_BYTES {
        remedy(Finding::warning(
            "dirty-now",
            source,
            format!("{sentence}: they will be written during a measurement."),
        ))
    } else if bytes >= SOME_BYTES {
        remedy(Finding::notice(
            "dirty-now",
            source,
            format!("{sentence}: they may be written during a measurement."),
        ))
    } else {
        Finding::good("dirty-now", source, format!("{sentence}."))
    };
    Some(found.figure("dirty", bytes as f64, "bytes"))
}

fn laptop(scene: &Scene) -> Option<Finding> {
    let source = "/proc/sys/vm/laptop_mode";
    let mode = scene.number(source)?;
    Some(if mode == 0.0 {
        Finding::good("laptop-mode", source, "Laptop mode is off.")
    } else {
        Finding::warning(
            "laptop-mode",
            source,
            format!(
                "Laptop mode is on ({mode:.0} s): writes are held back and go out in bursts after a read."
            ),
        )
        .remedy("Switch it off while measuring")
        .command("sysctl vm.laptop_mode=0")
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn limits_are_told_in_bytes() {
        // The healthy test machine has 12 GiB available.
        let _ = says(&machine(), "dirty-limits", Severity::Good, &["begins at 1.2 GiB", "held at 2.4 GiB"]);
        let fake =
            machine().file("/proc/sys/vm/dirty_bytes", "1048576\n").file("/proc/sys/vm/dirty_ratio", "0\n");
        let _ =
            says(&fake, "dirty-limits", Severity::Notice, &["held at 1 MiB", "vm.dirty_bytes is 1048576"]);
    }

    #[test]
    fn dirty_data_grows_from_good_to_warning() {
        for (kib, severity) in
            [(1000, Severity::Good), (177_068, Severity::Notice), (600_000, Severity::Warning)]
        {
            let fake = machine().file(
                "/proc/meminfo",
                &format!("MemAvailable: 100000 kB\nDirty: {kib} kB\nWriteback: 0 kB\n"),
            );
            let _ = says(&fake, "dirty-now", severity, &["wait in memory"]);
        }
    }

    #[test]
    fn laptop_mode_is_a_warning() {
        let fake = machine().file("/proc/sys/vm/laptop_mode", "5\n");
        let _ = says(&fake, "laptop-mode", Severity::Warning, &["5 s"]);
    }
}
