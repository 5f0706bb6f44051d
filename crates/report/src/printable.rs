//! Text that comes from users and devices, made fit to print.

/// Replaces control characters: they break terminals and are not allowed in XML.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
