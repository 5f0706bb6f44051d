//! Variables and the evaluation of values. Values bind late: an attribute is kept as written and evaluated here when a file set is
//! created or a run starts. Nothing is drawn: a random variable stays a name.

use super::fault::{Fallible, Fault};
use super::random::RandomDefinition;
use crate::filebench::ast::{
    Attribute, Attributes, Number, Operator, Piece, Text, Value, Variable, VariableForm,
};
use crate::filebench::suggest::nearest;
use crate::filebench::{Span, Spanned};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// Longer chains of variable references are cyclic.
const LONGEST_CHAIN: u32 = 64;

/// Index of a random or custom variable in [`Variables::randoms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RandomId(pub usize);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Integer(u64),
    Boolean(bool),
    Text(String),
    /// Draws a new value at each use.
    Random(RandomId),
}

impl Known {
    fn kind(&self) -> &'static str {
        match self {
            Self::Integer(_) => "a number",
            Self::Boolean(_) => "true or false",
            Self::Text(_) => "a text",
            Self::Random(_) => "a random variable",
        }
    }

    /// The value as text; `None` if it is random.
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Integer(n) => Some(n.to_string()),
            Self::Boolean(b) => Some(b.to_string()),
            Self::Text(text) => Some(text.clone()),
            Self::Random(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
enum Binding {
    /// A value as written, evaluated when needed.
    Written(Value),
    Known(Known),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    bindings: HashMap<Variable, Binding>,
    /// Every random and custom variable defined so far.
    pub randoms: Vec<RandomDefinition>,
    /// Variables set on the command line; the script's `set` commands for them have no effect.
    overridden: HashMap<String, Known>,
    /// Those of them that the script sets or uses.
    touched: RefCell<BTreeSet<String>>,
    /// Values of the older language's `${name}` and `$(name)`.
    pub outside: HashMap<Variable, String>,
}

/// Evaluated variables of a composite at its use.
pub(super) type Locals = HashMap<Variable, Known>;

#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub variables: &'a Variables,
    /// Random variables at the time of the definition, which keeps using them.
    pub randoms_then: &'a HashMap<Variable, RandomId>,
    pub locals: Option<&'a Locals>,
}

impl Variables {
    /// Sets variables from the command line, which cannot be set again.
    pub fn overrule(&mut self, values: &[(String, String)]) {
        for (name, text) in values {
            let name = name.strip_prefix('$').unwrap_or(name);
            let known = match (crate::filebench::ast::integer(text), text.as_str()) {
                (Some(number), _) => Known::Integer(number),
                (None, "true") => Known::Boolean(true),
                (None, "false") => Known::Boolean(false),
                (None, text) => Known::Text(text.into()),
            };
            self.bindings.insert(Variable::plain(name), Binding::Known(known.clone()));
            self.overridden.insert(name.into(), known);
        }
    }

    /// Variables from the command line that the script never mentions.
    pub fn untouched(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.overridden.keys().filter(|n| !self.touched.borrow().contains(*n)).cloned().collect();
        names.sort();
        names
    }

    /// Names that the script sets, for hints.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.bindings.keys().map(|v| v.name.as_str())
    }

    /// Whether a `set` of this variable is ignored.
    fn is_overridden(&self, variable: &Variable) -> bool {
        let overridden = variable.form == VariableForm::Plain && self.overridden.contains_key(&variable.name);
        if overridden {
            self.mention(variable);
        }
        overridden
    }

    /// `set $x=...`, except for random variables.
    pub fn set(&mut self, variable: &Variable, value: &Value) {
        if !self.is_overridden(variable) {
            self.bindings.insert(variable.clone(), Binding::Written(value.clone()));
        }
    }

    /// Sets an evaluated value: a loop variable.
    pub fn set_known(&mut self, variable: &Variable, known: Known) {
        if !self.is_overridden(variable) {
            self.bindings.insert(variable.clone(), Binding::Known(known));
        }
    }

    /// `set $x=randvar(...)` and similar.
    pub fn set_random(&mut self, variable: &Variable, definition: RandomDefinition) {
        if self.is_overridden(variable) {
            return;
        }
        self.randoms.push(definition);
        let id = RandomId(self.randoms.len() - 1);
        self.bindings.insert(variable.clone(), Binding::Known(Known::Random(id)));
    }

    /// The current random variable of this name.
    pub fn random(&self, variable: &Variable) -> Option<RandomId> {
        match self.bindings.get(variable) {
            Some(Binding::Known(Known::Random(id))) => Some(*id),
            _ => None,
        }
    }

    /// All current random variables.
    pub fn randoms_now(&self) -> HashMap<Variable, RandomId> {
        self.bindings.keys().filter_map(|v| Some((v.clone(), self.random(v)?))).collect()
    }

    /// Records that the script mentions a variable.
    fn mention(&self, variable: &Variable) {
        if variable.form == VariableForm::Plain {
            self.touched.borrow_mut().insert(variable.name.clone());
        }
    }
}

