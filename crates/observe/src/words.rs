//! Formats figures and lists of phases for sentences about a run. Pure.

use fathom_record::{Phase, Run};

/// "1.4 %": one decimal below ten.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value < 9.95 { format!("{value:.1} %") } else { format!("{value:.0} %") }
}

/// "0.4 ns", "812 ns", "1.24 us", "3.50 ms", "12.0 s".
pub(crate) fn time(ns: f64) -> String {
    if ns < 9.95 && ns.fract() != 0.0 {
        return format!("{ns:.1} ns");
    }
    if ns < 999.5 {
        return format!("{ns:.0} ns");
    }
    let (mut value, mut unit) = (ns, "ns");
    for next in ["us", "ms", "s"] {
        if value >= 999.5 {
            (value, unit) = (value / 1000.0, next);
        }
    }
    let digits = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}

/// "1 request", "1200 requests": for nouns with a plural in s.
pub(crate) fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// The phases' distinct names in order of appearance, at most `most` of them, and how many more there are.
pub(crate) fn names<'r>(phases: &[&'r Phase], most: usize) -> (Vec<&'r str>, usize) {
    let mut names: Vec<&str> = Vec::new();
    for phase in phases {
        if !names.contains(&phase.name.as_str()) {
            names.push(&phase.name);
        }
    }
    let more = names.len().saturating_sub(most);
    names.truncate(most);
    (names, more)
}

/// "3 of 20 phases (write, read, random read)": each name once, at most four names.
pub(crate) fn which(run: &Run, phases: &[&Phase]) -> String {
    let (names, more) = names(phases, 4);
    let more = match more {
        0 => String::new(),
        1 => " and 1 more kind".into(),
        n => format!(" and {n} more kinds"),
    };
    let names = names.join(", ");
    match (phases.len(), run.phases.len()) {
        (1, 1) => format!("the only phase ({names})"),
        (n, all) if n == all => format!("all {all} phases ({names}{more})"),
        (n, all) => format!("{n} of {all} phases ({names}{more})"),
    }
}

/// "python3 (process 7)"; only the name if it had several processes, or one that is not visible.
pub(crate) fn program(name: &str, processes: &[u32]) -> String {
    match processes {
        [process] if *process != 0 => format!("{name} (process {process})"),
        _ => name.to_owned(),
    }
}

/// Capitalises the first letter.
pub(crate) fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|c| c.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        assert_eq!([0, 1, 2].map(|n| count(n, "event")), ["0 events", "1 event", "2 events"]);
    }

    #[test]
    fn one_process_is_named() {
        let said = [&[7][..], &[0], &[7, 8], &[]].map(|processes| program("dd", processes));
        assert_eq!(said, ["dd (process 7)", "dd", "dd", "dd"]);
    }

    #[test]
    fn times_have_three_digits_and_their_unit() {
        let said: Vec<String> =
            [0.4, 812.0, 999.6, 1_240.0, 45_600.0, 3.5e6, 12.0e9, 4e12].map(time).to_vec();
        assert_eq!(
            said,
            ["0.4 ns", "812 ns", "1.00 us", "1.24 us", "45.6 us", "3.50 ms", "12.0 s", "4000 s"]
        );
    }
}
