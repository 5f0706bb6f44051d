//! Trees compared with Filebench 1.5's, and invariants of every tree.

mod sha256;

use super::*;
use crate::ops::Drawing;
use crate::{RandomVariable, Row, Shape};
use proptest::prelude::*;
use sha256::sha256_start;
use std::cell::RefCell;
use std::collections::BTreeSet;

fn request<'a>(entries: u64, width: u64, gamma_thousandths: u32, percent: u8) -> LayoutRequest<'a> {
    LayoutRequest {
        entries,
        leaf_directories: 0,
        width: Amount::Fixed(width),
        gamma_thousandths,
        depth: None,
        size: Amount::Fixed(10),
        preallocated_percent: percent,
    }
}

fn leaves<'a>(leaf_directories: u64, width: u64, percent: u8) -> LayoutRequest<'a> {
    LayoutRequest { leaf_directories, ..request(0, width, 1500, percent) }
}

/// Lists what exists at the start: directories with a trailing slash, files with their sizes, sorted.
fn list(name: &str, layout: &Layout, into: &mut BTreeSet<String>) {
    let line = |path: String| format!("{name}/{path}");
    into.insert(line(String::new()));
    for i in 1..layout.directories.len() {
        into.insert(line(layout.directory_path(i) + "/"));
    }
    for (i, _) in layout.leaf_directories.iter().enumerate().filter(|(_, d)| d.exists) {
        into.insert(line(layout.leaf_directory_path(i) + "/"));
    }
    for (i, file) in layout.files.iter().enumerate().filter(|(_, f)| f.exists) {
        into.insert(line(format!("{} {}", layout.file_path(i), file.size)));
    }
}

/// Directories including the root, files, bytes, and the first digits of the SHA-256 of the listing of these trees, created in this
/// order.
fn digest(requests: &[(&str, LayoutRequest)]) -> (usize, usize, u64, String) {
    let mut state = LayoutState::default();
    let mut lines = BTreeSet::new();
    for (name, request) in requests {
        list(name, &Layout::new(request, &mut state).unwrap(), &mut lines);
    }
    let sizes = lines.iter().filter_map(|l| l.split_once(' ')).map(|(_, size)| size.parse::<u64>().unwrap());
    let sizes: Vec<u64> = sizes.collect();
    let listing: String = lines.iter().map(|l| l.clone() + "\n").collect();
    (lines.len() - sizes.len(), sizes.len(), sizes.iter().sum(), sha256_start(&listing))
}

fn assert_tree(request: LayoutRequest, directories: usize, files: usize, bytes: u64, sha: &str) {
    assert_eq!(digest(&[("fs", request)]), (directories, files, bytes, sha.to_owned()));
}

/// A variable as Filebench has it: one stream, wherever it is drawn.
struct TestVariable {
    drawing: Drawing,
    mean: f64,
    stream: RefCell<Rand48>,
}

impl TestVariable {
    fn new(seed: u64, round: u64, shape: Shape) -> Self {
        let variable = RandomVariable { round, ..RandomVariable::new(shape) };
        Self {
            drawing: Drawing::new(&variable).unwrap(),
            mean: variable.mean(),
            stream: RefCell::new(Rand48::new(seed)),
        }
    }

    fn draw(&self) -> impl Fn(&mut Rand48) -> f64 {
        |_| self.drawing.draw_with(|| self.stream.borrow_mut().unit())
    }
}

fn gamma(shape: f64, mean: f64, offset: f64) -> Shape {
    Shape::Gamma { shape, mean, offset }
}

fn uniform(mean: f64, low: f64) -> Shape {
    Shape::Uniform { low, high: low + 2.0 * (mean - low) }
}

