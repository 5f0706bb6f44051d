//! The CSV columns that say whose number a row is: where the repetition's read bytes came from, what its written bytes had
//! reached, and the sentence for the user.

use super::maybe;
use crate::{CacheTruth, Phase, Repetition};

/// The last columns of the table.
pub(super) const HEAD: [&str; 12] = [
    "read_asked_bytes",
    "read_device_bytes",
    "read_cache_bytes",
    "read_hole_bytes",
    "read_excess_bytes",
    "written_asked_bytes",
    "written_in_clock_bytes",
    "written_later_bytes",
    "written_dirty_bytes",
    "written_lost_bytes",
    "written_excess_bytes",
    "cache_statement",
];

/// Their cells; empty if nothing was moved or it is unknown.
pub(super) fn cells(phase: &Phase, repetition: &Repetition) -> [String; HEAD.len()] {
    let truth = CacheTruth::of(phase, repetition);
    let read = truth.as_ref().and_then(|t| t.read);
    let written = truth.as_ref().and_then(|t| t.written);
    [
        maybe(read.map(|r| r.asked_bytes)),
        maybe(read.map(|r| r.device_bytes)),
        maybe(read.map(|r| r.cache_bytes)),
        maybe(read.map(|r| r.hole_bytes)),
        maybe(read.map(|r| r.excess_bytes)),
        maybe(written.map(|w| w.asked_bytes)),
        maybe(written.map(|w| w.in_clock_bytes)),
        maybe(written.map(|w| w.later_bytes)),
        maybe(written.and_then(|w| w.dirty_bytes)),
        maybe(written.map(|w| w.lost_bytes)),
        maybe(written.map(|w| w.excess_bytes)),
        truth.map(|t| t.statement).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::csv::csv;
    use super::super::tests::assert_golden;
    use super::HEAD;
    use crate::store::tests::sample_run;
    use crate::{DeviceDelta, Physical, Run};

    /// The sample run; in the first of the two repetitions that read, a device served part of the bytes and memory the rest.
    fn run() -> Run {
        let mut run = sample_run();
        let device = DeviceDelta {
            name: "vda".into(),
            kind: "disk".into(),
            read_ios: 1,
            read_bytes: 4096,
            ..DeviceDelta::default()
        };
        run.phases[1].direct = false;
        run.phases[1].repetitions[0].physical =
            Physical { method: "diskstats".into(), devices: vec![device], ..Physical::default() };
        run
    }

    /// The named columns of the whole table.
    fn columns(run: &Run, names: &[&str]) -> Vec<Vec<String>> {
        let text = csv(std::slice::from_ref(run));
        let mut table = csv::Reader::from_reader(text.as_bytes());
        let heads = table.headers().expect("heads").clone();
        let at = |name: &&str| heads.iter().position(|h| h == *name).unwrap_or_else(|| panic!("no {name}"));
        let places: Vec<usize> = names.iter().map(at).collect();
        let rows = table.records().map(|r| r.expect("a row"));
        rows.map(|row| places.iter().map(|&p| row[p].to_string()).collect()).collect()
    }

    #[test]
    fn the_columns_are_as_published() {
        let names: Vec<&str> = ["phase", "repetition", "worker", "op"].into_iter().chain(HEAD).collect();
        let rows = columns(&run(), &names);
        let text: Vec<String> = rows.iter().map(|row| row.join("|") + "\n").collect();
        assert_golden("truth.txt", &(names.join("|") + "\n" + &text.concat()));
    }

    #[test]
    fn the_parts_add_up_to_what_was_asked_for() {
        let number = |cell: &String| cell.parse::<u64>().expect("a number");
        let (mut read, mut written) = (0, 0);
        for row in columns(&run(), &HEAD[..10]) {
            if !row[0].is_empty() {
                assert_eq!(row[1..4].iter().map(number).sum::<u64>(), number(&row[0]));
                read += 1;
            }
            if !row[5].is_empty() {
                let known = row[6..10].iter().filter(|cell| !cell.is_empty());
                assert_eq!(known.map(number).sum::<u64>(), number(&row[5]));
                written += 1;
            }
        }
        assert!(read > 0 && written > 0, "{read} {written}");
    }
}
