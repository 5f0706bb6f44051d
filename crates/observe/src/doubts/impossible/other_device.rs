//! The kernel charged this program with more reads from storage than the device that was found moved at all: the data came from another
//! device, so the counters that everything else rests on are of the wrong one.

use super::{device, exceeds, found};
use crate::doubts::grouped;
use crate::words::which;
use fathom_record::origin::bytes_words;
use fathom_record::{Doubt, Phase, Repetition, Run};

pub(super) fn check(run: &Run) -> Option<Doubt> {
    let all = found(run, charged);
    let phases: Vec<&Phase> = all.iter().map(|(phase, _)| *phase).collect();
    let (_, (own, moved, name)) = all.iter().max_by_key(|(_, (own, moved, _))| own - moved)?;
    let text = format!(
        "in {} the kernel charged this program with {} read from storage, and {name}, the device that was found below the files, moved {}: some of the data came from elsewhere (a link or a mount to another file system, a layer that is not told in /sys). Name a directory on the storage you mean.",
        which(run, &phases),
        bytes_words(*own),
        bytes_words(*moved)
    );
    Some(grouped("impossible-device", &phases, &text))
}

fn charged(_: &Phase, r: &Repetition) -> Option<(u64, u64, String)> {
    let moved = r.physical.devices.first()?.read_bytes;
    let own = r.physical.own_read_bytes?;
    exceeds(own, moved).then(|| (own, moved, device(r)))
}

#[cfg(test)]
mod tests {
    use crate::doubts::Seen;
    use crate::doubts::test_runs::{code, none, phase, run_of};

    const MIB: u64 = 1 << 20;

    #[test]
    fn more_charged_than_moved_is_another_device() {
        let mut p = phase("read", 100 * MIB, 100 * MIB);
        p.repetitions[0].physical.own_read_bytes = Some(104 * MIB);
        none(&run_of(vec![p.clone()]), &Seen::default());
        p.repetitions[0].physical.own_read_bytes = Some(200 * MIB);
        let doubt = code(&run_of(vec![p]), &Seen::default(), "impossible-device");
        assert!(doubt.sentence.contains("200 MiB") && doubt.sentence.contains("sda"), "{}", doubt.sentence);
    }
}
