//! `fathom iso` as a user sees it: a listing, a file, volume information, a check with its exit code, an extracted
//! tree; and nothing in an image makes it write outside the given directory.

use fathom_testkit::iso::hostile::{self, GOOD};
use fathom_testkit::iso::{Builder, Spec, susp};
use fathom_testkit::{Fathom, dir::names_in, skip, without_call};
use rustix::fs::CWD;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

fn named(name: &str, mode: u32, data: &[u8]) -> Spec {
    let susp = vec![susp::px(mode, 1, 0, 0, None), susp::nm(0, name.as_bytes())];
    Spec { data: data.to_vec(), susp, date: [107, 2, 28, 12, 34, 56, 0], ..Spec::default() }
}

/// A program with "disc.iso" in its working directory.
fn with_image() -> Fathom {
    let mut link = named("link", 0o120_777, b"");
    link.susp.push(susp::sl(0, &[(0, b"docs"), (0, b"README")]));
    let built = Builder::new()
        .rock_ridge("RRIP_1991A")
        .dir("docs", named("docs", 0o040_755, b""))
        .add("docs/readme", named("README", 0o100_640, b"read me\n"))
        .add("run", named("run", 0o104_755, b"#!/bin/sh\n"))
        .add("link", link)
        .build();
    let fathom = Fathom::new();
    fs::write(fathom.work().join("disc.iso"), built.bytes).unwrap();
    fathom
}

#[test]
fn a_listing_a_file_and_the_volume() {
    let fathom = with_image();
    let listed = fathom.run(["iso", "ls", "disc.iso"]).expect_code(0);
    assert_eq!(listed.stdout, "docs\nlink\nrun\n");
    let long = fathom.run(["iso", "ls", "-lR", "disc.iso"]).expect_code(0).stdout;
    assert!(
        long.contains("-rw-r-----   1      0      0            8 2007-02-28T12:34:56Z docs/README\n"),
        "{long}"
    );
    assert!(long.contains(" link -> docs/README\n") && long.contains("-rwsr-xr-x"), "{long}");
    let content = fathom.run(["iso", "cat", "disc.iso", "/docs/README", "run"]).expect_code(0);
    assert_eq!(content.stdout, "read me\n#!/bin/sh\n");
    let volume = fathom.run(["iso", "stat", "--json", "disc.iso"]).expect_code(0).stdout;
    let volume: serde_json::Value = serde_json::from_str(&volume).unwrap();
    assert_eq!((&volume["volume_id"], &volume["tree"]), (&"FATHOM".into(), &"RockRidge".into()));
    let file = fathom.run(["iso", "stat", "disc.iso", "docs/README"]).expect_code(0).stdout;
    assert!(file.contains("mode                     -rw-r-----\n"), "{file}");
    let plain = fathom.run(["iso", "ls", "--namespace", "plain", "disc.iso", "/docs"]).expect_code(0);
    assert_eq!(plain.stdout, "readme\n");
}

#[test]
fn what_is_not_there_is_said_in_a_sentence() {
    let fathom = with_image();
    fathom.run(["iso", "cat", "disc.iso", "nothing"]).expect_code(2).expect_stderr("there is no nothing");
    fathom.run(["iso", "ls", "absent.iso"]).expect_code(2).expect_stderr("cannot be opened");
    for session in ["0", "sector:18446744073709551615", "sector:4294967296"] {
        let outcome = fathom.run(["iso", "ls", "--session", session, "disc.iso"]);
        outcome.expect_code(2).expect_stderr("is no session");
    }
    let far = ["iso", "ls", "--session", "sector:4294967295", "disc.iso"];
    fathom.run(far).expect_code(2).expect_stderr("neither an ISO 9660 nor");
    fathom
        .run(["iso", "ls", "--namespace", "joliet", "disc.iso"])
        .expect_code(2)
        .expect_stderr("Joliet tree");
    fs::write(fathom.work().join("text"), b"no image").unwrap();
    fathom.run(["iso", "check", "text"]).expect_code(2).expect_stderr("neither an ISO 9660 nor");
}

#[test]
fn a_directory_is_no_image() {
    let fathom = with_image();
    for command in ["ls", "check"] {
        let outcome = fathom.run(["iso", command, "."]).expect_code(2);
        assert_eq!(outcome.stderr, "error: . is a directory; an image must be a file or a block device\n");
    }
}

