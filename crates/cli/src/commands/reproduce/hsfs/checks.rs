//! Tolerances over several figures: shares, ratios, orders, and the goals of the modern policy. They were stated in the
//! specification before the first simulation.

use super::cases::{COLUMNS, Column, Job, LARGE};
use super::published::{CPIO, MIXED, TAR, UNFAIR};
use super::table::CaseOutcomes;
use super::texts::READERS;
use super::walks::WalkOrder;
use fathom_sim::reproduce::Check;

/// Indices of the tests.
const RANDOM_2K: usize = 0;
const MULTI_8K: usize = 8;
const MULTI_32K: usize = 9;
const MIXED_TEST: usize = 11;

fn check(stated: impl Into<String>, found: String, holds: bool) -> Check {
    Check { stated: stated.into(), found, holds }
}

pub(super) fn all(runs: &CaseOutcomes) -> Vec<Check> {
    let mut all = vec![sizes(runs), pool(runs), slow_before(runs)];
    all.extend([no_loss(runs), in_flight(runs), lock_held(runs), long_deadline(runs), lock_free(runs)]);
    all.extend([fair(runs), winners(runs)]);
    all.extend([
        ratio(
            runs,
            "cpio of a DVD: enhanced over baseline 0.70 to 0.85",
            0.70..=0.85,
            CPIO.published,
            Job::Cpio,
        ),
        ratio(runs, "tar of it: enhanced over baseline 0.88 to 0.95", 0.88..=0.95, TAR.published, |column| {
            Job::Tar(column, WalkOrder::Listed)
        }),
    ]);
    all.extend([modern_requests(runs), modern_streams(runs), modern_large(runs)]);
    all.extend([
        modern_tar(runs, "in the order of the disc", WalkOrder::Disc, 0.35),
        modern_tar(runs, "in the order of the directories", WalkOrder::Listed, 0.7),
    ]);
    all
}

fn sizes(runs: &CaseOutcomes) -> Check {
    let percent = runs.of(Job::Dd(Column::Enhanced)).requests.percent_in(16 << 10);
    check(
        "dd, enhanced: at least 99.9 % of the bytes in requests of 16 KiB",
        format!("{percent:.3} %"),
        percent >= 99.9,
    )
}

fn pool(runs: &CaseOutcomes) -> Check {
    let requests = &runs.of(Job::Dd(Column::Enhanced)).requests;
    let (all, pool) = (requests.count(), requests.of_pool());
    check(
        "dd, enhanced: at least 99.9 % of the requests given by the pool (published: 65,694 and 13 by dd)",
        format!("{pool}, and {} by dd", all - pool),
        pool as f64 >= all as f64 * 0.999,
    )
}

fn slow_before(runs: &CaseOutcomes) -> Check {
    let dd = runs.of(Job::Dd(Column::Baseline));
    let bytes: u64 = dd.intervals.iter().map(|row| row.bytes).sum();
    let seconds: f64 = dd.intervals.iter().map(|row| row.ns as f64 / 1e9).sum();
    let mb_s = bytes as f64 / 1e6 / seconds.max(1e-9);
    check("baseline: at most 3.4 MB/s, whatever the disc", format!("{mb_s:.2} MB/s"), mb_s <= 3.4)
}

fn random(runs: &CaseOutcomes, column: Column) -> f64 {
    runs.of(Job::Text(RANDOM_2K, column)).per_s()
}

fn no_loss(runs: &CaseOutcomes) -> Check {
    let (before, after) = (random(runs, Column::Baseline), random(runs, Column::Enhanced));
    let ratio = after / before;
    check(
        "random 2 KiB: enhanced loses nothing (at least 0.98 of baseline)",
        format!("{after:.2} of {before:.2} ops/s: {ratio:.3}"),
        ratio >= 0.98,
    )
}

fn in_flight(runs: &CaseOutcomes) -> Check {
    let deepest = runs.of(Job::Text(RANDOM_2K, Column::Enhanced)).deepest;
    check(
        format!(
            "random 2 KiB, enhanced: the lock is released, so all {READERS} readers' requests reach the driver"
        ),
        format!("{deepest} at once"),
        deepest == READERS,
    )
}

fn lock_held(runs: &CaseOutcomes) -> Check {
    let held = runs.of(Job::Lock(500, false)).per_s();
    let loss = (1.0 - held / random(runs, Column::Baseline)) * 100.0;
    check(
        "random 2 KiB before the lock was released: 25 to 40 % slower than baseline",
        format!("{held:.2} ops/s: {loss:.1} %"),
        (25.0..=40.0).contains(&loss),
    )
}

