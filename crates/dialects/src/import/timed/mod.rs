//! A shell command typed after a prompt, with the output of `time` and of dd. The command line names the
//! cell ("dd", "tar | cat"), so that the same command on two systems gives one cell.

mod one_line;
mod verbose;

use super::Block;
use super::cell::{add, cell, figure, run};
use super::context::Context;
use super::lines::{Lines, leading, leading_decimal, number};
use super::{context, dd};
use fathom_record::imported::units::{COUNT, NS};
use fathom_record::{Phase, Status};

/// Maximum lines of output before the times.
const MOST_OUTPUT: usize = 12;
/// Maximum lines including the times.
const MOST_TIMES: usize = 24;

/// Times of any command.
pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    read(lines, at).filter(|r| r.timed || r.dd).map(|r| r.block)
}

/// A dd command, timed or not.
pub(super) fn parse_dd(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    read(lines, at).filter(|r| r.dd).map(|r| r.block)
}

/// Whether the time that every form of `time` prints once is among the figures.
fn has_real_time(phase: &Phase) -> bool {
    phase.repetitions.last().is_some_and(|r| r.figure("real time").is_some())
}

struct Read {
    block: Block,
    timed: bool,
    dd: bool,
}

fn read(lines: &Lines, at: usize) -> Option<Read> {
    let first = lines.trimmed(at);
    let command = typed(first).filter(|c| c.contains("time ") || c.contains("dd ") || c.starts_with("time"));
    let mut phase = cell("command");
    let mut said = dd::Said::default();
    if command.is_none() && !dd::takes(&mut phase, &mut said, first, at) && !time(&mut phase, first, at) {
        return None;
    }
    let mut phase = cell(&command.map_or("command".into(), program));
    said = dd::Said::default();
    let mut block = Block { last: at, ..Block::default() };
    let (mut timed, mut skipped) = (false, Vec::new());
    let mut failure = None;
    for n in at + usize::from(command.is_some())..lines.len().min(at + MOST_OUTPUT + MOST_TIMES) {
        let line = lines.trimmed(n);
        let mut alone = cell("");
        let is_of_time = time(&mut alone, line, n);
        let is_of_next = has_real_time(&phase) && (has_real_time(&alone) || line.starts_with("Command "));
        if timed && (line.is_empty() || !is_of_time || is_of_next) || dd::is_of_next(&phase, line) {
            break;
        }
        let is_time = time(&mut phase, line, n);
        timed |= is_time;
        failure = failure.or_else(|| verbose::failure(line));
        if is_time || dd::takes(&mut phase, &mut said, line, n) || blocks(&mut phase, line, n) {
            block.last = n;
            block.left.append(&mut skipped);
        } else if !line.is_empty() {
            // Another command or a heading: the output has ended.
            if said.any
                || typed(line).is_some()
                || context::is_rule(line)
                || skipped.len() >= MOST_OUTPUT
                || command.is_none()
            {
                break;
            }
            skipped.push(n);
        }
    }
    let is_named = phase.name != "command";
    if phase.name == "command" && said.any {
        phase.name = "dd".into();
    }
    if let Some(command) = command {
        workload(&mut phase, command);
    }
    let dialect = if said.any { "dd" } else { "time" };
    block.what = match command {
        Some(_) => format!("{} under a shell", phase.name),
        None if is_named => format!("{} and its times", phase.name),
        None => format!("{} without its command", phase.name),
    };
    let mut run = run(dialect, phase.name.clone(), vec![phase]);
    run.argv = command.into_iter().flat_map(str::split_whitespace).map(str::to_string).collect();
    if let Some(error) = said.error.clone().or(failure) {
        run.status = Status::Failed;
        run.error = Some(error);
    }
    let dd = said.any;
    (!run.phases.is_empty()).then(|| {
        block.runs.push(run);
        Read { block, timed, dd }
    })
}

/// The command after a prompt ("bash-3.00# time cp a b", "$ dd if=..."), or a line that starts with one.
fn typed(line: &str) -> Option<&str> {
    let bare = ["time ", "dd if=", "dd of=", "dd bs="].iter().any(|b| line.starts_with(b));
    if bare {
        return Some(line);
    }
    let at = line.find(['#', '$', '%'])?;
    let (prompt, command) = (&line[..at], line[at + 1..].strip_prefix(' ')?);
    let prompt_like = !prompt.contains(' ') || prompt.starts_with('[');
    (prompt_like && !command.trim().is_empty() && !command.starts_with('#')).then(|| command.trim())
}

/// The programs of a command line: "dd", "find | cpio". For a shell with a quoted command, those of the command.
fn program(command: &str) -> String {
    let inner = command.split_once("sh -c").map_or(command, |(_, c)| c).trim().trim_matches(['"', '\'']);
    let timed = inner.rsplit("; ").find(|c| c.contains("time ")).unwrap_or(inner);
    let timed = without_time(timed.trim());
    let first = timed.split(';').map(str::trim).find(|c| !c.is_empty() && *c != "sync").unwrap_or(timed);
    let name = |c: &str| {
        c.trim_start_matches(['(', ' '])
            .split_whitespace()
            // "LANG=C dd" is dd.
            .find(|w| !w.contains('='))
            .map(|w| w.rsplit('/').next().unwrap_or(w).to_string())
    };
    first.split('|').filter_map(name).collect::<Vec<_>>().join(" | ")
}

