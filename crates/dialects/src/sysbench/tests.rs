//! Complete command lines: planned, printed from synthetic records, or refused. Output is compared with golden files, which were checked
//! manually against 1.0.20's output (digits masked) and, for 0.4.12, against published output.

use super::*;
use crate::LivePrinter as _;
use fathom_record as record;
use fathom_record::{
    Ending, Histogram, Interval, Marks, OpError, OpKind, OpStat, Repetition, Run, Status, Worker,
};
use fathom_workload::{Access, Amount, Program, Stream};
use proptest::prelude::*;

/// The command line from 2004.
const SEED: &str = "--num-threads=16 --test=fileio --file-total-size=3G --file-test-mode=rndrw run";

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn no_file(_: &Path) -> Result<String, String> {
    Err("No such file or directory".into())
}

fn context() -> Context<'static> {
    Context { clock_seed: 5, read: &no_file }
}

fn planned(line: &str) -> Parsed {
    plan(&words(line), &context()).unwrap_or_else(|exit| panic!("{line}: {exit:?}"))
}

fn refused(line: &str) -> SysbenchExit {
    plan(&words(line), &context()).unwrap_err()
}

fn stream(parsed: &Parsed) -> &Stream {
    match &parsed.workload.phases[0].groups[0].threads[0].program {
        Program::Stream(stream) => stream,
        Program::Flow(_) => panic!("no flows here"),
    }
}

fn stat(op: OpKind, each_bytes: u64, latencies_ns: impl IntoIterator<Item = u64>) -> OpStat {
    let latency = Histogram::from_values(latencies_ns);
    OpStat { op, ops: latency.count(), bytes: latency.count() * each_bytes, latency }
}

/// The result of two threads of a mix over two seconds, with a series of one-second intervals.
fn phase(parsed: &Parsed) -> record::Phase {
    let block = 16384;
    let worker = |index: u32| {
        let n = 300 + u64::from(index) * 20;
        Worker {
            group: "fileio".into(),
            index,
            start_ns: 1000,
            elapsed_ns: 2_000_100_000,
            ops: n * 5 / 3,
            bytes: n * 5 / 3 * block,
            marks: Marks { last_op_ns: 2_000_000_000, fsync_ns: 2_000_100_000, close_ns: 2_000_200_000 },
            stats: vec![
                stat(OpKind::Read, block, (0..n).map(|i| 10_000 + i * 100)),
                stat(OpKind::Write, block, (0..n * 2 / 3).map(|i| 20_000 + i * 100)),
                stat(OpKind::Sync, 0, (0..8).map(|i| 900_000 + i)),
                stat(OpKind::FinalSync, 0, [50_000; 4]),
            ],
            ending: Ending::Stopped,
            ..Worker::default()
        }
    };
    let interval = |second: u64| Interval {
        end_ns: second * 1_000_000_000 + 50_000,
        width_ns: 1_000_000_000,
        ops: 516,
        bytes: 516 * block,
        latencies: vec![
            (OpKind::Read, Histogram::from_values((0..310).map(|i| 10_000 + i * 100))),
            (OpKind::Write, Histogram::from_values((0..206).map(|i| 20_000 + i * 100))),
            (OpKind::Sync, Histogram::from_values([900_000; 8])),
        ],
        moved: vec![(OpKind::Read, 310 * block), (OpKind::Write, 206 * block)],
    };
    record::Phase {
        seq: 0,
        name: parsed.workload.phases[0].name.clone(),
        axes: record::Axes::default(),
        reads: true,
        writes: true,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![Repetition {
            elapsed_ns: 2_000_500_000,
            workers: (0..parsed.options.threads).map(worker).collect(),
            intervals: vec![interval(1), interval(2)],
            ..Repetition::default()
        }],
    }
}

/// The complete output of a live run.
fn output(line: &str) -> String {
    let parsed = planned(line);
    let phase = phase(&parsed);
    let mut printer = SysbenchPrinter::new(&parsed);
    let mut text = printer.head();
    text += &printer.phase_started(&parsed.workload.phases[0]);
    text += &printer.started();
    for interval in &phase.repetitions[0].intervals {
        text += &printer.interval(interval);
    }
    text += &printer.phase_done(&phase);
    text += &printer.end();
    text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    assert_eq!(text, replayed(line, &parsed, phase).replace(env!("CARGO_PKG_VERSION"), "VERSION"), "{line}");
    text
}

fn replayed(line: &str, parsed: &Parsed, phase: record::Phase) -> String {
    let run = Run {
        id: "r".into(),
        status: Status::Completed,
        argv: words(&format!("fathom sysbench {line}")),
        seed: parsed.workload.seed.0,
        phases: vec![phase],
        ..Run::default()
    };
    print(&run).unwrap_or_else(|e| panic!("{line}: {e}"))
}

