//! A fixture of each format, with the complete result as a golden file. No line of figures may be left over except those that
//! the fixture has for this purpose.

use super::{Imported, import, text_of};
use crate::import::{Kind, Outputs};
use crate::iozone::worksheet::{self, Sheet, SheetCell, WorksheetCell};
use base64::Engine as _;
use fathom_record::imported::names::{THROUGHPUT, TIME};
use fathom_record::{Phase, Status};

fn fixture(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/import").join(name);
    std::fs::read_to_string(path).expect("the fixture is there")
}

/// Imports a fixture and compares the result with its golden file.
pub(super) fn read(name: &str) -> Imported {
    let imported = import(name, fixture(name).as_bytes(), None);
    fathom_testkit::golden(format!("golden/import/{name}.read"), &text_of(&imported));
    imported
}

pub(super) fn all_understood(name: &str) -> Imported {
    let imported = read(name);
    assert_eq!(imported.not_understood, []);
    imported
}

#[test]
fn iozone_in_automatic_mode() {
    let imported = read("iozone-auto.txt");
    assert_eq!(imported.found.len(), 1);
    assert_eq!(imported.found[0].figures(), 12, "what the report repeats is no second figure");
    assert_eq!(imported.not_understood[0].1, "remark 3 4 5 6");
}

#[test]
fn iozone_in_throughput_mode() {
    let imported = all_understood("iozone-throughput.txt");
    let run = &imported.found[0].runs[0];
    let codes: Vec<&str> = run.doubts.iter().map(|d| d.code.as_str()).collect();
    assert_eq!(codes, ["contradicted", "single-run"], "the readers' parent saw less than half");
}

#[test]
fn iozone_sheets_as_text_and_as_worksheet_are_the_same() {
    let text = all_understood("iozone-sheet.txt");
    let mut sheet = Sheet::default();
    for (row, line) in (0u32..).zip(fixture("iozone-sheet.txt").lines().take(11)) {
        for (column, field) in (0u32..).zip(line.split('\t')).filter(|(_, f)| !f.is_empty()) {
            let value =
                field.parse().map_or_else(|_| WorksheetCell::Text(field.into()), WorksheetCell::Number);
            sheet.cells.push(SheetCell { row, column, value });
        }
    }
    let bytes = worksheet::write(&sheet).expect("a sheet");
    let binary = import("out.wks", &bytes, None);
    assert_eq!(binary.found[0].figures(), 7, "0 and an empty field were not run");
    assert_eq!(binary.found[0].runs[0].phases, text.found[0].runs[0].phases);
}

#[test]
fn sysbench_of_both_ages() {
    all_understood("sysbench-1.0.txt");
    all_understood("sysbench-0.4.txt");
}

#[test]
fn filebench_of_three_ages() {
    assert_eq!(all_understood("filebench.txt").found.len(), 3);
}

#[test]
fn fio_reports() {
    all_understood("fio-normal.txt");
    all_understood("fio-2.txt");
}

#[test]
fn fio_for_machines() {
    all_understood("fio.json");
    let text = fixture("fio-priorities.json");
    let runs = all_understood("fio-priorities.json").found.remove(0).runs;
    // As rewritten by other programs: without line breaks, and without blanks before colons.
    let one_line = text.lines().map(str::trim).collect::<String>().replace(" : ", ":");
    let again = import("one-line.json", one_line.as_bytes(), None).found.remove(0).runs;
    assert_eq!(runs[0].phases.len(), again[0].phases.len());
    for (phase, again) in runs[0].phases.iter().zip(&again[0].phases) {
        let of = |phase: &Phase| -> Vec<(String, f64)> {
            phase.repetitions[0].figures.iter().map(|f| (f.name.clone(), f.value)).collect()
        };
        assert_eq!((&phase.name, of(phase)), (&again.name, of(again)));
    }
    assert_eq!(all_understood("fio-terse.txt").found.len(), 1);
}

