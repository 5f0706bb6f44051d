//! Processor time that other programs use during the sample.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::words::percent;

const CODE: &str = "cpu-busy";
const SOURCE: &str = "/proc/stat";

/// With one processor of ten busy, the others are left to the measurement; above that its threads are affected.
const BUSY: f64 = 0.10;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(busy) = scene.sample.cpu_busy() else { return Vec::new() };
    let sentence = format!("Other programs use {} of all processor time.", percent(busy));
    let found = if busy >= BUSY {
        Finding::warning(CODE, SOURCE, sentence)
            .remedy("Stop the programs that use it, or wait; this lists the most active first")
            .command("ps -eo pid,pcpu,comm --sort=-pcpu | head")
    } else {
        Finding::good(CODE, SOURCE, sentence)
    };
    vec![found.figure("busy", busy, "ratio")]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::look::Look;
    use super::super::super::testing::{findings_of, machine, one, scene_after};

    #[test]
    fn what_others_compute_is_measured() {
        for (line, severity) in [
            ("cpu  150 0 100 99850 0 0 0 0", Severity::Warning),
            ("cpu  104 0 100 99896 0 0 0 0", Severity::Good),
        ] {
            let mut fake = machine();
            let before = Look::take(&fake);
            fake.put("/proc/stat", line);
            let _ = one(
                &findings_of(&scene_after(&fake, before), "cpu-busy"),
                severity,
                &["of all processor time"],
            );
        }
    }
}