/// Figures from Filebench 1.5 with the same attributes.
#[test]
fn filebench_trees() {
    let kib16 = |request| LayoutRequest { size: Amount::Fixed(16384), ..request };
    assert_tree(kib16(request(100, 5, 1500, 80)), 32, 85, 1_392_640, "11c672b0bf1c66f4");
    assert_tree(kib16(request(1000, 20, 1500, 100)), 61, 1000, 16_384_000, "7897bb4359f89b00");
    assert_tree(kib16(request(1000, 20, 0, 80)), 51, 805, 13_189_120, "b82465ca7178b177");
    assert_tree(kib16(request(10000, 20, 1500, 80)), 546, 7979, 130_727_936, "36a42ee4b419a248");
    assert_tree(request(300, 7, 700, 50), 51, 163, 1630, "46d6650d78a195fd");
    assert_tree(request(300, 7, 1000, 50), 47, 163, 1630, "ac94ea244614fa30");
    assert_tree(request(300, 4, 5000, 50), 87, 163, 1630, "743bba0afa7020d9");
    assert_tree(request(3000, 2, 100, 99), 1261, 2966, 29660, "f6d8ce83b5f72baa");
    assert_tree(request(300, 3, 0, 1), 151, 4, 40, "75d5f206b399e15b");
    assert_tree(leaves(200, 6, 60), 172, 0, 0, "7db07c6cdc198c4b");
    assert_tree(leaves(200, 6, 100), 248, 0, 0, "adb3f86c00e57d97");
    assert_tree(leaves(200, 6, 0), 48, 0, 0, "3e9717b0995f99b4");
}

/// Widths of 0 and 1 make the mean depth zero and infinite.
#[test]
fn filebench_trees_without_a_proper_depth() {
    assert_tree(request(50, 0, 1500, 50), 51, 28, 280, "0f2ed1456d783acb");
    assert_tree(request(50, 1, 1500, 50), 40, 28, 280, "770abc633df61e00");
    assert_tree(request(50, 1, 0, 50), 51, 28, 280, "0f2ed1456d783acb");
}

#[test]
fn filebench_trees_of_random_width() {
    let tree = |gamma_thousandths, variable: &TestVariable| {
        let draw = variable.draw();
        let width = Amount::Drawn { mean: variable.mean, draw: &draw };
        digest(&[("fs", LayoutRequest { width, ..request(300, 0, gamma_thousandths, 50) })])
    };
    let want = |directories, sha: &str| (directories, 163, 1630, sha.to_owned());
    assert_eq!(tree(1500, &TestVariable::new(5, 0, uniform(3.0, 1.0))), want(120, "9b1d8ad0e0dd1f47"));
    assert_eq!(tree(0, &TestVariable::new(9, 0, gamma(1.5, 7.0, 1.0))), want(42, "d7c7c1bb6255e2d8"));
    let row = |low, high| Row { percent: 50.0, low, high };
    let rows = vec![row(1.0, 3.0), row(3.0, 7.0)];
    let table = Shape::Stretched { rows, mean: None, lowest: 0.0 };
    assert_eq!(tree(1500, &TestVariable::new(5, 0, table)), want(112, "6e968a48144fe9ac"));
}

#[test]
fn filebench_trees_of_random_depth() {
    let tree = |gamma_thousandths, shape: fn(f64) -> Shape| {
        let plain = request(300, 4, gamma_thousandths, 50);
        let variable = TestVariable::new(5, 0, shape(plain.mean_depth()));
        let draw = variable.draw();
        digest(&[("fs", LayoutRequest { depth: Some(&draw), ..plain })])
    };
    assert_eq!(tree(1500, |mean| gamma(1.5, mean, 0.0)), (92, 163, 1630, "13a804884a4383ff".into()));
    assert_eq!(tree(0, |mean| uniform(mean, 2.0)), (102, 163, 1630, "d8f6e53fb7ebd4ca".into()));
}

