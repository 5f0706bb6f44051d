//! A run comes back from the store as it was written.

use super::*;
use proptest::prelude::*;

#[test]
fn a_saved_run_comes_back() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.save(&sample_run()).expect("saves");
    assert_eq!(store.load("last").expect("loads"), sample_run());
    store.close().expect("closes");
    assert_eq!(Store::open(&path).expect("opens again").load("2026").expect("loads"), sample_run());
}

#[test]
fn a_histogram_at_the_end_of_the_range_comes_back() {
    let (_dir, path) = scratch();
    let mut run = sample_run();
    let edges = [0, 1, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, u64::MAX, u64::MAX];
    run.phases[0].repetitions[0].workers[0].stats[0].latency = Histogram::from_values(edges);
    let mut store = Store::open(&path).expect("opens");
    store.save(&run).expect("saves");
    assert_eq!(store.load("last").expect("loads"), run);
}

#[test]
fn a_run_of_several_rounds_comes_back_to_its_phases() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path().join("s.db")).unwrap();
    let mut run = sample_run();
    store.begin(&run).unwrap();
    for phase in &mut run.phases {
        let first = phase.repetitions[0].clone();
        phase.repetitions = vec![Repetition { n: 0, ..first.clone() }];
        store.append_phase(&run.id, phase).unwrap();
        phase.repetitions.push(Repetition { n: 1, elapsed_ns: 77, ..first });
        store.append_phase(&run.id, phase).unwrap();
    }
    store.finish(&run).unwrap();
    assert_eq!(store.load("last").unwrap(), run);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_run_comes_back_from_the_store(run in any_run()) {
        let mut store = Store::open(":memory:").expect("opens");
        store.save(&run).expect("saves");
        prop_assert_eq!(store.load(&run.id).expect("loads"), run);
    }
}
