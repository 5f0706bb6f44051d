//! Drive temperature through hwmon (NVMe, and SATA with drivetemp): above its limit a drive throttles itself.

use super::super::finding::Finding;
use super::super::scene::{Queue, Scene};
use std::path::PathBuf;

const CODE: &str = "temperature";

/// For drives that report no limit: many NVMe drives begin to throttle here.
const USUAL_LIMIT_C: f64 = 70.0;
/// A drive under load can warm by this much within a minute, so one this close to its limit will reach it.
const CLOSE_C: f64 = 10.0;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.queues();
    queues.iter().filter(|q| !q.is_virtual()).filter_map(|q| of(scene, q)).collect()
}

fn of(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let sensor = sensor(scene, queue)?;
    let degrees = |name: &str| scene.number(sensor.join(name)).map(|milli| milli / 1000.0);
    let (now, source) = (degrees("temp1_input")?, sensor.join("temp1_input").display().to_string());
    let limit = degrees("temp1_max").filter(|l| *l > 0.0).unwrap_or(USUAL_LIMIT_C);
    let figures = format!("{} has {now:.0} °C, its limit is {limit:.0} °C", queue.name());
    let finding = if now >= limit {
        Finding::warning(CODE, &source, format!("{figures}: it slows itself down."))
            .remedy("Let it cool down, or improve its cooling")
    } else if now >= limit - CLOSE_C {
        Finding::notice(CODE, &source, format!("{figures}: under load it will reach it and slow down."))
            .remedy("Improve its cooling, and watch the rate over time")
    } else {
        Finding::good(CODE, &source, format!("{figures}."))
    };
    Some(finding.figure("temperature", now, "degrees C"))
}

/// The drive's hwmon directory: below `device` or `device/hwmon`, depending on the kernel.
fn sensor(scene: &Scene, queue: &Queue) -> Option<PathBuf> {
    let places = [queue.file("device"), queue.file("device/hwmon")];
    places.into_iter().find_map(|place| {
        let names = scene.list(&place).into_iter().filter(|n| n.starts_with("hwmon"));
        names.map(|n| place.join(n)).find(|dir| scene.text(dir.join("temp1_input")).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{SDA, machine, says};

    #[test]
    fn the_drives_own_limit_counts() {
        let with = |now: &str| machine().file(&format!("{SDA}/device/hwmon/hwmon2/temp1_input"), now);
        let _ = says(&with("61000\n"), "temperature", Severity::Warning, &["61 °C", "limit is 60 °C"]);
        let _ = says(&with("52000\n"), "temperature", Severity::Notice, &["under load"]);
        let _ = says(&with("40000\n"), "temperature", Severity::Good, &[]);
    }

    #[test]
    fn without_a_limit_the_usual_one_counts() {
        let fake = machine()
            .file(&format!("{SDA}/device/hwmon/hwmon2/temp1_max"), "0\n")
            .file(&format!("{SDA}/device/hwmon/hwmon2/temp1_input"), "71000\n");
        let _ = says(&fake, "temperature", Severity::Warning, &["70 °C"]);
    }
}
