//! Power cuts: the guest is killed while fathom measures, turns settings and keeps runs. At the next boot every run that a command had
//! reported as kept must be there, every write that `fathom power-cut` acknowledged too, and nothing that is not fathom's may have
//! changed.

use super::boot::{Console, Guest};
use super::kernel::Kernel;
use super::ramdisk;
use anyhow::Result;
use std::path::Path;
use std::time::{Duration, Instant};

/// The cut comes within this time after the guest has begun to measure.
const LONGEST: f64 = 6.0;

/// What the guest's script says.
#[derive(Debug, PartialEq, Eq)]
enum Report {
    /// How many runs the store had at boot.
    Found(u64),
    /// Measuring has begun.
    Began,
    /// The number of runs that are kept now.
    Kept(u64),
    /// Something is not as it must be.
    Wrong(String),
}

impl Report {
    fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.strip_prefix("@@")?.split_once(' ').unwrap_or((line.strip_prefix("@@")?, ""));
        match word {
            "FOUND" => Some(Self::Found(rest.parse().ok()?)),
            "BEGAN" => Some(Self::Began),
            "KEPT" => Some(Self::Kept(rest.parse().ok()?)),
            "WRONG" => Some(Self::Wrong(rest.into())),
            _ => None,
        }
    }
}

/// Cuts the power a number of times; whether everything survived.
pub(super) fn run(kernel: &Kernel, ramdisk: &Path, disk: &Path, times: u32) -> Result<bool> {
    let (mut kept, mut kept_between_cuts, mut acknowledged) = (0, false, false);
    // What was acknowledged before the last cut.
    let mut journal = String::new();
    // The last boot only looks at what the last cut left.
    for cut in 1..=times + 1 {
        let with_journal = ramdisk::with_file(ramdisk, "journal", &std::mem::take(&mut journal))?;
        let guest = Guest::boot(kernel, &with_journal, disk)?;
        let mut until = None;
        loop {
            let line = match guest.next(until)? {
                Console::Line(line) => line,
                Console::Silent => break,
                Console::Ended => {
                    println!("  boot {cut}: the guest ended by itself");
                    return Ok(false);
                }
            };
            match Report::parse(&line) {
                None if line.starts_with('{') => {
                    // The first two lines are the plan and the layout.
                    acknowledged |= journal.lines().count() > 2;
                    journal += &(line + "\n");
                }
                None => println!("  {line}"),
                Some(Report::Wrong(what)) => {
                    println!("  boot {cut}: {what}");
                    return Ok(false);
                }
                Some(Report::Found(runs)) if runs < kept => {
                    println!("  boot {cut}: {kept} runs were kept, {runs} are there");
                    return Ok(false);
                }
                Some(Report::Found(runs)) => {
                    println!("  boot {cut}: {runs} runs, {kept} reported as kept");
                    kept = runs;
                }
                Some(Report::Kept(runs)) => {
                    kept = runs;
                    kept_between_cuts |= until.is_some();
                }
                Some(Report::Began) if cut > times => {
                    if !kept_between_cuts {
                        println!("  no cut came after a run was kept: cut more often");
                    }
                    if !acknowledged {
                        println!("  no cut came after a write was acknowledged: cut more often");
                    }
                    return Ok(kept_between_cuts && acknowledged);
                }
                Some(Report::Began) => until = Some(Instant::now() + moment(cut)),
            }
        }
    }
    Ok(true)
}

/// Spread evenly over the time, in any number of cuts.
fn moment(cut: u32) -> Duration {
    const GOLDEN: f64 = 0.618_033_988_75;
    Duration::from_secs_f64(f64::from(cut) * GOLDEN % 1.0 * LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_understood() {
        assert_eq!(Report::parse("@@FOUND 12"), Some(Report::Found(12)));
        assert_eq!(Report::parse("@@BEGAN"), Some(Report::Began));
        assert_eq!(Report::parse("@@WRONG a file is gone"), Some(Report::Wrong("a file is gone".into())));
        assert_eq!(Report::parse("KEPT 3"), None);
        assert_eq!(Report::parse("@@KEPT many"), None);
    }

    #[test]
    fn cuts_come_at_different_moments() {
        let mut all: Vec<u128> = (1..=20).map(|cut| moment(cut).as_millis()).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[1] - pair[0] > 100 && pair[1] < 6000), "{all:?}");
    }
}
