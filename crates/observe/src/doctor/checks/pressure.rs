//! Pressure stall information: the share of the last ten seconds in which some task waited for the disk, a processor or memory.

use super::super::finding::Finding;
use super::super::scene::{FileReading, Scene};

/// (resource, code, share in percent from which it matters, remedy). Above 5 % of waiting for the disk, other programs' I/O is in every
/// figure. Processors are briefly shared on any machine, so only a tenth counts. Memory stalls mean reclaim, which should not happen
/// during a measurement.
const RESOURCES: [(&str, &str, f64, &str); 3] = [
    (
        "io",
        "pressure-io",
        5.0,
        "Find the programs that do I/O (`fathom watch`, `iotop -o`); stop them or wait",
    ),
    ("cpu", "pressure-cpu", 10.0, "Find the programs that use the processors (`top`); stop them or wait"),
    (
        "memory",
        "pressure-memory",
        1.0,
        "Find the programs that use the memory (`ps aux --sort=-rss | head`); stop them",
    ),
];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    RESOURCES.iter().map(|&(name, code, limit, remedy)| of(scene, name, code, limit, remedy)).collect()
}

fn of(scene: &Scene, name: &str, code: &'static str, limit: f64, remedy: &str) -> Finding {
    let source = format!("/proc/pressure/{name}");
    // If PSI is compiled in but switched off, the file exists and reading it fails.
    let FileReading::Text(text) = scene.reading(&source) else {
        let unknown = Finding::unknown(code, &source, format!("how long others wait for {name}"));
        return unknown.remedy("Boot with psi=1");
    };
    let average = |kind: &str| {
        let line = text.lines().find(|l| l.starts_with(kind))?;
        line.split_whitespace().find_map(|w| w.strip_prefix("avg10=")?.parse::<f64>().ok())
    };
    let Some(some) = average("some ") else {
        return Finding::unknown(code, &source, format!("how long others wait for {name}"));
    };
    let what = match name {
        "io" => "the disk",
        "cpu" => "a processor",
        _ => "memory",
    };
    let sentence = format!("In {some:.0} % of the last 10 s something waited for {what}.");
    let found = if some >= limit {
        Finding::warning(code, &source, sentence).remedy(remedy)
    } else {
        Finding::good(code, &source, sentence)
    };
    found.figure("avg10", some, "%")
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{findings_of, machine, says, scene};

    #[test]
    fn each_resource_has_its_threshold() {
        let with = |name: &str, avg: &str| {
            machine().file(
                &format!("/proc/pressure/{name}"),
                &format!("some avg10={avg} avg60=0.00 avg300=0.00 total=1\n"),
            )
        };
        let _ = says(
            &with("io", "5.00"),
            "pressure-io",
            Severity::Warning,
            &["5 % of the last 10 s", "the disk"],
        );
        let _ = says(&with("cpu", "9.00"), "pressure-cpu", Severity::Good, &["a processor"]);
        let _ = says(&with("cpu", "56.21"), "pressure-cpu", Severity::Warning, &["56 %"]);
        let _ = says(&with("memory", "1.20"), "pressure-memory", Severity::Warning, &[]);
    }

    #[test]
    fn a_kernel_without_it_is_not_called_quiet() {
        let found = findings_of(&scene(&crate::fake::Fake::new()), "pressure-io");
        assert_eq!(found[0].severity, Severity::Unknown);
    }
}
