//! Errors that a stream tolerates instead of ending: of reads, of writes, and failed data checks.

use super::is_default;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The errors an operation may fail with without ending its worker. The failure is counted, its bytes are not, and the stream continues
/// with the next operation. Any error not listed here ends the worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PassOver {
    /// Errors of reads.
    #[serde(skip_serializing_if = "is_default")]
    pub reads: Vec<ErrorNumber>,
    /// Errors of operations that do not read: writes, syncs on the way, trims.
    #[serde(skip_serializing_if = "is_default")]
    pub writes: Vec<ErrorNumber>,
    /// Data read back differ from what they should be. The read itself counts.
    #[serde(skip_serializing_if = "is_default")]
    pub wrong_data: bool,
    /// End after this many successful operations, unless the amount ends it earlier; 0: only the amount ends it.
    #[serde(skip_serializing_if = "is_default")]
    pub enough: u64,
}

/// An error number of Linux, by its name ("ENOSPC") where it has one here, else as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorNumber(pub i32);

/// Names of the error numbers from 1 on, in order.
const FIRST: [&str; 34] = [
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD", "EAGAIN",
    "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV", "ENOTDIR", "EISDIR",
    "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE", "EROFS", "EMLINK",
    "EPIPE", "EDOM", "ERANGE",
];

/// Larger numbers that a file or a device returns.
const MORE: [(&str, i32); 12] = [
    ("ENODATA", 61),
    ("ETIME", 62),
    ("ENOLINK", 67),
    ("EBADMSG", 74),
    ("EOVERFLOW", 75),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EUCLEAN", 117),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
];

/// Largest error number of the kernel.
const LARGEST: i32 = 4095;

impl ErrorNumber {
    /// EIO: a device's general failure.
    pub const IO: Self = Self(5);
    /// ENOSPC: the file system is full.
    pub const NO_SPACE: Self = Self(28);

    /// Its name, if known here.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        let first = self.0.checked_sub(1).and_then(|at| FIRST.get(usize::try_from(at).ok()?)).copied();
        first.or_else(|| MORE.iter().find(|(_, number)| *number == self.0).map(|(name, _)| *name))
    }

    /// Parses a name or a number.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if let Ok(number) = text.parse::<i32>() {
            return (1..=LARGEST).contains(&number).then_some(Self(number));
        }
        let first = (1..).zip(FIRST).find(|(_, name)| *name == text).map(|(number, _)| number);
        first.or_else(|| MORE.iter().find(|(name, _)| *name == text).map(|(_, number)| *number)).map(Self)
    }
}

impl std::fmt::Display for ErrorNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for ErrorNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name() {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_i32(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for ErrorNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = ErrorNumber;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an error number of Linux, by name (\"ENOSPC\") or as a number (28)")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ErrorNumber, E> {
                ErrorNumber::of(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<ErrorNumber, E> {
                let known = i32::try_from(number).ok().filter(|n| (1..=LARGEST).contains(n));
                known.map(ErrorNumber).ok_or_else(|| E::invalid_value(de::Unexpected::Signed(number), &self))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<ErrorNumber, E> {
                self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_go_by_name_and_by_number() {
        assert_eq!(ErrorNumber::of("ENOSPC"), Some(ErrorNumber::NO_SPACE));
        assert_eq!(ErrorNumber::of("EIO"), Some(ErrorNumber::IO));
        assert_eq!(ErrorNumber::of("ERANGE"), Some(ErrorNumber(34)));
        assert_eq!(ErrorNumber::of("28"), Some(ErrorNumber::NO_SPACE));
        for wrong in ["enospc", "EFOO", "0", "-5", "99999", ""] {
            assert_eq!(ErrorNumber::of(wrong), None, "{wrong:?}");
        }
        for number in 1..200 {
            let error = ErrorNumber(number);
            assert_eq!(ErrorNumber::of(&error.to_string()), Some(error));
        }
    }

    #[test]
    fn the_text_has_names_and_takes_numbers() {
        let known: PassOver =
            toml::from_str("reads = [5, \"EILSEQ\"]\nwrites = [28, 133]\nwrong_data = true\n").unwrap();
        assert_eq!(known.reads, [ErrorNumber::IO, ErrorNumber(84)]);
        let text = toml::to_string(&known).unwrap();
        assert!(text.contains("\"EIO\"") && text.contains("\"ENOSPC\"") && text.contains("133"), "{text}");
        assert_eq!(toml::from_str::<PassOver>(&text).unwrap(), known);
        let wrong = toml::from_str::<PassOver>("reads = [\"EFOO\"]").unwrap_err().to_string();
        assert!(wrong.contains("by name"), "{wrong}");
        assert!(toml::from_str::<PassOver>("reads = [0]").is_err());
    }
}
