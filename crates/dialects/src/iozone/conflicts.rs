//! Conflicts between options that IOzone reports after its banner, with exit codes 17, 19, 20 and 23.

use super::IozoneExit;
use super::exit::{mix, size_error};
use super::options::{IozoneOptions, Locking, MAX_RECORD_KB, RateUnit};
use super::pass;

/// Checks for incompatible options.
///
/// # Errors
/// The exit for the first conflict; its stdout text follows the banner.
pub(super) fn check(o: &IozoneOptions) -> Result<(), IozoneExit> {
    if o.throughput() {
        throughput(o)?;
    }
    asynchronous(o)?;
    telemetry(o)?;
    existing(o)?;
    let (low, high) = (o.min_record_kb.unwrap_or(4), o.max_record_kb.unwrap_or(MAX_RECORD_KB));
    if low > high {
        return Err(size_error(&format!(
            "minimum record size {low} kB is greater than maximum record size {high} kB"
        )));
    }
    Ok(())
}

fn throughput(o: &IozoneOptions) -> Result<(), IozoneExit> {
    let limits = [o.min_record_kb, o.max_record_kb, o.min_file_kb, o.max_file_kb];
    if o.auto || limits.iter().any(Option::is_some) {
        return Err(mix(17, "Can not mix throughput mode and auto-mode flags."));
    }
    if o.file.is_some() {
        return Err(mix(17, "You must use -F when using multiple threads or processes."));
    }
    if o.unit == RateUnit::UsPerOp {
        return Err(mix(17, "Microsecond mode not supported in throughput mode."));
    }
    let (file_kb, record_kb) = super::plan::throughput_sizes(o, 1);
    if record_kb > file_kb && !o.telemetry() {
        let bytes = record_kb.saturating_mul(1024);
        return Err(size_error(&format!("record length {bytes} is greater than filesize {file_kb} kB")));
    }
    Ok(())
}

/// With several operations in flight nothing can happen between two operations.
fn asynchronous(o: &IozoneOptions) -> Result<(), IozoneExit> {
    let between = [
        (o.think_ms > 0, "-J"),
        (o.purge, "-p"),
        (o.disturb, "-K"),
        (o.rate_ops.is_some(), "-+O"),
        (o.burst.is_some(), "-+b"),
        (o.locking == Locking::Record, "-+l and -+L"),
    ];
    match between.iter().find(|b| b.0) {
        Some((_, option)) if o.async_depth.is_some() => {
            Err(mix(17, &format!("{option} can not be used with asynchronous I/O (-H, -k).")))
        }
        _ => Ok(()),
    }
}

fn telemetry(o: &IozoneOptions) -> Result<(), IozoneExit> {
    if !o.telemetry() {
        return Ok(());
    }
    let writes = o.write_telemetry.is_some();
    let rules = [
        (o.auto, "Auto mode not supported in telemetry mode.\n\tTry:   -i 0 -i 1 "),
        (o.stride.is_some(), "Stride size is determined by telemetry file."),
        (o.disturb, "Disrupt not supported in telemetry mode."),
        (o.verify_byte.is_some(), "Full verification not supported in telemetry mode."),
        (writes && !o.file_kb.is_empty(), "Size of file is determined by telemetry file."),
        (writes && !o.record_kb.is_empty(), "Record size of file is determined by telemetry file."),
        (o.mmap, "A mapped file can not be used in telemetry mode."),
        (o.burst.is_some(), "Bursts are not supported in telemetry mode."),
    ];
    match rules.iter().find(|r| r.0) {
        Some((_, text)) => Err(mix(17, text)),
        None => Ok(()),
    }
}

/// -+E reads existing data: it requires the tests and the file, and no test that writes.
fn existing(o: &IozoneOptions) -> Result<(), IozoneExit> {
    if !o.existing_only {
        return Ok(());
    }
    if o.tests.is_empty() {
        return Err(IozoneExit::out(19, "You must specify which tests ( -i # ) when using -+E\n"));
    }
    if pass::PASSES.iter().any(|p| (!p.reads || p.test == 8) && o.runs(p.test)) {
        return Err(IozoneExit::out(20, "You must disable any test that writes when using -+E\n"));
    }
    if o.file.is_none() && o.files.is_empty() {
        return Err(IozoneExit::out(20, "You must use -f or -F when using -+E\n"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> i32 {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match check(&crate::iozone::parse::parse(&args, "").unwrap()) {
            Ok(()) => 0,
            Err(exit) => exit.code,
        }
    }

    #[test]
    fn forbidden_mixes_have_iozones_codes() {
        for line in
            ["-t 2 -a", "-a -t 2", "-t 2 -g 1m", "-t 2 -f x", "-f x -t 2", "-t 2 -N", "-t 2 -r 4 -r 8"]
        {
            assert_eq!(code(line), 17, "{line}");
        }
        for line in ["-X f -a", "-Y f -a", "-X f -s 64", "-X f -r 4", "-X f -j 4", "-X f -V 3", "-X f -K"] {
            assert_eq!(code(line), 17, "{line}");
        }
        assert_eq!(code("-Y f -s 64 -r 4"), 0);
        assert_eq!(code("-+E"), 19);
        assert_eq!(code("-+E -i 0 -f x"), 20);
        assert_eq!(code("-+E -i 2 -f x"), 20);
        assert_eq!(code("-+E -i 1"), 20);
        assert_eq!(code("-+E -i 1 -f x"), 0);
        assert_eq!(code("-y 64 -q 4 -a"), 23);
        assert_eq!(code("-t 2 -s 64 -r 128"), 23);
        assert_eq!(code("-t 2 -z"), 0);
    }
}