impl Scope<'_> {
    /// Evaluates a value.
    pub fn known(&self, value: &Spanned<Value>) -> Fallible<Known> {
        self.of(&value.node, value.span, 0)
    }

    fn of(&self, value: &Value, span: Span, depth: u32) -> Fallible<Known> {
        Ok(match value {
            Value::Integer(n) => Known::Integer(*n),
            Value::Boolean(b) => Known::Boolean(*b),
            Value::Word(word) => Known::Text(word.clone()),
            Value::Quoted(text) => Known::Text(self.pieces(&text.pieces, span, depth)?),
            Value::Variable(variable) => self.variable(variable, span, depth)?,
            Value::Joined(pieces) => match value.glued_arithmetic() {
                Some((left, operator, right))
                    if self.is_number(&left, depth) && self.is_number(&right, depth) =>
                {
                    Known::Integer(self.arithmetic(&left, operator, &right, span, depth)?)
                }
                _ => Known::Text(self.pieces(pieces, span, depth)?),
            },
            Value::Arithmetic { left, operator, right } => {
                Known::Integer(self.arithmetic(left, *operator, right, span, depth)?)
            }
            Value::RandVar(_) | Value::CVar(_) | Value::Table(_) => {
                return Err(Fault::new(span, "a random variable is made with set $name=randvar(...)"));
            }
        })
    }

    fn variable(&self, variable: &Variable, span: Span, depth: u32) -> Fallible<Known> {
        if depth > LONGEST_CHAIN {
            return Err(Fault::new(span, format!("{} is set from itself", written(variable)))
                .hint("follow the set lines: one variable in the chain must be set to a value"));
        }
        if let Some(known) = self.locals.and_then(|l| l.get(variable)) {
            return Ok(known.clone());
        }
        if let Some(id) = self.randoms_then.get(variable) {
            return Ok(Known::Random(*id));
        }
        self.variables.mention(variable);
        match self.variables.bindings.get(variable) {
            Some(Binding::Known(known)) => return Ok(known.clone()),
            Some(Binding::Written(value)) => return self.of(value, span, depth + 1),
            None => {}
        }
        if let Some(text) = self.variables.outside.get(variable) {
            return Ok(Known::Text(text.clone()));
        }
        let fault = Fault::new(span, format!("{} is used but never set", written(variable)));
        Err(match nearest(&variable.name, self.variables.names()) {
            Some(name) => fault.hint(format!("${name} is set; is it meant?")),
            None => fault
                .hint(format!("set {0}=... before, or --set {0}=... on the command line", written(variable))),
        })
    }

    fn is_number(&self, number: &Number, depth: u32) -> bool {
        match number {
            Number::Integer(_) => true,
            Number::Variable(v) => {
                matches!(self.variable(v, Span::default(), depth + 1), Ok(Known::Integer(_)))
            }
        }
    }

    fn arithmetic(
        &self,
        left: &Number,
        operator: Operator,
        right: &Number,
        span: Span,
        depth: u32,
    ) -> Fallible<u64> {
        let number = |side: &Number| match side {
            Number::Integer(n) => Ok(*n),
            Number::Variable(v) => match self.variable(v, span, depth + 1)? {
                Known::Integer(n) => Ok(n),
                other => Err(Fault::new(span, format!("{} is {}, not a number", written(v), other.kind()))),
            },
        };
        let (a, b) = (number(left)?, number(right)?);
        let result = match operator {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            Operator::Divide => a.checked_div(b),
        };
        result.filter(|n| *n <= crate::filebench::ast::INTEGER_MAX).ok_or_else(|| {
            let why = if b == 0 && operator == Operator::Divide {
                "there is no such number"
            } else {
                "it is not in 0 to 2^63-1"
            };
            Fault::new(span, format!("{a} {} {b} cannot be used: {why}", operator.sign()))
        })
    }

    fn pieces(&self, pieces: &[Piece], span: Span, depth: u32) -> Fallible<String> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Variable(v) => {
                    let known = self.variable(v, span, depth + 1)?;
                    let words = known.words().ok_or_else(|| {
                        Fault::new(
                            span,
                            format!("{} is a random variable and cannot be used in a text", written(v)),
                        )
                    })?;
                    text.push_str(&words);
                }
            }
        }
        Ok(text)
    }

    /// Expands a text of `echo` or `system`: an unknown variable expands to itself, a random one to its
    /// description.
    pub fn expand(&self, text: &Text) -> String {
        let mut out = String::new();
        for piece in &text.pieces {
            match piece {
                Piece::Literal(literal) => out.push_str(literal),
                Piece::Variable(v) => {
                    let known = self.variable(v, Span::default(), 0).ok();
                    let words = known.and_then(|known| match known {
                        Known::Random(id) => self.variables.randoms[id.0].described(),
                        known => known.words(),
                    });
                    out.push_str(&words.unwrap_or_else(|| written(v)));
                }
            }
        }
        out
    }

    /// The number of an attribute; `None` if it is not given.
    pub fn integer(&self, attributes: &Attributes, name: &str) -> Fallible<Option<u64>> {
        let Some(attribute) = attributes.last(name) else { return Ok(None) };
        match self.known_attribute(attribute)? {
            Known::Integer(n) => Ok(Some(n)),
            other => Err(wrong_kind(attribute, "a number", &other)),
        }
    }

    /// The number of an attribute, or its random variable.
    pub fn number(&self, attributes: &Attributes, name: &str) -> Fallible<Option<Known>> {
        let Some(attribute) = attributes.last(name) else { return Ok(None) };
        match self.known_attribute(attribute)? {
            known @ (Known::Integer(_) | Known::Random(_)) => Ok(Some(known)),
            other => Err(wrong_kind(attribute, "a number or a random variable", &other)),
        }
    }

    /// Whether an attribute is true: without a value it is, and so is any number but 0.
    pub fn boolean(&self, attributes: &Attributes, name: &str) -> Fallible<Option<bool>> {
        let Some(attribute) = attributes.last(name) else { return Ok(None) };
        match self.known_attribute(attribute)? {
            Known::Boolean(b) => Ok(Some(b)),
            Known::Integer(n) => Ok(Some(n != 0)),
            other => Err(wrong_kind(attribute, "true, false or a number", &other)),
        }
    }

    /// The text of an attribute; numbers and booleans are converted.
    pub fn text(&self, attributes: &Attributes, name: &str) -> Fallible<Option<String>> {
        let Some(attribute) = attributes.last(name) else { return Ok(None) };
        let known = match &attribute.value {
            Some(value) => self.known(value)?,
            None => return Err(Fault::new(attribute.span(), format!("{name} needs a value"))),
        };
        match known.words() {
            Some(words) => Ok(Some(words)),
            None => Err(wrong_kind(attribute, "a text", &known)),
        }
    }

    /// The evaluated attribute; without a value it is true.
    pub fn known_attribute(&self, attribute: &Attribute) -> Fallible<Known> {
        match &attribute.value {
            Some(value) => self.known(value),
            None => Ok(Known::Boolean(true)),
        }
    }
}

