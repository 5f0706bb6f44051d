//! Files of a killed run on a file system that keeps no time of birth: the number of a removed file is given to the next one, so a number
//! alone proves nothing. (D2 of the reliability review.)

use crate::measure::workloads::Text;
use fathom_testkit::dir::names_in;
use fathom_testkit::{DeadMount, Fathom, Kind, LoopFs};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

fn old_ext2(test: &str) -> Option<LoopFs> {
    LoopFs::of(Kind::OldExt2, test).mount()
}

/// Kills IOzone while it works on its file; then everything is up to the next run.
fn killed_iozone(fathom: &Fathom) {
    let mut running = fathom.spawn(["iozone", "-s", "128k", "-r", "64k", "-J", "2000"]);
    let file = fathom.work().join("iozone.tmp");
    running.wait_until("the file has data", || fs::metadata(&file).is_ok_and(|about| about.len() > 0));
    running.signal(libc::SIGKILL);
    assert_eq!(running.finish().signal, Some(libc::SIGKILL));
}

fn next_run(fathom: &Fathom) -> String {
    let next = Text::new("next").quick_write(&fathom.dir().subdir("elsewhere")).save(fathom);
    fathom.run(["run", next.to_str().expect("UTF-8"), "--no-store"]).expect_code(0).stderr
}

#[test]
fn d2_a_file_that_got_the_number_of_ours_is_left() {
    let Some(fs) = old_ext2("d2_a_file_that_got_the_number_of_ours_is_left") else { return };
    let fathom = Fathom::new().working_in(fs.path());
    let file = fs.path().join("iozone.tmp");
    killed_iozone(&fathom);
    let number = fs::metadata(&file).expect("left behind").ino();
    fs::remove_file(&file).expect("ours");
    fs::write(&file, "my data").expect("a file of the user");
    assert_eq!(fs::metadata(&file).expect("there").ino(), number, "what this is about");
    let stderr = next_run(&fathom);
    assert_eq!(fs::read_to_string(&file).expect("still there"), "my data");
    assert!(stderr.contains("something else lies there now"), "{stderr}");
}

#[test]
fn d2_what_is_marked_as_ours_goes() {
    let Some(fs) = old_ext2("d2_what_is_marked_as_ours_goes") else { return };
    let fathom = Fathom::new().working_in(fs.path());
    killed_iozone(&fathom);
    let stderr = next_run(&fathom);
    assert!(stderr.contains("removed") && stderr.contains("iozone.tmp"), "{stderr}");
    assert_eq!(names_in(fs.path()), ["lost+found"]);
}

/// As sysbench is used: three commands, and the files lie about between them.
#[test]
fn d2_kept_files_are_ours_in_the_next_command_and_others_of_their_names_are_not() {
    let test = "d2_kept_files_are_ours_in_the_next_command_and_others_of_their_names_are_not";
    let Some(fs) = old_ext2(test) else { return };
    let fathom = Fathom::new().working_in(fs.path());
    let sysbench = |what: &str| {
        let line = format!(
            "sysbench fileio --file-num=2 --file-total-size=1M --file-test-mode=rndrw --events=50 --time=0 {what}"
        );
        fathom.run_line(&line)
    };
    let _ = sysbench("prepare").expect_code(0);
    let _ = sysbench("run").expect_code(0);
    let _ = sysbench("cleanup").expect_code(0);
    assert_eq!(names_in(fs.path()), ["lost+found"]);
    let _ = sysbench("prepare").expect_code(0);
    for name in ["test_file.0", "test_file.1"] {
        fs::remove_file(fs.path().join(name)).expect("there");
    }
    for name in ["test_file.1", "test_file.0"] {
        fs::write(fs.path().join(name), "my data").expect("a file of the user");
    }
    let _ = sysbench("cleanup");
    assert_eq!(names_in(fs.path()), ["lost+found", "test_file.0", "test_file.1"]);
}

/// An image under a mounted file system is not written, however it was named.
#[test]
fn d11_an_image_that_is_mounted_is_not_written() {
    let Some(disk_fs) = LoopFs::ext4("d11_an_image_that_is_mounted_is_not_written").mebibytes(8).mount()
    else {
        return;
    };
    let disk = disk_fs.device().file_name().expect("a name");
    let told = Path::new("/sys/block").join(disk).join("loop/backing_file");
    let image = PathBuf::from(fs::read_to_string(told).expect("the kernel tells").trim_end());
    let fathom = Fathom::new();
    let (allow, name) =
        (format!("--allow-write={}", image.display()), format!("--filename={}", image.display()));
    let words = ["fio", "--name=q", "--rw=write", "--size=1m", &name, &allow];
    let refused = fathom.run(words).expect_code(1);
    assert!(refused.stderr.contains("is the backing file of"), "{refused:?}");
}

#[test]
fn d11_a_kept_file_with_a_second_name_is_not_written() {
    let fathom = Fathom::new();
    let fio = |rw: &str| fathom.run(["fio", "--name=q", rw, "--size=64k"]);
    let _ = fio("--rw=write").expect_code(0);
    let (ours, copy) = (fathom.work().join("q.0.0"), fathom.work().join("copy"));
    fs::hard_link(&ours, &copy).expect("a second name");
    let before = fs::read(&copy).expect("there");
    let refused = fio("--rw=randwrite").expect_code(1);
    assert!(refused.stderr.contains("has a second hard link"), "{refused:?}");
    assert!(fs::read(&copy).expect("there") == before);
    fs::remove_file(&copy).expect("ours");
    let _ = fio("--rw=randwrite").expect_code(0);
}

/// A control group and a trace instance of a process that is gone are removed by whatever command comes next.
#[test]
fn d12_groups_and_trace_instances_of_the_dead_go_with_the_next_command() {
    let test = "d12_groups_and_trace_instances_of_the_dead_go_with_the_next_command";
    if !fathom_testkit::need_root(test) {
        return;
    }
    let left: Vec<_> =
        ["/sys/fs/cgroup/blkio/fathom-999999999", "/sys/kernel/tracing/instances/fathom-999999999-1-0"]
            .map(PathBuf::from)
            .into_iter()
            .filter(|path| fs::create_dir(path).is_ok())
            .collect();
    if left.is_empty() {
        return fathom_testkit::skip(test, "neither a control group nor a trace instance can be made here");
    }
    let _ = Fathom::new().run(["--version"]).expect_code(0);
    assert!(!left.iter().any(|path| path.exists()), "{left:?}");
}

/// D5: the journal of a killed run names a file on a mount whose server is gone.
#[test]
fn d5_a_mount_that_does_not_answer_is_left_and_named() {
    let Some(dead) = DeadMount::mount("d5_a_mount_that_does_not_answer_is_left_and_named") else { return };
    let fathom = Fathom::new();
    let state = fathom.dir().subdir("state/fathom");
    let fact = format!("made 1 2 born:3 {}/iozone.tmp", dead.path().display());
    let kept = format!("made 1 2 changed:3 {}/test_file.0", dead.path().display());
    let text = |fact: &str| format!("fathom-files 2\n{}", fathom_state::lines::sealed(fact));
    fs::write(state.join("files-999999999-1"), text(&fact)).expect("a journal");
    fs::write(state.join("kept"), text(&kept)).expect("the list of kept files");
    for _ in 0..2 {
        let told = next_run(&fathom);
        assert!(
            told.contains(
                "iozone.tmp, left behind by a run that was killed, is on a file system that does not answer"
            ),
            "{told}"
        );
    }
}
