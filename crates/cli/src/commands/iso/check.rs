//! `fathom iso check`: lists every defect of an image with block and byte.

use super::open;
use super::options::Check;
use crate::{console, exit};
use fathom_isofs::check::{Checked, check};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;

pub fn run(options: &Check) -> anyhow::Result<ExitCode> {
    let image = open(&options.source)?;
    let checked = check(&image);
    if options.json {
        console::out_raw(&(serde_json::to_string_pretty(&to_json(&checked))? + "\n"));
    } else {
        console::out(&text(&checked));
    }
    let clean = checked.findings.count() == 0;
    Ok(ExitCode::from(if clean { exit::DONE } else { exit::CHECK }))
}

fn text(checked: &Checked) -> String {
    let mut text = String::new();
    for finding in checked.findings.list() {
        let _ = writeln!(text, "{}", super::shown(finding.to_string().as_bytes()));
    }
    let count = checked.findings.count();
    let kept = checked.findings.list().len() as u64;
    if count > kept {
        let _ = writeln!(text, "and {} more", count - kept);
    }
    let Checked { files, directories, bytes, .. } = checked;
    let found = if count == 0 { "nothing wrong".into() } else { format!("{count} found") };
    let files = several(*files, "file", "files");
    let directories = several(*directories, "directory", "directories");
    let _ = writeln!(text, "{files}, {directories}, {bytes} bytes of content: {found}");
    text
}

/// "1 file", "2 files".
pub(super) fn several(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

fn to_json(checked: &Checked) -> serde_json::Value {
    let list = checked.findings.list().iter();
    json!({
        "schema": "fathom-iso-check/1",
        "files": checked.files,
        "directories": checked.directories,
        "content_bytes": checked.bytes,
        "findings_total": checked.findings.count(),
        "findings": list.map(|f| json!({
            "id": f.condition.id(),
            "condition": format!("{:?}", f.condition),
            "block": f.at.lbn,
            "byte": f.at.offset,
            "what": f.what,
        })).collect::<Vec<_>>(),
    })
}
