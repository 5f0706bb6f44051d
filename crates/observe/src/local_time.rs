//! The user's local time, for headings, names and the record. Durations use the engine's clock.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::sync::OnceLock;

/// The current time in the local time zone.
#[must_use]
pub fn now() -> Zoned {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    Timestamp::now().to_zoned(ZONE.get_or_init(zone).clone())
}

/// The zone of /etc/localtime, read directly. Looking up its name walks the whole zone database, which would add a millisecond to each
/// start; that is done only if `TZ` names a zone.
fn zone() -> TimeZone {
    let named = std::env::var_os("TZ").is_some();
    let local = || TimeZone::tzif("Local", &std::fs::read("/etc/localtime").ok()?).ok();
    if named { None } else { local() }.unwrap_or_else(TimeZone::system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_time_of_the_system() {
        let (here, system) =
            (zone().to_offset(Timestamp::now()), TimeZone::system().to_offset(Timestamp::now()));
        assert_eq!(here, system);
    }
}
