//! `fathom doctor`: what on this machine would spoil a measurement at a path, as a page or as JSON. Observe makes the
//! findings; this file prints them: worst first, all that is fine in one line, hidden facts once.

use crate::console;
use crate::exit::{self, Usage};
use crate::line::Doctor;
use anstyle::{AnsiColor, Style};
use fathom_observe::doctor::{Examination, Finding, Severity, examine};
use std::fmt::Write as _;
use std::os::unix::fs::FileTypeExt as _;
use std::process::ExitCode;

/// Version of the JSON; see docs/doctor.md.
const SCHEMA: u32 = 1;

/// Column widths of severity and subject, enough for every value.
const SEVERITY_WIDTH: usize = 9;
const SUBJECT_WIDTH: usize = 13;

pub fn run(options: &Doctor) -> anyhow::Result<ExitCode> {
    if let Err(error) = options.path.canonicalize() {
        return Err(Usage(format!("{} cannot be examined: {error}", options.path.display())).into());
    }
    if std::fs::metadata(&options.path).is_ok_and(|m| m.file_type().is_block_device()) {
        return Err(Usage(format!(
            "{} is a block device, and the doctor examines directories: mount it and name the mount point (`fathom watch {0}` looks at a device)",
            options.path.display()
        ))
        .into());
    }
    let found = examine(&options.path);
    console::out(&if options.json { json(&found)? } else { page(&found, options.all, console::width()) });
    Ok(ExitCode::from(if found.spoilt() { exit::CHECK } else { exit::DONE }))
}