#[test]
fn fio_in_three_forms_is_one_run() {
    let text = fixture("../fio-forms.txt");
    let whole = import("-", text.as_bytes(), None);
    assert_eq!((whole.found.len(), &whole.not_understood), (1, &Vec::new()));
    assert_eq!(whole.found[0].what, "fio JSON, 1 job, printed in 3 forms");
    let document = &text[text.find("{\n").expect("a document")..text.find("\n}\n").expect("its end") + 3];
    let alone = import("-", document.as_bytes(), None);
    assert_eq!(whole.found[0].figures(), alone.found[0].figures(), "the figures of the JSON");
    // A report with another rate is another run, and so is one after its own options.
    let another = text.replace("IOPS=7474, BW=29.2MiB/s (30.6MB/s)", "IOPS=8474, BW=33.1MiB/s (34.7MB/s)");
    assert_eq!(import("-", another.as_bytes(), None).found.len(), 2);
    let options = text.lines().next().expect("options");
    let called_again = text.replace("\na: (groupid", &format!("\n{options}\na: (groupid"));
    assert_eq!(import("-", called_again.as_bytes(), None).found.len(), 2);
    // Without JSON the terse lines, which are printed between the options and the report, are kept.
    let report = &text[text.find("\na: (groupid").expect("a report")..];
    let terse = text.lines().find(|line| line.starts_with("3;fio")).expect("a terse line");
    let two =
        import("-", format!("{options}\nfio-3.42\nStarting 1 process\n\n{terse}\n{report}").as_bytes(), None);
    let what: Vec<&str> = two.found.iter().map(|f| f.what.as_str()).collect();
    assert_eq!(what, ["fio terse output, 1 job, printed in 2 forms"]);
    assert_eq!(two.not_understood, []);
}

#[test]
fn fio_2_counts_bytes_and_times_in_other_units() {
    let imported = all_understood("fio-2.json");
    let phase = &imported.found[0].runs[0].phases[0];
    let of = |name: &str| phase.repetitions[0].figure(name).expect(name).value;
    assert_eq!(of("io_bytes") / of("total_ios"), phase.axes.record_bytes.expect("bs") as f64);
    assert_eq!(of(THROUGHPUT), 153_412.0 * 1024.0);
    assert_eq!(of("completion latency p99"), 60_160_000.0);
}

#[test]
fn what_ended_early_says_why() {
    let of = |text: &str| import("-", text.as_bytes(), None);
    let head = "KB reclen write rewrite read reread\n64 4 1001 1002 1003 1004\n64 8 1001";
    let text = format!(
        "{head}\nError reading block 28, fd= 3 Read returned 131072\n\nread: Invalid argument\nAnother one:\n64 4 1001 1002\n"
    );
    let run = of(&text).found.remove(0).runs.remove(0);
    assert_eq!((run.status, run.phases.len()), (Status::Failed, 5));
    assert_eq!(
        run.error.as_deref(),
        Some("Error reading block 28, fd= 3 Read returned 131072; read: Invalid argument")
    );
    let said = "fio: pid=5509, err=5/file:io_u.c:1896, func=io_u error, error=Input/output error\n";
    let document = "{\"fio version\": \"fio-3.36\", \"jobs\": [{\"jobname\": \"a\", \"error\": 5,\n\"read\": {\"iops\": 2}}]}";
    for text in [format!("{said}{document}"), document.to_string()] {
        let run = of(&text).found.remove(0).runs.remove(0);
        assert_eq!((run.status, run.phases.len()), (Status::Failed, 1));
        assert_eq!(run.error.as_deref(), Some("fio: job a ended with error 5: Input/output error"));
    }
}

#[test]
fn an_invalid_figure_is_reported_with_its_line() {
    let head = "a: (groupid=0, jobs=1): err=17 (file:io_u.c:22, func=sync, error=Odd): pid=7: Mon Jun  2 16:36:56 2025";
    let absurd = format!("    clat (usec): min=3, max=8552, avg=-{}.00, stdev=  inf", "18".repeat(60));
    let text = format!("{head}\n  read: IOPS=22.4k, BW=175MiB/s (184MB/s)(438MiB/2497msec)\n{absurd}\n");
    let mut imported = import("-", text.as_bytes(), None);
    assert_eq!(imported.not_understood, [(3, absurd.trim().to_string())]);
    let run = imported.found.remove(0).runs.remove(0);
    assert_eq!(run.error.as_deref(), Some("fio: job a ended with error 17: Odd"));
    let reads = &run.phases[0].repetitions[0];
    assert_eq!(reads.figure("completion latency max").map(|f| f.value), Some(8_552_000.0));
    assert!(reads.figure("completion latency avg").is_none());
}

#[test]
fn percentiles_are_of_the_latency_above_them() {
    let text = "a: (groupid=0, jobs=1): err= 0: pid=7: Mon Jun  2 16:36:56 2025\n  read: IOPS=22.4k, BW=175MiB/s (184MB/s)(438MiB/2497msec)\n    lat percentiles (usec):\n     |  1.00th=[    5]\n  fsync/fdatasync/sync_file_range:\n    sync percentiles (msec):\n     | 99.00th=[    7]\n";
    let run = import("-", text.as_bytes(), None).found.remove(0).runs.remove(0);
    let of = |n: usize, name: &str| run.phases[n].repetitions[0].figure(name).map(|f| f.value);
    assert_eq!((of(0, "latency p1"), of(1, "latency p99")), (Some(5000.0), Some(7e6)));
}

