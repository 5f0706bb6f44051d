//! What Filebench says of runs that do not come to their end.

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped<'a> {
    /// An operation found no file or directory.
    NoFile {
        /// The operation.
        flowop: &'a str,
        /// Number of its thread, from 1.
        instance: u32,
    },
    /// An operation failed.
    Failed {
        /// Its thread.
        thread: &'a str,
        /// Number of the thread, from 1.
        thread_instance: u32,
        /// The operation.
        flowop: &'a str,
    },
}

/// The lines about it: those of the log, and without a time those that have none.
#[must_use]
pub fn stopped_early(stopped: Stopped) -> Vec<String> {
    match stopped {
        Stopped::NoFile { flowop, instance } => vec![
            "WARNING! Run stopped early:".into(),
            format!("                flowop {flowop}-{instance} could not obtain a file. Please"),
            "                reduce runtime, increase fileset entries ($nfiles), or switch modes.".into(),
        ],
        Stopped::Failed { thread, thread_instance, flowop } => {
            vec![format!("{thread}-{thread_instance}: flowop {flowop}-1 failed")]
        }
    }
}
