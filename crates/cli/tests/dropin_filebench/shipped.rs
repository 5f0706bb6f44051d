//! The workloads shipped with Filebench, unchanged. The user supplies them, so an environment variable locates them:
//! `FATHOM_FILEBENCH_WORKLOADS=/usr/share/filebench/workloads cargo test -p fathom --test dropin_filebench shipped`.

use crate::dropin_filebench::script::{rows, summary};
use fathom_testkit::{Fathom, skip};
use std::path::PathBuf;

fn workloads(test: &str) -> Option<Vec<PathBuf>> {
    let Some(directory) = std::env::var_os("FATHOM_FILEBENCH_WORKLOADS") else {
        skip(test, "FATHOM_FILEBENCH_WORKLOADS names no directory with Filebench's workloads");
        return None;
    };
    let files = std::fs::read_dir(directory).unwrap().flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "f")).collect();
    files.sort();
    Some(files)
}

#[test]
fn each_is_understood_and_without_run_prints_its_echo() {
    let Some(files) = workloads("each_is_understood_and_without_run_prints_its_echo") else { return };
    let fathom = Fathom::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.display().to_string();
        fathom.run(["filebench", "-f", &name, "--check"]).expect_code(0);
        let has_run = text.lines().any(|l| l.trim_start().starts_with("run"));
        if !has_run {
            let outcome = fathom.run(["filebench", "-f", &name]).expect_code(0);
            assert!(
                outcome.stdout.ends_with("Warning: no run command in the WML script!\n"),
                "{name}: {}",
                outcome.stdout
            );
        }
    }
}

/// Resized by overrides only: a second or two each, and little enough for any disk.
#[test]
fn each_runs_and_prints_rows() {
    let Some(files) = workloads("each_runs_and_prints_rows") else { return };
    let fathom = Fathom::new();
    let small = [
        ("dir", fathom.work().display().to_string()),
        ("path", fathom.work().display().to_string()),
        ("nfiles", "200".into()),
        ("ndirs", "50".into()),
        ("filesize", "16k".into()),
        ("nshadows", "4".into()),
        ("ndbwriters", "2".into()),
        ("runtime", "2".into()),
        ("count", "500".into()),
        ("bytes", "4m".into()),
    ];
    let mut told = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        // Its thirty files have fixed sizes: 150 GB.
        if matches!(stem.as_str(), "tpcso" | "videoserver") {
            continue;
        }
        let mut args = vec!["filebench".to_owned(), "-f".into(), file.display().to_string()];
        for (name, value) in &small {
            if text.contains(&format!("set ${name}=")) {
                args.extend(["--set".into(), format!("{name}={value}")]);
            }
        }
        if !text.lines().any(|l| l.trim_start().starts_with("run")) {
            args.extend(["--run".into(), "2".into()]);
        }
        let outcome = fathom.run(&args);
        let printed = rows(&outcome.stdout).len();
        told.push(format!("{stem}: {:?}, {printed} rows, {:?}", outcome.code, summary(&outcome.stdout)));
        assert!(printed > 0, "{stem}: {}{}", outcome.stdout, outcome.stderr);
    }
    println!("{}", told.join("\n"));
}
