//! Two hosts made of network namespaces on this machine, each with its own name and mounts, and four ranks on them. Needs root,
//! Open MPI and iproute2; otherwise the tests record a skip and pass. `cargo xtask mpi` runs them.

use fathom_record::{Histogram, OpKind, Run, Status, Store};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One pair of hosts at a time: four ranks on a small machine are enough.
static ONE: Mutex<()> = Mutex::new(());

/// The namespaces and their mounts. All are removed on drop.
struct Hosts {
    dir: tempfile::TempDir,
    names: [String; 2],
    net: String,
    _alone: MutexGuard<'static, ()>,
}

fn sh(script: &str) -> Output {
    Command::new("sh").args(["-ec", script]).output().expect("sh")
}

fn missing() -> Option<&'static str> {
    let root = sh("test $(id -u) = 0").status.success();
    let has = |what: &str| sh(&format!("command -v {what} >/dev/null")).status.success();
    if !root {
        Some("they need root")
    } else if !has("mpirun") || !sh("mpirun --version | grep -q 'Open MPI'").status.success() {
        Some("they need Debian's package openmpi-bin")
    } else if !has("ip") || !has("unshare") {
        Some("they need Debian's packages iproute2 and util-linux")
    } else if !sh("ip netns add fathom-try && ip netns del fathom-try").status.success() {
        Some("network namespaces cannot be made here")
    } else {
        None
    }
}

impl Hosts {
    /// `mounts`: commands that host a and host b run in their own mount namespaces; `$DIR` is the test's
    /// directory, `$DIR/mnt` where ranks work.
    fn new(mounts: [&str; 2]) -> Option<Self> {
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = missing() {
            eprintln!("SKIP tests of two hosts: {why}");
            return None;
        }
        let dir = tempfile::Builder::new().prefix("fathom-mpi-").tempdir().unwrap();
        let id = std::process::id() % 10_000;
        let names = [format!("fma{id}"), format!("fmb{id}")];
        let net = format!("10.251.{}", id % 250);
        let [a, b] = &names;
        let made = sh(&format!(
            "ip netns add {a}; ip netns add {b}
             ip link add {a} netns {a} type veth peer name {b} netns {b}
             ip -n {a} addr add {net}.1/24 dev {a}; ip -n {b} addr add {net}.2/24 dev {b}
             for n in {a} {b}; do ip -n $n link set lo up; ip -n $n link set $n up; done"
        ));
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let root = dir.path().display().to_string();
        for sub in ["mnt", "shared", "a", "b", "state"] {
            std::fs::create_dir(dir.path().join(sub)).unwrap();
        }
        let mount = |m: &str| m.replace("$DIR", &root);
        let table =
            format!("{net}.1 {a} hosta {}\n{net}.2 {b} hostb {}\n", mount(mounts[0]), mount(mounts[1]));
        std::fs::write(dir.path().join("table"), table).unwrap();
        Some(Self { dir, names, net, _alone: alone })
    }

