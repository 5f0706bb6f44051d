//! A known history from end to end: judged, worded and written in every format.

use super::samples::{RATES, event, given, history, input, run};
use super::*;
use crate::compared::Outcome;
use fathom_record::imported::units;

#[test]
fn a_change_is_found_with_what_differs_there() {
    let found = history();
    let series = &found.series[0];
    assert_eq!(series.changes.len(), 1);
    let change = &series.changes[0];
    assert_eq!((change.first_new, change.verdict), (12, Word::Worse));
    assert_eq!(
        (change.last_old.id.as_str(), change.first_new_run.id.as_str()),
        (run(11).id.as_str(), run(12).id.as_str())
    );
    let differs: Vec<&str> = change.differs.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(differs, ["label", "kernel"]);
    let nearby: Vec<&str> = change.nearby.iter().map(|a| a.what.name.as_str()).collect();
    assert_eq!(nearby, ["cpu.governor"]);
    let apart: Vec<(usize, &str)> =
        series.environment.iter().map(|a| (a.first_new, a.what.name.as_str())).collect();
    assert_eq!(apart, [(5, "devices.0.scheduler")]);
    let far: Vec<usize> = (0..24).filter(|i| series.points[*i].outlier).collect();
    assert_eq!(far, [8], "kept and named");
    assert_eq!((series.segments[0].runs, series.segments[1].runs), (12, 12));
    assert_eq!(
        series.overview.as_deref().map(<[usize]>::len),
        Some(series.overview.as_ref().map_or(0, Vec::len))
    );
    let gate = HistoryGate::of(&found);
    assert_eq!(gate.outcome, Outcome::Regression);
    assert!(
        gate.sentence.contains("1 of 1 figure is worse than the one before by 1 % or more"),
        "{}",
        gate.sentence
    );
}

#[test]
fn nothing_recorded_is_said_to_be_nothing() {
    let mut bare = input(&RATES);
    bare.events.clear();
    let text = text(&History::of(&bare, &HistoryOptions::default()), 80);
    assert!(text.contains("nothing recorded changed"), "{text}");
}

#[test]
fn lower_is_better_turns_the_words() {
    let mut slower = input(&RATES);
    slower.series = vec![
        given("read p99", units::NS, Some(false), &RATES),
        given("page faults", units::COUNT, Some(false), &RATES),
        given("size", units::BYTES, None, &RATES),
    ];
    let found = History::of(&slower, &HistoryOptions::default());
    let words: Vec<&str> =
        found.series.iter().map(|s| s.changes[0].sentence.split_whitespace().next().unwrap_or("")).collect();
    assert_eq!(words, ["Faster", "Better", "Lower"]);
    assert_eq!(HistoryGate::of(&found).outcome, Outcome::Passed);
}

#[test]
fn a_short_history_says_how_many_runs_it_takes() {
    let found = History::of(&input(&RATES[..7]), &HistoryOptions::default());
    assert_eq!(found.series[0].needed, Some(10));
    assert_eq!(
        found.series[0].sentence,
        "7 runs are too few: a change can be shown from 10 runs on (segments of 3 or more, level 1 %)."
    );
    assert_eq!(HistoryGate::of(&found).outcome, Outcome::NotEnoughData);
    let none = History::of(&input(&[]), &HistoryOptions::default());
    assert!(text(&none, 80).contains("No run has a value"));
    assert!(
        text(&History::of(&input(&RATES[..1]), &HistoryOptions::default()), 80).contains("1 run is too few")
    );
}

#[test]
fn without_a_change_it_is_said_what_may_be_missed() {
    let found = History::of(&input(&RATES[12..]), &HistoryOptions::default());
    let sentence = &found.series[0].sentence;
    assert!(
        sentence.starts_with(
            "No change found in 12 runs; the level is 497 MiB/s, and single runs scatter by 0.4 %."
        ),
        "{sentence}"
    );
    assert!(
        sentence.ends_with("A step of less than about 1.2 %, or one in the last 2 runs, may be missed."),
        "{sentence}"
    );
}

#[test]
fn in_ten_or_eleven_runs_a_step_takes_four() {
    for (runs, may_be_missed) in [(10, 3), (11, 3), (12, 2)] {
        let sentence =
            &History::of(&input(&RATES[12..12 + runs]), &HistoryOptions::default()).series[0].sentence;
        let said = format!("or one in the last {may_be_missed} runs, may be missed.");
        assert!(sentence.ends_with(&said), "{runs}: {sentence}");
    }
}

