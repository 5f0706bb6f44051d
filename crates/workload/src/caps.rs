//! What an executor cannot do, and whether a workload needs it.
//!
//! An executor declares its [`Capabilities`] as a table of what it lacks; one checker compares them with a workload. A row has the
//! wording for users: what cannot be done, and what to do instead in the terms of every dialect that can request it. Limits that depend
//! on the machine (its CPUs, its kernel) are not in the table.

use crate::{FileSet, Group, Phase, Program, Stream, Thread, Workload};
use std::fmt;
use std::ops::Deref;

/// Something that an executor cannot do. `Asks` is a predicate for whether it is requested.
pub struct Lack<Asks> {
    /// Its name, as the subject of a sentence.
    pub what: &'static str,
    /// What to do instead. Empty: `what` is the whole message.
    pub instead: &'static str,
    /// Whether it is requested.
    pub asked: Asks,
}

impl<Asks: Copy> Lack<Asks> {
    /// A row with a complete sentence instead of a subject.
    pub const fn says(sentence: &'static str, asked: Asks) -> Self {
        Self { what: sentence, instead: "", asked }
    }
}

/// A stream with its group and file set.
#[derive(Clone, Copy)]
pub struct Placed<'a> {
    /// The group it belongs to.
    pub group: &'a Group,
    /// The stream itself.
    pub stream: &'a Stream,
    /// Its file set, if one with this name exists.
    pub set: Option<&'a FileSet>,
}

impl Deref for Placed<'_> {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        self.stream
    }
}

/// A row for each thing.
pub type Table<Asks> = &'static [Lack<Asks>];

/// What an executor cannot do.
pub struct Capabilities {
    /// The verb in its messages: "cannot be simulated".
    pub cannot: &'static str,
    /// Limits on phases.
    pub phases: Table<fn(&Phase) -> bool>,
    /// Limits on threads.
    pub threads: Table<fn(&Thread) -> bool>,
    /// Limits on streams.
    pub streams: Table<fn(&Placed<'_>) -> bool>,
}

/// Something that a workload requests and an executor cannot do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lacking {
    /// The phase and group that request it.
    pub place: String,
    /// The message, without a full stop.
    pub sentence: String,
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.sentence)
    }
}

impl Capabilities {
    /// Everything that a workload requests and the executor cannot do.
    #[must_use]
    pub fn lacking(&self, workload: &Workload) -> Vec<Lacking> {
        let mut all = Vec::new();
        for (number, phase) in workload.phases.iter().enumerate() {
            let place = format!("phase {number} ({})", phase.name);
            self.compare(self.phases, |asked| asked(phase), &place, &mut all);
            for group in &phase.groups {
                let place = format!("{place}, group {}", group.name);
                for thread in &group.threads {
                    self.compare(self.threads, |asked| asked(thread), &place, &mut all);
                    if let Program::Stream(stream) = &thread.program {
                        let placed = Placed { group, stream, set: workload.fileset(&stream.fileset) };
                        self.compare(self.streams, |asked| asked(&placed), &place, &mut all);
                    }
                }
            }
        }
        // Threads of a group may request the same; report it once.
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|lacking| seen.insert(lacking.clone()));
        all
    }

    fn compare<Asks>(
        &self,
        lacks: &[Lack<Asks>],
        is_asked: impl Fn(&Asks) -> bool,
        place: &str,
        all: &mut Vec<Lacking>,
    ) {
        all.extend(lacks.iter().filter(|lack| is_asked(&lack.asked)).map(|lack| Lacking {
            place: place.to_owned(),
            sentence: match lack.instead {
                "" => lack.what.to_owned(),
                instead => format!("{} {}; {instead}", lack.what, self.cannot),
            },
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Isolation, Share};

    const TABLE: Capabilities = Capabilities {
        cannot: "cannot be done",
        phases: &[],
        threads: &[Lack { what: "memory", instead: "leave it out", asked: |thread| thread.memory.0 > 0 }],
        streams: &[Lack::says("processes do not read this set", |stream| {
            stream.group.isolation == Isolation::Process
                && stream.direction.reads()
                && stream.set.is_some_and(|set| set.share == Share::WriteOnly)
        })],
    };

    #[test]
    fn every_request_is_listed_once_with_its_place() {
        let thread = "[[phase.group.thread]]\nmemory = 1\n[phase.group.thread.program.stream]\nfileset = 'f'\n\
                      direction = 'read'\nrecord = { fixed = 1 }\n";
        let text = format!(
            "name = 't'\n[[fileset]]\nname = 'f'\nfiles = {{ list = ['x'] }}\nshare = 'write-only'\n[[phase]]\nname = 'p'\n\
             [[phase.group]]\nname = 'g'\nisolation = 'process'\n{thread}{thread}"
        );
        let told: Vec<String> =
            TABLE.lacking(&Workload::from_toml(&text).unwrap()).iter().map(ToString::to_string).collect();
        let place = "phase 0 (p), group g: ";
        assert_eq!(
            told,
            [
                format!("{place}memory cannot be done; leave it out"),
                format!("{place}processes do not read this set"),
            ]
        );
    }
}
