//! CPUs and memory nodes of a job's clones.

use super::super::settings::Settings;
use super::super::{UsageError, World};
use fathom_workload::{Buffers, Node, Nodes, Pinning};
use std::path::Path;

/// Kernel list of memory nodes with the CPUs of each.
const NODES: &str = "/sys/devices/system/node";

/// CPU numbers are below this; larger ones do not fit in the kernel's CPU sets.
const MOST_CPUS: u32 = 1024;

/// The CPUs of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpus {
    /// Allowed CPUs; empty: all.
    allowed: Vec<u32>,
    /// Whether each clone gets one of them.
    split: bool,
}

/// Reads the CPU options of a job.
pub fn of(s: &Settings, world: &World<'_>) -> Result<Cpus, UsageError> {
    // The policy has no effect without a list.
    let split = s.word("cpus_allowed_policy") == Some("split");
    let by_nodes = s.text("numa_cpu_nodes");
    let allowed: Vec<u32> = match s.last_of(&["cpus_allowed", "cpumask"]) {
        Some(name) if by_nodes.is_some() => {
            return Err(s
                .wrong("numa_cpu_nodes", format!("numa_cpu_nodes and {name} both say which CPUs a job has"))
                .hint("leave one of them out"));
        }
        None if by_nodes.is_some() => {
            let text = by_nodes.unwrap_or_default().trim();
            nodes(text, world).map_err(|why| no_nodes(s, text, &why))?
        }
        Some("cpumask") => {
            let mask = s.number("cpumask")?.unwrap_or(0);
            (0..64).filter(|cpu| (mask >> cpu) & 1 == 1).collect()
        }
        Some(name) => {
            let text = s.text(name).unwrap_or_default();
            list(text).map_err(|why| s.wrong(name, format!("{name}={text}: {why}")))?
        }
        None => return Ok(Cpus::default()),
    };
    if allowed.is_empty() {
        return Err(s.wrong("cpumask", "cpumask=0: a job needs a CPU"));
    }
    Ok(Cpus { allowed, split })
}

fn no_nodes(s: &Settings, text: &str, why: &str) -> UsageError {
    s.wrong("numa_cpu_nodes", format!("numa_cpu_nodes={text}: {why}"))
        .fio(format!("fio: numa_parse_nodestring failed\nfio: failed parsing numa_cpu_nodes={text}\n"))
}

impl Cpus {
    /// The CPUs of a worker, given its number among all clones of all jobs.
    pub fn of_worker(&self, number: u32) -> Pinning {
        if self.allowed.is_empty() {
            return Pinning::Free;
        }
        if !self.split {
            return Pinning::Among(self.allowed.clone());
        }
        let one = self.allowed.get(number as usize % self.allowed.len());
        Pinning::Among(one.copied().into_iter().collect())
    }
}

