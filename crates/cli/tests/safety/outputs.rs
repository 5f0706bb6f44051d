//! Outputs are complete or absent, never appended to another user's file, and a failed write is no success. (D7, D8, D9
//! and D14 of the reliability review.)

use crate::measure::workloads::Text;
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, LoopFs, TmpFs, need_root};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Stdio;

/// A run in the store.
fn measured() -> Fathom {
    let fathom = Fathom::new();
    let workload = Text::new("w").quick_write(fathom.work()).save(&fathom);
    let _ = fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(0);
    fathom
}

#[test]
fn d7_a_full_disk_behind_stdout_is_no_success() {
    let fathom = measured();
    for line in ["list", "show", "export last", "iozone -s 64k -r 4k -i 0"] {
        let full = File::options().write(true).open("/dev/full").expect("every Linux has it");
        let mut command = fathom.command(line.split(' '));
        let output = command.stdout(full).stderr(Stdio::piped()).output().expect("started");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{line}: {stderr}");
        let told = stderr.matches("standard output could not be written to its end").count();
        assert_eq!(told, 1, "{line}: {stderr}");
    }
}

#[test]
fn d8_latencies_are_not_put_behind_a_file_of_the_user() {
    let fathom = Fathom::new();
    let (thesis, behind) = (fathom.work().join("wol.dat"), fathom.dir().path().join("victim"));
    fs::write(&thesis, "thesis").expect("a file of the user");
    fs::write(&behind, "victim").expect("a file of the user");
    symlink(&behind, fathom.work().join("rwol.dat")).expect("a link");
    let outcome = fathom.run_line("iozone -s 64k -r 4k -i 0 -i 1 -Q").expect_code(255);
    assert_eq!(fs::read_to_string(&thesis).expect("there"), "thesis");
    assert_eq!(fs::read_to_string(&behind).expect("there"), "victim");
    assert_eq!(
        outcome.stderr.matches("was not made by fathom, so it is left as it is").count(),
        2,
        "{outcome:?}"
    );
    assert_eq!(names_in(fathom.work()), ["rol.dat", "rrol.dat", "rwol.dat", "wol.dat"]);
}

#[test]
fn d9_no_output_goes_through_a_link() {
    let fathom = measured();
    let victim = fathom.dir().path().join("victim");
    fs::write(&victim, "victim").expect("a file of the user");
    for ending in ["html", "xlsx", "md", "json", "csv", "parquet", "prom"] {
        let name = format!("page.{ending}");
        symlink(&victim, fathom.work().join(&name)).expect("a link");
        let refused = fathom.run(["report", "last", "-o", &name]).expect_code(2);
        assert!(refused.stderr.contains("exists; --force overwrites it"), "{refused:?}");
        let refused = fathom.run(["report", "last", "--force", "-o", &name]);
        assert!(refused.stderr.contains("is a symbolic link"), "{refused:?}");
        fs::remove_file(fathom.work().join(&name)).expect("still the link");
        let _ = fathom.run(["report", "last", "-o", &name]).expect_code(0);
    }
    assert_eq!(fs::read_to_string(&victim).expect("there"), "victim");
    assert_eq!(names_in(fathom.work()).len(), 7, "nothing lies beside");
}

#[test]
fn d9_no_log_goes_through_what_others_can_move() {
    if !need_root("d9_no_log_goes_through_what_others_can_move") {
        return;
    }
    let fathom = Fathom::new();
    let theirs = fathom.dir().subdir("theirs");
    std::os::unix::fs::chown(&theirs, Some(65534), None).expect("given away");
    let (bystander, out) = (fathom.dir().path().join("bystander"), theirs.join("out"));
    fs::write(&bystander, "ours").expect("written");
    let option = format!("--output={}", out.display());
    let words = ["fio", "--name=a", "--rw=write", "--size=64k", "--unlink=1", &option];
    // root's own link, and a second name of root's file: who owns the directory may have put them there.
    symlink(&bystander, &out).expect("a link");
    fathom.run(words).expect_stderr("a symbolic link that other users can change");
    fs::remove_file(&out).expect("removed");
    fs::hard_link(&bystander, &out).expect("a second name");
    fathom.run(words).expect_stderr("other users can change its directory");
    assert_eq!(fs::read_to_string(&bystander).expect("there"), "ours");
}

#[test]
fn d14_a_failed_output_leaves_nothing_and_can_be_tried_again() {
    let Some(small) = TmpFs::mount("d14_a_failed_output_leaves_nothing_and_can_be_tried_again", 4 << 10)
    else {
        return;
    };
    let fathom = measured();
    for ending in ["html", "xlsx"] {
        let path = small.path().join(format!("page.{ending}"));
        for _ in 0..2 {
            let failed = fathom.run(["report", "last", "-o", path.to_str().expect("UTF-8")]).expect_code(3);
            assert!(failed.stderr.contains("No space left on device"), "{failed:?}");
            assert_eq!(names_in(small.path()), [""; 0]);
        }
    }
}

#[test]
fn a_page_that_comes_into_being_meanwhile_is_left_and_the_run_is_kept() {
    let fathom = Fathom::new();
    let text = Text::new("w").quick_write(fathom.work());
    let workload = text.phase(
        "makes the page",
        "first",
        "write",
        "before = [{ command = [\"touch\", \"page.html\"] }]",
        "record = { fixed = \"4KiB\" }",
    );
    let workload = workload.save(&fathom);
    let outcome = fathom.run(["run", workload.to_str().expect("UTF-8"), "-o", "page.html"]).expect_code(3);
    assert!(outcome.stderr.contains("what was measured is kept"), "{outcome:?}");
    assert_eq!(fs::read_to_string(fathom.work().join("page.html")).expect("left"), "");
    let _ = fathom.run(["show"]).expect_code(0).expect_stdout("makes the page");
}

