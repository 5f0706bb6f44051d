//! SIGINT, SIGTERM and SIGHUP: results so far are printed and stored, our files are removed, the exit code names the
//! signal. A second signal does not wait.

use crate::measure::workloads::{Text, journals, last_run, phase_names, runs, wait_for_a_stored_phase};
use crate::safety::processes::{assert_gone, children, only_worker, send};
use fathom_testkit::dir::names_in;
use fathom_testkit::fault_fs::{Call, Fault};
use fathom_testkit::{Fathom, FaultFs, Outcome};
use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Starts a command, waits until a phase has been stored, sends the signal to the whole group (as a terminal does) or to the
/// program alone (as kill does).
fn interrupted(fathom: &Fathom, args: &[&str], signal: i32, whole_group: bool) -> Outcome {
    let mut running = fathom.spawn(args);
    let pid = running.pid();
    wait_for_a_stored_phase(&mut running, fathom);
    let workers = children(pid);
    if whole_group {
        running.signal_group(signal);
    } else {
        running.signal(signal);
    }
    let outcome = running.finish().expect_code(128 + signal);
    assert_gone(&workers);
    outcome
}

fn nothing_left(fathom: &Fathom) {
    assert_eq!(journals(fathom), [""; 0], "a journal is left");
}

fn assert_kept(fathom: &Fathom, at_least: usize) {
    let listed = runs(fathom);
    assert_eq!(listed.len(), 1);
    let run = last_run(fathom);
    assert_eq!(run["status"], "interrupted");
    assert!(phase_names(&run).len() >= at_least, "{:?}", phase_names(&run));
    assert!(!run["ended_at"].as_str().unwrap_or_default().is_empty(), "the run has an end");
}

fn a_run_ends_in_order(signal: i32, whole_group: bool) {
    let fathom = Fathom::new();
    let workload = Text::new("slow").quick_write(fathom.work()).slow_write(fathom.work(), "").save(&fathom);
    let args = ["run", workload.to_str().expect("UTF-8")];
    let outcome = interrupted(&fathom, &args, signal, whole_group).expect_stdout("quick write");
    let outcome = outcome.expect_stderr(&format!("stopped by signal {signal}"));
    assert!(
        outcome.stdout.contains("slow write"),
        "the part of the phase that was cut short: {}",
        outcome.stdout
    );
    assert_eq!(names_in(fathom.work()), [""; 0], "our files are left");
    nothing_left(&fathom);
    assert_kept(&fathom, 2);
    let run = last_run(&fathom);
    let cut = &run["phases"][1]["repetitions"][0]["workers"][0];
    assert_eq!(cut["ending"], "interrupted");
    assert!(cut["ops"].as_u64().is_some_and(|n| n > 0), "what was done before counts: {cut}");
}

#[test]
fn ctrl_c_ends_a_run_in_order() {
    a_run_ends_in_order(libc::SIGINT, true);
}

#[test]
fn sigterm_ends_a_run_in_order() {
    a_run_ends_in_order(libc::SIGTERM, false);
}

#[test]
fn sighup_ends_a_run_in_order() {
    a_run_ends_in_order(libc::SIGHUP, true);
}

#[test]
fn ctrl_c_ends_a_survey_with_its_page_and_no_directory() {
    let fathom = Fathom::new();
    // Not a quick one: on a fast machine that is over before a phase is seen in the store.
    let outcome = interrupted(&fathom, &["survey", "-o", "page.html"], libc::SIGINT, true);
    assert!(outcome.stdout.contains("interrupted"), "{}", outcome.stdout);
    assert_eq!(names_in(fathom.work()), ["page.html"], "only the page is left");
    nothing_left(&fathom);
    assert_kept(&fathom, 1);
}

