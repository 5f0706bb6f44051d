//! Properties for any text: no parser panics, every line is accounted for, and a truncated text gives what precedes the cut.

use super::import;
use proptest::prelude::*;

fn fixtures() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/import");
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the fixtures are there")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e != "read"))
        .map(|p| {
            let name = p.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&p).expect("text"))
        })
        .collect();
    all.sort();
    all
}

/// (line, name, value) of every figure.
fn figures(name: &str, text: &str) -> Vec<(u64, String, String)> {
    let imported = import(name, text.as_bytes(), None);
    let phases = imported.found.iter().flat_map(|f| &f.runs).flat_map(|r| &r.phases);
    let figures = phases.flat_map(|p| &p.repetitions).flat_map(|r| &r.figures);
    figures.map(|f| (f.line, f.name.clone(), f.printed.clone())).collect()
}

#[test]
fn what_is_cut_off_gives_what_came_before() {
    // A log's figure is the mean of all its lines.
    for (name, text) in fixtures().into_iter().filter(|(n, _)| !n.ends_with(".log")) {
        let whole = figures(&name, &text);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for cut in 0..lines.len() {
            let part = figures(&name, &lines[..cut].concat());
            for figure in &part {
                assert!(whole.contains(figure), "{name} cut after line {cut}: {figure:?}");
            }
            // Formats recognised by several lines (a heading and its rows) may lack the last of them.
            let before = whole.iter().filter(|(line, ..)| *line + 12 <= cut as u64);
            for figure in before {
                assert!(part.contains(figure), "{name} cut after line {cut} lost {figure:?}");
            }
        }
    }
}

#[test]
fn a_number_is_read_whole_or_not_at_all() {
    const STEP: usize = 7;
    fn numbers(text: &str) -> impl Iterator<Item = f64> {
        text.split(|c: char| !(c.is_ascii_digit() || c == '.')).filter_map(|part| part.parse().ok())
    }
    // A log's figure is of all its lines. The last row of a sheet is taken for complete if it has all its fields.
    let is_other = |name: &str| name.ends_with(".log") || name == "iozone-sheet.txt";
    for (name, text) in fixtures().into_iter().filter(|(name, _)| !is_other(name)) {
        for cut in (0..text.len()).step_by(STEP).filter(|&cut| text.is_char_boundary(cut)) {
            let last = text[..cut].matches('\n').count();
            let whole: Vec<f64> = numbers(text.lines().nth(last).unwrap_or("")).collect();
            for (line, figure, printed) in figures(&name, &text[..cut]) {
                let is_whole = line != last as u64 + 1 || numbers(&printed).all(|n| whole.contains(&n));
                assert!(is_whole, "{name} cut in line {line}: {figure} = {printed}");
            }
        }
    }
}

#[test]
fn every_line_is_accounted_for() {
    for (name, text) in fixtures() {
        let imported = import(&name, text.as_bytes(), None);
        let mut accounted: Vec<u64> = imported.prose.clone();
        accounted.extend(imported.not_understood.iter().map(|(n, _)| *n));
        let in_blocks = |n: u64| imported.found.iter().any(|f| (f.first_line..=f.last_line).contains(&n));
        for (n, line) in (1u64..).zip(text.lines()) {
            assert!(
                line.trim().is_empty() || accounted.contains(&n) || in_blocks(n),
                "{name}, line {n}: {line}"
            );
        }
        let mut blocks = imported.found.iter().map(|f| (f.first_line, f.last_line));
        assert!(blocks.clone().all(|(first, last)| first <= last));
        let mut end = 0;
        assert!(
            blocks.all(|(first, last)| first > std::mem::replace(&mut end, last)),
            "{name}: blocks overlap"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), name in "[a-z_.]{0,8}") {
        let _ = import(&name, &bytes, None);
    }

    #[test]
    fn no_mixture_of_lines_panics(
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..40),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "\\PC{0,3}"), 0..6),
        name in prop::sample::select(vec!["a_lat.log", "b_bw.1.log", "x"]),
    ) {
        let fixtures = fixtures();
        let mut text = String::new();
        for (which, line) in picks {
            let lines: Vec<&str> = fixtures[which.index(fixtures.len())].1.lines().collect();
            // Several lines in a row, because a format must be recognised before its errors can be tested.
            for line in lines.iter().skip(line.index(lines.len())).take(6) {
                text.push_str(line);
                text.push('\n');
            }
        }
        for (from, length, new) in cuts {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            if places.is_empty() {
                break;
            }
            let start = from.index(places.len());
            let end = (start + length.index(5)).min(places.len() - 1);
            text.replace_range(places[start]..places[end], &new);
        }
        let imported = import(name, text.as_bytes(), None);
        for run in imported.found.iter().flat_map(|f| &f.runs) {
            prop_assert!(!run.phases.is_empty());
            prop_assert!(run.phases.iter().flat_map(|p| &p.repetitions).flat_map(|r| &r.figures).all(|f| f.value.is_finite()));
        }
    }
}

/// Time quadratic in the number of lines would be minutes.
#[test]
fn lines_that_could_each_begin_an_output_are_soon_read() {
    for line in [
        "           value  ------------- Distribution ------------- count",
        "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz",
        "14510: 5.036: Per-Operation Breakdown",
        "File operations:",
        "Version 1.03c       ------Sequential Output------ --Sequential Input- --Random-",
        "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE",
        "--- . (ext4 /dev/vdb) ioping statistics ---",
        "transaction type: <builtin: select only>",
        " Operation      Count    AvgLat    MaxLat",
        "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo",
        "12:00:00.000 Starting RD=a; I/O rate: Uncontrolled MAX",
        "<PhoronixTestSuite>",
        "[{\"timestamp\": 1795880863.593134,",
        "Linux 6.1.0 (host) \t11/29/26 \t_x86_64_\t(2 CPU)",
        "03:11:36          DEV       tps     rkB/s",
        "# hostname;interval;timestamp;DEV;tps",
        "  metric     baseline   current   stdev    diff",
        "dbench60 results",
        "                vanilla    patched",
        "mix: (groupid=0, jobs=2): err= 0: pid=1234: Sat Nov 21 19:31:12 2026",
    ] {
        let text = format!("{line}\n").repeat(5_000);
        let imported = import("-", text.as_bytes(), None);
        assert_eq!(imported.found.iter().map(super::super::Found::figures).sum::<usize>(), 0, "{line}");
    }
}
