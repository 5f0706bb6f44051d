//! Internal counts of simulations: merges by kind, hits and timeouts of anticipation, pages and windows of read-ahead, commits;
//! one column per simulated run.

use super::RunView;
use crate::document::{Document, Table};
use crate::units;

pub(super) fn write(out: &mut Document, views: &[RunView<'_>]) {
    let simulated: Vec<_> = views
        .iter()
        .filter_map(|v| Some((&v.story.title, &v.run.simulation.as_ref()?.counts)))
        .filter(|(_, counts)| counts.iter().any(|c| c.1 > 0))
        .collect();
    if simulated.is_empty() {
        return;
    }
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in simulated.iter().flat_map(|s| s.1).filter(|c| c.1 > 0) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    out.heading(2, "Inside the simulation");
    let mut table = Table::new("What was counted; times in ns of virtual time", &["counted"]);
    match &simulated[..] {
        [_] => table.heads.push("count".into()),
        all => table.heads.extend(all.iter().map(|(title, _)| (*title).clone())),
    }
    for name in &names {
        let cell = |counts: &[(String, u64)]| {
            counts.iter().find(|c| c.0 == *name).map_or("-".into(), |c| units::count(c.1))
        };
        table.figures(*name, simulated.iter().map(|s| cell(s.1)));
    }
    out.details(format!("All {} counts", names.len()), |out| out.table(table));
}

#[cfg(test)]
mod tests {
    use crate::{html::page, samples};

    #[test]
    fn counts_of_simulated_runs_stand_side_by_side() {
        let (mut one, mut two) = (samples::simulated_run(), samples::simulated_run());
        let counts = |run: &mut fathom_record::Run, counts: &[(&str, u64)]| {
            let simulation = run.simulation.as_mut().expect("simulated");
            simulation.counts = counts.iter().map(|(name, n)| ((*name).to_string(), *n)).collect();
        };
        counts(&mut one, &[("scheduler_hits", 12_345), ("merges_back", 0)]);
        counts(&mut two, &[("scheduler_timeouts<", 7)]);
        let html = page(&[&one, &two, &samples::observed_run()]);
        for row in [
            "<th scope=\"row\">scheduler_hits</th><td>12 345</td><td>-</td>",
            "<th scope=\"row\">scheduler_timeouts&lt;</th><td>-</td><td>7</td>",
        ] {
            assert!(html.contains(row), "{row}");
        }
        assert!(!html.contains("merges_back</th>"), "nothing was counted");
        assert!(!page(&[&samples::observed_run()]).contains("Inside the simulation"));
    }
}
