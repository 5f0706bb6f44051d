//! A device's state and wear as far as sysfs shows it without tools: state of SCSI and NVMe devices, failed requests, the end of life
//! that eMMC reports. What only SMART knows is reported as unknown.

use super::super::finding::Finding;
use super::super::scene::{Queue, Scene};

const CODE: &str = "device-health";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.queues();
    queues.iter().filter(|q| !q.is_virtual()).flat_map(|q| of(scene, q)).collect()
}

fn of(scene: &Scene, queue: &Queue) -> Vec<Finding> {
    let [state, wear, smart] = [state(scene, queue), wear(scene, queue), smart(queue)];
    state.into_iter().chain(wear).chain(smart).collect()
}

fn state(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("device/state"));
    let state = scene.text(queue.file("device/state"))?;
    // SCSI says "running", NVMe "live".
    if !matches!(state.as_str(), "running" | "live") {
        let finding = Finding::error(
            CODE,
            &source,
            format!("{name} is in the state \"{state}\": requests wait or fail."),
        );
        return Some(finding.remedy("Find the reason").command(format!("dmesg | grep -w {name}")));
    }
    // Hexadecimal. A device that answers "unknown command" during probing is counted, too, so a few errors mean nothing.
    const FEW: u64 = 16;
    let failed = scene.text(queue.file("device/ioerr_cnt"));
    let failed = failed.and_then(|t| u64::from_str_radix(t.trim_start_matches("0x"), 16).ok()).unwrap_or(0);
    if failed > FEW {
        let sentence = format!(
            "{name} has failed {failed} requests since boot: repeated requests show as long latencies."
        );
        let finding = Finding::notice(CODE, &queue.short("device/ioerr_cnt"), sentence).figure(
            "failed",
            failed as f64,
            "requests",
        );
        return Some(finding.remedy("See which they were").command(format!("dmesg | grep -w {name}")));
    }
    Some(Finding::good(CODE, &source, format!("{name} is {state}.")))
}

/// JEDEC's eMMC register PRE_EOL_INFO: 1 is normal, 2 a warning (80 % of the reserved blocks are used), 3 urgent.
fn wear(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("device/pre_eol_info"));
    let level = scene.text(queue.file("device/pre_eol_info"))?;
    let worn = match level.trim_start_matches("0x").trim_start_matches('0') {
        "1" => return Some(Finding::good(CODE, &source, format!("{name} reports normal wear."))),
        "2" => "four fifths of its spare blocks are used",
        "3" => "its spare blocks are nearly used up",
        _ => return None,
    };
    let finding = Finding::warning(
        CODE,
        &source,
        format!("{name} nears its end of life: {worn}, and writes slow down."),
    );
    Some(finding.remedy("Measure on another device, and save what is on this one"))
}

/// Only a real disk has SMART.
fn smart(queue: &Queue) -> Option<Finding> {
    let real = matches!(queue.word("transport"), Some("nvme" | "ata" | "sas" | "usb"));
    real.then(|| {
        let what =
            format!("wear and reallocated blocks of {0} (`smartctl -a /dev/{0}` reads them)", queue.name());
        Finding::unknown("smart", &queue.short("device"), what)
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{SDA, machine, says};

    #[test]
    fn a_device_that_does_not_run_is_an_error() {
        let fake = machine().file(&format!("{SDA}/device/state"), "offline\n");
        let _ = says(&fake, "device-health", Severity::Error, &["sda", "offline"]);
    }

    #[test]
    fn many_failed_requests_are_said() {
        let with = |n: &str| machine().file(&format!("{SDA}/device/ioerr_cnt"), n);
        let _ = says(&with("0x1f4\n"), "device-health", Severity::Notice, &["500 requests"]);
        let _ = says(&with("0x2\n"), "device-health", Severity::Good, &["running"]);
    }

    #[test]
    fn the_end_of_life_is_announced() {
        let fake = machine()
            .file(&format!("{SDA}/device/state"), "\n")
            .file(&format!("{SDA}/device/pre_eol_info"), "0x03\n");
        let _ = says(&fake, "device-health", Severity::Warning, &["nearly used up"]);
    }
}
