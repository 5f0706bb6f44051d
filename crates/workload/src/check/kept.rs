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
        "this back-end moves no data, so nothing can be read back; leave keep_written and written_by out",
    );
    if let Some(kept) = stream.keep_written {
        wrong(stream.direction == Direction::Read, "keep_written belongs to a stream that writes");
        wrong(
            stream.direction.trims(),
            "keep_written cannot be combined with trims: trimmed records have no contents to read back",
        );
        wrong(
            kept.reads_back() && !matches!(stream.direction, Direction::Mix(_)),
            "a stream that reads back while it writes does both: with keep_written.after or each_pass use direction = { mix = { read-percent = 0 } }",
        );
        wrong(kept.after == 0 && kept.batch > 0, "keep_written.batch needs keep_written.after");
        wrong(
            !kept.reads_back() && kept.most > 0,
            "keep_written.most limits what is read back while the stream writes; it needs keep_written.after or each_pass",
        );
        wrong(
            kept.each_pass && (kept.trim.is_some() || stream.sync_series.is_some()),
            "keep_written.each_pass cannot be combined with keep_written.trim or sync_series",
        );
        wrong(
            (kept.moves.0 > 0 || kept.passes > 0) && !kept.each_pass,
            "keep_written.moves and passes need each_pass = true",
        );
        wrong(
            kept.pass.0 > 0 && !kept.each_pass,
            "keep_written.pass (the length of a pass) needs each_pass = true",
        );
        wrong(
            kept.forgets_sync && !kept.each_pass,
            "keep_written.forgets_sync (about syncs between passes) needs each_pass = true",
        );
        if let Some(trim) = kept.trim {
            wrong(
                trim.after == 0 || trim.percent == 0 || trim.percent > 100,
                "keep_written.trim needs after = 1 or more, and a percent of 1 to 100",
            );
            wrong(
                matches!(stream.backend, Backend::Stdio { .. } | Backend::Mmap { .. }),
                "stdio and mmap keep written data in their own buffers; use another back-end with keep_written.trim",
            );
            wrong(
                stream.until_full,
                "a stream that trims what it wrote frees space and never fills the device; leave until_full out",
            );
            wrong(
                stream.sync_series.is_some(),
                "keep_written.trim cannot be combined with sync_series; sync_every counts the writes",
            );
            wrong(
                stream.pick == Pick::All && stream.turns.is_none(),
                "trims with pick = \"all\" need files that take turns; set turns",
            );
            wrong(
                stream.pace.least.is_some()
                    || stream.pace.longest.is_some()
                    || stream.adaptive_depth.is_some(),
                "least rates, longest latencies and adaptive_depth cannot be combined with trims (keep_written.trim)",
            );
        }
        wrong(
            stream.sequence == Sequence::Common,
            "keep_written applies to one worker; it cannot be combined with sequence = \"common\"",
        );
        wrong(
            matches!(stream.access, Access::Listed(_)),
            "a list of operations contains its own reads; leave keep_written out",
        );
        wrong(
            stream.written_by.is_some(),
            "keep_written and written_by do not go together: a stream either keeps what it writes or reads what another worker wrote",
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
        "written_by already says where and how much is read; leave access, align and amount out",
    );
    wrong(
        group.warms_up(phase),
        "written_by cannot be combined with a warm-up: written data is read back once",
    );
    wrong(
        stream.sync_every.is_some() || stream.sync_series.is_some() || stream.adaptive_depth.is_some(),
        "sync_every, sync_series and adaptive_depth cannot be combined with written_by",
    );
    let position = workload.phases.iter().position(|other| std::ptr::eq(other, phase));
    if position.is_none_or(|own| by.phase as usize >= own) {
        errors.push(format!("written_by names phase {}, which is not an earlier phase", by.phase));
        return errors;
    }
    let Some(program) = workload.phases.get(by.phase as usize).and_then(|phase| worker(phase, by.worker))
    else {
        errors.push(format!(
            "written_by names worker {} of phase {}, which does not exist",
            by.worker, by.phase
        ));
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
        errors.push("written_by names a worker that uses other files".into());
    }
    if stream.record.largest() < writer.record.largest() {
        errors.push(
            "the records of a stream with written_by must be at least as large as those that were written"
                .into(),
        );
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
    fn written_by_names_a_worker_with_keep_written() {
        assert_eq!(wrong(WRITER, READER), "");
        let both = "direction = { mix = { read-percent = 0 } }\nkeep_written = { after = 4, batch = 2, by_offset = true }";
        assert_eq!(wrong(both, READER), "");
        for (writer, reader, words) in [
            ("direction = \"write\"", READER, "does not remember"),
            (WRITER, "direction = \"read\"\nwritten_by = { phase = 1, worker = 0 }", "not an earlier phase"),
            (WRITER, "direction = \"read\"\nwritten_by = { phase = 0, worker = 1 }", "which does not exist"),
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
            ("direction = \"write\"\nkeep_written = { batch = 2 }", READER, "batch needs keep_written.after"),
        ] {
            let why = wrong(writer, reader);
            assert!(why.contains(words), "{writer} {reader}: {why}");
        }
    }
}
