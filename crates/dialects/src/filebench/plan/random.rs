//! Compiles `randvar(...)` and `cvar(...)` to random variables of the model. Their attributes bind late as well, so a definition is kept
//! as written and evaluated when it is first used.

use super::fault::{Fallible, Fault};
use super::values::{Known, Scope};
use crate::filebench::Span;
use crate::filebench::ast::{Attributes, Number, Value};
use crate::filebench::suggest::nearest;
use fathom_workload::{Generator, RandomVariable, Row, Shape, Ties};

#[derive(Clone, Debug)]
pub(super) struct RandomDefinition {
    /// Its name in the workload.
    pub name: String,
    /// Position of its `set`.
    pub span: Span,
    /// Its attributes; the older language can change single ones later.
    pub attributes: Attributes,
    pub kind: RandomKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RandomKind {
    /// `randvar`
    Random,
    /// `cvar`
    Custom,
}

/// Custom variables: type, and parameters with defaults as printed by `-c`.
pub const CUSTOM: [(&str, &[(&str, f64)]); 8] = [
    ("cvar-weibull", &[("shape", 1.0), ("scale", 1.0)]),
    ("cvar-uniform", &[("lower", 0.0), ("upper", 1.0)]),
    ("cvar-triangular", &[("lower", 0.0), ("upper", 1.0), ("mode", 0.5)]),
    ("cvar-normal", &[("mean", 0.0), ("sigma", 1.0)]),
    ("cvar-lognormal", &[("shape", 1.0), ("scale", 1.0)]),
    ("cvar-gamma", &[("mean", 4096.0), ("gamma", 1.5)]),
    ("cvar-exponential", &[("mean", 1.0)]),
    ("cvar-erlang", &[("shape", 1.0), ("rate", 1.0)]),
];

impl RandomDefinition {
    /// The variable of the model.
    pub fn compile(&self, scope: &Scope) -> Fallible<RandomVariable> {
        let variable = match self.kind {
            RandomKind::Random => self.randvar(scope)?,
            RandomKind::Custom => self.cvar(scope)?,
        };
        if fathom_workload::ops::Drawing::new(&variable).is_none() {
            return Err(self.fault("no value can be drawn from a distribution with these parameters"));
        }
        Ok(variable)
    }

    /// 1.5's text expansion of a random variable.
    pub fn described(&self) -> Option<String> {
        let kind = self.attributes.value("type").and_then(|v| v.node.text());
        let kind = match self.kind {
            RandomKind::Random if self.attributes.value("randtable").is_some() => "tabular",
            RandomKind::Random => kind.unwrap_or("gamma"),
            RandomKind::Custom => return None,
        };
        Some(format!("{kind} random var"))
    }

    fn fault(&self, message: impl std::fmt::Display) -> Fault {
        Fault::new(self.span, format!("random variable {}: {message}", self.name))
    }

    fn randvar(&self, scope: &Scope) -> Fallible<RandomVariable> {
        let number = |name: &str| scope.integer(&self.attributes, name);
        let min = number("min")?.unwrap_or(0) as f64;
        let gamma = number("gamma")?.unwrap_or(1500) as f64;
        let given_mean = number("mean")?.map(|m| m as f64);
        let kind = scope.text(&self.attributes, "type")?.unwrap_or_else(|| "gamma".into());
        // A table wins over any other type.
        let rows = self.table(scope)?;
        let shape = match (kind.as_str(), rows) {
            (_, Some(rows)) => Shape::Stretched { rows, mean: given_mean, lowest: min },
            ("tabular", None) => {
                return Err(self.fault("type=tabular needs a randtable"));
            }
            ("uniform", None) => {
                let mean = given_mean.unwrap_or(0.0);
                if mean < min {
                    return Err(self.fault(format!("its mean {mean} is below its min {min}")));
                }
                Shape::Uniform { low: min, high: min + 2.0 * (mean - min) }
            }
            ("gamma", None) => Shape::Gamma {
                shape: gamma / 1000.0,
                mean: given_mean.unwrap_or(gamma / 1000.0),
                offset: min,
            },
            (other, None) => {
                return Err(
                    self.fault(format!("type {other} is not known; expected uniform, gamma or tabular"))
                );
            }
        };
        let generator = match scope.text(&self.attributes, "randsrc")?.as_deref() {
            None | Some("rand48") => Generator::Rand48(number("seed")?.unwrap_or(0) & 0xffff_ffff_ffff),
            Some("urandom") => Generator::Seeded,
            Some(other) => {
                return Err(self.fault(format!("randsrc {other} is not known; expected rand48 or urandom")));
            }
        };
        let round = number("round")?.unwrap_or(0);
        Ok(RandomVariable { generator, round, ..RandomVariable::new(shape) })
    }

