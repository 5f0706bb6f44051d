//! Engines that are not plain reads and writes, beside fio itself: how many operations are counted, and which files are left.

use crate::fio::support::{FIO, fio_is_here, json, run, their_json};
use fathom_testkit::{Fathom, LoopFs, TestDir, TmpFs, skip, strace_command};
use serde_json::Value;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

/// Names and sizes of the files in a directory.
fn left(root: &Path) -> Vec<String> {
    let mut found: Vec<String> = std::fs::read_dir(root)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().extension().is_none_or(|e| e != "state"))
        .map(|entry| format!("{} {}", entry.file_name().to_string_lossy(), entry.metadata().unwrap().len()))
        .collect();
    found.sort();
    found
}

/// Reads, writes, bytes of both and the error of the first job.
fn counted(document: &Value) -> [Option<u64>; 5] {
    let job = &document["jobs"][0];
    [
        job["read"]["total_ios"].as_u64(),
        job["write"]["total_ios"].as_u64(),
        job["read"]["io_bytes"].as_u64(),
        job["write"]["io_bytes"].as_u64(),
        job["error"].as_u64(),
    ]
}

#[test]
fn the_same_is_counted_and_left() {
    if !fio_is_here("the_same_is_counted_and_left") {
        return;
    }
    for line in [
        "--ioengine=filecreate --create_on_open=1 --nrfiles=6 --filesize=4k --fallocate=none --openfiles=1",
        "--ioengine=filecreate --nrfiles=6 --filesize=4k --rw=write",
        "--ioengine=filestat --nrfiles=6 --filesize=4k",
        "--ioengine=filestat --nrfiles=6 --filesize=4k --stat_type=statx --loops=3 --rw=write",
        "--ioengine=filedelete --nrfiles=6 --filesize=4k --unlink=0",
        "--ioengine=ftruncate --size=64k --bs=16k --rw=write",
        "--ioengine=falloc --size=64k --bs=16k --rw=write",
        "--ioengine=falloc --size=64k --bs=16k --rw=read",
        "--ioengine=posixaio --size=1m --bs=16k --rw=randwrite --iodepth=8",
        "--ioengine=posixaio --size=1m --bs=16k --rw=read --iodepth=4 --nrfiles=2",
        "--ioengine=splice --size=1m --bs=256k --rw=write",
        "--ioengine=splice --size=1m --bs=4k --rw=randread",
    ] {
        let line = format!("--name=a {line}");
        let (ours, other) = (TestDir::new(), TestDir::new());
        let theirs = their_json(other.path(), &line);
        let document = json(&Fathom::new().working_in(ours.path()), &line);
        assert_eq!(counted(&document), counted(&theirs), "{line}");
        assert_eq!(left(ours.path()), left(other.path()), "{line}");
    }
}

#[test]
fn directories_are_made_looked_up_and_removed() {
    // Reads, writes and directories that stay, as fio 3.42 has them.
    for (line, reads, writes, stay) in [
        ("dircreate --nrfiles=3", 3, 0, 3),
        ("dircreate --nrfiles=2 --rw=write --direct=1 --unlink=1", 0, 2, 0),
        ("dircreate --nrfiles=2 --numjobs=2 --group_reporting", 4, 0, 4),
        ("dircreate --filename=x:y", 2, 0, 2),
        ("dirstat --nrfiles=2", 2, 0, 2),
        ("dirstat --nrfiles=2 --rw=write --direct=1 --loops=2 --stat_type=statx", 0, 4, 2),
        ("dirstat --nrfiles=2 --unlink=1 --overwrite=1 --allow_file_create=0", 2, 0, 0),
        ("dirdelete --nrfiles=2", 2, 0, 0),
        ("dirdelete --nrfiles=2 --rw=write --numjobs=2 --group_reporting --create_on_open=1", 0, 4, 0),
    ] {
        let dir = TestDir::new();
        let line = format!("--name=a --filesize=4k --bs=4k --ioengine={line}");
        let document = json(&Fathom::new().working_in(dir.path()), &line);
        let wanted = [reads, writes, reads * 4096, writes * 4096, 0].map(Some);
        assert_eq!(counted(&document), wanted, "{line}");
        let [read, write] = ["read", "write"].map(|kind| &document["jobs"][0][kind]);
        for (key, n) in [("clat_ns", reads + writes), ("lat_ns", 0), ("slat_ns", 0)] {
            let of = |kind: &Value| kind[key]["N"].as_u64().unwrap();
            assert_eq!(of(read) + of(write), n, "{line}: {key}");
        }
        let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().metadata()).collect();
        assert_eq!(left.len(), stay, "{line}");
        for about in left.into_iter().flatten() {
            assert!(about.is_dir() && about.mode() & 0o777 == 0o700, "{line}: {:o}", about.mode());
        }
    }
}

