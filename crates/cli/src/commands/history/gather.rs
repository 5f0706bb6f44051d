//! Loads the past of one workload: the figures of its runs, and changes of their environments.

use super::identity::Group;
use super::{choose, line::History};
use fathom_record::figures::Series;
use fathom_record::store::PastRun;
use fathom_record::{Run, Store};
use fathom_report::compared::{Metric, RunInfo};
use fathom_report::history::{
    EnvironmentTracker, FigureLookup, Given, Input, LatestFigure, Listed, choose as chosen, value,
};

/// Runs whose figures are held in memory at once.
const AT_ONCE: usize = 512;

pub fn past_of(store: &Store, group: &Group<'_>, options: &History) -> anyhow::Result<Input> {
    let (counted, left_out) = group.parted();
    let (runs, without_time) = choose::runs(counted, options)?;
    let metrics: Vec<Metric> = options.figure.iter().map(|f| Metric::of_word(f)).collect();
    Ok(Input {
        workload: group.workload(),
        left_out,
        without_time,
        events: events(store, &runs)?,
        series: series(store, &runs, &metrics, options.cell.as_deref())?,
        runs: runs.into_iter().map(|run| run_info(run).into()).collect(),
    })
}

pub fn run_info(run: &PastRun) -> RunInfo {
    let source = run.source.as_ref();
    RunInfo {
        id: run.id.clone(),
        label: run.label.to_string(),
        started_at: run.started_at.clone(),
        source: source.map(|s| format!("{}, lines {} to {}", s.file, s.first_line, s.last_line)),
    }
}

fn events(store: &Store, runs: &[&PastRun]) -> anyhow::Result<Vec<fathom_report::history::Event>> {
    let mut course = EnvironmentTracker::default();
    store.each_environment(runs.iter().map(|r| (r.id.as_str(), r.environment)), |number, environment| {
        course.see(environment.as_ref(), &beside(runs[number]));
    })?;
    Ok(course.events())
}

/// Facts of a run that are not in its environment.
fn beside(run: &PastRun) -> Vec<(&'static str, String)> {
    let mut all = vec![("label", run.label.to_string())];
    match &run.source {
        Some(source) => {
            all.push(("program", source.program.clone()));
            all.push(("file", source.file.clone()));
        }
        None => {
            all.push(("fathom version", run.made.version.clone()));
            all.push(("directory", run.made.directory.clone()));
            all.push(("command line", without_outputs(&run.argv)));
        }
    }
    all
}

/// The command line without the program's path and the output files, which differ every time.
fn without_outputs(argv: &[String]) -> String {
    let mut words = Vec::new();
    let mut rest = argv.iter().skip(1);
    while let Some(word) = rest.next() {
        if word == "-o" || word == "--output" || word == "--store" {
            let _ = rest.next();
        } else if !word.starts_with("--output=") && !word.starts_with("--store=") {
            words.push(word.as_str());
        }
    }
    words.join(" ")
}

fn series(
    store: &Store,
    runs: &[&PastRun],
    metrics: &[Metric],
    cell: Option<&str>,
) -> anyhow::Result<Vec<Given>> {
    // By default cells are represented by rates, times or figures of other programs; latencies only if there is nothing
    // else.
    let latencies =
        metrics.iter().any(|m| !matches!(m, Metric::Throughput | Metric::Operations | Metric::Time));
    let mut all: Vec<Given> = Vec::new();
    let mut number = 0;
    for runs in runs.chunks(AT_ONCE) {
        let ids: Vec<&str> = runs.iter().map(|r| r.id.as_str()).collect();
        for (id, of_run) in ids.iter().zip(store.figures_of(&ids, latencies)?) {
            // The full run is loaded only if a percentile over several repetitions needs its histograms.
            let mut whole: Option<Run> = None;
            let mut hint = 0;
            for series in chosen(&of_run, metrics) {
                let mut found = value(series, None);
                if found == FigureLookup::InHistograms {
                    if whole.is_none() {
                        whole = Some(store.load(id)?);
                    }
                    found = value(series, whole.as_ref());
                }
                enter(&mut all, &mut hint, series, number, found);
            }
            number += 1;
        }
    }
    if let Some(text) = cell {
        let text = text.to_lowercase();
        all.retain(|given| given.title().to_lowercase().contains(&text));
    }
    Ok(all)
}

