//! Outputs of a synthetic record, compared with golden files and checked against format rules.

use super::super::Version;
use super::super::tests::planned;
use super::*;
use fathom_record::{
    DeviceDelta, InFlight, Interval, OpStat, OpTotal, Repetition, ThreadCounts, Worker, WorkerInterval,
};

/// A record of running `args`: every worker did some reads and writes of 4 KiB with varying latencies.
fn record(plan: &Plan) -> Run {
    let phases = plan.workload.phases.iter().zip(0u32..).map(|(phase, seq)| {
        let workers = (0..phase.groups.len() as u32).map(|index| worker(plan, index)).collect();
        let mut repetition = Repetition { elapsed_ns: 2_100_000_000, workers, ..Repetition::default() };
        for n in 1..=4u64 {
            let h = Histogram::from_values((0..100).map(|i| 50_000 + i * n));
            repetition.intervals.push(Interval {
                end_ns: n * 500_000_000,
                width_ns: 500_000_000,
                ops: 100,
                bytes: 409_600 * n,
                latencies: vec![(OpKind::Read, h)],
                moved: vec![(OpKind::Read, 409_600 * n)],
            });
        }
        let device = DeviceDelta {
            name: "vda".into(),
            kind: "disk".into(),
            read_ios: 7,
            write_ios: 9,
            busy_ms: 420,
            read_ms: 35,
            write_ms: 54,
            queue_ms: 91,
            ..DeviceDelta::default()
        };
        repetition.physical.devices.push(device);
        Phase {
            seq,
            name: phase.name.clone(),
            axes: fathom_record::Axes::default(),
            reads: true,
            writes: true,
            sync_in_clock: false,
            direct: false,
            repetitions: vec![repetition],
        }
    });
    Run {
        id: "20261123T000000-abcdef".into(),
        version: "0.0.0".into(),
        phases: phases.collect(),
        ..Run::default()
    }
}

fn worker(plan: &Plan, index: u32) -> Worker {
    let queued = engine_batch(&plan.jobs[0]).is_some();
    let stat = |op, from: u64, n: u64, bytes: u64| OpStat {
        op,
        ops: n,
        bytes: n * bytes,
        latency: Histogram::from_values((0..n).map(|i| from + i * 777)),
    };
    let mut stats = vec![stat(OpKind::Read, 60_000, 1000, 4096)];
    if queued {
        stats.push(stat(OpKind::ReadSubmission, 900, 1000, 0));
        stats.push(stat(OpKind::ReadCompletion, 59_000, 1000, 0));
    }
    if plan.jobs[0].rw.mixed {
        stats.push(stat(OpKind::Write, 4_000_000, 500, 4096));
        stats.push(stat(OpKind::Sync, 200_000, 31, 0));
    }
    let in_flight = queued.then_some(InFlight {
        depth: [1, 2, 4, 993, 0, 0, 0],
        submit: [0, 900, 10, 0, 0, 0, 0],
        complete: [0, 880, 5, 0, 0, 0, 0],
    });
    Worker {
        index,
        ops: stats.iter().map(|s| s.ops).sum(),
        in_flight,
        elapsed_ns: 2_000_000_000,
        cpu_user_ns: 100_000_000,
        cpu_system_ns: 300_000_000,
        thread_counts: Some(ThreadCounts {
            switches: 1234,
            major_faults: 5,
            minor_faults: 67,
            processor_wait_ns: None,
        }),
        stats,
        intervals: (1..=4).map(interval).collect(),
        ..Worker::default()
    }
}

/// Half a second with 100 more reads than the interval before.
fn interval(number: u64) -> WorkerInterval {
    let reads =
        OpTotal { op: OpKind::Read, ops: number * 100, bytes: number * 409_600, sum_ns: number * 6_000_000 };
    WorkerInterval { end_ns: number * 500_000_000, width_ns: 500_000_000, moved: vec![reads] }
}

fn moment() -> Moment {
    Moment { unix_ms: 1_795_400_115_103, text: "Mon Nov 23 02:15:15 2026".into(), pid: 4711 }
}

