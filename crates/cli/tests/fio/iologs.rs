//! Operation logs: written by fathom and replayed by fio, written by fio and replayed by fathom, and replays alone. The
//! same is done each time.

use crate::fio::support::{fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

/// Reads, writes and syncs of the first job.
fn done(document: &Value) -> [u64; 3] {
    let job = &document["jobs"][0];
    ["read", "write", "sync"].map(|side| job[side]["total_ios"].as_u64().unwrap_or_else(|| panic!("{job}")))
}

/// Action, offset and length of every line that is an operation; of syncs only the action.
fn operations(log: &str) -> Vec<String> {
    let words = |line: &str| -> Option<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [_, _, sync @ ("sync" | "datasync"), ..] => Some((*sync).to_owned()),
            [_, _, action @ ("read" | "write"), offset, length] => {
                Some(format!("{action} {offset} {length}"))
            }
            _ => None,
        }
    };
    log.lines().filter_map(words).collect()
}

const JOBS: [&str; 3] = [
    "--name=w --filename=f --rw=write --size=64k --fsync=4",
    "--name=w --filename=f --rw=randwrite --size=256k --bs=8k --fdatasync=3",
    "--name=w --filename=f --rw=randread --size=128k --loops=2",
];

#[test]
fn what_we_write_down_fio_does() {
    if !fio_is_here("what_we_write_down_fio_does") {
        return;
    }
    for line in JOBS
        .into_iter()
        .chain(["--name=w --filename=f --rw=randrw --size=256k --ioengine=io_uring --iodepth=4"])
    {
        let (ours, theirs) = (TestDir::new(), TestDir::new());
        let fathom = Fathom::new().working_in(ours.path());
        let first = json(&fathom, &format!("{line} --write_iolog=w.log"));
        let log = std::fs::read_to_string(ours.path().join("w.log")).unwrap();
        assert!(log.starts_with("fio version 3 iolog\n0 f add\n0 f open\n"), "{log}");
        assert!(log.ends_with(" f close\n"), "{log}");
        std::fs::copy(ours.path().join("w.log"), theirs.path().join("w.log")).unwrap();
        std::fs::write(theirs.path().join("f"), vec![0; 1 << 20]).unwrap();
        let again = their_json(theirs.path(), "--name=r --read_iolog=w.log --replay_no_stall=1");
        let ([reads, writes, _], [a, b, _]) = (done(&first), done(&again));
        assert_eq!((reads, writes), (a, b), "{line}\n{log}");
    }
}

#[test]
fn clones_and_several_files_have_one_log() {
    let here = fio_is_here("clones_and_several_files_have_one_log");
    for (line, files, writes) in [
        ("--name=w --rw=write --size=64k --nrfiles=2 --fsync=3", 2, 16),
        ("--name=w --rw=randwrite --size=64k --numjobs=2", 2, 32),
        ("--name=w --rw=write --size=64k --nrfiles=3 --numjobs=2 --ioengine=libaio --iodepth=4", 6, 30),
    ] {
        let dir = TestDir::new();
        let fathom = Fathom::new().working_in(dir.path());
        json(&fathom, &format!("{line} --write_iolog=w.log"));
        let again = json(&fathom, "--name=r --read_iolog=w.log --replay_no_stall=1");
        assert_eq!(done(&again)[1], writes, "{line}");
        // The log names the files that lie here: none is made beside them.
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), files + 1, "{line}");
        if here {
            let theirs_in = TestDir::new();
            std::fs::copy(dir.path().join("w.log"), theirs_in.path().join("w.log")).unwrap();
            let theirs = their_json(theirs_in.path(), "--name=r --read_iolog=w.log --replay_no_stall=1");
            assert_eq!(done(&theirs)[1], writes, "{line}: fio");
        }
    }
}

