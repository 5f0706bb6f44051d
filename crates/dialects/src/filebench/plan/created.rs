//! `create files`: which sets are made in which order, and what 1.5's log says meanwhile.

use super::filesets::CompiledSet;
use fathom_workload::tree::{self, Layout, Layouts};
use fathom_workload::{Existing, Files, RandomVariable, Sizing, Workload};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Making the files.
#[derive(Clone, Debug)]
pub struct Create {
    /// The file sets and the random variables they draw from; no phase.
    pub workload: Workload,
    /// In the order of the workload's file sets: last defined first.
    pub sets: Vec<CreatedSet>,
}

/// One set.
#[derive(Clone, Debug)]
pub struct CreatedSet {
    /// Its name.
    pub name: String,
    /// Where its tree is, or its file.
    pub root: PathBuf,
    /// A tree found in place is kept.
    pub reuse: bool,
    /// It is a file or device used as it is: nothing is made.
    pub as_found: bool,
    /// Its pages leave the page cache when it is made.
    pub evict: bool,
    /// `NAME populated: ...`; files defined one by one have no such line.
    pub populated: Option<String>,
}

impl CreatedSet {
    /// The lines of the log before its files are made. `exists` is whether its tree is there already.
    #[must_use]
    pub fn lines(&self, exists: bool) -> Vec<String> {
        let name = &self.name;
        let mut lines: Vec<String> = self.populated.iter().cloned().collect();
        if self.as_found {
            lines.push(format!("Reusing existing {name} tree"));
            return lines;
        }
        if self.reuse && exists {
            lines.push(format!("Reusing existing {name} tree"));
        } else {
            lines.push(format!("Removing {name} tree (if exists)"));
            lines.push(format!("Pre-allocating directories in {name} tree"));
        }
        lines.push(format!("Pre-allocating files in {name} tree"));
        lines
    }
}

/// The step for these sets.
pub(super) fn create(
    sets: &[CompiledSet],
    variables: &BTreeMap<String, RandomVariable>,
) -> Result<Create, (usize, String)> {
    let workload = Workload {
        variables: variables.clone(),
        filesets: sets.iter().map(|s| s.set.clone()).collect(),
        ..Workload::default()
    };
    let populations = populations(sets, &workload)?;
    let created = sets.iter().zip(populations).map(|(s, population)| CreatedSet {
        name: s.set.name.clone(),
        root: s.root.clone(),
        reuse: s.reuse,
        as_found: matches!(s.set.files, Files::List(_)) && s.set.existing == Existing::Reuse,
        evict: s.evict,
        populated: population.filter(|_| !s.single).map(|l| populated(&s.set.name, &l)),
    });
    Ok(Create { sets: created.collect(), workload })
}

/// What the log says of a tree.
struct Populated {
    files: u64,
    leaf_directories: u64,
    width: u64,
    depth: f64,
    bytes: u64,
}

fn populated(name: &str, p: &Populated) -> String {
    format!(
        "{name} populated: {} files, avg. dir. width = {}, avg. dir. depth = {}, {} leafdirs, {:.3}MB total size",
        p.files,
        p.width,
        one_decimal(p.depth),
        p.leaf_directories,
        p.bytes as f64 / 1_048_576.0
    )
}

/// `%.1f` of C, which knows no NaN without a sign and calls infinity inf.
fn one_decimal(value: f64) -> String {
    if value.is_nan() { "-nan".into() } else { format!("{value:.1}") }
}

/// What follows from the sets' definitions; trees are laid out only if a size is drawn, as all else is known without.
fn populations(sets: &[CompiledSet], workload: &Workload) -> Result<Vec<Option<Populated>>, (usize, String)> {
    let drawn = sets.iter().any(|s| matches!(s.set.size, Sizing::Variable(_)));
    let layouts = if drawn {
        tree::layouts(workload).map_err(|e| {
            let at = sets.iter().position(|s| s.set.name == e.set).unwrap_or(0);
            (at, format!("fileset {}: {}", e.set, e.message))
        })?
    } else {
        Layouts::default()
    };
    let one = |set: &CompiledSet| {
        let Files::Tree(tree) = &set.set.files else { return None };
        let width = match &tree.width {
            Sizing::Fixed(width) => width.0,
            Sizing::Variable(name) => workload.variables.get(name).map_or(0.0, RandomVariable::mean) as u64,
            Sizing::Each(_) => 0,
        };
        let entries = tree.entries.saturating_add(tree.leaf_directories);
        let bytes = match &set.set.size {
            Sizing::Fixed(size) => size.0.saturating_mul(tree.entries),
            Sizing::Variable(_) | Sizing::Each(_) => {
                layouts.trees.get(&set.set.name).map_or(0, Layout::total_bytes)
            }
        };
        Some(Populated {
            files: tree.entries,
            leaf_directories: tree.leaf_directories,
            width,
            depth: (entries as f64).ln() / (width as f64).ln(),
            bytes,
        })
    };
    Ok(sets.iter().map(one).collect())
}
