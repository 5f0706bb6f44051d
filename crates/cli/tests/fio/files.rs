//! How files are made, and what is done around a job, beside fio itself: which files are left, how large, and with how much space.

use crate::fio::support::{fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Names, sizes and space of the files in a directory.
fn left(directory: &Path) -> Vec<(String, u64, u64)> {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let mut found: Vec<(String, u64, u64)> = entries
        .filter(|entry| entry.path().extension().is_none_or(|e| e != "state"))
        .map(|entry| {
            let about = entry.metadata().unwrap();
            (entry.file_name().to_string_lossy().into_owned(), about.len(), about.blocks())
        })
        .collect();
    found.sort();
    found
}

/// Both programs leave the same files, in any order of the lines.
#[track_caller]
fn leave_the_same(lines: &[&str]) {
    let (ours, other) = (TestDir::new(), TestDir::new());
    let fathom = Fathom::new().working_in(ours.path());
    for line in lines {
        assert!(theirs(other.path(), line).status.success(), "{line}");
        run(&fathom, line).expect_code(0);
        assert_eq!(left(ours.path()), left(other.path()), "{line}");
    }
}

#[test]
fn files_that_are_only_laid_out_are_those_of_fio() {
    if !fio_is_here("files_that_are_only_laid_out_are_those_of_fio") {
        return;
    }
    for line in [
        "--name=a --size=1m --rw=read --create_only=1",
        "--name=a --size=1m --rw=randwrite --create_only=1 --numjobs=2 --nrfiles=2",
        "--name=a --size=64k --rw=write --create_only=1 --overwrite=1",
        "--name=a --size=64k --rw=write --create_only=1 --fallocate=truncate",
        "--name=a --size=64k --rw=write --create_only=1 --fallocate=keep",
        "--size=64k --rw=read --name=a --create_only=1 --name=b --stonewall --filename=a.0.0 --io_size=8k",
        // No file holds a block.
        "--name=a --size=64k --rw=write --bs=32k --nrfiles=4 --loops=2",
    ] {
        leave_the_same(&[line]);
    }
}

#[test]
fn who_only_lays_out_does_nothing() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--size=64k --rw=read --name=a --create_only=1 --name=b --filename=a.0.0 --bs=4k";
    let document = json(&fathom, line);
    let reads = |job: usize| document["jobs"][job]["read"]["total_ios"].as_u64();
    assert_eq!((reads(0), reads(1)), (Some(0), Some(16)));
    let text = run(&fathom, "--name=c --size=64k --rw=write --create_only=1").expect_code(0).stdout;
    assert!(text.contains("c: Laying out IO file") && !text.contains("issued rwts"), "{text}");
    assert_eq!(std::fs::metadata(dir.path().join("c.0.0")).unwrap().len(), 65536);
    for line in ["--rw=write --fallocate=none", "--rw=read --unlink=1", "--rw=read --exec_prerun=true"] {
        run(&fathom, &format!("--name=n --size=64k --create_only=1 {line}")).expect_code(1);
        assert!(!dir.path().join("n.0.0").exists(), "{line}");
    }
}

#[test]
fn space_and_size_are_given_as_fio_gives_them() {
    if !fio_is_here("space_and_size_are_given_as_fio_gives_them") {
        return;
    }
    for how in ["none", "native", "posix", "keep", "truncate", "0", "1"] {
        leave_the_same(&[&format!(
            "--name=a --size=64k --bs=4k --rw=write --number_ios=4 --fallocate={how}"
        )]);
    }
}

#[test]
fn a_file_grows_by_what_is_appended() {
    if !fio_is_here("a_file_grows_by_what_is_appended") {
        return;
    }
    let append = "--name=a --size=16k --bs=4k --rw=write --file_append=1";
    leave_the_same(&[append, append, "--name=a --size=8k --rw=write", append]);
    let two = format!("{append} --size=64k --nrfiles=2");
    leave_the_same(&[&two, &two, &format!("{two} --rw=randwrite --verify=crc32c")]);
    leave_the_same(&[append, &format!("{append} --fallocate=none --loops=3 --offset=4k")]);
    leave_the_same(&[
        "--name=b --filename=f --size=20k --rw=write",
        &format!("{append} --filename=f --numjobs=2"),
    ]);
    leave_the_same(&[
        "--name=b --filename=f --size=20k --rw=write",
        &format!("{append} --filename=f --io_size=8k"),
    ]);
    leave_the_same(&[
        "--name=b --filename=f --size=20k --rw=write",
        "--name=a --filename=f --filesize=32k --rw=write --file_append=1",
    ]);
}

#[test]
fn what_was_there_stays_before_what_is_appended() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let path = dir.path().join("f");
    std::fs::write(&path, [7; 5000]).unwrap();
    let line = "--name=a --filename=f --size=16k --bs=4k --rw=randwrite --file_append=1";
    // A user's file is not extended either.
    run(&fathom, line).expect_code(1);
    assert_eq!(std::fs::read(&path).unwrap(), [7; 5000]);
    run(&fathom, &format!("{line} --allow-write=f")).expect_code(0);
    let found = std::fs::read(&path).unwrap();
    assert_eq!((found.len(), &found[..5000]), (5000 + 16384, [7; 5000].as_slice()));
    assert!(found[5000..].chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
}

