//! Rows like iostat's, for a pipe, a log or a narrow terminal.

use super::history::{Figures, WatchHistory};
use super::{WatchOutput, put};
use fathom_report::units;

/// Prints rows, repeating the head from time to time.
#[derive(Default)]
pub struct Rows {
    printed: usize,
}

/// Rows per head.
const PAGE: usize = 20;

impl WatchOutput for Rows {
    fn show(&mut self, history: &WatchHistory) -> anyhow::Result<()> {
        let Some(moment) = history.latest() else { return Ok(()) };
        if self.printed.is_multiple_of(PAGE) {
            put(&head())?;
        }
        self.printed += 1;
        for (device, name) in history.names.iter().enumerate() {
            put(&row(name, &moment.figures(device)))?;
        }
        Ok(())
    }
}

fn head() -> String {
    format!(
        "{:<10} {:>8} {:>9} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8} {:>6} {:>6} {:>6}",
        "Device",
        "r/s",
        "rkB/s",
        "rrqm/s",
        "r_await",
        "w/s",
        "wkB/s",
        "wrqm/s",
        "w_await",
        "f/s",
        "aqu-sz",
        "%util"
    )
}

fn row(name: &str, f: &Figures) -> String {
    let merges = |value: f64| if f.merges_known { format!("{value:.1}") } else { "-".into() };
    let wait = |ns: Option<f64>| ns.map_or_else(|| "-".into(), units::time_ns);
    format!(
        "{name:<10} {:>8.1} {:>9.1} {:>8} {:>8} {:>8.1} {:>9.1} {:>8} {:>8} {:>6.1} {:>6.2} {:>6.1}",
        f.reads.requests_per_s,
        f.reads.bytes_per_s / 1024.0,
        merges(f.reads.merges_per_s),
        wait(f.reads.mean_ns),
        f.writes.requests_per_s,
        f.writes.bytes_per_s / 1024.0,
        merges(f.writes.merges_per_s),
        wait(f.writes.mean_ns),
        f.flushes_per_s,
        f.depth,
        f.busy * 100.0,
    )
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::moment;
    use super::*;

    #[test]
    fn columns_stand_below_their_heads() {
        let (head, row) = (head(), row("vda", &moment().figures(0)));
        assert_eq!(head.chars().count(), row.chars().count(), "{head}\n{row}");
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!((words[0], words[1], words[2], words[3]), ("vda", "100.0", "400.0", "-"));
        assert_eq!(words.last(), Some(&"50.0"));
    }
}
