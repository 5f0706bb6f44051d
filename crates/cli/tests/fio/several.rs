//! Jobs with several files, beside fio itself: which files are left, how large, and how much of each was read or written.

use crate::fio::support::{fio_is_here, json, run, theirs};
use fathom_testkit::{Fathom, TestDir};
use std::path::Path;

/// Names and sizes of the files in a directory and below.
fn left(root: &Path, below: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join(below)).unwrap().flatten() {
        let name = below.join(entry.file_name());
        if entry.path().is_dir() {
            found.extend(left(root, &name));
        } else if entry.path().extension().is_none_or(|e| e != "state") {
            found.push(format!("{} {}", name.display(), entry.metadata().unwrap().len()));
        }
    }
    found.sort();
    found
}

#[test]
fn the_same_files_are_left() {
    if !fio_is_here("the_same_files_are_left") {
        return;
    }
    for line in [
        // Cases 11 and 12 of the specification.
        "--directory=q1:q2 --numjobs=3 --nrfiles=2 --size=64k --rw=write --name=nm",
        "--filename=a:b --size=64k --numjobs=2 --rw=write --name=shared",
        "--name=a --nrfiles=3 --size=48k --bs=4k --rw=randwrite --file_service_type=random:2",
        "--name=a --nrfiles=3 --size=48k --offset=4k --bs=4k --rw=write",
        "--name=a --nrfiles=3 --filesize=16k --size=24k --bs=4k --rw=write",
        "--name=a --nrfiles=4 --size=48k --bs=4k --rw=write --openfiles=2 --fsync=4",
        "--name=a --nrfiles=2 --size=32k --filename_format=d/$jobname-$jobnum/$filenum --rw=write",
    ] {
        let (ours, other) = (TestDir::new(), TestDir::new());
        for name in ["q1", "q2"] {
            std::fs::create_dir(ours.path().join(name)).unwrap();
            std::fs::create_dir(other.path().join(name)).unwrap();
        }
        assert!(theirs(other.path(), line).status.success(), "{line}");
        run(&Fathom::new().working_in(ours.path()), line).expect_code(0);
        assert_eq!(left(ours.path(), Path::new("")), left(other.path(), Path::new("")), "{line}");
    }
}

#[test]
fn every_engine_works_on_several_files() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for engine in [
        "psync",
        "pvsync2",
        "mmap",
        "null",
        "libaio --iodepth=4",
        "io_uring --iodepth=4",
        "posixaio --iodepth=4",
        "splice",
    ] {
        for rw in ["randwrite", "randrw", "read"] {
            let line = format!("--name=a --nrfiles=3 --size=96k --bs=4k --rw={rw} --ioengine={engine}");
            let document = json(&fathom, &line);
            let job = &document["jobs"][0];
            let ios =
                job["read"]["total_ios"].as_u64().unwrap() + job["write"]["total_ios"].as_u64().unwrap();
            assert_eq!((ios, job["error"].as_u64()), (24, Some(0)), "{line}");
        }
    }
}

#[test]
fn every_block_of_every_file_is_written() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, "--name=a --nrfiles=3 --size=96k --bs=4k --rw=randwrite --buffer_pattern=0x5a --iodepth=8 --ioengine=io_uring")
        .expect_code(0);
    for file in 0..3 {
        let bytes = std::fs::read(dir.path().join(format!("a.0.{file}"))).unwrap();
        assert!(bytes == vec![0x5a; 32768], "file {file}");
    }
}

#[test]
fn files_of_a_directory_are_read_each_to_its_end() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    std::fs::create_dir_all(dir.path().join("d/below")).unwrap();
    std::fs::write(dir.path().join("d/x"), vec![1u8; 8192]).unwrap();
    std::fs::write(dir.path().join("d/below/y"), vec![2u8; 12288]).unwrap();
    let read = |more: &str| {
        json(&fathom, &format!("--name=a --opendir=d --bs=4k --rw=read {more}"))["jobs"][0]["read"]["io_bytes"]
            .as_u64()
    };
    assert_eq!(read(""), Some(20480));
    assert_eq!(read("--size=50%"), Some(4096 + 4096));
    assert_eq!(read("--nrfiles=1"), Some(12288));
    assert_eq!(read("--size=8k"), Some(8192));
    // Files of other users are not written.
    run(&fathom, "--name=a --opendir=d --bs=4k --rw=write").expect_code(1);
}
