//! Alignment of random offsets where it differs from the block size: `blockalign`.

use super::super::UsageError;
use super::super::lenient_number;
use super::super::settings::Settings;
use super::Notes;
use super::direction::Rw;
use fathom_workload::{Access, Bytes, Data, Record, Stream};

const NAME: &str = "ba";

/// Sets the alignment of a job's offsets. It has no effect on sequential jobs, as in fio.
pub fn apply(s: &Settings, rw: Rw, stream: &mut Stream, notes: &mut Notes) -> Result<(), UsageError> {
    let Some((reads, writes)) = s.pair(NAME, 0, lenient_number::bytes)? else { return Ok(()) };
    if !rw.random || (reads, writes) == (0, 0) {
        return Ok(());
    }
    let sizes = s.last_of(&["bs", "bsrange", "bssplit"]).unwrap_or("bs");
    let several =
        |text: &str| text.contains(',') || (sizes == "bs" && super::super::triples::looks_like_a_range(text));
    if reads != writes || s.text(sizes).is_some_and(several) {
        return Err(s
            .wrong(NAME, format!("{NAME}: reads and writes have the same alignment and the same block sizes"))
            .hint("instead: one value of each, or two jobs"));
    }
    if reads == stream.record.unit().0 {
        return Ok(());
    }
    // Sequential blocks must stay aligned.
    let stays = matches!(stream.record, Record::Fixed(size) if reads.is_multiple_of(size.0.max(1)));
    let order = match &mut stream.access {
        Access::PartlyRandom { order, .. } if stays => &mut **order,
        order => order,
    };
    let once_each = *order == Access::Permuted;
    let drawn_alike = once_each || *order == Access::Uniform;
    if drawn_alike && s.word("random_generator") == Some("lfsr") {
        return Err(s
            .wrong(NAME, format!("{NAME}: with random_generator=lfsr it is not supported"))
            .hint("leave one of them out"));
    }
    if once_each {
        *order = Access::Uniform;
        notes.say(format!("job {}: with {NAME}, places are drawn with repeats, as in fio", s.job));
    }
    if !order.draws_each() {
        return Err(s
            .wrong(NAME, format!("{NAME}: with percentage_random it has to be a multiple of the block size, and with rw=...:N or zonemode it is not supported"))
            .hint("leave one of them out"));
    }
    stream.align = Bytes(reads);
    Ok(())
}

/// Verified blocks must begin at a header, and alignment does not combine with several files that take turns.
pub fn check(s: &Settings, stream: &Stream, verifies: bool) -> Result<(), UsageError> {
    if stream.align.0 == 0 {
        return Ok(());
    }
    let block = match &stream.data {
        Data::Sealed(sealed) => sealed.block.0.max(1),
        _ => 1,
    };
    if verifies && !stream.align.0.is_multiple_of(block) {
        return Err(s
            .wrong(NAME, format!("{NAME}: what is verified begins at multiples of {block} bytes"))
            .hint("leave verify out, or give ba the block size"));
    }
    if stream.turns.is_some() {
        return Err(s
            .wrong(NAME, format!("{NAME}: with several files for a clone it is not supported"))
            .hint("instead: one file, or numjobs"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Access, Bytes, Program, Stream};

    fn of(args: &str) -> Stream {
        let plan = planned(&format!("--name=a --size=1m {args}"));
        match &plan.workload.phases[0].groups[0].threads[0].program {
            Program::Stream(stream) => (**stream).clone(),
            Program::Flow(_) => panic!("a flow"),
        }
    }

    #[test]
    fn random_offsets_are_multiples_of_what_is_asked_for() {
        let found = of("--rw=randrw --bssplit=512/50:8k/50 --norandommap --ba=4k");
        assert_eq!((found.align, found.access), (Bytes(4096), Access::Uniform));
        let found = of("--rw=randread --bs=4k --blockalign=512 --random_distribution=zipf:1.2");
        assert_eq!((found.align, found.access), (Bytes(512), Access::Zipf { theta: 1.2 }));
        // It turns the block map off, as in fio, with a note.
        assert_eq!(of("--rw=randwrite --bs=512 --ba=4k").access, Access::Uniform);
        let plan = planned("--name=a --size=1m --rw=randwrite --bs=512 --ba=4k");
        assert!(plan.notes.iter().any(|note| note.contains("drawn with repeats")), "{:?}", plan.notes);
        // No effect: alignment equal to the block size, and sequential access.
        let found = of("--rw=randwrite --bs=4k --ba=4k");
        assert_eq!((found.align, found.access), (Bytes(0), Access::Permuted));
        assert_eq!(of("--rw=write --bs=512 --ba=4k").align, Bytes(0));
        // The sequential share of a job continues in sequence.
        let found = of("--rw=randread --bs=4k --ba=8k --percentage_random=50");
        let order = Box::new(Access::Uniform);
        let access = Access::PartlyRandom { order, reads_percent: 50, writes_percent: 50 };
        assert_eq!((found.align, found.access), (Bytes(8192), access));
        // Verified blocks begin at a header.
        assert_eq!(of("--rw=randwrite --bs=4k --ba=8k --verify=crc32c").align, Bytes(8192));
    }

    #[test]
    fn what_an_alignment_does_not_go_with_is_named() {
        for (args, what) in [
            ("--rw=randwrite --bs=8k --ba=4k --verify=crc32c --norandommap", "multiples of 8192 bytes"),
            ("--rw=randwrite --bs=8k --ba=4k --verify=crc32c --do_verify=0", "multiples of 8192 bytes"),
            ("--rw=randread --ba=4k --nrfiles=2", "several files"),
            ("--rw=randread:4 --ba=4k", "rw=...:N"),
            ("--rw=randread --bs=8k --ba=4k --percentage_random=50", "percentage_random"),
            ("--rw=randread --ba=4k,8k", "the same alignment"),
            ("--rw=randread --ba=4k --random_generator=lfsr", "lfsr"),
            ("--rw=randread --bsrange=1k-4k --ba=8k --random_generator=lfsr", "lfsr"),
        ] {
            let why = refused(&format!("--name=a --size=1m --bs=512 {args}"));
            assert!(why.contains(what), "{args}: {why}");
        }
    }
}
