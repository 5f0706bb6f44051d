//! Compares the output with the original's: exact layout, figures from synthetic rows.

use super::*;
use crate::filebench::plan::{Found, Options, World, plan};
use fathom_record::{Histogram, OpKind, Row, RowClass};
use fathom_workload::Group;

fn groups(script: &str) -> Vec<Group> {
    let world = World {
        look: &|_| Found::Missing,
        read: &|_| None,
        environment: &|_| None,
        date: String::new(),
        hostname: String::new(),
    };
    let plan =
        plan("t.f", script, &Options::default(), &world).unwrap_or_else(|e| panic!("{}", e[0].rendered));
    let run = plan.runs().next().unwrap();
    run.workload.phases[0].groups.clone()
}

fn row(name: &str, class: RowClass, kind: Option<OpKind>, bytes_each: u64, latencies_us: &[u64]) -> Row {
    let ops = latencies_us.len() as u64;
    let latency = Histogram::from_values(latencies_us.iter().map(|us| us * 1000));
    Row { name: name.into(), class, kind, ops, bytes: ops * bytes_each, latency, cpu_ns: ops * 29_000 }
}

const SEED: &str = "define file name=f1,path=/d,size=1m define file name=f2,path=/d,size=1m\n\
    define process name=rand-a { thread name=ra { flowop read name=rand-read1,filename=f1,iosize=2k,random flowop eventlimit name=rand-rate } }\n\
    define process name=rand-b { thread name=rb { flowop read name=rand-read1,filename=f2,iosize=2k,random flowop eventlimit name=rand-rate } }\nrun 1";

fn seed_rows() -> Vec<Row> {
    vec![
        row("rand-rate", RowClass::Other, None, 0, &[]),
        row("rand-read1", RowClass::Io, Some(OpKind::Read), 2048, &[2_149_300; 4474]),
    ]
}

#[test]
fn the_seeds_page_to_the_character() {
    let cpu = CpuTimesForTest { machine: 4474 * 624_000 + 5_000_000, own: 4474 * 29_000 + 5_000_000 };
    let figures = Figures::new(&groups(SEED), &seed_rows(), 302.2, cpu.into(), Format::Dump);
    assert_eq!(
        dump(&figures),
        "Flowop totals:\n\
         rand-rate                   0ops/s   0.0mb/s      0.0ms/op        0us/op-cpu\n\
         rand-read1                  0ops/s   0.0mb/s      0.0ms/op        0us/op-cpu\n\
         rand-rate                   0ops/s   0.0mb/s      0.0ms/op        0us/op-cpu\n\
         rand-read1                 15ops/s   0.0mb/s   2149.3ms/op       29us/op-cpu\n\
         \n\
         IO Summary:          4474 ops     14.8 ops/s,       15/0 r/w     0.0mb/s,      624uscpu/op\n"
    );
}

struct CpuTimesForTest {
    machine: u64,
    own: u64,
}

impl From<CpuTimesForTest> for figures::CpuTimes {
    fn from(c: CpuTimesForTest) -> Self {
        Self { machine_ns: Some(c.machine), own_ns: c.own }
    }
}

#[test]
fn the_newest_of_one_name_has_the_figures_in_1_5() {
    let figures =
        Figures::new(&groups(SEED), &seed_rows(), 302.2, figures::CpuTimes::default(), Format::V1_5);
    let seen: Vec<(&str, u64)> = figures.rows.iter().map(|r| (r.name.as_str(), r.ops)).collect();
    assert_eq!(seen, [("rand-rate", 0), ("rand-read1", 4474), ("rand-rate", 0), ("rand-read1", 0)]);
}

const PAIR: &str = "define file name=f1,path=/d,size=1m,prealloc\n\
    define process name=cons { thread name=c { flowop semblock name=sb,value=10,highwater=10 flowop write name=wr1,filename=f1,iosize=4k } }\n\
    define process name=prod { thread name=p { flowop read name=rd1,filename=f1,iosize=4k flowop sempost name=sp,value=1,target=sb,blocking flowop eventlimit name=ev } }\nrun 4";

fn pair() -> Figures {
    let rows = [
        row("ev", RowClass::Other, None, 0, &[9978; 400]),
        row("sp", RowClass::Sync, None, 0, &[5; 400]),
        row("rd1", RowClass::Io, Some(OpKind::Read), 4096, &[3; 400]),
        row("wr1", RowClass::Io, Some(OpKind::Write), 4096, &[45; 40]),
        row("sb", RowClass::Sync, None, 0, &[99_809; 40]),
    ];
    Figures::new(&groups(PAIR), &rows, 4.001, figures::CpuTimes::default(), Format::V1_5)
}

#[test]
fn a_run_of_1_5_to_the_character() {
    let figures = pair();
    assert_eq!(
        rows(&figures, Format::V1_5, false),
        "ev                   400ops      100ops/s   0.0mb/s    9.978ms/op [9.978ms - 9.978ms]\n\
         sp                   400ops      100ops/s   0.0mb/s    0.005ms/op [0.005ms - 0.005ms]\n\
         rd1                  400ops      100ops/s   0.4mb/s    0.003ms/op [0.003ms - 0.003ms]\n\
         wr1                  40ops       10ops/s   0.0mb/s    0.045ms/op [0.045ms - 0.045ms]\n\
         sb                   40ops       10ops/s   0.0mb/s   99.809ms/op [99.809ms - 99.809ms]\n"
    );
    assert_eq!(
        summary(&figures, Format::V1_5),
        "IO Summary:   440 ops 109.973 ops/s 100/10 rd/wr   0.4mb/s 0.007ms/op"
    );
}