#[test]
fn a_check_tells_by_its_exit_code() {
    let fathom = with_image();
    let clean = fathom.run(["iso", "check", "disc.iso"]).expect_code(0);
    assert_eq!(clean.stdout, "3 files, 2 directories, 18 bytes of content: nothing wrong\n");
    for case in hostile::all().into_iter().filter(|case| matches!(case.id, "H5" | "H8" | "H10")) {
        fs::write(fathom.work().join("bad.iso"), case.bytes()).unwrap();
        let found = fathom.run(["iso", "check", "bad.iso"]).expect_code(1).stdout;
        assert!(
            found.contains(&format!("[{}]", if case.id == "H5" { "H4" } else { case.id })),
            "{}: {found}",
            case.name
        );
        let json = fathom.run(["iso", "check", "--json", "bad.iso"]).expect_code(1).stdout;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(json["findings"][0]["block"].as_u64().is_some_and(|block| block > 0), "{json}");
    }
}

#[test]
fn a_tree_is_unpacked_as_it_is() {
    let fathom = with_image();
    fathom
        .run(["iso", "extract", "disc.iso", "out"])
        .expect_code(0)
        .expect_stderr("3 files in 2 directories");
    let out = fathom.work().join("out");
    assert_eq!(names_in(&out), ["docs", "link", "run"]);
    assert_eq!(fs::read(out.join("link")).unwrap(), b"read me\n");
    let readme = fs::metadata(out.join("docs/README")).unwrap();
    assert_eq!((readme.permissions().mode() & 0o7777, readme.mtime()), (0o640, 1_172_666_096));
    let run = fs::metadata(out.join("run")).unwrap();
    assert_eq!(run.permissions().mode() & 0o7777, 0o755, "an image lends nobody's rights");
    // An existing directory belongs to the user.
    fathom.run(["iso", "extract", "disc.iso", "out"]).expect_code(2).expect_stderr("must not exist");
    fathom.run(["iso", "extract", "disc.iso", "part", "--from", "/docs"]).expect_code(0);
    assert_eq!(names_in(&fathom.work().join("part")), ["README"]);
}

/// Links out of the directory, directories of the same names as links, and names with slashes.
#[test]
fn nothing_is_written_outside_the_directory() {
    let mut link = named("docs", 0o120_777, b"");
    link.susp.push(susp::sl(0, &[(4, b""), (0, b"victim")]));
    let built = Builder::new()
        .rock_ridge("RRIP_1991A")
        .add("a_link", link)
        .dir("docs", named("docs", 0o040_755, b""))
        .add("docs/evil", named("evil", 0o100_644, b"evil"))
        .add("slash", named("../victim/evil", 0o100_644, b"evil"))
        .build();
    let fathom = Fathom::new();
    let victim = fathom.work().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(fathom.work().join("bad.iso"), built.bytes).unwrap();
    fathom.run(["iso", "extract", "bad.iso", "out"]).expect_code(0);
    assert_eq!(names_in(&victim), [""; 0]);
    assert_eq!(names_in(&fathom.work().join("out")), ["..%2Fvictim%2Fevil", "docs", "docs%1"]);
}

