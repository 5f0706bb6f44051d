//! Low weights of the control groups above this process: with them the kernel serves others first.

use fathom_record::block::DeviceNumber;
use serde_json::Value;

/// Up to this part of the default a weight is low: a neighbour with the default then gets twice as much, or more.
const LOW: f64 = 0.5;

/// A low weight and where it is set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weight {
    pub file: String,
    pub value: f64,
    pub default: f64,
}

impl Weight {
    /// "cpu.shares", "io.bfq.weight".
    pub fn name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or(&self.file)
    }

    fn part(&self) -> f64 {
        self.value / self.default
    }
}

/// The lowest CPU weight, if it is low. A group competes with those beside it, so each level counts.
pub(crate) fn of_processor(environment: &Value) -> Option<Weight> {
    lowest(environment, "/limits/cgroup/cpu_weights", |file, text| {
        let default = if file.ends_with("cpu.shares") { 1024.0 } else { 100.0 };
        Some((text.parse().ok()?, default))
    })
}

/// The lowest weight at a device under bfq, if it is low. A line for the device itself ("8:0 50") overrides the plain one ("100" or
/// "default 100").
pub(crate) fn of_device(environment: &Value, device: DeviceNumber) -> Option<Weight> {
    lowest(environment, "/limits/cgroup/io_weights", |_, text| {
        let lines = || text.lines().map(|line| line.rsplit_once(' ').unwrap_or(("default", line)));
        let own = lines().find(|(of, _)| DeviceNumber::parse(of) == Some(device));
        let (_, weight) = own.or_else(|| lines().find(|(of, _)| *of == "default"))?;
        Some((weight.parse().ok()?, 100.0))
    })
}

/// Reads each file's value and default.
fn lowest(
    environment: &Value,
    files: &str,
    read: impl Fn(&str, &str) -> Option<(f64, f64)>,
) -> Option<Weight> {
    let files = environment.pointer(files)?.as_object()?;
    let weights = files.iter().filter_map(|(file, text)| {
        let (value, default) = read(file, text.as_str()?.trim())?;
        Some(Weight { file: file.clone(), value, default })
    });
    weights.filter(|w| w.part() <= LOW).min_by(|a, b| a.part().total_cmp(&b.part()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_lowest_level_counts() {
        let of = |files: Value| of_processor(&json!({ "limits": { "cgroup": { "cpu_weights": files } } }));
        let found = of(json!({ "/cg/a/b/cpu.weight": "100", "/cg/a/cpu.weight": "10" })).expect("low");
        assert_eq!(
            (found.file.as_str(), found.value, found.name()),
            ("/cg/a/cpu.weight", 10.0, "cpu.weight")
        );
        assert_eq!(of(json!({ "/cg/a/cpu.shares": "1024", "/cg/a/cpu.weight": "80" })), None);
        assert!(of(json!({ "/cg/a/cpu.shares": "100" })).is_some(), "its default is another one");
    }

    #[test]
    fn a_device_may_have_its_own_weight() {
        let of = |text: &str| {
            let environment =
                json!({ "limits": { "cgroup": { "io_weights": { "/cg/io.bfq.weight": text } } } });
            of_device(&environment, DeviceNumber::parse("8:0").expect("a number")).map(|w| w.value)
        };
        assert_eq!(of("1\n"), Some(1.0));
        assert_eq!(of("default 100\n8:0 20"), Some(20.0));
        assert_eq!(of("default 10\n8:0 200"), None);
        assert_eq!(of("8:16 20"), None);
    }
}