#[test]
fn what_a_run_prints() {
    let common = "fileio --file-num=2 --file-total-size=64M --file-test-mode=rndrw --time=2";
    for (name, more) in [
        ("mix", "--threads=2"),
        ("intervals", "--threads=2 --report-interval=1 --histogram --percentile=99 --rand-seed=7"),
        ("checkpoints", "--report-checkpoints=1 --report-interval=1"),
        ("checkpoints-of-two", "--threads=2 --report-checkpoints=1 --verbosity=4"),
        ("debug", "--threads=2 --debug --validate --forced-shutdown=3 --rate=100"),
        (
            "no-percentile",
            "--percentile=0 --file-fsync-all --file-io-mode=async --file-extra-flags=direct,sync",
        ),
        ("quiet", "--verbosity=2"),
    ] {
        insta::assert_snapshot!(name, output(&format!("{common} {more} run")));
    }
}

#[test]
fn what_a_run_of_the_older_language_prints() {
    insta::assert_snapshot!("old", output(SEED));
    let line = "--test=fileio --num-threads=2 --file-num=2 --file-total-size=10M --file-test-mode=seqrewr --max-time=2 \
                --report-interval=1 --init-rng=on --file-io-mode=mmap --file-extra-flags=direct --percentile=99 run";
    insta::assert_snapshot!("old-sequential", output(line));
}

#[test]
fn command_lines_and_their_workloads() {
    let toml = |line: &str| planned(line).workload.to_toml().unwrap();
    insta::assert_snapshot!(
        "plan-mix",
        toml("fileio --file-test-mode=rndrw --threads=16 --events=1000 --rand-seed=7 run")
    );
    insta::assert_snapshot!(
        "plan-seqwr",
        toml(
            "fileio --file-test-mode=seqwr --file-merged-requests=4 --file-io-mode=async --rate=9 --file-path=/d run"
        )
    );
    insta::assert_snapshot!(
        "plan-validate",
        toml("fileio --file-test-mode=rndrd --validate --percentile=0 --file-cold --file-replace run")
    );
    insta::assert_snapshot!("plan-old", toml(SEED));
}

#[test]
fn syncs_in_each_mode() {
    let of = |line: &str| stream(&planned(&format!("fileio {line} run"))).clone();
    let plain = of("--file-test-mode=rndwr");
    assert!(plain.timed.fsync && plain.sync_every.is_none());
    let series = plain.sync_series.unwrap();
    assert_eq!((series.requests, series.counted, series.at_end, series.data_only), (100, true, false, false));
    let all = of("--file-test-mode=rndwr --file-fsync-all");
    assert!(!all.timed.fsync && all.sync_series.is_none() && all.sync_every.unwrap().inside);
    let end = of("--file-test-mode=seqrewr --file-fsync-freq=0 --file-fsync-mode=fdatasync");
    assert!(end.timed.fsync && end.sync_series.is_some_and(|s| s.requests == 0 && s.data_only));
    let asynchronous = "--file-io-mode=async --file-fsync-all";
    let waits = of(&format!("--file-test-mode=rndrw {asynchronous}"));
    assert_eq!(
        (waits.queue_depth, waits.backend),
        (1, fathom_workload::Backend::default()),
        "no write is left to wait for"
    );
    assert_eq!(of(&format!("--file-test-mode=rndrd {asynchronous}")).queue_depth, 128);
    for reads in ["seqrd", "rndrd"] {
        let reads = of(&format!("--file-test-mode={reads}"));
        assert!(!reads.timed.fsync && reads.sync_series.is_none(), "reads sync nothing");
    }
    let none = of("--file-test-mode=rndrw --file-fsync-freq=0 --file-fsync-end=off");
    assert!(!none.timed.fsync && none.sync_series.is_none());
}

#[test]
fn the_older_language_counts_requests_and_makes_one_pass() {
    let parsed = planned(SEED);
    assert_eq!(stream(&parsed).amount, Amount::Operations(10_000));
    assert_eq!(parsed.workload.phases[0].stop.time, None);
    let series = stream(&parsed).sync_series.unwrap();
    assert!(series.at_end && !series.counted && !stream(&parsed).timed.fsync);
    assert!(parsed.warnings.is_empty() && parsed.opening.starts_with("sysbench 0.4.12:"));
    let pass = planned(&SEED.replace("rndrw", "seqrd"));
    assert_eq!(stream(&pass).amount, Amount::Pass);
    let new = planned(&format!("--dialect=1.0 {SEED}"));
    assert_eq!(stream(&new).amount, Amount::Endless);
    assert_eq!(new.workload.phases[0].stop.time.map(|t| t.0), Some(10_000_000_000));
    assert!(
        new.opening
            .starts_with("WARNING: --num-threads is deprecated, use --threads instead\nsysbench 1.0.20 ")
    );
    assert!(new.warnings.starts_with("WARNING: the --test option is deprecated."));
}

