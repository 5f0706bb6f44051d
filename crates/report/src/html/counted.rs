//! Internal counts of simulations: merges by kind, hits and timeouts of anticipation, pages and windows of read-ahead, commits;
//! one column per simulated run.

use super::{
    HtmlPage, RunView,
    table::{HtmlTable, folded},
};
use crate::{printable::clean, units};

pub(super) fn write(page: &mut HtmlPage, views: &[RunView<'_>]) {
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
    page.heading(2, "Inside the simulation");
    let heads: Vec<String> = match &simulated[..] {
        [_] => vec!["counted".into(), "count".into()],
        all => std::iter::once("counted".into()).chain(all.iter().map(|s| clean(s.0))).collect(),
    };
    let mut table = HtmlTable::new("What was counted; times in ns of virtual time", &heads);
    for name in &names {
        let cell = |counts: &[(String, u64)]| {
            counts.iter().find(|c| c.0 == *name).map_or("-".into(), |c| units::count(c.1))
        };
        table.row(name, &simulated.iter().map(|s| cell(s.1)).collect::<Vec<_>>());
    }
    page.body.push_str(&folded(&format!("All {} counts", names.len()), &table.finish()));
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use crate::samples;

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
