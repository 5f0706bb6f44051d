//! Every personality run in small through the built program: it ends well, in the time it was given, with its rows in their order and
//! a summary. Figures are not looked at; they are the machine's.

use crate::personalities::list::{Personality, named};
use fathom_testkit::{Fathom, TestDir};

/// Runs it in a directory and returns what it printed.
fn run(p: &Personality, fathom: &Fathom, dir: &TestDir) -> String {
    let mut args = vec!["filebench".to_string(), "-f".into(), p.path().display().to_string()];
    for (name, value) in p.settings(&dir.path().display().to_string()) {
        args.extend(["--set".into(), format!("{name}={value}")]);
    }
    fathom.run(&args).expect_code(0).stdout
}

/// The names of the last table of rows.
fn rows(printed: &str) -> Vec<&str> {
    let (_, table) = printed.rsplit_once("Per-Operation Breakdown\n").expect("a table of rows");
    let lines = table.lines().take_while(|l| !l.contains("IO Summary:"));
    lines.map(|l| l.split_whitespace().next().unwrap_or_default()).collect()
}

/// `N.NNN: IO Summary: ...` as people's scripts look for it.
fn is_summary(line: &str) -> bool {
    let Some((time, rest)) = line.split_once(": IO Summary: ") else { return false };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [ops, "ops", rate, "ops/s", split, "rd/wr", moved, latency] = words.as_slice() else { return false };
    let numbers = [time, rate, moved.trim_end_matches("mb/s"), latency.trim_end_matches("ms/op")];
    ops.parse::<u64>().is_ok_and(|n| n > 0)
        && numbers.iter().all(|n| n.parse::<f64>().is_ok())
        && split.split('/').all(|n| n.parse::<u64>().is_ok())
        && moved.ends_with("mb/s")
        && latency.ends_with("ms/op")
}

fn runs(name: &str) {
    let p = named(name);
    let (fathom, dir) = (Fathom::with_binary(env!("CARGO_BIN_EXE_fathom")), TestDir::new());
    let printed = run(p, &fathom, &dir);
    assert_eq!(rows(&printed), p.rows, "{printed}");
    assert_eq!(printed.lines().filter(|l| is_summary(l)).count(), 1, "{printed}");
    assert!(printed.contains(": Running...\n") && printed.contains(" seconds...\n"), "{printed}");
    assert!(printed.lines().any(|l| l.ends_with(": Shutting down processes")), "{printed}");
    assert!(!printed.contains("stopped early") && !printed.contains("NO VALID RESULTS"), "{printed}");
}

macro_rules! each_runs {
    ($($test:ident $name:literal)*) => {
        $(#[test] fn $test() { runs($name); })*

        #[test]
        fn every_personality_has_a_run() {
            assert_eq!([$($name),*], crate::personalities::list::ALL.map(|p| p.name));
        }
    };
}

each_runs! {
    backup_stream "backup-stream"
    checkpoint "checkpoint"
    copy_files "copy-files"
    database_oltp "database-oltp"
    file_server "file-server"
    log_ingest "log-ingest"
    mail_server "mail-server"
    metadata "metadata"
    software_build "software-build"
    training_loader "training-loader"
    video_server "video-server"
    virtual_machines "virtual-machines"
    warehouse_scan "warehouse-scan"
    web_proxy "web-proxy"
    web_server "web-server"
}