#[test]
fn directories_that_are_there_or_not_empty_are_errors() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let mine = dir.path().join("mine");
    std::fs::create_dir(&mine).unwrap();
    let error = |line: &str| {
        let outcome = run(&fathom, &format!("--output-format=json --name=a --filesize=4k {line}"));
        assert_eq!(outcome.code, Some(1), "{line}: {}", outcome.stderr);
        let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
        document["jobs"][0]["error"].as_u64()
    };
    assert_eq!(error("--ioengine=dircreate --filename=mine"), Some(17));
    json(&fathom, "--name=a --filesize=4k --ioengine=dirstat --filename=mine");
    // It belongs to the user; given to fathom, it is removed, but not its content.
    run(&fathom, "--name=a --filesize=4k --ioengine=dirdelete --filename=mine").expect_stderr("mine");
    assert!(mine.is_dir());
    std::fs::write(mine.join("x"), "x").unwrap();
    assert_eq!(error("--allow-write=mine --ioengine=dirdelete --filename=mine"), Some(39));
    std::fs::remove_file(mine.join("x")).unwrap();
    json(&fathom, "--allow-write=mine --name=a --filesize=4k --ioengine=dirdelete --filename=mine");
    assert!(!mine.exists());
    // A later run may remove what a run made.
    json(&fathom, "--name=a --filesize=4k --ioengine=dircreate --filename=mine");
    json(&fathom, "--name=a --filesize=4k --ioengine=dirdelete --filename=mine");
    assert!(!mine.exists());
}

#[test]
fn directories_of_a_killed_run_go_with_the_next() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "fio --name=a --ioengine=dirstat --nrfiles=3 --filesize=4k --time_based --runtime=600";
    let mut running = fathom.spawn(line.split(' '));
    running.wait_until("the directories", || left(dir.path()).len() == 3);
    running.signal_group(9);
    running.finish();
    assert_eq!(left(dir.path()).len(), 3);
    run(&fathom, "--name=b --ioengine=null --size=4k").expect_code(0);
    assert_eq!(left(dir.path()), [""; 0]);
}

#[test]
fn the_two_parts_of_a_latency_add_up() {
    // Test 17 of fio's own: a queue in front of the C library's threads.
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let document = json(&fathom, "--name=test --ioengine=posixaio --size=1m --iodepth=16");
    let read = &document["jobs"][0]["read"];
    let mean = |key: &str| read[key]["mean"].as_f64().unwrap();
    assert_eq!(read["slat_ns"]["N"].as_u64(), Some(256));
    let (parts, whole) = (mean("slat_ns") + mean("clat_ns"), mean("lat_ns"));
    assert!((parts - whole).abs() <= whole / 100.0, "{parts} {whole}");
}

