//! A device's size and what the kernel has set for its queue, from sysfs.

use crate::environment::chosen;
use crate::files::{KernelFiles, Live};
use fathom_record::block::DeviceNumber;
use fathom_record::block::log::QueueSettings;

/// The settings of a device; `None` if it has no queue.
#[must_use]
pub fn queue_settings(number: DeviceNumber) -> Option<QueueSettings> {
    read(&Live, number)
}

fn read(files: &impl KernelFiles, number: DeviceNumber) -> Option<QueueSettings> {
    let device = crate::device::sys_of(files, (number.major, number.minor));
    let text = |name: &str| files.trimmed(&device.join(name));
    let figure = |name: &str| text(name)?.parse::<u32>().ok();
    Some(QueueSettings {
        sectors: text("size")?.parse().ok()?,
        scheduler: text("queue/scheduler").map_or_else(String::new, |words| chosen(&words)),
        read_ahead_kb: figure("queue/read_ahead_kb")?,
        max_sectors_kb: figure("queue/max_sectors_kb")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_queue_is_read_as_a_whole_or_not_at_all() {
        let queue = "/sys/dev/block/7:3/queue";
        let fake = Fake::new()
            .file("/sys/dev/block/7:3/size", "8388608\n")
            .file(&format!("{queue}/scheduler"), "none [mq-deadline] kyber\n")
            .file(&format!("{queue}/read_ahead_kb"), "2560\n");
        let number = DeviceNumber { major: 7, minor: 3 };
        assert_eq!(read(&fake, number), None);
        let settings = read(&fake.file(&format!("{queue}/max_sectors_kb"), "1280\n"), number);
        let expected = QueueSettings {
            sectors: 8_388_608,
            scheduler: "mq-deadline".into(),
            read_ahead_kb: 2560,
            max_sectors_kb: 1280,
        };
        assert_eq!(settings, Some(expected));
    }
}
