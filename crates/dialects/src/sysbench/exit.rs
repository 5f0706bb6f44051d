//! How the program exits before a run: exit code, stdout and stderr. SysBench writes some errors to
//! stdout and some to stderr; scripts check both, so this is kept.

/// An exit without a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SysbenchExit {
    /// Exit code: 0 success, 1 any error.
    pub code: i32,
    /// Text for stdout.
    pub stdout: String,
    /// Text for stderr.
    pub stderr: String,
}

impl SysbenchExit {
    /// Success.
    pub(super) fn done(stdout: impl Into<String>) -> Self {
        Self { code: 0, stdout: stdout.into(), stderr: String::new() }
    }

    /// An error that SysBench prints on stdout.
    pub(super) fn fatal(text: impl std::fmt::Display) -> Self {
        Self { code: 1, stdout: format!("FATAL: {text}\n"), stderr: String::new() }
    }

    /// An error that SysBench prints on stderr.
    pub(super) fn complaint(text: impl std::fmt::Display) -> Self {
        Self { code: 1, stdout: String::new(), stderr: format!("{text}\n") }
    }

    /// An error specific to fathom.
    pub(super) fn refused(sentence: impl std::fmt::Display) -> Self {
        Self::complaint(format_args!("sysbench: {sentence}"))
    }

    /// Adds a message from fathom on stderr.
    #[must_use]
    pub(super) fn because(mut self, sentence: impl std::fmt::Display) -> Self {
        self.stderr += &format!("sysbench: {sentence}\n");
        self
    }

    /// Puts earlier output before it.
    #[must_use]
    pub(super) fn after(self, said: &super::Said) -> Self {
        Self {
            stdout: format!("{}{}", said.stdout, self.stdout),
            stderr: format!("{}{}", said.stderr, self.stderr),
            ..self
        }
    }
}