#[test]
fn calls_about_names_have_completion_latencies_alone() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let text = run(&fathom, "--name=a --ioengine=filestat --nrfiles=6 --filesize=4k").expect_code(0).stdout;
    assert!(text.contains("clat (") && text.contains("clat percentiles"), "{text}");
    assert!(!text.contains("\n     lat (") && !text.contains("\n  lat ("), "{text}");
    assert!(text.contains("ioengine=filestat") && text.contains("issued rwts: total=6,0,0,0"), "{text}");
}

#[test]
fn computing_moves_nothing_and_is_timed() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=burn --ioengine=cpuio --cpuload=50 --cpuchunks=10000 --runtime=1 --time_based";
    let document = json(&fathom, line);
    let read = &document["jobs"][0]["read"];
    assert_eq!(counted(&document)[2..], [Some(0), Some(0), Some(0)]);
    // A hundred at most if nobody else wants the CPUs; half of the time it sleeps.
    let ios = read["total_ios"].as_u64().unwrap();
    assert!((2..=55).contains(&ios), "{ios}");
    assert_eq!(read["clat_ns"]["N"].as_u64(), Some(ios));
    assert!(read["clat_ns"]["min"].as_u64().unwrap() >= 10_000_000, "{read}");
    let text = run(&fathom, &format!("{line} --numjobs=2 --cpumode=qsort")).expect_code(0).stdout;
    assert!(text.contains("burn (qsort): ioengine=cpuio, cpuload=50, cpucycle=10000"), "{text}");
    assert!(
        text.contains("lat (msec)") && !text.contains("read: IOPS") && !text.contains("READ: bw"),
        "{text}"
    );
    assert_eq!(left(dir.path()), [""; 0]);
}

#[test]
fn a_file_system_is_filled() {
    let Some(fs) = LoopFs::ext4("a_file_system_is_filled").mebibytes(16).mount() else { return };
    let fathom = Fathom::new();
    let line = format!("--name=a --directory={} --rw=write --bs=64k --fill_device=1", fs.path().display());
    let document = json(&fathom, &line);
    let [_, _, _, Some(bytes), error] = counted(&document) else { panic!("{document}") };
    assert_eq!(error, Some(0));
    assert!((4 << 20..16 << 20).contains(&bytes), "{bytes}");
    assert!(fs.path().join("a.0.0").metadata().unwrap().len() >= bytes);
    // Without it, that is an error.
    let full = run(&fathom, &line.replace("--fill_device=1", "--size=64m --fallocate=none"));
    assert_ne!(full.code, Some(0), "{}", full.stderr);
}

#[test]
fn files_of_others_are_neither_removed_nor_cut() {
    let dir = TestDir::new();
    std::fs::write(dir.path().join("mine"), [7; 8192]).unwrap();
    let fathom = Fathom::new().working_in(dir.path());
    for line in [
        "--name=a --ioengine=filedelete --filename=mine --filesize=4k",
        "--name=a --ioengine=ftruncate --filename=mine --size=4k --bs=4k --rw=write",
        "--name=a --ioengine=falloc --filename=mine --size=8k --rw=read",
        "--name=a --ioengine=filedelete --filesize=4k --readonly",
        "--name=a --ioengine=filecreate --filesize=4k --readonly",
        "--name=a --ioengine=dircreate --filesize=4k --readonly",
        "--name=a --ioengine=dirdelete --filename=mine --filesize=4k",
        "--name=a --ioengine=e4defrag --filesize=8k --rw=write --donorname=mine",
        "--name=a --ioengine=e4defrag --size=8k --rw=write --donorname=mine --inplace=1",
    ] {
        let outcome = run(&fathom, line);
        assert_ne!(outcome.code, Some(0), "{line}: {}", outcome.stderr);
        assert_eq!(std::fs::read(dir.path().join("mine")).unwrap(), [7; 8192], "{line}");
        assert_eq!(left(dir.path()), ["mine 8192"], "{line}");
    }
}

