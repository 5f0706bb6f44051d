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

/// Read-ahead is charged when it is asked for, and counted at the device when it is done: what is on its way at the end is no other device's.
const ON_ITS_WAY: u64 = 4 << 20;

fn charged(_: &Phase, r: &Repetition) -> Option<(u64, u64, String)> {
    // What workers were charged with is read when they have ended: their warm-up is in it, and not in the device's counters.
    if r.ramp_ns > 0 {
        return None;
    }
    let moved = r.physical.devices.first()?.read_bytes.saturating_add(ON_ITS_WAY);
    let own = r.physical.own_read_bytes?;
    exceeds(own, moved).then(|| (own, moved - ON_ITS_WAY, device(r)))
}

#[cfg(test)]
mod tests {
    use crate::doubts::Seen;
    use crate::doubts::test_runs::{code, doubts, none, phase, run_of};

    const MIB: u64 = 1 << 20;

    #[test]
    fn more_charged_than_moved_is_another_device() {
        let mut p = phase("read", 100 * MIB, 100 * MIB);
        p.repetitions[0].physical.own_read_bytes = Some(104 * MIB);
        none(&run_of(vec![p.clone()]), &Seen::default());
        p.repetitions[0].physical.own_read_bytes = Some(200 * MIB);
        let doubt = code(&run_of(vec![p]), &Seen::default(), "impossible-device");
        assert!(doubt.sentence.contains("200 MiB") && doubt.sentence.contains("sda"), "{}", doubt.sentence);
        assert!(doubt.sentence.contains("moved 100 MiB"), "{}", doubt.sentence);
    }

    #[test]
    fn neither_a_warm_up_nor_read_ahead_on_its_way_is_another_device() {
        let mut p = phase("read", 100 * MIB, 100 * MIB);
        p.repetitions[0].physical.own_read_bytes = Some(200 * MIB);
        p.repetitions[0].ramp_ns = 100_000_000;
        assert!(doubts(&run_of(vec![p]), &Seen::default()).iter().all(|d| d.code != "impossible-device"));
        let mut p = phase("read", 2 * MIB, 2 * MIB);
        p.repetitions[0].physical.own_read_bytes = Some(6 * MIB);
        assert!(doubts(&run_of(vec![p]), &Seen::default()).iter().all(|d| d.code != "impossible-device"));
    }
}