#[test]
fn filebench_trees_of_random_sizes() {
    let tree = |variable: &TestVariable| {
        let draw = variable.draw();
        let size = Amount::Drawn { mean: variable.mean, draw: &draw };
        digest(&[("fs", LayoutRequest { size, ..request(300, 4, 1500, 50) })])
    };
    let want = |bytes, sha: &str| (89, 163, bytes, sha.to_owned());
    let plain = TestVariable::new(5, 0, gamma(2.5, 5000.0, 100.0));
    assert_eq!(tree(&plain), want(826_992, "62300f4ce91c7bd2"));
    let rounded = TestVariable::new(77, 64, gamma(0.4, 5000.0, 0.0));
    assert_eq!(tree(&rounded), want(798_592, "6959faab4315b50c"));
    let row = |percent, low, high| Row { percent, low, high };
    let rows = vec![row(20.0, 5.0, 10.0), row(30.0, 1.0, 3.0), row(50.0, 100.0, 700.0)];
    let table = Shape::Stretched { rows, mean: Some(3000.0), lowest: 100.0 };
    assert_eq!(tree(&TestVariable::new(77, 10, table)), want(524_220, "139233aa92ed700a"));
}

#[test]
fn one_variable_for_all_of_a_filebench_tree() {
    let variable = TestVariable::new(5, 0, gamma(1.5, 5.0, 0.0));
    let draw = variable.draw();
    let drawn = Amount::Drawn { mean: variable.mean, draw: &draw };
    let both = LayoutRequest { width: drawn, size: drawn, ..request(300, 0, 1500, 50) };
    assert_eq!(digest(&[("fs", both)]), (77, 163, 765, "80c2c5f507b156b8".into()));

    // If it is also the depth, its mean becomes the depth's for every use.
    let variable = TestVariable::new(5, 0, gamma(1.5, both.mean_depth(), 0.0));
    let draw = variable.draw();
    let drawn = |mean| Amount::Drawn { mean, draw: &draw };
    let all = LayoutRequest { width: drawn(5.0), size: drawn(5.0), depth: Some(&draw), ..both };
    assert_eq!(digest(&[("fs", all)]), (88, 163, 519, "d1eb3869a82dd7ef".into()));
}

/// A custom variable of type cvar-gamma draws from the same stream as the tree, and two trees of a run share that stream.
#[test]
fn sizes_from_the_stream_of_the_process() {
    let size = |mean| Drawing::new(&RandomVariable::new(gamma(1.5, mean, 0.0))).unwrap();
    let mut state = LayoutState::default();
    let mut sizes = |mean, request: LayoutRequest| -> Vec<(String, u64)> {
        let drawing = size(mean);
        let draw = |process: &mut Rand48| drawing.draw_with(|| process.unit());
        let request = LayoutRequest { size: Amount::Drawn { mean, draw: &draw }, ..request };
        let layout = Layout::new(&request, &mut state).unwrap();
        layout.files.iter().enumerate().map(|(i, f)| (layout.file_path(i), f.size)).collect()
    };
    let seen = [("1/1", 524), ("1/2", 1987), ("1/3", 1595), ("1/4", 6617), ("2/1", 2315), ("2/2", 1181)];
    let seen = seen.map(|(path, size)| (format!("0000000{}", path.replace('/', "/0000000")), size));
    assert_eq!(sizes(4096.0, request(6, 5, 1500, 100)), seen);
    let (_, one) = sizes(2f64.powi(60), request(1, 5, 0, 0))[0];
    assert_eq!(format!("{:.3}", one as f64 / 1048576.0), "706627344008.390");
}