/// Another user repeatedly replaces the new directory with a link, as soon as it exists.
#[test]
fn a_link_in_place_of_the_new_directory_is_not_followed() {
    let fathom = with_image();
    let (out, link, theirs) =
        (fathom.work().join("out"), fathom.work().join("away"), fathom.dir().subdir("theirs"));
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o700)).unwrap();
    let before = fs::metadata(&theirs).unwrap();
    let mut all_exchanged = 0;
    for _ in 0..20 {
        symlink(&theirs, &link).unwrap();
        let ended = AtomicBool::new(false);
        let (outcome, exchanged) = std::thread::scope(|scope| {
            let exchanging = scope.spawn(|| {
                let mut exchanged = 0;
                while !ended.load(Relaxed) {
                    let how = rustix::fs::RenameFlags::EXCHANGE;
                    let done = rustix::fs::renameat_with(CWD, &link, CWD, &out, how);
                    exchanged += u32::from(done.is_ok());
                }
                exchanged
            });
            let outcome = fathom.run(["iso", "extract", "disc.iso", "out"]);
            ended.store(true, Relaxed);
            (outcome, exchanging.join().unwrap())
        });
        all_exchanged += exchanged;
        assert_eq!(names_in(&theirs), [""; 0], "{outcome:?}");
        let after = fs::metadata(&theirs).unwrap();
        assert_eq!((after.mode(), after.mtime()), (before.mode(), before.mtime()), "{outcome:?}");
        let directory = if out.is_symlink() { &link } else { &out };
        let unpacked = outcome.code == Some(0) || outcome.stderr.contains("in the one that was made");
        match outcome.code {
            _ if unpacked => assert_eq!(names_in(directory), ["docs", "link", "run"], "{outcome:?}"),
            code => assert!(code.is_some() && names_in(directory).is_empty(), "{outcome:?}"),
        }
        fs::remove_dir_all(directory).unwrap();
        fs::remove_file(if directory == &out { &link } else { &out }).unwrap();
    }
    assert!(all_exchanged > 0, "nothing was tried");
}

#[test]
fn what_cannot_be_read_is_left_out_and_said() {
    let fathom = Fathom::new();
    let case = hostile::all().into_iter().find(|case| case.name == "file longer than the image").unwrap();
    fs::write(fathom.work().join("bad.iso"), case.bytes()).unwrap();
    let outcome = fathom.run(["iso", "extract", "bad.iso", "out"]).expect_code(3);
    assert!(
        outcome.stderr.contains("d/bad: left out: ") && outcome.stderr.contains("beyond the end"),
        "{outcome:?}"
    );
    assert_eq!(fs::read(fathom.work().join("out/good")).unwrap(), GOOD);
    assert_eq!(names_in(&fathom.work().join("out/d")), [""; 0]);
}

/// Inode numbers are the image's: two files of one serial number, or of one first block, are still two.
#[test]
fn files_of_one_number_have_their_own_bytes() {
    let file = |name: &str, serial: u32, data: &[u8]| {
        let susp = vec![susp::px(0o100_644, 2, 0, 0, Some(serial)), susp::nm(0, name.as_bytes())];
        Spec { data: data.to_vec(), susp, ..Spec::default() }
    };
    let long = vec![b'l'; 4000];
    // What is in the root has numbers that tell files apart; they are used in the directory, too.
    let serials = Builder::new()
        .rock_ridge("IEEE_1282")
        .add("root", file("root", 5, b"root"))
        .dir("d", Spec { susp: vec![susp::nm(0, b"d")], ..Spec::default() })
        .add("d/one", file("one", 77, b"one"))
        .add("d/two", file("two", 77, &long))
        .add("d/link", Spec { same_as: Some("d/two".into()), ..file("link", 77, b"") })
        .add("d/three", Spec { same_as: Some("d/one".into()), ..file("three", 77, b"") });
    let mut blocks = Builder::new().file("short", &long[..20]).file("whole", &long).build();
    // The short file is the beginning of the whole one.
    let block = u32::try_from(blocks.data["whole"] / 2048).unwrap();
    blocks.patch_both32(blocks.record("short") + 2, block);
    let fathom = Fathom::new();
    fs::write(fathom.work().join("serials.iso"), serials.build().bytes).unwrap();
    fs::write(fathom.work().join("blocks.iso"), blocks.bytes).unwrap();
    fathom.run(["iso", "extract", "serials.iso", "serials"]).expect_code(0);
    let read = |path: &str| fs::read(fathom.work().join(path)).unwrap();
    let inode = |path: &str| fs::metadata(fathom.work().join(path)).unwrap().ino();
    assert_eq!((read("serials/d/one"), read("serials/d/two")), (b"one".to_vec(), long.clone()));
    assert_eq!((read("serials/d/three"), read("serials/d/link")), (b"one".to_vec(), long.clone()));
    assert_eq!(inode("serials/d/one"), inode("serials/d/three"), "links stay links");
    fathom.run(["iso", "extract", "blocks.iso", "blocks"]).expect_code(0);
    assert_eq!((read("blocks/short"), read("blocks/whole")), (long[..20].to_vec(), long));
}