/// Runs that swing slowly by 1 % around a level, which halves at run `from`.
fn swinging(runs: usize, from: usize) -> Vec<f64> {
    let at = |i: usize| 500.0 + 5.0 * (i as f64 * 0.7).sin();
    (0..runs).map(|i| if i < from { at(i) } else { at(i) / 2.0 }).collect()
}

#[test]
fn a_large_step_of_a_short_history_that_drifts_is_told_in_doubt_and_not_passed() {
    for (runs, from) in [(20, 10), (20, 16), (24, 12), (24, 20)] {
        let found = History::of(&input(&swinging(runs, from)), &HistoryOptions::default());
        let series = &found.series[0];
        assert!(series.drifts, "{runs}");
        let at: Vec<(usize, bool)> = series.changes.iter().map(|c| (c.first_new, c.doubtful)).collect();
        assert_eq!(at, [(from, true)], "{runs}");
        let sentence = &series.changes[0].sentence;
        assert!(sentence.starts_with("Perhaps slower by ") && sentence.contains("In doubt: "), "{sentence}");
        assert!(series.sentence.starts_with("1 change (1 in doubt) in "), "{}", series.sentence);
        let gate = HistoryGate::of(&found);
        assert_eq!(gate.outcome, Outcome::NotEnoughData, "{}", gate.sentence);
        assert!(gate.sentence.contains("1 of 1 figure may be worse"), "{}", gate.sentence);
        let drawn = picture(series).expect("runs").standalone();
        assert!(drawn.contains(" %?"), "the number has a question mark");
    }
    // A certain change counts, whatever else is doubtful.
    let mut both = input(&swinging(24, 12));
    let mut sure = both.series[0].clone();
    sure.metric = "operations per second".into();
    sure.values = input(&RATES).series[0].values.clone();
    both.series.push(sure);
    assert_eq!(HistoryGate::of(&History::of(&both, &HistoryOptions::default())).outcome, Outcome::Regression);
    // A doubtful gain is no regression either way.
    let faster: Vec<f64> = swinging(24, 12).iter().map(|v| 1e5 / v).collect();
    assert_eq!(
        HistoryGate::of(&History::of(&input(&faster), &HistoryOptions::default())).outcome,
        Outcome::Passed
    );
}

#[test]
fn a_long_history_that_drifts_has_its_step_for_sure() {
    let found = History::of(&input(&swinging(80, 40)), &HistoryOptions::default());
    let series = &found.series[0];
    assert!(
        series.drifts && series.changes.iter().any(|c| c.first_new == 40 && !c.doubtful),
        "{:?}",
        series.changes
    );
    assert_eq!(HistoryGate::of(&found).outcome, Outcome::Regression);
}

#[test]
fn figures_without_a_ratio_are_left_out_and_counted() {
    let mut rates = RATES.to_vec();
    rates[3] = 0.0;
    rates[4] = f64::NAN;
    let found = History::of(&input(&rates), &HistoryOptions::default());
    let series = &found.series[0];
    assert_eq!((series.points.len(), series.without_ratio), (22, 2));
    // The scheduler changed between the third and the fourth remaining point.
    assert_eq!(series.environment[0].first_new, 3);
    assert!(
        found.notices.iter().any(|n| n.contains("2 runs left out: a value that is zero")),
        "{:?}",
        found.notices
    );
}

#[test]
fn what_changes_all_the_time_is_not_listed_one_by_one() {
    let mut restless = input(&RATES);
    for i in 1..20 {
        let (from, to) = (format!("b{}", i - 1), format!("b{i}"));
        restless.events.push(event(i, "boot_id", &from, &to));
    }
    restless.events.sort_by_key(|e| e.run);
    let series = &History::of(&restless, &HistoryOptions::default()).series[0];
    assert_eq!(series.restless, [Restless { name: "boot_id".into(), changes: 19 }]);
    assert!(series.environment.iter().all(|a| a.what.name != "boot_id"));
    assert_eq!(
        series.changes[0].differs.last().map(|d| d.name.as_str()),
        Some("boot_id"),
        "but told at a change, last"
    );
}

#[test]
fn there_and_back_between_two_points_is_no_change() {
    let mut back = input(&RATES);
    back.series[0].values.retain(|(run, _)| *run != 5);
    back.events = vec![event(5, "kernel", "6.1", "6.2"), event(6, "kernel", "6.2", "6.1")];
    assert!(History::of(&back, &HistoryOptions::default()).series[0].environment.is_empty());
}

