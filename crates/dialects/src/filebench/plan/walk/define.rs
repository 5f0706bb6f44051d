//! Definitions: variables, random variables, positions, files, processes, composites. They are kept as written; only what 1.5
//! binds at definition (names, descriptors, targets) is evaluated here.

use super::*;

impl Walker<'_> {
    pub(super) fn set(
        &mut self,
        variable: &Variable,
        field: Option<&Spanned<String>>,
        value: &Spanned<Value>,
        span: Span,
    ) -> Fallible<()> {
        if let Some(field) = field {
            let id = self.variables.random(variable).ok_or_else(|| {
                Fault::new(
                    span,
                    format!("{} is no random variable, so it has no {}", written(variable), field.node),
                )
            })?;
            let attribute =
                Attribute { name: field.node.clone(), name_span: field.span, value: Some(value.clone()) };
            self.variables.randoms[id.0].attributes.0.push(attribute);
            return Ok(());
        }
        let (attributes, kind) = match &value.node {
            Value::RandVar(a) => (a, RandomKind::Random),
            Value::CVar(a) => (a, RandomKind::Custom),
            plain => {
                self.variables.set(variable, plain);
                return Ok(());
            }
        };
        self.set_random(variable, attributes.clone(), kind, span)
    }

    pub(super) fn set_random(
        &mut self,
        variable: &Variable,
        attributes: Attributes,
        kind: RandomKind,
        span: Span,
    ) -> Fallible<()> {
        let taken = self
            .variables
            .randoms
            .iter()
            .filter(|r| r.name.split('#').next() == Some(&variable.name))
            .count();
        let name = match taken {
            0 => variable.name.clone(),
            n => format!("{}#{}", variable.name, n + 1),
        };
        let definition = RandomDefinition { name, span, attributes, kind };
        // Check everything at once except numbers that are set later.
        if kind == RandomKind::Custom {
            definition.compile(&self.scope())?;
        }
        self.variables.set_random(variable, definition);
        Ok(())
    }

    pub(super) fn define_randvar(&mut self, span: Span, attributes: &Attributes) -> Fallible<()> {
        match attributes.value("name").map(|v| &v.node) {
            Some(Value::Variable(variable)) => {
                let rest = attributes.iter().filter(|a| a.name != "name").cloned().collect();
                self.set_random(&variable.clone(), Attributes(rest), RandomKind::Random, span)
            }
            _ => Err(Fault::new(span, "define randvar needs name=$variable")),
        }
    }

    pub(super) fn define_posset(&mut self, span: Span, a: &Attributes) -> Fallible<()> {
        let scope = self.scope();
        let name = scope.text(a, "name")?.ok_or_else(|| Fault::new(span, "posset specifies no name"))?;
        if let Some(kind) = scope.text(a, "type")?
            && kind != "rnd"
        {
            return Err(Fault::new(span, format!("posset type {kind} is not supported: only rnd is")));
        }
        let entries = scope.integer(a, "entries")?.unwrap_or(MOST_POSITIONS);
        if !(1..=MOST_POSITIONS).contains(&entries) {
            return Err(Fault::new(
                span,
                format!("a posset has 1 to {MOST_POSITIONS} entries, not {entries}"),
            ));
        }
        let max = scope.integer(a, "max")?.unwrap_or(0);
        let mut stream = Rand48::new(scope.integer(a, "seed")?.unwrap_or(0) & 0xffff_ffff_ffff);
        let positions =
            (0..entries).map(|_| Bytes((stream.unit() * max as f64) as u64 / 512 * 512)).collect();
        self.possets.insert(name, positions);
        Ok(())
    }

    pub(super) fn define_set(&mut self, source: usize, span: Span, a: &Attributes, single: bool) -> Outcome {
        let here = |fault: Fault| (source, fault);
        let what = if single { "file" } else { "fileset" };
        let attributes = self.bound_early(a, &[]).map_err(here)?;
        if let Some(attribute) = attributes.last("namelength") {
            return Err(here(
                Fault::new(
                    attribute.span(),
                    "namelength is not supported: names have eight digits, as in 1.5",
                )
                .hint("leave it out"),
            ));
        }
        let name = self.scope().text(&attributes, "name").map_err(here)?;
        let name = name.filter(|n| !n.is_empty()).ok_or_else(|| {
            here(Fault::new(span, format!("{what} specifies no name")).hint("add name=..."))
        })?;
        if self.sets.iter().any(|s| s.name == name) {
            let fault = Fault::new(span, format!("{what} {name} is defined already"));
            return Err(here(fault.hint("give one of them another name: they would share a directory")));
        }
        if self.created.is_some() {
            let fault = Fault::new(
                span,
                format!("{what} {name} is defined after the files were created, and will not exist"),
            );
            return Err(here(fault.hint("move the definition before create files")));
        }
        let randoms = self.variables.randoms_now();
        self.sets.push(SetDefinition { source, span, attributes, single, name, randoms });
        Ok(())
    }

    /// Evaluates the attributes that are bound at definition.
    pub(super) fn bound_early(&self, attributes: &Attributes, locals: &[Local]) -> Fallible<Attributes> {
        let local = |v: &Variable| locals.iter().any(|l| l.variable.node == *v);
        let mut bound = attributes.clone();
        for attribute in &mut bound.0 {
            if !matches!(attribute.canonical_name(), "name" | "fd" | "srcfd" | "target") {
                continue;
            }
            let Some(value) = &mut attribute.value else { continue };
            let waits = match &value.node {
                Value::Variable(v) => local(v),
                Value::Joined(pieces) => pieces.iter().any(|p| matches!(p, Piece::Variable(v) if local(v))),
                Value::Quoted(text) => {
                    text.pieces.iter().any(|p| matches!(p, Piece::Variable(v) if local(v)))
                }
                _ => continue,
            };
            if !waits {
                value.node = match self.scope().known(value)? {
                    Known::Integer(n) => Value::Integer(n),
                    Known::Boolean(b) => Value::Boolean(b),
                    Known::Text(text) => Value::Word(text),
                    Known::Random(_) => {
                        return Err(Fault::new(value.span, format!("{} cannot be random", attribute.name)));
                    }
                };
            }
        }
        Ok(bound)
    }

    pub(super) fn define_process(
        &mut self,
        source: usize,
        span: Span,
        process: &crate::filebench::ast::Process,
    ) -> Outcome {
        let here = |fault: Fault| (source, fault);
        let mut process = process.clone();
        process.attributes = self.bound_early(&process.attributes, &[]).map_err(here)?;
        for thread in &mut process.threads {
            thread.node.attributes = self.bound_early(&thread.node.attributes, &[]).map_err(here)?;
            for flowop in &mut thread.node.flowops {
                flowop.node.attributes = self.bound_early(&flowop.node.attributes, &[]).map_err(here)?;
            }
        }
        let composites = self.composites.iter().map(|(name, d)| (name.clone(), &d.composite)).collect();
        self.flowops.process(&process, &composites);
        let randoms = self.variables.randoms_now();
        self.processes.push(ProcessDefinition { source, span, process, randoms });
        Ok(())
    }

    pub(super) fn define_flowop(
        &mut self,
        source: usize,
        span: Span,
        composite: &crate::filebench::ast::Composite,
    ) -> Outcome {
        let here = |fault: Fault| (source, fault);
        let mut composite = composite.clone();
        composite.attributes = self.bound_early(&composite.attributes, &[]).map_err(here)?;
        let name = self.scope().text(&composite.attributes, "name").map_err(here)?;
        let name =
            name.ok_or_else(|| here(Fault::new(span, "flowop specifies no name").hint("add name=...")))?;
        if self.composites.contains_key(&name) || TYPES.iter().any(|t| t.0 == name) {
            let fault = Fault::new(span, format!("there is a flowop {name} already"));
            return Err(here(fault.hint("give the composite another name")));
        }
        if let Some(iters) = composite.attributes.last("iters") {
            let line = self.sources[source].1[..iters.name_span.start].matches('\n').count() + 1;
            self.notes.push(format!(
                "line {line}: iters in the definition of flowop {name} has no effect, as in Filebench; write it where the flowop is used"
            ));
        }
        for flowop in &mut composite.flowops {
            let kind = &flowop.node.flowop_type;
            if kind.node == name {
                return Err(here(Fault::new(kind.span, format!("flowop {name} would contain itself"))));
            }
            flowop.node.attributes =
                self.bound_early(&flowop.node.attributes, &composite.locals).map_err(here)?;
        }
        self.flowops.composite(&name, &composite);
        let randoms = self.variables.randoms_now();
        self.composites.insert(name, CompositeDefinition { source, composite, randoms });
        Ok(())
    }
}
