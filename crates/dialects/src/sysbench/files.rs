//! Output of prepare and cleanup, one line for each file as it is created or removed, and how each file is handled. SysBench
//! 0.4.12 prints no file names.

use super::head;
use super::options::{Dialect, SysbenchOptions};
use super::plan::{FILES, data, prepare_record};
use fathom_workload::{Bytes, Existing, FileSet, Files, Seed, Sizing, Workload};

/// How prepare handles a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Missing: created.
    Create,
    /// Long enough: kept.
    Reuse,
    /// Too short: blocks are appended.
    Extend,
}

/// Preparation of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// File number, from 0.
    pub number: u64,
    /// How the file is handled.
    pub fate: FileAction,
    /// Resulting size in bytes.
    pub bytes: u64,
    /// Bytes to write.
    pub written: u64,
}

/// The preparation of a file of this size; `None`: missing. Whole blocks are appended, so it may become longer than
/// the range of requests.
#[must_use]
pub fn step(o: &SysbenchOptions, number: u64, found_bytes: Option<u64>) -> Step {
    let wanted = o.file_bytes();
    let found = found_bytes.unwrap_or(0);
    let written = wanted.saturating_sub(found).div_ceil(o.block_bytes.max(1)).saturating_mul(o.block_bytes);
    let fate = match found_bytes {
        None => FileAction::Create,
        Some(_) if written == 0 => FileAction::Reuse,
        Some(0) => FileAction::Create,
        Some(_) => FileAction::Extend,
    };
    Step { number, fate, bytes: found.saturating_add(written), written }
}

/// A workload whose only file set is this file, for the engine's layout action.
#[must_use]
pub fn workload(o: &SysbenchOptions, step: &Step, seed: u64) -> Workload {
    let set = FileSet {
        name: FILES.into(),
        files: Files::List(vec![o.file(step.number)]),
        size: Sizing::Fixed(Bytes(step.bytes)),
        existing: Existing::Reuse,
        may_modify: o.replace,
        keep: true,
        mode: 0o600,
        data: data(o),
        preallocated_percent: 100,
        share: Default::default(),
        trust_sizes: false,
        leave_dirty: false,
        prepare_record: prepare_record(o),
        make_directories: false,
    };
    // Each file has different random data.
    let seed = Seed(seed.wrapping_add(step.number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    Workload {
        name: "sysbench fileio".into(),
        seed,
        repetitions: 1,
        filesets: vec![set],
        ..Workload::default()
    }
}

/// Name of the file set in [`workload`].
#[must_use]
pub fn set_name() -> String {
    FILES.into()
}

/// Output before the first file.
#[must_use]
pub fn preparing(o: &SysbenchOptions) -> String {
    if o.verbosity < 3 {
        return String::new();
    }
    let each = o.file_bytes();
    let all = each.saturating_mul(o.files.into());
    let mut text = format!(
        "{} files, {}Kb each, {}Mb total\nCreating files for the test...\n",
        o.files,
        each >> 10,
        all >> 20
    );
    if o.dialect == Dialect::New {
        text += &head::flags(o);
    }
    text
}

/// Output for one file.
#[must_use]
pub fn prepared(o: &SysbenchOptions, step: &Step) -> String {
    if o.verbosity < 3 || o.dialect == Dialect::Old {
        return String::new();
    }
    let what = match step.fate {
        FileAction::Create => "Creating file",
        FileAction::Reuse => "Reusing existing file",
        FileAction::Extend => "Extending existing file",
    };
    format!("{what} {}\n", SysbenchOptions::file_name(step.number))
}

/// Output after the last file.
#[must_use]
pub fn all_prepared(o: &SysbenchOptions, written: u64, seconds: f64) -> String {
    if o.verbosity < 3 || o.dialect == Dialect::Old {
        return String::new();
    }
    if written == 0 {
        return "No bytes written.\n".into();
    }
    let rate = written as f64 / 1_048_576.0 / seconds.max(1e-9);
    format!("{written} bytes written in {seconds:.2} seconds ({rate:.2} MiB/sec).\n")
}

/// Output of cleanup.
#[must_use]
pub fn removing(o: &SysbenchOptions) -> String {
    if o.verbosity < 3 { String::new() } else { "Removing test files...\n".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_blocks_are_appended() {
        let o = SysbenchOptions { files: 3, total_bytes: 10 << 20, ..SysbenchOptions::new(Dialect::New) };
        assert_eq!(
            step(&o, 0, None),
            Step { number: 0, fate: FileAction::Create, bytes: 3_506_176, written: 3_506_176 }
        );
        assert_eq!(step(&o, 1, Some(262_144)).written * 3, 9_732_096);
        assert_eq!(step(&o, 1, Some(262_144)).fate, FileAction::Extend);
        assert_eq!(step(&o, 2, Some(3_495_253)).fate, FileAction::Reuse);
        let text = preparing(&o);
        assert!(text.starts_with("3 files, 3413Kb each, 9Mb total\n"), "{text}");
    }

    #[test]
    fn files_are_written_in_the_block_size() {
        let o = SysbenchOptions { block_bytes: 4096, ..SysbenchOptions::new(Dialect::New) };
        let set = |o: &SysbenchOptions| workload(o, &step(o, 0, None), 1).filesets.remove(0);
        assert_eq!(set(&o).prepare_record, Bytes(4096));
        let o = SysbenchOptions { block_bytes: 2 << 30, ..o };
        assert_eq!(set(&o).prepare_record, FileSet::LARGEST_PREPARE_RECORD);
    }

    #[test]
    fn zero_bytes_prepared_are_reported() {
        let o = SysbenchOptions::new(Dialect::New);
        assert_eq!(all_prepared(&o, 0, 0.0), "No bytes written.\n");
        assert_eq!(all_prepared(&o, 1 << 20, 0.5), "1048576 bytes written in 0.50 seconds (2.00 MiB/sec).\n");
    }
}
