//! What is written and what is not: files that fathom did not make are changed only if named with the option that
//! allows it.

use crate::fio::support::run;
use fathom_testkit::{Fathom, TestDir};

#[test]
fn a_file_of_somebody_else_is_written_only_when_it_is_named() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let path = dir.path().join("theirs");
    std::fs::write(&path, vec![7u8; 65536]).unwrap();
    let line = "--name=a --filename=theirs --size=64k --rw=write";
    let refused = run(&fathom, line).expect_code(1);
    assert!(refused.stderr.contains("--allow-write=theirs allows it"), "{}", refused.stderr);
    assert!(std::fs::read(&path).unwrap() == vec![7u8; 65536], "it is left as it is");
    run(&fathom, &format!("{line} --allow-write=theirs")).expect_code(0);
    assert!(std::fs::read(&path).unwrap() != vec![7u8; 65536]);
    // Reading needs no permission, and a file that is too short is not extended.
    run(&fathom, "--name=b --filename=theirs --size=64k --rw=read").expect_code(0);
    run(&fathom, "--name=b --filename=theirs --size=1m --rw=read").expect_code(1);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 65536);
}

#[test]
fn the_permission_of_one_clones_file_is_none_for_anothers() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let theirs = dir.path().join("a.1.0");
    std::fs::write(&theirs, vec![7u8; 65536]).unwrap();
    run(&fathom, "--name=a --numjobs=2 --rw=write --size=64k --allow-write=a.0.0").expect_code(1);
    assert!(std::fs::read(&theirs).unwrap() == vec![7u8; 65536], "it is left as it is");
}

#[test]
fn readonly_lays_out_and_removes_nothing() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let refused = run(&fathom, "--readonly --name=a --rw=read --size=64k").expect_code(1);
    assert!(refused.stderr.contains("lays out nothing"), "{}", refused.stderr);
    assert!(!dir.path().join("a.0.0").exists());
    std::fs::write(dir.path().join("a.0.0"), vec![7u8; 65536]).unwrap();
    run(&fathom, "--readonly --name=a --rw=read --size=64k --unlink=1").expect_code(1);
    run(&fathom, "--readonly --name=a --rw=read --size=64k").expect_code(0);
    assert!(std::fs::read(dir.path().join("a.0.0")).unwrap() == vec![7u8; 65536]);
    // A file that a replay made is ours, and would be removed.
    std::fs::write(dir.path().join("t.log"), "fio version 3 iolog\n0 f add\n0 f open\n1 f read 0 4096\n")
        .unwrap();
    run(&fathom, "--name=r --read_iolog=t.log").expect_code(0);
    run(&fathom, "--readonly --name=r --read_iolog=t.log --unlink=1")
        .expect_code(1)
        .expect_stderr("--readonly removes nothing");
    assert!(dir.path().join("f").exists());
}

#[test]
fn a_log_of_operations_replaces_nothing_but_a_log() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let (precious, link) = (dir.path().join("precious"), dir.path().join("link"));
    std::fs::write(&precious, b"somebody's").unwrap();
    std::os::unix::fs::symlink("precious", &link).unwrap();
    std::os::unix::fs::symlink(".", dir.path().join("here")).unwrap();
    let write = "--name=w --filename=f --size=64k --rw=write";
    run(&fathom, write).expect_code(0);
    let read = "--name=r --filename=f --size=64k --rw=read";
    for (line, words) in [
        (format!("{read} --write_iolog=precious"), "--allow-write=precious"),
        (format!("{read} --write_iolog=precious --readonly"), "replaces logs only"),
        (format!("{read} --write_iolog=precious --readonly --allow-write=precious"), "replaces logs only"),
        (format!("{read} --write_iolog=link"), "no regular file"),
        (format!("{read} --write_iolog=link --allow-write=link"), "no regular file"),
        (format!("{read} --write_iolog=/dev/null"), "no regular file"),
        (format!("{write} --write_iolog=f"), "a job works on this file"),
        (format!("{write} --write_iolog=here/f"), "a job works on this file"),
        ("--name=d --filename=d --size=64k --rw=write --write_iolog=./d".into(), "a job works on this file"),
        (
            format!("{read} --write_iolog=a.log --name=s --filename=f --size=64k --write_iolog=./a.log"),
            "another job writes its log",
        ),
        (format!("{read} --write_iolog=a.log --output=a.log"), "the results are written there"),
    ] {
        run(&fathom, &line).expect_code(1).expect_stderr(words);
        run(&fathom, &format!("{line} --check")).expect_code(1).expect_stderr(words);
        assert_eq!(std::fs::read(&precious).unwrap(), b"somebody's", "{line}");
    }
    assert!(!dir.path().join("a.log").exists() && !dir.path().join("d").exists());
    // Logs are replaced, as in fio, and so is what the command line names.
    for line in ["", "--readonly", ""] {
        run(&fathom, &format!("{read} --write_iolog=a.log {line}")).expect_code(0);
    }
    assert!(std::fs::read_to_string(dir.path().join("a.log")).unwrap().starts_with("fio version 3 iolog"));
    run(&fathom, &format!("{read} --write_iolog=precious --allow-write=precious")).expect_code(0);
    assert!(std::fs::read(&precious).unwrap().starts_with(b"fio version"));
}

