//! `--help`, `--version`, `--cmdhelp`, `--enghelp`.

use super::Version;
use super::general::Help;
use super::table::{self, FioSupport};
use crate::filebench::nearest;
use std::fmt::Write as _;

/// What `--help` prints.
#[must_use]
pub fn usage(program: &str, version: Version) -> String {
    let version = version.name();
    format!(
        "{version} (fathom replaces it; docs/fio.md lists the differences)
{program} [options] [job options] <job file(s)>
  --check               Print what would be done, as a workload of fathom's own format
  --explain             Print every value with where it comes from, and what to know of it
  --parse-only          Read the jobs, run nothing
  --showcmd             Print the jobs as a command line
  --readonly            Refuse jobs that write
  --allow-write=FILE    FILE was not made by fathom and may be written
  --section=NAME        Only the jobs of this name (may be given several times)
  --output=FILE         Write output to FILE
  --output-format=LIST  normal, terse, json, json+ (several with commas)
  --minimal             The terse format
  --append-terse        The terse format beside the normal one
  --terse-version=N     2, 3, 4 or 5 [3]
  --eta=WHEN            Status line: always, never, auto
  --eta-interval=TIME   Write it no more often, at least 250ms
  --eta-newline=TIME    So often it stays and another begins
  --status-interval=TIME  Print what was done so far so often
  --bandwidth-log       Bandwidth of all jobs, into agg-read_bw.log, agg-write_bw.log
  --warnings-fatal      What fio itself warns of ends the program
  --cmdhelp[=OPTION]    Options of jobs (all, or one)
  --enghelp[=ENGINE[,OPTION]]  Engines, options that only one has, or one of them
  --version, --help
Examples:
  {program} --name=a --rw=randread --size=1g --direct=1 --ioengine=io_uring --iodepth=32
  {program} --explain job.fio
"
    )
}

/// The text to print instead of running.
///
/// # Errors
/// A message if the engine or its option is unknown.
pub fn text(program: &str, version: Version, asked: &Help) -> Result<String, String> {
    match asked {
        Help::Usage => Ok(usage(program, version)),
        Help::Version => Ok(format!("{}\n", version.name())),
        Help::Engines(asked) => super::engines::text(asked.as_deref()),
        Help::Options(None) => Ok(all()),
        Help::Options(Some(name)) if name == "all" => Ok(all()),
        Help::Options(Some(name)) => match table::find(name) {
            Some(row) => Ok(one(row)),
            // Not an error in fio either.
            None => Ok(similar(name)),
        },
    }
}

/// Message for an unknown option name, with the closest match.
fn similar(name: &str) -> String {
    let names = table::rows().flat_map(|row| std::iter::once(&row.name).chain(row.aliases).copied());
    match nearest(&name.to_lowercase(), names).and_then(table::find) {
        Some(row) => format!("No such command: {name} - showing closest match\n{}", one(row)),
        None => format!("No such command: {name}\n"),
    }
}

fn all() -> String {
    let mut out = String::new();
    for row in table::rows() {
        let _ = writeln!(out, "{:<24}: {} ({})", row.name, row.help, state(&row.state));
    }
    out
}

pub(super) fn one(row: &table::FioOption) -> String {
    let mut out = format!("{:>20}: {}\n", row.name, row.help);
    if !row.aliases.is_empty() {
        let _ = writeln!(out, "{:>20}: {}", "alias", row.aliases.join(", "));
    }
    let _ = writeln!(out, "{:>20}: {}", "value", row.kind.expected());
    let _ = writeln!(out, "{:>20}: {}", "default", table::default_of(row.name).unwrap_or("no default"));
    let words = match &row.state {
        FioSupport::Done => String::new(),
        FioSupport::Harmless(why) => format!(": {why}"),
        FioSupport::Refused { why, instead, .. } => format!(": {why}; instead: {instead}"),
    };
    let _ = writeln!(out, "{:>20}: {}{words}", "state", state(&row.state));
    out
}

fn state(state: &FioSupport) -> &'static str {
    match state {
        FioSupport::Done => "done",
        FioSupport::Harmless(_) => "without effect",
        FioSupport::Refused { .. } => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_shows_the_state_of_an_option() {
        let of = |name: &str| text("fio", Version::default(), &Help::Options(Some(name.into())));
        assert!(of("readwrite").unwrap().contains("rw:"));
        assert!(of("sg_write_mode").unwrap().contains("refused: "));
        assert!(of("bs").unwrap().contains("\n             default: 4096\n"));
        assert!(of("filename").unwrap().contains("\n             default: no default\n"));
        assert_eq!(of("zzzzzzqq"), Ok("No such command: zzzzzzqq\n".to_owned()));
        assert!(of("iodepht").unwrap().contains("showing closest match\n             iodepth: "));
        assert_eq!(text("fio", Version::V3_33, &Help::Version).unwrap(), "fio-3.33\n");
        assert_eq!(text("fio", Version::default(), &Help::Version).unwrap(), "fio-3.42\n");
        assert!(text("fio", Version::default(), &Help::Engines(None)).unwrap().contains("io_uring"));
    }
}
