//! The banner: program, release, splash lines of the options in the order given, and the lines about defaults. Scripts
//! count its lines, so their number matches release 3.471; the names in it are fathom's.

use super::help::REVISION;
use super::options::{IozoneOptions, RateUnit};
use super::pass;
use super::telemetry::Telemetry;
use jiff::civil::DateTime;

/// Replaces IOzone's contributors. Nine lines as in the original, so that the lines below keep their numbers.
const CONTRIBUTORS: &str = "\tContributors:the authors of fathom, which prints this. It is not IOzone and\n\
\t             contains no part of it; it reads the same options and prints the\n\
\t             same tables as release 3.471, so that scripts which parse them go\n\
\t             on working. What differs, and why, is written down in fathom's\n\
\t             documentation, in the page about IOzone.\n\
\t             Every figure below is also in fathom's store, with latencies, the\n\
\t             bytes that reached the device, and the reasons to doubt it:\n\
\t             fathom list, fathom show, fathom report.\n\
\t             IOzone itself was made by its own authors.\n";

/// `Sat Nov 21 19:01:10 2026`, as formatted by ctime.
#[must_use]
pub(super) fn ctime(time: DateTime) -> String {
    time.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// The banner through "Output is in", after which conflicts between options are reported.
pub(super) fn opening(o: &IozoneOptions, args: &[String], now: DateTime) -> String {
    let mut text = format!(
        "\tIozone: Performance Test of File I/O\n\t        Version $Revision: {REVISION} $\n\
         \t\tCompiled for 64 bit mode.\n\t\tBuild: linux-AMD64 \n\n{CONTRIBUTORS}\n\tRun began: {}\n\n",
        ctime(now)
    );
    for line in &o.splash {
        text += line;
        text.push('\n');
    }
    text += &format!("\tCommand line used: iozone {}\n", args.join(" "));
    if o.unit == RateUnit::KbPerS {
        text += "\tOutput is in kBytes/sec\n";
    }
    text
}

/// The rest, through the stride.
pub(super) fn defaults(o: &IozoneOptions, write: Option<&Telemetry>, read: Option<&Telemetry>) -> String {
    let mut text = compute_lines(o, write, read);
    text += &format!(
        "\tTime Resolution = 0.000001 seconds.\n\tProcessor cache size set to {} kBytes.\n\
         \tProcessor cache line size set to {} bytes.\n\tFile stride size set to {} * record size.\n",
        o.cache_kb.unwrap_or(1024),
        o.cache_line_bytes.unwrap_or(32),
        o.stride.unwrap_or(17)
    );
    text
}

fn compute_lines(o: &IozoneOptions, write: Option<&Telemetry>, read: Option<&Telemetry>) -> String {
    let mut text = String::new();
    if o.think_ms > 0 {
        text += &format!("\tCompute time {:.6} seconds for reads and writes.\n", o.think_ms as f64 / 1e3);
    }
    let both = write.is_some() && read.is_some();
    for (list, what) in [(read, "reads"), (write, "writes")] {
        match list {
            Some(list) if list.compute => {
                text += &format!("\tCompute time from telemetry files for {what}.\n");
            }
            Some(_) if both => text += &format!("\tNo compute time for {what}.\n"),
            _ => {}
        }
    }
    text
}

const WORDS_ABOVE: &str = "                                                              random    random     bkwd    record    stride                                    ";
const WORDS: &str = "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read";
const WORDS_STDIO: &str = "   fwrite frewrite    fread  freread";
const WORDS_EXTENDED: &str = "  pwrite repwrite   pread   repread";

/// The two header lines of the table.
pub(super) fn header(o: &IozoneOptions) -> String {
    if o.old_auto {
        return format!("{}\n{}\n", " ".repeat(60), &WORDS[..60]);
    }
    if o.extended {
        let above = format!("{WORDS_ABOVE}{}", " ".repeat(WORDS_EXTENDED.len()));
        return format!("{above}\n{WORDS}{WORDS_STDIO}{WORDS_EXTENDED}\n");
    }
    let stdio = if o.narrow() { " ".repeat(WORDS_STDIO.len()) } else { WORDS_STDIO.into() };
    format!("{WORDS_ABOVE}\n{WORDS}{stdio}\n")
}

/// Lines before the first throughput block.
pub(super) fn streams_head(o: &IozoneOptions) -> String {
    let kind = |n: u32| match (o.threads, n) {
        (false, 1) => "process",
        (false, _) => "processes",
        (true, 1) => "thread",
        (true, _) => "threads",
    };
    let ranged = o.min_streams.is_some() || o.max_streams.is_some();
    if !ranged {
        let n = o.streams.last().copied().unwrap_or(1);
        return format!("\tThroughput test with {n} {}\n", kind(n));
    }
    let (low, high) = o.stream_range();
    let one = kind(1);
    format!("\tMin {one} = {low} \n\tMax {one} = {high} \n\tThroughput test with {low} {}\n", kind(low))
}

/// "process" or "thread", as in the lines of a block.
pub(super) fn worker_word(o: &IozoneOptions) -> &'static str {
    if o.threads { "thread" } else { "process" }
}

/// Blank width for a test that is not selected. IOzone prints one too few for fread and one too many for pread.
pub(super) fn blank_width(test: u8) -> usize {
    let columns: usize = pass::columns().filter(|p| p.test == test).map(|p| p.width).sum();
    match test {
        7 => columns - 1,
        10 => columns + 1,
        _ => columns,
    }
}
