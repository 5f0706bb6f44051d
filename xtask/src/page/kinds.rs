//! Pages of every kind that fathom writes, from small runs made now: real, imported and simulated ones, one run, two and three side by
//! side, comparison, history, sweep and published table. Works in a temporary directory with a separate store.

use super::emptied;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A fathom workload and a fio job, a second each.
const WORKLOAD: &str = "name = \"random read\"\n[[fileset]]\nname = \"data\"\nfiles = { list = [\"rr.0\"] }\nsize = { fixed = \"16MiB\" }\n\
    [[phase]]\nname = \"random read\"\nbefore = [{ prepare = \"data\" }]\nstop = { time = \"600ms\" }\n\
    axes = { file = \"16MiB\", record = \"4KiB\", streams = 1 }\n[[phase.group]]\nname = \"reader\"\n[[phase.group.thread]]\n\
    [phase.group.thread.program.stream]\nfileset = \"data\"\ndirection = \"read\"\naccess = \"uniform\"\n\
    record = { fixed = \"4KiB\" }\namount = \"endless\"\n";
const JOB: &str = "[global]\nsize=16m\ntime_based\nruntime=1\n[reader]\nrw=randread\nbs=4k\n[writer]\nstonewall\nrw=write\nbs=64k\nend_fsync=1\n";

struct PageRuns<'a> {
    program: &'a Path,
    work: &'a Path,
    pages: &'a Path,
}

/// Fills `pages`.
pub(super) fn make(root: &Path, program: &Path, pages: &Path) -> Result<()> {
    emptied(pages)?;
    // Below target: a file system of a disk, where a temporary directory may be one in memory.
    let work = tempfile::Builder::new().prefix("pages-").tempdir_in(root.join("target"))?;
    fs::write(work.path().join("w.toml"), WORKLOAD)?;
    fs::write(work.path().join("job.fio"), JOB)?;
    let on = PageRuns { program, work: work.path(), pages };
    on.run(&["survey", "--quick", ".", "-o", &on.page("survey")])?;
    let iozone = ["iozone", "-a", "-g", "4m", "-i", "0", "-i", "1", "-i", "2"];
    let printed = on.run(&iozone)?;
    let first = on.report("iozone")?;
    let (mut runs, wanted) = (vec![first], ["two", "three"]);
    for name in wanted {
        on.run(&iozone)?;
        runs.push(on.last()?);
        let mut args = vec!["report"];
        args.extend(runs.iter().map(String::as_str));
        let page = on.page(name);
        args.extend(["-o", &page]);
        on.run(&args)?;
    }
    on.judged(&["compare", &runs[0], &runs[1], "-o", &on.page("compare")])?;
    fs::write(work.path().join("iozone.log"), printed)?;
    on.run(&["import", "iozone.log"])?;
    on.report("imported")?;
    on.run(&["fio", "job.fio"])?;
    on.report("fio")?;
    let files = ["sysbench", "fileio", "--file-total-size=16M", "--file-num=4"];
    for step in [&["prepare"][..], &["--file-test-mode=rndrw", "--time=1", "run"], &["cleanup"]] {
        on.run(&[&files[..], step].concat())?;
        if step.last() == Some(&"run") {
            on.report("sysbench")?;
        }
    }
    let script = root.join("examples/filebench/web-server.f");
    let script = script.to_string_lossy();
    on.run(&["filebench", "-f", &script, "--set", "dir=.", "--set", "nfiles=100", "--set", "runtime=1"])?;
    on.report("filebench")?;
    on.run(&["run", "--observe", "full", "w.toml"]).or_else(|_| on.run(&["run", "w.toml"]))?;
    on.report("observed")?;
    on.run(&["sim", "run", "w.toml", "--device", "sata-7200-ncq"])?;
    on.report("simulated")?;
    on.run(&[
        "sweep",
        "--vary",
        "record=4KiB,64KiB",
        "--vary",
        "threads=1,2",
        "-o",
        &on.page("sweep"),
        "--",
        "w.toml",
    ])?;
    on.run(&["history", "last", "-o", &on.page("history")])?;
    on.judged(&["reproduce", "sysbench-2004", "-o", &on.page("reproduced")])?;
    Ok(())
}

impl PageRuns<'_> {
    fn page(&self, name: &str) -> String {
        self.pages.join(format!("{name}.html")).to_string_lossy().into_owned()
    }

    /// Draws the last run; its id.
    fn report(&self, name: &str) -> Result<String> {
        self.run(&["report", "last", "-o", &self.page(name)])?;
        self.last()
    }

    /// The id of the last run: the last word of the list that looks like one.
    fn last(&self) -> Result<String> {
        let list = self.run(&["list", "--limit", "1"])?;
        let line = list.lines().last().unwrap_or_default();
        line.split_whitespace().next().map(str::to_owned).context("`fathom list` names no run")
    }

    /// Runs a command that must end well; what it prints.
    fn run(&self, args: &[&str]) -> Result<String> {
        self.command(args, &[0])
    }

    /// A command whose exit code is a verdict: 1 and 3 are as good as 0.
    fn judged(&self, args: &[&str]) -> Result<String> {
        self.command(args, &[0, 1, 3])
    }

    fn command(&self, args: &[&str], codes: &[i32]) -> Result<String> {
        let mut command = Command::new(self.program);
        command.args(args).current_dir(self.work).env("FATHOM_STORE", self.work.join("store.db"));
        let out = command.stdin(Stdio::null()).output().context("fathom could not be started")?;
        if !out.status.code().is_some_and(|code| codes.contains(&code)) {
            bail!(
                "fathom {}: {}\n{}",
                args.join(" "),
                out.status,
                String::from_utf8_lossy(&out.stderr).trim()
            );
        }
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }
}
