//! Main memory: when nearly full it causes reclaim during a measurement. The size of the potential page cache is the size that files must
//! exceed.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::words::percent;
use fathom_record::origin::bytes_words;

const CODE: &str = "memory";
const SOURCE: &str = "/proc/meminfo";

/// Background reclaim begins when a few percent are free (vm.watermark_scale_factor); at a tenth it stays inactive.
const LITTLE: f64 = 0.10;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let total = scene.count("memory.total_bytes").filter(|&n| n > 0);
    let (Some(total), Some(available)) = (total, scene.count("memory.available_bytes")) else {
        return Vec::new();
    };
    let share = available as f64 / total as f64;
    let figures = format!("{} of {} of memory are available", bytes_words(available), bytes_words(total));
    let found = if share < LITTLE {
        Finding::warning(
            CODE,
            SOURCE,
            format!(
                "Only {figures} ({}): the kernel will reclaim pages during a measurement.",
                percent(share)
            ),
        )
        .remedy("Stop the programs that use it")
        .command("ps aux --sort=-rss | head")
    } else {
        Finding::good(
            CODE,
            SOURCE,
            format!(
                "{figures}: files smaller than that are served from the page cache, unless with O_DIRECT."
            ),
        )
    };
    vec![found.figure("available", available as f64, "bytes")]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn memory_that_is_nearly_full_is_a_warning() {
        let with = |kib: u64| {
            machine().file("/proc/meminfo", &format!("MemTotal: 1048576 kB\nMemAvailable: {kib} kB\n"))
        };
        let _ = says(&with(52_428), "memory", Severity::Warning, &["(5.0 %)", "1 GiB"]);
        let _ = says(&with(524_288), "memory", Severity::Good, &["512 MiB"]);
    }
}