#[test]
fn what_fio_writes_down_we_do() {
    if !fio_is_here("what_fio_writes_down_we_do") {
        return;
    }
    for line in JOBS {
        let (ours, theirs_in) = (TestDir::new(), TestDir::new());
        let first = their_json(theirs_in.path(), &format!("{line} --write_iolog=w.log"));
        std::fs::copy(theirs_in.path().join("w.log"), ours.path().join("w.log")).unwrap();
        let fathom = Fathom::new().working_in(ours.path());
        let again = json(&fathom, "--name=r --read_iolog=w.log");
        assert_eq!(done(&again)[..2], done(&first)[..2], "{line}");
        let log = std::fs::read_to_string(ours.path().join("w.log")).unwrap();
        let syncs = operations(&log).iter().filter(|o| o.ends_with("sync")).count() as u64;
        assert_eq!(done(&again)[2], syncs, "{line}\n{log}");
    }
}

#[test]
fn a_sequence_is_written_down_like_fio_does() {
    if !fio_is_here("a_sequence_is_written_down_like_fio_does") {
        return;
    }
    let (ours, theirs_in) = (TestDir::new(), TestDir::new());
    let line = format!("{} --write_iolog=w.log", JOBS[0]);
    run(&Fathom::new().working_in(ours.path()), &line).expect_code(0);
    assert!(theirs(theirs_in.path(), &line).status.success());
    let [a, b] = [&ours, &theirs_in].map(|dir| std::fs::read_to_string(dir.path().join("w.log")).unwrap());
    assert_eq!(operations(&a), operations(&b));
}

/// Two files, 300 ms.
const TRACE: &str = "fio version 3 iolog\n0 a add\n0 b add\n5 a open\n6 a write 0 4096\n100 b open\n\
                     100000 b write 8192 8192\n100010 b sync 0 0\n300000 a read 0 4096\n300010 a close\n";

#[test]
fn a_replay_takes_its_time_unless_it_is_not_to() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    std::fs::write(dir.path().join("t.log"), TRACE).unwrap();
    let runtime = |line: &str| {
        let document = json(&fathom, &format!("--name=r --read_iolog=t.log {line}"));
        assert_eq!(done(&document), [1, 2, 1], "{document}");
        document["jobs"][0]["job_runtime"].as_u64().unwrap()
    };
    assert!(runtime("") >= 299);
    assert!(runtime("--replay_no_stall=1") < 200);
    assert!(runtime("--replay_time_scale=50") >= 599);
    assert!(runtime("--replay_no_stall=1 --ioengine=io_uring --iodepth=4") < 200);
    assert!(runtime("--ioengine=io_uring --iodepth=4") >= 299);
    // As fio 3.33 makes them: each as long as it is touched.
    for (file, bytes) in [("a", 4096), ("b", 16384)] {
        assert_eq!(std::fs::metadata(dir.path().join(file)).unwrap().len(), bytes, "{file}");
    }
    run(&fathom, "--name=r --read_iolog=t.log --replay_redirect=c --replay_no_stall=1").expect_code(0);
    assert!(dir.path().join("c").exists());
}

#[test]
fn a_trace_of_a_device_makes_no_file_instead_of_it() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    // A number that no device has.
    let words: [u32; 12] = [0x6561_7407, 1, 1000, 0, 0, 0, 4096, 0x0011_0001, 77, 4000 << 20 | 7, 0, 0];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(dir.path().join("t.bin"), bytes).unwrap();
    run(&fathom, "--name=r --read_iolog=t.bin")
        .expect_code(1)
        .expect_stderr("does not name its device 4000,7");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    run(&fathom, "--name=r --read_iolog=t.bin --replay_redirect=f").expect_code(0);
}

#[test]
fn files_of_others_are_not_written_by_a_replay() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    std::fs::write(dir.path().join("t.log"), TRACE).unwrap();
    std::fs::write(dir.path().join("b"), b"somebody's").unwrap();
    run(&fathom, "--name=r --read_iolog=t.log").expect_code(1).expect_stderr("b is not changed");
    assert_eq!(std::fs::read(dir.path().join("b")).unwrap(), b"somebody's");
    // Without traces there is nothing to merge, as in fio.
    run(&fathom, "--name=r --merge_blktrace_file=x --size=1m").expect_code(0);
    assert!(!dir.path().join("x").exists());
}

