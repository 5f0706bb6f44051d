//! Sleep states of idle processors: the deepest one allowed, and its exit latency.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "idle-states";

/// A read from a fast NVMe drive takes about 80 us; a state with that exit latency doubles it at queue depth 1.
const DEEP_US: f64 = 80.0;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let driver = "/sys/devices/system/cpu/cpuidle/current_driver";
    let Some(name) = scene.text(driver) else { return Vec::new() };
    let Some(first) = scene.processors().into_iter().next() else { return Vec::new() };
    if name == "none" {
        return vec![Finding::unknown(
            CODE,
            driver,
            "how idle processors sleep (no cpuidle driver: on a virtual machine the host decides)",
        )];
    }
    let dir = first.join("cpuidle");
    let states = scene.list(&dir).into_iter().filter(|n| n.starts_with("state")).map(|n| dir.join(n));
    let allowed = states.filter(|s| scene.text(s.join("disable")).as_deref() != Some("1"));
    let wake = allowed.filter_map(|s| Some((scene.number(s.join("latency"))?, scene.text(s.join("name"))?)));
    let Some((latency_us, state)) = wake.max_by(|a, b| a.0.total_cmp(&b.0)) else { return Vec::new() };
    // In this file 0 means no limit, "n/a" no latency allowed.
    let limit = scene.text(first.join("power/pm_qos_resume_latency_us"));
    let held = limit.as_deref() == Some("n/a")
        || limit.and_then(|t| t.parse::<f64>().ok()).is_some_and(|l| l > 0.0 && l < DEEP_US);
    let source = dir.join("state*/latency").display().to_string();
    let sentence = format!(
        "Idle processors may sleep as deep as {state} ({name}), from which they wake up in {latency_us:.0} us"
    );
    let found = if latency_us >= DEEP_US && !held {
        Finding::warning(
            CODE,
            &source,
            format!(
                "{sentence}: this delays operations that wait for the device, most of all at queue depth 1."
            ),
        )
        .remedy("Forbid deep states while measuring")
        .command("cpupower idle-set -D 20")
    } else {
        Finding::good(CODE, &source, format!("{sentence}."))
    };
    vec![found.figure("latency", latency_us, "us")]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    const STATE: &str = "/sys/devices/system/cpu/cpu0/cpuidle/state2";

    #[test]
    fn a_deep_state_counts_while_it_is_allowed() {
        let deep = || {
            machine()
                .file(&format!("{STATE}/name"), "C6\n")
                .file(&format!("{STATE}/latency"), "133\n")
                .file(&format!("{STATE}/disable"), "0\n")
        };
        let _ = says(&deep(), "idle-states", Severity::Warning, &["C6", "133 us"]);
        let _ = says(
            &deep().file(&format!("{STATE}/disable"), "1\n"),
            "idle-states",
            Severity::Good,
            &["C1", "2 us"],
        );
        let held = deep().file("/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", "20\n");
        let _ = says(&held, "idle-states", Severity::Good, &[]);
    }

    #[test]
    fn no_driver_is_not_called_good() {
        let fake = machine().file("/sys/devices/system/cpu/cpuidle/current_driver", "none\n");
        let _ = says(&fake, "idle-states", Severity::Unknown, &["host decides"]);
    }
}