fn json(found: &Examination) -> serde_json::Result<String> {
    let counts: serde_json::Map<_, _> =
        ALL.iter().map(|&s| (s.word().into(), found.count(s).into())).collect();
    let mut document = serde_json::json!({
        "schema": SCHEMA,
        "spoilt": found.spoilt(),
        "counts": counts,
        "backends_command": backends(found),
    });
    if let (Some(document), serde_json::Value::Object(fields)) =
        (document.as_object_mut(), serde_json::to_value(found)?)
    {
        document.extend(fields);
    }
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

const ALL: [Severity; 5] =
    [Severity::Error, Severity::Warning, Severity::Notice, Severity::Unknown, Severity::Good];

fn page(found: &Examination, all: bool, width: usize) -> String {
    let mut text = head(found);
    let of = |s: Severity| found.findings.iter().filter(move |f| f.severity == s);
    for severity in [Severity::Error, Severity::Warning, Severity::Notice] {
        of(severity).for_each(|f| entry(&mut text, f, all, width));
    }
    if all {
        of(Severity::Unknown).chain(of(Severity::Good)).for_each(|f| entry(&mut text, f, all, width));
    } else {
        let unseen =
            |forbidden: bool| of(Severity::Unknown).filter(|f| f.forbidden == forbidden).collect::<Vec<_>>();
        hidden(&mut text, &unseen(true), found, width);
        list_unknown(&mut text, &unseen(false), width);
        // A check that passes on one device but fails on another has failed.
        let found_wanting = |code: &str| {
            let bad = [Severity::Error, Severity::Warning, Severity::Notice];
            found.findings.iter().any(|f| f.code == code && bad.contains(&f.severity))
        };
        good(&mut text, &of(Severity::Good).filter(|f| !found_wanting(f.code)).collect::<Vec<_>>(), width);
    }
    foot(&mut text, found, all);
    text
}

fn head(found: &Examination) -> String {
    let devices = if found.devices.is_empty() { "no block device".into() } else { found.devices.join(", ") };
    let mut text = format!("{}: {} at {}, {devices}\n", found.path, found.file_system, found.mount_point);
    // Without a device the first finding says why; only this line shows an overlay's layers.
    let news = !found.devices.is_empty() || found.file_system == "overlay";
    if let Some(note) = found.devices_note.as_ref().filter(|_| news) {
        let _ = writeln!(text, "({note})");
    }
    text.push('\n');
    text
}

/// A finding and its remedy.
fn entry(text: &mut String, finding: &Finding, all: bool, width: usize) {
    let sentence = match (finding.severity, finding.forbidden) {
        (Severity::Unknown, true) => format!("hidden from this user: {}", finding.sentence),
        (Severity::Unknown, false) => format!("not told here: {}", finding.sentence),
        _ => finding.sentence.clone(),
    };
    let sentence = if all { format!("{sentence} [{}: {}]", finding.code, finding.source) } else { sentence };
    line(text, finding.severity, finding.subject.word(), &sentence, width);
    remedy(text, &finding.remedy, &finding.command, width);
}

/// Facts hidden from this user: listed once, with how to see them.
fn hidden(text: &mut String, findings: &[&Finding], found: &Examination, width: usize) {
    if findings.is_empty() {
        return;
    }
    let list: Vec<&str> = findings.iter().map(|f| f.sentence.as_str()).collect();
    let root = found.uid == Some(0);
    let who = found.uid.filter(|_| !root).map_or("This user".into(), |uid| format!("User {uid}"));
    let sentence = format!("{who} may not see: {}.", list.join("; "));
    line(text, Severity::Unknown, "rights", &sentence, width);
    if root {
        // Hidden even from root; each finding knows why.
        findings.iter().for_each(|f| remedy(text, &f.remedy, &f.command, width));
    } else {
        remedy(text, "Run as root for all of it", &format!("sudo fathom doctor {}", found.path), width);
    }
}

/// Facts this machine does not report to any user.
fn list_unknown(text: &mut String, findings: &[&Finding], width: usize) {
    if !findings.is_empty() {
        let list: Vec<&str> = findings.iter().map(|f| f.sentence.as_str()).collect();
        let sentence = format!("Unknown on this machine: {}.", list.join("; "));
        line(text, Severity::Unknown, "machine", &sentence, width);
    }
}

/// All passed checks by code.
fn good(text: &mut String, findings: &[&Finding], width: usize) {
    let mut codes: Vec<&str> = Vec::new();
    for finding in findings {
        if !codes.contains(&finding.code) {
            codes.push(finding.code);
        }
    }
    if !codes.is_empty() {
        line(text, Severity::Good, "", &format!("{}.", codes.join(", ")), width);
    }
}

fn foot(text: &mut String, found: &Examination, all: bool) {
    let count = |s: Severity, one: &str, more: &str| match found.count(s) {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {more}")),
    };
    let counts: Vec<String> = [
        count(Severity::Error, "error", "errors"),
        count(Severity::Warning, "warning", "warnings"),
        count(Severity::Notice, "notice", "notices"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let verdict = match (found.spoilt(), counts.is_empty()) {
        (true, _) => format!("{}: a measurement here would be spoilt.", counts.join(", ")),
        (false, false) => format!("{}: nothing that would spoil a measurement.", counts.join(", ")),
        (false, true) => "Nothing that would spoil a measurement.".into(),
    };
    let more = if all { "" } else { " (--all shows what is good and where it was read)" };
    let _ = writeln!(text, "\n{verdict}{more}");
    let _ = writeln!(text, "Which calls and flags work here: {}", backends(found));
}

fn backends(found: &Examination) -> String {
    format!("fathom backends {}", found.path)
}

/// Severity, subject, and a sentence with a hanging indent.
fn line(text: &mut String, severity: Severity, subject: &str, sentence: &str, width: usize) {
    let indent = SEVERITY_WIDTH + SUBJECT_WIDTH;
    let (style, word) = (style(severity), severity.word());
    let _ = write!(
        text,
        "{style}{word}{style:#}{:pad$}{subject:<SUBJECT_WIDTH$}",
        "",
        pad = SEVERITY_WIDTH - word.len()
    );
    hang(text, sentence, indent, width);
}

/// The remedy. A command gets its own line and is never wrapped, so that it can be copied.
fn remedy(text: &mut String, remedy: &str, command: &str, width: usize) {
    let indent = SEVERITY_WIDTH + SUBJECT_WIDTH;
    let words = match (remedy.is_empty(), command.is_empty()) {
        (true, true) => return,
        (true, false) => String::new(),
        (false, true) => format!("-> {remedy}"),
        (false, false) => format!("-> {remedy}:"),
    };
    if !words.is_empty() {
        let _ = write!(text, "{:indent$}", "");
        hang(text, &words, indent, width);
    }
    if !command.is_empty() {
        let _ = writeln!(text, "{:indent$}   {command}", "");
    }
}

fn hang(text: &mut String, sentence: &str, indent: usize, width: usize) {
    for (n, line) in super::wrapped(sentence, width.saturating_sub(indent).max(20)).iter().enumerate() {
        let pad = if n == 0 { 0 } else { indent };
        let _ = writeln!(text, "{:pad$}{line}", "");
    }
}

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Notice => AnsiColor::Cyan.on_default(),
        Severity::Unknown => AnsiColor::Magenta.on_default(),
        Severity::Good => AnsiColor::Green.on_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_observe::doctor::{Figure, Subject};

    fn finding(severity: Severity, subject: Subject, code: &'static str, sentence: &str) -> Finding {
        Finding {
            code,
            subject,
            severity,
            sentence: sentence.into(),
            remedy: String::new(),
            command: String::new(),
            source: "/proc/x".into(),
            forbidden: false,
            figures: vec![Figure { name: "load", value: 1.5, unit: "tasks" }],
        }
    }

    fn found() -> Examination {
        let mut load = finding(
            Severity::Warning,
            Subject::Load,
            "load-average",
            "The load is high: more words than fit into a line.",
        );
        load.remedy = "Wait until it falls".into();
        load.command = "uptime".into();
        let mut hidden = finding(Severity::Unknown, Subject::Observation, "block-events", "request sizes");
        hidden.forbidden = true;
        let mut second = finding(Severity::Unknown, Subject::Observation, "drop-caches", "a cold cache");
        second.forbidden = true;
        Examination {
            path: "/data".into(),
            file_system: "ext4".into(),
            mount_point: "/".into(),
            devices: vec!["sda1".into(), "sda".into()],
            devices_note: None,
            uid: Some(1000),
            sample_s: Some(0.7),
            findings: vec![
                load,
                finding(Severity::Notice, Subject::Place, "journal", "No journal."),
                hidden,
                second,
                finding(Severity::Unknown, Subject::Processor, "governor", "who chooses the frequency"),
                finding(Severity::Good, Subject::Place, "space", "Much is free."),
                finding(Severity::Good, Subject::Device, "backing", "sda is a disk."),
                finding(Severity::Good, Subject::Device, "backing", "sdb is a disk."),
            ],
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn the_worst_comes_first_and_the_good_is_one_line() {
        let expected = "\
/data: ext4 at /, sda1, sda

warning  load         The load is high: more words than fit into a
                      line.
                      -> Wait until it falls:
                         uptime
notice   place        No journal.
unknown  rights       User 1000 may not see: request sizes; a cold
                      cache.
                      -> Run as root for all of it:
                         sudo fathom doctor /data
unknown  machine      Unknown on this machine: who chooses the
                      frequency.
good                  space, backing.

1 warning, 1 notice: a measurement here would be spoilt. (--all shows what is good and where it was read)
Which calls and flags work here: fathom backends /data
";
        assert_eq!(plain(&page(&found(), false, 66)), expected);
    }

    #[test]
    fn everything_is_shown_with_its_file_when_asked_for() {
        let text = plain(&page(&found(), true, 100));
        for line in [
            "unknown  observation  hidden from this user: a cold cache [drop-caches: /proc/x]",
            "unknown  processor    not told here: who chooses the frequency [governor: /proc/x]",
            "good     device       sdb is a disk. [backing: /proc/x]",
        ] {
            assert!(text.lines().any(|l| l == line), "{line:?} is not in\n{text}");
        }
        assert!(!text.contains("--all"), "{text}");
    }

    #[test]
    fn a_clean_machine_is_called_clean() {
        let mut clean = found();
        clean.findings.retain(|f| f.severity == Severity::Good);
        let text = plain(&page(&clean, false, 80));
        assert!(text.contains("\nNothing that would spoil a measurement."), "{text}");
    }
}
