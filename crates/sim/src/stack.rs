//! Which layers a run has between a thread and the device.

/// The layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stack {
    /// All of them.
    #[default]
    Full,
    /// No page cache: every call goes to the queue as with O_DIRECT, and an fsync waits for nothing.
    NoCache,
    /// No calls either: a trace enters at the queue.
    Replay,
}

impl Stack {
    /// The words on the command line.
    pub const WORDS: [(&'static str, Self); 3] =
        [("full", Self::Full), ("nocache", Self::NoCache), ("replay", Self::Replay)];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, s)| *s == self).map_or("full", |(word, _)| word)
    }

    /// By its word.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(w, _)| *w == word).map(|&(_, stack)| stack)
    }
}
