//! How the program ends before it has begun, or because something failed: code, and what goes to stdout and stderr. The codes
//! and stdout texts are IOzone's, for scripts that look at them; the sentences on stderr are ours, for people.

/// An end without a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Exit code.
    pub code: i32,
    /// For stdout.
    pub stdout: String,
    /// For stderr.
    pub stderr: String,
}

impl Exit {
    /// An end with text on stdout only.
    #[must_use]
    pub fn out(code: i32, stdout: impl Into<String>) -> Self {
        Self { code, stdout: stdout.into(), stderr: String::new() }
    }

    /// Adds a sentence for a person.
    #[must_use]
    pub fn because(mut self, sentence: impl Into<String>) -> Self {
        self.stderr = format!("iozone: {}\n", sentence.into());
        self
    }
}

/// A word that is no option.
pub(super) fn unknown(option: &str) -> Exit {
    Exit::out(255, format!("Unsupported option -> {option} <-\n"))
        .because(format!("-{option} is not an option; iozone -h lists them"))
}

/// A plus option that does not exist.
pub(super) fn unknown_plus(option: &str) -> Exit {
    Exit::out(255, format!("Unsupported Plus option -> {option} <-\n"))
        .because(format!("-+{option} is not an option; iozone -h lists them"))
}

/// An argument that is missing or cannot be read.
pub(super) fn bad_argument(letter: char, sentence: String) -> Exit {
    Exit::out(255, format!("Unsupported option -> {letter} <-\n")).because(sentence)
}

/// "invalid options": codes 10 to 14.
pub(super) fn invalid(code: i32, what: &str) -> Exit {
    Exit::out(code, format!("invalid options: {what}\n"))
}

/// Options that do not go together, said after the banner: an empty line, the text behind a tab, an empty line.
pub(super) fn mix(code: i32, text: &str) -> Exit {
    Exit::out(code, format!("\n\t{text}\n\n"))
}

/// "Error: ..." of code 23, which ends with a line that holds one blank and no line end.
pub(super) fn size_error(text: &str) -> Exit {
    Exit::out(23, format!("Error: {text}\n "))
}
