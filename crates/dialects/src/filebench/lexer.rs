//! Cuts a script into tokens by the lexical rules of Filebench 1.5, widened by what the older language adds: arithmetic signs and words
//! that go on after a variable. Never stops: what has no meaning is skipped and reported, as 1.5 does.

use super::ast::{INTEGER_MAX, Piece, Variable, VariableForm};
use super::span::Span;
use super::token::{Quoted, Token, TokenKind, is_keyword};

/// Something to report, before lines and columns are known.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub span: Span,
    pub message: String,
    pub hint: Option<String>,
}

/// Tokens (the last is [`TokenKind::End`]) and what was found on the way.
pub(super) struct Lexed {
    pub tokens: Vec<Token>,
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
    /// Characters that were skipped.
    pub illegal: Vec<(Span, char)>,
}

/// The tokens of `text`.
pub(super) fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer {
        text,
        at: 0,
        out: Lexed { tokens: Vec::new(), errors: Vec::new(), warnings: Vec::new(), illegal: Vec::new() },
    };
    while lexer.token() {}
    lexer.push(text.len(), TokenKind::End);
    lexer.out
}

/// Characters a bare word may go on with.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':' | ';')
}

/// Characters of a name in brackets; those with a dot are the older language's internal values.
fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    out: Lexed,
}

