//! What is varied: parses `--vary SETTING=A,B,...` and assigns each setting to the kernel, a file system made for it,
//! the native workload, or a placeholder in a drop-in's arguments.

use super::native;
use super::subject::SweepSubject;
use crate::exit::Usage;
use fathom_dialects::filebench::nearest;
use fathom_observe::knobs::{Knob, catalogue};

/// A setting with its values.
#[derive(Clone, Debug)]
pub struct Varied {
    /// As typed.
    pub name: String,
    /// As typed.
    pub values: Vec<String>,
    pub target: Target,
}

/// What a setting belongs to.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Kernel(Knob),
    /// The type of file system on the loop device; likewise options of mkfs, and mount options.
    FileSystem,
    /// See `FileSystem`.
    Mkfs,
    /// See `FileSystem`.
    Mount,
    /// A key of the native workload.
    Workload,
    /// `{name}` in the arguments.
    Argument,
    /// Which of several workloads; only in comparisons.
    Subject,
    /// The working directory; likewise.
    Directory,
    /// An input of a simulation, such as its scheduler or device.
    Model,
}

/// The value that means the one found at the start.
pub const PRESENT: &str = "present";

impl Varied {
    /// Whether it concerns the file system on the loop device.
    pub fn is_of_disk(&self) -> bool {
        matches!(self.target, Target::FileSystem | Target::Mkfs | Target::Mount)
    }

    pub fn knob(&self) -> Option<&Knob> {
        match &self.target {
            Target::Kernel(knob) => Some(knob),
            _ => None,
        }
    }
}

/// Parses all of them.
pub fn read(options: &[String], subjects: &[SweepSubject]) -> Result<Vec<Varied>, Usage> {
    read_with(&|_| false, options, subjects)
}

/// The same, where names accepted by `model` belong to a model.
pub fn read_with(
    model: &dyn Fn(&str) -> bool,
    options: &[String],
    subjects: &[SweepSubject],
) -> Result<Vec<Varied>, Usage> {
    let mut all: Vec<Varied> = Vec::new();
    for option in options {
        let (name, values) = split(option)?;
        if all.iter().any(|v| v.name == name) {
            return Err(Usage(format!(
                "--vary {option}: {name} is varied twice; name all its values at once"
            )));
        }
        let target = if model(&name) { Target::Model } else { owner(&name, subjects)? };
        all.push(Varied { name, values, target });
    }
    let has = |target: Target| all.iter().any(|v| v.target == target);
    if (has(Target::Mkfs) || has(Target::Mount)) && !has(Target::FileSystem) {
        return Err(Usage(
            "mkfs=... and mount=... need a file system to make; add one, as in --vary fs=ext4".into(),
        ));
    }
    for unused in subjects.iter().flat_map(SweepSubject::placeholders) {
        if !all.iter().any(|v| v.target == Target::Argument && v.name == unused) {
            return Err(Usage(format!(
                "the arguments contain {{{unused}}}; give it values with --vary {unused}=..."
            )));
        }
    }
    Ok(all)
}

fn split(option: &str) -> Result<(String, Vec<String>), Usage> {
    let wanted = || {
        Usage(format!(
            "--vary {option}: SETTING=VALUE,VALUE,... is expected, as in --vary read_ahead_kb=0,128"
        ))
    };
    let (name, text) = option.split_once('=').ok_or_else(wanted)?;
    let by = if text.contains(';') { ';' } else { ',' };
    let mut values: Vec<String> = text.split(by).map(|v| v.trim().to_string()).collect();
    if by == ';' && values.last().is_some_and(String::is_empty) {
        values.pop();
    }
    // An empty value is rejected: mkfs and mount without options are written "defaults".
    if name.is_empty() || values.is_empty() || values.iter().any(String::is_empty) {
        return Err(wanted());
    }
    if let Some(twice) = values.iter().enumerate().find(|(i, v)| values[..*i].contains(v)) {
        return Err(Usage(format!(
            "--vary {option}: {} is listed twice; --rounds repeats measurements",
            twice.1
        )));
    }
    Ok((name.to_string(), values))
}

fn owner(name: &str, subjects: &[SweepSubject]) -> Result<Target, Usage> {
    if subjects.iter().any(|s| s.placeholders().iter().any(|p| p == name)) {
        return Ok(Target::Argument);
    }
    match name {
        "fs" => return Ok(Target::FileSystem),
        "mkfs" => return Ok(Target::Mkfs),
        "mount" => return Ok(Target::Mount),
        _ => {}
    }
    if let Some(knob) = Knob::find(name) {
        return Ok(Target::Kernel(knob));
    }
    if native::is_setting(name) {
        if subjects.iter().all(SweepSubject::is_native) {
            return Ok(Target::Workload);
        }
        return Err(Usage(format!(
            "--vary {name}=...: {name} is a setting of native workload files; for a drop-in write {{{name}}} where the value belongs in its arguments"
        )));
    }
    let known = catalogue::names().into_iter().chain(native::names()).chain(["fs", "mkfs", "mount"]);
    let end = nearest(name, known).map_or_else(|| ".".to_string(), |near| format!("; did you mean {near}?"));
    Err(Usage(format!(
        "--vary {name}=...: {name} is not a known setting{end} Settings of the kernel: {}; of a file system to make: fs, mkfs, mount; of a native workload: {}; of a drop-in: any {{{name}}} in its arguments",
        catalogue::names().join(", "),
        native::names().join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(words: &[&str]) -> SweepSubject {
        SweepSubject::read(&words.iter().map(Into::into).collect::<Vec<_>>())
            .unwrap_or_else(|e| panic!("{e}"))
    }

    fn refusal(options: &[&str]) -> String {
        let options: Vec<String> = options.iter().map(|o| (*o).to_string()).collect();
        read(&options, &[subject(&["sysbench", "--num-threads={threads}", "run"])])
            .err()
            .map_or_else(String::new, |e| e.0)
    }

    #[test]
    fn values_are_separated_by_commas_or_else_by_semicolons() {
        assert_eq!(split("a=1,2").expect("two").1, ["1", "2"]);
        assert_eq!(
            split("mount=noatime;noatime,data=writeback").expect("two").1,
            ["noatime", "noatime,data=writeback"]
        );
        assert_eq!(split("mount=noatime,nodiratime;").expect("one").1, ["noatime,nodiratime"]);
        for wrong in ["a", "a=", "=1", "a=1,,2", "a=1,1"] {
            assert!(split(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_setting_has_an_owner() {
        let subject = [subject(&["sysbench", "--num-threads={threads}", "run"])];
        assert_eq!(owner("threads", &subject).expect("a word"), Target::Argument);
        assert!(matches!(owner("iosched/low_latency", &subject), Ok(Target::Kernel(_))));
        assert_eq!(owner("mount", &subject).expect("of the disk"), Target::Mount);
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        assert!(
            refusal(&["threads=1", "skeduler=none"])
                .contains("skeduler is not a known setting; did you mean scheduler? Settings of the")
        );
        assert!(refusal(&["threads=1", "record=4k"]).contains("write {record} where the value belongs"));
        assert!(refusal(&["scheduler=none"]).contains("the arguments contain {threads}"));
        assert!(refusal(&["threads=1", "threads=2"]).contains("varied twice"));
        assert!(refusal(&["threads=1", "mount=noatime"]).contains("need a file system to make"));
        assert_eq!(refusal(&["threads=1,4", "scheduler=none,bfq"]), "");
    }
}
