//! Resolves a word to a workload, and selects its runs.

use super::identity::{Group, Identities};
use super::line::History;
use crate::exit::Usage;
use fathom_record::store::{Past, PastRun};
use std::path::Path;

const MOST_LISTED: usize = 12;

pub fn group<'g, 'p>(
    word: &str,
    groups: &'g [Group<'p>],
    known: &Identities,
    past: &Past,
) -> Result<&'g Group<'p>, Usage> {
    if word == "last" {
        return groups.last().ok_or_else(|| match &past.newest_simulated {
            Some(_) => Usage("all runs of the store are simulated; a history is of measured runs".into()),
            None => Usage("the store has no runs yet".into()),
        });
    }
    // The first rule that matches any workload wins. The flag says whether the rule goes by the name of what was run;
    // that means plain runs, if there are any, rather than those made by a sweep or a comparison.
    type Rule<'r> = &'r dyn Fn(&Group<'_>) -> bool;
    let rules: [(bool, Rule<'_>); 6] = [
        (false, &|g| g.id() == word),
        (false, &|g| g.runs.iter().any(|r| &*r.label == word)),
        (true, &|g| g.name() == word || g.runs.iter().any(|r| known.model_name(r) == Some(word))),
        (true, &|g| g.runs.iter().any(|r| is_of_file(r, word))),
        (false, &|g| word.len() >= 4 && g.runs.iter().any(|r| r.id.starts_with(word))),
        (true, &|g| word.len() >= 3 && g.id().starts_with(word) || contains(&g.name(), word)),
    ];
    for (by_name, rule) in rules {
        let mut meant: Vec<&Group<'_>> = groups.iter().filter(|g| rule(g)).collect();
        if by_name && meant.iter().any(|g| !g.is_special()) {
            meant.retain(|g| !g.is_special());
        }
        match meant.as_slice() {
            [] => {}
            [one] => return Ok(one),
            several => return Err(ambiguous(word, several)),
        }
    }
    Err(Usage(format!(
        "{word:?} is no workload of the store: neither an id of `fathom history`, nor a label, a workload's name, a file or a run's id"
    )))
}

/// The newest run, if it is simulated: "last" does not mean it.
pub fn newest_if_simulated<'p>(groups: &[Group<'_>], past: &'p Past) -> Option<&'p str> {
    let measured = groups.last().map_or("", Group::newest);
    past.newest_simulated.as_deref().filter(|id| *id > measured)
}

fn contains(name: &str, word: &str) -> bool {
    word.len() >= 3 && name.to_lowercase().contains(&word.to_lowercase())
}

/// Whether a run came from a file: imported from it, or naming it as a workload on the command line.
fn is_of_file(run: &PastRun, word: &str) -> bool {
    let same = |other: &str| {
        let (a, b) = (Path::new(word), Path::new(other));
        a == b || (!word.contains('/') && b.file_name() == a.file_name())
    };
    match &run.source {
        Some(source) => same(&source.file),
        None => Path::new(word).extension().is_some() && run.argv.iter().skip(1).any(|w| same(w)),
    }
}

fn ambiguous(word: &str, several: &[&Group<'_>]) -> Usage {
    let line = |g: &&Group<'_>| {
        let workload = g.workload();
        let place = if workload.place.is_empty() { String::new() } else { format!(", {}", workload.place) };
        format!("\n  {}  {} runs  {}{place}", workload.id, g.runs.len(), workload.name)
    };
    let lines: String = several.iter().rev().take(MOST_LISTED).map(line).collect();
    let more = several.len().saturating_sub(MOST_LISTED);
    let rest = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    Usage(format!("{word:?} may be {} workloads; type the id of one:{lines}{rest}", several.len()))
}

/// The selected runs, and how many lack a time if one is required.
pub fn runs<'p>(all: Vec<&'p PastRun>, options: &History) -> Result<(Vec<&'p PastRun>, usize), Usage> {
    let mut runs = all;
    if let Some(label) = &options.label {
        runs.retain(|r| *r.label == **label);
    }
    let mut without_time = 0;
    if let Some(since) = &options.since {
        let since = moment(since)?;
        runs.retain(|r| match r.started_at.parse::<jiff::Timestamp>() {
            Ok(at) => at >= since,
            Err(_) => {
                without_time += 1;
                false
            }
        });
    }
    if let Some(last) = options.last {
        runs.drain(..runs.len().saturating_sub(last));
    }
    Ok((runs, without_time))
}

/// Parses a date, a local date and time, or a time with an offset.
fn moment(text: &str) -> Result<jiff::Timestamp, Usage> {
    let here = jiff::tz::TimeZone::system();
    let of_civil = |at: jiff::civil::DateTime| at.to_zoned(here.clone()).ok().map(|z| z.timestamp());
    let day = || text.parse::<jiff::civil::Date>().ok().and_then(|d| of_civil(d.at(0, 0, 0, 0)));
    let time = || text.parse::<jiff::civil::DateTime>().ok().and_then(of_civil);
    // Offset first, then time, then date: the parsers accept longer texts and drop the rest.
    let exact = text.parse::<jiff::Timestamp>().ok();
    exact.or_else(|| if text.contains([':', 'T', 't']) { time() } else { day() }).ok_or_else(|| {
        Usage(format!(
            "--since {text}: a day such as 2026-10-01 is expected, or a time such as 2026-10-01T12:00"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn days_and_times_are_moments() {
        let of = |text: &str| moment(text).ok().map(|t| t.to_string());
        assert_eq!(of("2026-10-01T12:00:00+02:00").as_deref(), Some("2026-10-01T10:00:00Z"));
        assert!(
            of("2026-10-01").is_some()
                && of("2026-10-01T12:00").is_some()
                && of("2026-10-01 12:00").is_some()
        );
        assert_eq!((of("yesterday"), of("2026-13-01"), of("")), (None, None, None));
    }
}
