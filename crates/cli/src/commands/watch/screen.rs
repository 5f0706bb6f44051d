//! The terminal in screen mode: taken over at the start, restored at the end in any case; and the keys.

use super::history::WatchHistory;
use super::{UserInput, WatchOutput, draw};
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

    fn draw(&mut self, history: &WatchHistory) -> anyhow::Result<()> {
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

impl WatchOutput for Screen {
    fn wait(&mut self, until: Instant, history: &WatchHistory) -> anyhow::Result<UserInput> {
        const NAP: Duration = Duration::from_millis(50);
        if history.moments.is_empty() {
            self.draw(history)?;
        }
        loop {
            if fathom_engine::interrupted_by().is_some() {
                return Ok(UserInput::Quit);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(UserInput::Go);
            }
            if !event::poll(left.min(NAP))? {
                continue;
            }
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press => {
                    let control = key.modifiers.contains(KeyModifiers::CONTROL);
                    match key.code {
                        KeyCode::Char('c') if control => return Ok(UserInput::Quit),
                        KeyCode::Char('q') | KeyCode::Esc => return Ok(UserInput::Quit),
                        KeyCode::Char('p' | ' ') => self.view.paused = !self.view.paused,
                        KeyCode::Tab | KeyCode::Right => {
                            self.view.device = (self.view.device + 1) % history.names.len().max(1);
                        }
                        _ => continue,
                    }
                    self.draw(history)?;
                    return Ok(UserInput::Pause);
                }
                Event::Resize(..) => {
                    self.draw(history)?;
                    return Ok(UserInput::Pause);
                }
                _ => {}
            }
        }
    }

    fn show(&mut self, history: &WatchHistory) -> anyhow::Result<()> {
        if self.view.paused { Ok(()) } else { self.draw(history) }
    }
}
