//! Reading of each format: the resulting events, error messages, and that arbitrary bytes do not panic. The texts are synthetic,
//! modelled on real traces; those of the kernel were recorded on a loop device.

use super::*;
use crate::trace::TracePlace;
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};
use proptest::prelude::*;
use std::io::Cursor;

fn boxed(bytes: &[u8]) -> Box<dyn Read> {
    Box::new(Cursor::new(bytes.to_vec()))
}

/// Reads a text after detecting its format. Returns its events and information.
#[track_caller]
fn read(bytes: impl AsRef<[u8]>) -> (Vec<BlockEvent>, About) {
    let mut trace = open("t", boxed(bytes.as_ref()), None).unwrap_or_else(|e| panic!("{e}"));
    let events = trace.by_ref().map(|e| e.unwrap_or_else(|e| panic!("{e}"))).collect();
    (events, trace.about())
}

#[track_caller]
fn mistake(bytes: impl AsRef<[u8]>) -> String {
    match open("t", boxed(bytes.as_ref()), None) {
        Err(e) => e.to_string(),
        Ok(mut trace) => trace.find_map(Result::err).map(|e| e.to_string()).unwrap_or_default(),
    }
}

/// One line per event: action, µs, device, flags, position, task.
fn lines_of(events: &[BlockEvent]) -> Vec<String> {
    let one = |e: &BlockEvent| {
        let mut line = format!(
            "{:?} {} {} {} {}+{}",
            e.action,
            e.time_ns,
            e.device,
            e.flags.rwbs(),
            e.sector,
            e.sectors
        );
        if e.task[0] != 0 {
            line += &format!(" {}/{}@{}", e.task_name(), e.pid, e.cpu);
        }
        if e.error != 0 {
            line += &format!(" error {}", e.error);
        }
        line
    };
    events.iter().map(one).collect()
}

/// Recorded on a loop device of Linux 6.18.
const TRACEFS: &str = "\
# tracer: nop
#
# entries-in-buffer/entries-written: 16/20   #P:2
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
              dd-18493   [000] .....  1301.773439: block_bio_queue: 7,0 WS 0 + 8 [dd]
              dd-18493   [000] .....  1301.773505: block_getrq: 7,0 WS 0 + 8 [dd]
              dd-18493   [000] .....  1301.773507: block_plug: [dd]
              dd-18493   [000] .....  1301.773511: block_bio_backmerge: 7,0 WS 8 + 8 [dd]
              dd-18493   [000] .....  1301.773513: block_io_start: 7,0 WS 524288 () 0 + 1024 be,0,4 [dd]
              dd-18493   [000] .....  1301.773714: block_unplug: [dd] 1
              dd-18493   [000] .....  1301.773715: block_rq_issue: 7,0 WS 524288 () 0 + 1024 be,0,4 [dd]
     ksoftirqd/1-22      [001] ..s..  1301.773955: block_rq_complete: 7,0 WS () 0 + 1024 be,0,4 [0]
    kworker/0:0H-10      [000] .....  1301.774352: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [kworker/0:0H]
          <idle>-0       [001] d.h1.  1301.780046: block_rq_complete: 7,0 FF () 18446744073709551615 + 0 none,0,0 [-5]
      blkdiscard-18492   [001] .....  1303.781525: block_rq_insert: 7,0 DS 1048576 () 0 + 2048 be,0,4 [blkdiscard]
      my [0] job-7-18492 [001] .....  1303.781526: block_split: 7,0 R 64 / 72 [my [0] job-7]
           <...>-18492   [001] .....  1303.781527: block_bio_complete: 7,0 R 64 + 8 [0]
              dd-18493   [000] .....  1303.781528: block_rq_requeue: 7,0 R () 64 + 8 be,0,4 [0]
              dd-18493   [000] .....  1303.781529: block_bio_remap: 7,0 R 64 + 8 <- (259,1) 0
              dd-18493   [000] .....  1303.781530: block_rq_issue: 7,0 N 36 (12 00 00 00 24 00) 0 + 0 none,0,0 [dd]
CPU:1 [LOST 3 EVENTS]
";