    fn table(&self, scope: &Scope) -> Fallible<Option<Vec<Row>>> {
        let Some(value) = self.attributes.value("randtable") else { return Ok(None) };
        let Value::Table(rows) = &value.node else {
            return Err(Fault::new(value.span, "randtable has to be rows {percent, low, high}"));
        };
        let number = |n: &crate::filebench::Spanned<Number>| match &n.node {
            Number::Integer(n) => Ok(*n as f64),
            Number::Variable(v) => {
                match scope.known(&crate::filebench::Spanned::new(Value::Variable(v.clone()), n.span))? {
                    Known::Integer(n) => Ok(n as f64),
                    _ => Err(Fault::new(n.span, "a number of a randtable has to be a plain number")),
                }
            }
        };
        let rows: Vec<Row> = rows
            .iter()
            .map(|row| {
                let row = &row.node;
                Ok(Row { percent: number(&row.percent)?, low: number(&row.low)?, high: number(&row.high)? })
            })
            .collect::<Fallible<_>>()?;
        let total: f64 = rows.iter().map(|r| r.percent).sum();
        if total != 100.0 {
            return Err(Fault::new(
                value.span,
                format!("the percentages of the table add up to {total}, not 100"),
            ));
        }
        if rows.iter().any(|r| r.low > r.high) {
            return Err(Fault::new(value.span, "a row of the table has a low above its high"));
        }
        Ok(Some(rows))
    }

    fn cvar(&self, scope: &Scope) -> Fallible<RandomVariable> {
        let kind = scope.text(&self.attributes, "type")?.unwrap_or_default();
        let Some((_, defaults)) = CUSTOM.iter().find(|c| c.0 == kind) else {
            let known: Vec<&str> = CUSTOM.iter().map(|c| c.0).collect();
            let fault = Fault::new(self.span, format!("Undefined custom variable {kind}"));
            return Err(match nearest(&kind, known.iter().copied()) {
                Some(name) => fault.hint(format!("{name} is one")),
                None => fault.hint(format!("the types are {}", known.join(", "))),
            });
        };
        let mut values: Vec<(&str, f64)> = defaults.to_vec();
        for pair in scope.text(&self.attributes, "parameters")?.unwrap_or_default().split(';') {
            if pair.is_empty() {
                continue;
            }
            let (name, text) = pair.split_once(':').unwrap_or((pair, ""));
            let Some(value) = values.iter_mut().find(|v| v.0 == name.trim()) else {
                let names: Vec<&str> = defaults.iter().map(|d| d.0).collect();
                return Err(Fault::new(self.span, format!("Unsupported parameter {name}"))
                    .hint(format!("{kind} has {}", names.join(", "))));
            };
            value.1 = text.trim().parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| {
                Fault::new(self.span, format!("parameter {name} is {text:?}, which is no number"))
            })?;
        }
        let value = |name: &str| values.iter().find(|v| v.0 == name).map_or(0.0, |v| v.1);
        let shape = match kind.as_str() {
            "cvar-weibull" => Shape::Weibull { shape: value("shape"), scale: value("scale") },
            "cvar-uniform" => Shape::Uniform { low: value("lower"), high: value("upper") },
            "cvar-triangular" => {
                Shape::Triangular { low: value("lower"), high: value("upper"), mode: value("mode") }
            }
            "cvar-normal" => Shape::Normal { mean: value("mean"), sigma: value("sigma") },
            // Measured on 1.5: scale is the mean of the logarithm, not its exponential.
            "cvar-lognormal" => Shape::LogNormal { mu: value("scale"), sigma: value("shape") },
            "cvar-gamma" => Shape::Gamma { shape: value("gamma"), mean: value("mean"), offset: 0.0 },
            "cvar-exponential" => Shape::Exponential { mean: value("mean") },
            _ => {
                let shape = value("shape");
                if shape.fract() != 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&shape) {
                    return Err(self.fault(format!("shape {shape} has to be a whole number of at least 1")));
                }
                // Measured on 1.5: its "rate" is the mean, whatever the shape.
                Shape::Erlang { shape: shape as u32, rate: shape / value("rate") }
            }
        };
        // In the original, only the gamma type draws from the process's stream; others are seeded by the system.
        let generator = if kind == "cvar-gamma" { Generator::ProcessRand48 } else { Generator::Seeded };
        let bound = |name: &str| Ok(scope.integer(&self.attributes, name)?.map(|n| n as f64));
        Ok(RandomVariable {
            generator,
            round: scope.integer(&self.attributes, "round")?.unwrap_or(0),
            ties: Ties::Down,
            min: bound("min")?.or(Some(f64::MIN_POSITIVE)),
            max: bound("max")?,
            ..RandomVariable::new(shape)
        })
    }
}
