//! The kernel's clock source and the time stamp counter that fathom uses to time operations.

use super::super::finding::Finding;
use super::super::scene::Scene;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    source(scene).into_iter().chain(counter(scene)).collect()
}

/// tsc, and the virtual clocks that read it in user space, cost some 20 ns; hpet and acpi_pm cost a microsecond or more.
fn source(scene: &Scene) -> Option<Finding> {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let name = scene.word("clocksource")?;
    let quick = [
        "tsc",
        "kvm-clock",
        "hyperv_clocksource_tsc_page",
        "arch_sys_counter",
        "timebase",
        "tod",
        "riscv_clocksource",
    ];
    if quick.contains(&name) {
        return Some(Finding::good("clocksource", path, format!("The kernel's clock is {name}.")));
    }
    let others = scene.word("clocksources").unwrap_or("none");
    let finding = Finding::warning(
        "clocksource",
        path,
        format!(
            "The kernel's clock is {name}, which a program cannot read without a system call or a slow register: each time stamp costs up to a microsecond (it offers {others})."
        ),
    );
    Some(if others.split(' ').any(|o| o == "tsc") {
        finding.remedy("Choose tsc").command(format!("echo tsc > {path}"))
    } else {
        finding.remedy("The kernel rejected tsc: see `dmesg | grep -i tsc` and check the firmware settings")
    })
}

fn counter(scene: &Scene) -> Option<Finding> {
    let steady = scene.known("cpu.tsc_invariant")?.as_bool()?;
    Some(if steady {
        Finding::good(
            "tsc",
            "/proc/cpuinfo",
            "The time stamp counter runs at a constant rate in all states (constant_tsc, nonstop_tsc).",
        )
    } else {
        Finding::warning("tsc", "/proc/cpuinfo", "The time stamp counter changes its rate or stops (constant_tsc or nonstop_tsc is missing): fathom falls back to a slower clock.")
            .remedy("Fix the processors' frequency, or have the hypervisor present an invariant counter")
            .command("cpupower frequency-set -g performance")
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    const PATH: &str = "/sys/devices/system/clocksource/clocksource0/";

    #[test]
    fn a_slow_clock_is_a_warning() {
        let fake = machine().file(&format!("{PATH}current_clocksource"), "hpet\n");
        let found = says(&fake, "clocksource", Severity::Warning, &["hpet", "tsc hpet"]);
        assert!(found.command.starts_with("echo tsc >"));
        let without = fake.file(&format!("{PATH}available_clocksource"), "hpet acpi_pm\n");
        let found = says(&without, "clocksource", Severity::Warning, &[]);
        assert!(found.command.is_empty() && found.remedy.contains("dmesg"));
    }

    #[test]
    fn a_counter_that_stops_is_a_warning() {
        let fake = machine().file("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc\n");
        let _ = says(&fake, "tsc", Severity::Warning, &["nonstop_tsc"]);
        let _ = says(&machine(), "tsc", Severity::Good, &[]);
    }
}
