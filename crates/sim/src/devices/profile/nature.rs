//! Properties of a device besides its timing: whether it rotates, and whether its medium is read-only.

use super::{DeviceProfile, ModelProfile};

impl DeviceProfile {
    /// Whether it reports as rotational (`queue/rotational`), which schedulers may use.
    #[must_use]
    pub fn rotational(&self) -> bool {
        matches!(self.kind, ModelProfile::Disk(_) | ModelProfile::Array(..) | ModelProfile::Optical(_))
    }

    /// Whether the medium is read-only. The device still accepts writes; code that submits the writes of a workload or a trace must
    /// refuse them first.
    #[must_use]
    pub fn is_only_read(&self) -> bool {
        matches!(self.kind, ModelProfile::Optical(_))
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_name;

    #[test]
    fn disks_and_arrays_rotate_and_optical_discs_are_read_only() {
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
