//! The trees and drawn sizes of a whole workload: its file sets in order, all drawing from one state. Flows continue drawing from the
//! final state, so it is part of the result.

use super::{Amount, Layout, LayoutError, LayoutRequest, LayoutState};
use crate::ops::generators::Rand48;
use crate::ops::{Drawing, Place, derive_seed, unit_of};
use crate::{Bytes, FileSet, Files, Generator, RandomVariable, Sizing, Tree, Workload};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Seed purpose: fathom's own variables, as drawn by file sets.
const FOR_LAYOUT: u64 = 190;

/// The contents of a workload's file sets.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    /// Each tree, by the name of its set.
    pub trees: BTreeMap<String, Layout>,
    /// Bytes of each file of listed and numbered sets whose sizes are drawn, by the name of the set.
    pub sizes: BTreeMap<String, Vec<u64>>,
    /// Final state of the streams shared by all trees.
    pub state: LayoutState,
    /// Final state of each variable's own rand48 stream, by variable name.
    pub streams: BTreeMap<String, Rand48>,
}

/// A file set that cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("file set {set}: {message}")]
pub struct SetError {
    /// Its name.
    pub set: String,
    /// What is wrong, and what would be valid.
    pub message: String,
}

/// Lays out all file sets of a workload.
///
/// # Errors
/// If a variable is undefined or impossible, or a tree is impossible.
pub fn layouts(workload: &Workload) -> Result<Layouts, SetError> {
    let variables = SetVariables::of(workload);
    let mut done = Layouts::default();
    for set in &workload.filesets {
        let failed = |message: String| SetError { set: set.name.clone(), message };
        match &set.files {
            Files::Tree(tree) => {
                let layout = variables.tree(set, tree, &mut done.state).map_err(failed)?;
                done.trees.insert(set.name.clone(), layout);
            }
            files => match &set.size {
                Sizing::Variable(name) => {
                    let variable = variables.get(name).map_err(failed)?;
                    let draw = |_| variable.draw(&mut done.state.rand48) as u64;
                    done.sizes.insert(set.name.clone(), (0..files.count()).map(draw).collect());
                }
                Sizing::Each(sizes) => {
                    done.sizes.insert(set.name.clone(), sizes.iter().map(|bytes| bytes.0).collect());
                }
                Sizing::Fixed(_) => {}
            },
        }
    }
    done.streams = variables.streams();
    Ok(done)
}

/// The variables, each with its stream, shared by all sets that use it.
struct SetVariables<'a> {
    workload: &'a Workload,
    all: BTreeMap<&'a str, SetVariable>,
}

struct SetVariable {
    asked: RandomVariable,
    drawing: Drawing,
    source: VariableStream,
}

enum VariableStream {
    Own(Box<RefCell<Xoshiro256PlusPlus>>),
    Rand48(RefCell<Rand48>),
    Process,
}

impl SetVariable {
    fn draw(&self, process: &mut Rand48) -> f64 {
        self.draw_as(&self.drawing, process)
    }

    /// Draws a value of another distribution from this variable's stream.
    fn draw_as(&self, drawing: &Drawing, process: &mut Rand48) -> f64 {
        match &self.source {
            VariableStream::Own(own) => drawing.draw_with(|| unit_of(own.borrow_mut().next_u64())),
            VariableStream::Rand48(own) => drawing.draw_with(|| own.borrow_mut().unit()),
            VariableStream::Process => drawing.draw_with(|| process.unit()),
        }
    }
}

