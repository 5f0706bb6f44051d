//! Compiles flowops to operations of a flow: types, attributes, composites with their variables. Default file sets and slot
//! conflicts are resolved later for the whole thread, in `slots`.

use super::fault::{Fallible, Fault};
use super::filesets::{CompiledSet, RandomVariables};
use super::flowop_types::{TYPES, check, number, operation, slot};
use super::values::{Known, Locals, RandomId, Scope, Variables, written};
use super::{Options, Wml};
use crate::filebench::ast::{Attribute, Attributes, Composite, FlowopUse, Variable};
use crate::filebench::suggest::nearest;
use crate::filebench::{Span, Spanned};
use fathom_workload::{Act, Bytes, FlowOp, Shape, Value};
use std::collections::HashMap;

/// Limit on operations of a thread after expanding composites; composites can double in size at each level.
const MOST_OPERATIONS: usize = 100_000;

/// A `define flowop`, with the context of its definition.
#[derive(Clone, Debug)]
pub(super) struct CompositeDefinition {
    pub source: usize,
    pub composite: Composite,
    pub randoms: HashMap<Variable, RandomId>,
}

#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub op: FlowOp,
    pub source: usize,
    pub span: Span,
    /// Operations inside a sequence.
    pub inner: Vec<Placed>,
}

impl Placed {
    /// The operation including those inside it.
    pub fn into_op(self) -> FlowOp {
        let ops = self.inner.into_iter().map(Self::into_op).collect();
        FlowOp { ops, ..self.op }
    }
}

/// Context for compiling operations.
pub(super) struct Flowops<'a> {
    pub variables: &'a Variables,
    pub options: &'a Options,
    pub composites: &'a HashMap<String, CompositeDefinition>,
    pub possets: &'a HashMap<String, Vec<Bytes>>,
    pub sets: &'a [CompiledSet],
    pub drawn: &'a mut RandomVariables,
    /// Operations of this thread so far.
    pub made: usize,
}