const MIX: &str = "--name=mix --rw=randrw --size=16m --numjobs=2 --group_reporting --description=two --ioengine=io_uring --iodepth=8 --fsync=16";

#[test]
fn the_text() {
    let plan = planned(MIX);
    insta::assert_snapshot!(normal::head(&plan) + &results(&plan, &record(&plan), &moment()));
}

#[test]
fn the_json() {
    let plan = planned(&format!("--bs=4k --output-format=json {MIX} --error_dump=1"));
    let text = results(&plan, &record(&plan), &moment());
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
    insta::assert_snapshot!(text);
}

#[test]
fn the_older_version_has_what_it_had() {
    let mut plan = planned(&format!(
        "--bs=4k --output-format=json,normal,terse --latency_target=5ms --latency_window=1s {MIX}"
    ));
    let all = |plan: &Plan| results(plan, &record(plan), &moment());
    let newest = all(&plan);
    plan.general.version = Version::V3_33;
    plan.jobs.iter_mut().for_each(|job| job.report.version = Version::V3_33);
    let older = all(&plan);
    let new =
        ["job_start", "latency_target_ns", "latency_window_us", "_sectors", "sectors=", "/syncfs", "5.00ms"];
    for word in new.iter().chain(&["fio-3.42", "\"group_reporting\" : \"\""]) {
        assert!(newest.contains(word) && !older.contains(word), "{word}\n{older}");
    }
    assert!(older.contains("target=5000000, window=1000000") && older.contains("fio-3.33"), "{older}");
}

#[test]
fn seeds_are_printed_and_a_given_one_is_used() {
    let seeds_of = |args: &str| seeds(&planned(&format!("--name=a --size=1m {args}")), 7);
    let one = seeds_of("");
    assert_eq!(one.matches("rand_seeds[").count(), 8);
    assert!(one.contains("random   7     FIO_RAND_NR_OFFS=8\nrandom   7     rand_seeds[0]="), "{one}");
    assert_eq!(seeds_of("--randseed=5 --randrepeat=0"), seeds_of("--randseed=5"));
    assert_ne!(seeds_of("--randseed=5"), seeds_of("--randseed=6"));
    assert_ne!(seeds_of("--randrepeat=0"), one);
    assert_eq!(seeds_of("--numjobs=2").matches("NR_OFFS").count(), 2);
}