fn long_deadline(runs: &CaseOutcomes) -> Check {
    let (held, free) = (runs.of(Job::Lock(5000, false)).per_s(), runs.of(Job::Lock(5000, true)).per_s());
    check(
        "it is the deadline that costs it: with 5 s nothing is lost (within 3 %)",
        format!("{held:.2} held, {free:.2} released"),
        (held / free - 1.0).abs() <= 0.03,
    )
}

fn lock_free(runs: &CaseOutcomes) -> Check {
    let all = super::cases::DEADLINES.map(|ms| runs.of(Job::Lock(ms, true)).per_s());
    let (least, most) = all.iter().fold((f64::MAX, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
    check(
        "with the lock released the deadline does not matter (within 1 %)",
        all.map(|per_s| format!("{per_s:.2}")).join(", "),
        most <= least * 1.01,
    )
}

/// Operations of the fastest stream divided by those of the slowest.
fn unfairness(runs: &CaseOutcomes, text: usize, column: Column) -> f64 {
    let streams =
        ["seqread1", "seqread2", "seqread3"].map(|name| runs.of(Job::Text(text, column)).row(name).ops);
    let (least, most) = (streams.iter().min(), streams.iter().max());
    most.map_or(0.0, |&most| most as f64) / least.map_or(1.0, |&least| (least as f64).max(1.0))
}

fn fair(runs: &CaseOutcomes) -> Check {
    let (ours, published) = (unfairness(runs, MULTI_32K, Column::Enhanced), UNFAIR[1] / UNFAIR[0]);
    check(
        "three streams of 32 KiB, enhanced: fairer than published",
        format!("the fastest {ours:.2} times as fast as the slowest; published {published:.1}"),
        ours < published,
    )
}

fn winners(runs: &CaseOutcomes) -> Check {
    let gain = |(name, ..): &(&str, &str, _)| {
        let [before, after] =
            [COLUMNS[0], COLUMNS[1]].map(|column| runs.of(Job::Text(MIXED_TEST, column)).ms(name));
        before / after
    };
    let gains: Vec<f64> = MIXED.iter().map(gain).collect();
    let said: Vec<String> = MIXED.iter().zip(&gains).map(|(m, gain)| format!("{} {gain:.2}", m.1)).collect();
    let published: Vec<String> =
        MIXED.iter().map(|m| format!("{:.2}", m.2.published[0] / m.2.published[1])).collect();
    check(
        format!("mixed: the order of the gains is the published one ({})", published.join(", ")),
        said.join(", "),
        gains.is_sorted_by(|a, b| a > b),
    )
}

fn ratio(
    runs: &CaseOutcomes,
    stated: &str,
    within: std::ops::RangeInclusive<f64>,
    published: [f64; 2],
    job: impl Fn(Column) -> Job,
) -> Check {
    let seconds = |column| runs.of(job(column)).seconds;
    let (before, after) = (seconds(Column::Baseline), seconds(Column::Enhanced));
    let ratio = after / before;
    let (was, saved) = (published[1] / published[0], published[0] - published[1]);
    check(
        format!("{stated} (published {was:.3})"),
        format!("{ratio:.3}: {:.0} s saved, published {saved:.0} s", before - after),
        within.contains(&ratio),
    )
}

fn modern_requests(runs: &CaseOutcomes) -> Check {
    let requests = runs.of(Job::DdWide).requests.count();
    check(
        "dd, modern with windows of 512 KiB: at most 2200 requests",
        format!("{requests}"),
        requests <= 2200,
    )
}

fn modern_streams(runs: &CaseOutcomes) -> Check {
    let per_s = runs.of(Job::Text(MULTI_8K, Column::Modern)).per_s();
    let unfair = unfairness(runs, MULTI_8K, Column::Modern);
    check(
        "three streams of 8 KiB, modern with windows of 256 KiB: at least 140 ops/s, the slowest at least 0.8 of the fastest",
        format!("{per_s:.1} ops/s, {:.2}", 1.0 / unfair.max(1e-9)),
        per_s >= 140.0 && unfair <= 1.25,
    )
}

fn modern_large(runs: &CaseOutcomes) -> Check {
    let per_s = runs.of(Job::Text(LARGE, Column::Modern)).per_s();
    let enhanced = runs.of(Job::Text(LARGE, Column::Enhanced)).per_s();
    check(
        "random 1 MiB, modern: at least 2.5 ops/s",
        format!("{per_s:.2} ops/s; enhanced {enhanced:.2}"),
        per_s >= 2.5,
    )
}

fn modern_tar(runs: &CaseOutcomes, how: &str, order: WalkOrder, most: f64) -> Check {
    let before = runs.of(Job::Tar(Column::Baseline, WalkOrder::Listed)).seconds;
    let ratio = runs.of(Job::Tar(Column::Modern, order)).seconds / before;
    check(
        format!("tar of a DVD, modern {how}: at most {most} of baseline"),
        format!("{ratio:.3}"),
        ratio <= most,
    )
}
