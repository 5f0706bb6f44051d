//! Prints values, except strings: the leaves of the printout, each on one line.

use super::attributes;
use super::text::quoted;
use crate::filebench::ast::{Number, Piece, Value, Variable, VariableForm};

pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Integer(value) => integer(*value),
        Value::Boolean(value) => value.to_string(),
        Value::Word(word) => word.clone(),
        Value::Quoted(text) => quoted(text),
        Value::Variable(name) => variable(name),
        Value::Joined(pieces) => pieces
            .iter()
            .map(|piece| match piece {
                Piece::Literal(literal) => literal.clone(),
                Piece::Variable(name) => variable(name),
            })
            .collect(),
        Value::RandVar(list) => format!("randvar({})", attributes(list, &[])),
        Value::CVar(list) => format!("cvar({})", attributes(list, &[])),
        Value::Arithmetic { left, operator, right } => {
            format!("{} {} {}", number(left), operator.sign(), number(right))
        }
        Value::Table(rows) => {
            let rows: Vec<String> = rows
                .iter()
                .map(|row| &row.node)
                .map(|row| {
                    let [percent, low, high] = [&row.percent, &row.low, &row.high].map(|n| number(&n.node));
                    format!("{{{percent},{low},{high}}}")
                })
                .collect();
            format!("{{{}}}", rows.join(","))
        }
    }
}

pub(super) fn variable(variable: &Variable) -> String {
    let name = &variable.name;
    match variable.form {
        VariableForm::Plain => format!("${name}"),
        VariableForm::Braced => format!("${{{name}}}"),
        VariableForm::Parenthesised => format!("$({name})"),
    }
}

fn number(number: &Number) -> String {
    match number {
        Number::Integer(value) => integer(*value),
        Number::Variable(name) => variable(name),
    }
}

/// Prints with the largest suffix that divides the value.
fn integer(value: u64) -> String {
    for (factor, suffix) in [(1 << 30, 'g'), (1 << 20, 'm'), (1 << 10, 'k')] {
        if value != 0 && value.is_multiple_of(factor) {
            return format!("{}{suffix}", value / factor);
        }
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_the_largest_suffix() {
        for (value, text) in
            [(0, "0"), (1024, "1k"), (1536, "1536"), (3 << 30, "3g"), (1 << 40, "1024g"), (60, "60")]
        {
            assert_eq!(integer(value), text);
        }
    }
}
