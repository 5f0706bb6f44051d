//! Read-ahead policies by name, as users write them: `ra24`, `modern,max=1024`, or by kernel. Errors list the valid names.

use super::hsfs::{self, Hsfs};
use super::modern::{self, Modern};
use super::none::NoReadAhead;
use super::ondemand::{self, OnDemand};
use super::policy::{Inner, Policy};
use super::ra24::{self, Ra24};
use super::ra26::{self, Ra26, Variant};
use super::simplified::{self, Simplified};
use crate::tunable::{Tunable, TunableError, Tunables, check, once, words};

/// Every name and its kernel, which may be used instead.
pub const NAMES: &[(&str, &str)] = &[
    ("none", "off"),
    ("ra24", "linux-2.4"),
    ("ra26-shared", "linux-2.6.5"),
    ("ra26-private", "linux-2.6.6-patched"),
    ("ra26-seeky", "linux-2.6.7"),
    ("ra-simplified", "linux-2.6.10"),
    ("ra-ondemand", "linux-2.6.31"),
    ("modern", "linux-6.12"),
    ("hsfs", "solaris-hsfs"),
];

/// Why a text does not name a policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyNameError {
    /// No policy has this name.
    #[error("there is no read-ahead {0:?}; there are {list}", list = list())]
    Unknown(String),
    /// The name is followed by something that is not a tunable setting.
    #[error("{policy}: {word:?} is no tunable; expected NAME=NUMBER, as in \"{policy},max=32\"")]
    Malformed {
        /// The policy.
        policy: &'static str,
        /// The malformed text.
        word: String,
    },
    /// An unknown tunable, or a value out of range.
    #[error(transparent)]
    Tunable(#[from] TunableError),
}

fn list() -> String {
    let names: Vec<String> = NAMES.iter().map(|(name, kernel)| format!("{name} ({kernel})")).collect();
    names.join(", ")
}

/// Parses `NAME[,TUNABLE=NUMBER]...`; names are those of [`NAMES`], either column.
pub fn by_name(text: &str) -> Result<Policy, PolicyNameError> {
    let (asked, settings) = words(text);
    let Some(&(name, _)) = NAMES.iter().find(|(name, kernel)| asked == *name || asked == *kernel) else {
        return Err(PolicyNameError::Unknown(asked.to_string()));
    };
    let malformed = |word: &str| PolicyNameError::Malformed { policy: name, word: word.to_string() };
    let settings = settings.map(|word| word.map_err(malformed)).collect::<Result<Vec<_>, _>>()?;
    let set = Settings { policy: name, settings: &settings };
    let inner = match name {
        "ra24" => Inner::Ra24(Ra24 { tunables: set.of(&ra24::TABLE)? }),
        "ra26-shared" => set.ra26(Variant::Shared)?,
        "ra26-private" => set.ra26(Variant::Private)?,
        "ra26-seeky" => set.ra26(Variant::Seeky)?,
        "ra-simplified" => Inner::Simplified(Simplified { tunables: set.of(&simplified::TABLE)? }),
        "ra-ondemand" => Inner::OnDemand(OnDemand { tunables: set.of(&ondemand::TABLE)? }),
        "modern" => Inner::Modern(Modern { tunables: set.of(&modern::TABLE)? }),
        "hsfs" => Inner::Hsfs(Hsfs { tunables: set.of(&hsfs::TABLE)? }),
        _ => {
            set.of(&[])?;
            Inner::None(NoReadAhead)
        }
    };
    Ok(Policy { name, inner })
}

struct Settings<'a> {
    policy: &'static str,
    settings: &'a [(&'a str, u64)],
}

impl Settings<'_> {
    fn of<const N: usize>(&self, table: &'static [Tunable; N]) -> Result<Tunables<N>, TunableError> {
        self.among(table, table)
    }

    /// The values of a table of which only some rows can be set.
    fn among<const N: usize>(
        &self,
        rows: &'static [Tunable],
        table: &'static [Tunable; N],
    ) -> Result<Tunables<N>, TunableError> {
        let (mut tunables, mut given) = (Tunables::new(table), Vec::new());
        for &(name, value) in self.settings {
            tunables.set(check(self.policy, rows, name, value)?, value);
            once(self.policy, &mut given, name)?;
        }
        Ok(tunables)
    }

    fn ra26(&self, variant: Variant) -> Result<Inner, TunableError> {
        let tunables = self.among(ra26::rows(variant), &ra26::TABLE)?;
        Ok(Inner::Ra26(Ra26 { tunables, variant }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kernels_are_found() {
        for (name, kernel) in NAMES {
            assert_eq!(by_name(name).unwrap().name(), *name);
            assert_eq!(by_name(kernel).unwrap().name(), *name);
        }
        let policy = by_name("linux-6.12, max=1024").unwrap();
        assert_eq!(policy.tunables().get("max"), Some(1024));
        assert_eq!(policy.tunables().get("folios"), Some(9));
    }

    #[test]
    fn errors_list_what_there_is() {
        let error = |text| by_name(text).unwrap_err().to_string();
        assert!(
            error("ra25")
                .starts_with("there is no read-ahead \"ra25\"; there are none (off), ra24 (linux-2.4)")
        );
        assert!(error("modern,maximum=3").contains("max, device, folios"));
        assert!(error("modern,max=99999999").contains("max=99999999 is outside 0 to 1048576"));
        assert_eq!(
            error("ra24,31"),
            "ra24: \"31\" is no tunable; expected NAME=NUMBER, as in \"ra24,max=32\""
        );
        assert_eq!(error("ra24,max=8,max=9"), "ra24: max is given twice; once is enough");
        assert!(error("none,max=1").contains("it has none"));
        assert!(error("ra26-private,count_run=1").ends_with("it has max, min"));
        assert_eq!(by_name("ra26-seeky,count_run=1").unwrap().tunables().get("count_run"), Some(1));
        assert!(error("").starts_with("there is no read-ahead \"\""));
    }

    #[test]
    fn every_tunable_is_documented_and_has_its_default_in_range() {
        for (name, _) in NAMES {
            let policy = by_name(name).unwrap();
            for row in policy.tunables().table {
                assert!(
                    !row.doc.is_empty() && (row.min..=row.max).contains(&row.default),
                    "{name} {}",
                    row.name
                );
            }
        }
    }
}