#[test]
fn sigterm_ends_iozone_with_the_columns_so_far() {
    let fathom = Fathom::new();
    // 50 ms of computing before each of 8 operations: each column takes 0.4 s.
    let args = ["iozone", "-s", "512k", "-r", "64k", "-J", "50"];
    let outcome = interrupted(&fathom, &args, libc::SIGTERM, false).expect_stdout("iozone: interrupted");
    let row: Vec<&str> = outcome
        .stdout
        .lines()
        .find(|l| l.split_whitespace().take(2).eq(["512", "64"]))
        .unwrap_or_else(|| panic!("no row in\n{}", outcome.stdout))
        .split_whitespace()
        .collect();
    assert!(row.len() > 2 && row.len() < 15, "at least one figure, not all of them: {row:?}");
    assert!(row.iter().all(|n| n.parse::<u64>().is_ok()), "{row:?}");
    assert_eq!(names_in(fathom.work()), [""; 0], "iozone.tmp is left");
    nothing_left(&fathom);
    assert_kept(&fathom, 1);
}

#[test]
fn ctrl_c_ends_iozone_throughput_mode() {
    let fathom = Fathom::new();
    let args = ["iozone", "-t", "2", "-s", "512k", "-r", "64k", "-J", "50"];
    let outcome = interrupted(&fathom, &args, libc::SIGINT, true).expect_stdout("iozone: interrupted");
    assert!(outcome.stdout.contains("Children see throughput for  2 initial writers"), "{}", outcome.stdout);
    assert_eq!(names_in(fathom.work()), [""; 0], "test files are left");
    assert_kept(&fathom, 1);
}

