//! The journal of an ext4, and its lazy initialisation: a new ext4 keeps writing its inode tables for minutes after mkfs.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::device::Role;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    journal(scene).into_iter().chain(lazy_init(scene)).collect()
}

/// The kernel shows the journal's thread, or "<none>" if the file system has no journal.
fn journal(scene: &Scene) -> Option<Finding> {
    if let Some(log) = scene.stack.devices.iter().find(|d| d.role == Role::Log) {
        let source = match scene.kind() {
            "ext4" => "/sys/fs/ext4/*/journal_task",
            _ => "/proc/self/mountinfo",
        };
        return Some(Finding::notice(
            "journal",
            source,
            format!(
                "The journal is on a separate device, {}: the cost of a sync is largely that device's.",
                log.name
            ),
        ));
    }
    if scene.kind() != "ext4" {
        return None;
    }
    let path = format!("/sys/fs/ext4/{}/journal_task", scene.stack.tops().next()?.name);
    Some(match scene.text(&path)?.as_str() {
        "<none>" => Finding::notice(
            "journal",
            &path,
            "This ext4 has no journal: fsync and directory changes cost less than on an ext4 with one, and the figures are not comparable.",
        )
        .remedy("Compare only with file systems without a journal, or add one while it is unmounted (tune2fs -O has_journal)"),
        _ => Finding::good("journal", &path, "This ext4 has a journal."),
    })
}

fn lazy_init(scene: &Scene) -> Option<Finding> {
    let programs = scene.programs();
    if programs.is_empty() || !matches!(scene.kind(), "ext4" | "overlay") {
        return None;
    }
    let Some((pid, _)) = programs.iter().find(|(_, name)| name == "ext4lazyinit") else {
        return Some(Finding::good(
            "lazy-init",
            "/proc/*/comm",
            "No ext4 is being initialised in the background.",
        ));
    };
    Some(
        Finding::warning(
            "lazy-init",
            &format!("/proc/{pid}/comm"),
            format!("A new ext4 on this machine is still writing its inode tables in the background (kernel thread ext4lazyinit, {pid})."),
        )
        .remedy("Wait until the thread is gone, or make file systems for measurements with -E lazy_itable_init=0,lazy_journal_init=0")
        .command("pgrep -a ext4lazyinit"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says, silent};

    #[test]
    fn an_ext4_without_a_journal_is_said() {
        let fake = machine().file("/sys/fs/ext4/sda1/journal_task", "<none>\n");
        let _ = says(&fake, "journal", Severity::Notice, &["no journal"]);
        let _ = says(&machine(), "journal", Severity::Good, &[]);
    }

    #[test]
    fn the_threads_name_tells_of_lazy_initialisation() {
        let fake = machine().file("/proc/77/comm", "ext4lazyinit\n");
        let _ = says(&fake, "lazy-init", Severity::Warning, &["ext4lazyinit, 77"]);
        let xfs = fake.file("/proc/self/mountinfo", "27 1 8:1 / / rw - xfs /dev/sda1 rw\n");
        silent(&xfs, "lazy-init");
    }
}
