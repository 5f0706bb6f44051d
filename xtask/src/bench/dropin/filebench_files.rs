//! `cargo xtask bench filebench-files DIR`: one row for every `*.f` of a directory: whether fathom parses it as it is, and how a run
//! ended that is scaled down where disk or time demand it. Prints Markdown; it measures no speed.

use super::filebench::{fathom, files_below};
use super::{child, script, shipped, write_json};
use crate::bench::options::Options;
use crate::bench::{interrupt, progress};
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time of a run for scripts without one.
const RUN_SECONDS: u64 = 2;
/// A run that takes longer than its own time and this has failed.
const LIMIT: Duration = Duration::from_secs(300);

/// One file.
#[derive(Debug, Default)]
struct Row {
    file: String,
    parsed: bool,
    /// How a script without a `run` ends as it is.
    as_it_is: String,
    ran: bool,
    exit: String,
    rows: usize,
    ops: Option<u64>,
    notes: Vec<String>,
}

/// Runs all files; false if one is not parsed or does not run and `--gate` was given.
pub fn run(root: &Path, dir: &Path, options: &Options) -> Result<bool> {
    options.refuse("filebench-files", &["--rounds", "--file-mib"])?;
    interrupt::note();
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .with_context(|| format!("{} cannot be listed", dir.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "f"))
        .filter(|path| options.wants(&name(path)))
        .collect();
    files.sort();
    if files.is_empty() {
        bail!(crate::Usage(format!("{} has no such *.f file.", dir.display())));
    }
    let program = crate::bench::built(root)?;
    let scratch = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    let mut rows = Vec::new();
    for path in &files {
        progress(&format!("{} of {}: {}", rows.len() + 1, files.len(), name(path)));
        rows.push(one(&program, scratch.path(), path, options)?);
    }
    progress("");
    print!("{}", markdown(&rows));
    if let Some(path) = &options.json {
        write_json(
            path,
            &json!({"schema": "fathom-bench-filebench-files/1", "files": rows.iter().map(Row::json).collect::<Vec<_>>()}),
        )?;
    }
    Ok(!options.gate || rows.iter().all(|r| r.parsed && r.ran))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn one(program: &Path, scratch: &Path, path: &Path, options: &Options) -> Result<Row> {
    let mut row = Row { file: name(path), ..Row::default() };
    let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
    let tree = scratch.join("tree");
    let dir = path.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(&tree)?;
    let checked = child::run(fathom(program, scratch, path).arg("--check"), LIMIT)?;
    row.parsed = checked.output.status.success();
    if !row.parsed {
        row.notes.extend(first_lines(&child::printed(&checked), 2));
        return Ok(row);
    }
    let known = shipped::of(&row.file);
    // Only variables the script sets: another is an error.
    let variables = script::variables(&text);
    let mut values: Vec<String> = ["dir", "path"]
        .iter()
        .filter(|name| variables.contains(name))
        .map(|name| format!("{name}={}", tree.display()))
        .collect();
    values.extend(known.iter().flat_map(|k| k.values).map(|(n, v)| format!("{n}={v}")));
    let set = |command: &mut std::process::Command| {
        for value in &values {
            command.args(["--set", value]);
        }
    };
    let has_run = script::has_run(&text);
    if !has_run {
        let mut command = fathom(program, scratch, path);
        set(&mut command);
        let ended = child::run(&mut command, LIMIT)?;
        let how = match child::printed(&ended).contains("Warning: no run command in the WML script!") {
            true => "warning",
            false if script::is_silent(&text) => "silent (debug 1)",
            false => "NO WARNING",
        };
        row.as_it_is = format!("{how}, exit {}", exit(&ended.output.status));
    }
    // A time that stands in the text can only be changed there, and so can sizes.
    let mut changed = text.clone();
    let asked_seconds = options.seconds.map(|s| s.ceil() as u64);
    if has_run && let Some(seconds) = asked_seconds {
        changed = script::with_run(&changed, seconds);
        row.notes.push(format!("run {seconds} in a copy"));
    }
    if let Some(mib) = known.and_then(|k| k.sizes_at_most_mib) {
        changed = script::without_debug(&script::with_sizes_at_most(&changed, mib));
        row.notes.push(format!("sizes at most {mib} MiB in a copy without debug"));
    }
    let mut script = path.to_owned();
    if changed != text {
        script = scratch.join(&row.file);
        std::fs::write(&script, changed)?;
    }
    let mut command = fathom(program, scratch, &script);
    set(&mut command);
    if !has_run {
        command.args(["--run", &asked_seconds.unwrap_or(RUN_SECONDS).to_string()]);
    }
    match child::run(command.current_dir(scratch), LIMIT) {
        Ok(ended) => {
            row.exit = exit(&ended.output.status);
            let stdout = String::from_utf8_lossy(&ended.output.stdout).into_owned();
            (row.rows, row.ops) = figures(&stdout);
            row.ran = ended.output.status.success() && row.ops.is_some();
            let stderr =
                String::from_utf8_lossy(&ended.output.stderr).replace(&format!("{}/", dir.display()), "");
            row.notes.extend(first_lines(&stderr, 1));
            row.notes.extend(stdout.lines().filter(|l| l.contains("WARNING!")).map(str::to_owned).take(1));
        }
        Err(error) if interrupt::came() => return Err(error),
        Err(error) => row.notes.push(format!("{error:#}")),
    }
    if !row.ran && files_below(&tree)?.is_empty() {
        row.notes.push("no files were made".into());
    }
    std::fs::remove_dir_all(&tree)?;
    Ok(row)
}

fn exit(status: &std::process::ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| code.to_string())
}