#[test]
fn other_tests_of_sysbench_are_not_taken_for_its_test_of_files() {
    let text = "sysbench 1.0.20 (using system LuaJIT)\n\nNumber of threads: 1\n\nCPU speed:\n    events per second:  5224.85\n\nLatency (ms):\n    avg:   0.19\n";
    assert_eq!(import("-", text.as_bytes(), None).found.len(), 0);
}

#[test]
fn of_the_states_of_one_run_of_fio_the_last_is_read() {
    let document = |timestamp: u32, elapsed: u32, iops: u32| {
        format!(
            "{{\"fio version\": \"fio-3.33\",\n\"timestamp\": {timestamp},\n\"jobs\": [{{\"jobname\": \"a\", \"elapsed\": {elapsed},\n\"read\": {{\"iops\": {iops}}}}}]}}\n"
        )
    };
    let of = |documents: [String; 3]| {
        let found = import("-", documents.concat().as_bytes(), None).found;
        let iops = |f: &crate::import::Found| f.runs[0].phases[0].repetitions[0].figures[0].value;
        let says_so = |f: &crate::import::Found| f.what.ends_with(", only the last of its states");
        assert!(found.iter().all(|f| says_so(f) == (f.last_line > f.first_line + 3)), "{found:?}");
        found.iter().map(|f| (f.first_line, f.last_line, iops(f))).collect::<Vec<_>>()
    };
    assert_eq!(of([document(100, 1, 11), document(101, 2, 12), document(101, 3, 13)]), [(1, 12, 13.0)]);
    // The same job, run three times.
    assert_eq!(of([document(100, 1, 11), document(101, 1, 12), document(102, 1, 13)]).len(), 3);
    let state = |iops: u32| {
        format!(
            "a: (groupid=0, jobs=1): err= 0: pid=7: Mon Jun  2 16:36:5{iops} 2025\n  read: IOPS={iops}, BW=175MiB/s (184MB/s)(438MiB/2497msec)\n"
        )
    };
    let text = format!("{}\n{}", state(4), state(5));
    let run = import("-", text.as_bytes(), None).found.remove(0).runs.remove(0);
    assert_eq!((run.phases.len(), run.phases[0].repetitions[0].figures[0].value), (1, 5.0));
}

#[test]
fn times_of_other_shells_and_programs() {
    assert_eq!(all_understood("times.txt").found.len(), 7);
    for odd in ["fast (0avgtext+0avgdata 1780maxresident)k", "10%CPU (0avgtext+0avgdata 1780maxresident)k 7x"]
    {
        let line = format!("0.00user 0.00system 0:00.10elapsed {odd}\n");
        let imported = import("time.txt", line.as_bytes(), None);
        assert_eq!((imported.found.len(), imported.not_understood.len()), (0, 1), "{line}");
    }
    let phases = all_understood("hyperfine.json").found.remove(0).runs.remove(0).phases;
    assert_eq!((phases.len(), phases[0].repetitions.len()), (2, 3));
}

#[test]
fn fio_logs() {
    let latencies = all_understood("job_lat.1.log");
    let reads = &latencies.found[0].runs[0].phases[0];
    assert_eq!(reads.latency().count(), 3);
    assert_eq!(reads.axes.record_bytes, Some(4096));
    let rates = all_understood("job_bw.1.log");
    assert_eq!(rates.found[0].runs[0].phases[0].repetitions[0].intervals.len(), 3);
}

#[test]
fn the_intervals_of_a_log_that_is_cut_are_those_of_the_whole() {
    // Of 41 lines with this many blanks, 34 or 39 fit in the first 16 MiB: 7 follow the cut, or fewer than a log needs.
    for blanks in [480_000, 420_000] {
        let text = |blank: &str| -> String {
            (1..=41).map(|n| format!("{},{blank}{n},{},0\n", n * 500, n % 2)).collect()
        };
        let intervals = |text: String, parts: usize| {
            let imported = import("job_bw.1.log", text.as_bytes(), None);
            assert_eq!((imported.not_understood.len(), imported.found.len()), (0, parts));
            let mut all = [Vec::new(), Vec::new()];
            for phase in imported.found.into_iter().flat_map(|f| f.runs).flat_map(|r| r.phases) {
                all[usize::from(phase.writes)]
                    .extend(phase.repetitions.into_iter().flat_map(|r| r.intervals));
            }
            all
        };
        assert_eq!(intervals(text(&" ".repeat(blanks)), 2), intervals(text(" "), 1));
    }
}

