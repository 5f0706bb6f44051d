//! A recently booted machine still runs jobs deferred until after the boot.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "uptime";
const SOURCE: &str = "/proc/uptime";

/// systemd-tmpfiles-clean.timer fires 15 minutes after boot, the last of the timers that distributions ship with OnBootSec; plus a few
/// minutes for the jobs it starts.
const SETTLED_S: f64 = 20.0 * 60.0;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(seconds) = scene.known("uptime_s").and_then(serde_json::Value::as_f64) else {
        return Vec::new();
    };
    let minutes = seconds / 60.0;
    let found = if seconds < SETTLED_S {
        Finding::notice(
            CODE,
            SOURCE,
            format!("The machine was started {minutes:.0} min ago: jobs scheduled after boot may run now."),
        )
        .remedy("Wait, or list the scheduled jobs")
        .command("systemctl list-timers")
    } else {
        Finding::good(CODE, SOURCE, format!("The machine was started {minutes:.0} min ago."))
    };
    vec![found.figure("uptime", seconds, "s")]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn a_fresh_start_is_noted() {
        let with = |text: &str| machine().file("/proc/uptime", text);
        let _ = says(&with("240.10 9\n"), "uptime", Severity::Notice, &["4 min ago"]);
        let _ = says(&with("1300.10 9\n"), "uptime", Severity::Good, &["22 min"]);
    }
}
