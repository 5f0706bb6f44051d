//! What a network file system's server sent and received, from /proc/self/mountstats: the closest a client has to device counters. Only
//! NFS is in it. The counters are per mount, so they include other programs' traffic. Whether the server answered from its own cache is
//! unknown to clients.

/// Counters of one mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Served {
    /// READ calls.
    pub read_calls: u64,
    /// Bytes the server sent.
    pub read_bytes: u64,
    /// WRITE calls.
    pub write_calls: u64,
    /// Bytes the server received.
    pub write_bytes: u64,
    /// COMMIT calls: requests to the server to make data durable.
    pub commits: u64,
}

/// The counters of a mount; `None` if it is missing or reports no bytes. Of mounts over one another the last counts.
pub(crate) fn served(mountstats: &str, mount_point: &str) -> Option<Served> {
    let mut found = None;
    let mut lines = mountstats.lines().peekable();
    while let Some(line) = lines.next() {
        if mounted_on(line) != Some(mount_point) {
            continue;
        }
        let mut served = None;
        while let Some(inside) = lines.next_if(|l| mounted_on(l).is_none()) {
            take(inside, &mut served);
        }
        found = served.or(found);
    }
    found
}

/// The mount point of a line "device SOURCE mounted on POINT with fstype ...". The kernel writes blanks in names as \040.
fn mounted_on(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("device ")?;
    Some(rest.split_once(" mounted on ")?.1.split_once(" with fstype ")?.0)
}

fn take(line: &str, served: &mut Option<Served>) {
    let mut words = line.split_ascii_whitespace();
    let Some(name) = words.next() else { return };
    let figures: Vec<u64> = words.map_while(|w| w.parse().ok()).collect();
    match (name, served.as_mut()) {
        // Read and written by normal and by direct calls, then sent and received by the server.
        ("bytes:", None) if figures.len() >= 6 => {
            *served = Some(Served { read_bytes: figures[4], write_bytes: figures[5], ..Served::default() });
        }
        ("READ:", Some(s)) => s.read_calls = figures.first().copied().unwrap_or(0),
        ("WRITE:", Some(s)) => s.write_calls = figures.first().copied().unwrap_or(0),
        ("COMMIT:", Some(s)) => s.commits = figures.first().copied().unwrap_or(0),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
device /dev/vda mounted on / with fstype ext4
device srv:/export mounted on /mnt/my\\040data with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=1048576
\tage:\t77
\tbytes:\t4096 8192 100 200 1048576 2097152 256 512
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 1 0 0 9 9 0 9 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 16 16 0 3000 1050000 5 80 90 0
\t       WRITE: 32 32 0 2100000 4000 9 99 120 0
\t      COMMIT: 3 3 0 500 300 0 40 40 0
device tmpfs mounted on /tmp with fstype tmpfs
";

    #[test]
    fn the_server_s_bytes_and_calls_are_read() {
        let wanted = Served {
            read_calls: 16,
            read_bytes: 1_048_576,
            write_calls: 32,
            write_bytes: 2_097_152,
            commits: 3,
        };
        assert_eq!(served(TEXT, "/mnt/my\\040data"), Some(wanted));
    }

    #[test]
    fn mounts_without_bytes_tell_nothing() {
        for point in ["/", "/tmp", "/nowhere"] {
            assert_eq!(served(TEXT, point), None, "{point}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s)(device [ -~]{0,20} mounted on /m with fstype nfs\n)?\tbytes:[ 0-9]{0,60}\n.{0,80}") {
            let _ = served(&text, "/m");
        }
    }
}
