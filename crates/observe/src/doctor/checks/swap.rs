//! Swap: space in use, and pages being swapped now.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::words::percent;
use fathom_record::origin::bytes_words;

const CODE: &str = "swap";

/// Unused pages are swapped out on any machine in time; a tenth of the swap means that memory was short.
const MUCH: f64 = 0.10;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let (Some(total), Some(free)) =
        (scene.count("memory.swap_total_bytes"), scene.count("memory.swap_free_bytes"))
    else {
        return Vec::new();
    };
    let used = total.saturating_sub(free);
    let share = used as f64 / total.max(1) as f64;
    let moved = scene.sample.swapped_pages().unwrap_or(0);
    let found = if moved > 0 {
        Finding::warning(
            CODE,
            "/proc/vmstat",
            format!(
                "Memory is short: {moved} pages were swapped in or out just now, and that I/O adds to every figure."
            ),
        )
        .remedy("Free memory")
        .command("ps aux --sort=-rss | head")
    } else if share > MUCH {
        Finding::notice(CODE, "/proc/meminfo", format!("{} of {} of swap are in use ({}): memory was short, and pages may come back in the middle of a run.", bytes_words(used), bytes_words(total), percent(share)))
            .remedy("Bring them back before measuring, if memory allows")
            .command("swapoff -a && swapon -a")
    } else if total == 0 {
        Finding::good(CODE, "/proc/meminfo", "There is no swap.")
    } else {
        Finding::good(
            CODE,
            "/proc/meminfo",
            format!("{} of {} of swap are in use.", bytes_words(used), bytes_words(total)),
        )
    };
    vec![found.figure("swapped", moved as f64, "pages").figure("used", used as f64, "bytes")]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::look::Look;
    use super::super::super::testing::{findings_of, machine, one, says, scene_after};

    #[test]
    fn swap_in_use_is_noted() {
        let with = |free: u64| {
            machine().file("/proc/meminfo", &format!("SwapTotal: 1048576 kB\nSwapFree: {free} kB\n"))
        };
        let _ = says(&with(524_288), "swap", Severity::Notice, &["512 MiB of 1 GiB", "50 %"]);
        let _ = says(&with(1_000_000), "swap", Severity::Good, &[]);
        let _ = says(&machine(), "swap", Severity::Good, &["no swap"]);
    }

    #[test]
    fn swapping_is_a_warning() {
        let mut fake = machine();
        let before = Look::take(&fake);
        fake.put("/proc/vmstat", "pswpin 3\npswpout 9\n");
        let _ = one(&findings_of(&scene_after(&fake, before), "swap"), Severity::Warning, &["12 pages"]);
    }
}
