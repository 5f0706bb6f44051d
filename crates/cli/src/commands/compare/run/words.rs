//! The plan of a comparison in words, for `--plan`: both sides with their files and steps, settings changed and
//! restored, the order of the runs, the stopping rule, and the longest possible duration.

use super::differs;
use super::session::{CompareSession, NOISE_QUADS, letters};
use crate::commands::run::plan_of;
use crate::commands::sweep::plan::prepared;
use crate::console;
use crate::exit::Usage;
use fathom_workload::Workload;
use std::fmt::Write as _;
use std::time::Duration;

const MOST_ORDERS: usize = 50;

pub fn plan(session: &CompareSession<'_>, kept: bool) -> Result<String, Usage> {
    let request = session.request;
    let mut text = String::new();
    let mut first: Option<(String, Vec<Workload>)> = None;
    let mut stay = false;
    let mut lasts = Vec::new();
    for cell in 0..session.cells() {
        let workloads = session.stage.workloads_of(cell)?;
        let directory =
            session.stage.directory_of(cell).map_or(String::new(), |d| format!(", in {}", d.display()));
        let _ = writeln!(text, "{}: {}{directory}", ["A", "B"][cell], request.plan.sides[cell]);
        let words: String = workloads.iter().map(plan_of).collect();
        stay |= workloads.iter().flat_map(|w| &w.filesets).any(|set| set.keep);
        lasts.push(workloads.iter().map(lasts_at_most).sum::<Option<Duration>>());
        // Identical steps are printed once.
        let differ = first.as_ref().map_or(Vec::new(), |(_, a)| differs::lines(a, &workloads));
        if first.as_ref().is_some_and(|(a, _)| *a == words) {
            let but = if differ.is_empty() { "" } else { ", but for" };
            let _ = writeln!(text, "  the same files and steps as A{but}");
        } else {
            text.extend(words.lines().map(|line| format!("  {line}\n")));
            if !differ.is_empty() {
                let _ = writeln!(text, "  differs from A in");
            }
        }
        text.extend(differ.iter().map(|line| format!("    {line}\n")));
        first = first.or(Some((words, workloads)));
    }
    text += &prepared(&session.stage);
    order(&mut text, session);
    let runs = session.most_runs();
    let _ = writeln!(text, "{} at most{}", console::counted(runs, "run"), time(runs, &lasts));
    if let Some(budget) = request.budget {
        let _ = writeln!(text, "no quad is started that would not end within {}", console::duration(budget));
    }
    let _ = writeln!(
        text,
        "{}; files that runs make are removed{}, others are left as they are",
        if kept { "every run is kept in the store" } else { "nothing is kept (--no-store)" },
        if stay { " unless it says \"kept\" above" } else { "" }
    );
    Ok(text)
}

fn order(text: &mut String, session: &CompareSession<'_>) {
    let request = session.request;
    if request.warm_up > 0 {
        let _ = writeln!(
            text,
            "first {} of each side, discarded",
            console::counted(request.warm_up.into(), "run")
        );
    }
    let words = |orders: &[Vec<usize>]| {
        let shown: Vec<String> = orders.iter().take(MOST_ORDERS).map(|o| letters(o)).collect();
        let more = if orders.len() > MOST_ORDERS { " ..." } else { "" };
        shown.join(" ") + more
    };
    if request.calibrate {
        let _ = writeln!(
            text,
            "then A against itself, {NOISE_QUADS} quads ({}): whether this machine can tell a change of {} %",
            words(&session.noise_orders),
            fathom_compare::wording::short(request.plan.effect * 100.0)
        );
    }
    if !request.alone {
        let _ = writeln!(text, "then {}", request.plan.stopping.words());
        let _ = writeln!(text, "orders from seed {}: {}", request.stage.seed, words(&session.orders));
    }
}

/// Duration of N runs by the workloads' stop rules, if they limit time.
fn time(runs: u64, lasts: &[Option<Duration>]) -> String {
    let known: Option<Vec<Duration>> = lasts.iter().copied().collect();
    match known {
        Some(lasts) if !lasts.is_empty() => {
            let mean = lasts.iter().sum::<Duration>() / u32::try_from(lasts.len()).unwrap_or(1);
            let all = mean.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX));
            format!(", about {} by their own stop rules, plus the time between them", console::duration(all))
        }
        _ => "; how long a run takes shows at the warm-up".into(),
    }
}

/// Longest duration of a workload's phases; `None` if one has no time limit.
fn lasts_at_most(workload: &Workload) -> Option<Duration> {
    let phases = workload.phases.iter().filter(|p| !p.groups.is_empty());
    let nanos: Option<u64> = phases.map(|p| Some(p.stop.time?.0.saturating_add(p.ramp.0))).sum();
    nanos.map(|n| Duration::from_nanos(n).saturating_mul(workload.repetitions))
}
