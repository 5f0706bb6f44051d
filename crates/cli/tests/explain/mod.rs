//! Explaining as a user sees it: what a figure is worth, and what was measured before.

mod cold;
mod direct;
mod documented;
mod extents;
mod first_minute;
mod history;
mod kept;
mod page_cache;
mod stacks;
mod statements;
mod traces;
mod traces_recorded;
mod trust;
mod truth;
mod why;
