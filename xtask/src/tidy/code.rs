//! Rust text with what is not code taken out: comments and the insides of string and character literals become blanks, byte for
//! byte, so that lines and offsets stay those of the file. Not a parser: enough to tell `println!` in code from the word in a
//! comment, and to find matching braces.

/// A file's code and its comments.
#[derive(Debug)]
pub(crate) struct Code {
    /// As long as the file, with blanks for comments and literals (their quotes stay).
    pub(crate) code: String,
    /// (line from 1, text of that line's comment) for every line with one.
    pub(crate) comments: Vec<(usize, String)>,
}

/// What the reader is inside of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Code,
    LineComment,
    /// Nesting depth.
    BlockComment(u32),
    String,
    /// Number of `#`.
    RawString(usize),
    Char,
}

impl Code {
    /// Reads a file.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut code = Vec::with_capacity(bytes.len());
        let mut comment = vec![b' '; bytes.len()];
        let mut inside = Inside::Code;
        let mut at = 0;
        while at < bytes.len() {
            let (next, length) = step(bytes, at, inside);
            for (place, &byte) in bytes.iter().enumerate().skip(at).take(length) {
                let commented = is_comment(inside) || is_comment(next);
                if commented {
                    comment[place] = byte;
                }
                // Both quotes of a literal stay, so that an empty or full literal differs from none.
                let keep = byte == b'\n' || (!commented && (inside == Inside::Code || next == Inside::Code));
                code.push(if keep { byte } else { b' ' });
            }
            inside = next;
            at += length;
        }
        let comments = String::from_utf8_lossy(&comment).into_owned();
        let lines = lines_of(text, &comments);
        Self { code: String::from_utf8_lossy(&code).into_owned(), comments: lines }
    }

    /// The file's comments and the insides of its literals, with blanks for everything else.
    pub(crate) fn prose(&self, text: &str) -> String {
        let blank = |(prose, code): (u8, u8)| if prose == code && prose != b'\n' { b' ' } else { prose };
        let bytes: Vec<u8> = text.bytes().zip(self.code.bytes()).map(blank).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The line (from 1) of an offset.
    pub(crate) fn line_at(&self, offset: usize) -> usize {
        1 + self.code.as_bytes()[..offset].iter().filter(|&&b| b == b'\n').count()
    }

    /// Offset of the brace that closes the one at `open`.
    pub(crate) fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (at, byte) in self.code.bytes().enumerate().skip(open) {
            match byte {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Offsets at which a word stands that is no part of a longer one.
    pub(crate) fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
            let before = self.code[..at].bytes().next_back();
            let after = self.code[at + word.len()..].bytes().next();
            let ends_in_word = word.bytes().next_back().is_some_and(is_word);
            let goes_on = ends_in_word && after.is_some_and(is_word);
            !before.is_some_and(is_word) && !goes_on
        })
    }

    /// The lines (from 1) of `#[cfg(test)] mod ... { ... }`.
    pub(crate) fn test_lines(&self) -> Vec<std::ops::RangeInclusive<usize>> {
        let mut ranges = Vec::new();
        for (at, _) in
            self.code.match_indices("#[cfg(test)]").chain(self.code.match_indices("#[cfg(all(test"))
        {
            let rest = &self.code[at..];
            let (Some(brace), semicolon) = (rest.find('{'), rest.find(';')) else { continue };
            if semicolon.is_some_and(|s| s < brace) {
                continue;
            }
            if let Some(end) = self.closing(at + brace) {
                ranges.push(self.line_at(at)..=self.line_at(end));
            }
        }
        ranges
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_comment(inside: Inside) -> bool {
    matches!(inside, Inside::LineComment | Inside::BlockComment(_))
}

/// What the reader is inside of after the next bytes, and how many they are.
fn step(bytes: &[u8], at: usize, inside: Inside) -> (Inside, usize) {
    let rest = &bytes[at..];
    match inside {
        Inside::Code => step_in_code(bytes, at),
        Inside::LineComment if rest[0] == b'\n' => (Inside::Code, 1),
        Inside::BlockComment(depth) if rest.starts_with(b"/*") => (Inside::BlockComment(depth + 1), 2),
        Inside::BlockComment(1) if rest.starts_with(b"*/") => (Inside::Code, 2),
        Inside::BlockComment(depth) if rest.starts_with(b"*/") => (Inside::BlockComment(depth - 1), 2),
        Inside::String | Inside::Char if rest[0] == b'\\' => (inside, rest.len().min(2)),
        Inside::String if rest[0] == b'"' => (Inside::Code, 1),
        Inside::Char if rest[0] == b'\'' => (Inside::Code, 1),
        Inside::RawString(hashes)
            if rest[0] == b'"' && rest[1..].iter().take_while(|&&b| b == b'#').count() >= hashes =>
        {
            (Inside::Code, 1 + hashes)
        }
        _ => (inside, 1),
    }
}

fn step_in_code(bytes: &[u8], at: usize) -> (Inside, usize) {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return (Inside::LineComment, 2);
    }
    if rest.starts_with(b"/*") {
        return (Inside::BlockComment(1), 2);
    }
    let in_word = at > 0 && is_word(bytes[at - 1]);
    if let Some((prefix, hashes)) = raw_string_start(rest).filter(|_| !in_word) {
        return (Inside::RawString(hashes), prefix);
    }
    match rest[0] {
        b'"' => (Inside::String, 1),
        b'\'' if is_char_literal(rest) => (Inside::Char, 1),
        _ => (Inside::Code, 1),
    }
}