#[test]
fn a_log_of_values_is_written_through_no_link() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let precious = dir.path().join("precious");
    std::fs::write(&precious, b"somebody's").unwrap();
    std::os::unix::fs::symlink("precious", dir.path().join("x_bw.1.log")).unwrap();
    let line = "--name=w --filename=f --size=64k --rw=write";
    run(&fathom, &format!("{line} --write_bw_log=x")).expect_code(1).expect_stderr("x_bw.1.log");
    assert_eq!(std::fs::read(&precious).unwrap(), b"somebody's");
    std::fs::write(dir.path().join("y_bw.1.log"), b"somebody's").unwrap();
    run(&fathom, &format!("{line} --write_bw_log=y")).expect_code(1).expect_stderr("no such log");
    assert_eq!(std::fs::read(dir.path().join("y_bw.1.log")).unwrap(), b"somebody's");
    for _ in 0..2 {
        run(&fathom, &format!("{line} --write_bw_log=z --log_prio=1")).expect_code(0);
    }
}

#[test]
fn what_is_shown_as_a_workload_gives_no_permission() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let path = dir.path().join("theirs");
    std::fs::write(&path, vec![7u8; 65536]).unwrap();
    let line = "--check --name=a --filename=theirs --size=64k --rw=write --allow-write=theirs";
    let text = run(&fathom, line).expect_code(0).stdout;
    std::fs::write(dir.path().join("w.toml"), text).unwrap();
    assert_ne!(fathom.run_line("run w.toml").code, Some(0));
    assert!(std::fs::read(&path).unwrap() == vec![7u8; 65536], "it is left as it is");
}

#[test]
fn files_stay_for_the_next_run_or_go() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, "--name=a --size=64k --rw=write").expect_code(0);
    assert!(dir.path().join("a.0.0").exists());
    run(&fathom, "--name=a --size=64k --rw=randwrite").expect_code(0);
    run(&fathom, "--name=u --size=64k --rw=write --unlink=1").expect_code(0);
    assert!(!dir.path().join("u.0.0").exists());
}

#[test]
fn what_was_corrupted_is_found() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, "--name=v --size=64k --bs=4k --rw=write --verify=crc32c").expect_code(0);
    let path = dir.path().join("v.0.0");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8192..8196].copy_from_slice(b"oops");
    std::fs::write(&path, bytes).unwrap();
    let found = run(&fathom, "--name=v --size=64k --bs=4k --rw=read --verify=crc32c").expect_code(1);
    assert!(found.stderr.contains("8192"), "{}", found.stderr);
}

/// KDiskMark makes the file and has it filled.
#[test]
fn an_empty_file_of_somebody_else_is_written_and_stays() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let file = dir.path().join("empty");
    std::fs::write(&file, "").unwrap();
    run(&fathom, "--name=prepare --create_only=1 --filename=empty --size=64k").expect_code(0);
    run(&fathom, "--name=a --filename=empty --size=64k --rw=randwrite").expect_code(0);
    assert_eq!(file.metadata().unwrap().len(), 64 << 10);
    // Once another program has changed it, it is no longer ours.
    std::fs::write(&file, "data").unwrap();
    run(&fathom, "--name=a --filename=empty --size=4 --bs=4 --rw=write").expect_code(1);
    assert_eq!(std::fs::read(&file).unwrap(), b"data");
    // A file with two names may be a user's, whatever its content.
    std::fs::write(dir.path().join("one"), "").unwrap();
    std::fs::hard_link(dir.path().join("one"), dir.path().join("two")).unwrap();
    run(&fathom, "--name=b --filename=one --size=64k --rw=write")
        .expect_code(1)
        .expect_stderr("--allow-write=one");
    assert_eq!(dir.path().join("two").metadata().unwrap().len(), 0);
}