#[test]
fn many_figures_bring_false_alarms_and_a_table() {
    let mut many = input(&RATES[12..]);
    let calm = many.series[0].clone();
    many.series = (0..8)
        .map(|n| {
            let mut series = calm.clone();
            series.cell.axes.record_bytes = Some(4096 << n);
            series
        })
        .collect();
    let found = History::of(&many, &HistoryOptions::default());
    assert!(found.notices.iter().any(|n| n.starts_with("8 figures were searched")), "{:?}", found.notices);
    let text = text(&found, 80);
    assert!(text.contains("8 figures without a change found:") && !text.contains('┤'), "{text}");
}

#[test]
fn the_page_begins_with_the_level_of_now_and_the_one_before() {
    let tiles = |found: &History| {
        let html = crate::html::document(&crate::documents::history(found, None));
        let tiles = html.split("<ul class=\"tiles\">").nth(1).expect("tiles").to_owned();
        tiles[..tiles.find("</ul>").expect("their end")].to_owned()
    };
    let found = history();
    let [before, now] = &found.series[0].segments[..] else { panic!("a change") };
    let told = tiles(&found);
    for level in [before, now] {
        let level = crate::compared::spelled(level.median, &found.series[0].unit);
        assert!(told.contains(&level), "{level} is missing: {told}");
    }
    assert!(told.contains("<small>median since ") && told.contains(" before</small>"), "{told}");
    let few = History::of(&input(&RATES[..3]), &HistoryOptions::default());
    assert!(tiles(&few).contains("median of 3 runs, too few to find a change"));
    let calm = History::of(&input(&RATES[12..]), &HistoryOptions::default());
    assert!(tiles(&calm).contains("no change found"), "{}", tiles(&calm));
}

#[test]
fn a_hostile_name_stays_text() {
    let mut hostile = input(&RATES);
    hostile.workload.name = "</script><b>\u{1b}[31m".into();
    hostile.events[1].to = "<img src=x>|`".into();
    let found = History::of(&hostile, &HistoryOptions::default());
    let html = crate::html::document(&crate::documents::history(&found, None));
    assert!(
        !html.contains("<b>\u{1b}") && !html.contains("<img") && html.contains("&lt;img"),
        "markup came through"
    );
    assert!(!text(&found, 80).contains('\u{1b}'));
    assert!(!crate::markdown::document(&crate::documents::history(&found, None)).contains("<img"));
    let svg = picture(&found.series[0]).expect("24 runs").standalone();
    assert!(!svg.contains("<img") && !svg.contains("NaN"));
}

#[test]
fn the_forms_are_as_they_were() {
    let found = history();
    insta::assert_snapshot!("text", text(&found, 80));
    insta::assert_snapshot!("markdown", crate::markdown::document(&crate::documents::history(&found, None)));
    let (mut table, mut document) = (Vec::new(), Vec::new());
    csv(&mut table, &found).expect("memory");
    json(&mut document, [], Some(&found), Some(&HistoryGate::of(&found))).expect("memory");
    insta::assert_snapshot!("csv", String::from_utf8_lossy(&table));
    insta::assert_snapshot!("json", String::from_utf8_lossy(&document));
    insta::assert_snapshot!("svg", picture(&found.series[0]).expect("24 runs").standalone());
}

#[test]
fn a_long_history_is_drawn_in_columns() {
    let rates: Vec<f64> = (0..4000).map(|i| 500.0 + f64::from(i * 7919 % 101) / 20.0).collect();
    let found = History::of(&input(&rates), &HistoryOptions::default());
    let svg = picture(&found.series[0]).expect("runs").standalone();
    assert!(svg.len() < 120_000 && !svg.contains("<circle"), "{}", svg.len());
    let lines = text(&found, 80);
    assert!(lines.lines().all(|l| l.chars().count() < 220), "{lines}");
}

#[test]
fn the_list_has_a_line_for_every_workload() {
    let listed = Listed {
        workload: input(&RATES).workload,
        runs: 24,
        left_out: 3,
        first: Some(run(0)),
        last: Some(run(23)),
        latest: None,
    };
    let mut rows = ListLines::default();
    rows.push(&listed);
    rows.push(&Listed::default());
    let text: String = rows.lines().collect();
    assert!(text.contains("24 (+3)  2026-10-01 02:00  2026-10-12 14:00"), "{text}");
    assert!(text.contains("(+n): 3 runs that did not end well"), "{text}");
    let mut document = Vec::new();
    json(&mut document, [Listed::default(), Listed::default()], None, None).expect("memory");
    let read: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
    assert_eq!(read["workloads"].as_array().map(Vec::len), Some(2), "{read}");
}
