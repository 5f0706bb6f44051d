//! Filebench's messages about runs that end early.

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped<'a> {
    /// A file or directory did not exist.
    NoFile {
        /// Name of the operation.
        flowop: &'a str,
        /// Number of its thread, from 1.
        instance: u32,
    },
    /// An operation failed.
    Failed {
        /// Name of its thread.
        thread: &'a str,
        /// Number of the thread, from 1.
        thread_instance: u32,
        /// Name of the operation.
        flowop: &'a str,
    },
}

/// The log lines for it; lines without a timestamp are separate.
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
