//! How far data that was written, or laid out to be read, can be compressed.

use crate::{flows, sampled};
use fathom_record::Run;
use fathom_workload::{Action, Bytes, Data, Direction, Stream, Workload};

/// Share left of the written data by compression, by the rule that generates it: the least of all writers.
pub(super) fn compressed_share(workload: &Workload) -> Option<f64> {
    workload
        .phases
        .iter()
        .flat_map(fathom_workload::Phase::streams)
        .filter(|s| s.direction.writes() && s.backend.moves_data())
        .map(|s| &s.data)
        .chain(flows::written_data(workload))
        .map(share_by_rule)
        .reduce(f64::min)
}

fn share_by_rule(data: &Data) -> f64 {
    match data {
        Data::Unique | Data::Positioned { .. } | Data::Checksummed { .. } => 1.0,
        Data::Sealed(sealed) => {
            if sealed.pattern.is_empty() {
                1.0
            } else {
                0.0
            }
        }
        Data::Zero | Data::Byte(_) | Data::Repeated { .. } => 0.0,
        Data::Marked { stride, length, .. } => length.0 as f64 / stride.0.max(1) as f64,
        Data::Reducible { compressible_percent, duplicate_percent, .. } => {
            f64::from(100 - compressible_percent) * f64::from(100 - duplicate_percent) / 1e4
        }
    }
}

/// The data with which fathom laid out (prepared or filled) the files a phase reads.
pub(super) fn laid_out<'w>(workload: &'w Workload, run: &Run) -> Vec<&'w Data> {
    let mut prepared: Vec<&str> = Vec::new();
    let mut found: Vec<&Data> = Vec::new();
    for (phase, seq) in workload.phases.iter().zip(0u32..) {
        prepared.extend(phase.before.iter().filter_map(|action| match action {
            Action::Prepare(set) => Some(set.as_str()),
            _ => None,
        }));
        let of_phase = run.phases.iter().find(|p| p.seq == seq);
        let filled = of_phase
            .is_some_and(|p| p.repetitions.iter().any(|r| r.extents.is_some_and(|e| e.filled_bytes > 0)));
        let reads = phase.streams().filter(|s| s.direction.reads() && s.backend.moves_data());
        let sets = reads.filter(|s| filled || prepared.contains(&s.fileset.as_str()));
        for data in
            sets.filter_map(|s| workload.filesets.iter().find(|f| f.name == s.fileset)).map(|f| &f.data)
        {
            if !found.contains(&data) {
                found.push(data);
            }
        }
    }
    found
}

/// Share left by compression, by its rule or a sample, whichever is less.
pub(super) fn left_of(workload: &Workload, data: &Data) -> Option<f64> {
    let sample = sampled::share(workload, std::iter::once(&writer_of(data)));
    Some(sample.unwrap_or(1.0).min(share_by_rule(data)))
}

/// A stream that writes it.
pub(super) fn writer_of(data: &Data) -> Stream {
    Stream { data: data.clone(), ..Stream::new("", Direction::Write, Bytes(1 << 20)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_loop::described;
    use fathom_record::Repetition;

    #[test]
    fn data_that_was_laid_out_counts_where_it_is_read() {
        let workload = |steps: &str, direction: &str| {
            let text = format!(
                "name = \"w\"\nseed = 1\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"f\"] }}\nsize = {{ fixed = \"1MiB\" }}\n\
                 data = \"zero\"\n[[phase]]\nname = \"p\"\n{steps}\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
                 [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"{direction}\"\nrecord = {{ fixed = \"4KiB\" }}\n"
            );
            Workload::from_toml(&text).unwrap_or_else(|e| panic!("{e}"))
        };
        let prepared = workload("before = [{ prepare = \"f\" }]", "read");
        let data = laid_out(&prepared, &Run::default());
        assert_eq!(data, [&Data::Zero]);
        assert!(left_of(&prepared, data[0]).is_some_and(|s| s < 0.01));
        assert!(left_of(&prepared, &Data::Unique).is_some_and(|s| s > 0.99));
        let found = workload("", "read");
        assert!(laid_out(&found, &Run::default()).is_empty(), "found in place");
        assert!(laid_out(&workload("before = [{ prepare = \"f\" }]", "write"), &Run::default()).is_empty());
        let mut filled = described(&found.phases[0], 0);
        let extents = fathom_record::Extents { filled_bytes: 4096, ..Default::default() };
        filled.repetitions.push(Repetition { extents: Some(extents), ..Repetition::default() });
        assert_eq!(laid_out(&found, &Run { phases: vec![filled], ..Run::default() }), [&Data::Zero]);
    }
}