#[test]
fn who_has_no_stats_is_not_told() {
    // fio has one more entry without a name, of no job, where one has no statistics.
    let names = |document: &Value| -> Vec<String> {
        let jobs = document["jobs"].as_array().unwrap().iter();
        jobs.filter_map(|job| job.get("jobname")).map(Value::to_string).collect()
    };
    let line = "--size=64k --rw=read --ioengine=null --name=a --name=b --stats=0 --name=c";
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let document = json(&fathom, line);
    assert_eq!(names(&document), ["\"a\"", "\"c\""]);
    if fio_is_here("who_has_no_stats_is_not_told") {
        assert_eq!(names(&document), names(&their_json(dir.path(), line)));
    }
    let text = run(&fathom, line).expect_code(0).stdout;
    assert!(text.contains("\na: (groupid=0") && !text.contains("\nb: (groupid=0"), "{text}");
}

#[test]
fn numbers_have_as_many_figures_as_asked_for() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for (figures, moved) in [(1, "io=0GiB (0GB)"), (3, "io=16MiB (17MB)"), (8, "io=16777216B (16777216B)")] {
        let line = format!("--name=a --ioengine=null --rw=write --size=16m --significant_figures={figures}");
        let text = run(&fathom, &line).expect_code(0).stdout;
        assert!(text.contains(moved), "{figures}: {text}");
        if fio_is_here("numbers_have_as_many_figures_as_asked_for") {
            let text = String::from_utf8(theirs(dir.path(), &line).stdout).unwrap();
            assert!(text.contains(moved), "{figures}: {text}");
        }
    }
    for figures in ["0", "11"] {
        run(&fathom, &format!("--name=a --ioengine=null --size=1m --significant_figures={figures}"))
            .expect_code(1)
            .expect_stderr("1 to 10 is expected");
    }
}

#[test]
fn commands_run_before_and_after_a_job() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let job = "[a]\nsize=64k\nrw=write\nunlink=1\nexec_prerun=stat -c %s a.0.0 && echo before\nexec_postrun=ls a.0.0\n";
    std::fs::write(dir.path().join("a.fio"), job).unwrap();
    let printed = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    for times in 1..=2 {
        run(&fathom, "a.fio").expect_code(0);
        assert_eq!(printed("a.prerun.txt"), "65536\nbefore\n".repeat(times));
        assert_eq!(printed("a.postrun.txt"), "a.0.0\n".repeat(times));
        assert!(!dir.path().join("a.0.0").exists());
    }
    // One that fails ends the run before anything is done.
    run(&fathom, "--name=b --size=64k --rw=write --exec_prerun=false").expect_code(1);
    let b = std::fs::read(dir.path().join("b.0.0")).unwrap_or_default();
    assert!(b.iter().all(|byte| *byte == 0));
    // One that fails at the end costs no results.
    let failed = run(&fathom, "--name=c --size=64k --rw=write --exec_postrun=false").expect_code(1);
    assert!(failed.stdout.contains("issued rwts: total=0,16,0,0"), "{}", failed.stdout);
    // What the command prints goes through no link.
    std::fs::write(dir.path().join("precious"), "somebody's").unwrap();
    std::os::unix::fs::symlink("precious", dir.path().join("d.prerun.txt")).unwrap();
    run(&fathom, "--name=d --size=64k --rw=write --exec_prerun=date")
        .expect_code(1)
        .expect_stderr("symbolic link");
    assert_eq!(printed("precious"), "somebody's");
}

#[test]
fn what_is_read_back_waits_for_no_rate() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for engine in ["psync", "libaio --iodepth=4"] {
        let line = format!(
            "--name=a --size=400k --bs=4k --rw=write --verify=crc32c --verify_backlog=10 --rate_iops=100 --ioengine={engine}"
        );
        let document = json(&fathom, &line);
        let of = |side: &str, what: &str| document["jobs"][0][side][what].as_u64().unwrap();
        assert_eq!((of("read", "total_ios"), of("write", "total_ios")), (100, 100), "{engine}");
        // A hundred writes take a second; with the reads it would be two.
        assert!((900..1950).contains(&of("write", "runtime")), "{engine}: {} ms", of("write", "runtime"));
    }
}

#[test]
fn what_would_change_results_is_not_ignored() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path()).env("FATHOM_QUIET", "0");
    for (option, instead) in [
        ("--cgroup=../x", "below the place of all groups"),
        ("--buffer_compress_percentage=50 --buffer_compress_chunk=64k", "4096"),
        ("--unlink_each_loop=1 --loops=2", "unlink=1"),
    ] {
        run(&fathom, &format!("--name=a --size=64k --rw=write {option}"))
            .expect_code(1)
            .expect_stderr(instead);
        assert!(!dir.path().join("a.0.0").exists(), "{option}");
    }
    // fio 3.33 keeps nobody out, either.
    run(&fathom, "--name=a --size=64k --rw=write --lockfile=exclusive")
        .expect_code(0)
        .expect_stderr("lockfile has no effect here");
    run(
        &fathom,
        "--name=a --size=64k --rw=write --buffer_compress_percentage=50 --buffer_compress_chunk=512",
    )
    .expect_code(0);
}

#[test]
fn a_reader_without_a_size_reads_what_an_earlier_job_wrote() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let done = json(&fathom, "--filename=f --name=w --rw=write --size=1m --name=r --stonewall --rw=read");
    assert_eq!(done["jobs"][1]["read"]["io_bytes"], 1 << 20);
}
