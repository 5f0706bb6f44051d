//! Whether a workload makes sense: names that resolve, sizes that divide, ends that come. Executors add what they cannot do;
//! nothing is left to be discovered half-way through a run.

use crate::{
    Access, Amount, Direction, Files, Flow, Mix, OpenSync, Phase, Pick, Program, Record, Sizing, Stream,
    Thread, Workload,
};

/// What does not make sense, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct CheckError {
    /// "phase 3 (read), group readers"
    pub place: String,
    /// What is wrong and what is expected.
    pub message: String,
}

impl Workload {
    /// Checks everything and returns all errors found, in order of the text.
    ///
    /// # Errors
    /// Every inconsistency, not only the first.
    pub fn check(&self) -> Result<(), Vec<CheckError>> {
        let mut errors = Vec::new();
        if self.repetitions == 0 {
            errors.push(error("workload", "repetitions is 0; at least 1 is needed"));
        }
        self.check_filesets(&mut errors);
        for (i, phase) in self.phases.iter().enumerate() {
            self.check_phase(i, phase, &mut errors);
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn check_filesets(&self, errors: &mut Vec<CheckError>) {
        for (i, set) in self.filesets.iter().enumerate() {
            let place = format!("fileset {i} ({})", set.name);
            if self.filesets[..i].iter().any(|s| s.name == set.name) {
                errors.push(error(&place, "another file set has this name"));
            }
            if set.files.count() == 0 && !matches!(set.files, Files::Tree(_)) {
                errors.push(error(&place, "it names no file"));
            }
            if let Sizing::Variable(v) = &set.size
                && !self.variables.contains_key(v)
            {
                errors.push(error(
                    &place,
                    &format!("its size is drawn from variable {v:?}, which is not defined"),
                ));
            }
            if set.preallocated_percent > 100 {
                errors.push(error(&place, "preallocated_percent is above 100"));
            }
        }
    }

    fn check_phase(&self, number: usize, phase: &Phase, errors: &mut Vec<CheckError>) {
        let place = format!("phase {number} ({})", phase.name);
        for action in phase.before.iter().chain(&phase.after) {
            use crate::Action::{Command, Evict, Prepare, Recreate, Remove, Warm};
            match action {
                Evict(s) | Warm(s) | Prepare(s) | Recreate(s) | Remove(s) if self.fileset(s).is_none() => {
                    errors.push(error(&place, &format!("no file set is named {s:?}")));
                }
                Command(words) if words.is_empty() => errors.push(error(&place, "the command is empty")),
                _ => {}
            }
        }
        for group in &phase.groups {
            for thread in &group.threads {
                let place = format!("{place}, group {} {}", group.name, thread.name).trim_end().to_owned();
                self.check_thread(&place, phase, thread, errors);
            }
        }
    }

    fn check_thread(&self, place: &str, phase: &Phase, thread: &Thread, errors: &mut Vec<CheckError>) {
        match &thread.program {
            Program::Stream(stream) => {
                for message in self.stream_errors(phase, stream) {
                    errors.push(error(place, &message));
                }
            }
            Program::Flow(flow) => {
                for message in self.flow_errors(phase, flow) {
                    errors.push(error(place, &message));
                }
            }
        }
    }

    fn stream_errors(&self, phase: &Phase, stream: &Stream) -> Vec<String> {
        let mut errors = Vec::new();
        let Some(set) = self.fileset(&stream.fileset) else {
            return vec![format!("no file set is named {:?}", stream.fileset)];
        };
        if let Pick::One(index) = stream.pick
            && u64::from(index) >= set.files.count()
        {
            errors.push(format!("file {index} is picked from {} files", set.files.count()));
        }
        errors.extend(record_errors(&stream.record));
        let listed = matches!(stream.access, Access::Listed(_));
        let region = stream.length.or(match &set.size {
            Sizing::Fixed(b) => Some(*b),
            Sizing::Variable(_) => None,
        });
        if let Some(region) = region
            && !listed
            && region < stream.record.largest()
        {
            errors.push(format!(
                "record size {} is larger than the region of {region}",
                stream.record.largest()
            ));
        }
        if let Access::Listed(list) = &stream.access
            && list.is_empty()
        {
            errors.push("the list of operations is empty".into());
        }
        if let Access::Zipf { theta } = stream.access
            && !(theta > 0.0 && theta.is_finite())
        {
            errors.push(format!("theta {theta} is not above 0"));
        }
        if matches!(stream.access, Access::Shuffled { .. } | Access::Strided { .. })
            && !matches!(stream.record, Record::Fixed(_))
        {
            errors.push("this order of access needs a fixed record size".into());
        }
        match stream.direction {
            Direction::Mix(Mix::ReadPercent(p)) if p > 100 => errors.push(format!("{p} percent reads")),
            Direction::Mix(Mix::ReadsPerWrite(r)) if !(r >= 0.0 && r.is_finite()) => {
                errors.push(format!("{r} reads per write"));
            }
            _ => {}
        }
        if stream.amount == Amount::Endless && phase.stop.time.is_none() && phase.stop.first_done.is_none() {
            errors.push("it never ends: give an amount, or the phase a time".into());
        }
        if stream.sync_every.is_some_and(|s| s.writes == 0) {
            errors.push("sync_every after 0 writes; leave it out instead".into());
        }
        if stream.open.sync != OpenSync::No && stream.direction == Direction::Read && stream.open.truncate {
            errors.push("a stream that only reads cannot truncate its file".into());
        }
        errors
    }

    fn flow_errors(&self, phase: &Phase, flow: &Flow) -> Vec<String> {
        let mut errors = Vec::new();
        if flow.ops.is_empty() {
            errors.push("the flow has no operation".into());
        }
        for op in &flow.ops {
            if let Some(set) = &op.fileset
                && self.fileset(set).is_none()
            {
                errors.push(format!("operation {}: no file set is named {set:?}", op.name));
            }
            for value in [&op.size, &op.working_set, &op.repeat, &op.value, &op.high_water]
                .into_iter()
                .chain(&op.entry)
            {
                if let crate::Value::Variable { variable } = value
                    && !self.variables.contains_key(variable)
                {
                    errors.push(format!("operation {}: variable {variable:?} is not defined", op.name));
                }
            }
            if let Some(target) = &op.target
                && !self.has_flow_op(phase, target)
            {
                errors.push(format!("operation {}: no operation of the phase is named {target:?}", op.name));
            }
        }
        errors
    }

    fn has_flow_op(&self, phase: &Phase, name: &str) -> bool {
        phase.groups.iter().flat_map(|g| &g.threads).any(|t| match &t.program {
            Program::Flow(flow) => flow.ops.iter().any(|op| op.name == name),
            Program::Stream(_) => false,
        })
    }
}

fn record_errors(record: &Record) -> Vec<String> {
    let mut errors = Vec::new();
    if record.unit().0 == 0 {
        errors.push("the record size is 0".into());
    }
    if record.largest().0 > 1 << 30 {
        errors.push(format!("record size {} is above the limit of 1GiB", record.largest()));
    }
    match record {
        Record::Between { min, max } if min > max => errors.push(format!("record sizes from {min} to {max}")),
        Record::Split(sizes) if !sizes.iter().all(|s| s.1 > 0.0 && s.1.is_finite()) || sizes.is_empty() => {
            errors.push("every record size of a split needs a weight above 0".into());
        }
        _ => {}
    }
    errors
}

fn error(place: &str, message: &str) -> CheckError {
    CheckError { place: place.into(), message: message.into() }
}