/// The fault for an attribute whose value is of the wrong type.
pub(super) fn wrong_kind(attribute: &Attribute, expected: &str, found: &Known) -> Fault {
    let what = match found {
        Known::Text(text) => format!("the text {text:?}"),
        other => other.kind().to_owned(),
    };
    let message = match attribute.value.as_ref().map(|v| &v.node) {
        Some(Value::Variable(v)) => {
            format!("{} has to be {expected}, but its value {} is {what}", attribute.name, written(v))
        }
        _ => format!("{} has to be {expected}, but is {what}", attribute.name),
    };
    let fault = Fault::new(attribute.span(), message);
    match found {
        Known::Text(text) if crate::filebench::ast::integer(text).is_some() => {
            fault.hint("leave out the quotes")
        }
        Known::Text(text) if crate::filebench::ast::integer(&text.to_ascii_lowercase()).is_some() => {
            fault.hint(format!("write {}: k, m and g are in lower case", text.to_ascii_lowercase()))
        }
        Known::Text(text) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            fault.hint("numbers are whole and not negative; k, m or g may follow")
        }
        _ => fault,
    }
}

/// The variable in its original notation.
pub(super) fn written(variable: &Variable) -> String {
    match variable.form {
        VariableForm::Plain => format!("${}", variable.name),
        VariableForm::Braced => format!("${{{}}}", variable.name),
        VariableForm::Parenthesised => format!("$({})", variable.name),
    }
}
