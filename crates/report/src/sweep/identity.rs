//! Matches phases across a sweep's runs, which vary sizes and streams. The n-th phase of a name in one run is the n-th of that name in
//! the others; if their numbers differ, phases match by title. The common part of the matched phases' titles becomes the title.

use super::{PhaseFigures, Sweep};

/// A phase of the sweep: its title, and where its figures are in every run that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The common part of its titles.
    pub title: String,
    /// (index of the run, index of the phase in it).
    pub places: Vec<(usize, usize)>,
}

/// What distinguishes a phase from others of its run: its title if the runs have different numbers of phases of that name, else
/// its position.
#[derive(PartialEq, Eq)]
enum IdentityKey<'s> {
    Place(&'s str, usize),
    Title(&'s str),
}

/// All phases in order of first appearance.
pub(super) fn phases(sweep: &Sweep) -> Vec<Identity> {
    let mut all: Vec<(IdentityKey<'_>, Vec<(usize, usize)>)> = Vec::new();
    for (number, run) in sweep.runs.iter().enumerate() {
        for (at, figures) in run.phases.iter().enumerate() {
            let key = if as_many_everywhere(sweep, &figures.name) {
                IdentityKey::Place(&figures.name, named(&run.phases[..at], &figures.name))
            } else {
                IdentityKey::Title(&figures.phase)
            };
            match all.iter_mut().find(|(k, _)| *k == key) {
                Some((_, places)) => places.push((number, at)),
                None => all.push((key, vec![(number, at)])),
            }
        }
    }
    let mut found: Vec<Identity> = Vec::new();
    for (_, places) in all {
        let title = in_common(places.iter().map(|&(run, at)| &sweep.runs[run].phases[at]));
        let twins = (2..).map(|n| format!("{title} ({n})"));
        // Some were distinguished only by what was varied.
        let free = std::iter::once(title.clone()).chain(twins).find(|t| !found.iter().any(|f| f.title == *t));
        found.push(Identity { title: free.unwrap_or(title), places });
    }
    found
}

fn named(phases: &[PhaseFigures], name: &str) -> usize {
    phases.iter().filter(|p| p.name == name).count()
}

/// Whether every run has the same number of phases of that name, so that positions match.
fn as_many_everywhere(sweep: &Sweep, name: &str) -> bool {
    let mut counts = sweep.runs.iter().map(|r| named(&r.phases, name)).filter(|n| *n > 0);
    let first = counts.next();
    counts.all(|n| Some(n) == first)
}

/// The parts of the first title that all others share.
fn in_common<'p>(mut phases: impl Iterator<Item = &'p PhaseFigures>) -> String {
    let Some(first) = phases.next() else { return String::new() };
    let mut parts: Vec<&str> = first.phase.split(", ").collect();
    for other in phases {
        let theirs: Vec<&str> = other.phase.split(", ").collect();
        parts.retain(|part| theirs.contains(part));
    }
    if parts.is_empty() { first.name.clone() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::super::{Ran, samples};
    use super::*;

    fn sweep(runs: &[&[&str]]) -> Sweep {
        let phase = |title: &&str| PhaseFigures {
            phase: (*title).into(),
            name: title.split(", ").next().unwrap_or_default().into(),
            ..PhaseFigures::default()
        };
        let ran = |(cell, titles): (usize, &&[&str])| Ran {
            cell,
            phases: titles.iter().map(phase).collect(),
            ..Ran::default()
        };
        Sweep { runs: runs.iter().enumerate().map(ran).collect(), ..samples::sweep() }
    }

    fn titles(sweep: &Sweep) -> Vec<(String, usize)> {
        phases(sweep).into_iter().map(|p| (p.title, p.places.len())).collect()
    }

    #[test]
    fn what_is_varied_does_not_part_a_phase() {
        let sweep = sweep(&[
            &["read, 1 stream, file 1 MiB, record 4 KiB", "write, 1 stream, record 4 KiB"],
            &["read, 4 streams, file 1 MiB, record 4 KiB", "write, 4 streams, record 4 KiB"],
            &["read, 1 stream, file 1 MiB, record 64 KiB", "write, 1 stream, record 64 KiB"],
        ]);
        assert_eq!(titles(&sweep), [("read, file 1 MiB".into(), 3), ("write".into(), 3)]);
    }

    #[test]
    fn axes_of_the_workload_itself_part_its_phases() {
        let sweep = sweep(&[
            &["read, 1 stream, record 4 KiB", "read, 1 stream, record 64 KiB"],
            &["read, 4 streams, record 4 KiB", "read, 4 streams, record 64 KiB"],
        ]);
        assert_eq!(titles(&sweep), [("read, record 4 KiB".into(), 2), ("read, record 64 KiB".into(), 2)]);
    }

    #[test]
    fn twins_keep_apart_and_unlike_numbers_go_by_the_title() {
        let twins = sweep(&[
            &["read, record 4 KiB", "read, record 4 KiB (2)"],
            &["read, record 8 KiB", "read, record 8 KiB (2)"],
        ]);
        assert_eq!(titles(&twins), [("read".into(), 2), ("read (2)".into(), 2)]);
        let unlike = sweep(&[&["read, record 4 KiB", "read, record 8 KiB"], &["read, record 8 KiB"]]);
        assert_eq!(titles(&unlike), [("read, record 4 KiB".into(), 1), ("read, record 8 KiB".into(), 2)]);
    }
}
