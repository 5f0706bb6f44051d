//! `create files`: which sets are made in which order, and what 1.5's log says meanwhile.

use super::filesets::CompiledSet;
use fathom_workload::ops::generators::Rand48;
use fathom_workload::ops::{Drawing, Sampler};
use fathom_workload::tree::{Amount, Layout, LayoutError, LayoutRequest, LayoutState};
use fathom_workload::{Files, Generator, RandomVariable, Sizing, Tree, Workload};
use std::cell::RefCell;
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
    let layouts = layouts(sets, variables)?;
    let created = sets.iter().zip(layouts).map(|(s, layout)| CreatedSet {
        name: s.set.name.clone(),
        root: s.root.clone(),
        reuse: s.reuse,
        as_found: matches!(s.set.files, Files::List(_)),
        evict: s.evict,
        populated: layout.filter(|_| !s.single).map(|l| populated(&s.set.name, &l)),
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
fn layouts(
    sets: &[CompiledSet],
    variables: &BTreeMap<String, RandomVariable>,
) -> Result<Vec<Option<Populated>>, (usize, String)> {
    let drawn = sets.iter().any(|s| matches!(s.set.size, Sizing::Variable(_)));
    let mut state = LayoutState::default();
    let draws = Draws::new(variables);
    let mut all = Vec::new();
    for (i, set) in sets.iter().enumerate() {
        let Files::Tree(tree) = &set.set.files else {
            all.push(None);
            continue;
        };
        let failed = |e: LayoutError| (i, format!("fileset {}: {e}", set.set.name));
        let populated = draws.with_request(set, tree, |request| {
            let (width, depth) = (request.mean_width(), request.mean_depth());
            let bytes = match set.set.size {
                Sizing::Fixed(size) if !drawn => size.0.saturating_mul(tree.entries),
                _ => Layout::new(request, &mut state).map_err(failed)?.total_bytes(),
            };
            Ok(Populated {
                files: tree.entries,
                leaf_directories: tree.leaf_directories,
                width,
                depth,
                bytes,
            })
        })?;
        all.push(Some(populated));
    }
    Ok(all)
}

/// Random variables ready to be drawn from by a layout.
struct Draws(BTreeMap<String, (f64, Source)>);

/// Where a variable's numbers come from.
enum Source {
    /// The process's stream, handed in.
    Process(Drawing),
    Own(RefCell<Sampler>),
}

impl Source {
    fn draw(&self, process: &mut Rand48) -> f64 {
        match self {
            Self::Process(drawing) => drawing.draw_with(|| process.unit()),
            Self::Own(sampler) => sampler.borrow_mut().draw(),
        }
    }
}

impl Draws {
    fn new(variables: &BTreeMap<String, RandomVariable>) -> Self {
        let ready = |v: &RandomVariable| {
            Some(match v.generator {
                Generator::ProcessRand48 => Source::Process(Drawing::new(v)?),
                Generator::Seeded | Generator::Rand48(_) => Source::Own(RefCell::new(Sampler::new(v, 1)?)),
            })
        };
        Self(variables.iter().filter_map(|(name, v)| Some((name.clone(), (v.mean(), ready(v)?)))).collect())
    }

    fn with_request<T>(&self, set: &CompiledSet, tree: &Tree, work: impl FnOnce(&LayoutRequest) -> T) -> T {
        let closure = |name: Option<&String>| {
            let found = name.and_then(|n| self.0.get(n));
            move |process: &mut Rand48| found.map_or(0.0, |(_, source)| source.draw(process))
        };
        let name_of = |sizing: &Sizing| match sizing {
            Sizing::Variable(name) => Some(name.clone()),
            Sizing::Fixed(_) => None,
        };
        let (width_name, size_name) = (name_of(&tree.width), name_of(&set.set.size));
        let (width, size) = (closure(width_name.as_ref()), closure(size_name.as_ref()));
        let depth = closure(tree.depth.as_ref());
        let mean = |name: &String| self.0.get(name).map_or(0.0, |v| v.0);
        let request = LayoutRequest {
            entries: tree.entries,
            leaf_directories: tree.leaf_directories,
            width: match &tree.width {
                Sizing::Fixed(width) => Amount::Fixed(width.0),
                Sizing::Variable(name) => Amount::Drawn { mean: mean(name), draw: &width },
            },
            gamma_thousandths: tree.gamma_thousandths,
            depth: if tree.depth.is_some() { Some(&depth) } else { None },
            size: match &set.set.size {
                Sizing::Fixed(size) => Amount::Fixed(size.0),
                Sizing::Variable(name) => Amount::Drawn { mean: mean(name), draw: &size },
            },
            preallocated_percent: set.set.preallocated_percent,
        };
        work(&request)
    }
}
