//! `create files`: the sets that it creates, their order, and the log lines that Filebench 1.5 prints.

use super::filesets::CompiledSet;
use fathom_workload::tree::{self, Layout, Layouts};
use fathom_workload::{Existing, Files, RandomVariable, Sizing, Workload};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A step that creates files.
#[derive(Clone, Debug)]
pub struct Create {
    /// The file sets and the random variables they use; no phase.
    pub workload: Workload,
    /// In order of the workload's file sets: last defined first.
    pub sets: Vec<CreatedSet>,
}

/// A file set to be created.
#[derive(Clone, Debug)]
pub struct CreatedSet {
    /// Its name.
    pub name: String,
    /// Path of its tree or file.
    pub root: PathBuf,
    /// Whether an existing tree is kept.
    pub reuse: bool,
    /// Whether it is an existing file or device, used as it is.
    pub as_found: bool,
    /// Whether it is evicted from the page cache after creation.
    pub evict: bool,
    /// `NAME populated: ...`; `None` for sets defined by `define file`.
    pub populated: Option<String>,
}

impl CreatedSet {
    /// Log lines printed before its files are created. `exists`: its tree already exists.
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

/// The step that creates these sets.
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

/// Statistics of a tree for the log.
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

/// C's `%.1f`, which prints infinity as inf and NaN with a sign.
fn one_decimal(value: f64) -> String {
    if value.is_nan() { "-nan".into() } else { format!("{value:.1}") }
}

/// Statistics of the sets. Trees are laid out only if a size is random; otherwise they follow from the definition.
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
