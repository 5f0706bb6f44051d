//! Verified blocks: written by fio and checked by fathom, and vice versa, and the messages about a wrong one.

use crate::fio::support::{DEBIANS, fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

/// How blocks may look that both programs write and check alike.
const LOOKS: [&str; 20] = [
    "--verify=md5",
    "--verify=crc64",
    "--verify=crc32c",
    "--verify=crc32",
    "--verify=crc16",
    "--verify=crc7",
    "--verify=xxhash",
    "--verify=sha1",
    "--verify=sha3-224",
    "--verify=sha3-256",
    "--verify=sha3-384",
    "--verify=sha3-512",
    "--verify=meta",
    "--verify=pattern --verify_pattern=0xdeadbeef",
    "--verify=pattern --verify_pattern=0xab%o",
    "--verify=pattern --verify_pattern=0xdeadbe --verify_interval=1k",
    "--verify=md5 --verify_pattern=0xdeadbeef",
    "--verify=crc32c --verify_interval=1024 --verify_offset=64",
    "--verify=crc32c --buffer_compress_percentage=50",
    "--verify=md5 --verify_interval=1024 --dedupe_percentage=30",
];

const WRITES: &str = "--name=w --filename=F --rw=write --size=64k --bs=4k --do_verify=0";
const READS: &str = "--name=r --filename=F --rw=read --size=64k --bs=4k";

#[test]
fn what_fio_writes_we_check() {
    if !fio_is_here("what_fio_writes_we_check") {
        return;
    }
    for look in LOOKS {
        let dir = TestDir::new();
        assert!(theirs(dir.path(), &format!("{WRITES} {look}")).status.success(), "{look}");
        let fathom = Fathom::new().working_in(dir.path()).env("FATHOM_FIO_VERSION", DEBIANS);
        run(&fathom, &format!("{READS} {look}")).expect_code(0);
        spoil(&dir);
        if look != "--verify=meta" {
            run(&fathom, &format!("{READS} {look}")).expect_code(1);
        }
    }
}

#[test]
fn what_we_write_fio_checks() {
    if !fio_is_here("what_we_write_fio_checks") {
        return;
    }
    for look in LOOKS {
        let dir = TestDir::new();
        run(
            &Fathom::new().working_in(dir.path()).env("FATHOM_FIO_VERSION", DEBIANS),
            &format!("{WRITES} {look}"),
        )
        .expect_code(0);
        let output = theirs(dir.path(), &format!("{READS} {look}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{look}:\n{said}");
    }
}

/// Four bytes of the third block, behind its header.
fn spoil(dir: &TestDir) {
    let path = dir.path().join("F");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[9000..9004].iter_mut().for_each(|byte| *byte ^= 0x5a);
    std::fs::write(&path, bytes).unwrap();
}

#[test]
fn every_family_finds_four_wrong_bytes() {
    let families = [
        "md5",
        "crc64",
        "crc32c",
        "crc32c-intel",
        "crc32",
        "crc16",
        "crc7",
        "xxhash",
        "sha512",
        "sha256",
        "sha1",
        "sha3-224",
        "sha3-256",
        "sha3-384",
        "sha3-512",
        "pattern --verify_pattern=0xdeadbeef",
        "pattern_hdr --verify_pattern=0xdeadbeef",
    ];
    for family in families {
        let dir = TestDir::new();
        let fathom = Fathom::new().working_in(dir.path());
        let document =
            json(&fathom, &format!("--name=w --filename=F --rw=write --size=64k --verify={family}"));
        let job = &document["jobs"][0];
        assert_eq!(
            (&job["write"]["total_ios"], &job["read"]["total_ios"]),
            (&16.into(), &16.into()),
            "{family}"
        );
        spoil(&dir);
        run(&fathom, &format!("{READS} --verify={family}"))
            .expect_code(1)
            .expect_stderr("offset 8192, length 4096");
    }
}

/// The lines about wrong blocks.
fn about_blocks(text: &str) -> Vec<String> {
    let wanted = ["verify failed", "CRC:", "got pattern", "bad pattern"];
    let lines = text.lines().filter(|line| wanted.iter().any(|word| line.contains(word)));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_wrong_block_is_told_in_the_words_of_fio_and_kept() {
    if !fio_is_here("a_wrong_block_is_told_in_the_words_of_fio_and_kept") {
        return;
    }
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path()).env("FATHOM_FIO_VERSION", DEBIANS);
    run(&fathom, &format!("{WRITES} --verify=crc32c")).expect_code(0);
    spoil(&dir);
    let line = format!("{READS} --verify=crc32c --verify_dump=1");
    let ours = run(&fathom, &line).expect_code(1);
    let received = std::fs::read(dir.path().join("F.8192.received")).unwrap();
    assert_eq!(received, std::fs::read(dir.path().join("F")).unwrap()[8192..12288]);
    let about = std::fs::metadata(dir.path().join("F.8192.received")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777, 0o600);
    std::fs::remove_file(dir.path().join("F.8192.received")).unwrap();
    let output = theirs(dir.path(), &line);
    assert_eq!(output.status.code(), Some(1));
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(about_blocks(&ours.stderr), about_blocks(&said), "{said}");
}

#[test]
fn what_is_lost_or_cut_short_fails_the_check() {
    for kept in [None, Some(32 << 10)] {
        for verify in ["crc32c", "pattern --verify_pattern=0xdeadbeef"] {
            let dir = TestDir::new();
            let fathom = Fathom::new().working_in(dir.path());
            let path = dir.path().join("F");
            run(&fathom, &format!("{WRITES} --verify={verify}")).expect_code(0);
            match kept {
                None => std::fs::remove_file(&path).unwrap(),
                Some(bytes) => {
                    std::fs::File::options().write(true).open(&path).unwrap().set_len(bytes).unwrap()
                }
            }
            run(&fathom, &format!("{READS} --verify={verify}"))
                .expect_code(1)
                .expect_stderr(&format!("offset {}, length 4096", kept.unwrap_or(0)));
        }
    }
}

#[test]
fn blocks_of_changing_sizes_are_written_and_checked_to_the_end() {
    for sizes in ["--bsrange=4k-16k", "--bssplit=4k/40:8k/20:16k/40"] {
        for size in [96u64, 100, 1000] {
            let dir = TestDir::new();
            let fathom = Fathom::new().working_in(dir.path());
            let line =
                |rw: &str| format!("--name=w --filename=F --rw={rw} --size={size}k {sizes} --verify=crc32c");
            let written = json(&fathom, &format!("{} --do_verify=0", line("write")));
            assert_eq!(written["jobs"][0]["write"]["io_bytes"], size << 10, "{sizes}");
            run(&fathom, &line("read")).expect_code(0);
            // The last block of all.
            let path = dir.path().join("F");
            let mut bytes = std::fs::read(&path).unwrap();
            let last = bytes.len() - 1;
            bytes[last] ^= 0x5a;
            std::fs::write(&path, bytes).unwrap();
            run(&fathom, &line("read")).expect_code(1).expect_stderr("verify failed");
        }
    }
}

#[test]
fn a_wrong_block_is_told_of_the_job_that_found_it() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, &format!("{WRITES} --verify=md5")).expect_code(0);
    spoil(&dir);
    // The first has the file, too, and checks nothing.
    let line =
        "--name=w --filename=F --rw=write --size=4k --bs=4k --verify=crc32c --do_verify=0 --number_ios=1";
    run(
        &fathom,
        &format!("{line} --verify_interval=512 {READS} --stonewall --offset=8k --size=56k --verify=md5"),
    )
    .expect_code(1)
    .expect_stderr("md5: verify failed")
    .expect_stderr("offset 8192, length 4096");
}

