//! A hypervisor below the kernel: the CPU time it takes away (steal) and what it hides.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::words::percent;

/// One percent of processor time, taken away in slices of milliseconds, affects the slowest of a hundred operations.
const STOLEN: f64 = 0.01;
/// The kernel counts in ticks of 10 ms; fewer than these in a sample are noise.
const LEAST_TICKS: u64 = 2;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    hypervisor(scene).into_iter().chain(steal(scene)).collect()
}

fn hypervisor(scene: &Scene) -> Option<Finding> {
    let source = "CPUID, /sys/hypervisor, /sys/class/dmi/id";
    Some(match scene.word("cpu.hypervisor")? {
        "none" => Finding::good("hypervisor", source, "No hypervisor is below this kernel."),
        name => Finding::notice(
            "hypervisor",
            source,
            format!("This is a virtual machine ({name}): its disks pass through the host, whose cache, limits and neighbours affect every figure, and the longest latencies may be the host's."),
        )
        .remedy("Repeat at other times of the day before believing a difference"),
    })
}

fn steal(scene: &Scene) -> Option<Finding> {
    let source = "/proc/stat";
    let (ticks, all) = scene.sample.stolen()?;
    let (now, ever) = (ticks as f64 / all as f64, scene.sample.last().stolen_since_boot()?);
    let sentence = format!(
        "The hypervisor gave {} of the processors' time to others just now, and {} since boot.",
        percent(now),
        percent(ever)
    );
    let found = if now >= STOLEN && ticks >= LEAST_TICKS || ever >= STOLEN {
        Finding::warning("steal", source, sentence)
            .remedy("Use a machine with dedicated processors, or repeat until the share is small")
    } else {
        Finding::good("steal", source, sentence)
    };
    Some(found.figure("steal", now, "ratio").figure("steal since start", ever, "ratio"))
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::look::Look;
    use super::super::super::testing::{findings_of, machine, one, scene_after};

    #[test]
    fn stolen_time_is_reported_now_and_since_boot() {
        for (line, severity, words) in [
            ("cpu  100 0 100 99890 0 0 0 10", Severity::Warning, "10 %"),
            ("cpu  100 0 100 99899 0 0 0 1", Severity::Good, "1.0 %"),
            ("cpu  100 0 100 99900 0 0 0 0", Severity::Good, "0.0 %"),
        ] {
            let mut fake = machine();
            let before = Look::take(&fake);
            fake.put("/proc/stat", line);
            let _ = one(&findings_of(&scene_after(&fake, before), "steal"), severity, &[words]);
        }
    }

    #[test]
    fn what_was_stolen_before_counts_too() {
        let mut fake = machine().file("/proc/stat", "cpu  100 0 100 700 0 0 0 100\n");
        let before = Look::take(&fake);
        fake.put("/proc/stat", "cpu  100 0 100 800 0 0 0 100\n");
        let _ = one(
            &findings_of(&scene_after(&fake, before), "steal"),
            Severity::Warning,
            &["0.0 %", "9.1 % since boot"],
        );
    }

    #[test]
    fn a_hypervisor_is_named() {
        let fake = machine();
        let mut scene = super::super::super::testing::scene(&fake);
        scene.environment["cpu"]["hypervisor"] = "KVMKVMKVM".into();
        let _ = one(&findings_of(&scene, "hypervisor"), Severity::Notice, &["KVMKVMKVM"]);
    }
}