/// (length, number of `#`) of `r"`, `r##"`, `br"`, `cr#"`.
fn raw_string_start(rest: &[u8]) -> Option<(usize, usize)> {
    let letters = usize::from(matches!(rest.first(), Some(b'b' | b'c'))) + 1;
    if rest.get(letters - 1) != Some(&b'r') {
        return None;
    }
    let hashes = rest[letters..].iter().take_while(|&&b| b == b'#').count();
    (rest.get(letters + hashes) == Some(&b'"')).then_some((letters + hashes + 1, hashes))
}

/// `'a'` and `'\n'`, not the lifetime in `&'a str`.
fn is_char_literal(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'\\') => true,
        Some(b'\'') | None => false,
        Some(&first) => {
            let length = match first {
                0x00..0x80 => 1,
                0x80..0xe0 => 2,
                0xe0..0xf0 => 3,
                _ => 4,
            };
            rest.get(1 + length) == Some(&b'\'')
        }
    }
}

/// The comment part of every line that has one.
fn lines_of(text: &str, comments: &str) -> Vec<(usize, String)> {
    // The comment bytes were copied to their places, but a line's other bytes became blanks, so lines are cut by the file's own.
    let mut at = 0;
    let mut lines = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let end = at + line.len();
        let comment = comments.get(at..end).unwrap_or_default().trim();
        if !comment.is_empty() {
            lines.push((number + 1, comment.to_string()));
        }
        at = end;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_in_place() {
        let text = "let a = \"// no\"; // yes\nlet b = 'x'; /* one /* two */ three */ let c: &'static str = r#\"a\"b\"#;\n";
        let code = Code::of(text);
        assert_eq!(code.code.len(), text.len());
        let blanked = "let a = \"     \";       \nlet b = ' ';                           let c: &'static str = r#\"   \"#;\n";
        assert_eq!(code.code, blanked);
        assert_eq!(code.comments[0], (1, "// yes".to_string()));
        assert_eq!(code.comments[1], (2, "/* one /* two */ three */".to_string()));
    }

    #[test]
    fn escapes_and_lifetimes_do_not_confuse() {
        let code = Code::of(r#"fn f<'a>(x: &'a str) { ("\"{", '\'', '{', b'"', "ü{", 'ü') }"#);
        assert_eq!(code.code.matches('{').count(), 1);
        assert_eq!(code.closing(code.code.find('{').unwrap()), Some(code.code.len() - 1));
    }

    #[test]
    fn words_are_whole() {
        let code = Code::of("print!(); eprint!(); my_todo!(); todo!(); // todo!()");
        assert_eq!(code.words("print!").count(), 1);
        assert_eq!(code.words("todo!").count(), 1);
    }

    #[test]
    fn test_modules_are_found() {
        let code = Code::of("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n");
        assert_eq!(code.test_lines(), [3..=6]);
        assert!(Code::of("#[cfg(test)]\nmod tests;\nfn c() {}\n").test_lines().is_empty());
    }

    #[test]
    fn half_a_file_is_no_panic() {
        for text in ["\"", "r#\"", "'", "/*", "//", "'\\", "b", "br", "}", "\"\\"] {
            assert_eq!(Code::of(text).code.len(), text.len(), "{text}");
        }
    }
}