/// `0,2-4`: ascending, without duplicates.
fn list(text: &str) -> Result<Vec<u32>, String> {
    let mut cpus = Vec::new();
    for part in text.split([',', ':']).map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| match text.trim().parse::<u32>() {
            Ok(cpu) if cpu < MOST_CPUS => Ok(cpu),
            _ => Err(format!("{text:?} is not the number of a CPU")),
        };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("{part:?} ends before it begins"));
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Contents of a sysfs file about the nodes.
fn reported(name: &str, world: &World<'_>) -> Option<String> {
    let bytes = (world.read)(&Path::new(NODES).join(name)).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// The listed nodes, if the machine has them.
fn there(text: &str, world: &World<'_>) -> Result<Vec<u32>, String> {
    let online = reported("online", world).ok_or("this machine does not tell its nodes")?;
    let all = list(&online)?;
    let wanted = match text {
        "all" => all.clone(),
        _ => list(text).map_err(|_| "nodes are numbers, as in 0,2-4, or all".to_owned())?,
    };
    match wanted.iter().find(|node| !all.contains(node)) {
        Some(node) => Err(format!("the machine has no node {node}; its nodes are {online}")),
        None => Ok(wanted),
    }
}

/// The CPUs of nodes of this machine.
fn nodes(text: &str, world: &World<'_>) -> Result<Vec<u32>, String> {
    let wanted = there(text, world)?;
    let mut cpus = Vec::new();
    for node in wanted {
        let of_node = reported(&format!("node{node}/cpulist"), world)
            .ok_or_else(|| format!("the machine does not tell the CPUs of its node {node}"))?;
        // A node may have memory only.
        if !of_node.is_empty() {
            cpus.extend(list(&of_node)?);
        }
    }
    if cpus.is_empty() {
        return Err("these nodes have no CPU".into());
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// NUMA placement of a job's memory: `numa_mem_policy`.
pub fn memory(s: &Settings, buffers: &mut Buffers, world: &World<'_>) -> Result<(), UsageError> {
    const NAME: &str = "numa_mem_policy";
    let Some(text) = s.text(NAME).map(str::trim) else { return Ok(()) };
    let wrong = |why: &str, fio: &str| {
        Err(s
            .wrong(NAME, format!("{NAME}={text}: {why}"))
            .fio(format!("fio: {fio}\nfio: failed parsing {NAME}={text}\n")))
    };
    let (word, list) = match text.split_once(':') {
        Some((word, list)) => (word.trim(), Some(list.trim()).filter(|list| !list.is_empty())),
        None => (text, None),
    };
    let named = match (word, list) {
        ("default" | "local", None) => {
            buffers.node = Node::Local;
            return Ok(());
        }
        ("default" | "local", Some(_)) => return wrong("it takes no nodes", "NO nodelist for 'local'"),
        ("bind" | "interleave", None) => {
            return wrong("it takes nodes, as in 0,2-4", &format!("a nodelist is needed for '{word}'"));
        }
        ("prefer", None) => return wrong("it takes a node", "one node is needed for 'prefer'"),
        ("bind" | "interleave" | "prefer", Some(list)) => list,
        _ => {
            return wrong(
                "default, local, prefer:NODE, bind:NODES or interleave:NODES is expected",
                "memory policy should be: default, prefer, bind, interleave, local",
            );
        }
    };
    let numbers = match there(named, world) {
        Ok(numbers) => numbers,
        Err(why) => return wrong(&why, "numa_parse_nodestring failed"),
    };
    let Some(nodes) = Nodes::of(&numbers) else {
        return wrong(&format!("numbers of nodes are below {}", Nodes::END), "numa_parse_nodestring failed");
    };
    buffers.node = match (word, nodes.only()) {
        ("prefer", Some(node)) => Node::Prefer(node),
        ("prefer", None) => return wrong("it takes one node", "one node only for 'prefer'"),
        ("bind", _) => Node::Bind(nodes),
        _ => Node::Interleave(nodes),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Node, Nodes, Pinning, Program};

    fn pinning(args: &str) -> Vec<Pinning> {
        let plan = planned(&format!("--ioengine=null --size=1m {args}"));
        plan.workload.phases.iter().flat_map(|p| &p.groups).map(|g| g.pinning.clone()).collect()
    }

    #[test]
    fn clones_share_a_list_of_cpus_or_have_one_each() {
        let among = |cpus: &[u32]| Pinning::Among(cpus.to_vec());
        assert_eq!(pinning("--name=a --cpus_allowed=0-1,3"), [among(&[0, 1, 3])]);
        assert_eq!(pinning("--name=a --cpumask=10"), [among(&[1, 3])]);
        let split = "--cpus_allowed_policy=split --cpus_allowed=1,4";
        assert_eq!(pinning(&format!("--name=a {split} --numjobs=3")), [&[1], &[4], &[1]].map(|c| among(c)));
        // Numbers count across all jobs.
        assert_eq!(pinning(&format!("--name=a --name=b --stonewall {split}")), [Pinning::Free, among(&[4])]);
        assert_eq!(pinning("--name=a --cpus_allowed_policy=split"), [Pinning::Free]);
    }

    #[test]
    fn an_invalid_cpu_list_is_refused() {
        for list in ["x", "0-", "3-1", "4096", "0,,1"] {
            assert!(refused(&format!("--name=a --size=1m --cpus_allowed={list}")).contains("cpus_allowed"));
        }
        assert!(refused("--name=a --size=1m --cpumask=0").contains("a job needs a CPU"));
    }

    #[test]
    fn the_cpus_of_nodes_are_those_the_machine_tells() {
        let among = |cpus: &[u32]| Pinning::Among(cpus.to_vec());
        assert_eq!(pinning("--name=a --numa_cpu_nodes=0"), [among(&[0, 1, 4])]);
        assert_eq!(pinning("--name=a --numa_cpu_nodes=0-1"), [among(&[0, 1, 2, 3, 4])]);
        assert_eq!(pinning("--name=a --numa_cpu_nodes=all"), [among(&[0, 1, 2, 3, 4])]);
        for (args, what) in [
            ("7", "has no node 7; its nodes are 0-2"),
            ("2", "no CPU"),
            ("!0", "nodes are numbers"),
            ("0 --cpus_allowed=1", "both say"),
        ] {
            let why = refused(&format!("--name=a --size=1m --numa_cpu_nodes={args}"));
            assert!(why.contains(what), "{args}: {why}");
        }
    }

    #[test]
    fn buffers_lie_on_a_node() {
        let node = |policy: &str| {
            let plan = planned(&format!("--ioengine=null --size=1m --name=a --numa_mem_policy={policy}"));
            match &plan.workload.phases[0].groups[0].threads[0].program {
                Program::Stream(stream) => stream.buffers.node,
                Program::Flow(_) => panic!("a flow"),
            }
        };
        let of = |numbers: &[u32]| Nodes::of(numbers).unwrap();
        for (policy, expected) in [
            ("local", Node::Local),
            ("default", Node::Local),
            ("bind:0", Node::Bind(of(&[0]))),
            ("bind:0,2", Node::Bind(of(&[0, 2]))),
            ("prefer:1", Node::Prefer(1)),
            ("interleave:0-1", Node::Interleave(of(&[0, 1]))),
            ("interleave:all", Node::Interleave(of(&[0, 1, 2]))),
        ] {
            assert_eq!(node(policy), expected, "{policy}");
        }
        // The messages of fio 3.33.
        for (policy, why, fio) in [
            ("interleave:0-3", "has no node 3; its nodes are 0-2", "numa_parse_nodestring failed"),
            ("prefer:0-1", "one node", "one node only for 'prefer'"),
            ("prefer", "takes a node", "one node is needed for 'prefer'"),
            ("bind", "takes nodes", "a nodelist is needed for 'bind'"),
            ("local:0", "no nodes", "NO nodelist for 'local'"),
            ("near:0", "is expected", "memory policy should be: default"),
        ] {
            let said = refused(&format!("--name=a --size=1m --numa_mem_policy={policy}"));
            assert!(said.contains(why) && said.contains(fio), "{policy}: {said}");
        }
    }
}