#[test]
fn d15_a_file_size_limit_is_an_error_of_report_and_import_too() {
    let fathom = measured();
    fs::write(fathom.work().join("dd.txt"), "1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 MB/s\n")
        .expect("a log");
    let program = fathom.command(["x"]).get_program().to_owned();
    for line in ["report last -o page.html", "import dd.txt --store new.db"] {
        let mut command = fathom.command([""; 0]);
        let script = format!("ulimit -f 1; exec {program:?} {line}");
        let mut limited = std::process::Command::new("bash");
        limited.args(["-c", &script]).current_dir(fathom.work());
        limited.envs(command.stdin(Stdio::null()).get_envs().filter_map(|(n, v)| Some((n, v?))));
        let output = limited.output().expect("bash");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(2 | 3)), "{line}: {:?} {stderr}", output.status);
        assert_eq!(stderr.matches("error:").count(), 1, "{line}: {stderr}");
    }
    assert!(!fathom.work().join("page.html").exists());
}

#[test]
fn d19_passwords_are_kept_nowhere_and_the_store_is_for_its_user() {
    use std::os::unix::fs::PermissionsExt as _;
    let fathom = Fathom::new();
    let line = "sysbench fileio --file-num=1 --file-total-size=16k --file-test-mode=seqwr --events=4 --mysql-password=sesame run";
    let _ = fathom.run_line(&line.replace(" run", " prepare"));
    let _ = fathom.run_line(line);
    let _ = fathom.run(["report", "last", "-o", "page.html"]).expect_code(0);
    let page = fs::read_to_string(fathom.work().join("page.html")).expect("there");
    let json = fathom.run(["show", "--json"]).expect_code(0).stdout;
    assert!(page.contains("--mysql-password=***") && !page.contains("sesame"));
    assert!(!json.contains("sesame"), "{json}");
    let store = fs::read(fathom.store()).expect("the store");
    assert!(!store.windows(6).any(|bytes| bytes == b"sesame"));
    assert_eq!(fs::metadata(fathom.store()).expect("there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn d17_an_import_that_fails_keeps_nothing() {
    let Some(small) = TmpFs::mount("d17_an_import_that_fails_keeps_nothing", 2 << 20) else { return };
    let fathom = Fathom::new();
    let store = small.path().join("store.db");
    let store = store.to_str().expect("UTF-8");
    let run =
        "Hello\n1024+0 records in\n1024+0 records out\n1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 MB/s\n\n";
    fs::write(fathom.work().join("few.txt"), run).expect("a log");
    fs::write(fathom.work().join("many.txt"), run.repeat(2000)).expect("a log");
    let failed = fathom.run(["import", "--store", store, "few.txt", "many.txt"]);
    assert!(matches!(failed.code, Some(2 | 3)), "{failed:?}");
    assert!(!failed.stdout.contains("-> run"), "nothing was kept: {}", failed.stdout);
    assert_eq!(fathom.run(["list", "--store", store, "--json"]).stdout.matches("\"id\"").count(), 0);
    let _ = fathom.run(["import", "--store", store, "few.txt"]).expect_code(0).expect_stdout("-> run");
}

/// As much as is reported can be read from the file.
#[test]
fn d14_a_recording_that_fills_the_disk_says_how_much_of_it_is_kept() {
    let test = "d14_a_recording_that_fills_the_disk_says_how_much_of_it_is_kept";
    let (Some(small), Some(disk)) = (TmpFs::mount(test, 16 << 10), LoopFs::ext4(test).mount()) else {
        return;
    };
    let fathom = Fathom::new();
    for name in ["t.fbl", "t.fbl.zst"] {
        let log = small.path().join(name);
        let work = format!("dd if=/dev/zero of={}/x bs=4k count=6000 oflag=direct", disk.path().display());
        let record = [
            "trace",
            "record",
            "-o",
            log.to_str().expect("UTF-8"),
            disk.path().to_str().expect("UTF-8"),
            "--",
        ];
        let outcome = fathom.run(record.into_iter().chain(["sh", "-c", &work]));
        if outcome.code == Some(2) && outcome.stderr.contains("needs the kernel's block events") {
            return fathom_testkit::skip(test, "no block events here");
        }
        let held =
            outcome.stderr.split_once("it holds the first ").map(|(_, rest)| rest.split(" event").next());
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        let Some(held) = held.flatten().map(str::to_owned) else {
            // Of a first block of zstd that is not whole nothing can be read.
            assert!(name.ends_with("zst") && !log.exists(), "{outcome:?}");
            continue;
        };
        let read = fathom.run([
            "trace",
            "export",
            "--format",
            "own",
            "-o",
            "copy.fbl",
            log.to_str().expect("UTF-8"),
        ]);
        assert!(
            read.stderr.contains(&format!("wrote copy.fbl ({held} events)")),
            "{name}: {outcome:?} {read:?}"
        );
        fs::remove_file(fathom.work().join("copy.fbl")).expect("the copy");
        fs::remove_file(&log).expect("the log");
    }
}
