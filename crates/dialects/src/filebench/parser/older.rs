//! Commands with operands that only exist before 1.5: `load`, loops, and the explicit life cycle of processes.

use super::{Parser, Result};
use crate::filebench::ast::{Command, Script, Stats, Value};
use crate::filebench::suggest::nearest;
use crate::filebench::token::{TokenKind, is_process};

/// Nesting limit of `foreach`, which protects the stack.
const DEPTH_MAX: usize = 64;

const STATS: [&str; 7] = ["clear", "snap", "dump", "xmldump", "multidump", "command", "directory"];

impl Parser<'_> {
    pub(super) fn load(&mut self) -> Result<Command> {
        let value = self.value()?;
        if matches!(value.node, Value::Word(_) | Value::Quoted(_) | Value::Variable(_) | Value::Joined(_)) {
            return Ok(Command::Load(value));
        }
        Err(self.error(value.span, "expected the name of a script after 'load'", None))
    }

    pub(super) fn foreach(&mut self) -> Result<Command> {
        let start = self.span();
        let variable = self.variable("a variable after 'foreach'")?;
        if !self.eat_keyword("in") {
            return Err(self.unexpected("'in' after the variable of 'foreach'"));
        }
        let mut values = vec![self.value()?];
        while self.eat_sign(',') {
            values.push(self.value()?);
        }
        self.expect_sign('{', "after the values of 'foreach'")?;
        if self.depth >= DEPTH_MAX {
            return Err(self.error(
                start,
                format!("more than {DEPTH_MAX} 'foreach' stand inside each other"),
                None,
            ));
        }
        self.depth += 1;
        let mut body = Script::default();
        while !self.is_sign('}') && *self.peek() != TokenKind::End && !self.is_hopeless() {
            self.next_command(&mut body);
        }
        self.depth -= 1;
        if !self.eat_sign('}') {
            let hint = Some("a '}' is missing at the end".to_owned());
            return Err(self.error(start, "the braces of this 'foreach' are not closed", hint));
        }
        Ok(Command::Foreach { variable, values, body })
    }

    pub(super) fn shutdown(&mut self) -> Result<Command> {
        if *self.peek() == TokenKind::Keyword && is_process(self.word()) {
            self.advance();
            return Ok(Command::ShutdownProcesses);
        }
        Err(self.unexpected("'processes' after 'shutdown'"))
    }

    pub(super) fn stats(&mut self) -> Result<Stats> {
        let span = self.span();
        let word = self.word().to_owned();
        if *self.peek() != TokenKind::Word || !STATS.contains(&word.as_str()) {
            let hint = nearest(&word, STATS).map(|near| format!("did you mean 'stats {near}'?"));
            let found = self.found();
            let message = format!("expected one of {} after 'stats', found {found}", STATS.join(", "));
            return Err(self.error(span, message, hint));
        }
        self.advance();
        Ok(match word.as_str() {
            "clear" => Stats::Clear,
            "snap" => Stats::Snap,
            "dump" => Stats::Dump(self.value()?),
            "xmldump" => Stats::XmlDump(self.value()?),
            "multidump" => Stats::MultiDump(self.value()?),
            "command" => Stats::Command(self.value()?),
            _ => Stats::Directory(self.value()?),
        })
    }
}
