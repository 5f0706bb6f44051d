//! How the program ends before it has begun: exit code, and what goes to stdout and stderr. SysBench writes some of its errors to
//! the one and some to the other; scripts look at both, so which goes where is kept.

/// An end without a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// Exit code: 0 done, 1 any error.
    pub code: i32,
    /// For stdout.
    pub stdout: String,
    /// For stderr.
    pub stderr: String,
}

impl Exit {
    /// Everything is well.
    pub(super) fn done(stdout: impl Into<String>) -> Self {
        Self { code: 0, stdout: stdout.into(), stderr: String::new() }
    }

    /// An error that SysBench tells on stdout.
    pub(super) fn fatal(text: impl std::fmt::Display) -> Self {
        Self { code: 1, stdout: format!("FATAL: {text}\n"), stderr: String::new() }
    }

    /// An error that SysBench tells on stderr.
    pub(super) fn complaint(text: impl std::fmt::Display) -> Self {
        Self { code: 1, stdout: String::new(), stderr: format!("{text}\n") }
    }

    /// An error that only fathom has.
    pub(super) fn refused(sentence: impl std::fmt::Display) -> Self {
        Self::complaint(format_args!("sysbench: {sentence}"))
    }

    /// The same with a sentence of ours on stderr.
    #[must_use]
    pub(super) fn because(mut self, sentence: impl std::fmt::Display) -> Self {
        self.stderr += &format!("sysbench: {sentence}\n");
        self
    }

    /// The same after what was said before it.
    #[must_use]
    pub(super) fn after(self, said: &super::Said) -> Self {
        Self {
            stdout: format!("{}{}", said.stdout, self.stdout),
            stderr: format!("{}{}", said.stderr, self.stderr),
            ..self
        }
    }
}
