//! IOzone's output without the figures, and parsers for the parts that the tests check. Everything that two runs of one
//! command line share stays literally: splash lines, sizes, titles, zeros of a report.

use fathom_testkit::{Fathom, Outcome};

/// Width of file and record size, the first two columns of a row.
const SIZES_WIDTH: usize = 24;
/// Width of a throughput figure, `%10.2f`; only a faster machine makes it wider.
const RATE_WIDTH: usize = 10;
const WARNING: &str =
    "Timer resolution is poor. Some small transfers may have \nreported inaccurate results. Sizes ";
const CREDITS: usize = 9;

/// Runs `fathom iozone LINE` in its own directory.
#[track_caller]
pub fn iozone(line: &str) -> (Fathom, Outcome) {
    let fathom = Fathom::new();
    let outcome = fathom.run_line(&format!("iozone {line}"));
    (fathom, outcome)
}

/// Compares the layout of a successful run with `golden/NAME.txt`, and returns its output.
#[track_caller]
pub fn golden_run(name: &str, line: &str) -> (Fathom, String) {
    let (fathom, outcome) = iozone(line);
    let text = outcome.expect_code(0).stdout;
    golden(name, &text);
    (fathom, text)
}

/// Compares a layout with `golden/NAME.txt`.
#[track_caller]
pub fn golden(name: &str, output: &str) {
    fathom_testkit::golden(format!("tests/dropin/golden/{name}.txt"), &layout(output));
}

/// The output without its figures, its date and the names of its authors.
pub fn layout(output: &str) -> String {
    let output = without_warning(output);
    let mut lines = output.split_inclusive('\n');
    let mut masked = String::new();
    while let Some(line) = lines.next() {
        if line.starts_with("\tContributors:") {
            let rest = lines.by_ref().take_while(|l| *l != "\n").count();
            assert_eq!(rest + 1, CREDITS, "scripts count the banner's lines");
            masked += "\tContributors:(nine lines)\n\n";
        } else {
            masked += &mask(line);
        }
    }
    masked
}

/// The warning depends on the machine's speed; if present, it is complete and with its size.
fn without_warning(output: &str) -> String {
    let Some((before, after)) = output.split_once(WARNING) else { return output.into() };
    assert!(before.ends_with("iozone test complete.\n"), "the warning follows the table:\n{output}");
    let (size, rest) = after.split_once(" kBytes and below.\n").unwrap_or_else(|| panic!("{output}"));
    assert!(size.parse::<u64>().is_ok(), "{output}");
    format!("{before}{rest}")
}

fn mask(line: &str) -> String {
    if line.starts_with("\tRun began: ") {
        return "\tRun began: (date)\n".into();
    }
    if is_row(line) {
        return mask_row(line);
    }
    if let Some(rest) = line.strip_prefix('"') {
        let end = rest.find('"').map_or(line.len(), |at| at + 2);
        let (head, cells) = line.split_at(end);
        return format!("{head}{}", if cells.contains('.') { rates(cells) } else { report_cells(cells) });
    }
    let figures = ["/sec", "Min xfer", "\tCPU "];
    if line.starts_with('\t') && line.contains('.') && figures.iter().any(|f| line.contains(f)) {
        return rates(line);
    }
    line.into()
}

/// Masks figures by column position: one that fills its column touches its neighbour.
fn mask_row(line: &str) -> String {
    let body = line.trim_end_matches('\n');
    let mut masked = body[..SIZES_WIDTH].to_owned();
    for (_, field) in fields(body) {
        let filled = !field.trim().is_empty();
        masked += &if filled { format!("{:>1$}", '#', field.len()) } else { field.to_owned() };
    }
    masked + &line[body.len()..]
}

/// (column, text) of a row after its two sizes. Without the fread test later columns are shifted left by one, since its
/// padding is one blank short.
fn fields(row: &str) -> impl Iterator<Item = (&'static str, &str)> {
    let mut at = SIZES_WIDTH;
    let whole: usize = SIZES_WIDTH + COLUMNS.iter().map(|c| c.1).sum::<usize>();
    COLUMNS.iter().map_while(move |&(name, width)| {
        let width = if name == "freread" && row.len() + 1 == whole { width - 1 } else { width };
        let field = row.get(at..(at + width).min(row.len())).filter(|f| !f.is_empty());
        at += width;
        field.map(|f| (name, f))
    })
}

/// A number with a fraction becomes `#` at its right edge; one too wide for its field is treated as if it fitted.
fn rates(line: &str) -> String {
    let mut masked = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end =
            rest[start..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(rest.len(), |n| start + n);
        masked += &rest[..start];
        let number = &rest[start..end];
        if number.contains('.') {
            masked += &" ".repeat(number.len().min(RATE_WIDTH) - 1);
            masked.push('#');
        } else {
            masked += number;
        }
        rest = &rest[end..];
    }
    masked + rest
}

