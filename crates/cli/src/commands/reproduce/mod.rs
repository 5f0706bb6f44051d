//! `fathom reproduce`: a published table beside our results. The exit code is 0 only if every stated tolerance holds.
//! One file per table parses the published command lines and has `fathom-sim` simulate them; `hsfs` is more, since
//! there the reader of `fathom-isofs` and the drive of `fathom-sim` meet.

mod cciss;
mod hsfs;
mod ncsa;
mod page;
mod sysbench;
#[cfg(test)]
mod typed;

use crate::console;
use crate::exit::{self, Usage};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

/// The options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom reproduce sysbench-2004              the table, its errors, the tolerances: some seconds
  fathom reproduce sysbench-2004 --ablation   what each mechanism contributes
  fathom reproduce cciss-2008                 sizes and rates of writers under two page orders
  fathom reproduce ncsa-2005 -o ncsa.html     IOzone's surfaces of 2005, drawn, too: some seconds
  fathom reproduce hsfs-2007                  a DVD before and after an elevator and read-ahead

Exit code: 0 every stated tolerance holds, 1 one is a MISS. docs/simulator.md lists them, and what
was fitted.")]
pub struct Reproduce {
    /// Which table
    #[arg(value_enum)]
    pub table: Published,
    /// Average over N seeds [default: 8]; sysbench-2004 only, the others are not random
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: Option<u32>,
    /// Also simulate with each mechanism left out in turn
    #[arg(long)]
    pub ablation: bool,
    /// Also write a report (.html .md .xlsx .svg, or DIR/ for all pictures): charts of published and simulated figures, every tolerance, every degree of freedom
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Tables that are reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Published {
    /// SysBench file I/O under five schedulers of linux 2.4 and 2.6
    #[value(name = "sysbench-2004")]
    Sysbench2004,
    /// IOzone writers on a SmartArray (cciss) under two orders of physical pages
    #[value(name = "cciss-2008")]
    Cciss2008,
    /// IOzone's surfaces of first reads and rereads on a host with 6 GB of memory and a local disk
    #[value(name = "ncsa-2005")]
    Ncsa2005,
    /// dd, cp, Filebench, cpio and tar on a DVD under ISO 9660 readers of three generations
    #[value(name = "hsfs-2007")]
    Hsfs2007,
}

pub fn run(options: &Reproduce, _common: &crate::common::Common) -> anyhow::Result<ExitCode> {
    if let Some(output) = &options.output {
        page::check(output)?;
    }
    match options.table {
        Published::Sysbench2004 => {
            let found = sysbench::reproduce(options)?;
            page::write(options, || sysbench::drawn(&found))?;
            print(options, &found, found.holds())
        }
        Published::Cciss2008 => {
            let found = cciss::reproduce(options)?;
            page::write(options, || cciss::drawn(&found))?;
            print(options, &found, found.holds())
        }
        Published::Ncsa2005 => {
            let found = ncsa::reproduce(options)?;
            page::write(options, || ncsa::drawn(&found))?;
            print(options, &found, found.holds())
        }
        Published::Hsfs2007 => {
            if options.output.is_some() {
                return Err(Usage("hsfs-2007 has no page yet: leave out --output".into()).into());
            }
            let found = hsfs::reproduce(options)?;
            print(options, &found, found.holds())
        }
    }
}

/// Prints a table; returns whether all of it holds.
fn print(options: &Reproduce, found: &(impl Serialize + Display), holds: bool) -> anyhow::Result<ExitCode> {
    if options.json {
        let table = options.table.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default();
        let document = ReproducedJson { schema: SCHEMA, table, found };
        console::out(&(serde_json::to_string_pretty(&document)? + "\n"));
    } else {
        console::out(&found.to_string());
    }
    Ok(ExitCode::from(if holds { exit::DONE } else { exit::CHECK }))
}

/// Name and version of the JSON format.
const SCHEMA: &str = "fathom-reproduce 1";

/// The JSON: format, table, and results.
#[derive(Serialize)]
struct ReproducedJson<'a, T> {
    schema: &'static str,
    table: String,
    #[serde(flatten)]
    found: &'a T,
}

/// A published command line that cannot be parsed or simulated; not the user's fault.
fn cannot(program: &str, command: &str, why: &dyn Display) -> anyhow::Error {
    anyhow::anyhow!("{program} {command}: {why}")
}
