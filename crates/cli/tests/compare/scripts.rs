//! Scripts as sides: with several runs, steps between them that may fail, and files that stay.

use fathom_testkit::Fathom;
use std::fs;

/// A script that reads for a second, does `between`, and reads for another.
fn two_stages(fathom: &Fathom, between: &str) {
    let script = format!(
        "define fileset name=f,path=\".\",size=64k,entries=1,prealloc\n\
         define process name=p,instances=1 {{ thread name=t,memsize=1m,instances=1 {{\n\
         flowop openfile name=o,filesetname=f,fd=1\nflowop read name=r,fd=1,iosize=4k\nflowop closefile name=c,fd=1 }} }}\n\
         create filesets\ncreate processes\nstats clear\nsleep 1\nstats snap\n{between}\nshutdown processes\ncreate processes\nstats clear\nsleep 1\nstats snap\n\
         shutdown processes\nquit\n"
    );
    fs::write(fathom.work().join("two.f"), script).expect("a script");
}

#[test]
fn a_script_that_fails_between_its_runs_is_none_that_was_measured() {
    let fathom = Fathom::new();
    fs::write(fathom.work().join("x.out"), "somebody's").expect("a file");
    two_stages(&fathom, "stats dump \"x.out\"");
    let alone = fathom.run(["run", "two.f"]).expect_code(1);
    let _ = alone.expect_stderr("x.out").expect_stderr("was not made by fathom");
    let words = ["compare", "--run", "--calibrate", "--max-quads", "1", "--warm-up", "1", "--gate"];
    let words = [&words[..], &["--", "filebench", "-f", "two.f"]].concat();
    let _ = fathom.run(words).expect_code(3).expect_stderr("the script could not be run");
    assert_eq!(fs::read_to_string(fathom.work().join("x.out")).expect("there"), "somebody's");
}

#[test]
fn the_plan_tells_what_stays_and_every_value_that_differs() {
    let fathom = Fathom::new();
    two_stages(&fathom, "");
    let plan = ["compare", "--run", "--plan", "--calibrate"];
    let words = [&plan[..], &["--", "filebench", "-f", "two.f"]].concat();
    let _ = fathom.run(words).expect_code(0).expect_stdout("unless it says \"kept\" above");
    let workload = |name: &str, record: &str| {
        let text = format!(
            "name = \"w\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"x\"] }}\nsize = {{ fixed = \"64KiB\" }}\n\
             [[phase]]\nname = \"p\"\nbefore = [{{ prepare = \"f\" }}]\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
             [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\nrecord = {{ fixed = \"{record}\" }}\n"
        );
        fs::write(fathom.work().join(name), text).expect("a workload");
    };
    workload("old.toml", "4KiB");
    workload("new.toml", "8KiB");
    let told = fathom.run(["compare", "--run", "--plan", "old.toml", "new.toml"]).expect_code(0);
    let _ = told
        .expect_stdout("the same files and steps as A, but for")
        .expect_stdout("record.fixed: 8KiB, with A 4KiB")
        .expect_stdout("files that runs make are removed, others");
}

#[test]
fn files_outside_of_the_directories_are_refused() {
    let fathom = Fathom::new();
    for name in ["one", "two"] {
        fs::create_dir(fathom.work().join(name)).expect("a directory");
    }
    let outside = fathom.dir().path().join("shared").display().to_string();
    for path in [outside.as_str(), "../shared", "sub/../../shared"] {
        let text = format!(
            "name = \"w\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"x\", \"{path}\"] }}\nsize = {{ fixed = \"64KiB\" }}\n\
             [[phase]]\nname = \"p\"\nbefore = [{{ prepare = \"f\" }}]\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
             [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\npick = \"all\"\nrecord = {{ fixed = \"4KiB\" }}\n"
        );
        fs::write(fathom.work().join("w.toml"), text).expect("a workload");
        let refused = fathom.run(["compare", "--run", "--plan", "--in", "one,two", "w.toml"]).expect_code(2);
        let _ = refused.expect_stderr("would not be in the directory that --in names").expect_stderr(path);
    }
}
