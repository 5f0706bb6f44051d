//! Jobs that end when their figures are steady: how long they last, and what is reported, compared with fio where it is installed.

use crate::fio::support::{fio_is_here, json, run, their_json};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

/// The criterion as fio's own test computes it from the printed figures: the slope, or the largest distance from the mean.
fn computed(state: &Value, key: &str, slope: bool, percent: bool) -> f64 {
    let figures: Vec<f64> = state["data"][key]
        .as_array()
        .expect("a list")
        .iter()
        .map(|n| n.as_f64().expect("a number"))
        .collect();
    let n = figures.len() as f64;
    let mean = figures.iter().sum::<f64>() / n;
    let figure = if slope {
        let places = (0..figures.len()).map(|i| i as f64 - (n - 1.0) / 2.0);
        let squares: f64 = places.clone().map(|x| x * x).sum();
        places.zip(&figures).map(|(x, y)| x * (y - mean)).sum::<f64>() / squares
    } else {
        figures.iter().map(|y| (y - mean).abs()).fold(0.0, f64::max)
    };
    if percent && mean > 0.0 { figure / mean * 100.0 } else { figure }
}

fn criterion(state: &Value) -> f64 {
    state["criterion"].as_str().expect("a text").trim_end_matches('%').parse().expect("a number")
}

#[test]
fn a_job_ends_when_it_is_steady_and_says_why() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --ioengine=null --size=1g --rw=randread --rate_iops=1000 --time_based --runtime=60 --ss=iops:90% \
                --ss_dur=2 --ss_ramp=1";
    let document = json(&fathom, line);
    let job = &document["jobs"][0];
    let state = &job["steadystate"];
    assert_eq!((state["ss"].as_str(), state["duration"].as_u64()), (Some("iops:90.000000%"), Some(2)));
    assert_eq!(state["attained"].as_u64(), Some(1), "{state}");
    let runtime = job["read"]["runtime"].as_u64().unwrap();
    assert!((3000..50_000).contains(&runtime), "{runtime}");
    assert_eq!(state["data"]["iops"].as_array().map(Vec::len), Some(2));
    let wanted = computed(state, "iops", false, true);
    assert!((criterion(state) - wanted).abs() < 0.001, "{state}: {wanted}");
    let text = run(&fathom, line).expect_code(0).stdout;
    assert!(text.contains("  steadystate  : attained=yes, bw="), "{text}");
}

#[test]
fn what_is_not_steady_runs_to_its_end() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --ioengine=null --size=1g --rw=randrw --numjobs=2 --group_reporting --time_based --runtime=1 \
                --ss=bw_slope:0.1% --ss_dur=4";
    let document = json(&fathom, line);
    let jobs = document["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 1);
    let state = &jobs[0]["steadystate"];
    assert_eq!((state["attained"].as_u64(), state["criterion"].as_str()), (Some(0), Some("0.000000%")));
    assert_eq!(state["data"]["bw"].as_array().map(Vec::len), Some(4));
    assert!((950..10_000).contains(&jobs[0]["read"]["runtime"].as_u64().unwrap()));
}

#[test]
fn one_job_ends_and_the_other_goes_on() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--ioengine=null --size=1g --rw=randread --rate_iops=1000 --time_based --runtime=5 --name=a --ss=iops:90% \
                --ss_dur=2 --name=b";
    let document = json(&fathom, line);
    let runtime = |job: usize| document["jobs"][job]["read"]["runtime"].as_u64().unwrap();
    assert!(runtime(0) < runtime(1) && runtime(1) >= 4900, "{} {}", runtime(0), runtime(1));
    assert!(document["jobs"][1]["steadystate"].is_null());
}

#[test]
fn debugging_output_says_how_a_threshold_was_read() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for (value, sentence) in [
        ("iops:10", "set steady state IOPS threshold to 10.000000\n"),
        ("bw:.1%", "set steady state threshold to 0.100000%\n"),
        ("bw:12", "set steady state BW threshold to 12\n"),
    ] {
        let line = format!("--parse-only --debug=parse --ss_dur=10s --ss={value} --ss_ramp=5");
        let said = run(&fathom, &line).expect_code(0).stdout;
        assert!(said.contains(sentence), "{value}: {said}");
    }
}

/// The keys of an object, in order, with those of the objects in it.
fn keys(value: &Value) -> Vec<String> {
    let Some(object) = value.as_object() else { return Vec::new() };
    object.iter().flat_map(|(key, inner)| std::iter::once(key.clone()).chain(keys(inner))).collect()
}

#[test]
fn the_object_has_the_keys_and_words_of_fio() {
    if !fio_is_here("the_object_has_the_keys_and_words_of_fio") {
        return;
    }
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for ss in ["iops_slope:0.5", "bw:100k", "iops:3%"] {
        let line = format!("--name=a --ioengine=null --size=64k --ss={ss} --ss_dur=2");
        let (ours, theirs) = (json(&fathom, &line), their_json(dir.path(), &line));
        let of = |document: &Value| document["jobs"][0]["steadystate"].clone();
        assert_eq!(keys(&of(&ours)), keys(&of(&theirs)), "{ss}");
        for key in ["ss", "duration", "attained", "criterion", "max_deviation", "slope"] {
            assert_eq!(of(&ours)[key], of(&theirs)[key], "{ss}: {key}");
        }
    }
}