impl Flowops<'_> {
    /// Compiles a use of a flowop. A fault includes the number of the text it is in.
    pub fn compile(
        &mut self,
        used: &Spanned<FlowopUse>,
        scope: &Scope,
        source: usize,
    ) -> Result<Placed, (usize, Fault)> {
        self.made += 1;
        if self.made > MOST_OPERATIONS {
            let fault =
                Fault::new(used.span, format!("the thread has more than {MOST_OPERATIONS} operations"));
            return Err((source, fault.hint("composites inside composites multiply; use iters instead")));
        }
        let kind = used.node.flowop_type.node.as_str();
        if let Some(definition) = self.composites.get(kind) {
            return self.composite(used, definition, scope, source);
        }
        self.built_in(used, scope)
            .map(|op| Placed { op, source, span: used.span, inner: Vec::new() })
            .map_err(|fault| (source, fault))
    }

    fn composite(
        &mut self,
        used: &Spanned<FlowopUse>,
        definition: &CompositeDefinition,
        scope: &Scope,
        source: usize,
    ) -> Result<Placed, (usize, Fault)> {
        let here = |fault: Fault| (source, fault);
        let FlowopUse { flowop_type, attributes, locals } = &used.node;
        let name = required_name(used, scope).map_err(here)?;
        if let Some(other) = attributes.iter().find(|a| !matches!(a.canonical_name(), "name" | "iters")) {
            let fault = Fault::new(
                other.span(),
                format!("{} has no effect on composite {}", other.name, flowop_type.node),
            );
            return Err(here(fault.hint("give its flowops the attribute, or pass it on in a variable")));
        }
        let declared: Vec<&Variable> = definition.composite.locals.iter().map(|l| &l.variable.node).collect();
        if let Some(stranger) = locals.iter().find(|l| !declared.contains(&&l.variable.node)) {
            let fault = Fault::new(
                stranger.variable.span,
                format!(
                    "composite {} has no variable {}",
                    flowop_type.node,
                    written(&stranger.variable.node)
                ),
            );
            let names: Vec<String> = declared.iter().map(|v| written(v)).collect();
            return Err(here(match names.is_empty() {
                true => fault,
                false => fault.hint(format!("it has {}", names.join(", "))),
            }));
        }
        let outer = Scope { variables: self.variables, randoms_then: &definition.randoms, locals: None };
        let mut inside = Locals::new();
        for local in &definition.composite.locals {
            let given = locals.iter().rev().find(|l| l.variable.node == local.variable.node);
            let known = match (given.and_then(|l| l.value.as_ref()), &local.value) {
                (Some(value), _) => scope.known(value).map_err(here)?,
                (None, Some(default)) => outer.known(default).map_err(|f| (definition.source, f))?,
                (None, None) => continue,
            };
            inside.insert(local.variable.node.clone(), known);
        }
        if let Some(missing) = declared.iter().find(|v| !inside.contains_key(**v)) {
            let fault = Fault::new(
                used.span,
                format!("composite {} needs a value for {}", flowop_type.node, written(missing)),
            );
            return Err(here(fault.hint(format!("add {}=...", written(missing)))));
        }
        let inner_scope = Scope { locals: Some(&inside), ..outer };
        let inner = definition
            .composite
            .flowops
            .iter()
            .map(|flowop| self.compile(flowop, &inner_scope, definition.source))
            .collect::<Result<Vec<_>, _>>()?;
        let repeat = self.value(attributes, "iters", scope).map_err(here)?.unwrap_or(Value::Number(1));
        let op = FlowOp { repeat, ..operation(name, Act::Sequence) };
        Ok(Placed { op, source, span: used.span, inner })
    }

    fn built_in(&mut self, used: &Spanned<FlowopUse>, scope: &Scope) -> Fallible<FlowOp> {
        let FlowopUse { flowop_type, attributes: a, locals } = &used.node;
        let Some(act) = TYPES.iter().find(|t| t.0 == flowop_type.node).map(|t| t.1) else {
            let known = TYPES.iter().map(|t| t.0).chain(self.composites.keys().map(String::as_str));
            let fault = Fault::new(flowop_type.span, format!("flowop type {} not found", flowop_type.node));
            return Err(match nearest(&flowop_type.node, known) {
                Some(name) => {
                    fault.hint(format!("{name} is one; composites have to be defined before they are used"))
                }
                None => fault.hint("composites have to be defined before they are used"),
            });
        };
        if let Some(local) = locals.first() {
            return Err(Fault::new(
                local.variable.span,
                format!("{} is built in and takes no variables", flowop_type.node),
            ));
        }
        let name = required_name(used, scope)?;
        let fileset = scope.text(a, "filesetname")?;
        if let Some(set) = &fileset {
            self.must_exist(set, a, &name)?;
        }
        let flag = |attribute: &str| Ok(scope.boolean(a, attribute)?.unwrap_or(false));
        let mut op = FlowOp {
            fileset,
            slot: slot(a, "fd", scope)?,
            source_slot: slot(a, "srcfd", scope)?,
            size: self.bytes(a, "iosize", scope)?,
            working_set: self.bytes(a, "workingset", scope)?,
            random: flag("random")?,
            repeat: self.value(a, "iters", scope)?.unwrap_or(Value::Number(1)),
            rotate: flag("opennext")?,
            direct: flag("directio")?,
            sync: flag("dsync")?,
            no_readahead: flag("noreadahead")?,
            target: scope.text(a, "target")?.filter(|t| !t.is_empty()),
            blocking: flag("blocking")?,
            high_water: self.value(a, "highwater", scope)?.unwrap_or(Value::Number(1)),
            ..operation(name, act)
        };
        op.entry = self.entry(&op, a, scope)?;
        op.positions = self.positions(&op, a, scope)?;
        if act == Act::Say {
            op.text = match a.last("value").map(|v| scope.known_attribute(v)).transpose()? {
                Some(Known::Random(id)) => {
                    op.value = Value::Variable { variable: self.drawn.name_of(id, scope)? };
                    String::new()
                }
                known => known.and_then(|k| k.words()).unwrap_or_default(),
            };
        } else {
            op.value = self.value(a, "value", scope)?.unwrap_or_default();
        }
        check(&op, used.span)?;
        Ok(op)
    }

    fn must_exist(&self, set: &str, attributes: &Attributes, name: &str) -> Fallible<()> {
        if self.sets.iter().any(|s| s.set.name == set) {
            return Ok(());
        }
        let span = attributes.last("filesetname").map_or(Span::default(), Attribute::span);
        let fault = Fault::new(span, format!("flowop {name}: file {set} not found"));
        Err(match nearest(set, self.sets.iter().map(|s| s.set.name.as_str())) {
            Some(known) => fault.hint(format!("{known} is defined; is it meant?")),
            None => fault.hint("define file name=... or define fileset name=..."),
        })
    }

    fn value(&mut self, attributes: &Attributes, name: &str, scope: &Scope) -> Fallible<Option<Value>> {
        Ok(match scope.number(attributes, name)? {
            None => None,
            Some(known) => Some(self.as_value(known, scope)?),
        })
    }

    fn as_value(&mut self, known: Known, scope: &Scope) -> Fallible<Value> {
        Ok(match known {
            Known::Integer(n) => number(n),
            Known::Random(id) => Value::Variable { variable: self.drawn.name_of(id, scope)? },
            Known::Boolean(_) | Known::Text(_) => Value::Number(0),
        })
    }

    /// An attribute that is a number of bytes.
    fn bytes(&mut self, attributes: &Attributes, name: &str, scope: &Scope) -> Fallible<Value> {
        Ok(match self.value(attributes, name, scope)? {
            None | Some(Value::Number(0)) => Value::default(),
            Some(Value::Number(n)) => Value::Bytes(Bytes(n.into())),
            Some(other) => other,
        })
    }

    /// `indexed`: the number of the entry; before 1.5, and still for leaf directories, multiplied by half the number of entries.
    fn entry(&mut self, op: &FlowOp, attributes: &Attributes, scope: &Scope) -> Fallible<Option<Value>> {
        let Some(known) = scope.number(attributes, "indexed")? else { return Ok(None) };
        let leaf = matches!(op.act, Act::MakeDirectory | Act::RemoveDirectory);
        if self.options.wml == Wml::V1_5 && !leaf {
            return self.as_value(known, scope).map(Some);
        }
        let set = op.fileset.as_ref().and_then(|name| self.sets.iter().find(|s| s.set.name == *name));
        let entries = set.map_or(0, |s| match &s.set.files {
            fathom_workload::Files::Tree(t) => t.entries + t.leaf_directories,
            files => files.count(),
        });
        let half = entries as f64 / 2.0;
        match known {
            Known::Random(id) => {
                let name = self.drawn.name_of(id, scope)?;
                let own = format!("{name}.of.{}", op.fileset.as_deref().unwrap_or_default());
                let scaled = self.drawn.0.get(&name).filter(|v| v.round == 0).and_then(|v| {
                    let shape = match v.shape {
                        Shape::Uniform { low, high } => Shape::Uniform { low: low * half, high: high * half },
                        Shape::Gamma { shape, mean, offset } => {
                            Shape::Gamma { shape, mean: mean * half, offset: offset * half }
                        }
                        _ => return None,
                    };
                    Some(fathom_workload::RandomVariable { shape, ..v.clone() })
                });
                let Some(scaled) = scaled else {
                    let span = attributes.last("indexed").map_or(Span::default(), Attribute::span);
                    return Err(Fault::new(span, "indexed counts in halves of the set here, which works with variables of type uniform and gamma without round only")
                        .hint("with --wml=1.5 files are numbered from 0"));
                };
                self.drawn.0.insert(own.clone(), scaled);
                Ok(Some(Value::Variable { variable: own }))
            }
            Known::Integer(n) => Ok(Some(number((n as f64 * half) as u64))),
            Known::Boolean(_) | Known::Text(_) => Ok(None),
        }
    }

    fn positions(&self, op: &FlowOp, attributes: &Attributes, scope: &Scope) -> Fallible<Vec<Bytes>> {
        let Some(attribute) = attributes.last("possetname") else { return Ok(Vec::new()) };
        let name = scope.text(attributes, "possetname")?.unwrap_or_default();
        let random_io = op.random && matches!(op.act, Act::Read | Act::Write | Act::AsyncWrite);
        if !random_io {
            return Err(Fault::new(attribute.span(), "possetname works with random reads and writes only")
                .hint("add random"));
        }
        self.possets.get(&name).cloned().ok_or_else(|| {
            Fault::new(attribute.span(), format!("posset {name} not found"))
                .hint("define posset name=... before")
        })
    }
}

fn required_name(used: &Spanned<FlowopUse>, scope: &Scope) -> Fallible<String> {
    let kind = &used.node.flowop_type.node;
    scope.text(&used.node.attributes, "name")?.ok_or_else(|| {
        Fault::new(used.span, format!("flowop {kind} specifies no name"))
            .hint("add name=..., its row in the results")
    })
}
