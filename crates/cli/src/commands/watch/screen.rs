//! The terminal in screen mode: taken over at the start, restored at the end in any case; and the keys.

use super::history::History;
use super::{Show, Wish, draw};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

pub struct Screen {
    terminal: DefaultTerminal,
    view: draw::View,
}

impl Screen {
    pub fn new() -> anyhow::Result<Self> {
        let mut screen = Self { terminal: ratatui::try_init()?, view: draw::View::default() };
        screen.view.colour = crate::console::colour();
        Ok(screen)
    }

    fn draw(&mut self, history: &History) -> anyhow::Result<()> {
        let view = &self.view;
        self.terminal.draw(|frame| draw::all(frame, history, view))?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

impl Show for Screen {
    fn wait(&mut self, until: Instant, history: &History) -> anyhow::Result<Wish> {
        const NAP: Duration = Duration::from_millis(50);
        if history.moments.is_empty() {
            self.draw(history)?;
        }
        loop {
            if fathom_engine::interrupted_by().is_some() {
                return Ok(Wish::Quit);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Wish::Go);
            }
            if !event::poll(left.min(NAP))? {
                continue;
            }
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press => {
                    let control = key.modifiers.contains(KeyModifiers::CONTROL);
                    match key.code {
                        KeyCode::Char('c') if control => return Ok(Wish::Quit),
                        KeyCode::Char('q') | KeyCode::Esc => return Ok(Wish::Quit),
                        KeyCode::Char('p' | ' ') => self.view.paused = !self.view.paused,
                        KeyCode::Tab | KeyCode::Right => {
                            self.view.device = (self.view.device + 1) % history.names.len().max(1);
                        }
                        _ => continue,
                    }
                    self.draw(history)?;
                    return Ok(Wish::Pause);
                }
                Event::Resize(..) => {
                    self.draw(history)?;
                    return Ok(Wish::Pause);
                }
                _ => {}
            }
        }
    }

    fn show(&mut self, history: &History) -> anyhow::Result<()> {
        if self.view.paused { Ok(()) } else { self.draw(history) }
    }
}
