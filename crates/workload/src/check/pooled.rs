//! Checks streams over all files of a set, and rejects settings of such streams in others.

use crate::{
    Access, Amount, Bytes, Data, Direction, FileSet, Files, ListedOp, Pick, Record, Scaled, Sequence, Sizing,
    Stream, Turns, Verify, WhenStopped,
};

/// Whether records are multiples of a block.
fn of_whole_blocks(record: &Record, block: u64) -> bool {
    let whole = |bytes: u64| block > 0 && bytes.is_multiple_of(block);
    match record {
        Record::Fixed(size) => whole(size.0),
        Record::Between { min, .. } => whole(min.0),
        Record::Split(sizes) => sizes.iter().all(|(size, _)| whole(size.0)),
        Record::ByKind { read, write } => of_whole_blocks(read, block) && of_whole_blocks(write, block),
    }
}

pub(super) fn errors(warms_up: bool, set: &FileSet, stream: &Stream) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    let mut wrong = |is: bool, text: &str| {
        if is {
            errors.push(text.into());
        }
    };
    if let Some(sync) = stream.sync_every.filter(|s| s.inside) {
        wrong(sync.writes != 1, "sync_every inside the write means every write; writes = 1 is needed");
        let asynchronous = stream.backend.is_asynchronous() || stream.queue_depth > 1;
        wrong(
            asynchronous,
            "sync_every inside the write needs a back-end that does one operation after the other",
        );
    }
    if let Data::Checksummed { block } = stream.data {
        let whole = |r: u64| block.0 > 0 && r.is_multiple_of(block.0);
        let fits = match &stream.record {
            Record::Fixed(r) => whole(r.0),
            _ => false,
        };
        wrong(!fits, "checksummed data needs a fixed record size that is a multiple of the block");
    }
    if let Data::Sealed(sealed) = &stream.data {
        wrong(
            !of_whole_blocks(&stream.record, sealed.block.0),
            "sealed data need record sizes that are multiples of the block",
        );
    }
    // A stream counts blocks from its start, but the prepared contents of a file begin with the file.
    if let (Data::Sealed(sealed), Data::Sealed(_)) = (&set.data, &stream.data) {
        wrong(
            sealed.block.0 > 0 && !stream.start.0.is_multiple_of(sealed.block.0),
            "a file set of sealed data has its blocks from the beginning of its files on; start is a multiple of the block",
        );
    }
    if stream.pick != Pick::All {
        let only = "; it belongs to streams over all files of a set (pick = \"all\")";
        wrong(stream.turns.is_some(), "turns belong to streams over all files of a set (pick = \"all\")");
        wrong(stream.sequence == Sequence::Common, &format!("a common sequence{only}"));
        wrong(matches!(stream.access, Access::Scaled(_)), &format!("the access scaled{only}"));
        wrong(stream.sync_series.is_some(), &format!("a sync_series{only}"));
        wrong(stream.exclusive, &format!("exclusive{only}"));
        wrong(stream.pace.rate.is_some_and(|r| r.common), &format!("a common rate{only}"));
        wrong(
            matches!(&stream.access, Access::Listed(list) if list.iter().any(|op| op.file > 0)),
            &format!("a list that names files{only}"),
        );
        return errors;
    }
    if let Access::Listed(list) = &stream.access {
        errors.extend(list_errors(set, stream, list));
        return errors;
    }
    if let Some(turns) = &stream.turns {
        errors.extend(turn_errors(set, stream, turns));
        return errors;
    }
    for text in common_errors(set, stream) {
        wrong(true, &text);
    }
    let common = stream.sequence == Sequence::Common;
    if let (Data::Checksummed { block }, Access::Scaled(_), Sizing::Fixed(file)) =
        (&stream.data, &stream.access, &set.size)
    {
        wrong(
            block.0 > 0
                && !file.0.is_multiple_of(block.0)
                && (stream.verify != Verify::No || stream.direction != Direction::Read),
            "checksummed blocks at scaled positions need files that are a multiple of the block: in others the positions of the second file on lie across blocks",
        );
    }
    wrong(
        !matches!(set.size, Sizing::Fixed(b) if b.0 > 0),
        "a stream over all files needs files of one size above 0",
    );
    wrong(set.files.count() > u64::from(u32::MAX), "a stream over all files takes at most 4294967295 files");
    wrong(!matches!(stream.record, Record::Fixed(_)), "a stream over all files needs one record size");
    wrong(
        !matches!(stream.access, Access::Sequential | Access::Uniform | Access::Scaled(_)),
        "a stream over all files is sequential, uniform or scaled",
    );
    wrong(
        stream.start.0 > 0 || stream.length.is_some(),
        "a stream over all files works on all of each; start and length cannot be combined with it",
    );
    wrong(
        stream.sync_every.is_some_and(|s| !s.inside),
        "sync_every counts the writes of one file; with pick = \"all\" use sync_series, or inside = true",
    );
    wrong(
        common && warms_up && stream.amount != Amount::Endless,
        "a common amount cannot start again after a ramp; make it endless and give the phase a stop, or leave out the ramp",
    );
    wrong(
        stream.sync_series.is_some() && stream.direction == Direction::Read,
        "a stream that only reads has nothing for a sync_series to make durable",
    );
    if let Access::Scaled(Scaled { libc_seed: Some(_), .. }) = stream.access {
        wrong(!common, "libc_seed seeds one generator for all workers; it needs sequence = \"common\"");
    }
    errors
}