#[test]
fn numbers_follow_the_seed() {
    let access = |line: &str| match stream(&planned(line)).access {
        Access::Scaled(how) => how,
        ref other => panic!("{other:?}"),
    };
    let seven = access("fileio --file-test-mode=rndrd --rand-seed=7 run");
    assert_eq!((seven.libc_seed, seven.dropped), (Some(7), 1));
    let minus = access("fileio --file-test-mode=rndrd --rand-seed=-1 --percentile=0 run");
    assert_eq!((minus.libc_seed, minus.dropped), (Some(u32::MAX), 0));
    assert_eq!(access("fileio --file-test-mode=rndrd run").libc_seed, None);
    assert_eq!(planned("fileio --file-test-mode=rndrd run").workload.seed.0, 5, "the clock's");
}

#[test]
fn a_run_without_limits_is_endless() {
    for line in [
        "fileio --time=0 --file-test-mode=seqrd run",
        "--test=fileio --num-threads=2 --max-requests=0 --file-test-mode=rndwr run",
    ] {
        let parsed = planned(line);
        assert_eq!(parsed.workload.check(), Ok(()));
        assert_eq!(stream(&parsed).amount, Amount::Endless);
        assert!(parsed.workload.phases[0].stop.time.is_some_and(|t| t.0 > 300_000_000_000_000_000));
    }
}

#[test]
fn times_longer_than_anybody_lives_are_accepted() {
    let parsed = planned("fileio --time=826856369 --report-interval=2147483647 --file-test-mode=seqrd run");
    assert_eq!(parsed.workload.check(), Ok(()));
}

#[test]
fn intervals_are_as_wide_as_all_reports_need() {
    let width = |line: &str| {
        let seconds =
            planned(&format!("fileio --file-test-mode=seqrd {line} run")).workload.phases[0].interval.0;
        seconds / 1_000_000_000
    };
    assert_eq!(width(""), 1);
    assert_eq!(width("--report-interval=4"), 4);
    assert_eq!(width("--report-interval=4 --report-checkpoints=6,10"), 2);
}

/// Stdout and stderr with the exit code.
fn said(line: &str) -> String {
    let exit = refused(line);
    let text = format!("$ sysbench {line}\n{}", exit.stdout)
        + &exit.stderr.lines().map(|l| format!("! {l}\n")).collect::<String>();
    format!("{text}= {}\n\n", exit.code).replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn what_ends_before_it_begins() {
    let lines = [
        "--version",
        "fileio help",
        "fileio",
        "fileio run",
        "fileio --verbosity=1 run",
        "fileio frob",
        "fileio --nosuch=1 run",
        "fileio run x",
        "foo run",
        "",
        "cpu run",
        "oltp_read_only prepare",
        "--test=memory run",
        "--test=fileio fileio prepare",
        "fileio --threads=x run",
        "fileio --threads=0 run",
        "fileio --threads=0 --num-threads=2 --max-time=1 --max-requests=3 --tx-rate=4 --file-test-mode=foo run",
        "fileio --time=0 --tx-rate=4 --test=fileio frob",
        "fileio --percentile=101 run",
        "fileio --verbosity=9 run",
        "fileio --report-checkpoints=1,x run",
        "fileio --forced-shutdown=x run",
        "fileio --file-num=x run",
        "fileio --file-num=0 run",
        "fileio --file-total-size=40x prepare",
        "fileio --file-total-size=5 prepare",
        "fileio --file-test-mode=foo run",
        "fileio --file-test-mode=rndrd --file-io-mode=foo run",
        "fileio --file-merged-requests=-1 prepare",
        "fileio --file-block-size=4x prepare",
        "fileio --file-extra-flags=foo prepare",
        "fileio --file-fsync-freq=-1 prepare",
        "fileio --file-fsync-mode=foo cleanup",
        "fileio --file-rw-ratio=-1 prepare",
        "fileio --file-test-mode=seqrd --file-io-mode=async --file-async-backlog=0 run",
        "fileio --file-fsync-end=no prepare",
        "fileio --config-file=nocfg prepare",
        "fileio --warmup-time=3 prepare",
        "fileio --validate --file-block-size=12 prepare",
        "fileio --validate --file-num=3 --file-total-size=10M --file-test-mode=rndrd run",
        "fileio --dialect=0.5 run",
        "--test=fileio --num-threads=2 --histogram run",
        "--test=fileio --num-threads=2 --tx-jitter=3 run",
        "--dialect=0.4 prepare",
    ];
    insta::assert_snapshot!("ends", lines.map(said).concat());
    insta::assert_snapshot!("help", said("--help"));
    assert_eq!(said("fileio -h").replacen("fileio -h", "--help", 1), said("--help"));
    assert_eq!(said("-h").replacen("-h", "--help", 1), said("--help"));
    insta::assert_snapshot!("help-old", said("--help --dialect=0.4"));
}

#[test]
fn a_file_of_options_counts_where_it_stands() {
    let read = |_: &Path| Ok("threads=3\nfile-test-mode = rndrd\nevents=7\n".to_owned());
    let parsed = plan(
        &words("fileio --threads=9 --config-file=c --events=8 run"),
        &Context { clock_seed: 1, read: &read },
    );
    let parsed = parsed.unwrap();
    assert_eq!((parsed.options.threads, parsed.options.events), (3, 8));
    assert_eq!(parsed.options.mode, options::Mode::RandomRead);
    assert!(parsed.arguments.contains(&"--threads=3".to_owned()), "{:?}", parsed.arguments);
}

#[test]
fn a_run_that_failed_prints_its_error() {
    let line = "fileio --file-test-mode=rndrd --threads=2 run";
    let parsed = planned(line);
    let mut phase = phase(&parsed);
    let error = OpError {
        call: "read".into(),
        path: "/x/test_file.1".into(),
        offset: Some(972_118),
        errno: 22,
        ..OpError::default()
    };
    phase.repetitions[0].workers[1].ending = Ending::Failed(error);
    let run = Run {
        status: Status::Failed,
        argv: words(&format!("/usr/bin/sysbench {line}")),
        phases: vec![phase],
        ..Run::default()
    };
    let text = print(&run).unwrap();
    assert!(text.ends_with("Threads started!\n\nFATAL: Failed to read file! file: 1 pos: 972118 errno = 22 (Invalid argument)\n"), "{text}");
    let other = Run { id: "r".into(), argv: words("fathom iozone -a"), ..Run::default() };
    assert_eq!(print(&other), Err(SysbenchReplayError::NotSysBench { id: "r".into() }));
}

#[test]
fn the_option_table_in_the_documentation_is_the_one_in_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sysbench.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- options: begin -->\n", "<!-- options: end -->");
    let (head, rest) = page.split_once(begin).unwrap();
    let (table, tail) = rest.split_once(end).unwrap();
    if table == documentation() {
        return;
    }
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(path, format!("{head}{begin}{}{end}{tail}", documentation())).unwrap();
        return;
    }
    panic!("docs/sysbench.md has another table of options; run this test with FATHOM_BLESS=1");
}

