//! The memory of I/O buffers.

use super::{Nodes, is_default};
use serde::{Deserialize, Serialize};

/// Memory of I/O buffers. It is always populated before the clock starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Buffers {
    /// Size of the pages.
    #[serde(skip_serializing_if = "is_default")]
    pub pages: Pages,
    /// NUMA node they lie on.
    #[serde(skip_serializing_if = "is_default")]
    pub node: Node,
}

/// Pages of I/O buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// Buffers of 2 MiB and more are aligned to 2 MiB with the advice to use transparent huge pages; smaller ones have base pages.
    #[default]
    Auto,
    /// Base pages, even where the kernel would use transparent huge pages.
    Base,
    /// Reserved huge pages (MAP_HUGETLB); an error if too few are reserved.
    Huge,
}

/// NUMA node of I/O buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Node {
    /// Node of the CPU the worker runs on when it prepares.
    #[default]
    Local,
    /// This node.
    Number(u32),
    /// Node of the device under the file; local where the device has none.
    Device,
    /// These nodes only. Like the next two, a policy for all memory the worker allocates, including the page cache it fills.
    Bind(Nodes),
    /// This node as long as it has free memory.
    Prefer(u32),
    /// Interleaved over these nodes, page by page.
    Interleave(Nodes),
}