impl<'a> SetVariables<'a> {
    fn of(workload: &'a Workload) -> Self {
        let one = |(number, (name, asked)): (usize, (&'a String, &RandomVariable))| {
            let place = Place { worker: number as u32, ..Place::default() };
            let source = match asked.generator {
                Generator::Seeded => {
                    let seed = derive_seed(workload.seed.0, place, FOR_LAYOUT);
                    VariableStream::Own(Box::new(RefCell::new(Xoshiro256PlusPlus::seed_from_u64(seed))))
                }
                Generator::Rand48(state) => VariableStream::Rand48(RefCell::new(Rand48::new(state))),
                Generator::ProcessRand48 => VariableStream::Process,
            };
            Some((name.as_str(), SetVariable { asked: asked.clone(), drawing: Drawing::new(asked)?, source }))
        };
        Self { workload, all: workload.variables.iter().enumerate().filter_map(one).collect() }
    }

    fn get(&self, name: &str) -> Result<&SetVariable, String> {
        self.all.get(name).ok_or_else(|| {
            if self.workload.variables.contains_key(name) {
                format!(
                    "variable {name:?} has parameters out of range; docs/formats/workload.md lists the ranges"
                )
            } else {
                format!("variable {name:?} is not defined")
            }
        })
    }

    fn tree(&self, set: &FileSet, tree: &Tree, state: &mut LayoutState) -> Result<Layout, String> {
        let width = self.amount(&tree.width)?;
        let size = self.amount(&set.size)?;
        let draw_width = |process: &mut Rand48| width.draw(process);
        let draw_size = |process: &mut Rand48| size.draw(process);
        let mut request = LayoutRequest {
            entries: tree.entries,
            leaf_directories: tree.leaf_directories,
            width: width.amount(&draw_width),
            gamma_thousandths: tree.gamma_thousandths,
            depth: None,
            size: size.amount(&draw_size),
            preallocated_percent: set.preallocated_percent,
        };
        let failed = |e: LayoutError| e.to_string();
        let Some(name) = &tree.depth else { return Layout::new(&request, state).map_err(failed) };
        let depth = self.get(name)?;
        let drawing = depth.asked.with_mean(request.mean_depth()).as_ref().and_then(Drawing::new);
        let drawing = drawing.ok_or_else(|| {
            format!(
                "variable {name:?} cannot have the mean {:.3}, the mean depth of this tree; choose another width or variable",
                request.mean_depth()
            )
        })?;
        let draw_depth = |process: &mut Rand48| depth.draw_as(&drawing, process);
        request.depth = Some(&draw_depth);
        Layout::new(&request, state).map_err(failed)
    }

    fn amount(&self, sizing: &Sizing) -> Result<OwnedNumber<'_>, String> {
        Ok(match sizing {
            Sizing::Fixed(Bytes(number)) => OwnedNumber::Fixed(*number),
            Sizing::Variable(name) => OwnedNumber::Drawn(self.get(name)?),
            Sizing::Each(_) => return Err("a tree has no list of sizes".into()),
        })
    }

    fn streams(&self) -> BTreeMap<String, Rand48> {
        let own = self.all.iter().filter_map(|(name, variable)| match &variable.source {
            VariableStream::Rand48(own) => Some(((*name).to_owned(), *own.borrow())),
            VariableStream::Own(_) | VariableStream::Process => None,
        });
        own.collect()
    }
}

/// A number of the request, owned so that the request can borrow it.
enum OwnedNumber<'a> {
    Fixed(u64),
    Drawn(&'a SetVariable),
}