/// Enters a run's value. The search starts where the last one ended, since runs have their figures in the same order.
fn enter(all: &mut Vec<Given>, hint: &mut usize, series: &Series, run: usize, found: FigureLookup) {
    // A figure that occurs twice in a run is two figures; the second is matched with the second of other runs.
    let free = |g: &Given| g.is_of(series) && g.values.last().is_none_or(|v| v.0 != run);
    let from = (*hint).min(all.len());
    let places = (from..all.len()).chain(0..from);
    let at = places.into_iter().find(|i| free(&all[*i])).unwrap_or_else(|| {
        all.push(Given::empty(series));
        all.len() - 1
    });
    *hint = at + 1;
    match found {
        FigureLookup::Value(value) => all[at].values.push((run, value)),
        FigureLookup::TooFewOperations => all[at].too_few_operations += 1,
        FigureLookup::InHistograms | FigureLookup::Nothing => {}
    }
}

/// The lines of the list with the latest figures, read lazily.
pub fn listed<'s>(
    store: &'s Store,
    groups: &'s [Group<'_>],
) -> impl Iterator<Item = anyhow::Result<Listed>> + 's {
    groups.chunks(AT_ONCE).flat_map(|chunk| match listed_together(store, chunk) {
        Ok(lines) => lines.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
}

fn listed_together(store: &Store, groups: &[Group<'_>]) -> anyhow::Result<Vec<Listed>> {
    let parted: Vec<_> = groups.iter().map(Group::parted).collect();
    let ids: Vec<&str> = parted.iter().filter_map(|(runs, _)| runs.last().map(|r| r.id.as_str())).collect();
    let mut figures = store.figures_of(&ids, false)?.into_iter();
    let lines = groups.iter().zip(&parted).map(|(group, (runs, left_out))| {
        let figures = if runs.is_empty() { None } else { figures.next() };
        Listed {
            workload: group.workload(),
            runs: runs.len(),
            left_out: left_out.iter().map(|l| l.1).sum(),
            first: runs.first().map(|r| run_info(r)),
            last: runs.last().map(|r| run_info(r)),
            latest: figures.and_then(|f| latest(&f, &group.workload().by)),
        }
    });
    Ok(lines.collect())
}

/// The first figure of a run; for a survey, the one databases wait for, since its first is of memory.
fn latest(figures: &[Series], by: &str) -> Option<LatestFigure> {
    const OF_A_SURVEY: &str = "write and fsync";
    let quoted = chosen(figures, &[]);
    let operations = chosen(figures, &[Metric::Operations]);
    let synced = operations.iter().find(|series| Given::empty(series).title().starts_with(OF_A_SURVEY));
    let first = synced.filter(|_| by == "survey").or(quoted.first())?;
    let FigureLookup::Value(value) = value(first, None) else { return None };
    Some(LatestFigure {
        figure: format!("{}: {}", Given::empty(first).title(), first.metric),
        value,
        unit: first.unit.clone(),
        further: quoted.len() - 1,
    })
}

#[cfg(test)]
mod tests {
    use super::without_outputs;

    #[test]
    fn files_that_are_written_are_no_setting() {
        let words = |line: &str| without_outputs(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(words("/a/fathom run w.toml -o page-17.html --cold"), "run w.toml --cold");
        assert_eq!(words("fathom run --store=x.db w.toml --output=y"), "run w.toml");
        assert_eq!(words("fathom"), "");
    }
}