/// Cells of a report have no fixed width. Zeros stay: they say "not run".
fn report_cells(cells: &str) -> String {
    let words: Vec<&str> = cells.split(' ').collect();
    let figure = |w: &&str| w.trim_end().parse::<u64>().is_ok_and(|n| n > 0);
    words.iter().map(|w| if figure(w) { "#" } else { w }).collect::<Vec<_>>().join(" ")
}

fn is_row(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    line.starts_with(' ') && words.len() >= 2 && words.iter().all(|w| w.parse::<u64>().is_ok())
}

#[derive(Clone, Debug)]
pub struct Row {
    pub text: String,
    pub file_kb: u64,
    pub record_kb: u64,
    pub values: Vec<u64>,
}

/// The rows of the table, in order.
pub fn rows(output: &str) -> Vec<Row> {
    output
        .lines()
        .filter(|l| is_row(l))
        .map(|l| {
            let size = |range: std::ops::Range<usize>| l[range].trim().parse().unwrap_or(0);
            let mut row = Row {
                text: l.into(),
                file_kb: size(0..16),
                record_kb: size(16..SIZES_WIDTH),
                values: vec![],
            };
            row.values = row.cells().into_iter().map(|c| c.1).collect();
            row
        })
        .collect()
}

/// Widths of the table's columns after file and record size.
pub const COLUMNS: [(&str, usize); 17] = [
    ("write", 9),
    ("rewrite", 9),
    ("read", 9),
    ("reread", 9),
    ("random read", 9),
    ("random write", 9),
    ("bkwd read", 9),
    ("record rewrite", 10),
    ("stride read", 10),
    ("fwrite", 9),
    ("frewrite", 9),
    ("fread", 9),
    ("freread", 9),
    ("pwrite", 9),
    ("repwrite", 9),
    ("pread", 8),
    ("repread", 9),
];

impl Row {
    /// (column, figure) of every non-blank column, read by position as scripts do.
    pub fn cells(&self) -> Vec<(&'static str, u64)> {
        let number = |(name, field): (&'static str, &str)| {
            let value = field.trim().parse().unwrap_or_else(|_| panic!("column {name} of {:?}", self.text));
            (name, value)
        };
        fields(&self.text).filter(|(_, f)| !f.trim().is_empty()).map(number).collect()
    }

    /// Names of the non-blank columns.
    pub fn columns(&self) -> Vec<&'static str> {
        self.cells().into_iter().map(|c| c.0).collect()
    }
}

/// (file size, record size) of every row.
pub fn sizes(output: &str) -> Vec<(u64, u64)> {
    rows(output).iter().map(|r| (r.file_kb, r.record_kb)).collect()
}

/// Figures of the lines that begin with `label`, in order: `figures(out, "\tMin xfer")`.
pub fn figures(output: &str, label: &str) -> Vec<f64> {
    let number = |l: &str| l.split_once('=')?.1.split_whitespace().next()?.parse().ok();
    output.lines().filter(|l| l.starts_with(label)).filter_map(number).collect()
}

/// The line that starts with `start`; panics with the output if there is none.
#[track_caller]
pub fn line_starting<'a>(output: &'a str, start: &str) -> &'a str {
    output.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("no line {start:?} in\n{output}"))
}

/// Asserts that lines occur in this order, possibly with others in between.
#[track_caller]
pub fn assert_order(output: &str, lines: &[&str]) {
    let mut from = 0;
    for line in lines {
        let found = output[from..].find(line);
        assert!(found.is_some(), "{line:?} is missing, or not after what precedes it, in\n{output}");
        from += found.unwrap_or(0) + line.len();
    }
}

#[test]
fn figures_go_and_everything_else_stays() {
    let row = "            1024      64  1234567        0\n";
    assert_eq!(mask(row), "            1024      64        #        #\n");
    let touching = "             512       4  1234567 12345671234567890        0         \n";
    assert_eq!(mask(touching), "             512       4        #        #        #        #         \n");
    assert_eq!(mask("\"32768\"   0  0  81234  7 \n"), "\"32768\"   0  0  #  # \n");
    assert_eq!(
        mask("\"  Initial write \" 1812371.12   358224.81 \n"),
        "\"  Initial write \"          #           # \n"
    );
    assert_eq!(mask("\"Record size = 64 kBytes \"\n"), "\"Record size = 64 kBytes \"\n");
    let wide = "\tParent sees throughput for  2 rewriters \t= 12345678.90 kB/sec\n";
    assert_eq!(mask(wide), "\tParent sees throughput for  2 rewriters \t=          # kB/sec\n");
    assert_eq!(mask("\tTime Resolution = 0.000001 seconds.\n"), "\tTime Resolution = 0.000001 seconds.\n");
}
