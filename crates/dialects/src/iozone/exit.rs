//! How the program exits before a run or on failure: code, stdout and stderr. Codes and stdout texts are IOzone's, for
//! scripts that check them; messages on stderr are fathom's, for the user.

/// An exit without a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IozoneExit {
    /// Exit code of the process.
    pub code: i32,
    /// Text for stdout.
    pub stdout: String,
    /// Text for stderr.
    pub stderr: String,
}

impl IozoneExit {
    /// An exit with text on stdout only.
    #[must_use]
    pub fn out(code: i32, stdout: impl Into<String>) -> Self {
        Self { code, stdout: stdout.into(), stderr: String::new() }
    }

    /// Adds a message for the user.
    #[must_use]
    pub fn because(mut self, sentence: impl Into<String>) -> Self {
        self.stderr = format!("iozone: {}\n", sentence.into());
        self
    }
}

/// Error: a word is not an option.
pub(super) fn unknown(option: &str) -> IozoneExit {
    IozoneExit::out(255, format!("Unsupported option -> {option} <-\n"))
        .because(format!("-{option} is not an option; iozone -h lists them"))
}

/// Error: unknown plus option.
pub(super) fn unknown_plus(option: &str) -> IozoneExit {
    IozoneExit::out(255, format!("Unsupported Plus option -> {option} <-\n"))
        .because(format!("-+{option} is not an option; iozone -h lists them"))
}

/// Error: an argument is missing or malformed.
pub(super) fn bad_argument(letter: char, sentence: String) -> IozoneExit {
    IozoneExit::out(255, format!("Unsupported option -> {letter} <-\n")).because(sentence)
}

/// "invalid options": codes 10 to 14.
pub(super) fn invalid(code: i32, what: &str) -> IozoneExit {
    IozoneExit::out(code, format!("invalid options: {what}\n"))
}

/// Incompatible options, reported after the banner: an empty line, the text after a tab, an empty line.
pub(super) fn mix(code: i32, text: &str) -> IozoneExit {
    IozoneExit::out(code, format!("\n\t{text}\n\n"))
}

/// "Error: ..." with code 23; its last line is a single blank without a line end.
pub(super) fn size_error(text: &str) -> IozoneExit {
    IozoneExit::out(23, format!("Error: {text}\n "))
}
