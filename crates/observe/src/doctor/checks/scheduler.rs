//! The I/O scheduler, if it is not the kernel's default for this device.

use super::super::finding::Finding;
use super::super::scene::{Queue, Scene};
use crate::device::DeviceKind;

const CODE: &str = "scheduler";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    scene.request_queues().iter().filter_map(|q| of(scene, q)).collect()
}

fn of(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("queue/scheduler"));
    let chosen = queue.word("scheduler")?;
    let usual = usual(scene, queue);
    let does = match chosen {
        "bfq" => {
            "it shares the device fairly between processes, at the price of throughput and processor time"
        }
        "kyber" => "it holds requests back to keep latencies at a target",
        "mq-deadline" => "it sorts requests and prefers reads, which a device with many queues does not need",
        _ => "requests go to the device as they come, unsorted",
    };
    Some(if chosen == usual {
        Finding::good(
            CODE,
            &source,
            format!("{name} has the scheduler {chosen}, the kernel's choice for it."),
        )
    } else {
        Finding::notice(
            CODE,
            &source,
            format!("{name} has the scheduler {chosen}, where the kernel would choose {usual}: {does}."),
        )
        .remedy("Keep it if it is what you use; otherwise set the kernel's choice")
        .command(format!("echo {usual} > {source}"))
    })
}

/// The kernel's default is mq-deadline for a device with one hardware queue and none for one with several; a loop device requests none
/// (block/elevator.c and drivers/block/loop.c of Linux 6).
fn usual(scene: &Scene, queue: &Queue) -> &'static str {
    let queues = scene.list(queue.file("mq")).len();
    if queue.device.kind == DeviceKind::Loop || queues > 1 { "none" } else { "mq-deadline" }
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{SDA, machine, says};

    #[test]
    fn another_than_the_kernels_choice_is_noted() {
        let with = |text: &str| machine().file(&format!("{SDA}/queue/scheduler"), text);
        let found =
            says(&with("none mq-deadline [bfq]\n"), "scheduler", Severity::Notice, &["bfq", "mq-deadline"]);
        assert_eq!(found.command, "echo mq-deadline > /sys/block/sda/queue/scheduler");
        let many = with("none [mq-deadline]\n").file(&format!("{SDA}/mq/1/cpu_list"), "1\n");
        let _ = says(&many, "scheduler", Severity::Notice, &["would choose none"]);
        let _ = says(
            &with("[none] mq-deadline\n").file(&format!("{SDA}/mq/1/cpu_list"), "1\n"),
            "scheduler",
            Severity::Good,
            &[],
        );
    }
}
