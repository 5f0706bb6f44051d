//! One rank's share of a workload that many ranks execute together: its seed, its files, its part of shared files ([`layout`]), and the
//! steps it must do. Pure; finding and connecting ranks is done elsewhere. With a single rank the share is the workload itself.

mod layout;
#[cfg(test)]
mod tests;
mod wear_out;

pub use wear_out::{read_what_was_written, wear_out};

use crate::{Action, Existing, FileSet, Files, Phase, Program, Seed, Verify, Workload};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

/// A rank's position among the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Index of the rank.
    pub rank: u32,
    /// Number of ranks.
    pub ranks: u32,
    /// In reordered phases a rank works on the files of the rank this many indices after it: the number of ranks per host.
    pub shift: u32,
    /// It is the first rank of its host and executes the steps that concern a whole machine.
    pub first_on_host: bool,
}

impl Seat {
    /// The seat of a single rank.
    pub const ALONE: Self = Self { rank: 0, ranks: 1, shift: 0, first_on_host: true };

    /// The rank whose files this rank uses in reordered phases.
    #[must_use]
    pub fn other(self) -> u32 {
        ((u64::from(self.rank) + u64::from(self.shift)) % u64::from(self.ranks.max(1))) as u32
    }
}

impl Workload {
    /// Errors in the division among ranks, whatever their number.
    pub(crate) fn ranks_errors(&self) -> Vec<String> {
        let mut errors = Vec::new();
        let unknown_sets = self.ranks.shared.keys().filter(|name| self.fileset(name).is_none());
        errors
            .extend(unknown_sets.map(|name| format!("shared names the file set {name}, which is not there")));
        for (key, names) in [("reordered", &self.ranks.reordered), ("wear_out", &self.ranks.wear_out)] {
            let missing = names.iter().filter(|name| !self.phases.iter().any(|p| p.name == **name));
            errors.extend(missing.map(|name| format!("{key} names the phase {name}, which is not there")));
        }
        for phase in self.phases.iter().filter(|p| self.ranks.wear_out.contains(&p.name)) {
            errors.extend(
                wear_out::why_not(phase).map(|why| format!("wear_out of the phase {}: {why}", phase.name)),
            );
        }
        for phase in self.phases.iter().filter(|p| self.ranks.reordered.contains(&p.name)) {
            errors.extend(not_reordered(phase).map(|why| format!("reordered phase {}: {why}", phase.name)));
        }
        errors
    }

    /// Whether any phase works on files that another rank creates.
    #[must_use]
    pub fn needs_a_shared_directory(&self) -> bool {
        !self.ranks.shared.is_empty() || !self.ranks.reordered.is_empty()
    }

    /// Whether ranks work on common files in a phase: the first one must create them before the others start.
    #[must_use]
    pub fn shares_files_in(&self, phase: &Phase) -> bool {
        let shared = |name: &str| self.ranks.shared.contains_key(name);
        phase.streams().any(|s| shared(&s.fileset) || s.donor.as_ref().is_some_and(|d| shared(&d.fileset)))
            || crate::flow::set_names(phase, |_| true).into_iter().any(shared)
            || phase.before.iter().chain(&phase.after).filter_map(set_of).any(shared)
    }

    /// The share of one rank.
    ///
    /// # Errors
    /// Why the workload cannot be divided.
    pub fn for_rank(&self, seat: Seat) -> Result<Self, String> {
        if seat.ranks <= 1 {
            return Ok(self.clone());
        }
        let mut share = self.clone();
        // A share is not divided again.
        share.ranks = crate::Ranks::default();
        share.seed = seed_of(self.seed, seat.rank);
        for set in &mut share.filesets {
            if !self.ranks.shared.contains_key(&set.name) {
                named_after(set, seat.rank);
            } else if seat.rank > 0 && set.existing != Existing::Reuse {
                // Created by the first rank; the user named it for writing.
                (set.existing, set.may_modify, set.keep) = (Existing::Reuse, true, false);
            }
        }
        let other = seat.other();
        let mut looked_at = BTreeSet::new();
        for phase in &mut share.phases {
            phase.before.retain(|action| self.is_ours(action, seat));
            phase.after.retain(|action| self.is_ours(action, seat));
            let reordered = self.ranks.reordered.contains(&phase.name);
            let worker = if reordered { other } else { seat.rank };
            let title = phase.name.clone();
            for stream in phase.streams_mut() {
                if let Some(&how) = self.ranks.shared.get(&stream.fileset) {
                    let set = self.fileset(&stream.fileset);
                    layout::lay_out(stream, set, how, (worker, seat.ranks))
                        .map_err(|why| format!("phase {title}: file set {}: {why}", stream.fileset))?;
                }
            }
            if reordered && other != seat.rank {
                looked_at.extend(renamed(phase, &self.ranks.shared));
            }
            let part = |all: u64| all.div_ceil(seat.ranks.into());
            phase.stop.operations = phase.stop.operations.map(part);
            phase.stop.bytes = phase.stop.bytes.map(|b| crate::Bytes(part(b.0)));
        }
        for name in looked_at {
            let Some(set) = self.fileset(&name) else { continue };
            let mut theirs = set.clone();
            named_after(&mut theirs, other);
            theirs.name = of_another(&name);
            (theirs.existing, theirs.may_modify, theirs.keep) = (Existing::Reuse, false, false);
            share.filesets.push(theirs);
        }
        Ok(share)
    }