/// As timeout(1) does: it signals the program, and then the process group that the program is in.
#[test]
fn two_signals_at_one_time_are_one_wish() {
    let fathom = Fathom::new();
    let workload = Text::new("slow").slow_write(fathom.work(), "").save(&fathom);
    let mut running = fathom.spawn(["run", workload.to_str().expect("UTF-8")]);
    running.wait_for_file(&fathom.work().join("second.dat"));
    let worker = only_worker(&mut running);
    // The program is still at it when the next one comes.
    send(worker, libc::SIGSTOP);
    // Two of one kind may be delivered as one; these are not. Either may be handled first.
    running.signal(libc::SIGHUP);
    running.signal(libc::SIGTERM);
    let patience = std::time::Instant::now();
    running.wait_until("both signals at work", || patience.elapsed().as_millis() > 50);
    send(worker, libc::SIGCONT);
    let outcome = running.finish();
    assert!(matches!(outcome.code, Some(129 | 143)), "{:?}: {}", outcome.code, outcome.stderr);
    assert_eq!(names_in(fathom.work()), [""; 0], "it had time to clean up");
    assert_kept(&fathom, 1);
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_the_next_run_cleans_up() {
    let fathom = Fathom::new();
    let workload = Text::new("slow").slow_write(fathom.work(), "").save(&fathom);
    let mut running = fathom.spawn(["run", workload.to_str().expect("UTF-8")]);
    running.wait_for_file(&fathom.work().join("second.dat"));
    let worker = only_worker(&mut running);
    // A worker that hangs, as on a device that does not answer: the first signal waits for it.
    send(worker, libc::SIGSTOP);
    running.signal(libc::SIGINT);
    let patience = std::time::Instant::now();
    running.wait_until("the first signal at work", || patience.elapsed().as_millis() > 300);
    assert!(!running.has_ended(), "the first signal waits for the worker");
    running.signal(libc::SIGINT);
    let _ = running.finish().expect_code(130);
    assert_gone(&[worker]);
    assert_eq!(names_in(fathom.work()), ["second.dat"], "no time to remove it");
    let next = Text::new("next").quick_write(&fathom.dir().subdir("elsewhere")).save(&fathom);
    let next = fathom.run(["run", next.to_str().expect("UTF-8")]).expect_code(0);
    assert!(next.stderr.contains("second.dat, left behind by a run that was killed"), "{}", next.stderr);
    assert_eq!(names_in(fathom.work()), [""; 0]);
}

/// As one in a call that the storage does not answer.
#[test]
fn a_worker_that_does_not_leave_is_killed_and_what_was_measured_before_is_kept() {
    let fathom = Fathom::new();
    let workload = Text::new("slow").quick_write(fathom.work()).slow_write(fathom.work(), "").save(&fathom);
    let mut running = fathom.spawn(["run", workload.to_str().expect("UTF-8")]);
    running.wait_for_file(&fathom.work().join("second.dat"));
    send(only_worker(&mut running), libc::SIGSTOP);
    running.signal(libc::SIGTERM);
    let outcome = running.finish().expect_code(143).expect_stdout("quick write");
    let _ = outcome.expect_stderr("stopped by signal 15");
    assert_eq!(names_in(fathom.work()), [""; 0]);
    assert!(phase_names(&last_run(&fathom)).iter().any(|name| name == "quick write"));
}

/// Threads cannot be killed one by one, and the end of the process frees those whose call has not reached the server.
#[test]
fn threads_in_calls_that_do_not_return_are_not_waited_for() {
    let Some(disk) = FaultFs::mount("threads_in_calls_that_do_not_return_are_not_waited_for") else { return };
    let fathom = Fathom::new().working_in(disk.path());
    let line = "fio --name=a --rw=randread --size=1m --bs=4k --thread --time_based --runtime=100";
    let mut running = fathom.spawn(line.split(' '));
    running.wait_for_work(8 << 20);
    // A call that the run itself makes neither in a phase nor at its beginning: no process ends whose own call is not answered.
    disk.fail(Call::Getxattr, Fault::Silence);
    let path = disk.path().to_path_buf();
    let waits = std::thread::spawn(move || rustix::fs::getxattr(path, "user.asked", &mut [0; 16]));
    running.wait_until("a call without an answer", || disk.hits(Call::Getxattr) > 0);
    // A worker that is between two reads would end in time, and what the run does afterwards may hang.
    let pid = running.pid();
    running.wait_until("a worker's read without an answer", || a_thread_waits_for_fuse(pid));
    let asked = std::time::Instant::now();
    running.signal(libc::SIGTERM);
    let outcome = running.finish().expect_code(143);
    assert!(asked.elapsed().as_secs() < 10, "only what hangs takes so long: {outcome:?}");
    let _ = outcome.expect_stderr("the storage does not answer");
    disk.heal();
    let _ = waits.join();
    let next = Text::new("next").quick_write(&fathom.dir().subdir("elsewhere")).save(&fathom);
    let _ = fathom.run(["run", next.to_str().expect("UTF-8")]).expect_code(0);
    assert_eq!(names_in(disk.path()), [""; 0]);
}

/// Whether a thread other than the first waits for the server of a FUSE file system.
fn a_thread_waits_for_fuse(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().filter(|thread| thread.file_name() != *pid.to_string()).any(|thread| {
        fs::read_to_string(thread.path().join("wchan")).is_ok_and(|at| at == "request_wait_answer")
    })
}

/// The reader may be another user's program that never continues.
#[test]
fn a_reader_that_does_not_read_holds_up_no_signal() {
    let prepare = "sysbench fileio --file-num=2 --file-total-size=64K prepare";
    for line in ["iozone -s 64k -r 4k -i 0", "fio --name=a --ioengine=null --size=1m", prepare] {
        let (reads, mut writes) = std::io::pipe().expect("a pipe");
        fill(&mut writes);
        let fathom = Fathom::new();
        let mut command = fathom.command(line.split(' '));
        let mut child = command.stdout(writes).stderr(Stdio::null()).spawn().expect("started");
        let waits = format!("/proc/{}/wchan", child.id());
        let waits =
            || fs::read_to_string(&waits).is_ok_and(|place| place.contains("poll") || place.contains("pipe"));
        let begun = Instant::now();
        // Where the kernel does not tell what a process waits for, it has had its time.
        while !waits() && begun.elapsed() < Duration::from_secs(10) {
            assert!(child.try_wait().expect("a child").is_none(), "{line}: it does not wait");
            std::thread::sleep(Duration::from_millis(5));
        }
        send(child.id(), libc::SIGTERM);
        let asked = Instant::now();
        while child.try_wait().expect("a child").is_none() {
            assert!(asked.elapsed() < Duration::from_secs(20), "{line}: it waits for its reader");
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(reads);
    }
}

/// Fills a pipe to its last byte.
fn fill(pipe: &mut std::io::PipeWriter) {
    rustix::io::ioctl_fionbio(&pipe, true).expect("a pipe");
    for piece in [4096, 1] {
        while pipe.write(&vec![0; piece]).is_ok() {}
    }
    rustix::io::ioctl_fionbio(&pipe, false).expect("a pipe");
}

/// A signal ends every command, whatever it is doing.
#[test]
fn every_command_that_takes_long_ends_at_a_signal() {
    let lines = [
        "survey",
        "run WORKLOAD",
        "fio --name=a --rw=randread --size=1m --time_based --runtime=100",
        "sysbench fileio --file-num=1 --file-total-size=1M --file-test-mode=seqwr --time=100 --events=0 run",
        "filebench -f SCRIPT",
        "compare --run --vary record=4KiB,64KiB WORKLOAD",
        "sweep --vary record=4KiB,64KiB -- WORKLOAD",
        "sim run SIMULATED",
        "import PIPE",
        "trace summary PIPE",
        "sim replay PIPE",
        "watch --json",
    ];
    for line in lines {
        for signal in [libc::SIGINT, libc::SIGTERM] {
            let fathom = Fathom::new();
            let words = long_words(&fathom, line);
            if line.starts_with("sysbench") {
                let _ = fathom.run_line(&line.replace("run", "prepare")).expect_code(0);
            }
            let mut running = fathom.spawn(&words);
            // Somewhere in the middle, whatever the command has printed by then.
            let begun = std::time::Instant::now();
            running.wait_until("half a second", || begun.elapsed().as_millis() > 500);
            assert!(!running.has_ended(), "{line} ended by itself");
            running.signal(signal);
            let sent = std::time::Instant::now();
            let outcome = running.finish();
            // It takes a tenth of a second; a machine that is far too busy may take longer.
            assert!(sent.elapsed().as_secs() < 20, "{line}: {:?} after signal {signal}", sent.elapsed());
            // Drop-ins have the original program's exit codes, and only a signal ends `watch`.
            let is_success = outcome.code == Some(0) && !line.starts_with("watch");
            assert!(!is_success && outcome.code != Some(101), "{line}: {outcome:?}");
            nothing_left(&fathom);
        }
    }
}

/// A line with the files that it names.
fn long_words(fathom: &Fathom, line: &str) -> Vec<String> {
    let path = |name: &str| fathom.dir().path().join(name);
    let endless = "record = { fixed = \"4KiB\" }\naccess = \"uniform\"\namount = \"endless\"";
    let reads = |dir: &std::path::Path| {
        let text = Text::new("w").quick_write(dir);
        text.phase("reads", "first", "read", "stop = { time = \"100h\" }", endless).toml()
    };
    std::fs::write(path("w.toml"), reads(fathom.work())).expect("a workload");
    std::fs::write(path("sim.toml"), reads(std::path::Path::new("/data"))).expect("a workload");
    let script = format!(
        "define fileset name=mail,path={},entries=20,dirwidth=5,size=4k,prealloc\ndefine process name=p {{ thread name=t {{\n\
         flowop openfile name=a,filesetname=mail,fd=1\nflowop closefile name=b,fd=1 }} }}\nrun 100\n",
        fathom.dir().subdir("trees").display()
    );
    std::fs::write(path("w.f"), script).expect("a script");
    let fifo = std::process::Command::new("mkfifo").arg(path("pipe")).status().expect("mkfifo");
    assert!(fifo.success());
    let words = line.split(' ').map(|word| match word {
        "WORKLOAD" => path("w.toml"),
        "SIMULATED" => path("sim.toml"),
        "SCRIPT" => path("w.f"),
        "PIPE" => path("pipe"),
        other => other.into(),
    });
    words.map(|word| word.to_str().expect("UTF-8").to_owned()).collect()
}
