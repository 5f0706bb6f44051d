//! Complete command lines: planned, run by a fake executor with fixed rates, and printed. The golden files are complete outputs that
//! were compared manually with IOzone's (digits masked).

use super::*;
use crate::LivePrinter as _;
use fathom_record as record;
use fathom_record::{Histogram, OpError, OpKind, OpLogEntry, OpStat, Repetition, Run, Status, Worker};
use fathom_workload::ops::{Done, Place, Region, StreamOps};
use fathom_workload::{
    Access, Action, Amount, Backend, Direction, Existing, Isolation, Phase, Program, Stream, Verify,
    WhenStopped,
};
use proptest::prelude::*;

fn context<'a>(read: &'a dyn Fn(&Path) -> Result<String, String>) -> Context<'a> {
    let now = DateTime::constant(2026, 11, 21, 19, 1, 10, 0);
    Context { now, uname: "Linux vm 6.18.0 #1 SMP x86_64 GNU/Linux".into(), page_bytes: 4096, read }
}

const LIST: &str = "# offset length ms\n0 4096 1\n4096 4096 1\n8192 8192 2\n";

fn list(path: &Path) -> Result<String, String> {
    if path == Path::new("list") { Ok(LIST.into()) } else { Err("there is no such file".into()) }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn planned(line: &str) -> Parsed {
    plan(&words(line), &context(&list)).unwrap_or_else(|exit| panic!("{line}: {exit:?}"))
}

fn refused(line: &str) -> IozoneExit {
    plan(&words(line), &context(&list)).unwrap_err()
}

fn streams_of(phase: &Phase) -> Vec<(&str, u32, &Stream)> {
    phase
        .groups
        .iter()
        .map(|g| match &g.threads[0].program {
            Program::Stream(s) => (g.name.as_str(), g.instances, s.as_ref()),
            Program::Flow(_) => panic!("no flows here"),
        })
        .collect()
}

/// A worker's result at a fixed rate that depends on the phase and the worker.
fn worker(group: &str, index: u32, stream: &Stream, seq: u32) -> Worker {
    // A list has no length; it contains its own offsets.
    let region = Region { start: 0, length: stream.length.map_or(0, |b| b.0) };
    let mut ops = StreamOps::new(stream, region, 0, Place::default()).unwrap();
    let mut w = Worker { group: group.into(), index, ..Worker::default() };
    let bytes_per_us = 2000 + u64::from(seq % 7) * 300 + u64::from(index) * 40;
    let mut latencies = Vec::new();
    while let Some(op) = ops.next(&Done::default()) {
        let latency_ns = (u64::from(op.bytes) * 1000 / bytes_per_us).max(1);
        w.ops += 1;
        w.bytes += u64::from(op.bytes);
        w.elapsed_ns += latency_ns;
        latencies.push(latency_ns);
        if stream.log_operations {
            w.op_log.push(OpLogEntry { offset: op.offset, bytes: op.bytes, latency_ns, start_ns: 0 });
        }
    }
    w.cpu_user_ns = w.elapsed_ns / 5;
    w.cpu_system_ns = w.elapsed_ns / 2;
    let op = if stream.direction == Direction::Read { OpKind::Read } else { OpKind::Write };
    w.stats = vec![OpStat { op, ops: w.ops, bytes: w.bytes, latency: Histogram::from_values(latencies) }];
    w
}

fn executed(phase: &Phase, seq: u32) -> record::Phase {
    let mut workers = Vec::new();
    for (group, instances, stream) in streams_of(phase) {
        for _ in 0..instances {
            workers.push(worker(group, workers.len() as u32, stream, seq));
        }
    }
    let longest = workers.iter().map(|w| w.elapsed_ns).max().unwrap_or(0);
    let repetition = Repetition {
        started_ns: u64::from(seq) * 1_500_000_000,
        elapsed_ns: longest * 2,
        workers,
        ..Repetition::default()
    };
    let reads = streams_of(phase).iter().any(|s| s.2.direction == Direction::Read);
    record::Phase {
        seq,
        name: phase.name.clone(),
        axes: record::Axes::default(),
        reads,
        writes: !reads,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![repetition],
    }
}

/// Output pieces of a live run, and the phases it stores.
fn live(parsed: &Parsed) -> (Vec<String>, Vec<record::Phase>, IozonePrinter) {
    parsed.workload.check().unwrap_or_else(|e| panic!("{}: {e:?}", parsed.command));
    let mut printer = IozonePrinter::new(parsed);
    let mut pieces = vec![printer.head()];
    let mut phases = Vec::new();
    for (seq, phase) in (0..).zip(&parsed.workload.phases) {
        pieces.push(printer.phase_started(phase));
        let done = executed(phase, seq);
        pieces.push(printer.phase_done(&done));
        phases.push(done);
    }
    pieces.push(printer.end());
    (pieces, phases, printer)
}

fn output(line: &str) -> String {
    live(&planned(line)).0.concat()
}

fn rows(line: &str) -> Vec<String> {
    let is_row = |l: &&str| l.split_whitespace().next().is_some_and(|w| w.parse::<u64>().is_ok());
    output(line).lines().filter(is_row).map(str::to_owned).collect()
}

fn names(line: &str) -> Vec<String> {
    planned(line).workload.phases.iter().map(|p| p.name.clone()).collect()
}

const GOLDEN: [(&str, &str); 21] = [
    ("single", "-s 1m -r 4k -i 0 -i 1"),
    ("default", "-s 1m -r 64k"),
    ("auto", "-a -g 64k"),
    ("crossover-report", "-Ra -n 16m -g 32m -i 0"),
    ("no-crossover", "-az -n 32m -g 32m -i 0"),
    ("ops", "-s 1m -r 64k -O -i 0 -i 1 -i 2"),
    ("microseconds", "-s 1m -r 64k -N"),
    ("no-retest", "-s 1m -r 64k -+n -E"),
    ("extended", "-s 512 -E -i 9 -i 10"),
    ("extended-unselected", "-s 64 -E -i 0"),
    ("mmap", "-s 1m -r 64k -B"),
    ("mmap-extended", "-s 64 -s 128 -r 4 -r 8 -i 0 -R -E -i 9 -B"),
    ("old-auto", "-A -g 64 -i 2"),
    ("cpu-report", "-s 1m -s 2m -r 64k -+u -R -i 0 -i 1"),
    ("nothing-runs", "-a -g 64 -y 32 -i 8 -R"),
    ("banner", "-s 64 -r 4 -i 0 -c -e -I -j 5 -K -m -M -o -p -P 0 -V 90 -w -W -x -J 5 -+n -+u -+q 1 -+p 50"),
    ("telemetry", "-X list -Y list -R"),
    ("streams-all", "-t 2 -s 2m -r 64k -R -C -+u"),
    ("streams-range", "-l 1 -u 2 -s 1m -r 64k -i 0 -+n -R"),
    ("streams-ops", "-t 1 -t 2 -T -s 1m -r 64k -i 0 -O -R"),
    ("streams-telemetry", "-t 2 -X list -i 0"),
];

#[test]
fn complete_outputs() {
    for (name, line) in GOLDEN {
        // The last line protects trailing blanks in the golden file.
        insta::assert_snapshot!(name, format!("{}(end)", output(line)));
    }
}

#[test]
fn a_stored_run_prints_what_the_live_run_printed() {
    for (name, line) in GOLDEN {
        let environment = serde_json::json!({
            "hostname": "vm", "kernel": "6.18.0", "kernel_version": "#1 SMP", "architecture": "x86_64"
        });
        let context = Context { uname: uname(&environment), ..context(&list) };
        let parsed = plan(&words(line), &context).unwrap();
        let (pieces, phases, _) = live(&parsed);
        let mut run = Run {
            id: "r".into(),
            argv: [words("fathom iozone"), words(line)].concat(),
            started_at: "2026-11-21T19:01:10+01:00".into(),
            status: Status::Completed,
            workload: parsed.workload.to_toml().unwrap(),
            environment,
            phases,
            ..Run::default()
        };
        assert_eq!(print(&run).unwrap(), pieces.concat(), "{name}");
        run.status = Status::Running;
        assert_eq!(print(&run).unwrap(), pieces[..pieces.len() - 1].concat(), "{name}");
        run.argv = words("dd if=x");
        assert!(print(&run).is_err());
    }
}

/// Existing scripts count lines: this row is line 31 in release 3.471.
#[test]
fn lines_keep_their_numbers() {
    let text = output("-RaI -r 64 -s 512 -i 0 -i 1");
    assert!(text.lines().nth(30).unwrap().starts_with("             512      64 "));
    assert!(
        text.lines().nth(1).unwrap().contains("Version") && text.lines().nth(3).unwrap().contains("Build:")
    );
}

#[test]
fn a_row_grows_column_by_column() {
    let (pieces, _, _) = live(&planned("-s 64 -r 64 -i 0 -i 1"));
    let texts: Vec<&str> = pieces.iter().map(String::as_str).collect();
    assert!(texts[0].ends_with("\n              64      64"));
    assert_eq!(texts[2].len(), 9);
    assert!(
        texts[8].starts_with("  ") && texts[8].ends_with(&format!("{}\n", " ".repeat(82))),
        "{:?}",
        texts[8]
    );
}

#[test]
fn a_pass_that_was_cut_short_has_no_figure() {
    let parsed = planned("-s 64 -r 4 -i 0 -Q");
    let mut printer = IozonePrinter::new(&parsed);
    printer.head();
    let mut cut = executed(&parsed.workload.phases[0], 0);
    cut.repetitions[0].workers[0].ending = record::Ending::Interrupted;
    assert_eq!(printer.phase_done(&cut), "");
    assert!(sidefiles::after_phase(&parsed, &cut).is_empty());
    assert_ne!(printer.phase_done(&executed(&parsed.workload.phases[0], 0)), "");
}

#[test]
fn beside_a_list_the_other_test_keeps_its_record() {
    let write = |line: &str| streams_of(&planned(line).workload.phases[0])[0].2.record.largest().0;
    assert_eq!((write("-Y list"), write("-Y list -r 8")), (4096, 8192));
    assert_eq!(refused("-Y list -r 64").code, 23);
}

#[test]
fn an_interrupted_run_keeps_what_was_measured() {
    let parsed = planned("-t 1 -s 64 -r 4 -i 0 -R");
    let mut printer = IozonePrinter::new(&parsed);
    let mut text = printer.head();
    text += &printer.phase_done(&executed(&parsed.workload.phases[0], 0));
    text += &printer.interrupted();
    insta::assert_snapshot!("interrupted", text);
}

#[test]
fn a_missing_file_ends_with_58() {
    let parsed = planned("-s 64 -r 4 -i 1");
    let mut printer = IozonePrinter::new(&parsed);
    let head = printer.head();
    assert!(head.ends_with(&format!("\n              64       4{}", " ".repeat(18))));
    let error = OpError {
        compared: None,
        call: "open".into(),
        path: "iozone.tmp".into(),
        offset: None,
        after_ops: 0,
        errno: 2,
        message: "iozone.tmp is not there.".into(),
    };
    assert!(printer.failed(&error).starts_with("\nCan not open temporary file iozone.tmp for read\n"));
    assert_eq!(printer.exit_code(), 58);
}

/// The specification's acceptance cases, limited to parsing, planning and printing.
mod acceptance {
    use super::*;

    #[test]
    fn line_1_has_four_values_and_trailing_blanks() {
        let text = output("-s 1m -r 4k -i 0 -i 1");
        assert!(text.contains("\n\tFile size set to 1024 kB\n\tRecord Size 4 kB\n"));
        let row = rows("-s 1m -r 4k -i 0 -i 1").remove(0);
        assert_eq!((row.split_whitespace().count(), row.len()), (6, 142));
    }

    #[test]
    fn lines_2_and_3_are_ends_without_a_run() {
        assert_eq!((refused("").code, refused("-h").code, refused("-v").code), (255, 0, 0));
    }

    #[test]
    fn lines_4_to_7_are_the_rows_of_auto_mode() {
        assert!(rows("-a -g 64k").iter().all(|r| r.split_whitespace().count() == 15));
        assert_eq!(rows("-a -g 64k").len(), 5);
        assert_eq!(rows("-Ra -n 16m -g 32m -i 0").len(), 22);
        assert!(output("-Ra -n 16m -g 32m -i 0").contains("\"32768\"   0  0  0  0  3"));
        assert_eq!(rows("-az -n 32m -g 32m -i 0").len(), 13);
        assert_eq!(rows("-a -n 100k -g 200k -q 64k -i 0").len(), 10);
    }

    #[test]
    fn line_8_counts_whole_records() {
        let line = "-e -I -a -s 100M -r 4k -r 16k -r 512k -r 1024k -r 16384k -i 0 -i 1 -i 2";
        let text = output(line);
        assert!(text.contains(
            "\tInclude fsync in write timing\n\tO_DIRECT feature enabled\n\tAuto Mode\n\tFile size set to 102400 kB\n\
             \tRecord Size 4 kB\n"
        ));
        assert_eq!(rows(line).len(), 5);
        // Scripts cut out columns: those up to random write end at 78.
        assert!(rows(line).iter().all(|r| !r[..78].ends_with(' ') && r[78..].trim().is_empty()));
        let after: Vec<&str> = text.lines().rev().take(2).collect();
        assert_eq!(after, ["iozone test complete.", ""]);
        let (_, phases, _) = live(&planned(line));
        assert_eq!(phases.last().unwrap().repetitions[0].bytes(), 6 * 16384 * 1024);
    }

    #[test]
    fn line_9_is_a_worksheet() {
        let parsed = planned("-Rab out.wks -g 128k");
        assert_eq!(parsed.outputs.worksheet, Some("out.wks".into()));
        let sheet = live(&parsed).2.sheet();
        let bytes = worksheet::write(&sheet).unwrap();
        assert_eq!(bytes[..8], [9, 0, 4, 0, 2, 0, 16, 0]);
        assert_eq!(bytes[bytes.len() - 4..], [10, 0, 0, 0]);
        assert_eq!(
            sheet.cells[0].value,
            worksheet::WorksheetCell::Text("iozone -Rab out.wks -g 128k ".into())
        );
        insta::assert_snapshot!("worksheet", cells(&sheet));
        let streams = live(&planned("-t 1 -t 2 -T -s 1m -r 64k -i 0 -O -R -b t.wks")).2.sheet();
        insta::assert_snapshot!("worksheet-streams", cells(&streams));
    }

    fn cells(sheet: &worksheet::Sheet) -> String {
        let line = |c: &worksheet::SheetCell| format!("{} {} {:?}\n", c.row, c.column, c.value);
        sheet.cells.iter().map(line).collect()
    }

    #[test]
    fn lines_10_to_14_are_other_columns_and_units() {
        let text = output("-s 1m -r 64k -O -i 0 -i 1 -i 2");
        assert!(!text.contains("Output is in kBytes") && text.contains("\tOPS Mode. Output"));
        assert_eq!(rows("-s 1m -r 64k -+n")[0].split_whitespace().filter(|w| *w == "0").count(), 4);
        assert_eq!(rows("-s 512 -E -i 9 -i 10")[0].split_whitespace().count(), 6);
        assert_eq!(rows("-s 1m -r 64k -B")[0].split_whitespace().count(), 11);
        assert_eq!(rows("-s 1m -r 64k -B")[0].len(), 107);
    }

    #[test]
    fn lines_15_and_16_are_streams_on_named_files() {
        let text = output("-r 1m -s 3000m -c -e -t 1 -F /scratch/X1 -i 0");
        assert_eq!(text.matches("Min xfer \t\t\t\t\t= 3072000.00 kB\n").count(), 2);
        let parsed = planned("-r 1m -s 1500m -c -e -I -t 2 -F X1 X2 -i 0");
        assert_eq!(parsed.workload.filesets[0].files.path(1), Some("X2".into()));
        assert_eq!(parsed.workload.filesets[0].existing, Existing::Replace);
        let phase = &parsed.workload.phases[0];
        let stream = streams_of(phase)[0].2;
        assert!(stream.open.direct && stream.timed.fsync && stream.timed.close && !stream.timed.open);
        assert_eq!(phase.groups[0].isolation, Isolation::Process);
        let table = planned("-s 1m -r 64k -i 0");
        assert_eq!(table.workload.phases[0].groups[0].isolation, Isolation::Thread);
    }

    #[test]
    fn lines_17_and_18_are_blocks() {
        assert_eq!(names("-t 2 -s 2m -r 64k -R -C -+u"), pass::BLOCK_ORDER);
        let text = output("-l 1 -u 2 -s 1m -r 64k -i 0 -+n -R");
        assert!(text.contains("\tMin process = 1 \n\tMax process = 2 \n"));
        assert!(text.contains("\"        Rewrite \"       0.00        0.00 \n"));
    }

    #[test]
    fn line_19_exits() {
        let exit = refused("-t 2 -a");
        assert!(
            exit.code == 17
                && exit.stdout.ends_with("\n\n\tCan not mix throughput mode and auto-mode flags.\n\n")
        );
        assert_eq!(refused("-F a b").stdout, "invalid options: must specify -t N before -F\n");
        assert_eq!((refused("-F a b").code, refused("-r 32m").code), (12, 23));
    }

    #[test]
    fn line_20_orders_and_clock() {
        let parsed = planned("-s 400k -r 4k -i 0 -i 2 -i 5");
        let orders: Vec<Vec<u64>> = parsed.workload.phases[2..]
            .iter()
            .map(|p| {
                let mut ops = StreamOps::new(
                    streams_of(p)[0].2,
                    Region { start: 0, length: 400 << 10 },
                    0,
                    Place::default(),
                )
                .unwrap();
                (0..8).map(|_| ops.next(&Done::default()).unwrap().offset >> 12).collect()
            })
            .collect();
        assert_eq!(orders[0], [31, 64, 18, 24, 58, 40, 43, 0]);
        assert_eq!(orders[1], orders[0]);
        assert_eq!(orders[2], [0, 17, 34, 51, 68, 85, 1, 18]);
        for phase in &parsed.workload.phases {
            let s = streams_of(phase)[0].2;
            assert!(!s.timed.fsync && !s.timed.close && !s.timed.open && s.sync_after);
            assert_eq!(s.backend, Backend::Psync(fathom_workload::SyncCall::Streamed));
        }
    }
}

#[test]
fn a_row_begins_with_a_new_file_and_ends_without_it() {
    let parsed = planned("-s 64 -i 0 -i 1 -U /mnt -+q 2");
    let phases = &parsed.workload.phases;
    let set = parsed.workload.filesets[0].name.clone();
    let mount = Action::Remount("/mnt".into());
    assert_eq!(phases[0].before, [Action::Sync, Action::Sync, mount.clone(), Action::Recreate(set.clone())]);
    assert_eq!(phases[1].before, [mount]);
    assert_eq!(phases[1].after, [Action::Sleep(fathom_workload::Duration(2_000_000_000))]);
    assert_eq!(phases[3].after.last(), Some(&Action::Remove(set)));
}

#[test]
fn existing_files_are_treated_as_named() {
    let existing = |line: &str| planned(line).workload.filesets[0].existing;
    assert_eq!(existing("-s 64 -i 0 -i 1"), Existing::Refuse);
    assert_eq!(existing("-s 64 -i 0 -f x"), Existing::Replace);
    assert_eq!(existing("-s 64 -i 1"), Existing::Reuse);
    assert_eq!(existing("-s 64 -i 1 -i 3 -f x"), Existing::Reuse);
    assert_eq!(existing("-s 64 -t 2"), Existing::Refuse);
    assert_eq!(existing("-+E -f x -i 1 -s 64"), Existing::Reuse);
    assert!(planned("-s 64 -w").workload.filesets[0].keep);
}

#[test]
fn the_stonewall_follows_the_test() {
    let parsed = planned("-t 2 -s 64");
    for phase in &parsed.workload.phases {
        let when = streams_of(phase)[0].2.when_stopped;
        let expected = match phase.name.as_str() {
            "write" | "random write" | "pwrite" => WhenStopped::FinishUncounted,
            "fwrite" | "fread" => WhenStopped::Ignore,
            _ => WhenStopped::Leave,
        };
        assert_eq!(when, expected, "{}", phase.name);
        assert_eq!(phase.stop.first_done.is_none(), expected == WhenStopped::Ignore, "{}", phase.name);
    }
    assert!(planned("-t 2 -s 64 -x").workload.phases.iter().all(|p| p.stop.first_done.is_none()));
}

#[test]
fn the_mix_is_readers_and_writers() {
    let mix = |line: &str| -> Vec<(String, u32)> {
        let parsed = planned(line);
        let phase = parsed.workload.phases.iter().find(|p| p.name == "mixed").unwrap();
        streams_of(phase).iter().map(|g| (g.0.to_owned(), g.1)).collect()
    };
    let both = |r, w| vec![("readers".to_owned(), r), ("writers".to_owned(), w)];
    assert_eq!(mix("-t 4 -s 64 -i 0 -i 8"), both(2, 2));
    assert_eq!(mix("-t 4 -s 64 -i 0 -i 8 -+p 25"), both(1, 3));
    assert_eq!(mix("-t 4 -s 64 -i 0 -i 8 -+K 3"), both(3, 1));
    assert_eq!(mix("-t 1 -s 64 -i 0 -i 8"), [("readers".to_owned(), 1)]);
}

#[test]
fn flags_and_locks_do_not_reach_the_c_librarys_streams() {
    for line in ["-s 64 -I -o -W", "-s 64 -I -o -+l -t 2"] {
        for phase in &planned(line).workload.phases {
            let stdio = matches!(phase.name.as_str(), "fwrite" | "frewrite" | "fread" | "freread");
            for (group, _, s) in streams_of(phase) {
                assert_eq!(s.open.direct, !stdio, "{}", phase.name);
                assert_eq!(s.lock == fathom_workload::Lock::No, stdio, "{}", phase.name);
                let synced = s.open.sync == fathom_workload::OpenSync::Sync;
                assert_eq!(synced, !stdio && s.direction == Direction::Write, "{} {group}", phase.name);
            }
        }
    }
}

#[test]
fn asynchronous_tests_keep_n_in_flight_and_end_with_the_stride() {
    for option in ["-H", "-k"] {
        let parsed = planned(&format!("-s 1m -r 64k {option} 8"));
        assert_eq!(parsed.workload.phases.len(), 9, "{option}: the C library's streams are left out");
        for phase in &parsed.workload.phases {
            for (_, _, s) in streams_of(phase) {
                assert!(
                    matches!(s.backend, Backend::Uring(_)) && s.queue_depth == 8,
                    "{option} {}",
                    phase.name
                );
            }
        }
    }
}

#[test]
fn data_is_checked_as_asked() {
    let read = |line: &str| {
        let parsed = planned(line);
        let phase = parsed.workload.phases.iter().find(|p| p.name == "read").unwrap();
        streams_of(phase)[0].2.clone()
    };
    assert_eq!(read("-s 64").verify, Verify::Marks);
    assert_eq!(read("-s 64 -V 90").verify, Verify::Full);
    assert_eq!(read("-s 64 -+d").verify, Verify::Full);
    assert_eq!(read("-s 64 -+w 50").verify, Verify::No);
    assert_eq!(read("-s 64 -+E -i 1 -f x").verify, Verify::No);
    assert_eq!(read("-Y list").access, Access::Listed(telemetry::parse(LIST).unwrap().operations));
    assert_eq!(read("-s 64").amount, Amount::Pass);
}

#[test]
fn telemetry_errors_name_their_place() {
    let bad = |_: &Path| Ok("0 4096\n0 x\n".to_owned());
    let exit = plan(&words("-X bad"), &context(&bad)).unwrap_err();
    assert_eq!((exit.code, exit.stdout.as_str()), (17, "\n\tInvalid write telemetry file entry. Line 2\n\n"));
    assert!(exit.stderr.starts_with("bad:2:3: "), "{}", exit.stderr);
    assert_eq!(refused("-Y none").code, 174);
}

#[test]
fn side_files_are_iozones() {
    let after = |line: &str| {
        let parsed = planned(line);
        assert!(parsed.outputs.side_files);
        let (_, phases, _) = live(&parsed);
        let files: Vec<String> = phases
            .iter()
            .flat_map(|p| sidefiles::after_phase(&parsed, p))
            .map(|f| format!("== {}\n{}", f.path.display(), f.text))
            .collect();
        files.concat()
    };
    insta::assert_snapshot!("operation-logs", after("-s 64 -r 16 -i 0 -i 2 -Q"));
    insta::assert_snapshot!("child-files", after("-t 2 -s 64 -r 16 -i 0 -i 8 -Q -+z -+T"));
    assert!(!planned("-s 64 -+z").outputs.side_files);
}

#[test]
fn the_option_table_in_the_documentation_is_the_one_in_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/iozone.md");
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
    panic!("docs/iozone.md has another table of options; run this test with FATHOM_BLESS=1");
}

/// A command-line word: mostly options, some nonsense.
fn word() -> impl Strategy<Value = String> {
    let option =
        prop::sample::select(table::OPTIONS.iter().map(table::IozoneOption::name).collect::<Vec<_>>());
    let sane =
        prop::sample::select(vec!["0", "1", "2", "4", "64", "1m", "4k", "list", "64k,1", "-5", "--", "foo"]);
    prop_oneof![
        4 => option,
        4 => sane.prop_map(str::to_owned),
        1 => "-{0,2}[a-zA-Z0-9+]{0,6}",
        1 => ".{0,8}",
        1 => any::<i64>().prop_map(|n| format!("{n}g")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_argument_list_panics(args in prop::collection::vec(word(), 0..12)) {
        if let Ok(parsed) = plan(&args, &context(&list)) {
            let mut printer = IozonePrinter::new(&parsed);
            let text = printer.head() + &printer.end();
            prop_assert!(!text.is_empty());
            prop_assert_eq!(parsed.workload.check(), Ok(()), "{}", parsed.command);
            let toml = parsed.workload.to_toml().unwrap();
            prop_assert_eq!(Workload::from_toml(&toml), Ok(parsed.workload));
        }
    }
}