#[test]
fn an_error_ends_the_outputs_and_names_the_limit() {
    let mut text = String::from("{ \"fio version\" : \"fio-3.36\", \"jobs\" : [\n");
    text.push_str(&"\n".repeat(5 << 20));
    let pieces = Outputs::new("fio.json", text.as_bytes(), None, None).expect("reads");
    let errors: Vec<String> = pieces.filter_map(|piece| Some(piece.err()?.to_string())).collect();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("line 1: ") && errors[0].contains("longer than 4194304 lines"), "{errors:?}");
}

#[test]
fn dd_of_both_kinds() {
    assert_eq!(all_understood("dd.txt").found.len(), 3);
}

#[test]
fn dd_in_the_words_of_other_languages() {
    let runs: Vec<_> = all_understood("dd-locales.txt").found.into_iter().flat_map(|f| f.runs).collect();
    for run in &runs {
        let r = &run.phases[0].repetitions[0];
        let of = |name: &str| r.figure(name).expect(name).value;
        assert!(r.figures.len() >= 5, "{:?}", r.figures);
        let rate = of("bytes copied") / (of(TIME) / 1e9);
        assert!((rate / of(THROUGHPUT) - 1.0).abs() < 0.06, "{rate}: {:?}", r.figures);
    }
    assert_eq!(runs.len(), 6);
}

#[test]
fn what_dd_says_of_its_progress_is_no_second_figure() {
    let said = "2177499136 bytes (2.2 GB, 2.0 GiB) copied, 1 s, 2.2 GB/s";
    let end = "2621440000 bytes (2.6 GB, 2.4 GiB) copied, 3.1 s, 841 MB/s";
    for between in ["\r", "\n"] {
        let text = format!("{said}{between}{said}\n40000+0 records in\n40000+0 records out\n{end}\n");
        let figures = import("-", text.as_bytes(), None).found.remove(0).runs.remove(0).phases.remove(0);
        let printed: Vec<String> = figures.repetitions[0].figures.iter().map(|f| f.printed.clone()).collect();
        assert_eq!(printed, ["40000+0", "40000+0", "2621440000 bytes", "3.1 s", "841 MB/s"]);
    }
}

#[test]
fn iostat_of_both_ages() {
    all_understood("iostat.txt");
}

#[test]
fn iostat_in_its_other_forms() {
    let found = all_understood("iostat-forms.txt").found;
    let of = |output: usize, device: &str, name: &str| {
        let phases = &found[output].runs[0].phases;
        let phase = phases.iter().find(|p| p.name == device).expect(device);
        phase.repetitions[0].figure(name).expect(name).value
    };
    assert_eq!(found.len(), 5);
    assert_eq!((of(0, "vda", "kB/s"), of(0, "vda", "await")), (4279.22 * 1024.0, 12e6));
    // The tables of one report form one repetition, and a unit after a value overrides the heading.
    assert_eq!((of(1, "vda", "rkB/s"), of(1, "vda", "w/s")), (2.1 * 1_048_576.0, 60.5));
    assert_eq!((of(2, "vda", "r/s"), of(2, "processors", "%user")), (120.0, 1.51));
    assert_eq!((of(3, "vda", "kB_wrtn/s"), of(3, "vda", "kB_read")), (4096.0, 26.4 * 1_073_741_824.0));
    assert_eq!(found[4].runs[0].phases[1].repetitions.len(), 2);
    let json = all_understood("iostat.json");
    assert_eq!(json.found[0].runs[0].phases[1].repetitions.len(), 2);
}

#[test]
fn dtrace_distributions() {
    all_understood("dtrace.txt");
}

#[test]
fn one_program_can_be_asked_for() {
    let text = fixture("dd.txt");
    assert!(import("-", text.as_bytes(), Some(Kind::Fio)).found.is_empty());
    assert_eq!(import("-", text.as_bytes(), Some(Kind::Dd)).found.len(), 3);
}

#[test]
fn quoted_in_a_mail_it_is_the_same() {
    let plain = fixture("sysbench-1.0.txt");
    let quoted: String = plain.lines().map(|l| format!("> {l}\n")).collect();
    let of = |text: &str| import("-", text.as_bytes(), None).found.remove(0).runs.remove(0).phases;
    assert_eq!(of(&quoted), of(&plain));
}

/// Name and value of every figure.
fn figures(imported: &Imported) -> Vec<(String, f64)> {
    let phases = imported.found.iter().flat_map(|f| &f.runs).flat_map(|r| &r.phases);
    let figures = phases.flat_map(|p| &p.repetitions).flat_map(|r| &r.figures);
    figures.map(|f| (f.name.clone(), f.value)).collect()
}

