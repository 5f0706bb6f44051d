//! Lexing of words, numbers, names and strings; strings are compared with the results of Filebench 1.5.

use super::*;
use crate::filebench::ast::{Piece, Variable, VariableForm};
use TokenKind::{Integer, Keyword, Negative, Sign, Tail, Word};

fn kinds(text: &str) -> Vec<TokenKind> {
    let mut kinds: Vec<TokenKind> = lex(text).tokens.into_iter().map(|token| token.kind).collect();
    assert_eq!(kinds.pop(), Some(TokenKind::End));
    kinds
}

fn variable(name: &str) -> TokenKind {
    TokenKind::Variable(Variable::plain(name))
}

/// The pieces of one string; variables in brackets.
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
    assert_eq!(kinds("2fast 010 4k 1g"), [Integer(2), Word, Integer(10), Integer(4096), Integer(1 << 30)]);
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

/// The pieces as printed by Filebench 1.5.
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
    // Found by fuzzing: the magnitude exceeds the largest integer by one.
    let lexed = lex("-9223372036854775808");
    assert_eq!((lexed.warnings.len(), &lexed.tokens[0].kind), (1, &Negative(-i64::MAX)));
}
