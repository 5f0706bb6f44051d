//! What an executor cannot do, and whether a workload asks for it.
//!
//! An executor declares its [`Capabilities`] as a table of what it lacks; one checker compares them with a workload. A row has the
//! words for a user: what cannot be done, and what to do instead in the terms of every dialect that can ask for it.

use crate::{Phase, Program, Stream, Thread, Workload};

/// Something that an executor cannot do.
pub struct Lack<T> {
    /// What it is, as the subject of a sentence.
    pub what: &'static str,
    /// What to do instead.
    pub instead: &'static str,
    /// Whether it is asked for.
    pub asked: fn(&T) -> bool,
}

/// What an executor cannot do.
pub struct Capabilities {
    /// The verb for its sentences: "cannot be simulated".
    pub cannot: &'static str,
    /// Of phases.
    pub phases: &'static [Lack<Phase>],
    /// Of threads.
    pub threads: &'static [Lack<Thread>],
    /// Of streams.
    pub streams: &'static [Lack<Stream>],
}

impl Capabilities {
    /// A sentence for everything that a workload asks for and the executor cannot do, with the place where it is asked for.
    #[must_use]
    pub fn lacking(&self, workload: &Workload) -> Vec<String> {
        let phases = workload.phases.iter().enumerate();
        phases.flat_map(|(number, phase)| self.lacking_in(number, phase)).collect()
    }

    /// The same for one phase.
    #[must_use]
    pub fn lacking_in(&self, number: usize, phase: &Phase) -> Vec<String> {
        let place = format!("phase {number} ({})", phase.name);
        let mut sentences = self.compared(self.phases, phase, &place);
        for group in &phase.groups {
            let place = format!("{place}, group {}", group.name);
            for thread in &group.threads {
                sentences.extend(self.compared(self.threads, thread, &place));
                if let Program::Stream(stream) = &thread.program {
                    sentences.extend(self.compared(self.streams, stream, &place));
                }
            }
        }
        // Threads of a group may ask for the same.
        let mut told = std::collections::BTreeSet::new();
        sentences.retain(|sentence| told.insert(sentence.clone()));
        sentences
    }

    fn compared<T>(&self, lacks: &[Lack<T>], asks: &T, place: &str) -> Vec<String> {
        let asked = lacks.iter().filter(|lack| (lack.asked)(asks));
        asked.map(|lack| format!("{place}: {} {}; {}", lack.what, self.cannot, lack.instead)).collect()
    }
}