#[test]
fn in_any_encoding_it_is_the_same() {
    for name in ["fio-normal.txt", "fio.json", "dd-locales.txt"] {
        let text = fixture(name);
        let marked = format!("\u{feff}{text}");
        let [little, big] = [u16::to_le_bytes, u16::to_be_bytes]
            .map(|bytes| marked.encode_utf16().flat_map(bytes).collect::<Vec<u8>>());
        let plain = import(name, text.as_bytes(), None);
        for bytes in [marked.into_bytes(), little, big] {
            assert_eq!(text_of(&import(name, &bytes, None)), text_of(&plain));
        }
    }
}

/// A text as mailers send it, in lines of at most 76 characters.
fn quoted_printable(text: &str) -> String {
    let mut mail = String::new();
    for line in text.lines() {
        let mut length = 0;
        for c in line.chars() {
            let c = match c {
                '=' => "=3D".to_owned(),
                c if c.is_ascii() => c.to_string(),
                c => c.to_string().bytes().map(|b| format!("={b:02X}")).collect(),
            };
            if length + c.len() > 75 {
                mail.push_str("=\r\n");
                length = 0;
            }
            length += c.len();
            mail.push_str(&c);
        }
        mail.push_str("\r\n");
    }
    mail
}

#[test]
fn in_a_quoted_printable_mail_it_is_the_same() {
    let header = "Content-Transfer-Encoding: quoted-printable\r\n\r\n";
    for name in ["fio-normal.txt", "fio.json", "dd-locales.txt", "sysbench-1.0.txt"] {
        let plain = import(name, fixture(name).as_bytes(), None);
        let mail = format!("{header}{}\r\nscore 12.5 99 42 43\r\n", quoted_printable(&fixture(name)));
        let read = import(name, mail.as_bytes(), None);
        assert_eq!(figures(&read), figures(&plain), "{name}");
        assert_eq!(read.not_understood[0].0, mail.lines().count() as u64, "the line of the file");
    }
    // Without headers the signs tell. The line of a figure is that of the file.
    let mail = quoted_printable(&fixture("fio-normal.txt"));
    let read = import("-", mail.as_bytes(), None);
    assert_eq!(figures(&read), figures(&import("-", fixture("fio-normal.txt").as_bytes(), None)));
    let last = read.found[0].runs[0].phases.last().expect("a device");
    let line = mail.lines().position(|line| line.contains("util=3D")).expect("its line") as u64 + 1;
    assert!(last.repetitions[0].figures.iter().all(|f| f.line == line || f.line + 1 == line), "{last:?}");
}

/// Bytes as mailers send them, in lines of 76 characters.
fn base64(bytes: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    let lines = text.as_bytes().chunks(76).map(|line| format!("{}\r\n", String::from_utf8_lossy(line)));
    lines.collect()
}

#[test]
fn what_a_mail_carries_in_base64_is_the_same() {
    let part = |bytes: &[u8]| {
        format!("--0000b1f5\r\nContent-Transfer-Encoding: base64\r\nX: y\r\n\r\n{}", base64(bytes))
    };
    let score = "--0000b1f5--\r\nscore 12.5 99 42 43\r\n";
    let utf_16 = |text: &str| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    for name in ["fio-normal.txt", "fio.json", "dd-locales.txt", "iozone-sheet.txt"] {
        let text = fixture(name);
        let plain = import(name, text.as_bytes(), None);
        for bytes in [text.clone().into_bytes(), text.replace('\n', "\r\n").into_bytes(), utf_16(&text)] {
            let mail = format!("{}{}{score}", part(b"\x89PNG\r\n\0\0 1 2 3 MB/s"), part(&bytes));
            let read = import(name, mail.as_bytes(), None);
            assert_eq!(figures(&read), figures(&plain), "{name}");
            let last = read.not_understood.last().expect("the score");
            assert_eq!(last.0, mail.lines().count() as u64, "the line of the file");
        }
    }
    // A line has the number of the one in which it begins; what a list adds below is none of it.
    let dd = "Hello, I measured this on the new array, with the cache of the controller off:\n$ dd if=/dev/zero of=t bs=1M\n1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 10.5 s, 102 MB/s";
    let header = "Content-Transfer-Encoding: base64\n\n";
    let body = base64(dd.as_bytes());
    let read = import("-", format!("{header}{body}______\na list\n{dd}\n").as_bytes(), None);
    assert_eq!(
        read.found.iter().map(|f| (f.first_line, f.last_line)).collect::<Vec<_>>(),
        [(4, 5), (10, 13)]
    );
    assert_eq!((figures(&read).len(), read.not_understood.len()), (10, 0));
    // Wherever it is cut: each figure is whole, or left out.
    let whole = figures(&import("-", dd.as_bytes(), None));
    for cut in 0..body.len() {
        let read = import("-", format!("{header}{}", &body[..cut]).as_bytes(), None);
        assert!(figures(&read).iter().all(|figure| whole.contains(figure)), "{cut}: {:?}", figures(&read));
    }
}

