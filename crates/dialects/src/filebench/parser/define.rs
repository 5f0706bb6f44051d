//! `define ...`: files, filesets, variables, and the nested bodies of processes, threads and composites.

use super::entities::Entity;
use super::{Failed, Parser, Result};
use crate::filebench::ast::{Attributes, Command, Composite, FlowopUse, Local, Process, Thread};
use crate::filebench::span::{Span, Spanned};
use crate::filebench::suggest::nearest;
use crate::filebench::token::{TokenKind, is_fileset, is_process};

const DEFINABLE: [&str; 6] = ["file", "fileset", "process", "flowop", "randvar", "posset"];

impl Parser<'_> {
    /// Parses what follows `define`.
    pub(super) fn define(&mut self) -> Result<Command> {
        let what = match self.peek() {
            TokenKind::Keyword | TokenKind::Word => self.word().to_owned(),
            _ => return Err(self.undefinable()),
        };
        match what.as_str() {
            "file" => Ok(Command::DefineFile(self.definition(Entity::File)?)),
            "flowop" => self.composite().map(Command::DefineFlowop),
            "randvar" => Ok(Command::DefineRandVar(self.definition(Entity::RandVar)?)),
            "posset" => Ok(Command::DefinePosset(self.definition(Entity::Posset)?)),
            word if is_fileset(word) => Ok(Command::DefineFileset(self.definition(Entity::Fileset)?)),
            word if is_process(word) => self.process().map(Command::DefineProcess),
            _ => Err(self.undefinable()),
        }
    }

    fn undefinable(&mut self) -> Failed {
        let span = self.span();
        let word = self.word().to_owned();
        let hint = match word.as_str() {
            "thread" => Some("threads stand inside the braces of a process".to_owned()),
            "cvar" => Some("a custom variable is made with set $name=cvar(...)".to_owned()),
            word => nearest(word, DEFINABLE).map(|near| format!("did you mean 'define {near}'?")),
        };
        let found = self.found();
        self.error(
            span,
            format!("expected one of {} after 'define', found {found}", DEFINABLE.join(", ")),
            hint,
        )
    }

    fn definition(&mut self, entity: Entity) -> Result<Attributes> {
        self.advance();
        self.attributes(entity).map(|(attributes, _)| attributes)
    }

    fn process(&mut self) -> Result<Process> {
        let keyword = self.advance();
        let attributes = self.head(Entity::Process)?;
        let mut threads = Vec::new();
        self.body("process", keyword, |parser| {
            let start = parser.span();
            if !parser.is_keyword("thread") {
                let found = parser.found();
                let hint = parser
                    .is_keyword("flowop")
                    .then(|| "a flowop stands inside the braces of a thread".to_owned());
                return Err(parser.error(start, format!("a process holds threads, not {found}"), hint));
            }
            let thread = parser.thread()?;
            threads.push(Spanned::new(thread, parser.span_from(start)));
            Ok(())
        })?;
        Ok(Process { attributes, threads })
    }

    fn thread(&mut self) -> Result<Thread> {
        let keyword = self.advance();
        let attributes = self.head(Entity::Thread)?;
        let flowops = self.flowops("thread", keyword)?;
        Ok(Thread { attributes, flowops })
    }

    fn composite(&mut self) -> Result<Composite> {
        let keyword = self.advance();
        let (attributes, locals) = self.attributes_of_head(Entity::Composite)?;
        let flowops = self.flowops("flowop", keyword)?;
        Ok(Composite { attributes, locals, flowops })
    }

    fn head(&mut self, entity: Entity) -> Result<Attributes> {
        self.attributes_of_head(entity).map(|(attributes, _)| attributes)
    }

    /// Attributes before a body: an error in them does not skip the body.
    fn attributes_of_head(&mut self, entity: Entity) -> Result<(Attributes, Vec<Local>)> {
        match self.attributes(entity) {
            Err(Failed) if self.is_sign('{') && !self.is_hopeless() => Ok(Default::default()),
            other => other,
        }
    }

    fn flowops(&mut self, of: &str, keyword: Span) -> Result<Vec<Spanned<FlowopUse>>> {
        let mut flowops = Vec::new();
        self.body(of, keyword, |parser| {
            let start = parser.span();
            if !parser.is_keyword("flowop") {
                return Err(parser.not_a_flowop());
            }
            parser.advance();
            let flowop = parser.flowop()?;
            flowops.push(Spanned::new(flowop, parser.span_from(start)));
            Ok(())
        })?;
        Ok(flowops)
    }

    fn not_a_flowop(&mut self) -> Failed {
        let span = self.span();
        let found = self.found();
        let hint = match (self.peek().clone(), self.word()) {
            (TokenKind::Word, word) => Some(format!("write 'flowop {word}'")),
            (TokenKind::Keyword, "thread") => Some("a '}' is missing before it".into()),
            _ => None,
        };
        self.error(span, format!("expected 'flowop', found {found}"), hint)
    }

    /// Parses what follows `flowop`.
    fn flowop(&mut self) -> Result<FlowopUse> {
        let span = self.span();
        let flowop_type = match self.peek() {
            TokenKind::Word => self.word().to_owned(),
            TokenKind::Keyword => {
                let word = self.word().to_owned();
                let hint = "a keyword cannot name a flowop; rename it where it is defined".to_owned();
                let message = format!("expected the type of a flowop, found the keyword '{word}'");
                // `flowop list name=x`: the keyword is a type, not the start of the next command.
                if *self.peek_second() == TokenKind::Keyword {
                    self.advance();
                }
                return Err(self.error(span, message, Some(hint)));
            }
            TokenKind::Quoted(_) => {
                let hint = "write the type without quotes".to_owned();
                return Err(self.error(span, "expected the type of a flowop, found a string", Some(hint)));
            }
            _ => return Err(self.unexpected("the type of a flowop")),
        };
        self.advance();
        let (attributes, locals) = self.attributes(Entity::Flowop)?;
        Ok(FlowopUse { flowop_type: Spanned::new(flowop_type, span), attributes, locals })
    }

    /// `{ ITEM ITEM ... }`, at least one. After an error in an item, parsing resumes at the next.
    fn body(&mut self, of: &str, keyword: Span, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect_sign('{', &format!("after the attributes of the {of}"))?;
        let open = self.tokens[self.at - 1].span;
        if self.is_sign('}') {
            let span = open.to(self.advance());
            let holds = if of == "process" { "thread" } else { "flowop" };
            // No text is skipped, so parsing continues right here.
            self.error(span, format!("a {of} holds at least one {holds}"), None);
            return Ok(());
        }
        while !self.eat_sign('}') {
            if self.is_hopeless() {
                return Err(Failed);
            }
            if self.is_command_start() {
                // The enclosing body ends here too: one error is enough.
                if self.unclosed_at.replace(self.at) == Some(self.at) {
                    return Err(Failed);
                }
                let found = self.found();
                let hint = Some(format!("a '}}' is missing before {found}"));
                return Err(self.error(keyword, format!("the braces of this {of} are not closed"), hint));
            }
            let before = self.at;
            if item(self).is_err() {
                if self.at == before {
                    self.advance();
                }
                self.skip_to_body();
            }
        }
        Ok(())
    }
}
