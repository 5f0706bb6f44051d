//! The time of day where the user is, for headings, names and the record. Durations are measured by the engine's clock.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::sync::OnceLock;

/// Now, in the local time zone.
#[must_use]
pub fn now() -> Zoned {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    Timestamp::now().to_zoned(ZONE.get_or_init(zone).clone())
}

/// The zone of /etc/localtime, read as it is. Looking for its name walks the whole database of zones, which takes a millisecond of each
/// start; that is done only where `TZ` names a zone.
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
