//! Files that fathom did not make are used, but not removed, truncated or written without permission.

use crate::dropin_filebench::script::{READER, ops_of, rows, run, run_with};
use fathom_testkit::Fathom;
use std::fs;

const ONE_FILE: &str = "define file name=big,path=$DIR,ATTRIBUTES\n\
    define process name=proc { thread name=thr { flowop FLOWOP name=io,filename=big,iosize=4k } }\nrun 1\n";

fn one_file(attributes: &str, flowop: &str) -> String {
    ONE_FILE.replace("ATTRIBUTES", attributes).replace("FLOWOP", flowop)
}

#[test]
fn a_plain_file_is_read_in_place_and_left() {
    let fathom = Fathom::new();
    let path = fathom.work().join("big");
    let data: Vec<u8> = (0..200_000u32).map(|n| n as u8).collect();
    fs::write(&path, &data).unwrap();
    for attributes in ["reuse", "readonly", "trusttree,size=64k"] {
        let outcome = run(&fathom, &one_file(attributes, "read")).expect_code(0);
        assert!(ops_of(&rows(&outcome.stdout), "io") > 0, "{}", outcome.stdout);
    }
    assert_eq!(fs::read(&path).unwrap(), data);
    let refused = run(&fathom, &one_file("prealloc", "read")).expect_code(2);
    assert!(
        refused.stderr.contains("would destroy it") && refused.stderr.contains("--replace"),
        "{}",
        refused.stderr
    );
    assert_eq!(fs::read(&path).unwrap(), data);
}

#[test]
fn a_foreign_tree_is_refused_by_its_path_before_anything_happens() {
    let fathom = Fathom::new();
    fs::create_dir(fathom.work().join("fs")).unwrap();
    fs::write(fathom.work().join("fs/letter.txt"), "dear").unwrap();
    let text = format!("system \"touch $DIR/touched\"\n{READER}run 1\n");
    let refused = run(&fathom, &text).expect_code(1);
    let root = fathom.work().join("fs").display().to_string();
    assert!(refused.stderr.contains(&root) && refused.stderr.contains("--replace"), "{}", refused.stderr);
    assert!(!fathom.work().join("touched").exists());
    assert_eq!(fs::read_to_string(fathom.work().join("fs/letter.txt")).unwrap(), "dear");
    // If named, it may be removed, but only its tree structure: a letter is not part of it.
    let named = run_with(&fathom, &text, &format!("--replace {root}")).expect_code(1);
    assert!(named.stderr.contains("letter.txt"), "{}", named.stderr);
    assert_eq!(fs::read_to_string(fathom.work().join("fs/letter.txt")).unwrap(), "dear");
}

#[test]
fn what_was_reused_is_not_written_and_that_is_told_first() {
    let fathom = Fathom::new();
    let path = fathom.work().join("big");
    fs::write(&path, vec![7; 100_000]).unwrap();
    let text = format!("system \"touch $DIR/touched\"\n{}", one_file("reuse", "write"));
    let refused = run(&fathom, &text).expect_code(1);
    assert!(refused.stderr.contains("a flowop writes to it"), "{}", refused.stderr);
    assert!(!fathom.work().join("touched").exists());
    assert_eq!(fs::read(&path).unwrap(), vec![7; 100_000]);
    run_with(&fathom, &text, &format!("--replace {}", path.display())).expect_code(0);
    assert_ne!(fs::read(&path).unwrap(), vec![7; 100_000]);
}

#[test]
fn our_own_trees_stay_and_are_made_anew() {
    let fathom = Fathom::new();
    run(&fathom, &format!("{READER}run 1\n")).expect_code(0);
    assert!(fathom.work().join("fs/00000001").is_dir());
    let again = run(&fathom, &format!("{READER}run 1\n")).expect_code(0);
    assert!(again.stdout.contains("Removing fs tree"), "{}", again.stdout);
    let reused =
        run(&fathom, &format!("{}run 1\n", READER.replace("size=16k", "size=16k,reuse"))).expect_code(0);
    assert!(reused.stdout.contains("Reusing existing fs tree"), "{}", reused.stdout);
}

#[test]
fn a_dump_overwrites_no_file_of_others() {
    let fathom = Fathom::new();
    fs::write(fathom.work().join("out.txt"), "mine").unwrap();
    let text = |name: &str| {
        format!(
            "{READER}create filesets\ncreate processes\nstats clear\nsleep 1\nstats snap\nstats dump \"{name}\"\nshutdown processes\nquit\n"
        )
    };
    let refused = run_with(&fathom, &text("out.txt"), "--wml 1.4").expect_code(1);
    assert!(refused.stderr.contains("was not made by fathom"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(fathom.work().join("out.txt")).unwrap(), "mine");
    for _ in 0..2 {
        run_with(&fathom, &text("own.txt"), "--wml 1.4").expect_code(0);
        let dump = fs::read_to_string(fathom.work().join("own.txt")).unwrap();
        assert!(dump.starts_with("Flowop totals:\n") && dump.contains("uscpu/op"), "{dump}");
    }
}

#[test]
fn what_is_no_text_is_no_script() {
    let fathom = Fathom::new();
    fs::write(fathom.work().join("program.f"), b"\x7fELF\0\0\n\x01{\n").unwrap();
    let outcome = fathom.run(["filebench", "-f", "program.f"]).expect_code(1);
    assert_eq!(outcome.stderr, "program.f is not text; a script of Filebench is expected\n");
}
