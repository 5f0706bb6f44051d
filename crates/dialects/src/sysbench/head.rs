//! Output of a run before its first figure: the options, in SysBench's words.

use super::options::{Dialect, Flags, IoMode, SysbenchOptions};

/// A size as `%.5g` with a unit prefix: `3.3438Mi`, to be followed by the unit.
pub(super) fn size(bytes: f64) -> String {
    scaled(bytes, ["", "Ki", "Mi", "Gi", "Ti"]) + "B"
}

/// The same in 0.4's units: `93.875Mb`.
pub(super) fn short_size(bytes: f64, end: &str) -> String {
    scaled(bytes, ["", "K", "M", "G", "T"]) + end
}

fn scaled(bytes: f64, units: [&str; 5]) -> String {
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{}{}", five_digits(value), units[unit])
}

/// C's `%.5g` for numbers from 0 to 99999: five significant digits without trailing zeros.
fn five_digits(value: f64) -> String {
    let whole = if value >= 1.0 { value.log10().floor() as i32 + 1 } else { 0 };
    let leading_zeros = if value > 0.0 && value < 0.1 { (-value.log10()).floor() as i32 } else { 0 };
    let digits = usize::try_from(5 - whole + leading_zeros).unwrap_or(0);
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `Extra file open flags: ...`, also printed by prepare.
pub(super) fn flags(o: &SysbenchOptions) -> String {
    let Flags { sync, dsync, direct } = o.flags;
    let words = match o.dialect {
        Dialect::New if !(sync || dsync || direct) => "(none)".to_owned(),
        // The trailing blanks of the first two are SysBench's.
        Dialect::New => [(sync, "sync "), (dsync, "dsync "), (direct, "directio")]
            .map(|(on, w)| if on { w } else { "" })
            .concat(),
        // The numeric flags of open(2) on Linux.
        Dialect::Old => {
            let sync = if sync { 0o4_010_000 } else { 0 };
            let dsync = if dsync { 0o10_000 } else { 0 };
            (sync | dsync | if direct { 0o40_000 } else { 0 }).to_string()
        }
    };
    format!("Extra file open flags: {words}\n")
}

/// From "Running the test" to "Doing ... test".
pub(super) fn run(o: &SysbenchOptions) -> String {
    let old = o.dialect == Dialect::Old;
    let mut text = format!("Running the test with following options:\nNumber of threads: {}\n", o.threads);
    if o.rate > 0 {
        text += &format!("Target transaction rate: {}/sec\n", o.rate);
    }
    if o.report_interval_s > 0 {
        text += &format!("Report intermediate results every {} second(s)\n", o.report_interval_s);
    }
    if !o.checkpoints_s.is_empty() {
        let all: Vec<String> = o.checkpoints_s.iter().map(u64::to_string).collect();
        text += &format!("Report checkpoint(s) at {} seconds\n", all.join(", "));
    }
    if o.verbosity == 5 {
        text += "Debug mode enabled.\n\n";
    }
    if o.validate {
        text += if old { "Additional request validation enabled.\n\n" } else { "Validation checks: on.\n\n" };
    }
    text += &random_numbers(o);
    text += "\n";
    if let Some(s) = o.forced_shutdown_s.filter(|_| !old) {
        text += &format!("Forcing shutdown in {s} seconds\n");
    }
    if !old {
        text += "\n";
    }
    text + &flags(o) + &files(o) + &requests(o)
}

fn random_numbers(o: &SysbenchOptions) -> String {
    match o.dialect {
        Dialect::New if o.rand_seed == 0 => "Initializing random number generator from current time\n".into(),
        Dialect::New => format!("Initializing random number generator from seed ({}).\n", o.rand_seed),
        Dialect::Old if o.init_rng => "Initializing random number generator from timer.\n".into(),
        Dialect::Old if o.seed_rng != 0 => {
            format!("Initializing random number generator from seed ({}).\n", o.seed_rng)
        }
        Dialect::Old => String::new(),
    }
}

fn files(o: &SysbenchOptions) -> String {
    let size = |bytes: u64| match o.dialect {
        Dialect::New => size(bytes as f64),
        Dialect::Old => short_size(bytes as f64, "b"),
    };
    let mut text = format!(
        "{} files, {} each\n{} total file size\nBlock size {}\n",
        o.files,
        size(o.file_bytes()),
        size(o.total_bytes),
        size(o.block_bytes)
    );
    if o.merged > 0 {
        let request = o.block_bytes.saturating_mul(u64::from(o.merged));
        text += &format!("Merging requests up to {} for sequential IO.\n", size(request));
    }
    text
}

fn requests(o: &SysbenchOptions) -> String {
    let mut text = String::new();
    if o.mode.random() {
        text += &match o.dialect {
            Dialect::New => format!("Number of IO requests: {}\n", o.events),
            Dialect::Old => format!("Number of random requests for random IO: {}\n", o.events),
        };
        text += &format!("Read/Write ratio for combined random IO test: {:.2}\n", o.rw_ratio);
    }
    if o.fsync_freq > 0 {
        text += &format!("Periodic FSYNC enabled, calling fsync() each {} requests.\n", o.fsync_freq);
    }
    if o.fsync_end {
        text += "Calling fsync() at the end of test, Enabled.\n";
    }
    if o.fsync_all {
        text += "Calling fsync() after each write operation.\n";
    }
    text += match o.io_mode {
        IoMode::Sync => "Using synchronous I/O mode\n",
        IoMode::Async => "Using asynchronous I/O mode\n",
        IoMode::Mmap => "Using fast mmaped I/O mode\n",
    };
    if o.validate {
        text += "Using checksums validation.\n";
    }
    text + &format!("Doing {} test\n", o.mode.words())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_five_digits_at_most() {
        for (bytes, text) in [
            (16384.0, "16KiB"),
            (3000.0, "2.9297KiB"),
            (3_506_176.0, "3.3438MiB"),
            (100.0, "100B"),
            (9000.0, "8.7891KiB"),
            (10_000_000.0, "9.5367MiB"),
            (67_108_864.0, "64MiB"),
            (1_072_693_248.0, "1023MiB"),
            (1_073_741_823.0, "1024MiB"),
            (0.0, "0B"),
        ] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(short_size(98_435_072.0, "b"), "93.875Mb");
        assert_eq!(five_digits(0.123_456_7), "0.12346");
        assert_eq!(five_digits(0.012_345_67), "0.012346");
    }
}