/// Filebench creates the set defined last first.
#[test]
fn several_trees_of_a_run_draw_in_turn() {
    let sized = |bytes, request| LayoutRequest { size: Amount::Fixed(bytes), ..request };
    let sets = [
        ("fc", leaves(50, 5, 30)),
        ("fb", sized(77, request(1, 10, 0, 100))),
        ("fs", sized(11, request(200, 6, 1500, 0))),
        ("fa", request(100, 5, 1500, 40)),
    ];
    assert_eq!(digest(&sets), (102, 44, 507, "d72675efb1481860".into()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn every_tree_is_whole(
        (entries, width, thousandths) in (0u64..400, 0u64..40, prop_oneof![Just(0u32), 1u32..6000]),
        (percent, of_leaves, draws_before) in (0u8..=100, any::<bool>(), 0usize..50),
    ) {
        let plain = if of_leaves { leaves(entries, width, percent) } else { request(entries, width, 0, percent) };
        let request = LayoutRequest { gamma_thousandths: thousandths, ..plain };
        let mut state = LayoutState::default();
        (0..draws_before).for_each(|_| { state.rand48.unit(); });
        let layout = Layout::new(&request, &mut state.clone()).unwrap();
        prop_assert_eq!(&layout.files, &Layout::new(&request, &mut state).unwrap().files);

        let (files, empty) = (layout.files.len(), layout.leaf_directories.len());
        prop_assert_eq!((files as u64, empty as u64), (request.entries, request.leaf_directories));
        prop_assert_eq!(layout.total_bytes(), 10 * request.entries);
        let reachable = layout.directories.iter().enumerate().skip(1).all(|(i, d)| (d.parent as usize) < i);
        prop_assert!(reachable, "a directory comes before its parent");
        let paths = (0..layout.directories.len()).map(|i| layout.directory_path(i))
            .chain((0..files).map(|i| layout.file_path(i)))
            .chain((0..empty).map(|i| layout.leaf_directory_path(i)));
        let distinct: BTreeSet<String> = paths.collect();
        prop_assert_eq!(distinct.len(), layout.directories.len() + files + empty);
        for path in distinct.iter().filter(|p| !p.is_empty()) {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            prop_assert!(distinct.contains(parent), "{} is nowhere", path);
        }

        let exist = layout.files.iter().filter(|f| f.exists).count()
            + layout.leaf_directories.iter().filter(|d| d.exists).count();
        match percent {
            0 => prop_assert_eq!(exist, 0),
            100 => prop_assert_eq!(exist as u64, entries),
            _ => prop_assert!(exist as u64 <= entries),
        }
    }
}

fn refused(request: &LayoutRequest) -> LayoutError {
    Layout::new(request, &mut LayoutState::default()).unwrap_err()
}

#[test]
fn impossible_trees_are_refused() {
    let both = LayoutRequest { leaf_directories: 1, ..request(1, 5, 0, 0) };
    assert_eq!(refused(&both), LayoutError::FilesAndLeafDirectories);
    assert_eq!(refused(&request(1, 5, 0, 101)), LayoutError::TooManyExist { percent: 101 });
    let entries = u64::MAX;
    assert_eq!(refused(&request(entries, 5, 0, 1)), LayoutError::TooManyEntries { entries });
    let message = refused(&request(entries, 5, 0, 1)).to_string();
    assert!(message.contains("18446744073709551615") && message.contains("2147483647"), "{message}");
}

#[test]
fn a_depth_that_no_path_has_room_for_is_refused_and_the_deepest_is_laid_out() {
    let depth = |depth: f64| move |_: &mut Rand48| depth;
    let (deepest, deeper) =
        (depth(f64::from(Layout::MOST_LEVELS) + 1.0), depth(f64::from(Layout::MOST_LEVELS) + 2.0));
    let request = request(2, 1, 0, 100);
    assert_eq!(refused(&LayoutRequest { depth: Some(&deeper), ..request }), LayoutError::TooDeep);
    let deep = LayoutRequest { depth: Some(&deepest), ..request };
    let layout = Layout::new(&deep, &mut LayoutState::default()).unwrap();
    assert_eq!(layout.file_path(0).len(), 9 * Layout::MOST_LEVELS as usize + 8);
}

#[test]
fn a_width_that_is_no_number_counts_as_one() {
    for value in [f64::NAN, -3.0, 0.0] {
        let draw = move |_: &mut Rand48| value;
        let width = Amount::Drawn { mean: 5.0, draw: &draw };
        let layout =
            Layout::new(&LayoutRequest { width, ..request(3, 0, 0, 100) }, &mut LayoutState::default());
        assert_eq!(layout.unwrap().files.len(), 3);
    }
}

#[test]
fn an_entry_stays_small_in_memory() {
    assert!(size_of::<FileEntry>() + 4 <= 32, "a million files with their directories are to fit 100 MB");
}
