//! Programs that read fio's output, given ours: the converters in Debian's fio. Each is skipped by name if it, or the
//! Python it needs, is not installed.

use crate::fio::support::{fio_is_here, json, run, their_json};
use fathom_testkit::{Fathom, TestDir, need_tool, skip};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a Python program of fio in a directory; `None`, with the skip recorded, where it cannot be had.
fn python(test: &str, modules: &str, directory: &Path, program: &str, args: &[&str]) -> Option<String> {
    if !need_tool(test, program) || !need_tool(test, "python3") {
        return None;
    }
    let path = fathom_testkit::find_tool(program)?;
    let mut import = Command::new("python3");
    import.args(["-c", &format!("import {modules}")]).stdin(Stdio::null()).stderr(Stdio::null());
    if !import.status().unwrap().success() {
        skip(test, &format!("{program} needs Python with {modules}"));
        return None;
    }
    let mut command = Command::new("python3");
    command.arg(path).args(args).current_dir(directory).stdin(Stdio::null());
    let done = command.output().unwrap();
    let [out, err] = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(done.status.success(), "{program}: {out}{err}");
    Some(out)
}

#[test]
fn fio_jsonplus_clat2csv_reads_the_bins() {
    let test = "fio_jsonplus_clat2csv_reads_the_bins";
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, "--output-format=json+ --output=p.json --name=a --rw=randread --size=1m").expect_code(0);
    let Some(_) = python(test, "six", dir.path(), "fio_jsonplus_clat2csv", &["p.json", "out.csv"]) else {
        return;
    };
    let table = std::fs::read_to_string(dir.path().join("out_job0.csv")).unwrap();
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').map(str::trim).collect();
    let at = columns.iter().position(|name| *name == "read_clat_ns_count").unwrap();
    let counts = lines.filter_map(|line| line.split(',').nth(at)?.trim().parse::<u64>().ok());
    assert_eq!(counts.sum::<u64>(), 256, "every read is in one of the bins");
}

#[test]
fn fio2gnuplot_reads_a_log() {
    let test = "fio2gnuplot_reads_a_log";
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    json(
        &fathom,
        "--name=a --ioengine=null --size=1g --runtime=1 --time_based --rate_iops=1000 --write_bw_log=lg \
         --log_avg_msec=100",
    );
    let Some(_) = python(test, "six", dir.path(), "fio2gnuplot", &["-b", "-p", "lg_bw*.log"]) else { return };
    let average = std::fs::read_to_string(dir.path().join("lg_bw.average")).unwrap();
    let found: f64 = average.split_whitespace().last().unwrap().parse().unwrap();
    assert!((1000.0..=6000.0).contains(&found), "about 4000 KiB/s: {average}");
}

/// kubestr and others name their jobs so, and look for these names in the results.
#[test]
fn a_job_may_be_named_by_an_option() {
    if !fio_is_here("a_job_may_be_named_by_an_option") {
        return;
    }
    let (ours, theirs) = (TestDir::new(), TestDir::new());
    let fathom = Fathom::new().working_in(ours.path());
    for dir in [&ours, &theirs] {
        let text = "[global]\nname=none\nsize=64k\nrw=write\n[job1]\nname=writes\n[job2]\n";
        std::fs::write(dir.path().join("j.fio"), text).unwrap();
    }
    for document in [json(&fathom, "j.fio"), their_json(theirs.path(), "j.fio")] {
        let names: Vec<&str> =
            document["jobs"].as_array().unwrap().iter().filter_map(|job| job["jobname"].as_str()).collect();
        assert_eq!(names, ["writes", "job2"]);
    }
    let made = |dir: &TestDir| dir.names().into_iter().filter(|n| n.starts_with("job")).collect::<Vec<_>>();
    assert_eq!(made(&ours), ["job1.0.0", "job2.0.0"]);
    assert_eq!(made(&theirs), made(&ours));
}
