//! Tokens and keywords. The keywords are those that 1.5 does not accept as values; additional words of the older language are plain
//! words there and here, recognised only by position.

use super::ast::{Piece, Variable};
use super::span::Span;

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// Kinds of tokens. The text of a word is in the script, at the token's span.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A word of [`is_keyword`].
    Keyword,
    /// Any other bare word.
    Word,
    /// Text directly after a variable, as `/sub` in `$dir/sub`.
    Tail,
    /// A number with its suffix multiplied in.
    Integer(u64),
    /// `-10`, without suffix.
    Negative(i64),
    /// A variable.
    Variable(Variable),
    /// A quoted string.
    Quoted(Quoted),
    /// One of `= , { } ( ) + *`.
    Sign(char),
    /// End of the script.
    End,
}

/// A quoted string as 1.5 reads it, in pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Quoted {
    /// The pieces; an escape separates adjacent literals.
    pub pieces: Vec<Piece>,
    /// Characters without meaning that are dropped: a lone dollar or backslash.
    pub skipped: Vec<Span>,
}

pub(super) const COMMANDS: [&str; 15] = [
    "create",
    "define",
    "debug",
    "domultisync",
    "echo",
    "enable",
    "eventgen",
    "quit",
    "list",
    "run",
    "psrun",
    "set",
    "sleep",
    "system",
    "version",
];

/// Words that start a command of the older language. Plain words to the lexer: `name=log` is valid in 1.5.
pub(super) const OLDER_COMMANDS: [&str; 13] = [
    "usage",
    "load",
    "foreach",
    "shutdown",
    "stats",
    "warmup",
    "vars",
    "help",
    "log",
    "exit",
    "enable_osprof",
    "fsflush",
    "fscheck",
];

/// Keywords that are neither commands nor attributes. `fileset` and `process` are in [`is_keyword`].
const OTHER_KEYWORDS: [&str; 19] = [
    "file",
    "files",
    "thread",
    "flowop",
    "randvar",
    "cvar",
    "mode",
    "multi",
    "uniform",
    "tabular",
    "urandom",
    "rand48",
    "alldone",
    "firstdone",
    "timeout",
    "nousestats",
    "lathist",
    "in",
    "true",
];

const ATTRIBUTE_KEYWORDS: [&str; 48] = [
    "name",
    "path",
    "size",
    "filesize",
    "entries",
    "leafdirs",
    "dirwidth",
    "dirgamma",
    "dirdepthrv",
    "prealloc",
    "paralloc",
    "reuse",
    "trusttree",
    "readonly",
    "writeonly",
    "filename",
    "filesetname",
    "instances",
    "nice",
    "memsize",
    "useism",
    "ioprio",
    "fd",
    "srcfd",
    "iosize",
    "workingset",
    "random",
    "iters",
    "opennext",
    "indexed",
    "dsync",
    "directio",
    "noreadahead",
    "value",
    "target",
    "blocking",
    "highwater",
    "type",
    "seed",
    "min",
    "max",
    "mean",
    "gamma",
    "round",
    "randsrc",
    "randtable",
    "parameters",
    "rate",
];

pub(super) fn is_keyword(word: &str) -> bool {
    COMMANDS.contains(&word)
        || OTHER_KEYWORDS.contains(&word)
        || ATTRIBUTE_KEYWORDS.contains(&word)
        || matches!(word, "false" | "master" | "client")
        || is_fileset(word)
        || is_process(word)
}

/// `fileset`, ending in any number of `s`.
pub(super) fn is_fileset(word: &str) -> bool {
    word.strip_prefix("fileset").is_some_and(|rest| rest.bytes().all(|b| b == b's'))
}

/// `process`, ending in any run of the letters `e` and `s`.
pub(super) fn is_process(word: &str) -> bool {
    word.strip_prefix("process").is_some_and(|rest| rest.bytes().all(|b| matches!(b, b'e' | b's')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_fileset_and_process() {
        for word in ["fileset", "filesets", "filesetsss", "process", "processes", "processe", "processsse"] {
            assert!(is_keyword(word), "{word}");
        }
        for word in
            ["filesete", "proces", "processing", "threads", "flowops", "cached", "log", "running", "SET"]
        {
            assert!(!is_keyword(word), "{word}");
        }
    }

    #[test]
    fn no_keyword_is_listed_twice() {
        let mut all: Vec<&str> =
            COMMANDS.iter().chain(&OTHER_KEYWORDS).chain(&ATTRIBUTE_KEYWORDS).copied().collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