impl OwnedNumber<'_> {
    fn draw(&self, process: &mut Rand48) -> f64 {
        match self {
            Self::Fixed(number) => *number as f64,
            Self::Drawn(variable) => variable.draw(process),
        }
    }

    fn amount<'d>(&self, draw: &'d super::Draw<'d>) -> Amount<'d> {
        match self {
            Self::Fixed(number) => Amount::Fixed(*number),
            Self::Drawn(variable) => Amount::Drawn { mean: variable.asked.mean(), draw },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, Existing, Shape, Share};
    use std::collections::BTreeSet;

    fn set(name: &str, files: Files, size: Sizing) -> FileSet {
        FileSet {
            name: name.into(),
            files,
            size,
            existing: Existing::Refuse,
            may_modify: false,
            keep: false,
            mode: 0o644,
            data: Data::Zero,
            preallocated_percent: 80,
            share: Share::ReadWrite,
            trust_sizes: false,
            leave_dirty: false,
            prepare_record: FileSet::PREPARE_RECORD,
            make_directories: false,
        }
    }

    fn tree(entries: u64, width: u64) -> Files {
        Files::Tree(Tree {
            root: "t".into(),
            entries,
            leaf_directories: 0,
            width: Sizing::Fixed(Bytes(width)),
            gamma_thousandths: 1500,
            depth: None,
        })
    }

    fn uniform(generator: Generator) -> RandomVariable {
        RandomVariable {
            shape: Shape::Uniform { low: 1000.0, high: 9000.0 },
            generator,
            round: 0,
            ties: crate::Ties::AwayFromZero,
            min: None,
            max: None,
        }
    }

    #[test]
    fn trees_share_one_state_in_the_order_of_the_sets() {
        let fixed = || Sizing::Fixed(Bytes(16384));
        let workload = Workload {
            filesets: vec![set("b", tree(100, 5), fixed()), set("a", tree(1000, 20), fixed())],
            ..Workload::default()
        };
        let all = layouts(&workload).unwrap();
        let mut state = LayoutState::default();
        for (name, entries, width) in [("b", 100, 5), ("a", 1000, 20)] {
            let request = LayoutRequest {
                entries,
                leaf_directories: 0,
                width: Amount::Fixed(width),
                gamma_thousandths: 1500,
                depth: None,
                size: Amount::Fixed(16384),
                preallocated_percent: 80,
            };
            assert_eq!(all.trees[name], Layout::new(&request, &mut state).unwrap());
        }
        assert_eq!(all.state.rand48, state.rand48);
    }

    #[test]
    fn drawn_sizes_are_the_variables_values_in_turn() {
        let files = || Files::List(vec!["x".into(), "y".into(), "z".into()]);
        let sized = |name: &str| set(name, files(), Sizing::Variable("v".into()));
        let mut workload = Workload { filesets: vec![sized("one"), sized("two")], ..Workload::default() };
        assert_eq!(
            layouts(&workload).unwrap_err().to_string(),
            "file set one: variable \"v\" is not defined"
        );
        // Filebench's own values for the seed 0: 1000 1007 1333 2413 3916.
        workload.variables.insert("v".into(), uniform(Generator::Rand48(0)));
        let all = layouts(&workload).unwrap();
        assert_eq!(all.sizes["one"], [1000, 1007, 1333]);
        assert_eq!(all.sizes["two"][..2], [2413, 3916]);
        let mut stream = Rand48::new(0);
        (0..6).for_each(|_| _ = stream.unit());
        assert_eq!(all.streams["v"], stream);
        workload.variables.insert("v".into(), uniform(Generator::ProcessRand48));
        let all = layouts(&workload).unwrap();
        assert_eq!((all.sizes["one"][1], all.state.rand48), (1007, stream));
        workload.variables.insert("v".into(), uniform(Generator::Seeded));
        let sizes = layouts(&workload).unwrap().sizes;
        assert!(sizes.values().flatten().all(|s| (1000..9000).contains(s)) && sizes["one"] != sizes["two"]);
    }

    #[test]
    fn a_depth_variable_gets_the_mean_depth() {
        let mut files = tree(1000, 10);
        if let Files::Tree(tree) = &mut files {
            tree.depth = Some("d".into());
            tree.gamma_thousandths = 0;
        }
        let mut workload =
            Workload { filesets: vec![set("t", files, Sizing::default())], ..Workload::default() };
        // Always 2.5 as written; its mean becomes 3, so it is uniform in 2.5..3.5.
        let depths =
            RandomVariable { shape: Shape::Uniform { low: 2.5, high: 2.5 }, ..uniform(Generator::Seeded) };
        workload.variables.insert("d".into(), depths);
        let tree = &layouts(&workload).unwrap().trees["t"];
        let levels: BTreeSet<usize> =
            (0..tree.files.len()).map(|i| tree.file_path(i).split('/').count()).collect();
        assert_eq!(levels, BTreeSet::from([2, 3]));
    }
}
