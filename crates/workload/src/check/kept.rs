//! Checks remembered writes: whether they can be remembered, and whether a reader names a worker that remembers.

use crate::{
    Access, Amount, Backend, Direction, Group, Phase, Pick, Program, Sequence, Stream, Workload, WrittenBy,
};

pub(super) fn errors(workload: &Workload, (phase, group): (&Phase, &Group), stream: &Stream) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    let mut wrong = |is: bool, text: &str| {
        if is {
            errors.push(text.into());
        }
    };
    wrong(
        (stream.keep_written.is_some() || stream.written_by.is_some())
            && !stream.backend.moves_data()
            && stream.backend != Backend::Null,
        "this back-end moves no data, so that nothing is written and read back; leave keep_written and written_by out",
    );
    if let Some(kept) = stream.keep_written {
        wrong(stream.direction == Direction::Read, "keep_written belongs to a stream that writes");
        wrong(
            stream.direction.trims(),
            "keep_written does not go with trims: what was given back has no contents to read back",
        );
        wrong(
            kept.reads_back() && !matches!(stream.direction, Direction::Mix(_)),
            "who reads back while it writes does both: direction = { mix = { read-percent = 0 } } with keep_written.after or each_pass",
        );
        wrong(
            kept.after == 0 && kept.batch > 0,
            "keep_written has a batch, and after how many writes is missing",
        );
        wrong(
            !kept.reads_back() && kept.most > 0,
            "keep_written.most counts what is read back while the stream writes, and after how many writes is missing",
        );
        wrong(
            kept.each_pass && (kept.trim.is_some() || stream.sync_series.is_some()),
            "keep_written.each_pass goes neither with keep_written.trim nor with sync_series",
        );
        wrong(
            (kept.moves.0 > 0 || kept.passes > 0) && !kept.each_pass,
            "keep_written.moves and passes say how many passes there are, and each_pass is missing",
        );
        wrong(
            kept.pass.0 > 0 && !kept.each_pass,
            "keep_written.pass is the length of a pass, and each_pass is missing",
        );
        wrong(
            kept.forgets_sync && !kept.each_pass,
            "keep_written.forgets_sync speaks of syncs between passes, and each_pass is missing",
        );
        if let Some(trim) = kept.trim {
            wrong(
                trim.after == 0 || trim.percent == 0 || trim.percent > 100,
                "trims of what was written (keep_written.trim) come after at least one write, of 1 to 100 percent",
            );
            wrong(
                matches!(stream.backend, Backend::Stdio { .. } | Backend::Mmap { .. }),
                "stdio and mmap keep what they wrote in buffers of their own; take another backend for keep_written.trim",
            );
            wrong(
                stream.until_full,
                "a stream that gives back what it wrote makes room, and goes on for ever; leave until_full out",
            );
            wrong(
                stream.sync_series.is_some(),
                "keep_written.trim does not go with sync_series; sync_every counts the writes",
            );
            wrong(
                stream.pick == Pick::All && stream.turns.is_none(),
                "trims do not go on over all files in a row; let the files take turns",
            );
            wrong(
                stream.pace.least.is_some()
                    || stream.pace.longest.is_some()
                    || stream.adaptive_depth.is_some(),
                "least rates, longest latencies and adaptive_depth do not go with trims (keep_written.trim)",
            );
        }
        wrong(
            stream.sequence == Sequence::Common,
            "keep_written is each worker's own, and a common sequence is that of all",
        );
        wrong(
            matches!(stream.access, Access::Listed(_)),
            "a list of operations says itself what is read back; leave keep_written out",
        );
        wrong(
            stream.written_by.is_some(),
            "a stream either writes what it keeps, or reads what another wrote",
        );
    }
    if let Some(by) = stream.written_by {
        errors.extend(reader_errors(workload, (phase, group), stream, by));
    }
    errors
}

fn reader_errors(
    workload: &Workload,
    (phase, group): (&Phase, &Group),
    stream: &Stream,
    by: WrittenBy,
) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    let mut wrong = |is: bool, text: &str| {
        if is {
            errors.push(text.into());
        }
    };
    wrong(stream.direction != Direction::Read, "written_by belongs to a stream that only reads");
    wrong(
        stream.access != Access::Sequential || stream.amount != Amount::Pass || stream.align.0 > 0,
        "written_by says where and how much is read; leave access, align and amount out",
    );
    wrong(group.warms_up(phase), "what was written is read back once: a warm-up has no place");
    wrong(
        stream.sync_every.is_some() || stream.sync_series.is_some() || stream.adaptive_depth.is_some(),
        "sync_every, sync_series and adaptive_depth do not go with written_by",
    );
    let position = workload.phases.iter().position(|other| std::ptr::eq(other, phase));
    if position.is_none_or(|own| by.phase as usize >= own) {
        errors.push(format!("written_by names phase {}, which does not come before", by.phase));
        return errors;
    }
    let Some(program) = workload.phases.get(by.phase as usize).and_then(|phase| worker(phase, by.worker))
    else {
        errors.push(format!("written_by names worker {} of phase {}, which is none", by.worker, by.phase));
        return errors;
    };
    let writer = match program {
        Program::Stream(stream) => Some(stream).filter(|stream| stream.keep_written.is_some()),
        Program::Flow(_) => None,
    };
    let Some(writer) = writer else {
        errors.push(format!(
            "worker {} of phase {} does not remember what it writes; it needs keep_written",
            by.worker, by.phase
        ));
        return errors;
    };
    let same_files = stream.fileset == writer.fileset
        && match (stream.pick, writer.pick) {
            (Pick::ByWorker, Pick::ByWorker) => of_same_number(workload, (phase, group), stream, by.worker),
            (one, other) => one == other,
        };
    // The turns themselves do not matter, but files of different sizes need turns.
    if !same_files || stream.turns.is_some() != writer.turns.is_some() {
        errors.push("written_by names a worker that works on other files".into());
    }
    if stream.record.largest() < writer.record.largest() {
        errors.push("who reads back needs records as large as those that were written".into());
    }
    errors
}