/// Errors of any stream over all files of a set.
fn common_errors(set: &FileSet, stream: &Stream) -> Vec<String> {
    let no_single_file =
        stream.adaptive_depth.is_some() || stream.disturb_every > 0 || stream.warm_first_record;
    let listed = matches!(stream.access, Access::Listed(_));
    let found = [
        (
            matches!(set.files, Files::Tree(_)),
            "a stream over all files needs a list or numbered files, not a tree",
        ),
        (
            stream.when_stopped != WhenStopped::Leave,
            "a stream over all files ends at once when it is stopped; no other way to finish goes with it",
        ),
        (
            listed && no_single_file,
            "adaptive_depth, disturb_every and warm_first_record cannot be combined with pick = \"all\"",
        ),
        (
            !listed && (no_single_file || stream.log_operations && stream.turns.is_none()),
            "log_operations (but for files that take turns), adaptive_depth, disturb_every and warm_first_record cannot be combined with pick = \"all\"",
        ),
        (
            matches!(stream.access, Access::Preconditioning { .. }),
            "preconditioning goes over one file, and not with pick = \"all\"",
        ),
        (stream.lock != crate::Lock::No, "locks cannot be combined with pick = \"all\""),
        (
            stream.verify == Verify::Full && matches!(stream.data, Data::Positioned { .. }),
            "positioned data differ by file and are laid out for streams on one file; with pick = \"all\" verify checksummed data",
        ),
    ];
    found.into_iter().filter(|&(is, _)| is).map(|(_, text)| text.to_owned()).collect()
}

/// Errors of a stream whose files take turns.
fn turn_errors(set: &FileSet, stream: &Stream, turns: &Turns) -> Vec<String> {
    let mut errors = common_errors(set, stream);
    let mut wrong = |is: bool, text: &str| {
        if is {
            errors.push(text.into());
        }
    };
    wrong(set.files.count() > u64::from(u32::MAX), "a stream over all files takes at most 4294967295 files");
    wrong(
        matches!(
            turns.order,
            Access::Listed(_)
                | Access::Scaled(_)
                | Access::SequentialByKind
                | Access::Runs { .. }
                | Access::PartlyRandom { .. }
                | Access::Striped { .. }
                | Access::Skipping { .. }
                | Access::ZonesInTurn { .. }
                | Access::Preconditioning { .. }
        ),
        "turns cannot be combined with the orders listed, scaled, sequential-by-kind, partly-random, runs, stripes and preconditioning",
    );
    wrong(
        turns.open > 0 && !turns.drop_out(),
        "open switches to the next file when one is done; with this order no file is ever done",
    );
    wrong(
        matches!(stream.access, Access::Listed(_) | Access::Scaled(_)),
        "files that take turns each have their own order, which cannot be listed or scaled",
    );
    wrong(
        stream.sequence == Sequence::Common,
        "a worker whose files take turns has its own sequence; leave sequence out",
    );
    wrong(
        stream.sync_series.is_some() || stream.exclusive,
        "sync_series and exclusive cannot be combined with turns; sync_every syncs the file whose turn it is",
    );
    wrong(stream.pace.rate.is_some_and(|r| r.common), "a common rate cannot be combined with turns");
    errors
}

/// Errors of a list of operations on all files of a set.
fn list_errors(set: &FileSet, stream: &Stream, list: &[ListedOp]) -> Vec<String> {
    let mut errors = common_errors(set, stream);
    let mut wrong = |is: bool, text: &str| {
        if is {
            errors.push(text.into());
        }
    };
    wrong(
        list.iter().any(|op| u64::from(op.file) >= set.files.count()),
        "the list names a file that the set does not have",
    );
    wrong(
        matches!(set.size, Sizing::Fixed(Bytes(0)) | Sizing::Variable(_)),
        "a list of operations on all files needs files of one size above 0, or a list of sizes",
    );
    if let Sizing::Each(sizes) = &set.size {
        let beyond = |op: &ListedOp| {
            let end = op.offset.saturating_add(op.bytes.into());
            sizes.get(op.file as usize).is_some_and(|size| end > size.0)
        };
        wrong(list.iter().any(beyond), "the list goes beyond the end of a file of the set");
    }
    wrong(
        stream.sequence == Sequence::Common || stream.sync_series.is_some() || stream.exclusive,
        "a list of operations is each worker's own: no common sequence, sync_series or exclusive",
    );
    wrong(
        stream.sync_every.is_some_and(|s| !s.inside),
        "sync_every counts the writes of one file; put syncs into the list instead",
    );
    errors
}

#[cfg(test)]
mod tests {
    use crate::Workload;

    /// The error of a list of two operations, the second on the second file, in files of these sizes.
    fn wrong(sizes: &str, second: u64) -> String {
        let text = format!(
            "name = \"w\"\nseed = 1\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"a\", \"b\"] }}\nsize = {sizes}\n\
             [[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
             [phase.group.thread.program.stream]\nfileset = \"f\"\npick = \"all\"\ndirection = \"read\"\n\
             record = {{ fixed = \"4KiB\" }}\namount = \"pass\"\n\
             access = {{ listed = [{{ offset = 0, bytes = 4096 }}, {{ offset = {second}, bytes = 4096, file = 1 }}] }}\n"
        );
        let checked = Workload::from_toml(&text).expect("a workload").check();
        checked.err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_of_a_list_may_have_sizes_of_their_own() {
        let each = "{ each = [\"4KiB\", \"8KiB\"] }";
        assert_eq!(wrong(each, 4096), "");
        assert_eq!(wrong("{ fixed = \"8KiB\" }", 4096), "");
        assert!(wrong(each, 8192).contains("goes beyond the end of a file"), "{}", wrong(each, 8192));
        assert!(wrong("{ fixed = 0 }", 0).contains("files of one size above 0, or a list of sizes"));
    }
}
