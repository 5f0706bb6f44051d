//! Processor frequency: the governor, boost above the nominal frequency, and whether all processors run at the same one.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::words::percent;

const DIR: &str = "/sys/devices/system/cpu/cpu*/cpufreq";

/// If processors differ by more than this, the same operation takes longer on some than on others.
const SPREAD: f64 = 0.10;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    if scene.processors().is_empty() {
        return Vec::new();
    }
    [governor(scene), boost(scene), spread(scene)].into_iter().flatten().collect()
}

fn governor(scene: &Scene) -> Option<Finding> {
    let source = format!("{DIR}/scaling_governor");
    let Some(governor) = scene.word("cpu.governor") else {
        return Some(Finding::unknown(
            "governor",
            &source,
            "what sets the processors' frequency (no cpufreq here)",
        ));
    };
    let driver = scene.word("cpu.frequency_driver").unwrap_or("unknown driver");
    if governor == "performance" {
        return Some(Finding::good(
            "governor",
            &source,
            format!("The frequency governor is performance ({driver})."),
        ));
    }
    let sentence = format!(
        "The frequency governor is {governor} ({driver}): a processor that slept between operations starts slowly, and short operations look more expensive than they are."
    );
    let finding =
        Finding::warning("governor", &source, sentence).remedy("Set it to performance while measuring");
    Some(finding.command("cpupower frequency-set -g performance"))
}

fn boost(scene: &Scene) -> Option<Finding> {
    let on = scene.known("cpu.boost")?.as_bool()?;
    let general = "/sys/devices/system/cpu/cpufreq/boost";
    let intel = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    let source = if scene.text(general).is_some() { general } else { intel };
    Some(if on {
        let sentence = "Processors may run above their nominal frequency (boost): how far depends on temperature and on the number of busy processors.";
        let off = if source == general { "0" } else { "1" };
        Finding::notice("boost", source, sentence)
            .remedy("Switch it off where differences of a few percent of processor time matter")
            .command(format!("echo {off} > {source}"))
    } else {
        Finding::good("boost", source, "Processors do not run above their nominal frequency.")
    })
}

fn spread(scene: &Scene) -> Option<Finding> {
    let now: Vec<f64> = scene
        .processors()
        .iter()
        .filter_map(|cpu| scene.number(cpu.join("cpufreq/scaling_cur_freq")))
        .collect();
    let least = now.iter().copied().min_by(f64::total_cmp)?;
    let most = now.iter().copied().max_by(f64::total_cmp).filter(|m| *m > 0.0)?;
    let (share, source) = ((most - least) / most, format!("{DIR}/scaling_cur_freq"));
    let sentence = format!("Processors run at {:.2} to {:.2} GHz now.", least / 1e6, most / 1e6);
    let found = if share > SPREAD {
        Finding::notice("frequency-spread", &source, format!("{sentence} They differ by {}.", percent(share)))
            .remedy("Fix the frequency, or pin the measurement to some processors (taskset)")
            .command("cpupower frequency-set -g performance")
    } else {
        Finding::good("frequency-spread", &source, sentence)
    };
    Some(found.figure("least", least, "kHz").figure("most", most, "kHz"))
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    const CPU1: &str = "/sys/devices/system/cpu/cpu1/cpufreq";

    #[test]
    fn a_saving_governor_is_a_warning() {
        let fake = machine().file(&format!("{CPU1}/scaling_governor"), "powersave\n");
        let _ = says(&fake, "governor", Severity::Warning, &["performance,powersave"]);
        let _ = says(&machine(), "governor", Severity::Good, &[]);
    }

    #[test]
    fn intel_pstate_no_turbo_inverts_boost() {
        let _ = says(
            &machine().file("/sys/devices/system/cpu/cpufreq/boost", "1\n"),
            "boost",
            Severity::Notice,
            &[],
        );
        let intel = machine()
            .file("/sys/devices/system/cpu/cpufreq/boost", "")
            .file("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
        let found = says(&intel, "boost", Severity::Notice, &["boost"]);
        assert_eq!(found.command, "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo");
    }

    #[test]
    fn processors_that_differ_are_noted() {
        let fake = machine().file(&format!("{CPU1}/scaling_cur_freq"), "800000\n");
        let _ = says(&fake, "frequency-spread", Severity::Notice, &["0.80 to 3.00 GHz", "73 %"]);
    }
}