/// A command-line word: mostly options, some nonsense.
fn word() -> impl Strategy<Value = String> {
    let name = prop::sample::select(table::OPTIONS.iter().map(|r| r.name).collect::<Vec<_>>());
    let value = prop_oneof![
        4 => prop::sample::select(vec!["0", "1", "2", "16", "4k", "2G", "on", "off", "seqwr", "rndrw", "rndrd", "async", "mmap", "direct,sync", "0.4", "1.0", "1,2"]).prop_map(str::to_owned),
        1 => any::<i64>().prop_map(|n| n.to_string()),
        1 => ".{0,6}",
    ];
    prop_oneof![
        6 => (name, value).prop_map(|(n, v)| format!("--{n}={v}")),
        1 => Just("--file-test-mode=rndrw".to_owned()),
        2 => prop::sample::select(vec!["fileio", "run", "prepare", "cleanup", "help"]).prop_map(str::to_owned),
        1 => "-{0,2}[a-z_=-]{0,8}",
        1 => ".{0,8}",
    ]
}

/// Whether the model refuses it only for its size.
fn too_much(message: &str) -> bool {
    ["too large", "larger than any file", "beyond the largest", "more than 65536 workers", "in flight"]
        .iter()
        .any(|t| message.contains(t))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_argument_list_panics(args in prop::collection::vec(word(), 0..10), usual in any::<bool>()) {
        let mut args = args;
        if usual {
            args.retain(|a| a.starts_with("--") && !a.starts_with("--help") && !a.starts_with("--version"));
            args.splice(0..0, words("fileio run --file-test-mode=seqrd"));
        }
        if let Ok(parsed) = plan(&args, &context()) {
            if let Err(errors) = parsed.workload.check() {
                prop_assert!(errors.iter().all(|e| too_much(&e.message)), "{args:?}: {errors:?}");
            }
            let toml = parsed.workload.to_toml().unwrap();
            prop_assert_eq!(fathom_workload::Workload::from_toml(&toml), Ok(parsed.workload.clone()));
            let mut printer = SysbenchPrinter::new(&parsed);
            let _ = printer.head();
            prop_assert_eq!(plan(&parsed.arguments, &context()).map(|p| p.workload), Ok(parsed.workload));
        }
    }
}
