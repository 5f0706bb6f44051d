//! Two hosts made of network namespaces on this machine, each with its own name and mounts, and four ranks on them. Needs root,
//! Open MPI and iproute2; otherwise the tests record a skip and pass. `cargo xtask mpi` runs them.

mod failures;
mod two_hosts;

use fathom_record::{Histogram, OpKind, Run, Status};
use std::path::Path;
use two_hosts::Hosts;

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

#[test]
fn the_phases_of_io500_come_in_its_order_and_leave_nothing() {
    let Some(hosts) = Hosts::shared() else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mpi/io500.toml");
    let text = std::fs::read_to_string(example).unwrap();
    let text = text.replace("30s", "200ms").replace("5000", "100").replace("2000", "50");
    let file = hosts.workload(&text.replace("500 }", "25 }").replace("4GiB", "64MiB"));
    let (code, out, err) = hosts.run(&format!("-o {} run {file}", hosts.path("page.html").display()));
    assert_eq!(code, 0, "{out}{err}");
    let run = hosts.last();
    let names: Vec<&str> = run.phases.iter().map(|p| p.name.as_str()).collect();
    // The order of the results in io500's own documentation.
    assert_eq!(
        names,
        [
            "ior-easy-write",
            "mdtest-easy-write",
            "ior-hard-write",
            "mdtest-hard-write",
            "find",
            "ior-easy-read",
            "mdtest-easy-stat",
            "ior-hard-read",
            "mdtest-hard-stat",
            "mdtest-easy-delete",
            "mdtest-hard-read",
            "mdtest-hard-delete"
        ]
    );
    for phase in &run.phases {
        let repetition = &phase.repetitions[0];
        assert!(repetition.workers.len() == 4 && repetition.ops() > 0 && !phase.failed(), "{}", phase.name);
    }
    let page = std::fs::read_to_string(hosts.path("page.html")).unwrap();
    assert!(page.contains("Hosts beside each other") && page.contains("Hosts in ior-easy-write"));
    let left: Vec<_> = std::fs::read_dir(hosts.path("shared")).unwrap().collect();
    assert!(left.is_empty() && !err.contains("could not be removed"), "{left:?} {err}");
}

#[test]
fn a_live_line_tells_what_all_ranks_have_done() {
    let Some(hosts) = Hosts::shared() else { return };
    let text = writes_and_reads("", "pace = { think = { time = \"8ms\", asleep = true } }");
    let file = hosts.workload(&text);
    let (code, out, err) = hosts.run(&format!("--live run {file}"));
    assert_eq!(code, 0, "{out}{err}");
    let lines: Vec<&str> = err.lines().filter(|l| l.starts_with("write: ")).collect();
    assert!(lines.iter().any(|l| l.contains("4 of 4 ranks") && l.contains("least by rank")), "{err}");
    let (code, _, err) = hosts.run(&format!("run {file}"));
    assert!(code == 0 && !err.contains("of 4 ranks"), "{err}");
}

#[test]
fn hosts_of_a_list_are_those_of_the_ranks() {
    let Some(hosts) = Hosts::shared() else { return };
    let file = hosts.workload(&writes_and_reads("", ""));
    let (code, out, err) = hosts.run(&format!("--hosts 'host[a],hostb:1611' run {file}"));
    assert_eq!((code, err.matches("host[a]").count()), (2, 1), "letters are no range: {out}{err}");
    let (code, out, err) = hosts.run(&format!("--hosts hosta,hostb:1611 run {file}"));
    assert_eq!(code, 0, "{out}{err}");
    let list = hosts.path("list");
    std::fs::write(&list, "# hosts\nhosta\nhostc\n").unwrap();
    let (code, _, err) = hosts.run(&format!("--hosts {} run {file}", list.display()));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("no rank is on hostc") && err.contains("ranks are on hostb (2 ranks)"), "{err}");
    assert_eq!(err.matches("error:").count(), 1, "{err}");
}

#[test]
fn hosts_with_different_kernels_are_noted() {
    let bind = "mount --bind $DIR/shared $DIR/mnt";
    // Everything on host b sees another release of the kernel.
    let other = format!("{bind}; exec setarch $(uname -m) --uname-2.6 sh -c \"$0\"");
    let Some(hosts) = Hosts::new([bind, &other]) else { return };
    let file = hosts.workload(&writes_and_reads("", ""));
    let (code, out, err) = hosts.run(&format!("run {file}"));
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.contains("the hosts' kernels differ: hosta has") && err.contains("hostb has 2.6."), "{err}");
    let seats = hosts.last().environment["ranks"]["seats"].clone();
    assert!(seats[3]["kernel"].as_str().unwrap().starts_with("2.6."), "{seats}");
    assert_ne!(seats[0]["kernel"], seats[3]["kernel"]);
}
