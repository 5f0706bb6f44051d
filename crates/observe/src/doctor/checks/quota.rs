//! Quotas: each allocation is accounted, and a run may end at a user's limit rather than at the end of the disk.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "quota";
const SOURCE: &str = "/proc/self/mountinfo";

/// Options that ext4, XFS and f2fs show while quotas are enabled.
const OPTIONS: [&str; 11] = [
    "quota",
    "usrquota",
    "grpquota",
    "prjquota",
    "uquota",
    "gquota",
    "pquota",
    "uqnoenforce",
    "gqnoenforce",
    "usrjquota",
    "grpjquota",
];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    if scene.stack.mount.is_none() {
        return Vec::new();
    }
    let seen: Vec<&str> = OPTIONS.into_iter().filter(|o| scene.mounted_with(o)).collect();
    let place = scene.mount_point();
    vec![if seen.is_empty() {
        Finding::good(CODE, SOURCE, format!("{place} keeps no quotas."))
    } else {
        Finding::notice(
            CODE,
            SOURCE,
            format!(
                "{place} keeps quotas ({}): each allocation is accounted, and a run may hit a limit.",
                seen.join(",")
            ),
        )
        .remedy("See what is left for this user")
        .command("quota -s")
    }]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn quotas_show_in_the_mount() {
        let fake = machine().file(
            "/proc/self/mountinfo",
            "27 1 8:1 / / rw - ext4 /dev/sda1 rw,usrjquota=aquota.user,prjquota\n",
        );
        let _ = says(&fake, "quota", Severity::Notice, &["prjquota,usrjquota"]);
        let _ = says(&machine(), "quota", Severity::Good, &[]);
    }
}