#[test]
fn options_stand_in_the_json_as_fio_has_them() {
    let document = |args: &str| -> serde_json::Value {
        let plan = planned(&format!("--output-format=json {args}"));
        serde_json::from_str(&results(&plan, &record(&plan), &moment())).unwrap()
    };
    // [global] bs=8k rw=randread [g1] [g2] bs=16k [global] bs=32k [g3]: parsers keep the last of fio's duplicate keys.
    let file = document("--size=1m two.fio");
    assert_eq!(file["global options"], serde_json::json!({"size": "1m", "bs": "32k", "rw": "randread"}));
    assert_eq!(file["jobs"][0].get("job options"), None);
    assert_eq!(file["jobs"][1]["job options"], serde_json::json!({"bs": "16k"}));
    let named = document("--name=global --size=1m --name=a");
    assert_eq!(named["global options"], serde_json::json!({"name": "global", "size": "1m"}));
    assert_eq!(named["jobs"][0]["job options"], serde_json::json!({"name": "a"}));
    assert_eq!(document("--name=a --size=1m").get("global options"), None);
    // A group is named after its first job, but shows its last job's options; it also absorbs the job before it.
    let grouped = document("--size=1m --name=a --bs=8k --name=b --group_reporting --rw=randread --name=c");
    assert_eq!(grouped["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(grouped["jobs"][0]["jobname"], "a");
    assert_eq!(
        grouped["jobs"][0]["job options"],
        serde_json::json!({"name": "b", "group_reporting": "", "rw": "randread"})
    );
    assert_eq!(grouped["jobs"][0]["read"]["total_ios"], 2000);
}

#[test]
fn layouts_are_listed_by_clone_with_entries_grouped() {
    let laid = |args: &str| {
        let plan = planned(&format!("--name=x --rw=read {args}"));
        normal::laying_out(&plan.jobs[0], |path| path.ends_with("there"))
    };
    // fio 3.33.
    let one = "x: Laying out IO file (1 file / 1MiB)\n";
    let two = "x: Laying out IO files (2 files / total 1MiB)\n";
    assert_eq!(laid("--size=1m --numjobs=2"), format!("{one}{one}"));
    assert_eq!(laid("--size=1m --numjobs=2 --filename=a"), one);
    assert_eq!(
        laid("--size=1m --numjobs=2 --nrfiles=2 --file_service_type=sequential"),
        format!("{two}{two}")
    );
    assert_eq!(
        laid("--size=1m --numjobs=2 --filename=a --offset_increment=1m").lines().last(),
        Some("x: Laying out IO file (1 file / 2MiB)")
    );
    assert_eq!(laid("--filename=there"), "");
    let plan = planned("--name=a --size=1m --numjobs=2 --name=b --size=1m");
    let text = results(&plan, &record(&plan), &moment());
    assert_eq!((text.matches("(groupid=0").count(), text.matches("\n\n").count()), (3, 2));
}

#[test]
fn engines_without_a_queue_submit_one_by_one() {
    let batches = |args: &str| {
        let plan = planned(&format!("--output-format=json --name=a --size=1m {args}"));
        let text = results(&plan, &record(&plan), &moment());
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let job = &document["jobs"][0];
        ["iodepth_submit", "iodepth_complete"].map(|key| job[key]["4"].as_f64().unwrap())
    };
    // As fio 3.33 has them.
    for engine in ["psync", "sync", "mmap"] {
        assert_eq!(batches(&format!("--ioengine={engine}")), [100.0; 2], "{engine}");
    }
    assert_eq!(batches("--ioengine=null"), [0.0; 2]);
}

#[test]
fn percentiles_have_the_decimals_of_the_finest() {
    let line = |list: &str| {
        let plan = planned(&format!("--name=a --size=1m --percentile_list={list}"));
        let text = results(&plan, &record(&plan), &moment());
        let line = text.lines().find(|l| l.contains("th=[")).unwrap();
        line.split('[').map(|part| part.split_once("],").map_or(part, |p| p.1)).collect::<String>()
    };
    // fio 3.33, values removed.
    assert!(line("5:50:100").starts_with("     |   5th=  50th= 100th="), "{}", line("5:50:100"));
    assert!(line("1:50.5:99").starts_with("     |  1.0th= 50.5th= 99.0th="), "{}", line("1:50.5:99"));
    assert!(line("50:99.95").starts_with("     | 50.00th= 99.95th="), "{}", line("50:99.95"));
    assert!(line("50:99.999").starts_with("     | 50.000th= 99.999th="), "{}", line("50:99.999"));
}

#[test]
fn tables_are_of_completion_latencies_and_go_with_them() {
    let shares = |args: &str| {
        let plan = planned(&format!("--output-format=json --name=a --size=1m {args}"));
        let text = results(&plan, &record(&plan), &moment());
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        document["jobs"][0]["latency_us"].clone()
    };
    let sum = |table: &serde_json::Value| -> f64 {
        table.as_object().unwrap().values().map(|share| share.as_f64().unwrap()).sum()
    };
    assert!(sum(&shares("--disable_lat=1")) > 99.0);
    assert_eq!(sum(&shares("--disable_clat=1")), 0.0);
    assert_eq!(sum(&shares("--gtod_reduce=1")), 0.0);
    // With total latencies it would be 5.2.
    assert_eq!(shares("--ioengine=io_uring")["100"], 5.4);
}

#[test]
fn what_is_known_beyond_fio_stands_under_one_key() {
    let plan = planned("--output-format=json --name=a --size=1m");
    let mut run = record(&plan);
    let half = fathom_record::Residency { total_pages: 8, cached_pages: 4, ..Default::default() };
    run.phases[0].repetitions[0].resident_before = Some(half);
    run.doubts.push(fathom_record::Doubt {
        code: "holes".into(),
        phases: vec![0],
        sentence: "It reads \"holes\".".into(),
    });
    run.trust.push(fathom_record::Trust {
        code: "extents".into(),
        verdict: fathom_record::Verdict::Doubtful,
        sentence: "Holes.".into(),
    });
    let document: serde_json::Value = serde_json::from_str(&results(&plan, &run, &moment())).unwrap();
    let ours = &document["fathom"];
    assert_eq!(ours["phases"][0]["cached before percent"], 50.0);
    assert_eq!(ours["phases"][0].get("cached after percent"), None);
    assert_eq!(ours["doubts"][0]["sentence"], "It reads \"holes\".");
    assert_eq!(ours["trust"][0]["code"], "extents");
    assert_eq!(ours["trust"][0]["verdict"], "doubtful");
}

#[test]
fn the_terse_line() {
    let fields = |version: u8, disk: u8| {
        let plan = planned(&format!(
            "--minimal --terse-version={version} --disk_util={disk} --name=a --rw=read --size=1m"
        ));
        results(&plan, &record(&plan), &moment()).trim_end().split(';').map(str::to_owned).collect::<Vec<_>>()
    };
    // Without a disk; a disk adds 9 fields.
    assert_eq!([2, 3, 4, 5].map(|v| fields(v, 0).len()), [161, 121, 162, 180]);
    // As in fio 3.33: version 2 has no disks, and its description is on a separate line.
    assert_eq!(fields(2, 1).len(), 161);
    let described = planned("--minimal --terse-version=2 --name=a --size=1m --description=hi");
    assert!(results(&described, &record(&described), &moment()).ends_with("0.00%\n;hi\n"));
    let three = fields(3, 1);
    assert_eq!(three.len(), 130);
    assert_eq!(three[..9], ["3", "fio-3.42", "a", "0", "0", "4000", "2000", "500", "2000"]);
    assert_eq!(three[47..49], ["0", "0"]);
    assert_eq!(three[121], "vda");
}

#[test]
fn percentiles_of_the_terse_line_are_those_of_one_latency() {
    // As in fio 3.33: of lat if requested and measured, else of clat.
    let found = |args: &str| {
        let line = "--minimal --name=a --rw=read --size=1m --ioengine=io_uring --iodepth=8";
        let plan = planned(&format!("{line} {args}"));
        let record = record(&plan);
        let side = stats::entries(&plan, &record).remove(0).read;
        let of = |h: &Histogram| format!("1.000000%={}", stats::percentile(h, 1.0) / 1000);
        let text = results(&plan, &record, &moment());
        let first = text.split(';').nth(17).unwrap().to_owned();
        (first, of(&side.clat), of(&side.lat))
    };
    for args in ["", "--lat_percentiles=1 --disable_lat=1"] {
        let (first, clat, _) = found(args);
        assert_eq!(first, clat, "{args}");
    }
    for args in ["--lat_percentiles=1", "--lat_percentiles=1 --clat_percentiles=0"] {
        let (first, clat, lat) = found(args);
        assert_eq!(first, lat, "{args}");
        assert_ne!(clat, lat, "the record tells nothing");
    }
    for args in ["--clat_percentiles=0", "--disable_clat=1"] {
        assert_eq!(found(args).0, "0%=0", "{args}");
    }
}

#[test]
fn windows_stand_with_every_job_and_add_up_in_a_group() {
    let operations = |args: &str| -> Vec<Vec<u64>> {
        let plan = planned(&format!("--name=a --size=1m {args}"));
        stats::entries(&plan, &record(&plan)).into_iter().map(|e| e.read.operations).collect()
    };
    assert_eq!(operations(""), [[200, 400, 600, 800]]);
    assert_eq!(operations("--numjobs=2"), [[200, 400, 600, 800]; 2]);
    assert_eq!(operations("--numjobs=2 --group_reporting"), [[400, 800, 1200, 1600]]);
    assert_eq!(operations("--disable_bw=1"), [[200, 400, 600, 800]]);
}

#[test]
fn rates_are_in_bits_with_unit_base() {
    let printed = |args: &str| {
        let plan = planned(&format!("--name=a --size=1m {args}"));
        results(&plan, &record(&plan), &moment())
    };
    let bits = printed("--unit_base=1");
    assert!(bits.contains("bit/s (") && bits.contains("bw=") && !bits.contains("iB/s ("), "{bits}");
    // As in fio, samples and amounts stay in bytes.
    assert!(
        bits.contains("bw (  KiB/s)") && bits.contains("KiB/") && !printed("--unit_base=8").contains("bit/s")
    );
    assert!(printed("--unit_base=1 --kb_base=1000").contains("bit/s ("));
    let json = |args: &str| {
        let text = printed(&format!("--output-format=json {args}"));
        text.split_once("\"read\" : {").unwrap().1.to_owned()
    };
    assert_eq!(json("--unit_base=1"), json("--unit_base=0"));
}

#[test]
fn options_are_called_as_fio_calls_them() {
    // fio 3.33 treats two aliases as separate options, 3.42 one; otherwise the primary name is printed.
    let plan =
        planned("--allrandrepeat=1 --threads=1 --blocksize=4k --name=a --size=1m --nr_files=1 --thread=1");
    let text = json::document(&plan, &record(&plan), &moment(), false);
    for key in ["randrepeat", "threads", "bs", "nrfiles", "thread"] {
        assert!(text.contains(&format!("\"{key}\" : ")), "{key}: {text}");
    }
    assert!(!text.contains("allrandrepeat") && !text.contains("blocksize"), "{text}");
}

#[test]
fn block_sizes_have_the_units_of_fio() {
    // fio 3.33.
    for (args, expected) in [
        ("--bs=9999", "(R) 9999B-9999B,"),
        ("--bs=16k", "(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, (T) 16.0KiB-16.0KiB,"),
        ("--bs=128k", "(R) 128KiB-128KiB,"),
        ("--bs=1m", "(R) 1024KiB-1024KiB,"),
        ("--bssplit=4k/50:64k/50", "(R) 4096B-64.0KiB,"),
        ("--bs=16384 --kb_base=1000", "(R) 16.4kB-16.4kB,"),
        ("--bs=16k --significant_figures=6", "(R) 16384B-16384B,"),
    ] {
        let head = normal::head(&planned(&format!("--name=a --size=16m {args}")));
        assert!(head.contains(expected), "{args}: {head}");
    }
}

#[test]
fn jobs_have_shares_of_the_bandwidth_of_their_group() {
    let shares = |args: &str| -> Vec<String> {
        let plan = planned(&format!("--name=a --size=1m {args}"));
        let text = results(&plan, &record(&plan), &moment());
        let of = |line: &str| Some(line.split_once("per=")?.1.split_once(',')?.0.to_owned());
        text.lines().filter_map(of).collect()
    };
    assert_eq!(shares(""), ["100.00%"]);
    assert_eq!(shares("--name=b --size=1m"), ["50.00%", "50.00%"]);
    assert_eq!(shares("--numjobs=2 --group_reporting"), ["100.00%"]);
    assert_eq!(shares("--name=b --size=1m --stonewall"), ["100.00%", "100.00%"]);
    let plan = planned("--output-format=json --name=a --size=1m --numjobs=4");
    let document: serde_json::Value =
        serde_json::from_str(&results(&plan, &record(&plan), &moment())).unwrap();
    assert_eq!(document["jobs"][2]["read"]["bw_agg"], 25.0);
    assert_eq!(document["jobs"][2]["write"]["bw_agg"], 0.0);
}

#[test]
fn logs_have_a_line_for_each_window() {
    let plan = planned(
        "--name=a --size=1m --name=b --size=1m --write_bw_log=b --write_lat_log=l --log_avg_msec=1000 --write_iops_log=l --log_offset=1",
    );
    let logs = written(&plan, &[]).0;
    let names: Vec<String> = logs.keys().map(|path| path.display().to_string()).collect();
    assert_eq!(names, ["b_bw.2.log", "l_clat.2.log", "l_iops.2.log", "l_lat.2.log", "l_slat.2.log"]);
    let text = |name: &str| logs[std::path::Path::new(name)].as_str();
    assert_eq!(text("b_bw.2.log"), "1000, 1200, 0, 0, 0, 0\n2000, 2800, 0, 0, 0, 0\n");
    assert_eq!(text("l_iops.2.log"), "1000, 300, 0, 0, 0, 0\n2000, 700, 0, 0, 0, 0\n");
    assert_eq!(text("l_lat.2.log"), "1000, 60000, 0, 0, 0, 0\n2000, 60000, 0, 0, 0, 0\n");
    assert_eq!(text("l_slat.2.log"), "");
    let one = planned(
        "--name=a --size=1m --numjobs=2 --write_bw_log=d --per_job_logs=0 --log_avg_msec=1000 --aux-path=x",
    );
    assert_eq!(
        written(&one, &[]).0.keys().collect::<Vec<_>>(),
        [std::path::Path::new("d_bw.log")],
        "as in fio, --aux-path moves no log"
    );
}

#[test]
fn an_operation_has_a_line_in_every_log() {
    let plan = planned(
        "--name=a --size=1m --rw=randrw --ioengine=io_uring --write_bw_log=p --write_iops_log=p --write_lat_log=p --log_offset=1",
    );
    let (logs, torn) = written(&plan, &[operation(false, 0, 251_786), operation(true, 1_999_000, 2000)]);
    let text = |name: &str| logs[std::path::Path::new(name)].as_str();
    assert_eq!(text("p_bw.1.log"), "0, 16267, 0, 4096, 8192, 0\n2, 2048000, 1, 4096, 8192, 0\n");
    assert_eq!(text("p_iops.1.log"), "0, 1, 0, 4096, 8192, 0\n2, 1, 1, 4096, 8192, 0\n");
    assert_eq!(text("p_lat.1.log"), "0, 251886, 0, 4096, 8192, 0\n2, 2100, 1, 4096, 8192, 0\n");
    assert_eq!(text("p_clat.1.log"), "0, 251786, 0, 4096, 8192, 0\n2, 2000, 1, 4096, 8192, 0\n");
    assert_eq!(text("p_slat.1.log"), "0, 100, 0, 4096, 8192, 0\n2, 100, 1, 4096, 8192, 0\n");
    assert!(torn[0].contains("hold 2 operations of 1500"), "{torn:?}");
    // Issue times are the kernel's, and appear in two logs.
    let line = "--name=a --size=1m --rw=randrw --ioengine=io_uring --write_bw_log=p --write_lat_log=p --log_offset=1 --log_issue_time=1";
    let (logs, _) = written(&planned(line), &[operation(false, 0, 9), operation(true, 1_999_000, 2000)]);
    let text = |name: &str| logs[std::path::Path::new(name)].as_str();
    assert_eq!(text("p_clat.1.log"), "0, 9, 0, 4096, 8192, 0, 100\n2, 2000, 1, 4096, 8192, 0, 1999100\n");
    assert_eq!(text("p_slat.1.log"), "0, 100, 0, 4096, 8192, 0, 100\n2, 100, 1, 4096, 8192, 0, 1999100\n");
    assert_eq!(text("p_lat.1.log"), "0, 109, 0, 4096, 8192, 0, 0\n2, 2100, 1, 4096, 8192, 0, 0\n");
    assert!(text("p_bw.1.log").lines().all(|line| line.ends_with(", 8192, 0, 0")));
    // An unqueued engine has no submission latency.
    let (logs, _) = written(&planned("--name=a --size=1m --write_lat_log=p"), &[operation(false, 0, 9)]);
    assert_eq!(logs[std::path::Path::new("p_slat.1.log")], "");
    assert_eq!(logs[std::path::Path::new("p_clat.1.log")], "0, 9, 0, 4096, 0\n");
}

#[test]
fn logs_go_on_through_the_reading_back() {
    let plan = planned(
        "--name=a --size=1m --rw=write --verify=md5 --write_lat_log=p --log_offset=1 --log_issue_time=1",
    );
    let run = record(&plan);
    let each = |phase: u32, _: u32| -> Box<dyn Iterator<Item = log_operations::Operation>> {
        Box::new(std::iter::once(operation(phase == 0, 3_000_000, 9)))
    };
    let noted =
        logs::RecordedData { operations: &each, began_ms: &|phase| 1_000_000 + 500 * u64::from(phase) };
    let mut text = String::new();
    let torn = logs::write(&plan, &run, &noted, &mut |path, part| {
        if path.ends_with("p_clat.1.log") {
            text += part;
        }
    });
    assert_eq!(text, "3, 9, 1, 4096, 8192, 0, 3000000\n503, 9, 0, 4096, 8192, 0, 503000000\n");
    assert_eq!(torn.len(), 2, "{torn:?}");
}

#[test]
fn windows_of_operations_tell_means_or_largest_values_by_the_clock_of_the_wall() {
    let operations =
        [operation(false, 0, 900), operation(false, 1000, 2900), operation(false, 26_000_000, 5)];
    let lat = |args: &str| {
        let plan = planned(&format!("--name=a --size=1m --write_lat_log=p --log_avg_msec=25 {args}"));
        written(&plan, &operations).0[std::path::Path::new("p_clat.1.log")].clone()
    };
    assert_eq!(lat(""), "25, 1900, 0, 0, 0\n50, 5, 0, 0, 0\n");
    assert_eq!(lat("--log_max_value=1"), "25, 2900, 0, 0, 0\n50, 5, 0, 0, 0\n");
    assert_eq!(lat("--log_window_value=both"), "25, 1900, 2900, 0, 0, 0\n50, 5, 5, 0, 0, 0\n");
    assert_eq!(
        lat("--log_prio=1 --prio=3 --log_offset=1"),
        "25, 1900, 0, 0, 0, 0x4003\n50, 5, 0, 0, 0, 0x4003\n"
    );
    assert_eq!(lat("--log_unix_epoch=1"), "1700000000025, 1900, 0, 0, 0\n1700000000050, 5, 0, 0, 0\n");
}

#[test]
fn histograms_tell_what_each_window_added() {
    let plan = planned(
        "--name=a --size=1m --rw=randrw --write_hist_log=h --log_hist_msec=1000 --log_hist_coarseness=6",
    );
    let operations = [
        operation(false, 0, 5),
        operation(false, 10, 70),
        operation(true, 20, u64::MAX / 4),
        operation(false, 1_500_000_000, 5),
    ];
    let text = written(&plan, &operations).0.remove(std::path::Path::new("h_clat_hist.1.log")).unwrap();
    let lines: Vec<Vec<u64>> =
        text.lines().map(|line| line.split(", ").map(|n| n.parse().unwrap()).collect()).collect();
    let times: Vec<[u64; 3]> = lines.iter().map(|l| [l[0], l[1], l[2]]).collect();
    // A latency of 146 years goes into the last bucket and moves the window: operations that end later belong to that window.
    assert_eq!(times[..1], [[1000, 0, 4096]]);
    assert!(lines.iter().all(|l| l.len() == 3 + 29));
    assert_eq!(lines[0][3..6], [1, 1, 0]);
    let all: u64 = lines.iter().flat_map(|l| &l[3..]).sum();
    assert_eq!((all, lines.iter().map(|l| l[31]).sum::<u64>()), (4, 1));
    let empty = planned("--name=a --size=1m --write_hist_log=h");
    assert_eq!(written(&empty, &operations).0[std::path::Path::new("h_clat_hist.1.log")], "");
}

#[test]
fn all_jobs_together_have_a_log_of_bandwidth() {
    let plan = planned("--name=a --size=1m --name=b --stonewall --size=1m");
    let [read, write, trim] = logs::together(&record(&plan));
    assert_eq!((read.0, write.0, trim.0), ("agg-read_bw.log", "agg-write_bw.log", "agg-trim_bw.log"));
    let lines: Vec<&str> = read.1.lines().collect();
    // 400 KiB in the first half second; the second phase begins when the first has ended.
    assert_eq!((lines.len(), lines[0], lines[1]), (8, "500, 800, 0, 0, 0", "1000, 1600, 0, 0, 0"));
    assert_eq!(lines[4], "2600, 800, 0, 0, 0");
    assert_eq!(write.1.lines().next(), Some("500, 0, 1, 0, 0"));
    assert_eq!(trim.1.lines().next(), Some("500, 0, 2, 0, 0"));
}

/// A 4 KiB operation with this completion latency; submission, if logged, took 100 ns.
fn operation(write: bool, start_ns: u64, completion_ns: u64) -> log_operations::Operation {
    log_operations::Operation {
        does: if write { log_operations::Did::Write } else { log_operations::Did::Read },
        start_ns,
        latency_ns: completion_ns,
        submission_ns: 0,
        file: 0,
        offset: 8192,
        bytes: 4096,
        priority: 0,
    }
}

/// The logs of a run in which every worker did the same operations.
fn written(
    plan: &Plan,
    operations: &[log_operations::Operation],
) -> (std::collections::BTreeMap<std::path::PathBuf, String>, Vec<String>) {
    let mut logs = std::collections::BTreeMap::<std::path::PathBuf, String>::new();
    let queued = engine_batch(&plan.jobs[0]).is_some();
    let each = |_: u32, _: u32| -> Box<dyn Iterator<Item = log_operations::Operation> + '_> {
        let given = |o: &log_operations::Operation| match queued {
            true => log_operations::Operation { latency_ns: o.latency_ns + 100, submission_ns: 100, ..*o },
            false => *o,
        };
        Box::new(operations.iter().map(given).collect::<Vec<_>>().into_iter())
    };
    let noted = logs::RecordedData { operations: &each, began_ms: &|_| 1_700_000_000_000 };
    let torn = logs::write(plan, &record(plan), &noted, &mut |path, text| {
        logs.entry(path.to_owned()).or_default().push_str(text);
    });
    (logs, torn)
}

#[test]
fn times_from_1970_begin_when_a_job_does() {
    let logs = "--size=1m --log_unix_epoch=1 --log_avg_msec=500";
    let plan = planned(&format!(
        "--name=a {logs} --write_bw_log=x --name=b {logs} --write_bw_log=y --startdelay=3 --ramp_time=2"
    ));
    let (logs, _) = written(&plan, &[]);
    let first_ms = |name: &str| -> u64 {
        let text = &logs[std::path::Path::new(name)];
        text.split(',').next().unwrap().parse().unwrap_or_else(|e| panic!("{e}: {text}"))
    };
    let (a, b) = (first_ms("x_bw.1.log"), first_ms("y_bw.2.log"));
    assert!(a >= 1_700_000_000_000, "{a}");
    assert_eq!(b - a, 5000, "it waits and warms up before");
}

#[test]
fn several_formats_in_their_order() {
    let plan = planned("--output-format=json,normal,terse --name=a --size=1m");
    let text = results(&plan, &record(&plan), &moment());
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in\n{text}"));
    // fio's order whatever the requested one, and one blank line after the JSON.
    assert!(text.starts_with("3;fio-3.") && at("\"fio version\"") < at("\n}\n\na: (groupid=0"));
    let appended = planned("--append-terse --name=a --size=1m");
    assert!(results(&appended, &record(&appended), &moment()).starts_with("3;fio-3."));
}

#[test]
fn the_status_line() {
    let plan = planned("--name=a --size=1m --rw=randread --runtime=4 --time_based --numjobs=3");
    let run = record(&plan);
    let interval = &run.phases[0].repetitions[0].intervals[1];
    assert_eq!(
        status::line(&plan, 0, interval),
        "Jobs: 3 (f=3): [r(3)][25.0%][r=1600KiB/s][r=200 IOPS][eta 00m:03s]"
    );
    let limits = |args: &str| {
        let plan = planned(&format!("--name=a --size=1m --runtime=4 {args}"));
        let line = status::line(&plan, 0, interval);
        line[..line.find(": [").unwrap()].to_owned()
    };
    // As in fio 3.33.
    assert_eq!(limits("--rw=randrw --rate_iops=500"), "Jobs: 1 (f=1), 0-1000 IOPS");
    assert_eq!(limits("--rate_iops=12345 --numjobs=3"), "Jobs: 3 (f=3), 0-37035 IOPS");
    assert_eq!(limits("--rate=4m --bs=4k"), "Jobs: 1 (f=1), 0B/s-4096KiB/s");
}