#[test]
fn the_kernels_text_of_6_18() {
    let (events, about) = read(TRACEFS);
    insta::assert_snapshot!(lines_of(&events).join("\n"), @r"
    Queue 1301773439000 7,0 WS 0+8 dd/18493@0
    GetRequest 1301773505000 7,0 WS 0+8 dd/18493@0
    Plug 1301773507000 7,0  0+0 dd/18493@0
    BackMerge 1301773511000 7,0 WS 8+8 dd/18493@0
    Unplug 1301773714000 7,0  0+1 dd/18493@0
    Issue 1301773715000 7,0 WS 0+1024 dd/18493@0
    Complete 1301773955000 7,0 WS 0+1024 ksoftirqd/1/22@1
    Issue 1301774352000 7,0 F 0+0 kworker/0:0H/10@0
    Complete 1301780046000 7,0 F 18446744073709551615+0 swapper/1/0@1 error -5
    Insert 1303781525000 7,0 DS 0+2048 blkdiscard/18492@1
    Split 1303781526000 7,0 R 64+8 my [0] job-7/18492@1
    BioComplete 1303781527000 7,0 R 64+8
    Requeue 1303781528000 7,0 R 64+8 dd/18493@0
    Remap 1303781529000 7,0 R 64+8 dd/18493@0
    Issue 1303781530000 7,0 N 0+0 dd/18493@0
    ");
    assert_eq!((about.lost, about.format), (7, TraceFormat::Tracefs));
    assert_eq!(about.notes.len(), 2, "{:?}", about.notes);
    assert!(about.header.queueing);
    assert_eq!(about.devices.len(), 1);
}

#[test]
fn the_kernels_text_of_older_kernels_and_other_printers() {
    let lines = "\
fio-1234  [002] d..1 10.000001: block_rq_issue: 8,0 R 4096 () 1818496 + 8 [fio]
fio-1234  ( 1200) [002] ....   10.000002: block_rq_insert: 8,0 R 4096 () 8 + 8 [fio]
fio-1234  [002] 10.000003: block_rq_complete: 8,0 R () 1818496 + 8 [0]
fio  1234 [002] 10.000004: block:block_rq_issue: 8,0 RM 4096 () 8 + 8 be,0,4 [fio]
fio-1234  [002] 10.000005: sched_switch: prev_comm=fio
";
    let (events, about) = read(lines);
    let words: Vec<String> = lines_of(&events);
    assert_eq!(words[0], "Issue 10000001000 8,0 R 1818496+8 fio/1234@2");
    assert_eq!(words[2], "Complete 10000003000 8,0 R 1818496+8 fio/1234@2");
    assert_eq!(words[3], "Issue 10000004000 8,0 RM 8+8 fio/1234@2");
    assert_eq!(events.len(), 4);
    assert!(!about.header.queueing, "no arrivals were traced");
}

/// Output of Debian's blkparse 1.2.0 for binary records of every kind.
const BLKPARSE: &str = "\
Input file g.blktrace.0 added
  7,0    0        1     0.000000000  4321  Q   R 1000 + 8 [my prog]
  7,0    0        2     0.000000010  4321  G   R 1000 + 8 [my prog]
  7,0    0        3     0.000000020  4321  P   N [my prog]
  7,0    0        4     0.000000030  4321  M  RA 1008 + 8 [my prog]
  7,0    0        5     0.000000040  4321  F   R 992 + 8 [my prog]
  7,0    0        6     0.000000050  4321  U   N [my prog] 3
  7,0    0        7     0.000000060  4321  I   R 992 + 24 [my prog]
  7,0    0        8     0.000000070  4321  D  RS 992 + 24 [my prog]
  7,0    0        9     0.001000080     0  C  RS 992 + 24 [0]
  7,0    0       10     0.001000090  4321  X   W 2000 / 2004 [my prog]
  7,0    0       11     0.001000091  4321  A   W 2000 + 8 <- (8,3) 5000
  7,0    0       12     0.001000092  4321  Q FWS [my prog]
  7,0    0       14     0.001000094  4321  D FWFSM 2000 + 8 [my prog]
  7,0    0       15     0.001000095  4321  D   D 2000 + 8 [my prog]
  7,0    0       16     0.001000096    99  C   D 2000 + 8 [65531]
  7,0    0       17     0.001000097    99  R   W 2000 + 8 [0]
  7,0    0       18     0.001000098  4321  D   R 36 (12 00 00 00 24 00 ..) [my prog]
  7,0    0       19     0.001000099     0  C   R (12 00 00 00 24 00 ..) [0]
  7,0    0        0     0.001000100     0  m   N a message
  7,0    0       21     0.001000101  4321  D  FN [my prog]
  7,0    0       22     0.001000102     0  C  FN 0 [0]
  7,0    0       24     0.001000105  4321 UT   N [my prog] 7
  7,0    0       26     0.001000107  4321  S   W [my prog]
  7,0    1       27  5000.000000107  4321  C   W 8 + 8 [0]
CPU0 (g):
 Reads Queued:           1,        4KiB\t Writes Queued:           1,        0KiB

Total (g):
 what follows is no event
";

#[test]
fn blkparse_prints_every_kind() {
    let (events, about) = read(BLKPARSE);
    insta::assert_snapshot!(lines_of(&events).join("\n"), @r"
    Queue 0 7,0 R 1000+8 my prog/4321@0
    GetRequest 10 7,0 R 1000+8 my prog/4321@0
    Plug 20 7,0  0+0 my prog/4321@0
    BackMerge 30 7,0 RA 1008+8 my prog/4321@0
    FrontMerge 40 7,0 R 992+8 my prog/4321@0
    Unplug 50 7,0  0+3 my prog/4321@0
    Insert 60 7,0 R 992+24 my prog/4321@0
    Issue 70 7,0 RS 992+24 my prog/4321@0
    Complete 1000080 7,0 RS 992+24
    Split 1000090 7,0 W 2000+4 my prog/4321@0
    Remap 1000091 7,0 W 2000+8
    Queue 1000092 7,0 FWS 0+0 my prog/4321@0
    Issue 1000094 7,0 FWFSM 2000+8 my prog/4321@0
    Issue 1000095 7,0 D 2000+8 my prog/4321@0
    Complete 1000096 7,0 D 2000+8 error -5
    Requeue 1000097 7,0 W 2000+8
    Issue 1000098 7,0 N 0+0 my prog/4321@0
    Complete 1000099 7,0 N 0+0
    Issue 1000101 7,0 F 0+0 my prog/4321@0
    Complete 1000102 7,0 F 0+0
    Unplug 1000105 7,0  0+7 my prog/4321@0
    Complete 5000000000107 7,0 W 8+8
    ");
    assert_eq!(about.notes, ["2 lines without an event (sleeps, bounces, messages) were passed over."]);
}

fn binary(big: bool, time: u64, cpu: u32, action: u32, sector: u64, bytes: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put4 = |n: u32| out.extend(if big { n.to_be_bytes() } else { n.to_le_bytes() });
    put4(0x6561_7407);
    put4(1);
    let halves = |n: u64| if big { [(n >> 32) as u32, n as u32] } else { [n as u32, (n >> 32) as u32] };
    halves(time).into_iter().chain(halves(sector)).for_each(&mut put4);
    [bytes, action, 300, 8 << 20 | 16, cpu].into_iter().for_each(&mut put4);
    let error = if action & 0xff == 8 { (-5i16).cast_unsigned() } else { 0 };
    for half in [error, payload.len() as u16] {
        out.extend(if big { half.to_be_bytes() } else { half.to_le_bytes() });
    }
    out.extend(payload);
    out
}

#[test]
fn blktrace_files_of_either_order_are_merged_by_time() {
    for big in [false, true] {
        let (read_sync, issue) = (1 | 1 << 3, 1 << 6);
        let seconds = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let clock = [seconds(1_700_000_000), seconds(500)].concat();
        let zero: Vec<u8> = [
            binary(big, 100, 0, 1 << 26, 0, 0, b"my prog\0\0"),
            binary(big, 100, 0, 1 | 1 << 26, 0, 0, &clock),
            binary(big, 1000, 0, 7 | (read_sync | issue) << 16, 64, 4096, &[]),
            binary(big, 5000, 0, 8 | (read_sync | 1 << 7) << 16, 64, 4096, &[]),
        ]
        .concat();
        let mut one: Vec<u8> = [
            binary(big, 900, 1, 10 | 1 << 20, 0, 0, &3u64.to_be_bytes()),
            binary(big, 2000, 1, 13 | 2 << 16, 64, 4096, &68u64.to_be_bytes()),
            binary(big, 3000, 1, 5 | 2 << 16, 64, 4096, &[]),
        ]
        .concat();
        one.extend(&binary(big, 9000, 1, 7, 0, 0, &[])[..20]);
        let files = vec![("a.blktrace.0".into(), boxed(&zero)), ("a.blktrace.1".into(), boxed(&one))];
        let mut trace = open_together(files).unwrap();
        let events: Vec<BlockEvent> = trace.by_ref().map(Result::unwrap).collect();
        assert_eq!(
            lines_of(&events),
            [
                "Unplug 900 8,16  0+3 my prog/300@1",
                "Issue 1000 8,16 RS 64+8 my prog/300@0",
                "Split 2000 8,16 W 64+4 my prog/300@1",
                "Complete 5000 8,16 RS 64+8 my prog/300@0 error -5",
            ],
            "big: {big}"
        );
        let about = trace.about();
        assert_eq!(about.header.wall_ns, Some(1_700_000_000_000_000_500 - 100));
        assert_eq!(
            about.notes,
            [
                "1 of 2 files end in the middle of a record.",
                "1 records of kinds without an event (sleeps, bounces, drivers' data) were passed over."
            ]
        );
        assert_eq!(read(&zero).0.len(), 2, "one file alone");
    }
}

#[test]
fn blktrace_mistakes_have_their_byte() {
    let mut bytes = binary(false, 5, 0, 7 | 65 << 16, 64, 4096, &[1, 2, 3]);
    bytes.extend(b"what is this, it is no record of blktrace at all and long");
    assert!(mistake(&bytes).starts_with("t, byte 51: expected a record of blktrace"), "{}", mistake(&bytes));
    let mut other = binary(false, 5, 0, 7, 64, 4096, &[]);
    other[0] = 6;
    assert_eq!(mistake(&other), "t, byte 0: blktrace version 6; only version 7 is known");
    let files = vec![("a".into(), boxed(b"")), ("b".into(), boxed(b"8,0"))];
    assert!(open_together(files).unwrap_err().to_string().starts_with("b: only the files of blktrace's"));
}

#[test]
fn biosnoop_of_bcc_with_and_without_the_queue() {
    let (events, about) = read(
        "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n\
         0.000000    my prog        1950   xvda1   W 13092560   4096      0.74\n\
         0.002039    supervise      1950   xvda1   R 8          512       4.00\n",
    );
    let hour = 3_600_000_000_000u64;
    assert_eq!(
        lines_of(&events),
        [
            format!("Issue {} 0,1 R 8+1 supervise/1950@0", hour + 2_039_000 - 4_000_000),
            format!("Issue {} 0,1 W 13092560+8 my prog/1950@0", hour - 740_000),
            format!("Complete {hour} 0,1 W 13092560+8 my prog/1950@0"),
            format!("Complete {} 0,1 R 8+1 supervise/1950@0", hour + 2_039_000),
        ]
    );
    assert_eq!((about.devices[0].name.as_str(), about.header.queueing), ("xvda1", false));
    let (events, about) = read(
        "TIME(s)     COMM  PID  DISK  T  SECTOR BYTES  QUE(ms) LAT(ms)\n\
         1.5 dd 7 vda WS 8 4096 0.010 0.100\n",
    );
    let actions: Vec<BlockAction> = events.iter().map(|e| e.action).collect();
    assert_eq!(actions, [BlockAction::Queue, BlockAction::Issue, BlockAction::Complete]);
    assert_eq!(events[1].time_ns - events[0].time_ns, 10_000);
    assert!(about.header.queueing && events[0].flags.has(RequestFlags::SYNC));
}

#[test]
fn biosnoop_of_bpftrace_says_what_it_does_not_tell() {
    let (events, about) = read(
        "Attaching 4 probes...\n\
         TIME(ms)     DISK    COMM             PID    LAT(ms)\n\
         611          nvme0n1 bash             4179         10\n\
         711          nvme0n1 jbd2/nvme0n1p1-8 470           0\n",
    );
    assert_eq!(events.len(), 4);
    assert_eq!(events[1].time_ns - events[0].time_ns, 10_000_000);
    assert_eq!((events[0].flags, events[0].sectors), (RequestFlags::default(), 0));
    assert!(about.notes.iter().any(|n| n.contains("neither direction, place nor size")), "{:?}", about.notes);
    assert!(
        mistake("TIME(ms) DISK COMM PID LAT(ms)\n1 vda bash x 5\n")
            .contains("line 2, column 12: expected a process number")
    );
}

#[test]
fn iologs_of_both_versions() {
    let (events, about) = read(
        "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb read 4096 8192\n/dev/sdb wait 1500 0\n\
         /dev/sdb write 100 412\n/dev/sdb trim 0 512\n/dev/sdb sync 0 0\n/dev/sdb close\n",
    );
    assert_eq!(
        lines_of(&events),
        [
            "Queue 0 0,1 R 8+16",
            "Queue 1500000 0,1 W 0+1",
            "Queue 1500000 0,1 D 0+1",
            "Queue 1500000 0,1 F 0+0"
        ]
    );
    assert!(about.header.arrivals_only && about.devices[0].bio_based);
    assert!(
        about.notes.iter().any(|n| n.starts_with("1 requests do not begin and end on sectors")),
        "{:?}",
        about.notes
    );
    let (events, _) =
        read("fio version 3 iolog\n0 /a add\n5 /a open\n7 /a read 0 512\n9 /b add\n11 /b datasync 0 0\n");
    assert_eq!(lines_of(&events), ["Queue 7000 0,1 R 0+1", "Queue 11000 0,2 F 0+0"]);
    assert_eq!(
        mistake("fio version 3 iolog\n1 /a wait 5 0\n"),
        "t, line 2, column 6: expected add, open, close, read, write, trim, sync, datasync, found \"wait\""
    );
}

#[test]
fn msr_lines_are_issues_and_completions() {
    let (events, about) = read(
        "128166372003061629,hm,1,Read,383496192,32768,413\n\
         128166372003061630,hm,1,Write,512,1024,100\n",
    );
    let first = (128_166_372_003_061_629u64 - 116_444_736_000_000_000) * 100;
    assert_eq!(
        lines_of(&events),
        [
            format!("Issue {first} 0,1 R 749016+64"),
            format!("Issue {} 0,1 W 1+2", first + 100),
            format!("Complete {} 0,1 W 1+2", first + 100 + 10_000),
            format!("Complete {} 0,1 R 749016+64", first + 41_300),
        ]
    );
    assert_eq!((about.devices[0].name.as_str(), about.header.wall_ns), ("hm.1", Some(0)));
    let bad = "128166372003061629,hm,1,Read,383496192,32768,413\n128166372003061629,hm,1,Reed,0,1,1\n";
    assert_eq!(mistake(bad), "t, line 2, column 25: expected Read or Write, found \"Reed\"");
    assert!(mistake("128166372003061629,hm,1,Read,0,512,5\n1,hm,1,Read,0,512,5\n").contains("since 1601"));
}

#[test]
fn arrivals_of_research_traces() {
    let one = |text: &str| {
        let (events, about) = read(text);
        assert!(about.header.arrivals_only && about.devices[0].bio_based, "{about:?}");
        assert!(about.notes[0].contains("arrivals only"), "{:?}", about.notes);
        (about.format, about.devices[0].name.clone(), lines_of(&events))
    };
    let line = |text: &str| vec![text.to_string()];
    assert_eq!(
        one("0,20941264,8192,W,0.551706,and more\n"),
        (TraceFormat::Spc, "asu0".into(), line("Queue 551706000 0,1 W 20941264+16"))
    );
    assert_eq!(
        one("device_id,opcode,offset,length,timestamp\n419,W,8192,16384,1577808144360767\n"),
        (TraceFormat::Alibaba, "volume419".into(), line("Queue 1577808144360767000 0,1 W 16+32"))
    );
    assert_eq!(
        one("1538323200,12910952,128,0,1063\n"),
        (TraceFormat::Tencent, "volume1063".into(), line("Queue 1538323200000000000 0,1 R 12910952+128"))
    );
    assert_eq!(
        one("0.5 2 1000 8 1\n"),
        (TraceFormat::DiskSim, "disk2".into(), line("Queue 500000 0,1 R 1000+8"))
    );
    assert_eq!(
        one("12345 0 1000 8 0\n"),
        (TraceFormat::MqSim, "disk0".into(), line("Queue 12345 0,1 W 1000+8"))
    );
}

#[test]
fn arrivals_out_of_order_are_put_in_order() {
    let (events, _) = read("30 0 8 8 1\n10 0 16 8 1\n20 0 24 8 1\n");
    let times: Vec<u64> = events.iter().map(|e| e.time_ns).collect();
    assert_eq!(times, [10, 20, 30]);
}

#[test]
fn compressed_files_are_read_and_cut_ones_to_where_they_are_cut() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(TRACEFS.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(TRACEFS.as_bytes(), 0).unwrap();
    let plain = read(TRACEFS);
    assert_eq!(read(&gzip), plain);
    assert_eq!(read(&zstd), plain);
    let (events, about) = read(&gzip[..gzip.len() * 3 / 4]);
    assert_eq!(events[..], plain.0[..events.len()]);
    assert!(!events.is_empty());
    assert!(about.notes.iter().any(|n| n.contains("in the middle of a line")), "{:?}", about.notes);
}

#[test]
fn a_line_that_was_cut_is_left_out_and_one_in_the_middle_is_a_mistake() {
    let whole = "12345 0 1000 8 0\n12346 0 1008 8 0\n123";
    let (events, about) = read(whole);
    assert_eq!((events.len(), about.notes.len()), (2, 2));
    assert_eq!(
        mistake("12345 0 1000 8 0\n123\n12346 0 1008 8 0\n"),
        "t, line 2, column 1: expected 5 columns: nanoseconds device sector sectors 0|1"
    );
}

#[test]
fn an_invalid_trace_is_reported() {
    assert!(mistake("").contains("it is empty"));
    assert!(mistake("hello world\n").contains("its first line is \"hello world\""));
    assert!(mistake("hello world\n").contains("--from"));
    assert!(
        mistake([0u8, 1, 2, 200, 10].as_slice())
            .contains("fathom knows by its content: it is binary. It reads")
    );
    let endless = format!("12345 0 1000 8 0\n{}", "x".repeat(100_000));
    assert!(mistake(endless).contains("line 2, column 1: a line longer than"));
    let mistaken =
        open("t", boxed(b"hello\n"), Some(TraceFormat::Msr)).unwrap().find_map(Result::err).unwrap();
    assert_eq!(mistaken.place, TracePlace::Line(1, 1));
}

/// Found by fuzzing: a name ending in a multi-byte character.
#[test]
fn a_name_may_end_in_any_character() {
    let (events, _) = read("# tracer: nop\n dé1 [000] 1.5: block_plug: [dé]\n");
    assert_eq!((events[0].pid, events[0].task_name().as_ref()), (1, "dé"));
}

#[test]
fn times_that_are_cycles_are_refused() {
    let text = "dd-1 [000] 123456789: block_rq_issue: 7,0 R 4096 () 0 + 8 [dd]\n";
    assert!(
        mistake(text).contains("line 1, column 12: expected a time in seconds with decimals"),
        "{}",
        mistake(text)
    );
}

proptest! {
    /// Any text after a line that determines the format.
    #[test]
    fn no_text_panics(form in 0..TraceFormat::ALL.len(), lines in prop::collection::vec(line(), 0..6), noise in ".{0,40}") {
        let mut text = lines.join("\n");
        text.push_str(&noise);
        if let Ok(trace) = open("t", boxed(text.as_bytes()), Some(TraceFormat::ALL[form])) {
            let _ = trace.take(1000).count();
        }
    }

    #[test]
    fn no_bytes_panic(form in 0..TraceFormat::ALL.len(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(trace) = open("t", boxed(&bytes), Some(TraceFormat::ALL[form])) {
            let _ = trace.take(1000).count();
        }
        let _ = open("t", boxed(&bytes), None).map(|t| t.take(1000).count());
    }
}

/// Lines of all formats with parts exchanged.
fn line() -> impl Strategy<Value = String> {
    let lines: Vec<String> = TRACEFS
        .lines()
        .chain(BLKPARSE.lines())
        .chain([
            "fio version 2 iolog",
            "fio version 3 iolog",
            "9 /a read 0 512",
            "/a wait 18446744073709551615 1",
            "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)",
            "0.1 a b 7 vda R 8 4096 0.5",
            "128166372003061629,hm,1,Read,383496192,32768,413",
            "0,20941264,8192,W,0.551706",
            "419,W,8192,16384,1577808144360767",
            "1538323200,12910952,128,0,1063",
            "0.5 2 1000 8 1",
        ])
        .map(str::to_owned)
        .collect();
    (prop::sample::select(lines), any::<prop::sample::Index>(), "[-0-9,.\\[\\]()+:é ]{0,3}", 0usize..3)
        .prop_map(|(mut line, at, insert, kind)| {
            if kind == 0 || line.is_empty() {
                return line;
            }
            let mut at = at.index(line.len());
            while !line.is_char_boundary(at) {
                at -= 1;
            }
            if kind == 1 {
                line.insert_str(at, &insert);
            } else {
                line.replace_range(at.., &insert);
            }
            line
        })
}

#[test]
fn devices_with_numbers_of_ours_are_distinguished() {
    let (events, about) = read("10 0 16 8 1\n20 5 24 8 1\n30 0 24 8 1\n");
    let devices: Vec<DeviceNumber> = events.iter().map(|e| e.device).collect();
    assert_eq!(devices, [1, 2, 1].map(|minor| DeviceNumber { major: 0, minor }));
    let names: Vec<&str> = about.devices.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["disk0", "disk5"]);
}
