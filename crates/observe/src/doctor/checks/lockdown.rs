//! Kernel lockdown, as after a secure boot: which means of observation it forbids, even to root.

use super::super::finding::Finding;
use super::super::scene::{FileReading, Scene};

const CODE: &str = "lockdown";
const SOURCE: &str = "/sys/kernel/security/lockdown";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let text = match scene.reading(SOURCE) {
        FileReading::Text(text) => text,
        FileReading::Forbidden => {
            return vec![Finding::forbidden(CODE, SOURCE, "whether the kernel is locked down")];
        }
        // No file means no lockdown module; if securityfs is not mounted, nothing is locked that fathom uses by default.
        FileReading::Absent => return Vec::new(),
    };
    let mode =
        text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("none", |(mode, _)| mode);
    vec![match mode {
        "none" => Finding::good(CODE, SOURCE, "The kernel is not locked down."),
        "integrity" => Finding::notice(CODE, SOURCE, "The kernel is locked down (integrity), as after a secure boot: blktrace cannot open its files in debugfs. fathom does not need them.")
            .remedy("Nothing, unless you compare with blktrace"),
        _ => Finding::notice(CODE, SOURCE, format!("The kernel is locked down ({mode}): neither tracefs nor eBPF shows block events, also to root; counters of /proc/diskstats are left."))
            .remedy("Boot without lockdown=confidentiality"),
    }]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says, silent};

    #[test]
    fn each_mode_forbids_something_else() {
        let with = |text: &str| machine().file(super::SOURCE, text);
        let _ =
            says(&with("none [integrity] confidentiality\n"), "lockdown", Severity::Notice, &["blktrace"]);
        let _ = says(
            &with("none integrity [confidentiality]\n"),
            "lockdown",
            Severity::Notice,
            &["tracefs", "eBPF"],
        );
        let _ = says(&machine(), "lockdown", Severity::Good, &[]);
        let mut without = machine();
        without.remove(super::SOURCE);
        silent(&without, "lockdown");
    }
}