#[test]
fn a_program_runs_as_long_as_its_job() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let say =
        "--name=say --ioengine=exec --program=/bin/echo --arguments=hello_%r_%n --runtime=1 --time_based";
    let document = json(&fathom, say);
    assert_eq!(counted(&document)[2..], [Some(0), Some(0), Some(0)]);
    let printed = || std::fs::read_to_string(dir.path().join("say.stdout")).unwrap();
    assert_eq!(printed(), "hello_1_say\n");
    // An existing file is not lost.
    let text = run(&fathom, say).expect_code(0).stdout;
    assert_eq!(printed(), "hello_1_say\nhello_1_say\n");
    assert!(text.contains("say : program=/bin/echo, arguments=hello_%r_%n"), "{text}");
    let long = "--name=long --ioengine=exec --program=sleep --arguments=600 --runtime=1 --std_redirect=0";
    for grace in [0, 5] {
        let began = std::time::Instant::now();
        run(&fathom, &format!("{long} --grace_time={grace}")).expect_code(0);
        assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    }
    assert!(!dir.path().join("long.stdout").exists());
    let missing = run(&fathom, "--name=a --ioengine=exec --program=no_such_program_here --runtime=1");
    assert_ne!(missing.code, Some(0));
    assert!(missing.stderr.contains("start the program"), "{}", missing.stderr);
}

#[test]
fn computing_ends_when_the_jobs_that_do_io_are_done() {
    // A quarter of a second of I/O; the second cpuio is not waited for, and ends by its time.
    let line = "--size=16k --name=cpu --ioengine=cpuio --cpuload=50 --cpuchunks=1000 --exit_on_io_done=1 --numjobs=2 --runtime=50 \
                --name=other --ioengine=cpuio --cpuload=10 --runtime=1 \
                --name=io --ioengine=psync --rw=read --rate_iops=16";
    let check = |document: &Value, who: &str| {
        let times: Vec<u64> =
            document["jobs"].as_array().unwrap().iter().map(|j| j["job_runtime"].as_u64().unwrap()).collect();
        assert_eq!(times.len(), 4, "{who}");
        // Clones of a job come first. They were to compute for 50 s.
        assert!(times[..2].iter().all(|ms| (1..40_000).contains(ms)), "{who}: {times:?}");
        assert!(times[2] >= 950, "{who}: {times:?}");
    };
    let dir = TestDir::new();
    check(&json(&Fathom::new().working_in(dir.path()), line), "fathom");
    if fio_is_here("computing_ends_when_the_jobs_that_do_io_are_done") {
        check(&their_json(TestDir::new().path(), line), "fio");
    }
}

#[test]
fn a_share_of_the_calls_asks_for_polling() {
    let test = "a_share_of_the_calls_asks_for_polling";
    // No device below says that it does not poll.
    let Some(memory) = TmpFs::mount(test, 4 << 20) else { return };
    let line = "--name=a --filename=f --size=1m --bs=4k --rw=read --direct=1 --ioengine=pvsync2 --hipri --hipri_percentage=30";
    let (ours, mut command) = (TestDir::new(), Command::new(FIO));
    let fathom = Fathom::new().working_in(ours.path());
    let line_here = line.replace("=f ", &format!("={}/f ", memory.path().display()));
    let mut traces = vec![fathom.strace(test, format!("fio {line_here}").split(' '))];
    if fio_is_here(test) {
        let theirs = line_here.replace("/f ", "/g ");
        traces.push(strace_command(test, command.args(theirs.split(' ')).current_dir(ours.path())));
    }
    for trace in traces {
        let Some(trace) = trace else { return };
        if trace.code != Some(0) {
            return skip(test, "file systems in memory of this kernel have no O_DIRECT");
        }
        let reads = || trace.calls.iter().filter(|call| call.name == "preadv2");
        let polled = reads().filter(|call| call.args.ends_with("RWF_HIPRI")).count();
        assert_eq!(reads().count(), 256);
        assert!((45..110).contains(&polled), "{polled}");
    }
}
