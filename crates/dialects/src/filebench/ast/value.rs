//! Values on the right of an equals sign: numbers, words, strings, variables, and the older language's joined words and
//! arithmetic. Nothing is resolved or computed here.

use crate::filebench::ast::Attributes;
use crate::filebench::span::Spanned;

/// The largest integer of the language, 2^63-1.
pub const INTEGER_MAX: u64 = i64::MAX as u64;

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `4096`, `4k`: at most 2^63-1, the suffix multiplied in.
    Integer(u64),
    /// `true` or `false`.
    Boolean(bool),
    /// A bare word; also the keyword values of `type` and `randsrc` (`uniform`, `rand48`).
    Word(String),
    /// A quoted string. As an attribute value in 1.5 it is one literal piece; in the older language it may contain variables.
    Quoted(Text),
    /// `$name`, `${name}`, `$(name)`.
    Variable(Variable),
    /// Adjacent words and variables, as in `$dir/sub`: the older language's concatenation. At least two pieces, at
    /// least one of them a variable, and no two adjacent literals. See [`Value::glued_arithmetic`].
    Joined(Vec<Piece>),
    /// `randvar(...)`, only in `set`.
    RandVar(Attributes),
    /// `cvar(...)`, only in `set`.
    CVar(Attributes),
    /// `$a * $b`, only in `set`: one integer operation, bound late like any variable.
    Arithmetic {
        /// Left operand.
        left: Number,
        /// `+ - * /`.
        operator: Operator,
        /// Right operand.
        right: Number,
    },
    /// The rows of `randtable`.
    Table(Vec<Spanned<TableRow>>),
}

/// An operand of a [`Value::Arithmetic`], or a number of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// A literal, at most 2^63-1.
    Integer(u64),
    /// A variable that must resolve to a number.
    Variable(Variable),
}

/// An operation of the older language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

impl Operator {
    /// The operator's character.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
        }
    }
}

/// One row of `randtable`: `{percent, low, high}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// Percentage of the table's hundred cells.
    pub percent: Spanned<Number>,
    /// Smallest value.
    pub low: Spanned<Number>,
    /// Largest value.
    pub high: Spanned<Number>,
}

/// Notation of a variable. In 1.5 the three notations name different variables; in the older language the second is an
/// internal variable and the third an environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VariableForm {
    /// `$name`
    Plain,
    /// `${name}`
    Braced,
    /// `$(name)`
    Parenthesised,
}

/// A variable reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable {
    /// Notation used.
    pub form: VariableForm,
    /// Name without dollar and brackets.
    pub name: String,
}

impl Variable {
    /// The variable `$name`.
    #[must_use]
    pub fn plain(name: impl Into<String>) -> Self {
        Self { form: VariableForm::Plain, name: name.into() }
    }
}

/// Part of a string or of a joined word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text with escapes resolved. Not empty.
    Literal(String),
    /// A variable to be replaced by its value.
    Variable(Variable),
}

/// A quoted string: pieces in order, no two adjacent literals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The pieces; empty for the empty string.
    pub pieces: Vec<Piece>,
}

impl Text {
    /// The text if it contains no variable.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

impl Value {
    /// The text of a word, or of a string without variables.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Quoted(text) => text.literal(),
            _ => None,
        }
    }

    /// A joined word that is arithmetic if its variables are numbers: `$a/2`, `$a-2k`, `$a/$b`, `$a-$b`. Without
    /// blanks, only the types of the variables distinguish a quotient from a path; with blanks it is parsed as [`Value::Arithmetic`].
    #[must_use]
    pub fn glued_arithmetic(&self) -> Option<(Number, Operator, Number)> {
        let Self::Joined(pieces) = self else { return None };
        let (left, sign, right) = match pieces.as_slice() {
            [Piece::Variable(left), Piece::Literal(rest)] => {
                let sign = rest.chars().next()?;
                (left, sign, Number::Integer(integer(&rest[sign.len_utf8()..])?))
            }
            [Piece::Variable(left), Piece::Literal(sign), Piece::Variable(right)] if sign.len() == 1 => {
                (left, sign.chars().next()?, Number::Variable(right.clone()))
            }
            _ => return None,
        };
        let operator = match sign {
            '-' => Operator::Subtract,
            '/' => Operator::Divide,
            _ => return None,
        };
        Some((Number::Variable(left.clone()), operator, right))
    }
}

/// Parses an integer literal; `None` if `text` is anything else or out of range.
#[must_use]
pub fn integer(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1 << 10),
        b'm' => (&text[..text.len() - 1], 1 << 20),
        b'g' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|value| *value <= INTEGER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_with_suffixes() {
        assert_eq!(integer("010"), Some(10));
        assert_eq!(integer("4k"), Some(4096));
        assert_eq!(integer("9223372036854775807"), Some(INTEGER_MAX));
        for not in ["", "k", "9223372036854775808", "17179869184g", "4K", "-1", "1.5k"] {
            assert_eq!(integer(not), None, "{not}");
        }
    }

    #[test]
    fn a_quotient_without_blanks_may_be_a_path() {
        let joined = |literal: &str| {
            Value::Joined(vec![Piece::Variable(Variable::plain("nn")), Piece::Literal(literal.into())])
        };
        let left = || Number::Variable(Variable::plain("nn"));
        assert_eq!(joined("/2").glued_arithmetic(), Some((left(), Operator::Divide, Number::Integer(2))));
        assert_eq!(
            joined("-2k").glued_arithmetic(),
            Some((left(), Operator::Subtract, Number::Integer(2048)))
        );
        assert_eq!(joined("/sub").glued_arithmetic(), None);
        assert_eq!(joined("é2").glued_arithmetic(), None);
    }
}