#[test]
fn a_number_that_may_be_cut_is_left_out() {
    let head = "a: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 30 03:41:50 2026";
    let of = |text: &str| import("-", text.as_bytes(), None);
    let cut =
        of(&format!("{head}\n  write: IOPS=12, BW=48KiB/s (49kB/s)(96KiB/2001msec)\n  read: IOPS=15.4"));
    assert_eq!(cut.not_understood, [(3, "read: IOPS=15.4".into())]);
    assert_eq!((figures(&cut).len(), cut.found[0].last_line), (4, 3));
    let dd = "16+0 records in\n16+0 records out\n16777216 bytes (17 MB, 16 MiB) copied, 0.004 s, 4.1";
    assert_eq!(figures(&of(dd)).len(), 4, "no rate");
    assert_eq!(figures(&of(&format!("{dd} GB/s"))).len(), 5, "the end of this line is clear");
    let json =
        "{\"fio version\": \"fio-3.36\", \"jobs\": [{\"jobname\": \"a\",\n\"read\": {\"iops\": 2, \"bw\": 3";
    assert_eq!(figures(&of(json)), [("operations per second".into(), 2.0)]);
    let alone = of(&format!("{head}\n  read: IOPS=15.4"));
    assert_eq!((alone.found.len(), alone.not_understood.len()), (0, 1));
    let prose = of("It has been so since 2004");
    assert_eq!((prose.prose.len(), prose.not_understood.len()), (1, 0));
    // A sheet that was saved as text.
    let sheet = "Writer Report\n\t4\t8\n64\t1001\t1002\n128\t1003\t1004";
    assert_eq!((figures(&of(sheet)).len(), of(sheet).not_understood.len()), (4, 0));
}

#[test]
fn a_log_of_operations_has_the_rate_of_their_sizes() {
    let log = |lines: u32, apart: u32, value: u32| -> String {
        (0..lines).map(|n| format!("{}, {value}, 1, 4096, 0\n", 7 + n * apart)).collect()
    };
    let run = |name: &str, text: String| import(name, text.as_bytes(), None).found.remove(0).runs.remove(0);
    let of =
        |run: &fathom_record::Run, name: &str| run.phases[0].repetitions[0].figure(name).map(|f| f.value);
    let dense = run("a_bw.1.log", log(250, 4, 600_000));
    assert_eq!(of(&dense, THROUGHPUT), Some(250.0 * 4096.0 / 0.997));
    let intervals = &dense.phases[0].repetitions[0].intervals;
    assert_eq!(intervals.iter().map(|i| i.bytes).sum::<u64>(), 250 * 4096);
    assert_eq!((intervals[1].end_ns, intervals[1].width_ns, intervals[1].ops), (12_000_000, 4_000_000, 1));
    let together = run("a_bw.1.log", log(250, 1, 600_000).replace("8, 6", "7, 6"));
    assert_eq!(together.phases[0].repetitions[0].intervals[0].ops, 2, "in one millisecond");
    let operations = run("a_iops.1.log", log(250, 4, 1));
    assert_eq!(of(&operations, "operations per second"), Some(250.0 / 0.997));
    // Means of half a second, with the size of an operation, or operations that far apart: the log does not tell.
    for (lines, apart) in [(250, 500), (20, 4)] {
        let sparse = run("a_bw.1.log", log(lines, apart, 600_000));
        assert_eq!((of(&sparse, THROUGHPUT), of(&sparse, "mean value")), (None, Some(600_000.0)));
        assert_eq!(
            (sparse.doubts[0].code.as_str(), sparse.doubts[0].phases.as_slice()),
            ("rate-of-operations", &[0][..])
        );
        assert!(sparse.phases[0].repetitions[0].intervals.is_empty());
    }
}

const JOB: &str = "a: (groupid=0, jobs=1): err= 0: pid=7: Mon Jun  2 16:36:56 2025\n";

