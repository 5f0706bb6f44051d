//! What the memory that is read into and written from is made of.

use super::{Nodes, is_default};
use serde::{Deserialize, Serialize};

/// What I/O buffers are made of. They are always populated before the clock starts.
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
    /// Base pages, also where the kernel would make huge ones of itself.
    Base,
    /// Reserved huge pages (MAP_HUGETLB); an error if too few are reserved.
    Huge,
}

/// NUMA node of I/O buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Node {
    /// That of the CPU the worker runs on when it prepares.
    #[default]
    Local,
    /// This one.
    Number(u32),
    /// That of the device under the file; local where the device has none.
    Device,
    /// These and no other; as the next two a policy of all the memory that the worker takes, the page cache that it fills included.
    Bind(Nodes),
    /// This one as long as it has room.
    Prefer(u32),
    /// These in turn, page by page.
    Interleave(Nodes),
}