/// An event of blktrace: what arrived (1 read, 2 write), in us, at a sector.
fn arrival(does: u32, time_us: u64, sector: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend([0x6561_7407u32, 1].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend([time_us * 1000, sector].iter().flat_map(|word| word.to_le_bytes()));
    let rest = [4096, 1 << 20 | does << 16 | 1, 1, 8 << 20, 0, 0];
    bytes.extend(rest.iter().flat_map(|word: &u32| word.to_le_bytes()));
    bytes
}

#[test]
fn traces_are_merged_written_and_replayed() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("a.bin", [arrival(1, 10, 0), arrival(1, 20, 8), arrival(1, 40, 16)].concat());
    write("b.bin", [arrival(2, 15, 0), arrival(2, 20, 8)].concat());
    write("junk", vec![b'x'; 100]);
    let merged = |into: &str| {
        format!(
            "--name=r --read_iolog=a.bin:b.bin --merge_blktrace_iters=1:2 --merge_blktrace_file={into} --replay_redirect=f"
        )
    };
    assert_eq!(done(&json(&fathom, &merged("m.bin"))), [3, 4, 0]);
    assert_eq!(done(&json(&fathom, "--name=r --read_iolog=m.bin --replay_redirect=f")), [3, 4, 0]);
    let times: Vec<u64> = std::fs::read(dir.path().join("m.bin"))
        .unwrap()
        .chunks(48)
        .map(|record| u64::from_le_bytes(record[8..16].try_into().unwrap()) / 1000)
        .collect();
    assert_eq!(times, [10, 15, 20, 20, 35, 40, 40]);
    // Existing files are not replaced unasked, and a trace that is read never, whatever its name.
    run(&fathom, &merged("m.bin")).expect_code(1).expect_stderr("--allow-write=m.bin");
    run(&fathom, &format!("--allow-write=m.bin {}", merged("m.bin"))).expect_code(0);
    run(&fathom, &merged("junk")).expect_code(1).expect_stderr("it is there");
    run(&fathom, &merged("f")).expect_code(1).expect_stderr("works on this file");
    let recorded = std::fs::read(dir.path().join("a.bin")).unwrap();
    std::fs::hard_link(dir.path().join("a.bin"), dir.path().join("again.bin")).unwrap();
    std::os::unix::fs::symlink("a.bin", dir.path().join("link.bin")).unwrap();
    for line in [
        format!("--allow-write=again.bin {}", merged("again.bin")),
        format!("--allow-write=a.bin {}", merged("./a.bin")),
        format!("--allow-write=a.bin {}", merged("a.bin").replace("a.bin:b.bin", "link.bin:b.bin")),
        format!("--allow-write=m.bin {} --name=s --read_iolog=m.bin --replay_redirect=g", merged("m.bin")),
    ] {
        run(&fathom, &line).expect_code(1);
    }
    assert_eq!(std::fs::read(dir.path().join("a.bin")).unwrap(), recorded);
    assert_eq!(std::fs::read(dir.path().join("junk")).unwrap(), vec![b'x'; 100]);
    // What is cut off does not become whole by being merged.
    write("cut.bin", recorded[..recorded.len() - 20].to_vec());
    let cut = merged("whole.bin").replace("b.bin", "cut.bin");
    run(&fathom, &cut).expect_code(1).expect_stderr("middle of a record");
    run(&fathom, &format!("--readonly {} --replay_skip=write", merged("new")))
        .expect_code(1)
        .expect_stderr("--readonly");
    assert!(!dir.path().join("new").exists());
}

#[test]
fn preconditioning_writes_regions_that_begin_with_blocks_of_the_last() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --filename=f --rw=randwrite --size=4m --sprandom=1 --spr_op=0.2 --spr_num_regions=8 --write_iolog=log";
    run(&fathom, line).expect_code(0);
    let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
    let blocks: Vec<String> = operations(&log);
    // 1024 blocks and 20 %, in regions of 153; 31.25 % of the first come again.
    assert!((1150..=1229).contains(&blocks.len()), "{}", blocks.len());
    assert_eq!(blocks.iter().collect::<std::collections::BTreeSet<_>>().len(), 1024);
    let (first, second) = (&blocks[..153], &blocks[153..306]);
    let again: Vec<bool> = second.iter().map(|block| first.contains(block)).collect();
    assert_eq!(again.iter().position(|again| !again), Some(48));
    assert!(again[48..].iter().all(|again| !again));
}
