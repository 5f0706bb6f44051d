//! Attribute lists. In Filebench 1.5 a missing comma ends the list and the rest is silently parsed as something else. Here it is an
//! error, because it always loses part of the script.

use super::entities::{Entity, is_attribute};
use super::{Failed, Parser, Result};
use crate::filebench::ast::{Attribute, Attributes, Local, Value};
use crate::filebench::span::{Span, Spanned};
use crate::filebench::suggest::nearest;
use crate::filebench::token::TokenKind;

impl Parser<'_> {
    /// `ATTRIBUTE, ATTRIBUTE, ...`: at least one, and variables of a composite where allowed. A malformed attribute is
    /// reported and left out.
    pub(super) fn attributes(&mut self, entity: Entity) -> Result<(Attributes, Vec<Local>)> {
        let mut attributes = Attributes::default();
        let mut locals = Vec::new();
        if !self.is_attribute_start(entity) {
            return Err(self.no_attribute(entity));
        }
        if matches!(self.peek(), TokenKind::Variable(_)) {
            let span = self.span();
            let hint = Some("write name= first".to_owned());
            self.error(span, format!("the first attribute of {} cannot be a variable", entity.noun()), hint);
        }
        loop {
            let errors = self.errors.len();
            if self.item(entity, &mut attributes, &mut locals).is_err() {
                debug_assert!(self.errors.len() > errors, "a failure is reported where it is found");
                self.skip_to_attribute_end();
            }
            if self.is_hopeless() {
                return Err(Failed);
            }
            if self.eat_sign(',') {
                if self.is_attribute_start(entity) {
                    continue;
                }
                self.trailing_comma();
                break;
            }
            if !self.is_comma_missing(entity) {
                break;
            }
            let span = self.span();
            let word = self.word().to_owned();
            let hint = Some("Filebench 1.5 would end the list here and lose the rest".to_owned());
            self.error(span, format!("a comma is missing before '{word}'"), hint);
        }
        Ok((attributes, locals))
    }

    fn item(&mut self, entity: Entity, attributes: &mut Attributes, locals: &mut Vec<Local>) -> Result<()> {
        let span = self.span();
        match self.peek().clone() {
            TokenKind::Variable(variable) if entity.has_locals() => {
                self.advance();
                let value = if self.eat_sign('=') { Some(self.value()?) } else { None };
                locals.push(Local { variable: Spanned::new(variable, span), value });
                Ok(())
            }
            TokenKind::Keyword | TokenKind::Word => {
                let name = self.word().to_owned();
                if !entity.has(&name) {
                    return Err(self.unknown_attribute(entity, span, &name));
                }
                self.advance();
                let value = self.attribute_value(entity, &name)?;
                attributes.0.push(Attribute { name, name_span: span, value });
                Ok(())
            }
            _ => Err(self.unexpected("an attribute")),
        }
    }

    fn attribute_value(&mut self, entity: Entity, name: &str) -> Result<Option<Spanned<Value>>> {
        let takes_choice = entity == Entity::RandVar && matches!(name, "type" | "randsrc");
        let must = takes_choice
            || name == "randtable"
            || (entity == Entity::CVar && matches!(name, "type" | "parameters"));
        if !self.eat_sign('=') {
            if must {
                return Err(self.unexpected(&format!("'=' after '{name}'")));
            }
            return Ok(None);
        }
        if takes_choice {
            return self.choice(name).map(Some);
        }
        if name == "randtable" {
            return self.table().map(Some);
        }
        let value = self.value()?;
        if entity == Entity::CVar
            && matches!(name, "type" | "parameters")
            && !matches!(value.node, Value::Word(_) | Value::Quoted(_))
        {
            return Err(self.error(
                value.span,
                format!("'{name}' of a custom variable is a word or a string"),
                None,
            ));
        }
        Ok(Some(value))
    }

    /// Whether an attribute, known or not, starts here.
    fn is_attribute_start(&mut self, entity: Entity) -> bool {
        match self.peek() {
            TokenKind::Variable(_) => entity.has_locals(),
            TokenKind::Keyword => !matches!(self.word(), "flowop" | "thread") && !self.is_command_start(),
            TokenKind::Word => {
                let known = entity.has(self.word()) && entity != Entity::Any;
                known || !self.is_command_start() || *self.peek_second() == TokenKind::Sign('=')
            }
            _ => false,
        }
    }

    /// Whether the text after an attribute looks like another attribute with the comma missing.
    fn is_comma_missing(&mut self, entity: Entity) -> bool {
        let assigned = *self.peek_second() == TokenKind::Sign('=');
        match self.peek() {
            TokenKind::Variable(_) => entity.has_locals(),
            TokenKind::Keyword | TokenKind::Word => {
                let word = self.word();
                assigned || (is_attribute(word) && entity != Entity::Any)
            }
            _ => false,
        }
    }

    fn no_attribute(&mut self, entity: Entity) -> Failed {
        let first = entity.attributes().first().copied().unwrap_or("name");
        self.unexpected(&format!("an attribute of {}, as in '{first}=...'", entity.noun()))
    }

    fn trailing_comma(&mut self) {
        // The comma is the token just consumed.
        let comma = self.tokens[self.at.saturating_sub(1)].span;
        let found = self.found();
        self.error(comma, format!("expected an attribute after the comma, found {found}"), None);
    }

    fn unknown_attribute(&mut self, entity: Entity, span: Span, name: &str) -> Failed {
        let hint = if let Some(near) = nearest(name, entity.attributes().iter().copied()) {
            Some(format!("did you mean '{near}'?"))
        } else if let Some(other) = Entity::other_with(name) {
            Some(format!("it belongs to {}", other.noun()))
        } else {
            Some(format!("{} has {}", entity.noun(), entity.attributes().join(", ")))
        };
        self.error(span, format!("{} has no attribute '{name}'", entity.noun()), hint)
    }
}
