//! Variables, and what a value means at the moment it is needed. Values bind late: an attribute keeps what was written, and is
//! worked out here when a file set is created or a run starts. Nothing is drawn: a random variable stays a name.

use super::fault::{Fallible, Fault};
use super::random::RandomDefinition;
use crate::filebench::ast::{
    Attribute, Attributes, Number, Operator, Piece, Text, Value, Variable, VariableForm,
};
use crate::filebench::suggest::nearest;
use crate::filebench::{Span, Spanned};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// Variables that are set from one another in a longer chain than this are set in a circle.
const LONGEST_CHAIN: u32 = 64;

/// Position of a random or custom variable in [`Variables::randoms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RandomId(pub usize);

/// A value that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Integer(u64),
    Boolean(bool),
    Text(String),
    /// Drawn anew each time.
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

    /// As it stands in a text.
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Integer(n) => Some(n.to_string()),
            Self::Boolean(b) => Some(b.to_string()),
            Self::Text(text) => Some(text.clone()),
            Self::Random(_) => None,
        }
    }
}

/// What a variable is bound to.
#[derive(Clone, Debug)]
enum Binding {
    /// What was written, to be worked out when it is needed.
    Written(Value),
    Known(Known),
}

/// All variables of a script.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    bindings: HashMap<Variable, Binding>,
    /// Every random and custom variable ever set.
    pub randoms: Vec<RandomDefinition>,
    /// Names given on the command line; the script's own `set` lines for them do nothing.
    overridden: HashMap<String, Known>,
    /// Those of them that the script sets or asks for.
    touched: RefCell<BTreeSet<String>>,
    /// Values of the older language's `${name}` and `$(name)`.
    pub outside: HashMap<Variable, String>,
}

/// The variables of a composite where it is used, worked out.
pub(super) type Locals = HashMap<Variable, Known>;

/// What a value is worked out in.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub variables: &'a Variables,
    /// Random variables as they were when the definition was read: a definition keeps them.
    pub randoms_then: &'a HashMap<Variable, RandomId>,
    pub locals: Option<&'a Locals>,
}

impl Variables {
    /// Values from the command line. They cannot be set again.
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

    /// Names given on the command line that the script never mentions.
    pub fn untouched(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.overridden.keys().filter(|n| !self.touched.borrow().contains(*n)).cloned().collect();
        names.sort();
        names
    }

    /// Names the script sets, for hints.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.bindings.keys().map(|v| v.name.as_str())
    }

    /// Whether a `set` of this variable is to be passed over.
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

    /// `set $x=...` to what is known already: a loop's variable.
    pub fn set_known(&mut self, variable: &Variable, known: Known) {
        if !self.is_overridden(variable) {
            self.bindings.insert(variable.clone(), Binding::Known(known));
        }
    }

    /// `set $x=randvar(...)` and its like.
    pub fn set_random(&mut self, variable: &Variable, definition: RandomDefinition) {
        if self.is_overridden(variable) {
            return;
        }
        self.randoms.push(definition);
        let id = RandomId(self.randoms.len() - 1);
        self.bindings.insert(variable.clone(), Binding::Known(Known::Random(id)));
    }

    /// The random variable that this one is now.
    pub fn random(&self, variable: &Variable) -> Option<RandomId> {
        match self.bindings.get(variable) {
            Some(Binding::Known(Known::Random(id))) => Some(*id),
            _ => None,
        }
    }

    /// What every variable that is random now is.
    pub fn randoms_now(&self) -> HashMap<Variable, RandomId> {
        self.bindings.keys().filter_map(|v| Some((v.clone(), self.random(v)?))).collect()
    }

    /// Notes that the script mentions a variable.
    fn mention(&self, variable: &Variable) {
        if variable.form == VariableForm::Plain {
            self.touched.borrow_mut().insert(variable.name.clone());
        }
    }
}

impl Scope<'_> {
    /// What a value is now.
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
                .hint("follow the set lines: one variable in the chain needs a value of its own"));
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
                            format!("{} is a random variable and has no place in a text", written(v)),
                        )
                    })?;
                    text.push_str(&words);
                }
            }
        }
        Ok(text)
    }

    /// A text of `echo` or `system`: a variable that is not known stands for itself, and of a random one
    /// it is said what it is.
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

    /// The number an attribute has; `None` if it is not there.
    pub fn integer(&self, attributes: &Attributes, name: &str) -> Fallible<Option<u64>> {
        let Some(attribute) = attributes.last(name) else { return Ok(None) };
        match self.known_attribute(attribute)? {
            Known::Integer(n) => Ok(Some(n)),
            other => Err(wrong_kind(attribute, "a number", &other)),
        }
    }

    /// The number an attribute has, or the random variable it is drawn from.
    pub fn number(&self, attributes: &Attributes, name: &str) -> Fallible<Option<Known>> {
        let Some(attribute) = attributes.last(name) else { return Ok(None) };
        match self.known_attribute(attribute)? {
            known @ (Known::Integer(_) | Known::Random(_)) => Ok(Some(known)),
            other => Err(wrong_kind(attribute, "a number or a random variable", &other)),
        }
    }

    /// Whether an attribute is set: without a value it is, and a number is unless it is 0.
    pub fn boolean(&self, attributes: &Attributes, name: &str) -> Fallible<Option<bool>> {
        let Some(attribute) = attributes.last(name) else { return Ok(None) };
        match self.known_attribute(attribute)? {
            Known::Boolean(b) => Ok(Some(b)),
            Known::Integer(n) => Ok(Some(n != 0)),
            other => Err(wrong_kind(attribute, "true, false or a number", &other)),
        }
    }

    /// The text of an attribute; numbers and booleans are texts, too.
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

    /// What an attribute is; without a value it is true.
    pub fn known_attribute(&self, attribute: &Attribute) -> Fallible<Known> {
        match &attribute.value {
            Some(value) => self.known(value),
            None => Ok(Known::Boolean(true)),
        }
    }
}

/// The fault of an attribute whose value is of another kind than it has to be.
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

/// A variable as it is written.
pub(super) fn written(variable: &Variable) -> String {
    match variable.form {
        VariableForm::Plain => format!("${}", variable.name),
        VariableForm::Braced => format!("${{{}}}", variable.name),
        VariableForm::Parenthesised => format!("$({})", variable.name),
    }
}