#[test]
fn older_forms() {
    let figures = pair();
    insta::assert_snapshot!(format!(
        "{}{}\n{}{}\n",
        rows(&figures, Format::V1_4, false),
        summary(&figures, Format::V1_4),
        rows(&figures, Format::V1_1, false),
        summary(&figures, Format::V1_1)
    ));
}

#[test]
fn histograms_have_a_bucket_for_each_power_of_two() {
    let latency = Histogram::from_values([0, 1, 2, 3, 4, 1000, 7000, 42_000]);
    let row = Row { name: "rd1".into(), ops: 8, latency, ..Row::default() };
    let figures = Figures::new(&groups(PAIR), &[row], 1.0, figures::CpuTimes::default(), Format::V1_5);
    let line = rows(&figures, Format::V1_5, true);
    let line = line.lines().nth(2).unwrap();
    let (_, tail) = line.split_once('\t').unwrap();
    let counts: Vec<u64> =
        tail.trim_matches(['[', ']', ' ']).split(' ').map(|n| n.parse().unwrap()).collect();
    assert_eq!(counts.len(), 64);
    let filled: Vec<(usize, u64)> = counts.into_iter().enumerate().filter(|c| c.1 > 0).collect();
    assert_eq!(filled, [(0, 1), (1, 1), (2, 2), (3, 1), (10, 1), (13, 1), (16, 1)]);
    assert!(tail.starts_with("[ 1 1 2 ") && tail.ends_with(" 0 ]"));
}

#[test]
fn rows_stand_as_the_original_lists_its_flowops() {
    let script = "define file name=two,path=/d,size=1m\n\
        define flowop name=comp { flowop read name=cr,filename=two,iosize=4k,fd=1 flowop delay name=cd,value=0 }\n\
        define flowop name=outer { flowop comp name=in1 flowop statfile name=os,filename=two }\n\
        define process name=pa { thread name=ta { flowop outer name=uu,iters=2 flowop eventlimit name=lim }\n\
        thread name=tb { flowop read name=rr,filename=two,iosize=8k flowop comp name=in2 } }\n\
        define process name=pb { thread name=tc { flowop read name=rr,filename=two,iosize=8k flowop delay name=dd,value=1 } } run 1";
    let figures = Figures::new(&groups(script), &[], 1.0, figures::CpuTimes::default(), Format::V1_5);
    let names: Vec<&str> = figures.rows.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "dd",
            "rr",
            "in2.cd",
            "in2.cr",
            "in2",
            "rr",
            "lim",
            "uu.os",
            "uu.in1.cd",
            "uu.in1.cr",
            "uu.in1",
            "uu"
        ]
    );
}

#[test]
fn log_prefixes_and_usage() {
    assert_eq!(prefix(Format::V1_5, 2, 77, 0.0), "0.000: ");
    assert_eq!(prefix(Format::V1_5, 3, 1887, 1.0084), " 1887: 1.008: ");
    assert_eq!(prefix(Format::V1_4, 2, 77, 12.5), "   77: 12.500: ");
    assert!(usage("filebench").starts_with("Usage: filebench {-f <wmlscript> | -h | -c [cvartype]}\n"));
    insta::assert_snapshot!(format!(
        "{}\n{}\n{}",
        custom_types(),
        custom_type("cvar-gamma"),
        custom_type("nope")
    ));
}

#[test]
fn zeroed_counters_leave_what_came_after() {
    let of = |reads: &[u64], seconds| {
        let rows = [row("rd1", RowClass::Io, Some(OpKind::Read), 4096, reads)];
        Figures::new(&groups(PAIR), &rows, seconds, figures::CpuTimes::default(), Format::V1_5)
    };
    let since = of(&[10, 20, 300, 400], 2.0).since(&of(&[10, 20], 1.0));
    let read = &since.rows[2];
    assert_eq!((since.seconds, read.ops, read.bytes, read.total_ns), (1.0, 2, 8192, 700_000.0));
    assert!((290_000..=300_000).contains(&read.min_ns) && (400_000..=407_000).contains(&read.max_ns));
    assert_eq!((since.io.ops, since.io.reads), (2, 2));
    assert_eq!(read.buckets.iter().sum::<u64>(), 2);
}

#[test]
fn of_a_single_operation_the_range_is_its_duration() {
    let of = |latencies: &[u64]| {
        let rows = [row("rand-read1", RowClass::Io, Some(OpKind::Read), 2048, latencies)];
        Figures::new(&groups(SEED), &rows, 1.0, CpuTimes::default(), Format::V1_5)
    };
    let row = &of(&[7, 1_000_810]).since(&of(&[7])).rows[1];
    assert_eq!((row.ops, row.min_ns, row.max_ns), (1, 1_000_810_000, 1_000_810_000));
}

#[test]
fn operations_of_one_name_count_as_what_they_are() {
    let rows = [
        row("rand-read1", RowClass::Io, None, 0, &[5; 3]),
        row("rand-read1", RowClass::Io, Some(OpKind::Read), 2048, &[5; 4]),
        row("rand-read1", RowClass::Sync, None, 0, &[5; 2]),
    ];
    let io = Figures::new(&groups(SEED), &rows, 1.0, CpuTimes::default(), Format::V1_5).io;
    assert_eq!((io.ops, io.reads, io.bytes), (7, 4, 4 * 2048));
}