#[test]
fn a_dump_replaces_nothing() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let pattern = "--verify=pattern --verify_pattern=0xdeadbeef";
    run(&fathom, &format!("{WRITES} {pattern}")).expect_code(0);
    spoil(&dir);
    std::fs::write(dir.path().join("F.8192.received"), b"somebody's").unwrap();
    run(&fathom, &format!("{READS} {pattern} --verify_dump=1"))
        .expect_code(1)
        .expect_stderr("bad pattern block offset 808");
    assert_eq!(std::fs::read(dir.path().join("F.8192.received")).unwrap(), b"somebody's");
    let expected = std::fs::read(dir.path().join("F.8192.expected")).unwrap();
    assert_eq!(expected, [0xde, 0xad, 0xbe, 0xef].repeat(1024));
}

#[test]
fn a_backlog_is_read_back_meanwhile() {
    let line = "--name=b --rw=randwrite --size=256k --bs=4k --verify=crc32c --verify_backlog=8 --verify_backlog_batch=4";
    let done = |document: &Value| {
        ["read", "write"].map(|side| document["jobs"][0][side]["total_ios"].as_u64().unwrap())
    };
    let dir = TestDir::new();
    let ours = done(&json(&Fathom::new().working_in(dir.path()), line));
    assert_eq!(ours, [64, 64]);
    if fio_is_here("a_backlog_is_read_back_meanwhile") {
        assert_eq!(ours, done(&their_json(TestDir::new().path(), line)));
    }
}