    /// Both hosts see the same directory.
    fn shared() -> Option<Self> {
        Self::new(["mount --bind $DIR/shared $DIR/mnt"; 2])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// mpirun on host a, ranks on both.
    fn command(&self, mpirun: &str, args: &str) -> Command {
        let rsh = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nsrsh");
        let (net, dir) = (&self.net, self.dir.path().display());
        let line = format!(
            "cd {dir}/mnt && exec mpirun --allow-run-as-root --oversubscribe --mca plm_rsh_agent {rsh} --host {net}.1:2,{net}.2:2 \
             --mca btl tcp,self --mca btl_tcp_if_include {net}.0/24 --mca oob_tcp_if_include {net}.0/24 \
             --mca mpi_yield_when_idle 1 --mca orte_keep_fqdn_hostnames 1 -wdir {dir}/mnt -x HOSTS_TABLE -x FATHOM_STORE -x XDG_STATE_HOME \
             {mpirun} {program} {args}",
            rsh = rsh.display(),
            program = env!("CARGO_BIN_EXE_fathom-mpi"),
        );
        let mut command = Command::new(rsh);
        command
            .args([&format!("{net}.1"), &line])
            .env("HOSTS_TABLE", self.path("table"))
            .env("FATHOM_STORE", self.path("store.db"))
            .env("XDG_STATE_HOME", self.path("state"))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &str) -> (i32, String, String) {
        let out = self.command("-n 4", args).output().unwrap();
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
    }

    fn last(&self) -> Run {
        Store::open(self.path("store.db")).unwrap().load("last").unwrap()
    }

    fn workload(&self, text: &str) -> String {
        let path = self.path("workload.toml");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let [a, b] = &self.names;
        // All remaining processes there were started by this test.
        sh(&format!("for n in {a} {b}; do ip netns pids $n | xargs -r kill -9; ip netns del $n; done"));
    }
}

/// A phase that writes and one that reads back what the other host wrote.
fn writes_and_reads(ranks: &str, more: &str) -> String {
    let stream = |direction: &str, more: &str| {
        format!(
            "[[phase.group]]\nname = \"io\"\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = \"f\"\n\
             direction = \"{direction}\"\nrecord = {{ fixed = \"16KiB\" }}\nlog_operations = true\n{more}\n"
        )
    };
    format!(
        "name = \"two hosts\"\nseed = 5\n{ranks}\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"data\"] }}\nsize = {{ fixed = \"8MiB\" }}\n\
         [[phase]]\nname = \"write\"\nbefore = [{{ recreate = \"f\" }}]\n{}[[phase]]\nname = \"read\"\n{}",
        stream("write", more),
        stream("read", "")
    )
}

/// Every logged sample of a phase.
fn samples(run: &Run, phase: usize) -> Vec<u64> {
    let workers = run.phases[phase].repetitions.iter().flat_map(|r| &r.workers);
    workers.flat_map(|w| &w.op_log).map(|op| op.latency_ns).collect()
}

fn exact(run: &Run, phase: usize, op: OpKind) {
    let mut all = samples(run, phase);
    let merged = run.phases[phase].repetitions[0].latency(op);
    assert_eq!(merged, Histogram::from_values(all.iter().copied()), "bucket by bucket");
    all.sort_unstable();
    let p99 = all[(all.len() as f64 * 0.99).ceil() as usize - 1] as f64;
    let found = merged.percentile_ns(99.0).unwrap() as f64;
    assert!((found / p99 - 1.0).abs() <= 1.0 / 128.0, "p99 {found} instead of {p99}");
}

#[test]
fn a_file_for_each_rank_is_written_together_and_read_by_the_other_host() {
    let Some(hosts) = Hosts::shared() else { return };
    let file = hosts.workload(&writes_and_reads("[ranks]\nreordered = [\"read\"]", ""));
    let (code, out, err) = hosts.run(&format!("run {file}"));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("4 ranks (hosta 2, hostb 2)"), "{out}");
    let run = hosts.last();
    assert_eq!((run.status, run.phases.len()), (Status::Completed, 2), "{err}");
    for (phase, op) in [(0, OpKind::Write), (1, OpKind::Read)] {
        assert_eq!(run.phases[phase].repetitions[0].ops(), 4 * 512);
        exact(&run, phase, op);
        println!("start skew {} us", run.phases[phase].repetitions[0].start_skew_ns / 1000);
    }
    let left: Vec<_> = std::fs::read_dir(hosts.path("shared")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn one_file_is_shared_record_by_record() {
    let Some(hosts) = Hosts::shared() else { return };
    let file = hosts.workload(&writes_and_reads("[ranks]\nshared = { f = \"strided\" }", "verify = \"no\""));
    let (code, out, err) = hosts.run(&format!("run {file}"));
    assert_eq!(code, 0, "{out}{err}");
    let run = hosts.last();
    let workers = &run.phases[0].repetitions[0].workers;
    let mut offsets: Vec<u64> = workers.iter().flat_map(|w| &w.op_log).map(|op| op.offset).collect();
    offsets.sort_unstable();
    assert_eq!(offsets, (0..512).map(|i| i * 16384).collect::<Vec<u64>>(), "each record once");
    exact(&run, 0, OpKind::Write);
}

#[test]
fn ranks_start_together() {
    let Some(hosts) = Hosts::shared() else { return };
    // Each operation waits for the disk or sleeps, so that two processors can serve four ranks.
    let paced = "pace = { think = { time = \"2ms\", asleep = true } }\namount = { operations = 20 }";
    let mut text = writes_and_reads("", paced);
    text = text.replace("name = \"two hosts\"", "name = \"two hosts\"\nrepetitions = 15");
    text = text.replace("direction = \"read\"", "direction = \"read\"\namount = { operations = 10 }");
    let file = hosts.workload(&text);
    let (code, out, err) = hosts.run(&format!("run {file}"));
    assert_eq!(code, 0, "{out}{err}");
    let mut skews: Vec<u64> = hosts.last().phases[0].repetitions.iter().map(|r| r.start_skew_ns).collect();
    skews.sort_unstable();
    println!(
        "start skews of 4 ranks on 2 hosts, us: {:?}",
        skews.iter().map(|s| s / 1000).collect::<Vec<_>>()
    );
    assert!(skews[skews.len() / 2] < 1_000_000, "median {} us", skews[skews.len() / 2] / 1000);
}

/// Waits for the program, at most `within`.
fn ends(mut child: Child, within: Duration) -> (i32, String) {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut text).unwrap();
            return (status.code().unwrap_or(-1), text);
        }
        if begin.elapsed() > within {
            let _ = child.kill();
            panic!("it did not end within {within:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

const LONG: &str = "pace = { think = { time = \"1ms\", asleep = true } }\namount = \"endless\"";

fn long(ranks: &str) -> String {
    writes_and_reads(ranks, LONG).replace("log_operations = true\npace", "pace").replace(
        "before = [{ recreate = \"f\" }]\n",
        "before = [{ recreate = \"f\" }]\nstop = { time = \"60s\" }\n",
    )
}

fn a_rank_is_killed(options: &str) -> (i32, String, Run, Duration) {
    let hosts = Hosts::shared().expect("looked for before");
    let file = hosts.workload(&long(""));
    let child = hosts
        .command(&format!("-n 4 {options}"), &format!("run {file}"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The actual rank is the child of the process that the launcher started; the last one is on host b.
    let b = &hosts.names[1];
    let until = Instant::now() + Duration::from_secs(60);
    let victim = loop {
        let busy =
            std::fs::metadata(hosts.path("shared").join("data.r0003")).is_ok_and(|m| m.len() > 1 << 20);
        let found = sh(&format!(
            "for p in $(ip netns pids {b}); do grep -lq RANK=3 /proc/$p/environ 2>/dev/null && \
            test \"$(cat /proc/$p/comm)\" = fathom-mpi && echo $p; done | sort -n | tail -1"
        ));
        let pid = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        if busy && !pid.is_empty() {
            break pid;
        }
        assert!(Instant::now() < until, "the ranks did not begin to write");
        std::thread::sleep(Duration::from_millis(100));
    };
    let begin = Instant::now();
    assert!(sh(&format!("kill -9 {victim}")).status.success());
    let (code, err) = ends(child, Duration::from_secs(15));
    let took = begin.elapsed();
    let run = hosts.last();
    (code, err, run, took)
}

#[test]
fn a_rank_that_is_killed_ends_all_and_what_was_measured_is_kept() {
    if Hosts::shared().is_none() {
        return;
    }
    let (code, err, run, took) = a_rank_is_killed("");
    println!("ended with {code} after {took:?}");
    assert_eq!(code, 3, "{err}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(run.status, Status::Failed, "{err}");
    assert!(err.contains("rank 3 on hostb"), "{err}");
    assert_eq!(err.matches("error:").count(), 1, "{err}");
    let ops = run.phases.first().map_or(0, |p| p.repetitions[0].ops());
    assert!(ops > 0, "what the others had done is kept");
    assert!(run.error.is_some());
}

#[test]
fn a_launcher_that_does_not_care_is_no_reason_to_wait_for_ever() {
    if Hosts::shared().is_none() {
        return;
    }
    let (_, err, run, took) = a_rank_is_killed("--enable-recovery");
    println!("ended after {took:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(err.contains("rank 3 has not been heard of"), "{err}");
    assert_eq!(run.status, Status::Failed);
    assert!(run.phases[0].repetitions[0].ops() > 0);
}

#[test]
fn a_host_whose_disk_is_full_ends_all_with_one_error() {
    let tmpfs = "mount -t tmpfs -o size=6m none $DIR/mnt";
    let Some(hosts) = Hosts::new(["mount --bind $DIR/a $DIR/mnt", tmpfs]) else { return };
    let text = long("").replace("8MiB", "64MiB").replace("1ms", "200us");
    let file = hosts.workload(&text);
    let begin = Instant::now();
    let (code, out, err) = hosts.run(&format!("run {file}"));
    println!("ended after {:?}", begin.elapsed());
    assert_eq!(code, 3, "{out}{err}");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert!(err.contains("on hostb") && err.contains("No space left"), "{err}");
    assert_eq!(err.matches("error:").count(), 1, "{err}");
    let run = hosts.last();
    assert_eq!(run.status, Status::Failed);
    assert_eq!(run.phases[0].repetitions[0].workers.len(), 4, "all shares are there");
}

#[test]
fn a_directory_that_is_not_shared_is_told_before_anything_is_measured() {
    let bind = ["mount --bind $DIR/a $DIR/mnt", "mount --bind $DIR/b $DIR/mnt"];
    let Some(hosts) = Hosts::new(bind) else { return };
    let file = hosts.workload(&writes_and_reads("[ranks]\nshared = { f = \"segmented\" }", ""));
    let (code, _, err) = hosts.run(&format!("run {file}"));
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("is not one directory for all ranks") && err.contains("2 on hostb"), "{err}");
    assert_eq!(err.matches("error:").count(), 1, "{err}");
}

#[test]
fn iozones_clients_are_ranks() {
    let Some(hosts) = Hosts::shared() else { return };
    let clients = hosts.path("clients");
    let mnt = hosts.path("mnt").display().to_string();
    let line = |host: &str| format!("{host} {mnt} /usr/bin/iozone\n");
    std::fs::write(&clients, line("hosta").repeat(2) + &line("hostb").repeat(2)).unwrap();
    let (code, out, err) =
        hosts.run(&format!("iozone -t 4 -+m {} -s 1m -r 64k -i 0 -i 1", clients.display()));
    assert_eq!(code, 0, "{out}{err}");
    let run = hosts.last();
    assert_eq!(run.dialect, "iozone");
    assert!(run.phases.iter().all(|p| p.repetitions[0].workers.len() == 4));
    std::fs::write(&clients, line("hostb").repeat(4)).unwrap();
    let (code, _, err) = hosts.run(&format!("iozone -t 4 -+m {} -s 1m -r 64k -i 0", clients.display()));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("is on hostb"), "{err}");
}

#[test]
fn after_a_stop_by_time_all_have_written_as_much() {
    let Some(hosts) = Hosts::shared() else { return };
    let text = writes_and_reads("[ranks]\nwear_out = [\"write\"]", "")
        .replace("8MiB", "1GiB")
        .replace("log_operations = true\n", "")
        .replace("direction = \"read\"", "direction = \"read\"\namount = { operations = 10 }")
        .replace(
            "before = [{ recreate = \"f\" }]\n",
            "before = [{ recreate = \"f\" }]\nstop = { time = \"300ms\" }\n",
        );
    let file = hosts.workload(&text);
    let (code, out, err) = hosts.run(&format!("run {file}"));
    assert_eq!(code, 0, "{out}{err}");
    let run = hosts.last();
    let most = run.phases[0].repetitions[0].workers.iter().map(|w| w.bytes).max().unwrap();
    for worker in &run.phases[0].repetitions[0].workers {
        assert_eq!(worker.bytes + worker.uncounted_bytes, most, "{}", worker.group);
    }
    assert!(out.contains("with wear-out"), "{out}");
}

#[test]
fn all_ranks_make_their_files_in_one_directory() {
    let Some(hosts) = Hosts::shared() else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mpi/mdtest-hard.toml");
    let file = hosts.workload(&std::fs::read_to_string(example).unwrap().replace("2000", "200"));
    let (code, out, err) = hosts.run(&format!("run {file}"));
    assert_eq!(code, 0, "{out}{err}");
    let run = hosts.last();
    let of = |phase: &str, row: &str| -> Vec<(u64, u64)> {
        let phase = run.phases.iter().find(|p| p.name == format!("mdtest-hard {phase}")).unwrap();
        let rows = phase.repetitions[0].workers.iter().flat_map(|w| &w.rows);
        rows.filter(|r| r.name == row).map(|r| (r.ops, r.bytes)).collect()
    };
    let (metadata, data) = (vec![(200, 0); 4], vec![(200, 200 * 3901); 4]);
    assert_eq!(
        [of("write", "create"), of("stat", "stat"), of("delete", "delete")],
        [(); 3].map(|()| metadata.clone())
    );
    assert_eq!([of("write", "write"), of("read", "read")], [(); 2].map(|()| data.clone()));
    // A name counts as 279 bytes plus its length.
    assert!(
        of("find", "list").iter().all(|l| l.0 == 10 && l.1 > 10 * 800 * 279),
        "every rank sees all 800 files"
    );
    let left: Vec<_> = std::fs::read_dir(hosts.path("shared")).unwrap().collect();
    assert!(left.is_empty() && !err.contains("could not be removed"), "{left:?} {err}");
}