/// A command without the `time` before it and the options of that.
fn without_time(command: &str) -> &str {
    let Some((first, mut rest)) = command.split_once(' ') else { return command };
    if first != "time" && !first.ends_with("/time") {
        return command;
    }
    while let Some((_, behind)) = rest.split_once(' ').filter(|(word, _)| matches!(*word, "-p" | "-v" | "--"))
    {
        rest = behind.trim_start();
    }
    rest
}

/// Sets the cell's properties from dd's operands.
fn workload(phase: &mut Phase, command: &str) {
    let operand = |key: &str| command.split([' ', '"', '\'', ';']).find_map(|w| w.strip_prefix(key));
    let (from, to) = (operand("if="), operand("of="));
    phase.reads = from.is_some_and(|f| !f.starts_with("/dev/zero") && !f.starts_with("/dev/urandom"));
    phase.writes = to.is_some_and(|t| !t.starts_with("/dev/null"));
    phase.axes.record_bytes = operand("bs=").and_then(size);
    phase.direct = command.contains("=direct");
}

/// "8192", "1024k", "1M", "1MB".
fn size(text: &str) -> Option<u64> {
    let (value, _, suffix) = leading(text)?;
    let factor = match suffix {
        "" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "m" | "M" | "MiB" => 1 << 20,
        "g" | "G" | "GiB" => 1 << 30,
        "kB" | "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    Some((value * f64::from(factor)) as u64)
}

/// A line of `time`, from any shell or GNU.
fn time(phase: &mut Phase, line: &str, n: usize) -> bool {
    of_shell(phase, line, n) || one_line::takes(phase, line, n) || verbose::takes(phase, line, n)
}

/// Sets the name from a timed command that its times include.
fn named(phase: &mut Phase, command: &str) {
    if phase.name == "command" {
        phase.name = program(command);
    }
}

/// "real    6m3.944s", "user 0.05": the three lines of shells.
fn of_shell(phase: &mut Phase, line: &str, n: usize) -> bool {
    let mut words = line.split_whitespace();
    let (Some(key), Some(value), None) = (words.next(), words.next(), words.next()) else { return false };
    let name = match key {
        "real" => "real time",
        "user" => "user CPU time",
        "sys" => "system CPU time",
        _ => return false,
    };
    let Some(seconds) = seconds(value) else { return false };
    add(phase, figure(name, seconds * 1e9, NS, value.into(), n));
    true
}

/// "6m3.944s", "1h2m3s", "0.05", "6:03.9", "25:02:03".
fn seconds(text: &str) -> Option<f64> {
    if let Some((before, rest)) = text.rsplit_once(':') {
        let parts = before.split(':');
        let minutes = parts.map(number).try_fold(0.0, |sum, part| Some(sum * 60.0 + part?))?;
        return Some(minutes * 60.0 + seconds(rest)?);
    }
    let mut sum = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let (value, _, behind) = leading_decimal(rest)?;
        let (factor, used) = match behind.chars().next() {
            Some('h') => (3600.0, 1),
            Some('m') => (60.0, 1),
            Some('s') => (1.0, 1),
            None => (1.0, 0),
            Some(_) => return None,
        };
        sum += value * factor;
        rest = &behind[used..];
    }
    (!text.is_empty()).then_some(sum)
}

/// cpio's "6944256 blocks".
fn blocks(phase: &mut Phase, line: &str, n: usize) -> bool {
    let Some(count) = line.strip_suffix(" blocks").and_then(number) else { return false };
    add(phase, figure("blocks", count, COUNT, line.into(), n));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_programs_and_times() {
        assert_eq!(typed("bash-3.00# time cp /a /b"), Some("time cp /a /b"));
        assert_eq!(
            typed("# sync; time sh -c \"dd if=/dev/zero of=/d bs=1024k;sync\""),
            Some("sync; time sh -c \"dd if=/dev/zero of=/d bs=1024k;sync\"")
        );
        assert_eq!((typed("## BASELINE ##"), typed("costs 5 $ a piece")), (None, None));
        assert_eq!(program("time find . | cpio -pdum /d"), "find | cpio");
        assert_eq!(program("sync; time sh -c \"dd if=/dev/zero;sync\""), "dd");
        assert_eq!(program("time /bin/cp a b"), "cp");
        assert_eq!(
            (program("time -p cp a b"), program("/usr/bin/time -v cp a b")),
            ("cp".into(), "cp".into())
        );
        assert_eq!(program("( cat a > b; )"), "cat");
        assert_eq!(
            (seconds("6m3.944s"), seconds("0m3,254s"), seconds("1h0m1s"), seconds("x")),
            (Some(363.944), Some(3.254), Some(3601.0), None)
        );
        assert_eq!(
            (seconds("6:03.9"), seconds("1:02:03"), seconds("25:02:03.45"), seconds("1::3")),
            (Some(363.9), Some(3723.0), Some(90_123.45), None)
        );
        assert_eq!(
            (size("1024k"), size("8192"), size("1MB"), size("1x")),
            (Some(1 << 20), Some(8192), Some(1_000_000), None)
        );
    }
}
