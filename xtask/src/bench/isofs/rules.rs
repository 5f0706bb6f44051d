//! What must hold between the medians of `bench isofs`, and what is aimed at: rows P1 to P11 of the specification, each a measure of fathom
//! beside one of another contender, or alone. Pure.

use super::{Figures, Who};
use crate::bench::spread;

/// One row.
pub struct Rule {
    pub id: &'static str,
    pub what: &'static str,
    /// Of fathom.
    pub measure: &'static str,
    /// What fathom's value is divided by.
    pub than: Option<(Who, &'static str)>,
    /// Whether more is better: a rate; otherwise a time or a count.
    pub more: bool,
    pub must: f64,
    pub target: Option<f64>,
}

/// What a row came to.
#[derive(Debug, PartialEq)]
pub struct Found {
    pub value: f64,
    pub kept: bool,
    /// Whether the target is reached, where there is one.
    pub reached: Option<bool>,
}

impl Rule {
    pub fn sign(&self) -> &'static str {
        if self.more { ">=" } else { "<=" }
    }

    fn holds(&self, value: f64, bound: f64) -> bool {
        if self.more { value >= bound } else { value <= bound }
    }
}

/// `None` where one side was not measured.
pub fn judged(rule: &Rule, figures: &Figures) -> Option<Found> {
    let median = |measure, who| {
        let mut values = figures.get(&(measure, who)).filter(|values| !values.is_empty())?.clone();
        Some(spread::median(&mut values))
    };
    let own = median(rule.measure, Who::Fathom)?;
    let value = match rule.than {
        Some((who, measure)) => own / median(measure, who)?,
        None => own,
    };
    Some(Found {
        value,
        kept: rule.holds(value, rule.must),
        reached: rule.target.map(|target| rule.holds(value, target)),
    })
}

/// A row of fathom's value alone, of which less is better.
const fn row(
    id: &'static str,
    what: &'static str,
    measure: &'static str,
    must: f64,
    target: Option<f64>,
) -> Rule {
    Rule { id, what, measure, than: None, more: false, must, target }
}

impl Rule {
    /// Divided by another contender's value of the same measure.
    const fn beside(self, who: Who) -> Self {
        let measure = self.measure;
        self.over(who, measure)
    }

    /// Divided by a value of another measure.
    const fn over(self, who: Who, measure: &'static str) -> Self {
        Self { than: Some((who, measure)), ..self }
    }

    /// For a rate, where higher is better.
    const fn rate(self) -> Self {
        Self { more: true, ..self }
    }
}

use Who::{Bsdtar, Fathom, Fuseiso, Image, SevenZip, Source};

/// All of them, in the order of the specification.
pub const RULES: &[Rule] = &[
    row("P1", "sequential 128 KiB, first pass, MB/s", "first 128K", 3.0, Some(4.0)).beside(Fuseiso).rate(),
    row("P1", "sequential 128 KiB, first pass, MB/s", "first 128K", 0.2, Some(0.35)).beside(Image).rate(),
    row("P2", "sequential 8 KiB, first pass, MB/s", "first 8K", 2.0, Some(3.0)).beside(Fuseiso).rate(),
    row("P2", "sequential 2 KiB, first pass, MB/s", "first 2K", 2.0, Some(3.0)).beside(Fuseiso).rate(),
    row("P3", "second pass 128 KiB, MB/s", "again 128K", 5.0, Some(8.0)).beside(Fuseiso).rate(),
    row("P3", "second pass 128 KiB, MB/s", "again 128K", 0.5, None).beside(Image).rate(),
    row("P4", "4 streams in 4 files, MB/s", "4 streams", 3.0, None).beside(Fuseiso).rate(),
    row("P4", "4 streams beside one, MB/s", "4 streams", 1.5, None).over(Fathom, "1 stream").rate(),
    row("P5", "random 2 KiB, 4 threads, reads/s", "random 2K", 2.0, None).beside(Fuseiso).rate(),
    row("P5", "random 8 KiB, 4 threads, reads/s", "random 8K", 2.0, None).beside(Fuseiso).rate(),
    row("P5", "random 64 KiB, 4 threads, reads/s", "random 64K", 2.0, None).beside(Fuseiso).rate(),
    row("P5", "random 2 KiB, p99 us", "random 2K p99", 1.0, None).beside(Fuseiso),
    row("P5", "random 8 KiB, p99 us", "random 8K p99", 1.0, None).beside(Fuseiso),
    row("P5", "random 64 KiB, p99 us", "random 64K p99", 1.0, None).beside(Fuseiso),
    row("P6", "find over 10,000 files, first time, s", "find", 0.2, None).beside(Fuseiso),
    row("P6", "find over 10,000 files, first time, s", "find", 1.05, Some(0.07)),
    row("P7", "tar of 10,000 files, s", "tar", 0.5, None).beside(Fuseiso),
    row("P7", "tar of 10,000 files, s", "tar", 3.5, Some(1.0)),
    row("P8", "512 MiB file to a pipe, s", "cat", 1.0, None).beside(Bsdtar),
    row("P8", "512 MiB file to a pipe, s", "cat", 1.0, None).beside(SevenZip),
    row("P8", "10,000 files to disk, s", "extract", 1.0, None).beside(Bsdtar),
    row("P8", "10,000 files to disk, s", "extract", 1.0, None).beside(SevenZip),
    row("P8", "10,000 files to disk, s", "extract", 2.0, Some(1.3)).beside(Source),
    row("P9", "mount of 4.7 GB and 60,000 files, s", "mount", 0.3, None),
    row("P9", "resident after it, MiB", "resident", 64.0, None),
    row("P9", "resident after find over all of it, MiB", "resident after find", 64.0, None),
    row("P10", "zisofs, 128 KiB, one stream, MB/s", "zisofs", 2.0, None).beside(Fuseiso).rate(),
    row("P10", "zisofs, 2 streams in 2 files beside one, MB/s", "zisofs 2 streams", 1.3, None)
        .over(Fathom, "zisofs")
        .rate(),
    row("P11", "reads of the image for each 128 KiB", "reads each 128K", 1.0, None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_times_are_judged_by_their_medians() {
        let mut figures = Figures::new();
        figures.insert(("x", Fathom), vec![30.0, 40.0, 50.0]);
        figures.insert(("x", Fuseiso), vec![10.0, 10.0, 1000.0]);
        let found = judged(&row("P", "", "x", 3.0, Some(5.0)).beside(Fuseiso).rate(), &figures).unwrap();
        assert_eq!(found, Found { value: 4.0, kept: true, reached: Some(false) });
        assert!(!judged(&row("P", "", "x", 1.0, None).beside(Fuseiso), &figures).unwrap().kept);
        assert!(judged(&row("P", "", "x", 40.0, None), &figures).unwrap().kept);
        assert_eq!(
            judged(&row("P", "", "x", 3.0, None).beside(Image).rate(), &figures),
            None,
            "not measured"
        );
    }
}
