//! The kernel's mitigations of processor vulnerabilities: some make every system call slower, and two machines that differ in them differ
//! in every small operation.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "mitigations";
const SOURCE: &str = "/sys/devices/system/cpu/vulnerabilities";

/// Words in the kernel's descriptions for work at each entry to or exit from the kernel, at each indirect branch inside it, or at each
/// task switch. "IBRS_FW" is not among them: it is written only around firmware calls.
const COSTLY: [&str; 7] = [
    "PTI",
    "Retpolines",
    "IBRS",
    "Clear CPU buffers",
    "untrained return thunk",
    "Safe RET",
    "IBPB: always-on",
];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(all) = scene.known("mitigations").and_then(|v| v.as_object()) else { return Vec::new() };
    let costly: Vec<String> = all
        .iter()
        .filter_map(|(fault, text)| Some((fault, costly_part(text.as_str()?)?)))
        .map(|(fault, part)| format!("{fault}: {part}"))
        .collect();
    vec![if costly.is_empty() {
        Finding::good(CODE, SOURCE, "No mitigation makes system calls slower.")
    } else {
        Finding::notice(
            CODE,
            SOURCE,
            format!("{} of the kernel's mitigations make system calls slower ({}): small operations cost more than on a machine without them.", costly.len(), costly.join("; ")),
        )
        .figure("mitigations", costly.len() as f64, "mitigations")
        .remedy("Compare only machines with the same ones; the kernel parameter mitigations=off shows what they cost, on a machine that may be at risk")
    }]
}

/// The costly parts of a description such as "Mitigation: Retpolines; IBPB: conditional; IBRS_FW".
fn costly_part(text: &str) -> Option<String> {
    let parts = text.strip_prefix("Mitigation: ")?.split([';', ',']).map(str::trim);
    let words = |part: &str| {
        part.split(|c: char| !(c.is_alphanumeric() || "_-".contains(c))).any(|w| COSTLY.contains(&w))
    };
    let costly: Vec<&str> =
        parts.filter(|p| words(p) || COSTLY.iter().any(|c| c.contains(' ') && p.contains(c))).collect();
    (!costly.is_empty()).then(|| costly.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};
    use super::costly_part;

    #[test]
    fn only_costly_parts_are_told() {
        for (text, part) in [
            ("Mitigation: PTI", Some("PTI")),
            ("Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: disabled", Some("Retpolines")),
            ("Mitigation: Clear CPU buffers; SMT vulnerable", Some("Clear CPU buffers")),
            ("Mitigation: usercopy/swapgs barriers and __user pointer sanitization", None),
            ("Mitigation: Safe RET", Some("Safe RET")),
            ("Not affected", None),
            ("Vulnerable", None),
        ] {
            assert_eq!(costly_part(text).as_deref(), part, "{text}");
        }
    }

    #[test]
    fn they_are_listed_with_their_faults() {
        let fake = machine().file("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
        let _ = says(&fake, "mitigations", Severity::Notice, &["1 of", "meltdown: PTI"]);
        let _ = says(&machine(), "mitigations", Severity::Good, &[]);
    }
}