#[test]
fn both_directions_of_fio_together_are_an_operation() {
    let block = "    clat (usec): min=2, max=9, avg=3.50, stdev=0.50\n  lat (usec)   : 4=100.00%\n";
    let text = format!(
        "{JOB}  write: IOPS=17.2k, BW=67.0MiB/s (70.3MB/s)(134MiB/2001msec); 0 zone resets\n  mixed: IOPS=0, BW=0 (0)(0B/2001msec)\n{block}\nRun status group 0 (all jobs):\n  MIXED: bw=120MiB/s (126MB/s), 120MiB/s-120MiB/s (126MB/s-126MB/s), io=240MiB (252MB), run=2001-2001msec\n"
    );
    let imported = import("-", text.as_bytes(), None);
    let phases = &imported.found[0].runs[0].phases;
    let names: Vec<&str> = phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["job", "write", "mixed", "group mixed"]);
    let of = |n: usize, name: &str| phases[n].repetitions[0].figure(name).map(|f| f.value);
    assert_eq!((of(1, "completion latency max"), of(2, "completion latency max")), (None, Some(9000.0)));
    assert_eq!((of(2, THROUGHPUT), of(2, TIME)), (None, Some(2.001e9)), "zeros that fio did not count");
    assert_eq!((of(3, THROUGHPUT), imported.not_understood.len()), (Some(120.0 * 1_048_576.0), 0));
    let text = format!("{JOB}  mixed: IOPS=30.8k, BW=120MiB/s (126MB/s)(240MiB/2001msec)\n{block}");
    let phase = import("-", text.as_bytes(), None).found.remove(0).runs.remove(0).phases.remove(1);
    assert_eq!((phase.name.as_str(), phase.repetitions[0].figures.len()), ("mixed", 8));
}

#[test]
fn rates_of_fio_in_bits_and_in_decimal_bytes() {
    let text = format!(
        "{JOB}  read: IOPS=16.8k, BW=524Mibit/s (550Mbit/s)(131MiB/2001msec)\n  write: IOPS=16.4k, BW=67.3MB/s (64.2MiB/s)(135MB/2001msec)\n\nRun status group 0 (all jobs):\n   READ: bw=524Mibit/s (550Mbit/s), 524Mibit/s-524Mibit/s (550Mbit/s-550Mbit/s), io=131MiB (137MB), run=2001-2001msec\n"
    );
    let phases = import("-", text.as_bytes(), None).found.remove(0).runs.remove(0).phases;
    let of = |n: usize, name: &str| phases[n].repetitions[0].figure(name).map(|f| f.value);
    let bits = 524.0 * 1_048_576.0 / 8.0;
    assert_eq!((of(0, THROUGHPUT), of(2, THROUGHPUT)), (Some(bits), Some(bits)));
    assert_eq!(of(2, "throughput of the slowest job"), Some(bits));
    assert_eq!((of(1, THROUGHPUT), of(1, "bytes")), (Some(67.3e6), Some(135e6)));
}

#[test]
fn a_job_of_fio_that_went_on_after_errors_has_failed() {
    let line = "     errors    : total=17, first_error=5/<Input/output error>\n";
    let text = format!("{JOB}  read: IOPS=99, BW=400KiB/s (409kB/s)(800KiB/2001msec)\n{line}");
    let run = import("-", text.as_bytes(), None).found.remove(0).runs.remove(0);
    let words = "errors: total=17, first_error=5/<Input/output error>";
    assert_eq!((run.status, run.error), (Status::Failed, Some(format!("fio: job a: {words}"))));
    assert_eq!(run.phases[0].repetitions[0].figure("errors").map(|f| f.value), Some(17.0));
    let error = "err= 5 (file:io_u.c:1876, func=io_u error, error=Input/output error):";
    let run = import("-", text.replace("err= 0:", error).as_bytes(), None).found.remove(0).runs.remove(0);
    assert_eq!(run.error, Some(format!("fio: job a ended with error 5: Input/output error; {words}")));
}

#[test]
fn times_of_hours_and_of_commands_that_failed() {
    let text = "$ /usr/bin/time ./a\n3723.50user 1.25system 1:02:03elapsed 100%CPU (0avgtext+0avgdata 1648maxresident)k\n0inputs+0outputs (0major+99minor)pagefaults 0swaps\n\n$ time ./c\n./c  3723.50s user 10.20s system 99% cpu 25:02:03.45 total\n";
    let real = |imported: &Imported| -> Vec<f64> {
        figures(imported)
            .into_iter()
            .filter(|(name, _)| name == "real time")
            .map(|(_, value)| value)
            .collect()
    };
    assert_eq!(real(&import("-", text.as_bytes(), None)), [3723e9, 90_123.45e9]);
    let verbose = "\tCommand being timed: \"false\"\n\tUser time (seconds): 0.00\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:02:03\n\tExit status: ";
    let of = |words: &str, status: &str| {
        let text = format!("{words}{verbose}{status}\n");
        let imported = import("-", text.repeat(2).as_bytes(), None);
        assert_eq!((imported.not_understood.len(), imported.found.len()), (0, 2), "{text}");
        assert_eq!(real(&imported), [3723e9; 2]);
        imported.found[0].runs[0].error.clone()
    };
    for words in ["Command exited with non-zero status 1", "Command terminated by signal 9"] {
        assert_eq!(of(&format!("{words}\n"), "1").as_deref(), Some(words));
    }
    assert_eq!((of("", "2").as_deref(), of("", "0")), (Some("Exit status: 2"), None));
    let text = "Command exited with non-zero status 3\n0.00user 0.01system 0:00.10elapsed 15%CPU (0avgtext+0avgdata 1780maxresident)k\n";
    let run = import("-", text.as_bytes(), None).found.remove(0).runs.remove(0);
    assert_eq!((run.status, run.phases[0].repetitions[0].figures.len()), (Status::Failed, 7));
}

