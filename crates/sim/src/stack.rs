//! The layers between a thread and the device in a run.

/// The layers of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stack {
    /// All layers.
    #[default]
    Full,
    /// No page cache: every call goes to the queue as with O_DIRECT, and an fsync waits for nothing.
    NoCache,
    /// No system calls either: a trace enters at the queue.
    Replay,
}

impl Stack {
    /// The words accepted on the command line.
    pub const WORDS: [(&'static str, Self); 3] =
        [("full", Self::Full), ("nocache", Self::NoCache), ("replay", Self::Replay)];

    /// The command-line word for this stack.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, s)| *s == self).map_or("full", |(word, _)| word)
    }

    /// Looks a stack up by its command-line word; `None` if the word is unknown.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(w, _)| *w == word).map(|&(_, stack)| stack)
    }
}