/// Paths of 4 KiB and longer, names of more than 255 bytes: their neighbours are extracted, and directories get their
/// modes.
#[test]
fn what_the_host_cannot_take_is_left_out_and_said() {
    const WITH_ALL: &str = ": left out: with all that is below it: File name too long";
    let mut builder = Builder::new();
    for level in 1..=45 {
        let spec = Spec { name: Some(vec![b'D'; 100]), ..Spec::default() };
        builder = builder.dir(&vec!["d"; level].join("/"), spec);
    }
    let deep = builder.file("zzz.txt", b"beside").build();
    let mut named = Builder::new().rock_ridge("RRIP_1991A");
    for (name, letter) in [("a", b'a'), ("b", b'b')] {
        let susp = vec![susp::nm(1, &[letter; 200]), susp::nm(0, &[letter; 200])];
        let spec = Spec { susp, hops: 1, ..Spec::default() };
        named = if name == "a" { named.dir(name, spec).file("a/below", b"") } else { named.add(name, spec) };
    }
    let named = named.file("good", GOOD).build();
    let fathom = Fathom::new();
    fs::write(fathom.work().join("deep.iso"), deep.bytes).unwrap();
    fs::write(fathom.work().join("named.iso"), named.bytes).unwrap();
    let outcome = fathom.run(["iso", "extract", "deep.iso", "deep"]).expect_code(3);
    // One sentence, not one for each of the levels below.
    assert_eq!(outcome.stderr.matches(WITH_ALL).count(), 1, "{outcome:?}");
    assert_eq!(outcome.stderr.matches("left out").count(), 1, "{outcome:?}");
    assert_eq!(fs::read(fathom.work().join("deep/zzz.txt")).unwrap(), b"beside");
    let directory = fathom.work().join("deep").join("d".repeat(100));
    assert_eq!(fs::metadata(directory).unwrap().permissions().mode() & 0o777, 0o755);
    let outcome = fathom.run(["iso", "extract", "named.iso", "named"]).expect_code(3);
    assert_eq!(outcome.stderr.matches(WITH_ALL).count(), 1, "{outcome:?}");
    assert_eq!(outcome.stderr.matches("b: left out: File name too long").count(), 1, "{outcome:?}");
    assert!(!outcome.stderr.contains("BELOW"), "{outcome:?}");
    assert_eq!(names_in(&fathom.work().join("named")), ["GOOD"]);
}

/// The same bytes under every policy, also with O_DIRECT; the requests to the device are reported.
#[test]
fn contents_are_read_under_a_policy() {
    let data: Vec<u8> = (0..300_000_u32).map(|n| (n / 3 % 251) as u8).collect();
    let fathom = Fathom::new();
    let image = Builder::new().file("big", &data).build().bytes;
    fs::write(fathom.work().join("disc.iso"), image).unwrap();
    let counted = |options: &[&str]| {
        let args = ["iso", "cat", "--counters"].iter().chain(options).chain(&["disc.iso", "big"]);
        let outcome = fathom.run(args).expect_code(0);
        assert!(outcome.stdout.as_bytes() == String::from_utf8_lossy(&data).as_bytes(), "{options:?}");
        serde_json::from_str::<serde_json::Value>(&outcome.stderr).unwrap()
    };
    let baseline = counted(&["--policy", "baseline"]);
    assert_eq!(baseline["requests"], 147, "a request for each block");
    let seed = counted(&["--policy", "seed"]);
    assert!(seed["requests"].as_u64().unwrap() < 80 && seed["scheduler"] == "clook-hsfs", "{seed}");
    let modern = counted(&[]);
    assert!(modern["requests"].as_u64().unwrap() <= 10, "{modern}");
    assert_eq!(counted(&["--policy", "seed", "--coalesce", "off", "--chunk", "block"])["requests_joined"], 0);
    if !fathom.dir().in_memory() {
        assert_eq!(counted(&["--direct", "--policy", "baseline"])["requests"], 147);
    }
    fathom
        .run(["iso", "cat", "--read-ahead", "psychic", "disc.iso", "big"])
        .expect_code(2)
        .expect_stderr("no read-ahead \"psychic\"");
    fathom.run(["iso", "extract", "--policy", "seed", "disc.iso", "out"]).expect_code(0);
    assert!(fs::read(fathom.work().join("out/big")).unwrap() == data);
}

