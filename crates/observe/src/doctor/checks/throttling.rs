//! Thermal throttling of processors: x86 counters and active cooling devices.

use super::super::finding::Finding;
use super::super::scene::Scene;
use std::path::Path;

const CODE: &str = "throttling";
const COUNTERS: &str = "/sys/devices/system/cpu/cpu*/thermal_throttle/*_throttle_count";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    if let Some(cooling) = cooling(scene) {
        return vec![cooling];
    }
    let (Some(now), Some(ever)) = (scene.sample.throttled(), scene.sample.last().throttled()) else {
        // A virtual machine has no such counters; the hypervisor check mentions the host's temperature.
        return Vec::new();
    };
    let sentence = format!(
        "Processors were slowed down because of their temperature {now} times just now, and {ever} times since boot."
    );
    let found = if now > 0 {
        Finding::warning(CODE, COUNTERS, sentence).remedy("Let the machine cool down, and look at its fans")
    } else if ever > 0 {
        Finding::notice(CODE, COUNTERS, sentence).remedy("Watch whether the count grows while measuring")
    } else {
        Finding::good(CODE, COUNTERS, sentence)
    };
    vec![found.figure("throttled", now as f64, "times").figure("throttled since start", ever as f64, "times")]
}

/// A cooling device of type "Processor" throttles a processor as long as its state is not 0.
fn cooling(scene: &Scene) -> Option<Finding> {
    let root = Path::new("/sys/class/thermal");
    let devices =
        scene.list(root).into_iter().filter(|n| n.starts_with("cooling_device")).map(|n| root.join(n));
    let at_work = devices
        .filter(|d| scene.text(d.join("type")).is_some_and(|t| t == "Processor" || t.starts_with("cpufreq-")))
        .find(|d| scene.number(d.join("cur_state")).is_some_and(|n| n > 0.0))?;
    let (now, most) = (scene.number(at_work.join("cur_state"))?, scene.number(at_work.join("max_state"))?);
    let source = at_work.join("cur_state").display().to_string();
    let sentence = format!("A processor is being slowed down to cool it (step {now:.0} of {most:.0}).");
    Some(Finding::warning(CODE, &source, sentence).remedy("Let the machine cool down, and look at its fans"))
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::look::Look;
    use super::super::super::testing::{findings_of, machine, one, says, scene_after};

    const COUNT: &str = "/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count";

    #[test]
    fn now_is_worse_than_before() {
        let _ =
            says(&machine().file(COUNT, "7\n"), "throttling", Severity::Notice, &["0 times just now, and 7"]);
        let mut fake = machine();
        let before = Look::take(&fake);
        fake.put(COUNT, "2\n");
        let _ = one(
            &findings_of(&scene_after(&fake, before), "throttling"),
            Severity::Warning,
            &["2 times just now"],
        );
    }

    #[test]
    fn cooling_at_work_is_a_warning() {
        let dir = "/sys/class/thermal/cooling_device0";
        let fake = machine()
            .file(&format!("{dir}/type"), "Processor\n")
            .file(&format!("{dir}/cur_state"), "2\n")
            .file(&format!("{dir}/max_state"), "10\n");
        let _ = says(&fake, "throttling", Severity::Warning, &["step 2 of 10"]);
    }
}
