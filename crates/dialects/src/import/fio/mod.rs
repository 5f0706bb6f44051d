//! fio's outputs: JSON and JSON+ (`json`), the normal report of 2.x and 3.x (`normal`), terse lines of versions 2 to 5 (`terse`), and
//! bandwidth, IOPS and latency logs (`logs`). Each direction of each job is a cell.

mod json;
mod logs;
mod names;
mod normal;
mod one_run;
mod states;
mod terse;

pub(super) use logs::{Cut, ImportedLog};

use super::Block;
use super::context::Context;
use super::lines::Lines;

pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    json::parse(lines, at)
        .or_else(|| terse::parse(lines, at))
        .map(|block| one_run::with_its_other_forms(lines, block))
        .or_else(|| normal::parse(lines, at))
        .or_else(|| logs::parse(lines, at, context))
}

/// Error of a job: fio's message ("..., error=Input/output error") if there is one, else its number.
fn error(job: &str, code: i64, said: Option<&str>) -> String {
    let words = said.and_then(|line| line.split_once(" error=")).map(|(_, words)| words);
    // A job heading continues after it.
    let words = words.map(|words| words.split("): pid=").next().unwrap_or(words).trim().to_owned());
    let known = || {
        let code = i32::try_from(code).ok()?;
        let words = std::io::Error::from_raw_os_error(code).to_string();
        Some(words.split(" (os error").next()?.to_owned())
    };
    let words = words.or_else(known).unwrap_or_default();
    format!("fio: job {job} ended with error {code}: {words}").trim_end_matches([':', ' ']).to_owned()
}
