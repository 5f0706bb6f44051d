//! Commands that bring in other text: loaded scripts, loops, environment variables.

use super::*;

impl Walker<'_> {
    /// Looks up the environment variables of a command before it is executed.
    pub(super) fn note_environment(&mut self, command: &Command) {
        let mut wanted: Vec<Variable> = Vec::new();
        match command {
            Command::Echo(t) | Command::Log(t) | Command::System(t) => collect(&t.node.pieces, &mut wanted),
            Command::Set { value, .. } => asked_for(&value.node, &mut wanted),
            Command::DefineFile(a) | Command::DefineFileset(a) => {
                a.iter().filter_map(|a| a.value.as_ref()).for_each(|v| asked_for(&v.node, &mut wanted));
            }
            _ => {}
        }
        for variable in wanted.into_iter().filter(|v| v.form == VariableForm::Parenthesised) {
            if let Some(text) = (self.world.environment)(&variable.name) {
                self.variables.outside.insert(variable, text);
            }
        }
    }

    pub(super) fn load(&mut self, source: usize, name: &Spanned<Value>) -> Outcome {
        let here = |fault: Fault| (source, fault);
        if self.loading >= DEEPEST_LOAD {
            return Err(here(Fault::new(name.span, "scripts load one another in a circle")));
        }
        let Known::Text(text) = self.scope().known(name).map_err(here)? else {
            return Err(here(Fault::new(name.span, "load needs the name of a script")));
        };
        let file = if text.ends_with(".f") { text.clone() } else { format!("{text}.f") };
        let beside = Path::new(&self.sources[0].0).with_file_name(&file);
        let found = [PathBuf::from(&file), beside]
            .into_iter()
            .find_map(|path| Some(((self.world.read)(&path)?, path)));
        let Some((text, path)) = found else {
            let fault = Fault::new(name.span, format!("there is no script {file} here or beside the script"));
            return Err(here(fault.hint("write its path without the .f")));
        };
        let path = path.display().to_string();
        let parsed = parse(&text);
        self.sources.push((path.clone(), text.clone()));
        let number = self.sources.len() - 1;
        for error in &parsed.errors {
            let rendered = error.render(&path, &text);
            self.findings.push(Finding { file: path.clone(), diagnostic: error.clone(), rendered });
        }
        self.notes.extend(parsed.warnings.iter().map(|w| w.render(&path, &text).trim_end().to_owned()));
        if parsed.errors.is_empty() {
            self.loading += 1;
            self.script(number, &parsed.script);
            self.loading -= 1;
        }
        Ok(())
    }

    pub(super) fn foreach(
        &mut self,
        source: usize,
        variable: &Variable,
        values: &[Spanned<Value>],
        body: &Script,
    ) -> Outcome {
        for value in values {
            let known = self.scope().known(value).map_err(|f| (source, f))?;
            self.variables.set_known(variable, known);
            self.script(source, body);
        }
        Ok(())
    }
}

/// Collects the variables used by a value.
fn asked_for(value: &Value, wanted: &mut Vec<Variable>) {
    match value {
        Value::Quoted(text) => collect(&text.pieces, wanted),
        Value::Joined(pieces) => collect(pieces, wanted),
        Value::Variable(variable) => wanted.push(variable.clone()),
        _ => {}
    }
}

fn collect(pieces: &[Piece], wanted: &mut Vec<Variable>) {
    wanted.extend(pieces.iter().filter_map(|p| match p {
        Piece::Variable(v) => Some(v.clone()),
        Piece::Literal(_) => None,
    }));
}
