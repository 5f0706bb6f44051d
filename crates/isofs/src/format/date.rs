//! Dates: 7 bytes in directory records (6 in High Sierra), 17 characters in descriptors. Both become seconds since 1970. An invalid date
//! becomes the nearest valid one, because a wrong date is no reason to lose a file.

/// A point in time between 1970 and the end of 2155: seconds since 1970-01-01 00:00 UTC, and nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Whole seconds.
    pub seconds: i64,
    /// Nanoseconds below one second; the 17-character form resolves hundredths.
    pub nanos: u32,
}

/// Value of a date field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Date {
    /// All zero: not specified.
    Unset,
    /// A date as recorded.
    Exact(Moment),
    /// An invalid date, moved to the nearest valid one from 1970 to 2155.
    Clamped(Moment),
}

impl Date {
    /// The point in time, if one is recorded.
    #[must_use]
    pub fn moment(self) -> Option<Moment> {
        match self {
            Self::Unset => None,
            Self::Exact(moment) | Self::Clamped(moment) => Some(moment),
        }
    }
}

/// Parts of a date as recorded, wide enough for any digits or bytes.
struct Parts {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    hundredths: i64,
    /// Quarter hours east of Greenwich.
    zone: i64,
}

/// The 7 bytes of a directory record: year - 1900, month, day, hour, minute, second, signed quarter hours. High Sierra has no
/// seventh byte: pass 0. Fewer than 7 bytes are unset.
#[must_use]
pub fn short(bytes: &[u8]) -> Date {
    let Some(&[year, month, day, hour, minute, second, zone]) = bytes.first_chunk() else {
        return Date::Unset;
    };
    if [year, month, day, hour, minute, second] == [0; 6] {
        return Date::Unset;
    }
    clamp(Parts {
        year: 1900 + i64::from(year),
        month: month.into(),
        day: day.into(),
        hour: hour.into(),
        minute: minute.into(),
        second: second.into(),
        hundredths: 0,
        zone: i8::from_ne_bytes([zone]).into(),
    })
}

/// The 17 bytes of a descriptor: YYYYMMDDhhmmsscc and signed quarter hours (absent in High Sierra's 16). All '0' is unset; so are all
/// blanks or all zero bytes, which many writers use.
#[must_use]
pub fn long(bytes: &[u8]) -> Date {
    let Some(digits) = bytes.get(..16) else { return Date::Unset };
    if [b'0', b' ', 0].iter().any(|&fill| digits.iter().all(|&b| b == fill)) {
        return Date::Unset;
    }
    let number = |from: usize, to: usize| {
        digits[from..to].iter().fold(0, |n, &b| n * 10 + i64::from(b.wrapping_sub(b'0')).min(9))
    };
    let date = clamp(Parts {
        year: number(0, 4),
        month: number(4, 6),
        day: number(6, 8),
        hour: number(8, 10),
        minute: number(10, 12),
        second: number(12, 14),
        hundredths: number(14, 16),
        zone: bytes.get(16).map_or(0, |&zone| i8::from_ne_bytes([zone]).into()),
    });
    match date {
        Date::Exact(moment) if !digits.iter().all(u8::is_ascii_digit) => Date::Clamped(moment),
        date => date,
    }
}

/// Clamps every part to its range, then the whole to 1970 to 2155.
fn clamp(parts: Parts) -> Date {
    let year = parts.year.clamp(1970, 2155);
    let month = parts.month.clamp(1, 12);
    let day = parts.day.clamp(1, days_of(year, month));
    let hour = parts.hour.clamp(0, 23);
    let minute = parts.minute.clamp(0, 59);
    let second = parts.second.clamp(0, 59);
    // ECMA-119 8.4.26.1: -48 (west) to +52 (east).
    let zone = if (-48..=52).contains(&parts.zone) { parts.zone } else { 0 };
    let local = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let seconds = (local - zone * 900).clamp(0, LAST);
    let same = year == parts.year
        && month == parts.month
        && day == parts.day
        && hour == parts.hour
        && minute == parts.minute
        && second == parts.second.min(59)
        && zone == parts.zone
        && seconds == local - zone * 900;
    let nanos = u32::try_from(parts.hundredths.clamp(0, 99)).unwrap_or(0) * 10_000_000;
    let moment = Moment { seconds, nanos };
    if same { Date::Exact(moment) } else { Date::Clamped(moment) }
}

/// 2155-12-31 23:59:59.
const LAST: i64 = 5_869_583_999;

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01; the year starts in March, so that the leap day is its last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let from_march = (month + 9) % 12;
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(seconds: i64, nanos: u32) -> Date {
        Date::Exact(Moment { seconds, nanos })
    }

    #[test]
    fn dates_as_date_u_prints_them() {
        // date -u -d '2007-02-28 12:34:56 +0100' +%s
        assert_eq!(short(&[107, 2, 28, 12, 34, 56, 4]), exact(1_172_662_496, 0));
        assert_eq!(short(&[70, 1, 1, 0, 0, 0, 0]), exact(0, 0));
        assert_eq!(long(b"2024022923595912\0"), exact(1_709_251_199, 120_000_000));
        assert_eq!(short(&[255, 12, 31, 23, 59, 59, 0]), exact(LAST, 0));
    }

    #[test]
    fn unset_is_not_1900() {
        assert_eq!(short(&[0; 7]), Date::Unset);
        assert_eq!(short(&[1, 2]), Date::Unset);
        assert_eq!(long(b"0000000000000000\0"), Date::Unset);
        assert_eq!(long(&[0; 17]), Date::Unset);
    }

    #[test]
    fn impossible_dates_are_moved_into_the_calendar() {
        let Date::Clamped(moment) = short(&[255, 99, 99, 99, 99, 99, 127]) else { panic!() };
        assert_eq!(moment.seconds, LAST);
        assert_eq!(short(&[10, 1, 1, 0, 0, 0, 0]), Date::Clamped(Moment::default()));
        assert_eq!(short(&[101, 2, 29, 0, 0, 0, 0]).moment(), short(&[101, 2, 28, 0, 0, 0, 0]).moment());
        assert!(matches!(long(b"9999999999999999\x7f"), Date::Clamped(_)));
        assert!(matches!(long(b"20x4022923595900\0"), Date::Clamped(_)));
    }

    #[test]
    fn no_bytes_are_out_of_range() {
        for n in 0..=255u8 {
            for date in [short(&[n; 7]), long(&[n; 17])] {
                let seconds = date.moment().unwrap_or_default().seconds;
                assert!((0..=LAST).contains(&seconds), "{n}");
            }
        }
    }
}