    /// Whether this rank must do a step.
    fn is_ours(&self, action: &Action, seat: Seat) -> bool {
        match action {
            Action::Prepare(set)
            | Action::Reserve(set)
            | Action::ReserveBehind(set)
            | Action::Extend(set)
            | Action::MakeDirectories(set)
            | Action::Recreate(set)
            | Action::Remove(set) => seat.rank == 0 || !self.ranks.shared.contains_key(set),
            Action::Sync | Action::Remount(_) | Action::Command(_) => seat.first_on_host,
            Action::Evict(_) | Action::Warm(_) | Action::Sleep(_) => true,
        }
    }
}

/// The first rank uses the workload's own seed, the others a seed derived from it and their index.
fn seed_of(seed: Seed, rank: u32) -> Seed {
    if rank == 0 {
        return seed;
    }
    let mut z = seed.0.wrapping_add(u64::from(rank).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    Seed(z ^ (z >> 31))
}

/// Appends a rank's number to the file names of a set.
fn named_after(set: &mut FileSet, rank: u32) {
    let with = |path: &PathBuf, end: &str| -> PathBuf {
        let mut name: OsString = path.clone().into_os_string();
        name.push(format!(".r{rank:04}{end}"));
        name.into()
    };
    match &mut set.files {
        Files::List(paths) => paths.iter_mut().for_each(|path| *path = with(path, "")),
        Files::Numbered { prefix, .. } => *prefix = with(prefix, "."),
        Files::Tree(tree) => tree.root = with(&tree.root, ""),
    }
}

/// Name of the file set with another rank's files.
fn of_another(name: &str) -> String {
    format!("{name} of another rank")
}

/// Makes a phase use the files of another rank; returns the names of the sets concerned.
fn renamed(phase: &mut Phase, shared: &std::collections::BTreeMap<String, crate::Layout>) -> Vec<String> {
    let mut found = Vec::new();
    let mut rename = |name: &mut String| {
        if !shared.contains_key(name.as_str()) {
            found.push(name.clone());
            *name = of_another(name);
        }
    };
    for action in phase.before.iter_mut().chain(&mut phase.after) {
        if let Action::Evict(set) | Action::Warm(set) = action {
            rename(set);
        }
    }
    for thread in phase.groups.iter_mut().flat_map(|g| &mut g.threads) {
        match &mut thread.program {
            Program::Stream(stream) => rename(&mut stream.fileset),
            Program::Flow(flow) => rename_in(&mut flow.ops, &mut rename),
        }
    }
    found
}

fn rename_in(ops: &mut [crate::FlowOp], rename: &mut dyn FnMut(&mut String)) {
    for op in ops {
        if let Some(name) = &mut op.fileset {
            rename(name);
        }
        rename_in(&mut op.ops, rename);
    }
}

/// Why a phase cannot use another rank's files.
fn not_reordered(phase: &Phase) -> Option<String> {
    if phase.streams().any(|s| s.direction != crate::Direction::Read || s.changes_files())
        || !crate::flow::set_names(phase, crate::Act::changes).is_empty()
    {
        return Some("only phases that read can work on what another rank made".into());
    }
    if phase.streams().any(|s| s.verify != Verify::default() || s.written_by.is_some()) {
        return Some("what another rank wrote follows from its own seed and cannot be verified".into());
    }
    phase.before.iter().chain(&phase.after).find(|a| !matches!(a, Action::Evict(_) | Action::Warm(_)) && set_of(a).is_some()).map(
        |_| "steps that make or remove files cannot be combined with files of another rank; put them into a separate phase".into(),
    )
}

/// The file set that a step names.
fn set_of(action: &Action) -> Option<&str> {
    match action {
        Action::Evict(set)
        | Action::Warm(set)
        | Action::Prepare(set)
        | Action::Reserve(set)
        | Action::ReserveBehind(set)
        | Action::Extend(set)
        | Action::MakeDirectories(set)
        | Action::Recreate(set)
        | Action::Remove(set) => Some(set),
        Action::Sync | Action::Remount(_) | Action::Sleep(_) | Action::Command(_) => None,
    }
}
