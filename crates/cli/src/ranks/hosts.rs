//! The ranks' hosts: which host each is on, which rank reports for a host and a machine, and the distance to the next
//! host's ranks.

use super::comm::Comm;
use fathom_workload::ranks::Seat;
use serde::{Deserialize, Serialize};

/// A rank and its host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Who {
    pub rank: u32,
    pub host: String,
    /// The same for all hosts (containers, network namespaces) on one machine.
    pub machine: String,
    pub pid: u32,
    /// fathom's version: different versions could not understand each other.
    pub version: String,
    /// The kernel's release.
    pub kernel: String,
}

impl Who {
    fn me(rank: u32) -> Self {
        let text =
            |path: &str| std::fs::read_to_string(path).map(|t| t.trim().to_owned()).unwrap_or_default();
        Self {
            rank,
            host: text("/proc/sys/kernel/hostname"),
            machine: text("/proc/sys/kernel/random/boot_id"),
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").into(),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        }
    }
}

/// All ranks, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hosts(pub Vec<Who>);

impl Hosts {
    /// Collects it from all ranks; collective.
    pub fn find(comm: &mut Comm) -> Option<Self> {
        let mine = vec![Who::me(comm.team.rank())];
        let mut all = comm.collect(mine, |all, more| all.extend(more))?;
        if let Some(all) = &mut all {
            all.sort_by_key(|w| w.rank);
        }
        comm.tell(all).map(Self)
    }

    pub fn seat(&self, rank: u32) -> Seat {
        let me = self.0.get(rank as usize);
        Seat {
            rank,
            ranks: self.0.len() as u32,
            shift: self.shift(),
            first_on_host: self
                .0
                .iter()
                .find(|w| Some(&w.host) == me.map(|m| &m.host))
                .is_none_or(|w| w.rank == rank),
        }
    }

    /// Whether a rank is the first of its machine, and so reports the machine's devices.
    pub fn reports_machine_counters(&self, rank: u32) -> bool {
        let me = self.0.get(rank as usize).map(|m| &m.machine);
        self.0.iter().find(|w| Some(&w.machine) == me).is_none_or(|w| w.rank == rank)
    }

    pub fn host(&self, rank: u32) -> &str {
        self.0.get(rank as usize).map_or("?", |w| &w.host)
    }

    /// Hosts with their number of ranks, in order of their first rank.
    pub fn hosts(&self) -> Vec<(&str, u32)> {
        let mut hosts: Vec<(&str, u32)> = Vec::new();
        for who in &self.0 {
            match hosts.iter_mut().find(|h| h.0 == who.host) {
                Some(host) => host.1 += 1,
                None => hosts.push((&who.host, 1)),
            }
        }
        hosts
    }

    /// The first rank whose version is not ours, in one sentence.
    pub fn odd_version(&self) -> Option<String> {
        let ours = env!("CARGO_PKG_VERSION");
        let odd = self.0.iter().find(|w| w.version != ours)?;
        Some(format!(
            "rank {} on {} is fathom {}, and rank 0 is fathom {ours}; all ranks must have the same version",
            odd.rank, odd.host, odd.version
        ))
    }

    /// If hosts have different kernels: which, each with its first host.
    pub fn kernels_differ(&self) -> Option<String> {
        let mut kernels: Vec<(&str, &str)> = Vec::new();
        for who in &self.0 {
            if !kernels.iter().any(|k| k.0 == who.kernel) {
                kernels.push((&who.kernel, &who.host));
            }
        }
        if kernels.len() < 2 {
            return None;
        }
        let named: Vec<String> =
            kernels.iter().take(4).map(|(kernel, host)| format!("{host} has {kernel}")).collect();
        let more =
            if kernels.len() > 4 { format!(", and {} more", kernels.len() - 4) } else { String::new() };
        Some(format!(
            "the hosts' kernels differ: {}{more}. Differences between hosts may be theirs; the kernel described in the record is that of rank 0",
            named.join(", ")
        ))
    }

    /// The smallest distance at which no rank, or as few as possible, meets its own host.
    fn shift(&self) -> u32 {
        let count = self.0.len();
        if self.hosts().len() < 2 {
            return 0;
        }
        let meets =
            |shift: usize| (0..count).filter(|&r| self.0[r].host == self.0[(r + shift) % count].host).count();
        (1..count).min_by_key(|&shift| meets(shift)).unwrap_or(0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks_on(hosts: &[&str]) -> Hosts {
        let who = |(rank, host): (u32, &&str)| Who {
            rank,
            host: (*host).into(),
            machine: "m".into(),
            ..Who::default()
        };
        Hosts((0..).zip(hosts).map(who).collect())
    }

    #[test]
    fn no_rank_reads_what_its_own_host_wrote_however_ranks_are_spread() {
        for names in [vec!["a", "a", "b", "b"], vec!["a", "b", "a", "b"], vec!["a", "a", "b", "b", "c", "c"]]
        {
            let hosts = ranks_on(&names);
            for rank in 0..names.len() as u32 {
                assert_ne!(hosts.host(rank), hosts.host(hosts.seat(rank).other()), "{names:?}, rank {rank}");
            }
        }
        assert_eq!(ranks_on(&["a", "a", "a"]).seat(1).other(), 1, "one host: everybody its own");
    }

    #[test]
    fn another_version_is_refused_and_another_kernel_noted() {
        let mut hosts = ranks_on(&["a", "b"]);
        hosts.0.iter_mut().for_each(|w| w.version = env!("CARGO_PKG_VERSION").into());
        assert_eq!((hosts.odd_version(), hosts.kernels_differ()), (None, None));
        hosts.0[1].version = "9.9".into();
        assert!(hosts.odd_version().unwrap().starts_with("rank 1 on b is fathom 9.9, and rank 0 is"));
        hosts.0[1].kernel = "6.1".into();
        hosts.0[0].kernel = "5.10".into();
        assert!(hosts.kernels_differ().unwrap().contains("a has 5.10, b has 6.1."));
    }

    #[test]
    fn one_rank_speaks_for_a_host_and_one_for_a_machine() {
        let hosts = ranks_on(&["a", "b", "a", "b"]);
        let first: Vec<bool> = (0..4).map(|r| hosts.seat(r).first_on_host).collect();
        assert_eq!(first, [true, true, false, false]);
        let tells: Vec<bool> = (0..4).map(|r| hosts.reports_machine_counters(r)).collect();
        assert_eq!(tells, [true, false, false, false], "namespaces of one kernel share its devices");
        assert_eq!(hosts.hosts(), [("a", 2), ("b", 2)]);
    }
}
