//! Several memory nodes: placement of threads and buffers, and page migration by the kernel during a run.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "numa";
const SOURCE: &str = "/proc/sys/kernel/numa_balancing";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(nodes) = scene.count("cpu.numa_nodes") else { return Vec::new() };
    if nodes < 2 {
        return vec![Finding::good(CODE, "/sys/devices/system/node/online", "There is one memory node.")];
    }
    let queues = scene.queues();
    let near = queues
        .iter()
        .find_map(|q| q.count("numa_node"))
        .map(|n| format!(" The device is at node {n}."))
        .unwrap_or_default();
    let balancing = scene.number(SOURCE).is_some_and(|n| n != 0.0);
    let moves = if balancing {
        " NUMA balancing is on: the kernel moves pages and threads between them in the middle of a run."
    } else {
        ""
    };
    let found = Finding::notice(CODE, SOURCE, format!("There are {nodes} memory nodes: a thread far from the device or from its buffers is slower.{near}{moves}"))
        .remedy("Bind the measurement to the device's node (`numactl --cpunodebind=N --membind=N fathom ...`)");
    vec![if balancing { found.command(format!("echo 0 > {SOURCE}")) } else { found }]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{SDA, machine, says};

    #[test]
    fn several_nodes_are_noted_with_the_devices() {
        let fake = machine()
            .file("/sys/devices/system/node/online", "0-1\n")
            .file(&format!("{SDA}/device/numa_node"), "1\n");
        let found = says(&fake, "numa", Severity::Notice, &["2 memory nodes", "at node 1"]);
        assert!(found.command.is_empty());
        let fake = fake.file("/proc/sys/kernel/numa_balancing", "1\n");
        let found = says(&fake, "numa", Severity::Notice, &["balancing is on"]);
        assert_eq!(found.command, "echo 0 > /proc/sys/kernel/numa_balancing");
    }
}
