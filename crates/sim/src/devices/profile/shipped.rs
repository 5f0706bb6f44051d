//! The shipped device profiles: names and texts of `profiles/device`, which are compiled in.

/// Names of the shipped devices.
pub const NAMES: [&str; 14] = [
    "deskstar-60gxp",
    "scsi-10k-72g",
    "sata-7200-ncq",
    "smartarray-6i-h1",
    "smartarray-6i-h2",
    "dvd",
    "t60p",
    "dvd-desktop-16x",
    "cd-52x",
    "cd-1x",
    "bd-6x",
    "ssd-generic",
    "ncsa-2005",
    "constant",
];

/// Their texts, in the order of [`NAMES`].
const TEXTS: [&str; 14] = [
    include_str!("../../../profiles/device/deskstar-60gxp.toml"),
    include_str!("../../../profiles/device/scsi-10k-72g.toml"),
    include_str!("../../../profiles/device/sata-7200-ncq.toml"),
    include_str!("../../../profiles/device/smartarray-6i-h1.toml"),
    include_str!("../../../profiles/device/smartarray-6i-h2.toml"),
    include_str!("../../../profiles/device/dvd.toml"),
    include_str!("../../../profiles/device/t60p.toml"),
    include_str!("../../../profiles/device/dvd-desktop-16x.toml"),
    include_str!("../../../profiles/device/cd-52x.toml"),
    include_str!("../../../profiles/device/cd-1x.toml"),
    include_str!("../../../profiles/device/bd-6x.toml"),
    include_str!("../../../profiles/device/ssd-generic.toml"),
    include_str!("../../../profiles/device/ncsa-2005.toml"),
    include_str!("../../../profiles/device/constant.toml"),
];

/// The text of a shipped profile; `None` if the name is unknown.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    NAMES.iter().position(|&known| known == name).map(|at| TEXTS[at])
}