/// The program of a worker of a phase.
fn worker(phase: &Phase, number: u32) -> Option<&Program> {
    let mut before = 0u64;
    for group in &phase.groups {
        let of_process = group.threads.iter().map(|t| u64::from(t.instances)).fold(0, u64::saturating_add);
        let all = of_process.saturating_mul(group.instances.into());
        let Some(inside) = u64::from(number).checked_sub(before).filter(|inside| *inside < all) else {
            before = before.saturating_add(all);
            continue;
        };
        let mut inside = inside % of_process;
        for thread in &group.threads {
            let instances = u64::from(thread.instances);
            if inside < instances {
                return Some(&thread.program);
            }
            inside -= instances;
        }
    }
    None
}

/// Whether all workers of a stream use the file that a worker of another phase used: files are matched by number.
fn of_same_number(
    workload: &Workload,
    (phase, group): (&Phase, &Group),
    stream: &Stream,
    number: u32,
) -> bool {
    let count = workload.fileset(&stream.fileset).map_or(1, |set| set.files.count().max(1));
    let size = |group: &Group| {
        let threads = group.threads.iter().map(|t| u64::from(t.instances)).sum::<u64>();
        threads.saturating_mul(group.instances.into())
    };
    let before = phase.groups.iter().take_while(|other| !std::ptr::eq(*other, group)).map(size);
    let first = before.fold(0, u64::saturating_add);
    count == 1 || (size(group) == 1 && first % count == u64::from(number) % count)
}

#[cfg(test)]
mod tests {
    use crate::Workload;

    const WRITER: &str = "direction = \"write\"\nkeep_written = {}";
    const READER: &str = "direction = \"read\"\nwritten_by = { phase = 0, worker = 0 }";

    /// The errors of a writer and a reader with these lines.
    fn wrong(writer: &str, reader: &str) -> String {
        let phase = |stream: &str| {
            format!(
                "[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
                 [phase.group.thread.program.stream]\nfileset = \"f\"\nrecord = {{ fixed = \"4KiB\" }}\n{stream}\n"
            )
        };
        let text = format!(
            "name = \"w\"\nseed = 1\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"a\", \"b\"] }}\n\
             size = {{ fixed = \"1MiB\" }}\n{}{}",
            phase(writer),
            phase(reader)
        );
        let checked = Workload::from_toml(&text).expect("a workload").check();
        checked.err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn who_wrote_is_named_and_remembers() {
        assert_eq!(wrong(WRITER, READER), "");
        let both = "direction = { mix = { read-percent = 0 } }\nkeep_written = { after = 4, batch = 2, by_offset = true }";
        assert_eq!(wrong(both, READER), "");
        for (writer, reader, words) in [
            ("direction = \"write\"", READER, "does not remember"),
            (WRITER, "direction = \"read\"\nwritten_by = { phase = 1, worker = 0 }", "does not come before"),
            (WRITER, "direction = \"read\"\nwritten_by = { phase = 0, worker = 1 }", "which is none"),
            (WRITER, "direction = \"write\"\nwritten_by = { phase = 0, worker = 0 }", "only reads"),
            (
                WRITER,
                "direction = \"read\"\naccess = \"backward\"\nwritten_by = { phase = 0, worker = 0 }",
                "leave access",
            ),
            (
                WRITER,
                "direction = \"read\"\npick = { one = 1 }\nwritten_by = { phase = 0, worker = 0 }",
                "other files",
            ),
            ("direction = \"read\"\nkeep_written = {}", READER, "a stream that writes"),
            ("direction = \"write\"\nkeep_written = { after = 2 }", READER, "does both"),
            ("direction = \"write\"\nkeep_written = { batch = 2 }", READER, "is missing"),
        ] {
            let why = wrong(writer, reader);
            assert!(why.contains(words), "{writer} {reader}: {why}");
        }
    }
}
