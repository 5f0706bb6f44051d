//! fio's outputs: JSON and JSON+ (`json`), the normal report of 2.x and 3.x (`normal`), terse lines of version 2 to 5 (`terse`), and the
//! logs of bandwidth, operations and latency (`logs`). Each direction of each job is a cell.

mod json;
mod logs;
mod names;
mod normal;
mod terse;

pub(super) use logs::{Cut, Log};

use super::Block;
use super::context::Context;
use super::lines::Lines;

/// Any of them.
pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    json::parse(lines, at)
        .or_else(|| terse::parse(lines, at))
        .or_else(|| normal::parse(lines, at))
        .or_else(|| logs::parse(lines, at, context))
}
