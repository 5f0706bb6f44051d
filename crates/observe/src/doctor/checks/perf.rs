//! perf_event_paranoid: whether this user may read the processor's counters and the kernel's trace points.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "perf";
const SOURCE: &str = "/proc/sys/kernel/perf_event_paranoid";

/// From 2 on an ordinary user may not measure the kernel.
const USERS_ONLY: f64 = 2.0;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let (Some(level), Some(uid)) = (scene.number(SOURCE), scene.uid) else { return Vec::new() };
    vec![if uid == 0 || level < USERS_ONLY {
        Finding::good(
            CODE,
            SOURCE,
            format!("perf_event_paranoid is {level:.0}: this user may count events of the kernel."),
        )
    } else {
        Finding::forbidden(
            CODE,
            SOURCE,
            format!("processor time inside the kernel by function (perf_event_paranoid is {level:.0})"),
        )
        .remedy("As root")
        .command("sysctl kernel.perf_event_paranoid=1")
    }]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn root_may_and_a_user_may_not() {
        let _ = says(&machine(), "perf", Severity::Good, &[]);
        let user = machine().file("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\n");
        assert!(says(&user, "perf", Severity::Unknown, &["paranoid is 2"]).forbidden);
        let _ = says(&user.file(super::SOURCE, "-1\n"), "perf", Severity::Good, &[]);
    }
}
