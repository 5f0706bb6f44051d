//! What others are to know of a device besides its times: whether it rotates, and whether its medium is only read.

use super::{DeviceProfile, Kind};

impl DeviceProfile {
    /// Whether it says that it rotates (`queue/rotational`), which schedulers may go by.
    #[must_use]
    pub fn rotational(&self) -> bool {
        matches!(self.kind, Kind::Disk(_) | Kind::Array(..) | Kind::Optical(_))
    }

    /// Whether nothing can be written to it. It takes such commands all the same; whoever hands in writes of a workload or a trace
    /// refuses them before.
    #[must_use]
    pub fn is_only_read(&self) -> bool {
        matches!(self.kind, Kind::Optical(_))
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_name;

    #[test]
    fn what_turns_rotates_and_a_disc_is_only_read() {
        for (name, rotates, only_read) in [
            ("deskstar-60gxp", true, false),
            ("smartarray-6i-h1", true, false),
            ("dvd", true, true),
            ("t60p", true, true),
            ("cd-1x", true, true),
            ("ssd-generic", false, false),
        ] {
            let profile = by_name(name).unwrap();
            assert_eq!((profile.rotational(), profile.is_only_read()), (rotates, only_read), "{name}");
        }
    }
}
