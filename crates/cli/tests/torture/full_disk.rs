//! Disks that fill up at a random point during any write of fathom: an incomplete file is no success, and none is left.

use crate::measure::workloads::Text;
use crate::torture::campaign::{Random, torture};
use crate::torture::left::assert_sound_store;
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Outcome, TmpFs};
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

#[test]
fn full_disk() {
    if !fathom_testkit::need_root("full_disk") {
        return;
    }
    torture("full_disk", |random| {
        let magnitude = random.below(11);
        let size = 4096 * (1 + random.below(1 << magnitude));
        let Some(disk) = TmpFs::mount("full_disk", size) else { return 0 };
        match random.below(6) {
            0 => store(random, disk.path()),
            1 => state(disk.path()),
            2 => measured(random, disk.path()),
            3 => page(random, disk.path()),
            4 => stdout(random, disk.path()),
            _ => logs(random, disk.path()),
        }
        1
    });
}

fn ended(outcome: &Outcome) -> bool {
    assert!(outcome.code.is_some_and(|code| code != 101), "{outcome:?}");
    if outcome.code != Some(0) {
        let told = ["error:", "warning:"].iter().any(|word| outcome.stderr.contains(word));
        assert!(told, "without a word: {outcome:?}");
    }
    outcome.code == Some(0)
}

fn some_phases(fathom: &Fathom, random: &mut Random) -> String {
    let mut text = Text::new("w").quick_write(fathom.work());
    for number in 0..random.below(4) {
        let stream = "record = { fixed = \"4KiB\" }\naccess = \"uniform\"\namount = { operations = 20000 }\nlog_operations = true";
        text = text.phase(&format!("read {number}"), "first", "read", "", stream);
    }
    text.save(fathom).to_str().expect("UTF-8").to_owned()
}

/// What was kept is there, or it is said that it is not.
fn store(random: &mut Random, disk: &Path) {
    let fathom = Fathom::new();
    let workload = some_phases(&fathom, random);
    let store = disk.join("store.db");
    let named = store.to_str().expect("UTF-8");
    for _ in 0..3 {
        let outcome = fathom.run(["run", &workload, "--store", named]);
        if ended(&outcome) {
            let id = outcome.stderr.split_once("kept as run ").and_then(|(_, rest)| rest.split(';').next());
            let shown = fathom.run(["show", id.unwrap_or_else(|| panic!("{outcome:?}")), "--store", named]);
            let shown = shown.expect_code(0);
            assert!(shown.stdout.contains("quick write"), "{shown:?}");
        }
        assert_sound(&fathom, &store);
        assert!(names_in(fathom.work()).is_empty());
    }
}

/// The check is made on a copy, because it needs free space.
fn assert_sound(fathom: &Fathom, store: &Path) {
    let copy = fathom.dir().subdir("copy");
    for end in ["", "-wal", "-journal"] {
        let [from, to] = [store, &copy.join("store.db")].map(|path| format!("{}{end}", path.display()));
        if fs::copy(from, &to).is_err() {
            let _ = fs::remove_file(to);
        }
    }
    assert_sound_store(&copy.join("store.db"));
}

/// A journal that cannot be written ends the run before anything is made.
fn state(disk: &Path) {
    let fathom = Fathom::new().env("XDG_STATE_HOME", disk.to_str().expect("UTF-8"));
    let mut rest = vec![1; 1 << 12];
    while fs::write(disk.join(format!("full-{}", rest.len())), &rest).is_ok() {
        rest.extend_from_within(..);
    }
    let workload = Text::new("w").quick_write(fathom.work()).save(&fathom);
    assert!(!ended(&fathom.run(["run", workload.to_str().expect("UTF-8")])));
    assert_eq!(names_in(fathom.work()), [""; 0]);
}

