//! The twelve Filebench workloads of the bug report, in Filebench's language. The report gives only their output:
//! flowop names, sizes and threads come from it, the rest was chosen to produce such output.

use super::Scale;

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// Name in the report.
    pub name: &'static str,
    pub kind: TextKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    /// Random reads of this many KiB in one file.
    Random(u32),
    /// One stream through one file.
    Single(u32),
    /// Three streams, each through its own file.
    Multi(u32),
    /// Small random reads, an 8 KiB stream, and 1 MiB random and sequential reads.
    Mixed,
}

const fn text(name: &'static str, kind: TextKind) -> Text {
    Text { name, kind }
}

/// In the report's order.
pub(super) const TEXTS: [Text; 12] = [
    text("randomread2k", TextKind::Random(2)),
    text("randomread8k", TextKind::Random(8)),
    text("randomread32k", TextKind::Random(32)),
    text("randomread64k", TextKind::Random(64)),
    text("randomread1m", TextKind::Random(1024)),
    text("singlestreamread8k", TextKind::Single(8)),
    text("singlestreamread32k", TextKind::Single(32)),
    text("singlestreamread1m", TextKind::Single(1024)),
    text("multistreamread8k", TextKind::Multi(8)),
    text("multistreamread32k", TextKind::Multi(32)),
    text("multistreamread1m", TextKind::Multi(1024)),
    text("mixedread", TextKind::Mixed),
];

/// Reads in flight in the tests "with 16 threads": 14.8/s at 2.149 s each (Little's law).
pub(super) const READERS: u32 = 32;

impl Text {
    pub(super) fn script(&self, scale: &Scale) -> String {
        let bytes = scale.file_bytes;
        let mut script = String::new();
        for file in 1..=3 {
            script +=
                &format!("define file name=largefile{file},path=/mnt/cdrom,size={bytes},prealloc,reuse\n");
        }
        let random = |name: &str, file: u32, kib: u32, threads: u32| {
            format!(
                "define process name={name} {{\n  thread name={name}-thread,memsize=5m,instances={threads} {{\n    \
                 flowop read name={name},filename=largefile{file},iosize={kib}k,random\n    \
                 flowop eventlimit name=rand-rate\n  }}\n}}\n"
            )
        };
        let stream = |name: &str, file: u32, kib: u32| {
            format!(
                "define process name={name} {{\n  thread name={name}-thread,memsize=5m {{\n    \
                 flowop read name={name},filename=largefile{file},iosize={kib}k\n    \
                 flowop eventlimit name=limit\n  }}\n}}\n"
            )
        };
        script += &match self.kind {
            TextKind::Random(kib) => random("rand-read1", 1, kib, READERS),
            TextKind::Single(kib) => stream("seqread", 1, kib),
            TextKind::Multi(kib) => (1..=3).map(|n| stream(&format!("seqread{n}"), n, kib)).collect(),
            TextKind::Mixed => {
                random("rand-read1", 1, 2, 2)
                    + &stream("seqread", 3, 8)
                    + &stream("seqread1", 2, 1024)
                    + &random("rand-read2", 2, 1024, 1)
            }
        };
        script + &format!("run {}\n", scale.seconds)
    }
}
