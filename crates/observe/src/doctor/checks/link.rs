//! The link to the drive: SATA link power management, NVMe power states, and a PCIe link that runs below its maximum speed.

use super::super::finding::Finding;
use super::super::scene::{Queue, Scene};

/// Power states entered below this latency cost less than a tenth of a flash read (about 80 us), which no figure shows.
const HARMLESS_US: f64 = 8.0;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.queues();
    let drives = queues.iter().filter(|q| !q.is_virtual());
    drives.flat_map(|q| [link_power(scene, q), apst(scene, q), link_speed(scene, q)]).flatten().collect()
}

/// Aggressive link power management: the link sleeps between requests and needs milliseconds to wake up.
fn link_power(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let host = queue.device.sys.iter().filter_map(|part| part.to_str()).find(|part| {
        part.strip_prefix("host").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    })?;
    let source = format!("/sys/class/scsi_host/{host}/link_power_management_policy");
    let policy = scene.text(&source)?;
    let name = queue.name();
    Some(match policy.as_str() {
        "max_performance" => Finding::good("link-power", &source, format!("The SATA link of {name} does not sleep.")),
        "keep_firmware_settings" => Finding::unknown("link-power", &source, format!("whether the SATA link of {name} sleeps (the firmware decides)")),
        _ => Finding::warning(
            "link-power",
            &source,
            format!("The SATA link of {name} may sleep between requests ({policy}): the next one waits for it, up to milliseconds."),
        )
        .remedy("Keep it awake while measuring")
        .command(format!("echo max_performance > {source}")),
    })
}

/// Autonomous power state transitions of NVMe: the drive enters power states by itself, down to this latency.
fn apst(scene: &Scene, queue: &Queue) -> Option<Finding> {
    if queue.word("transport") != Some("nvme") {
        return None;
    }
    let name = queue.name();
    let own = scene
        .text(queue.file("device/power/pm_qos_latency_tolerance_us"))
        .and_then(|t| t.parse::<f64>().ok());
    let source = match own {
        Some(_) => queue.short("device/power/pm_qos_latency_tolerance_us"),
        None => "/sys/module/nvme_core/parameters/default_ps_max_latency_us".into(),
    };
    let latency_us = own.or_else(|| scene.number(&source))?;
    Some(if latency_us <= HARMLESS_US {
        Finding::good("apst", &source, format!("{name} does not enter sleep states by itself."))
    } else {
        Finding::notice(
            "apst",
            &source,
            format!("{name} may enter power states by itself from which it takes up to {latency_us:.0} us to wake up: the first requests after a pause are slow."),
        )
        .figure("latency", latency_us, "us")
        .remedy("Forbid them while measuring")
        .command(format!("echo 0 > {}", queue.short("device/power/pm_qos_latency_tolerance_us")))
    })
}

/// The NVMe controller is a PCIe function, two directories above the disk.
fn link_speed(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let read = |name: &str| scene.text(queue.file("device/device").join(name));
    let (now, most) = (read("current_link_speed")?, read("max_link_speed")?);
    let (width, widest) = (read("current_link_width")?, read("max_link_width")?);
    let (name, source) = (queue.name(), queue.short("device/device/current_link_speed"));
    Some(if now == most && width == widest {
        Finding::good("link-speed", &source, format!("The PCIe link of {name} runs at {now} x{width}."))
    } else {
        Finding::warning(
            "link-speed",
            &source,
            format!("The PCIe link of {name} runs at {now} x{width}, and the drive supports {most} x{widest}: the slot, or power saving, limits its rate."),
        )
        .remedy("Use another slot; if it is power saving, switch ASPM off")
        .command("echo performance > /sys/module/pcie_aspm/parameters/policy")
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says, silent};
    use crate::fake::Fake;

    const NVME: &str = "/sys/devices/pci0000:00/nvme/nvme0/block/nvme0n1";

    fn nvme() -> Fake {
        machine()
            .disk("pci0000:00/nvme/nvme0", "nvme0n1", (259, 0))
            .file("/proc/self/mountinfo", "27 1 259:0 / / rw - ext4 /dev/nvme0n1 rw\n")
            .on_mount("/", 27, (259, 0))
            .file("/sys/module/nvme_core/parameters/default_ps_max_latency_us", "100000\n")
    }

    #[test]
    fn a_sleeping_sata_link_is_found() {
        let source = "/sys/class/scsi_host/host0/link_power_management_policy";
        let found = says(
            &machine().file(source, "med_power_with_dipm\n"),
            "link-power",
            Severity::Warning,
            &["med_power_with_dipm"],
        );
        assert_eq!(found.command, format!("echo max_performance > {source}"));
        let _ = says(&machine(), "link-power", Severity::Good, &[]);
        silent(&nvme(), "link-power");
    }

    #[test]
    fn an_nvmes_own_tolerance_goes_before_the_default() {
        let _ = says(&nvme(), "apst", Severity::Notice, &["100000 us"]);
        let fake = nvme().file(&format!("{NVME}/device/power/pm_qos_latency_tolerance_us"), "0\n");
        let _ = says(&fake, "apst", Severity::Good, &[]);
        silent(&machine(), "apst");
    }

    #[test]
    fn a_narrow_link_is_found() {
        let with = |width: &str| {
            nvme()
                .file(&format!("{NVME}/device/device/current_link_speed"), "16.0 GT/s PCIe\n")
                .file(&format!("{NVME}/device/device/max_link_speed"), "16.0 GT/s PCIe\n")
                .file(&format!("{NVME}/device/device/current_link_width"), width)
                .file(&format!("{NVME}/device/device/max_link_width"), "4\n")
        };
        let _ = says(&with("1\n"), "link-speed", Severity::Warning, &["x1", "x4"]);
        let _ = says(&with("4\n"), "link-speed", Severity::Good, &[]);
    }
}
