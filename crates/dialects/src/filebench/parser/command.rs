//! Parses commands and the script as a list of them.

use super::entities::Entity;
use super::{Failed, Parser, Result};
use crate::filebench::ast::{Attributes, Command, Created, Listed, Number, QuitMode, Script, Value};
use crate::filebench::span::Spanned;
use crate::filebench::suggest::nearest;
use crate::filebench::token::{COMMANDS, OLDER_COMMANDS, TokenKind, is_fileset, is_process};

impl Parser<'_> {
    pub(super) fn script(&mut self) -> Script {
        let mut script = Script::default();
        while *self.peek() != TokenKind::End && !self.is_hopeless() {
            self.next_command(&mut script);
        }
        script
    }

    pub(super) fn next_command(&mut self, script: &mut Script) {
        let (start, before) = (self.span(), self.at);
        match self.command() {
            Ok(command) => script.commands.push(Spanned::new(command, self.span_from(start))),
            Err(Failed) => self.skip_to_command(before),
        }
    }

    fn command(&mut self) -> Result<Command> {
        let word = match self.peek() {
            TokenKind::Keyword | TokenKind::Word => self.word().to_owned(),
            _ => return Err(self.not_a_command()),
        };
        if !COMMANDS.contains(&word.as_str())
            && !OLDER_COMMANDS.contains(&word.as_str())
            && word != "nousestats"
        {
            return Err(self.not_a_command());
        }
        self.advance();
        match word.as_str() {
            "set" => self.set(),
            "define" => self.define(),
            "create" => self.create(),
            "eventgen" => Ok(Command::Eventgen(self.optional_attributes(Entity::Eventgen)?)),
            "run" => self.run(),
            "psrun" => self.psrun(),
            "sleep" => self.seconds("sleep").map(Command::Sleep),
            "warmup" => self.seconds("warmup").map(Command::Warmup),
            "echo" => self.text("echo").map(Command::Echo),
            "system" => self.text("system").map(Command::System),
            "usage" => self.text("usage").map(Command::Usage),
            "log" => self.text("log").map(Command::Log),
            "list" => self.list(),
            "debug" => self.debug(),
            "enable" => self.enable(),
            "domultisync" => Ok(Command::Domultisync(self.attributes(Entity::Domultisync)?.0)),
            "load" => self.load(),
            "foreach" => self.foreach(),
            "shutdown" => self.shutdown(),
            "stats" => self.stats().map(Command::Stats),
            "fsflush" => Ok(Command::Fsflush(self.optional_attributes(Entity::Any)?)),
            "fscheck" => Ok(Command::Fscheck(self.optional_attributes(Entity::Any)?)),
            "enable_osprof" => Ok(Command::EnableOsprof),
            "nousestats" => Ok(Command::SetModeNoUseStats),
            "vars" => Ok(Command::Vars),
            "help" => Ok(Command::Help),
            "version" => Ok(Command::Version),
            _ => Ok(Command::Quit),
        }
    }

    fn not_a_command(&mut self) -> Failed {
        if let Some(failed) = self.broken_number() {
            return failed;
        }
        let span = self.span();
        let found = self.found();
        let word = self.word().to_owned();
        let hint = match self.peek() {
            TokenKind::Sign('}') => Some("there is one '}' too many, or a '{' is missing above".to_owned()),
            TokenKind::Sign(',') => Some("commands follow each other without a comma".to_owned()),
            TokenKind::Variable(_) => Some(format!("to give it a value: set {word}=...")),
            TokenKind::Keyword if matches!(word.as_str(), "file" | "flowop" | "randvar" | "thread") => {
                Some(format!("did you mean 'define {word}'?"))
            }
            TokenKind::Keyword if is_fileset(&word) || is_process(&word) => {
                Some(format!("did you mean 'define {word}'?"))
            }
            TokenKind::Keyword | TokenKind::Word => {
                let commands = COMMANDS.iter().chain(&OLDER_COMMANDS).copied();
                nearest(&word, commands).map(|near| format!("did you mean '{near}'?"))
            }
            _ => None,
        };
        self.error(span, format!("expected a command, found {found}"), hint)
    }

    fn set(&mut self) -> Result<Command> {
        if self.eat_keyword("mode") {
            return self.set_mode();
        }
        let variable = self.variable("a variable or 'mode' after 'set'")?;
        let mut field = None;
        if *self.peek() == TokenKind::Tail
            && let Some(name) = self.word().strip_prefix('.').map(str::to_owned)
        {
            let span = self.span();
            if !Entity::RandVar.has(&name) || name == "randtable" {
                let known = Entity::RandVar.attributes().iter().copied();
                let hint = nearest(&name, known).map(|near| format!("did you mean '.{near}'?"));
                return Err(self.error(span, format!("a random variable has no attribute '{name}'"), hint));
            }
            self.advance();
            field = Some(Spanned::new(name, span));
        }
        self.expect_sign('=', "after the variable")?;
        let value = match &field {
            Some(field) if matches!(field.node.as_str(), "type" | "randsrc") => {
                let name = field.node.clone();
                self.choice(&name)?
            }
            Some(_) => self.value()?,
            None => self.set_value()?,
        };
        Ok(Command::Set { variable, field, value })
    }

    fn set_mode(&mut self) -> Result<Command> {
        if self.eat_keyword("nousestats") {
            return Ok(Command::SetModeNoUseStats);
        }
        if !self.eat_keyword("quit") {
            return Err(self.unexpected("'quit' or 'nousestats' after 'set mode'"));
        }
        for (word, mode) in [
            ("timeout", QuitMode::Timeout),
            ("alldone", QuitMode::AllDone),
            ("firstdone", QuitMode::FirstDone),
        ] {
            if self.eat_keyword(word) {
                return Ok(Command::SetModeQuit(mode));
            }
        }
        Err(self.unexpected("'timeout', 'alldone' or 'firstdone' after 'set mode quit'"))
    }

    fn create(&mut self) -> Result<Command> {
        let created = match (self.peek().clone(), self.word()) {
            (TokenKind::Keyword, "files") => Created::Files,
            (TokenKind::Keyword, "file") => Created::File,
            (TokenKind::Keyword, word) if is_fileset(word) => Created::Filesets,
            (TokenKind::Keyword, word) if is_process(word) => Created::Processes,
            _ => {
                return Err(self.unexpected(
                    "'files' after 'create' (in the older language also 'filesets' or 'processes')",
                ));
            }
        };
        self.advance();
        Ok(Command::Create(created))
    }

    /// Attributes, if any.
    fn optional_attributes(&mut self, entity: Entity) -> Result<Attributes> {
        let follows = match self.peek() {
            TokenKind::Keyword | TokenKind::Word => {
                let known = entity != Entity::Any && entity.has(self.word());
                known || *self.peek_second() == TokenKind::Sign('=')
            }
            _ => false,
        };
        if follows {
            self.attributes(entity).map(|(attributes, _)| attributes)
        } else {
            Ok(Attributes::default())
        }
    }

    fn run(&mut self) -> Result<Command> {
        let follows = matches!(
            self.peek(),
            TokenKind::Integer(_) | TokenKind::Variable(_) | TokenKind::Negative(_) | TokenKind::Quoted(_)
        );
        if follows {
            self.seconds("run").map(|seconds| Command::Run(Some(seconds)))
        } else {
            Ok(Command::Run(None))
        }
    }

    /// A number or a variable.
    fn seconds(&mut self, command: &str) -> Result<Spanned<Value>> {
        let number = self.number(&format!("a number of seconds or a variable after '{command}'"))?;
        let value = match number.node {
            Number::Integer(value) => Value::Integer(value),
            Number::Variable(variable) => Value::Variable(variable),
        };
        Ok(Spanned::new(value, number.span))
    }

    fn psrun(&mut self) -> Result<Command> {
        let span = self.span();
        let period = match *self.peek() {
            TokenKind::Integer(value) => i64::try_from(value).unwrap_or(i64::MAX),
            TokenKind::Negative(value) => value,
            TokenKind::Variable(_) | TokenKind::Quoted(_) => {
                return Err(self.unexpected("a number of seconds after 'psrun'"));
            }
            _ => return Ok(Command::Psrun { period_s: None, seconds: None }),
        };
        self.advance();
        self.whole_number()?;
        let period_s = Some(Spanned::new(period, span));
        let span = self.span();
        let seconds = match *self.peek() {
            TokenKind::Integer(value) => {
                self.advance();
                self.whole_number()?;
                Some(Spanned::new(value, span))
            }
            TokenKind::Negative(_) | TokenKind::Variable(_) => {
                return Err(self.unexpected("a number of seconds"));
            }
            _ => None,
        };
        Ok(Command::Psrun { period_s, seconds })
    }

    fn list(&mut self) -> Result<Command> {
        if self.eat_keyword("flowop") {
            return Ok(Command::List(Listed::Flowops));
        }
        if *self.peek() == TokenKind::Keyword && is_fileset(self.word()) {
            self.advance();
            return Ok(Command::List(Listed::Filesets));
        }
        Err(self.unexpected("'filesets' or 'flowop' after 'list'"))
    }

    fn debug(&mut self) -> Result<Command> {
        let TokenKind::Integer(level) = *self.peek() else {
            return Err(self.unexpected("a number after 'debug'"));
        };
        self.advance();
        self.whole_number()?;
        Ok(Command::Debug(level))
    }

    fn enable(&mut self) -> Result<Command> {
        if self.eat_keyword("lathist") {
            return Ok(Command::EnableLathist);
        }
        if self.eat_keyword("multi") {
            return Ok(Command::EnableMulti(self.attributes(Entity::Multi)?.0));
        }
        Err(self.unexpected("'lathist' or 'multi' after 'enable'"))
    }
}
