//! Many runs read at once agree with each read by itself.

use super::*;
use crate::figures::{self, Series};
use crate::{Figure, Source};
use proptest::prelude::*;

fn imported(id: &str) -> Run {
    let mut run = run_named(id);
    run.phases.truncate(1);
    let figure = |name: &str, value: f64| Figure {
        name: name.into(),
        value,
        unit: "bytes/s".into(),
        printed: format!("{value} B/s"),
        higher_is_better: Some(true),
        line: 3,
    };
    run.phases[0].repetitions = vec![Repetition {
        figures: vec![figure("throughput", 7.0), figure("throughput", 8.5), figure("own word", 0.0)],
        ..Repetition::default()
    }];
    run.source = Some(Source {
        file: "mail.txt".into(),
        program: "IOzone 3.283".into(),
        first_line: 2,
        last_line: 9,
        not_understood: vec![4],
    });
    run
}

fn rates_only(mut all: Vec<Series>) -> Vec<Series> {
    all.retain(|s| s.values.iter().all(|v| v.count.is_none()));
    all
}

#[test]
fn figures_are_those_of_the_whole_run() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    let mut whole = run_named("a");
    for worker in whole.phases.iter_mut().flat_map(|p| &mut p.repetitions).flat_map(|r| &mut r.workers) {
        worker.ending = Ending::Completed;
    }
    let runs = [whole, run_named("b"), imported("c")];
    for run in &runs {
        store.save(run).expect("saves");
    }
    // In the requested order, and only those.
    let found = store.figures_of(&["c", "b"], true).expect("reads");
    assert_eq!(found, [figures::of(&runs[2]), figures::of(&runs[1])]);
    assert_eq!(store.figures_of(&["a"], true).expect("reads"), [figures::of(&runs[0])]);
    assert_eq!(store.figures_of(&["a"], false).expect("reads"), [rates_only(figures::of(&runs[0]))]);
    assert_eq!(store.figures_of(&["not there"], true).expect("reads"), [Vec::new()]);
    assert!(store.figures_of(&[], true).expect("reads").is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn of_any_run(run in any_run()) {
        let (_dir, path) = scratch();
        let mut store = Store::open(&path).expect("opens");
        store.save(&run).expect("saves");
        let found = store.figures_of(&[&run.id], false).expect("reads");
        // Compared as text, because NaN is not equal to itself.
        prop_assert_eq!(format!("{:?}", found[0]), format!("{:?}", rates_only(figures::of(&run))));
    }
}

#[test]
fn the_past_knows_what_tells_workloads_apart() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    let mut first = run_named("a");
    first.environment = serde_json::json!({"hostname": "db1", "filesystem": {"mount_point": "/data"}, "cold": "files", "sweep": {"settings": {"scheduler": "bfq"}}});
    let mut second = Run { workload: "name = \"other\"".into(), ..run_named("b") };
    second.environment = serde_json::json!({"filesystem": "Local"});
    let mut third = imported("c");
    third.environment = second.environment.clone();
    third.workload.clone_from(&second.workload);
    let mut fourth = run_named("d");
    fourth.environment =
        serde_json::json!({"comparison": {"part": "warm-up", "settings": {"scheduler": "none"}}});
    let simulated = Run { simulation: Some(crate::Simulation::default()), ..run_named("e") };
    for run in [&first, &second, &third, &fourth, &simulated] {
        store.save(run).expect("saves");
    }
    let past = store.past().expect("reads");
    let [a, b, c, d] = &past.runs[..] else { panic!("{past:?}") };
    let (of_a, of_b, of_d) = (&a.made, &b.made, &d.made);
    assert_eq!(
        (of_d.settings.as_deref(), of_d.part.as_deref()),
        (Some("{\"scheduler\":\"none\"}"), Some("warm-up"))
    );
    assert_eq!((of_a.cold.as_deref(), of_b.cold.as_deref()), (Some("files"), None));
    assert_eq!((of_a.part.as_deref(), past.newest_simulated.as_deref()), (None, Some("e")));
    assert_eq!((of_a.host.as_deref(), of_a.mount_point.as_deref()), (Some("db1"), Some("/data")));
    assert_eq!(of_a.settings.as_deref(), Some("{\"scheduler\":\"bfq\"}"));
    assert_eq!(
        (of_b.host.as_deref(), of_b.mount_point.as_deref(), of_b.settings.as_deref()),
        (None, None, None)
    );
    assert_eq!((&*a.argv, &a.started_at, a.status), (&*first.argv, &first.started_at, first.status));
    let mut workloads = Vec::new();
    store.each_workload(|id, model| workloads.push((id, model.to_owned()))).expect("reads");
    assert!(workloads.is_sorted() && workloads.contains(&(a.workload, first.workload.clone())));
    assert!(a.workload != b.workload && b.workload == c.workload);
    let source = c.source.as_ref().expect("imported");
    assert_eq!((source.file.as_str(), source.first_line, source.last_line), ("mail.txt", 2, 9));
    let mut seen = Vec::new();
    let three = [a, b, c].map(|run| (run.id.as_str(), run.environment));
    store.each_environment(three, |n, e| seen.push((n, e))).expect("reads");
    assert_eq!(seen, [(0, Some(first.environment)), (1, Some(second.environment)), (2, None)]);
    assert!(store.each_environment([("x", 99)], |_, _| ()).is_err());
}