impl Lexer<'_> {
    /// Reads one token or skips one thing; false at the end.
    fn token(&mut self) -> bool {
        let Some(first) = self.rest().chars().next() else { return false };
        let start = self.at;
        if self.tail() {
            return true;
        }
        match first {
            ' ' | '\t' | '\n' => self.at += 1,
            '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '"' => self.quoted(),
            '$' => {
                let variable = self.variable();
                self.push(start, TokenKind::Variable(variable));
            }
            '=' | ',' | '{' | '}' | '(' | ')' | '+' | '*' => {
                self.at += 1;
                self.push(start, TokenKind::Sign(first));
            }
            '0'..='9' => self.integer(),
            'a'..='z' | 'A'..='Z' | '/' | '-' => self.word(),
            other => {
                self.at += other.len_utf8();
                self.out.illegal.push((Span::new(start, self.at), other));
            }
        }
        true
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn push(&mut self, start: usize, kind: TokenKind) {
        self.out.tokens.push(Token { kind, span: Span::new(start, self.at) });
    }

    /// Length of the run of characters from here on that `belongs` says yes to.
    fn run_length(&self, belongs: impl Fn(char) -> bool) -> usize {
        self.rest().find(|c| !belongs(c)).unwrap_or(self.rest().len())
    }

    /// A word that goes on right after a variable. One without a letter, digit, slash or dash (`$ab;`) is no word: 1.5 skips it.
    fn tail(&mut self) -> bool {
        let start = self.at;
        let after_variable = self
            .out
            .tokens
            .last()
            .is_some_and(|token| matches!(token.kind, TokenKind::Variable(_)) && token.span.end == start);
        if !after_variable || self.rest().starts_with(';') {
            return false;
        }
        let length = self.run_length(is_word_char);
        let tail = &self.rest()[..length];
        if !tail.contains(|c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-')) {
            return false;
        }
        self.at += length;
        self.push(start, TokenKind::Tail);
        true
    }

    fn word(&mut self) {
        let start = self.at;
        self.at += self.run_length(is_word_char);
        let word = &self.text[start..self.at];
        let kind = match word.strip_prefix('-') {
            Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                let magnitude = digits.parse::<i64>();
                if magnitude.is_err() {
                    self.clamped(start);
                }
                TokenKind::Negative(-magnitude.unwrap_or(i64::MAX))
            }
            _ if is_keyword(word) => TokenKind::Keyword,
            _ => TokenKind::Word,
        };
        self.push(start, kind);
    }

    fn clamped(&mut self, start: usize) {
        self.out.warnings.push(Finding {
            span: Span::new(start, self.at),
            message: format!("the number is larger than 2^63-1; {INTEGER_MAX} is used, as Filebench does"),
            hint: None,
        });
    }

    fn integer(&mut self) {
        let start = self.at;
        self.at += self.run_length(|c| c.is_ascii_digit());
        let digits = &self.text[start..self.at];
        let parsed = digits.parse::<u64>().ok().filter(|value| *value <= INTEGER_MAX);
        let factor = match self.rest().as_bytes().first() {
            Some(b'k') => 1_u64 << 10,
            Some(b'm') => 1 << 20,
            Some(b'g') => 1 << 30,
            _ => 1,
        };
        if factor > 1 {
            self.at += 1;
        }
        let span = Span::new(start, self.at);
        let product = parsed.unwrap_or(INTEGER_MAX).checked_mul(factor).filter(|value| *value <= INTEGER_MAX);
        if product.is_none() {
            self.out.errors.push(Finding {
                span,
                message: "the number is larger than 2^63-1 once its suffix is multiplied in".into(),
                hint: Some(
                    "Filebench 1.5 would silently use what is left of it; write a smaller number".into(),
                ),
            });
        } else if parsed.is_none() {
            self.clamped(start);
        }
        self.push(start, TokenKind::Integer(product.unwrap_or(INTEGER_MAX)));
    }

    /// A variable; at `$`. One that is badly written is reported and read as far as it goes.
    fn variable(&mut self) -> Variable {
        let start = self.at;
        self.at += 1;
        match self.rest().chars().next() {
            Some('{') => self.bracketed(start, '}', VariableForm::Braced),
            Some('(') => self.bracketed(start, ')', VariableForm::Parenthesised),
            _ => self.plain(start),
        }
    }

    fn plain(&mut self, start: usize) -> Variable {
        let length = self.run_length(|c| c.is_ascii_alphanumeric() || c == '_');
        let name = self.rest()[..length].trim_end_matches('_').to_owned();
        self.at += name.len();
        let fault = if name.is_empty() {
            Some("a '$' without a name")
        } else if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            Some("a variable's name starts with a letter")
        } else if name.len() < 2 {
            Some("a variable's name has at least two characters")
        } else {
            None
        };
        if let Some(fault) = fault {
            let hint = (name.len() == 1 && !fault.ends_with("letter"))
                .then(|| "give the variable a longer name; for the sign itself write \\$ in a string".into());
            self.out.errors.push(Finding { span: Span::new(start, self.at), message: fault.into(), hint });
        }
        Variable { form: VariableForm::Plain, name }
    }

    fn bracketed(&mut self, start: usize, close: char, form: VariableForm) -> Variable {
        self.at += 1;
        let length = self.run_length(is_name_char);
        let name = self.rest()[..length].to_owned();
        self.at += length;
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let closed = self.rest().starts_with(close);
        if closed {
            self.at += 1;
        }
        if !good || !closed {
            let message = if closed || !good {
                format!("'{}' holds no variable's name", &self.text[start..self.at])
            } else {
                format!("a '{close}' is missing after '{}'", &self.text[start..self.at])
            };
            self.out.errors.push(Finding { span: Span::new(start, self.at), message, hint: None });
        }
        Variable { form, name }
    }

    fn quoted(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut quoted = Quoted::default();
        loop {
            match self.rest().chars().next() {
                None => {
                    let line =
                        self.text[start..].find('\n').map_or(self.text.len(), |newline| start + newline);
                    self.out.errors.push(Finding {
                        span: Span::new(start, line),
                        message: "the string that starts here is never closed".into(),
                        hint: Some("close it with '\"'".into()),
                    });
                    break;
                }
                Some('"') => {
                    self.at += 1;
                    break;
                }
                Some(_) => self.piece(&mut quoted),
            }
        }
        self.push(start, TokenKind::Quoted(quoted));
    }

    /// One piece of a string; a piece is what 1.5 makes one token of.
    fn piece(&mut self, quoted: &mut Quoted) {
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with("\\n") {
            self.at += 2;
            quoted.pieces.push(Piece::Literal("\n".into()));
        } else if let Some(escaped) = rest.strip_prefix("\\$") {
            let length = escaped.find(['$', '"', '\\']).unwrap_or(escaped.len());
            quoted.pieces.push(Piece::Literal(format!("${}", &escaped[..length])));
            self.at += 2 + length;
        } else if rest.starts_with('$') {
            self.dollar(quoted);
        } else if rest.starts_with('\\') {
            self.skip(quoted);
        } else {
            let run = &rest[..rest.find(['$', '"']).unwrap_or(rest.len())];
            let literal = run.trim_end_matches('\\').to_owned();
            self.at += literal.len();
            if is_keyword(&literal) {
                self.out.errors.push(Finding {
                    span: Span::new(start, self.at),
                    message: format!("'{literal}' is a keyword, which quotes do not change"),
                    hint: Some(
                        "use another word, or add to it; a blank is enough where it does not matter".into(),
                    ),
                });
            }
            quoted.pieces.push(Piece::Literal(literal));
        }
    }

    /// A dollar in a string. Before anything that is no name it is dropped; `$a` is a mistake, as it would change a path.
    fn dollar(&mut self, quoted: &mut Quoted) {
        let start = self.at;
        let named = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let rest = &self.rest()[1..];
        let (inside, close) = match rest.chars().next() {
            Some('{') => (&rest[1..], Some('}')),
            Some('(') => (&rest[1..], Some(')')),
            _ => (rest, None),
        };
        if !named(inside) || (close.is_none() && inside.starts_with('_')) {
            self.skip(quoted);
            return;
        }
        if let Some(close) = close {
            let length = inside.find(|c: char| !is_name_char(c)).unwrap_or(inside.len());
            if !inside[length..].starts_with(close) {
                // `$(ls /x)` is for the shell: to 1.5 a variable it does not know, which stands for its own text.
                self.at += 2 + length;
                quoted.pieces.push(Piece::Literal(self.text[start..self.at].to_owned()));
                return;
            }
        }
        let variable = self.variable();
        quoted.pieces.push(Piece::Variable(variable));
    }

    fn skip(&mut self, quoted: &mut Quoted) {
        quoted.skipped.push(Span::new(self.at, self.at + 1));
        self.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TokenKind::{Integer, Keyword, Negative, Sign, Tail, Word};

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut kinds: Vec<TokenKind> = lex(text).tokens.into_iter().map(|token| token.kind).collect();
        assert_eq!(kinds.pop(), Some(TokenKind::End));
        kinds
    }

    fn variable(name: &str) -> TokenKind {
        TokenKind::Variable(Variable::plain(name))
    }

    /// The pieces of one string; literals as they are, variables in brackets.
    fn pieces(text: &str) -> Vec<String> {
        let mut kinds = kinds(text);
        let Some(TokenKind::Quoted(quoted)) = kinds.pop() else { panic!("no string in {text}") };
        assert!(kinds.is_empty(), "{text}");
        let show = |piece: &Piece| match piece {
            Piece::Literal(literal) => literal.clone(),
            Piece::Variable(variable) => format!("<{}>", variable.name),
        };
        quoted.pieces.iter().map(show).collect()
    }

    #[test]
    fn the_longest_match_wins() {
        assert_eq!(kinds("run running run60 60quit"), [Keyword, Word, Word, Integer(60), Keyword]);
        assert_eq!(kinds("foo-bar.baz:q;r/s"), [Word]);
        assert_eq!(
            kinds("2fast 010 4k 1g"),
            [Integer(2), Word, Integer(10), Integer(4096), Integer(1 << 30)]
        );
        assert_eq!(kinds("-10 -10k - -x"), [Negative(-10), Word, Word, Word]);
        assert_eq!(kinds("a+b"), [Word, Sign('+'), Word]);
    }

    #[test]
    fn comments_and_carriage_returns() {
        assert_eq!(kinds("run # list\nquit #"), [Keyword, Keyword]);
        let lexed = lex("run\r\n;~é");
        let skipped: String = lexed.illegal.iter().map(|(_, c)| *c).collect();
        assert_eq!((lexed.tokens.len(), skipped.as_str()), (2, "\r;~é"));
    }

    #[test]
    fn names_of_variables() {
        assert_eq!(kinds("$ab $a1_b"), [variable("ab"), variable("a1_b")]);
        assert_eq!(kinds("$ab_ $ab;"), [variable("ab"), variable("ab")]);
        assert_eq!(
            kinds("$dir/sub $ab.mean $ab)"),
            [variable("dir"), Tail, variable("ab"), Tail, variable("ab"), Sign(')')]
        );
        assert_eq!(
            kinds("${stats.iorate}$(HOME)"),
            [
                TokenKind::Variable(Variable { form: VariableForm::Braced, name: "stats.iorate".into() }),
                TokenKind::Variable(Variable { form: VariableForm::Parenthesised, name: "HOME".into() }),
            ]
        );
        for bad in ["$a", "$", "$1a", "$_a", "${}", "${ab", "$(a b)"] {
            assert_eq!(lex(bad).errors.len(), 1, "{bad}");
        }
    }

    /// Each of these was put to Filebench 1.5, which printed the pieces one after the other.
    #[test]
    fn strings_are_cut_as_1_5_cuts_them() {
        assert_eq!(pieces(r#""run $ab run""#), ["run ", "<ab>", " run"]);
        assert_eq!(pieces(r#""a\$b\c""#), ["a", "$b", "c"]);
        assert_eq!(pieces(r#""\$x\$y""#), ["$x", "$y"]);
        assert_eq!(pieces(r#""\nx\ny""#), ["\n", "x\\ny"]);
        assert_eq!(pieces(r#""$ab\nz""#), ["<ab>", "\n", "z"]);
        assert_eq!(pieces(r#""a\\b""#), ["a\\\\b"]);
        assert_eq!(pieces(r#""a\\""#), ["a"]);
        assert_eq!(pieces(r#""cost 5$""#), ["cost 5"]);
        assert_eq!(pieces(r##""#x""##), ["#x"]);
        assert_eq!(pieces(r#""$(ls /x) ${} $(ab)""#), ["$(ls", " /x) ", "{} ", "<ab>"]);
        assert_eq!(pieces("\"a\nb\""), ["a\nb"]);
    }

    #[test]
    fn a_keyword_in_quotes_is_still_a_keyword() {
        assert_eq!(lex("\"run\"").errors.len(), 1);
        assert_eq!(lex("\"run$ab\"").errors.len(), 1);
        assert_eq!(lex("\"run \"").errors.len(), 0);
        assert_eq!(lex("\"5\" \"-5\" \"running\"").errors.len(), 0);
    }

    #[test]
    fn numbers_too_large() {
        let lexed = lex("9223372036854775808");
        assert_eq!((lexed.warnings.len(), lexed.errors.len()), (1, 0));
        assert_eq!(lexed.tokens[0].kind, Integer(INTEGER_MAX));
        assert_eq!(lex("17179869184g").errors.len(), 1);
        assert_eq!(lex("9223372036854775807").warnings.len(), 0);
        // Found by fuzzing: its magnitude was one larger than an integer can be.
        let lexed = lex("-9223372036854775808");
        assert_eq!((lexed.warnings.len(), &lexed.tokens[0].kind), (1, &Negative(-i64::MAX)));
    }
}
