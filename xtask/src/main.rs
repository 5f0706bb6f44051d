//! The chores, in Rust: `cargo xtask test`, `tidy`, `fresh`, `bench`. This file reads the command line and calls
//! the chore; it knows nothing of fathom itself and uses none of its crates, so it builds in seconds and works when they do not.

mod aarch64;
mod bench;
mod bpf;
mod deb;
mod fresh;
mod lab;
mod mpi;
mod page;
mod steps;
mod test;
mod tidy;
mod torture;

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
The chores of the house.

  cargo xtask test                run everything: prerequisites, fmt, clippy, tidy, build, every test
  cargo xtask test FILTER         only the tests whose name contains FILTER, without the lints
  cargo xtask tidy                check the house: arrows between crates, opening paragraphs, stray prints, ...
  cargo xtask torture [KIND]      random accidents for --minutes N (10): kills, links put in the way, full disks, faults of a file
                                  system, stopped runs, stores with many writers; what was tried and survived (root)
  cargo xtask aarch64             the hashes of the simulator on a second architecture, by qemu
  cargo xtask bpf                 compile the programs that count requests in the kernel (clang, llvm, libbpf-dev)
  cargo xtask deb                 a Debian package of the build with profile dist, in target/; --static links it with musl;
                                  --check installs the existing one in a minimal root (debootstrap, root)
  cargo xtask lab [TEST...]       fathom in an emulated machine, on devices and a kernel that this one lacks (QEMU); --binary PATH.
                                  `lab cut --times N` cuts the power N times (5)
  cargo xtask mpi                 build fathom-mpi and run its tests on two hosts of network namespaces (root, an MPI)
  cargo xtask page                pages of every kind in Chromium by Playwright; screenshots in target/artefacts/page
  cargo xtask fresh               clone HEAD into a temporary directory and run the README's two commands there
  cargo xtask bench iozone [N]    fathom beside IOzone and the floor, N interleaved rounds (9)
  cargo xtask bench engine        the engine beside the floor, fio, sysbench, Filebench, t/io_uring and IOzone
  cargo xtask bench rate          whether a rate that is asked for is kept, and what a stopped process shows
  cargo xtask bench instructions  instructions per operation, counted by valgrind, beside fio's
  cargo xtask bench sysbench      the drop-in beside SysBench, on files in the page cache
  cargo xtask bench filebench     the drop-in beside Filebench, the same scripts to both
  cargo xtask bench fio           the drop-in beside fio: the same job file to both, and the time of the whole command
  cargo xtask bench fio-differential  generated jobs in fio and in the drop-in: what differs (--seed N, --jobs N, --job N, --fio PATH)
  cargo xtask bench filebench-files DIR   every *.f of a directory: parsed, ran, exit code, rows
  cargo xtask bench sysbench-2004 the command of 2004 under each I/O scheduler, on a loop device (root)
  cargo xtask bench observe       what watching the block layer costs, beside a pair of runs without it
  cargo xtask bench false-alarms  how often a comparison cries wolf, and how often it sees a change of 5 %
  cargo xtask bench sim-replay    requests per second of the simulator, its memory for 100 million; a quarter of an hour
  cargo xtask bench agree         whether the simulator's schedulers choose as this kernel's do, on loop devices (root)
  cargo xtask bench calibrate     how far a fitted device profile is from the loop device it was fitted to (root)
  cargo xtask bench isofs         fathom mount and fathom iso beside fuseiso, bsdtar, 7z and cp (root)
  cargo xtask bench observe-read-ahead  request sizes of a cold read by read_ahead_kb, counted three ways (root)

  test:  --no-install             install nothing; say what is missing and which tests skip
         -- ARGS                  passed to the test programs, e.g. -- --nocapture
  torture: --minutes N --seed S   how long, and what the accidents are drawn from; --trial N makes one of them again
  fresh: --keep                   leave the clone in place and say where it is
  bench, but iozone and instructions:
         --rounds N               interleaved rounds (engine, sysbench, fio 9, filebench, sysbench-2004, isofs 5, rate 3, agree 2,
                                  calibrate 3)
                                  for false-alarms: quads of a session (3)
         --sessions N             comparisons of each kind (false-alarms 40)
         --seconds S              length of one measurement (engine, fio, false-alarms 1, sysbench 2, filebench 3, rate 5)
         --case TEXT              only cases with TEXT in their name
         --file-mib N             size of the file (512)
         --json FILE              every sample, as JSON
         --gate                   exit code 1 if a bound is not kept; without it a bench only reports

Exit codes: 0 in order, 1 something failed, 2 usage.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

/// A command line that cannot be understood.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} See `cargo xtask help`.", self.0)
    }
}

impl std::error::Error for Usage {}

/// Runs a chore; whether all was in order.
fn run(args: &[String]) -> Result<bool> {
    let Some((chore, rest)) = args.split_first() else {
        print!("{HELP}");
        return Ok(true);
    };
    let root = root();
    match chore.as_str() {
        "test" => test::run(&root, &test::Options::parse(rest).map_err(Usage)?),
        "tidy" => {
            no_arguments(chore, rest)?;
            tidy::run(&root)
        }
        "aarch64" => {
            no_arguments(chore, rest)?;
            aarch64::run(&root)
        }
        "bpf" => {
            no_arguments(chore, rest)?;
            bpf::run(&root).map(|()| true)
        }
        "lab" => lab::run(&root, &lab::Options::parse(rest).map_err(Usage)?),
        "deb" => match rest {
            [] => deb::run(&root, false),
            [statically] if statically == "--static" => deb::run(&root, true),
            [check] if check == "--check" => deb::check(&root),
            _ => bail!(Usage(format!("`deb` takes --static, --check or nothing, not {rest:?}."))),
        },
        "page" => {
            no_arguments(chore, rest)?;
            page::run(&root)
        }
        "fresh" => match rest {
            [] => fresh::run(&root, false),
            [keep] if keep == "--keep" => fresh::run(&root, true),
            _ => bail!(Usage(format!("`fresh` takes --keep or nothing, not {rest:?}."))),
        },
        "mpi" => {
            no_arguments(chore, rest)?;
            mpi::run(&root)
        }
        "torture" => torture::run(&root, &torture::Options::parse(rest).map_err(Usage)?),
        "bench" => bench::run(&root, rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(true)
        }
        other => bail!(Usage(format!("There is no chore named {other:?}."))),
    }
}

fn no_arguments(chore: &str, rest: &[String]) -> Result<()> {
    match rest.first() {
        Some(first) => bail!(Usage(format!("`{chore}` takes no arguments, not {first:?}."))),
        None => Ok(()),
    }
}

/// The workspace: where cargo says this package lies, one up. The value built in serves when the binary is called directly.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let package = package.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    package.parent().unwrap_or(Path::new(".")).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(args: &[&str]) -> bool {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        run(&args).is_err_and(|e| e.is::<Usage>())
    }

    #[test]
    fn mistakes_are_usage_errors() {
        assert!(usage(&["dance"]));
        assert!(usage(&["tidy", "now"]));
        assert!(usage(&["page", "now"]));
        assert!(usage(&["torture", "--minuts", "3"]));
        assert!(usage(&["deb", "--chek"]));
        assert!(usage(&["fresh", "--kep"]));
        assert!(usage(&["test", "--no-instal"]));
    }

    #[test]
    fn the_root_is_the_workspace() {
        assert!(root().join("Cargo.toml").is_file() && root().join("xtask").is_dir());
    }
}