/// Pipelines make their disks with truncate or fallocate.
#[test]
fn a_file_of_somebody_else_that_is_one_hole_is_written_and_stays() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let disk = dir.path().join("disk.img");
    std::fs::File::create(&disk).unwrap().set_len(1 << 20).unwrap();
    run(&fathom, "--name=a --filename=disk.img --size=64k --rw=write").expect_code(0);
    assert_eq!(disk.metadata().unwrap().len(), 1 << 20);
    // Data anywhere in it may be somebody's.
    let with_data = dir.path().join("data.img");
    let file = std::fs::File::create(&with_data).unwrap();
    file.set_len(1 << 20).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"data", 512 << 10).unwrap();
    run(&fathom, "--name=b --filename=data.img --size=64k --rw=write")
        .expect_code(1)
        .expect_stderr("--allow-write=data.img");
}

/// Each container of a pipeline has its own home, or none, and they share the directory.
#[test]
fn files_laid_out_by_another_home_are_written_until_somebody_changes_them() {
    let dir = TestDir::new();
    let [first, second] = [(); 2].map(|()| Fathom::new().working_in(dir.path()));
    let file = dir.path().join("a.0.0");
    run(&first, "--name=a --size=64k --rw=randread").expect_code(0);
    let open = std::fs::File::open(&file).unwrap();
    if !fathom_state::kept_mark::is_set(std::os::fd::AsFd::as_fd(&open)) {
        return fathom_testkit::skip("files_laid_out_by_another_home", "no extended attributes here");
    }
    run(&second, "--name=a --size=64k --rw=randwrite").expect_code(0);
    run(&first, "--name=a --size=64k --rw=randwrite").expect_code(0);
    run(&second, "--name=a --size=64k --rw=randwrite --unlink=1").expect_code(0);
    assert!(file.exists(), "it is the first one's");
    std::fs::write(&file, [7; 65536]).unwrap();
    // It still belongs to the first home's user, readable or not, and to no one else.
    run(&first, "--name=a --size=64k --rw=randread").expect_code(0);
    run(&second, "--name=a --size=64k --rw=randwrite").expect_code(1).expect_stderr("--allow-write=a.0.0");
    assert_eq!(std::fs::read(&file).unwrap(), [7; 65536]);
}

/// A disk that is full even briefly disturbs all its users.
#[test]
fn what_cannot_fit_is_refused_before_a_byte_is_reserved() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for rw in ["write", "randread", "randwrite --fallocate=keep"] {
        let refused = run(&fathom, &format!("--name=a --rw={rw} --size=1p --runtime=1")).expect_code(1);
        assert!(refused.stderr.contains("need 1.0 PiB more, but only "), "{rw}: {}", refused.stderr);
        assert!(!dir.path().join("a.0.0").exists(), "{rw}");
    }
    // Nothing is laid out that has no space, nor what is long enough.
    std::fs::File::create(dir.path().join("sparse")).unwrap().set_len(1 << 43).unwrap();
    run(&fathom, "--name=c --filename=sparse --rw=randread --size=8t --number_ios=2").expect_code(0);
    run(&fathom, "--name=b --rw=write --size=1t --fallocate=none --number_ios=2").expect_code(0);
}

/// People write one job for all mixes, and set the share.
#[test]
fn a_mix_that_writes_nothing_needs_no_permission() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    std::fs::write(dir.path().join("f"), [7; 8192]).unwrap();
    for share in ["--rwmixread=100", "--rwmixwrite=0"] {
        let done = run(&fathom, &format!("--name=a --filename=f --rw=randrw {share}")).expect_code(0);
        assert!(
            done.stdout.contains("rw=randrw") && done.stdout.contains("total=2,0,0,0"),
            "{}",
            done.stdout
        );
    }
    run(&fathom, "--name=a --filename=f --rw=randrw --rwmixread=99").expect_code(1);
    assert_eq!(std::fs::read(dir.path().join("f")).unwrap(), [7; 8192]);
}

/// They look empty, and writing one changes a setting.
#[test]
fn a_file_of_the_kernel_is_not_taken_for_an_empty_one() {
    let fathom = Fathom::new();
    for file in ["/proc/sys/kernel/core_pattern", "/sys/kernel/mm/ksm/run"] {
        let before = std::fs::read(file).ok();
        run(&fathom, &format!("--name=a --filename={file} --size=1 --bs=1 --rw=write --fallocate=none"))
            .expect_code(1);
        assert_eq!(std::fs::read(file).ok(), before);
    }
}
