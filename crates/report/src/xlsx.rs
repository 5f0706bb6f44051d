//! The workbook: the answer with a chart; a summary; the surfaces in IOzone's layout (per test a title, a row of record sizes
//! in kB, one row per file size, throughput in kB/s) with a three-colour scale and native line charts; throughput by streams;
//! what reached the devices; the environment; and one tidy sheet with an observation per row for further analysis. A cell is
//! empty if the value was not measured.

use crate::{
    Mapped, Story, Streams, Surface, environment::leaves, latency, printable::clean, section::title,
};
use fathom_record::{Phase, Run};
use rust_xlsxwriter::{
    Chart, ChartAxisCrossing, ChartType, ConditionalFormat3ColorScale, DocProperties, ExcelDateTime, Format,
    FormatAlign, Workbook, Worksheet, XlsxError,
};

mod answer;
mod block;
mod document;
mod operations;

pub use document::document;

/// Why a workbook could not be built.
#[derive(Debug, thiserror::Error)]
#[error("the workbook could not be built: {0}")]
pub struct WriteError(#[from] XlsxError);

/// One workbook with the sheets of every run, as the bytes of a file.
///
/// # Errors
/// If the workbook cannot be built.
pub fn bytes(runs: &[&Run]) -> Result<Vec<u8>, WriteError> {
    let mut book = Workbook::new();
    book.set_properties(&DocProperties::new().set_creation_datetime(&made(runs)));
    Ok(build(&mut book, runs).and_then(|()| book.save_to_buffer())?)
}

/// The workbook's date: that of its newest run, so that the same runs always give the same bytes.
fn made(runs: &[&Run]) -> ExcelDateTime {
    let newest = runs.iter().map(|run| run.started_at.as_str()).max().unwrap_or_default();
    let moment: String = newest.chars().take("2026-11-23T08:00:00".len()).collect();
    ExcelDateTime::parse_from_str(&moment).unwrap_or_default()
}

type Done = Result<(), XlsxError>;

struct Look {
    bold: Format,
    head: Format,
    whole: Format,
    ratio: Format,
    wrap: Format,
}

fn build(book: &mut Workbook, runs: &[&Run]) -> Done {
    let look = Look {
        bold: Format::new().set_bold(),
        head: Format::new().set_bold().set_align(FormatAlign::Right),
        whole: Format::new().set_num_format("#,##0"),
        ratio: Format::new().set_num_format("#,##0.000"),
        wrap: Format::new().set_text_wrap().set_align(FormatAlign::Top),
    };
    answer::write(book, runs, &look)?;
    summary(book.add_worksheet(), runs, &look)?;
    for (i, run) in runs.iter().enumerate() {
        let name =
            |sheet: &str| if runs.len() == 1 { sheet.to_string() } else { format!("{sheet} {}", i + 1) };
        surfaces(book, &name("Surfaces"), run, &look)?;
        streams(book, &name("Streams"), run, &look)?;
    }
    operations::write(book, runs, &look)?;
    block::write(book, runs, &look)?;
    environment(book.add_worksheet(), runs, &look)?;
    observations(book.add_worksheet(), runs, &look)
}

/// Makes columns as wide as their numbers with thousands separators, and as text up to a limit; fits one page in width on paper.
fn fit(sheet: &mut Worksheet, columns: usize) -> Done {
    const NUMBER: f64 = 18.0;
    const WIDEST_PIXELS: u32 = 480;
    for column in 0..columns as u16 {
        sheet.set_column_width(column, NUMBER)?;
    }
    sheet.set_autofit_max_width(WIDEST_PIXELS).autofit();
    sheet.set_landscape().set_print_fit_to_pages(1, 0);
    Ok(())
}

/// Maximum length of a summary line, in characters.
const SENTENCE: usize = 90;

fn summary(sheet: &mut Worksheet, runs: &[&Run], look: &Look) -> Done {
    sheet.set_name("Summary")?.set_column_width(1, SENTENCE as f64)?;
    for column in 2..9 {
        sheet.set_column_width(column, 16)?;
    }
    sheet.set_landscape().set_print_fit_to_pages(1, 0);
    let mut row = 0;
    let mut longest = 0;
    for run in runs {
        let story = Story::of(run);
        let titles = story.figures.iter().map(|figure| figure.title.chars().count());
        longest = titles.chain([longest]).max().unwrap_or(0);
        sheet.write_with_format(row, 0, clean(&story.title), &look.bold)?;
        sheet.write(row, 1, run.status.word())?;
        row += 1;
        for trouble in &story.trouble {
            row = pair(sheet, row, "Trouble", trouble, look)?;
        }
        for verdict in &story.verdicts {
            row = pair(sheet, row, verdict.mark, &verdict.sentence, look)?;
        }
        for doubt in &story.doubts {
            for sentence in doubt.sentences.iter().take(5) {
                row = pair(sheet, row, &format!("Doubt: {}", doubt.code), sentence, look)?;
            }
        }
        for (term, words) in &story.facts {
            row = pair(sheet, row, term, words, look)?;
        }
        row = main_figures(sheet, row + 1, &story, look)? + 1;
    }
    sheet.set_column_width(0, (longest as f64 + 2.0).clamp(30.0, 80.0))?;
    Ok(())
}

fn pair(sheet: &mut Worksheet, row: u32, term: &str, words: &str, look: &Look) -> Result<u32, XlsxError> {
    const LINE: f64 = 15.0;
    sheet.write_with_format(row, 0, clean(term), &look.wrap)?;
    sheet.write_with_format(row, 1, clean(words), &look.wrap)?;
    let lines = words.chars().count().div_ceil(SENTENCE).max(1);
    sheet.set_row_height(row, LINE * lines as f64)?;
    Ok(row + 1)
}

/// Test, regime, the figure to quote, lowest, highest: one figure per row, with its origin beside it.
fn main_figures(sheet: &mut Worksheet, mut row: u32, story: &Story, look: &Look) -> Result<u32, XlsxError> {
    let heads = [
        "Test",
        "Served by",
        "MiB/s",
        "Lowest MiB/s",
        "Highest MiB/s",
        "Operations/s",
        "Lowest/s",
        "Highest/s",
        "Cells",
    ];
    for (column, head) in (0u16..).zip(heads) {
        sheet.write_with_format(row, column, head, if column < 2 { &look.bold } else { &look.head })?;
    }
    let mib = |rate: f64| rate / 1_048_576.0;
    for figure in &story.figures {
        for (kind, s) in &figure.by_kind {
            row += 1;
            sheet.write(row, 0, clean(&figure.title))?.write(row, 1, kind.words())?;
            let quoted = figure.quoted.get(kind).copied().unwrap_or(s.median);
            for (column, rate) in (2u16..).zip([quoted, s.min, s.max]) {
                sheet.write_with_format(row, column, mib(rate), &look.ratio)?;
            }
            sheet.write(row, 8, s.n as f64)?;
        }
        if let Some(s) = &figure.ops {
            row += 1;
            sheet.write(row, 0, clean(&figure.title))?.write(row, 1, "no file data")?;
            for (column, rate) in (5u16..).zip([s.median, s.min, s.max]) {
                sheet.write_with_format(row, column, rate, &look.whole)?;
            }
            sheet.write(row, 8, s.n as f64)?;
        }
    }
    Ok(row + 1)
}

/// IOzone's kB is 1024 bytes.
fn kib(bytes: f64) -> f64 {
    bytes / 1024.0
}

fn surfaces(book: &mut Workbook, name: &str, run: &Run, look: &Look) -> Done {
    let all = Mapped::of_run(run);
    if all.is_empty() {
        return Ok(());
    }
    let sheet = book.add_worksheet();
    sheet.set_name(name)?.set_column_width(0, 26)?;
    sheet.write(0, 0, clean(&run.argv.join(" ")))?;
    sheet.write(1, 0, " ")?;
    sheet.write(2, 0, "The top row is records sizes, the left column is file sizes")?;
    // Keeps the three title lines and the file sizes in view.
    sheet.set_freeze_panes(3, 1)?.set_landscape().set_print_fit_to_pages(1, 0);
    let chart_column = all.iter().map(|m| m.surface.record_bytes.len()).max().unwrap_or(0) as u16 + 3;
    for column in 1..chart_column {
        sheet.set_column_width(column, 14)?;
    }
    let mut row = 3;
    let mut chart_row = 3;
    for mapped in &all {
        let block = surface_block(sheet, row, mapped, look)?;
        let chart = line_chart(name, &mapped.surface, row);
        sheet.insert_chart(chart_row, chart_column, &chart)?;
        chart_row += 19;
        row = block;
    }
    Ok(())
}

/// Writes title, record sizes and rows. Returns the row below.
fn surface_block(sheet: &mut Worksheet, top: u32, mapped: &Mapped, look: &Look) -> Result<u32, XlsxError> {
    let surface = &mapped.surface;
    let columns = surface.record_bytes.len() as u16;
    sheet.write_with_format(top, 0, iozone_title(&surface.title), &look.bold)?;
    for (column, record) in (1u16..).zip(&surface.record_bytes) {
        sheet.write_with_format(top + 1, column, kib(*record as f64), &look.head)?;
    }
    sheet.write_with_format(top + 1, columns + 1, "served by", &look.bold)?;
    let mut row = top + 2;
    for (i, cells) in surface.cells.iter().enumerate() {
        sheet.write(row, 0, kib(surface.file_bytes[i] as f64))?;
        for (column, cell) in (1u16..).zip(cells) {
            if let Some(cell) = cell {
                sheet.write_with_format(row, column, kib(cell.value).floor(), &look.whole)?;
            }
        }
        if let Some(band) = mapped.band_of(i) {
            sheet.write(row, columns + 1, band.kind.words())?;
        }
        row += 1;
    }
    let scale = ConditionalFormat3ColorScale::new();
    sheet.add_conditional_format(top + 2, 1, row - 1, columns, &scale)?;
    Ok(row)
}

/// Titles of IOzone's own worksheet for the tests it knows; other tests keep their names.
fn iozone_title(test: &str) -> String {
    let known = match test {
        "write" => "Writer Report",
        "rewrite" => "Re-writer Report",
        "read" => "Reader Report",
        "reread" => "Re-reader Report",
        "random read" => "Random Read Report",
        "random write" => "Random Write Report",
        "backward read" => "Backward Read Report",
        "record rewrite" => "Record Rewrite Report",
        "stride read" => "Stride Read Report",
        "fwrite" => "Fwrite Report",
        "frewrite" => "Re-fwrite Report",
        "fread" => "Fread Report",
        "freread" => "Re-fread Report",
        other => return format!("{} Report", clean(other)),
    };
    known.to_string()
}

/// Throughput over file size, one line per record size, with a logarithmic value axis.
fn line_chart(sheet: &str, surface: &Surface, top: u32) -> Chart {
    let mut chart = Chart::new(ChartType::Line);
    let (first, last) = (top + 2, top + 1 + surface.file_bytes.len() as u32);
    for column in 1..=surface.record_bytes.len() as u16 {
        chart
            .add_series()
            .set_name((sheet, top + 1, column))
            .set_categories((sheet, first, 0, last, 0))
            .set_values((sheet, first, column, last, column));
    }
    chart.title().set_name(&format!(
        "{}, kB/s by file size (kB), one line per record size (kB)",
        clean(&surface.title)
    ));
    chart.title().set_font(rust_xlsxwriter::ChartFont::new().set_size(10));
    chart.x_axis().set_name("file size, kB");
    // The category axis crosses at the lowest value, since a logarithmic axis has no zero.
    chart.y_axis().set_name("kB/s").set_log_base(10).set_crossing(ChartAxisCrossing::Min);
    chart.set_width(620).set_height(360);
    chart
}

/// IOzone's throughput sheet: the label in the first column, values from the third on, one per number of streams.
fn streams(book: &mut Workbook, name: &str, run: &Run, look: &Look) -> Done {
    let all = Streams::of_run(run);
    if all.is_empty() {
        return Ok(());
    }
    let sheet = book.add_worksheet();
    sheet.set_name(name)?.set_column_width(0, 34)?;
    sheet.write(0, 0, clean(&run.argv.join(" ")))?;
    sheet.write(1, 0, "Throughput report Y-axis is type of test X-axis is number of processes")?;
    let record = all.iter().find_map(|s| s.record_bytes);
    sheet.write(2, 0, record.map_or(String::new(), |r| format!("Record size = {} kBytes", r / 1024)))?;
    sheet.write(3, 0, "Output is in kBytes/sec")?;
    let counts: std::collections::BTreeSet<u64> =
        all.iter().flat_map(|s| s.points.iter().map(|p| p.streams)).collect();
    let counts: Vec<u64> = counts.into_iter().collect();
    sheet.write_with_format(4, 0, "streams", &look.bold)?;
    for (column, n) in (2u16..).zip(&counts) {
        sheet.write_with_format(4, column, *n as f64, &look.head)?;
    }
    sheet.set_freeze_panes(5, 1)?.set_landscape().set_print_fit_to_pages(1, 0);
    let last_column = counts.len() as u16 + 1;
    for column in 1..=last_column {
        sheet.set_column_width(column, 16)?;
    }
    let longest = all.iter().map(|s| s.title.chars().count() + ", slowest stream".len()).max().unwrap_or(0);
    sheet.set_column_width(0, (longest as f64).clamp(34.0, 80.0))?;
    let mut chart = Chart::new(ChartType::Line);
    let mut row = 5;
    for series in &all {
        for (what, rate) in stream_figures() {
            sheet.write(row, 0, format!("{}, {what}", clean(&series.title)))?;
            for point in &series.points {
                let column = counts.iter().position(|n| *n == point.streams).unwrap_or(0) as u16 + 2;
                if let Some(rate) = rate(point) {
                    sheet.write_with_format(row, column, kib(rate), &look.whole)?;
                }
            }
            if what == "children" {
                chart
                    .add_series()
                    .set_name((name, row, 0))
                    .set_categories((name, 4, 2, 4, last_column))
                    .set_values((name, row, 2, row, last_column));
            }
            row += 1;
        }
        sheet.write(row, 0, format!("{}, served by", clean(&series.title)))?;
        for point in &series.points {
            let column = counts.iter().position(|n| *n == point.streams).unwrap_or(0) as u16 + 2;
            sheet.write(row, column, point.origin.words())?;
        }
        row += 1;
    }
    chart.title().set_name("Children's sum, kB/s by number of streams");
    chart.x_axis().set_name("streams");
    sheet.insert_chart(row + 1, 0, &chart)?;
    Ok(())
}

type PointFigure = fn(&crate::streams::StreamsPoint) -> Option<f64>;

fn stream_figures() -> [(&'static str, PointFigure); 4] {
    [
        ("children", |p| Some(p.children_bytes_per_s)),
        ("parent", |p| p.parent_bytes_per_s),
        ("slowest stream", |p| Some(p.min_bytes_per_s)),
        ("fastest stream", |p| Some(p.max_bytes_per_s)),
    ]
}

fn environment(sheet: &mut Worksheet, runs: &[&Run], look: &Look) -> Done {
    sheet.set_name("Environment")?;
    for (column, head) in (0u16..).zip(["run", "name", "value"]) {
        sheet.write_with_format(0, column, head, &look.bold)?;
    }
    sheet.set_freeze_panes(1, 0)?;
    let mut row = 1;
    for run in runs {
        for (name, value) in leaves(&run.environment) {
            sheet.write(row, 0, clean(&run.id))?.write(row, 1, clean(&name))?.write(row, 2, clean(&value))?;
            row += 1;
        }
    }
    fit(sheet, 3)
}

/// Column heads of the tidy sheet, with units.
const TIDY: [&str; 25] = [
    "run",
    "label",
    "phase",
    "test",
    "stage",
    "file_bytes",
    "record_bytes",
    "streams",
    "queue_depth",
    "direct",
    "sync_in_clock",
    "repetition",
    "bytes",
    "operations",
    "elapsed_ns",
    "children_bytes_per_s",
    "parent_bytes_per_s",
    "operations_per_s",
    "served_by",
    "device_share",
    "device_read_bytes",
    "device_write_bytes",
    "cached_before_share",
    "latency_p99_ns",
    "device_written_in_clock_bytes",
];

/// One row per repetition of a phase.
fn observations(sheet: &mut Worksheet, runs: &[&Run], look: &Look) -> Done {
    sheet.set_name("Observations")?;
    for (column, head) in (0u16..).zip(TIDY) {
        sheet.write_with_format(0, column, head, &look.bold)?;
    }
    sheet.set_freeze_panes(1, 0)?;
    let mut row = 0;
    for run in runs {
        for phase in &run.phases {
            for n in 0..phase.repetitions.len() {
                row += 1;
                observation(sheet, row, run, phase, n, look)?;
            }
        }
    }
    if row > 0 {
        sheet.autofilter(0, 0, row, TIDY.len() as u16 - 1)?;
    }
    fit(sheet, TIDY.len())
}

fn observation(sheet: &mut Worksheet, row: u32, run: &Run, phase: &Phase, n: usize, look: &Look) -> Done {
    let repetition = &phase.repetitions[n];
    let origin = fathom_record::Origin::of(phase, repetition);
    let words =
        |sheet: &mut Worksheet, column: u16, text: &str| sheet.write(row, column, clean(text)).map(|_| ());
    words(sheet, 0, &run.id)?;
    words(sheet, 1, &run.label)?;
    words(sheet, 3, &title(phase))?;
    words(sheet, 4, phase.axes.tags.get("stage").map_or("", String::as_str))?;
    words(sheet, 18, origin.regime.words())?;
    sheet.write(row, 9, phase.direct)?.write(row, 10, phase.sync_in_clock)?;
    let p99 = latency::rows(&[phase]).first().map(|r| r.p99_ns as f64);
    let count = |v: Option<u64>| v.map(|v| v as f64);
    let physical = &repetition.physical;
    let numbers: [(u16, Option<f64>); 18] = [
        (2, Some(f64::from(phase.seq))),
        (5, count(phase.axes.file_bytes)),
        (6, count(phase.axes.record_bytes)),
        (7, count(phase.axes.streams)),
        (8, count(phase.axes.queue_depth)),
        (11, Some(f64::from(repetition.n))),
        (12, Some(repetition.bytes() as f64)),
        (13, Some(repetition.ops() as f64)),
        (14, Some(repetition.elapsed_ns as f64)),
        (15, repetition.bytes_per_s()),
        (16, repetition.parent_bytes_per_s()),
        (17, repetition.ops_per_s()),
        (19, origin.device_share),
        (20, count(physical.device_read_bytes())),
        (21, count(physical.device_write_bytes())),
        (22, repetition.resident_before.and_then(|r| r.cached_share())),
        (23, p99),
        (24, count(physical.written_in_clock_bytes)),
    ];
    for (column, number) in numbers {
        if let Some(number) = number.filter(|v| v.is_finite()) {
            let format = if matches!(column, 19 | 22) { &look.ratio } else { &look.whole };
            sheet.write_with_format(row, column, number, format)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use calamine::{Data, Reader as _, Xlsx, open_workbook_from_rs};

    fn written(runs: &[&Run]) -> Xlsx<std::io::Cursor<Vec<u8>>> {
        let book = std::io::Cursor::new(bytes(runs).expect("written"));
        open_workbook_from_rs(book).expect("readable")
    }

    #[test]
    fn the_surfaces_stand_in_iozones_layout() {
        let mut book = written(&[&samples::auto_run()]);
        assert_eq!(book.sheet_names(), ["Answer", "Summary", "Surfaces", "Environment", "Observations"]);
        let sheet = book.worksheet_range("Surfaces").expect("sheet");
        let at = |row, column| sheet.get_value((row, column)).cloned().unwrap_or(Data::Empty);
        assert_eq!(at(0, 0), Data::String("iozone -Ra -g 1g".into()));
        assert_eq!(
            at(2, 0),
            Data::String("The top row is records sizes, the left column is file sizes".into())
        );
        assert_eq!(at(3, 0), Data::String("Writer Report".into()));
        assert_eq!((at(4, 1), at(4, 13)), (Data::Float(4.0), Data::Float(16384.0)));
        assert_eq!(at(5, 0), Data::Float(64.0));
        assert_eq!(at(5, 6), Data::Empty, "no record is larger than its file, and a gap is no zero");
        let expected = (samples::auto_run().phases[0].bytes_per_s().expect("timed") / 1024.0).floor();
        assert_eq!(at(5, 1), Data::Float(expected));
        assert_eq!(at(20, 0), Data::String("Re-writer Report".into()), "no empty row between tests");
    }

    #[test]
    fn the_tidy_sheet_has_a_row_per_repetition() {
        let (a, b) = (samples::throughput_run(), samples::survey_run());
        let mut book = written(&[&a, &b]);
        assert!(book.sheet_names().contains(&"Streams 1".to_string()));
        let sheet = book.worksheet_range("Observations").expect("sheet");
        assert_eq!(sheet.height(), 1 + a.phases.len() + b.phases.len());
        assert_eq!(sheet.width(), TIDY.len());
    }

    #[test]
    fn the_first_sheet_is_the_answer_with_a_chart() {
        let run = samples::sysbench_run();
        let mut book = written(&[&run]);
        let sheet = book.worksheet_range("Answer").expect("sheet");
        let at = |row, column| sheet.get_value((row, column)).cloned().unwrap_or(Data::Empty);
        assert_eq!(at(3, 1), Data::String("MiB/s".into()));
        let line = &crate::results::of_run(&run)[0];
        assert_eq!(at(4, 0), Data::String(line.what.clone()));
        assert_eq!(at(4, 1), Data::Float(line.bytes_per_s.expect("data") / 1_048_576.0));
        assert_eq!(at(4, 4), Data::Float(line.ns[1].expect("timed") / 1e3));
        // Names of parts are stored uncompressed in a zip.
        let part = |run: &Run, name: &str| {
            let book = bytes(&[run]).expect("written");
            book.windows(name.len()).any(|window| window == name.as_bytes())
        };
        assert!(part(&run, "xl/charts/chart1.xml"));
        assert!(!part(&Run::default(), "xl/charts/chart1.xml"), "nothing to draw");
    }

    #[test]
    fn operations_have_a_sheet_of_their_own() {
        let mut book = written(&[&samples::filebench_run()]);
        assert_eq!(book.sheet_names(), ["Answer", "Summary", "Operations", "Environment", "Observations"]);
        let sheet = book.worksheet_range("Operations").expect("sheet");
        assert_eq!((sheet.height(), sheet.width()), (1 + 7 + 4, operations::HEADS.len()));
        let at = |column| sheet.get_value((5, column)).cloned().unwrap_or(Data::Empty);
        assert_eq!(
            (at(4), at(7), at(11)),
            (Data::String("read1".into()), Data::Float(32_000.0), Data::Float(50.0))
        );
    }

    #[test]
    fn device_activity_has_separate_sheets() {
        let mut book = written(&[&samples::observed_run()]);
        let names = book.sheet_names();
        assert_eq!(names[2..6], ["Requests", "Sizes", "Intervals", "Findings"], "{names:?}");
        let rows = |book: &mut Xlsx<_>, name: &str| {
            let sheet = book.worksheet_range(name).expect("sheet");
            (sheet.height(), sheet.width())
        };
        assert_eq!(rows(&mut book, "Requests"), (1 + 1 + 1 + 2, 5 + block::REQUESTS.len()));
        assert_eq!(rows(&mut book, "Sizes"), (1 + 1 + 6 + 6, 5 + block::SIZES.len()));
        assert_eq!(rows(&mut book, "Intervals"), (1 + 10 + 20, 5 + block::INTERVALS.len()));
        assert_eq!(rows(&mut book, "Findings"), (1 + 3 + 2 + 1, 5 + block::FINDINGS.len()));
        let sheet = book.worksheet_range("Requests").expect("sheet");
        let at = |row, column| sheet.get_value((row, column)).cloned().unwrap_or(Data::Empty);
        assert_eq!((at(1, 5), at(1, 9)), (Data::String("vda".into()), Data::Float(163_840.0)));
        assert_eq!(at(2, 17), Data::Empty, "what was not watched is no zero");
    }

    #[test]
    fn hostile_and_empty_runs_are_written_too() {
        let mut book = written(&[&samples::hostile_run()]);
        assert!(book.worksheet_range("Summary").expect("sheet").height() > 5);
        written(&[&samples::interrupted_run()]);
    }
}