/// What is measured does not fit.
fn measured(random: &mut Random, disk: &Path) {
    let fathom = Fathom::new().working_in(disk);
    let line = *random.of_these(&[
        "iozone -s 2m -r 64k -i 0 -i 1",
        "fio --name=a --rw=write --size=2m --bs=64k --unlink=1",
        "fio --name=a --rw=write --size=1m --bs=4k --unlink=1 --ioengine=libaio --iodepth=4 --numjobs=2",
        "sysbench fileio --file-num=2 --file-total-size=2M prepare",
    ]);
    let _ = ended(&fathom.run_line(line));
    if line.ends_with("prepare") {
        let _ = fathom.run_line(&line.replace("prepare", "cleanup"));
    }
    assert!(names_in(disk).is_empty(), "{line}: {:?}", names_in(disk));
}

/// A page is whole, or it is not there.
fn page(random: &mut Random, disk: &Path) {
    let fathom = Fathom::new();
    let workload = some_phases(&fathom, random);
    let _ = fathom.run(["run", &workload]).expect_code(0);
    let name = format!("page.{}", random.of_these(&["html", "xlsx", "csv", "md", "json", "parquet", "prom"]));
    let whole = fathom.dir().subdir("whole").join(&name);
    let _ = fathom.run(["report", "last", "-o", whole.to_str().expect("UTF-8")]).expect_code(0);
    let here = disk.join(&name);
    for _ in 0..2 {
        if here.exists() {
            break;
        }
        let kept = ended(&fathom.run(["report", "last", "-o", here.to_str().expect("UTF-8")]));
        assert_eq!(names_in(disk).len(), usize::from(kept), "{:?}", names_in(disk));
        let sizes = [&whole, &here].map(|path| fs::metadata(path).map_or(0, |meta| meta.len()));
        // A page says when it was made.
        assert!(!kept || sizes[0].abs_diff(sizes[1]) < 64, "{name}: {sizes:?}");
    }
}

/// Standard output is whole, or it is said that it is not.
fn stdout(random: &mut Random, disk: &Path) {
    let fathom = Fathom::new();
    let workload = some_phases(&fathom, random);
    let _ = fathom.run(["run", &workload]).expect_code(0);
    let line = *random.of_these(&["list", "show", "export last", "export last --format csv", "report last"]);
    let words: Vec<_> = line.split(' ').collect();
    let path = disk.join("out");
    let file = File::create(&path).expect("a file");
    let mut command = fathom.command(&words);
    let output = command.stdout(file).stderr(Stdio::piped()).output().expect("started");
    let written = fs::metadata(&path).map_or(0, |meta| meta.len());
    let whole = fathom.run(&words).stdout.len() as u64;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(3) {
        assert!(stderr.contains("standard output could not be written to its end"), "{line}: {stderr}");
    } else {
        assert!(
            written + 64 > whole,
            "{line}: {written} of {whole} bytes, exit code {:?}",
            output.status.code()
        );
    }
}

/// Logs of fio.
fn logs(random: &mut Random, disk: &Path) {
    let fathom = Fathom::new();
    let log = disk.join("log");
    let kind =
        *random.of_these(&["write_bw_log", "write_lat_log", "write_iops_log", "write_iolog", "output"]);
    let option = format!("--{kind}={}", log.display());
    let job =
        ["fio", "--name=a", "--rw=randread", "--size=1m", "--bs=4k", "--loops=8", "--unlink=1", &option];
    let whole = fathom.run(job.map(|word| word.replace(disk.to_str().expect("UTF-8"), ".")));
    let whole_sizes = sizes(fathom.work());
    let outcome = fathom.run(job);
    assert_eq!(whole.code, Some(0), "{whole:?}");
    if ended(&outcome) {
        let close = |(one, other): (u64, u64)| one.abs_diff(other) * 4 <= one.max(other);
        let here = sizes(disk);
        assert!(
            here.len() == whole_sizes.len() && here.iter().copied().zip(whole_sizes).all(close),
            "{outcome:?}"
        );
    }
}

fn sizes(directory: &Path) -> Vec<u64> {
    names_in(directory)
        .iter()
        .map(|name| fs::metadata(directory.join(name)).map_or(0, |meta| meta.len()))
        .collect()
}