/// The same through a ring as by calls, and told; metadata and contents, with a policy and without.
#[test]
fn an_image_is_read_through_a_ring() {
    let data: Vec<u8> = (0..300_000_u32).map(|n| (n / 3 % 251) as u8).collect();
    let fathom = with_image();
    fs::write(fathom.work().join("big.iso"), Builder::new().file("big", &data).build().bytes).unwrap();
    let tried = fathom.run(["iso", "ls", "-lR", "--backend", "io_uring", "disc.iso"]);
    if tried.code == Some(2) {
        return skip("an_image_is_read_through_a_ring", &tried.stderr);
    }
    let both = |words: &[&str]| {
        [&[][..], &["--backend", "io_uring"], &["--backend", "pread"]].map(|backend| {
            let outcome = fathom.run(words.iter().chain(backend)).expect_code(0);
            (outcome.stdout, outcome.stderr)
        })
    };
    for words in [
        &["iso", "ls", "-lR", "disc.iso"][..],
        &["iso", "stat", "--json", "disc.iso"],
        &["iso", "check", "disc.iso"],
        &["iso", "cat", "disc.iso", "docs/README"],
        &["iso", "cat", "big.iso", "big"],
    ] {
        let [unsaid, ring, pread] = both(words);
        assert!(unsaid == ring && ring == pread, "{words:?}");
    }
    fathom.run(["iso", "extract", "--backend", "io_uring", "big.iso", "out"]).expect_code(0);
    assert!(fs::read(fathom.work().join("out/big")).unwrap() == data);
    let counted = |options: &[&str]| {
        let args = ["iso", "cat", "--counters"].iter().chain(options).chain(&["big.iso", "big"]);
        let outcome = fathom.run(args).expect_code(0);
        assert!(outcome.stdout.as_bytes() == String::from_utf8_lossy(&data).as_bytes(), "{options:?}");
        serde_json::from_str::<serde_json::Value>(&outcome.stderr).unwrap()
    };
    let plain = counted(&["--policy", "baseline"]);
    assert_eq!(plain["backend"], serde_json::json!({"name": "pread", "direct": false, "ring": null}));
    let baseline = counted(&["--policy", "baseline", "--backend", "io_uring"]);
    let ring = &baseline["backend"]["ring"];
    assert_eq!((&baseline["requests"], &ring["depth"]), (&147.into(), &32.into()));
    assert_eq!((&ring["buffer_bytes"], &ring["reads_again"]), (&131_072.into(), &0.into()), "{baseline}");
    assert_eq!(ring["in_flight_most"], 2, "the two blocks of a page go together: {baseline}");
    let deep = counted(&["--policy", "seed", "--backend", "io_uring", "--depth", "4"]);
    assert_eq!(deep["backend"]["ring"]["depth"], 4);
    if !fathom.dir().in_memory() {
        let direct = counted(&["--direct", "--policy", "baseline", "--backend", "io_uring"]);
        assert_eq!((&direct["requests"], &direct["backend"]["direct"]), (&147.into(), &true.into()));
    }
    fathom
        .run(["iso", "ls", "--backend", "uring", "disc.iso"])
        .expect_code(2)
        .expect_stderr("possible values: pread, io_uring");
}

/// Where rings are forbidden or unsupported, choosing one is an error of every command.
#[test]
fn no_ring_is_an_error_of_every_command() {
    let fathom = with_image();
    for (errno, said) in
        [(libc::EPERM, "--backend io_uring: io_uring is "), (libc::ENOSYS, "this kernel has no io_uring")]
    {
        without_call("no_ring_is_an_error_of_every_command", libc::SYS_io_uring_setup, errno, || {
            for words in [
                &["ls", "disc.iso"][..],
                &["stat", "disc.iso"],
                &["cat", "disc.iso", "run"],
                &["check", "disc.iso"],
                &["extract", "disc.iso", "out"],
                &["compare", "--no-loop", "disc.iso"],
            ] {
                let words = [&["iso"][..], words, &["--backend", "io_uring"]].concat();
                fathom.run(&words).expect_code(2).expect_stderr(said);
            }
        });
    }
    assert!(!fathom.work().join("out").exists());
}
