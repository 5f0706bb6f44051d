//! The load average: tasks that run, wait for a processor, or wait for a disk, over the last minutes.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "load-average";
const SOURCE: &str = "/proc/loadavg";

/// From half a task per processor on, a new thread often finds its processor busy.
const PER_PROCESSOR: f64 = 0.5;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let averages = scene.known("load_average").and_then(|v| v.as_array()).cloned().unwrap_or_default();
    let loads: Vec<f64> = averages.iter().filter_map(serde_json::Value::as_f64).collect();
    let ([one, five, fifteen], Some(processors)) = (&loads[..], scene.count("cpu.online")) else {
        return Vec::new();
    };
    let sentence = format!(
        "The load average is {one:.2}, {five:.2}, {fifteen:.2} (1, 5, 15 min) on {processors} processors."
    );
    let limit = PER_PROCESSOR * processors as f64;
    let found = if *one >= limit {
        Finding::warning(CODE, SOURCE, sentence).remedy("Wait until it falls").command("uptime")
    } else if *five >= limit {
        Finding::notice(CODE, SOURCE, sentence)
            .remedy("Something has just ended; what it wrote may still be written back")
    } else {
        Finding::good(CODE, SOURCE, sentence)
    };
    vec![found.figure("load", *one, "tasks")]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn the_load_is_held_against_the_processors() {
        let with = |text: &str| machine().file("/proc/loadavg", text);
        let _ = says(
            &with("1.80 1.96 1.54 3/99 1\n"),
            "load-average",
            Severity::Warning,
            &["1.80, 1.96, 1.54", "2 processors"],
        );
        let _ = says(&with("0.10 1.20 1.54 3/99 1\n"), "load-average", Severity::Notice, &[]);
        let _ = says(&with("0.99 0.50 1.54 3/99 1\n"), "load-average", Severity::Good, &[]);
    }
}
