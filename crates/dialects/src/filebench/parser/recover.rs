//! Error recovery: finds the next unambiguous start of an attribute, flowop or command.

use super::Parser;
use crate::filebench::token::{COMMANDS, OLDER_COMMANDS, TokenKind};

impl Parser<'_> {
    /// Whether the next token starts a command, or the script ends. The older commands are plain words, so they count only at the
    /// start of a line.
    pub(super) fn is_command_start(&mut self) -> bool {
        match self.peek() {
            TokenKind::End => true,
            TokenKind::Keyword => COMMANDS.contains(&self.word()),
            TokenKind::Word => OLDER_COMMANDS.contains(&self.word()) && self.is_first_on_line(),
            _ => false,
        }
    }

    pub(super) fn is_first_on_line(&mut self) -> bool {
        let start = self.span().start;
        let line = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        self.text[line..start].trim().is_empty()
    }

    /// Skips to the next command. Always consumes at least one token, or the same error would recur.
    pub(super) fn skip_to_command(&mut self, failed_at: usize) {
        if self.at == failed_at {
            self.advance();
        }
        while !(self.is_command_start() || self.depth > 0 && self.is_sign('}')) {
            self.advance();
        }
    }

    /// Skips to the next flowop, thread, closing brace or command.
    pub(super) fn skip_to_body(&mut self) {
        while !self.is_command_start()
            && !self.is_sign('}')
            && !self.is_keyword("flowop")
            && !self.is_keyword("thread")
        {
            self.advance();
        }
    }

    /// Skips to a token that can follow an attribute.
    pub(super) fn skip_to_attribute_end(&mut self) {
        loop {
            let ends = match self.peek() {
                TokenKind::Sign(',' | '{' | '}' | ')') => true,
                TokenKind::Keyword => matches!(self.word(), "flowop" | "thread"),
                _ => false,
            };
            if ends || self.is_command_start() {
                return;
            }
            self.advance();
        }
    }
}