/// Rows of the breakdown, and the operations of the summary if there is one.
fn figures(stdout: &str) -> (usize, Option<u64>) {
    let after = stdout.split_once("Per-Operation Breakdown").map_or("", |(_, after)| after);
    let rows = after
        .lines()
        .skip(1)
        .take_while(|l| !l.contains("IO Summary:"))
        .filter(|l| l.contains("ops/s"))
        .count();
    let ops = stdout.split_once("IO Summary:").and_then(|(_, s)| s.split_whitespace().next()?.parse().ok());
    (rows, ops)
}

/// The first lines that say something, short enough for a table.
fn first_lines(text: &str, count: usize) -> Vec<String> {
    // From here on stands fathom's own table of latencies, as after every run.
    let before = text.lines().take_while(|l| !l.starts_with("note: latencies of")).map(str::trim);
    let lines = before.filter(|l| !l.is_empty() && !l.starts_with("Filebench Version"));
    lines.take(count).map(|l| l.chars().take(200).collect()).collect()
}

impl Row {
    fn json(&self) -> Value {
        json!({"file": self.file, "parsed": self.parsed, "as_it_is": self.as_it_is, "ran": self.ran, "exit": self.exit,
            "rows": self.rows, "ops": self.ops, "notes": self.notes})
    }

    fn markdown(&self) -> String {
        let yes = |b| if b { "yes" } else { "NO" };
        let or_dash = |s: &str| if s.is_empty() { "-".to_owned() } else { s.to_owned() };
        let notes = self.notes.join("; ").replace('|', "\\|");
        let ops = self.ops.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let (parsed, as_it_is, ran, exit) =
            (yes(self.parsed), or_dash(&self.as_it_is), yes(self.ran), or_dash(&self.exit));
        format!(
            "| {} | {parsed} | {as_it_is} | {ran} | {exit} | {} | {ops} | {notes} |\n",
            self.file, self.rows
        )
    }
}

fn markdown(rows: &[Row]) -> String {
    let mut text =
        "| file | parsed | as it is, without `run` | ran | exit code | rows | operations | notes |\n\
                    |---|---|---|---|---|---|---|---|\n"
            .to_owned();
    text.extend(rows.iter().map(Row::markdown));
    let count = |what: fn(&Row) -> bool| rows.iter().filter(|r| what(r)).count();
    text += &format!("\n{} files, {} parsed, {} ran.\n", rows.len(), count(|r| r.parsed), count(|r| r.ran));
    let changed: Vec<&shipped::Shipped> =
        rows.iter().filter_map(|r| shipped::of(&r.file)).filter(|s| !s.why.is_empty()).collect();
    if !changed.is_empty() {
        text += "\nWhat was set smaller (`$dir` is set in every file):\n\n| file | changed | why |\n|---|---|---|\n";
        text.extend(
            changed.iter().map(|s| format!("| {} | {} | {} |\n", s.file, shipped::changes(s), s.why)),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "1.035: Running...\n5.0: Per-Operation Breakdown\nrd1  400ops  100ops/s 0.0mb/s\nwr1  40ops  10ops/s\n\
                          5.0: IO Summary:   440 ops 110.000 ops/s 100/10 rd/wr\n5.0: Shutting down processes\n";

    #[test]
    fn rows_and_operations_are_counted() {
        assert_eq!(figures(OUTPUT), (2, Some(440)));
        assert_eq!(figures("Warning: no run command in the WML script!\n"), (0, None));
    }

    #[test]
    fn the_table_is_markdown_with_its_changes() {
        let good = Row {
            file: "randomread.f".into(),
            parsed: true,
            ran: true,
            exit: "0".into(),
            rows: 1,
            ops: Some(5),
            ..Row::default()
        };
        let bad = Row { file: "x.f".into(), notes: vec!["a | b".into()], ..Row::default() };
        let text = markdown(&[good, bad]);
        assert!(text.contains("| randomread.f | yes | - | yes | 0 | 1 | 5 |  |\n"), "{text}");
        assert!(text.contains("| x.f | NO | - | NO | - | 0 | - | a \\| b |\n"), "{text}");
        assert!(
            text.contains("2 files, 1 parsed, 1 ran.") && text.contains("| randomread.f | filesize=256m |"),
            "{text}"
        );
    }

    /// A stand-in for fathom that knows the words it is given.
    const STAND_IN: &str = "#!/bin/sh\ncase \"$*\" in *--check*) exit 0;; *--run*) ;; *) echo 'Warning: no run command in the WML script!'; exit 0;; esac\n\
        echo \"$*\" >&2\nprintf '1.0: Per-Operation Breakdown\\nr 5ops 5ops/s\\n1.0: IO Summary: 5 ops 5.000 ops/s\\n'\n";

    #[test]
    fn a_file_is_checked_run_as_it_is_and_run() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("fathom");
        fathom_testkit::script(&program, STAND_IN);
        let script = dir.path().join("randomread.f");
        std::fs::write(&script, "set $dir=/tmp\nset $filesize=5g\n").unwrap();
        let row = one(&program, dir.path(), &script, &Options::default()).unwrap();
        assert!(row.parsed && row.ran, "{row:?}");
        assert_eq!((row.as_it_is.as_str(), row.rows, row.ops), ("warning, exit 0", 1, Some(5)));
        assert!(row.notes[0].contains("--set dir=") || row.notes[0].len() == 200, "{row:?}");
    }
}
