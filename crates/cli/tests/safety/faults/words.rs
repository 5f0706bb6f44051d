//! What is said names what failed. (D21 of the reliability review.)

use crate::measure::workloads::{Text, lines_with};
use fathom_testkit::{Call, Fathom, Fault, FaultFs};

/// The only error of a run of such a workload.
#[track_caller]
fn error_of(fs: &FaultFs, text: &Text, call: Call, fault: Fault) -> String {
    let fathom = Fathom::new();
    let line = text.save(&fathom);
    fs.fail(call, fault);
    let outcome = fathom.run(["run", line.to_str().expect("UTF-8")]);
    fs.heal();
    let outcome = outcome.expect_code(3);
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "{}", outcome.stderr);
    errors[0].to_owned()
}

#[test]
fn d21_advice_for_writes_is_given_for_writes() {
    let Some(fs) = FaultFs::mount("d21_advice_for_writes_is_given_for_writes") else { return };
    let stream = "record = { fixed = \"64KiB\" }";
    let before = "before = [{ recreate = \"data\" }]";
    let text = Text::new("full").file("data", &fs.path().join("data"), "256KiB", "");
    let text = text.phase("write", "data", "write", before, stream).phase("read", "data", "read", "", stream);
    for errno in [libc::ENOSPC, libc::EDQUOT, libc::EROFS] {
        let read = error_of(&fs, &text, Call::Read, Fault::Errno(errno));
        assert!(read.contains("cannot read") && read.contains("the file system is at fault"), "{read}");
        for advice in ["smaller files", "quota is used up", "mounted read-only"] {
            assert!(!read.contains(advice), "{read}");
        }
    }
    let write = error_of(&fs, &text, Call::Write, Fault::Errno(libc::ENOSPC));
    assert!(
        write.contains("cannot write") && write.contains("free space or choose smaller files"),
        "{write}"
    );
}

#[test]
fn d21_a_directory_that_cannot_be_looked_at_is_not_said_to_exist() {
    let name = "d21_a_directory_that_cannot_be_looked_at_is_not_said_to_exist";
    let Some(fs) = FaultFs::mount(name) else { return };
    let fathom = Fathom::new();
    let above = fs.path().join("above");
    std::fs::create_dir(&above).expect("a directory");
    let script = format!(
        "define fileset name=fs,path={}/tree,entries=2,dirwidth=2,size=4k,prealloc=100\n\
         define process name=p {{ thread name=t,memsize=1m {{\n\
         flowop statfile name=stat,filesetname=fs\nflowop finishoncount name=end,value=4\n}} }}\nrun 1\n",
        above.display()
    );
    std::fs::write(fathom.work().join("script.f"), script).expect("a script");
    for call in [Call::Getattr, Call::Lookup] {
        fs.fail(call, Fault::Errno(libc::EIO));
        let outcome = fathom.run_line("filebench -f script.f");
        fs.heal();
        let error = lines_with(&outcome.stderr, "error:").join(" ");
        assert!(error.contains("Input/output error") && !error.contains("File exists"), "{outcome:?}");
    }
}

#[test]
fn d21_fio_does_not_take_an_error_for_a_directory_that_is_not_there() {
    let name = "d21_fio_does_not_take_an_error_for_a_directory_that_is_not_there";
    let Some(fs) = FaultFs::mount(name) else { return };
    let fathom = Fathom::new();
    fs.fail(Call::Getattr, Fault::Errno(libc::EIO));
    let line = format!("fio --name=j --directory={} --size=64k --rw=read", fs.path().display());
    let outcome = fathom.run_line(&line).expect_code(1);
    fs.heal();
    assert!(outcome.stderr.contains("Input/output error"), "{outcome:?}");
    assert!(!outcome.stderr.contains("make it before"), "{outcome:?}");
}
