//! Measured compressibility of what a run wrote: a sample of each kind of data is generated again and compressed. Done
//! after the run, so that it does not disturb the measurement.

use fathom_observe::compressible::share_left;
use fathom_workload::{Data, Stream, Workload};

/// Enough for the compressor to find repeats within 1 MiB; random bytes of this length take it 1 to 2 ms.
const SAMPLE_BYTES: usize = 1 << 20;

/// Share left of the most compressible data; `None` if nothing is written.
pub fn share<'a>(workload: &'a Workload, streams: impl Iterator<Item = &'a Stream>) -> Option<f64> {
    let mut rules: Vec<&Data> = Vec::new();
    streams
        .filter(|s| s.direction.writes() && s.backend.moves_data())
        .filter(|s| {
            let new = !rules.contains(&&s.data);
            if new {
                rules.push(&s.data);
            }
            new
        })
        .filter_map(|s| share_left(&fathom_engine::sample(s, workload.seed.0, SAMPLE_BYTES)))
        .reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::{Backend, Bytes, Direction};

    fn writing(data: Data) -> Stream {
        Stream { data, ..Stream::new("f", Direction::Write, Bytes(4096)) }
    }

    #[test]
    fn the_data_that_compresses_best_decides() {
        let workload = Workload::default();
        let share = |streams: &[Stream]| share(&workload, streams.iter());
        assert!(share(&[writing(Data::Unique)]).is_some_and(|s| s > 0.99));
        assert!(share(&[writing(Data::Unique), writing(Data::Zero)]).is_some_and(|s| s < 0.01));
        assert_eq!(share(&[Stream::new("f", Direction::Read, Bytes(4096))]), None);
        assert_eq!(share(&[Stream { backend: Backend::Null, ..writing(Data::Zero) }]), None);
    }
}