#[test]
fn the_second_part_of_a_wrapped_row_of_iozone_has_no_sizes() {
    let row = |record: u32| {
        format!("             512       {record}   812345   912345  3123456  4123456  3523456\n")
    };
    let text = format!(
        "              kB  reclen    write  rewrite    read    reread    read\nwrite     read   rewrite      read   fwrite frewrite    fread  freread\n{}1012345  3323456   1512345   3423456   802345   902345  3023456  3923456\n{}3423456   802345   902345  3023456  3923456\n\niozone test complete.\n",
        row(4),
        row(8)
    );
    let imported = import("-", text.as_bytes(), None);
    let run = &imported.found[0].runs[0];
    assert!(run.phases.iter().all(|p| p.axes.file_bytes == Some(512 << 10)));
    assert_eq!((run.phases.len(), imported.found[0].what.as_str()), (10, "IOzone table of 2 rows"));
    assert_eq!(imported.not_understood.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [4, 6]);
}

#[test]
fn a_part_in_base64_that_stops_early_is_named() {
    let text = "$ dd if=/dev/zero of=t bs=1M\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 10.5 s, 102 MB/s\n"
        .repeat(3)
        + "and that is all of what I have measured on this machine so far.\n";
    let header = "Content-Transfer-Encoding: base64\n\n";
    let body = base64(text.as_bytes()).replace('\r', "");
    let lines: Vec<&str> = body.lines().collect();
    let whole = figures(&import("-", format!("{header}{body}").as_bytes(), None));
    let short = |at: usize, to: usize| {
        let line = |n: usize| if n == at { &lines[n][..to] } else { lines[n] };
        (0..lines.len()).map(|n| format!("{}\n", line(n))).collect::<String>()
    };
    for at in 1..lines.len() - 1 {
        let (before, after) = (lines[..at].join("\n"), lines[at..].join("\n"));
        for broken in [
            format!("{before}\n!{after}\n"),
            format!("{before}\n\n{after}\n"),
            format!("{before}\n{}{}\n", lines[at], after),
            short(at, 72),
            short(at, 75),
            short(0, 60),
        ] {
            let read = import("-", format!("{header}{broken}").as_bytes(), None);
            assert!(figures(&read).iter().all(|figure| whole.contains(figure)), "{broken}");
            assert!(!read.not_understood.is_empty(), "{broken}");
        }
    }
    // What follows a part that is whole is no part of it.
    for behind in ["", "\n", "\nregards, A. B.\n", "--0000b1f5--\n", "______\na list\n"] {
        let read = import("-", format!("{header}{body}{behind}").as_bytes(), None);
        assert_eq!((figures(&read), read.not_understood.len()), (whole.clone(), 0), "{behind}");
    }
    // A line that has no end keeps none, and lines of one character are no part.
    let image = base64(b"\x89PNG\r\n\0\0 1 2 3 MB/s");
    let read = import("-", format!("{header}{}", image.trim_end()).as_bytes(), None);
    assert!(figures(&read).is_empty());
    let narrow: String = body.chars().filter(|c| *c != '\n').flat_map(|c| [c, '\n']).collect();
    let read = import("-", format!("{header}{narrow}").as_bytes(), None);
    assert!(figures(&read).is_empty() && !read.not_understood.is_empty(), "{read:?}");
}

#[test]
fn a_worksheet_in_a_mail_has_the_first_line_of_its_part() {
    let mut sheet = Sheet::default();
    for (row, line) in (0u32..).zip(fixture("iozone-sheet.txt").lines().take(11)) {
        for (column, field) in (0u32..).zip(line.split('\t')).filter(|(_, f)| !f.is_empty()) {
            let value =
                field.parse().map_or_else(|_| WorksheetCell::Text(field.into()), WorksheetCell::Number);
            sheet.cells.push(SheetCell { row, column, value });
        }
    }
    let bytes = worksheet::write(&sheet).expect("a sheet");
    let mail = format!("Content-Transfer-Encoding: base64\n\n{}", base64(&bytes));
    let found = &import("-", mail.as_bytes(), None).found;
    assert_eq!(found.iter().map(|f| (f.first_line, f.last_line)).collect::<Vec<_>>(), [(3, 3)]);
}
