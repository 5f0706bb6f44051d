//! How an image is to be read: which session, which name space, how strictly, and the limits that keep a hostile image from using
//! more memory than the reader allows. Defaults suit a mount of an image of unknown origin.

/// Which of the trees of a volume is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Namespace {
    /// The primary tree with POSIX names and attributes.
    RockRidge,
    /// The supplementary tree with UCS-2 names.
    Joliet,
    /// The enhanced tree of ISO 9660:1999 (descriptor version 2).
    Enhanced,
    /// The primary tree as ISO 9660:1988 or High Sierra names it.
    Plain,
}

/// Which session of a multi-session medium is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Session {
    /// The descriptors at sector 16 of the image.
    #[default]
    First,
    /// A session that starts at this 2048-byte sector; its descriptors are 16 sectors further.
    Sector(u64),
    /// The n-th session found by looking at every 16th sector; 1 is the oldest.
    Number(usize),
    /// The newest session found so.
    Last,
}

/// Options of [`Image::open`](crate::Image::open).
#[derive(Clone, Debug)]
pub struct Options {
    /// Which session.
    pub session: Session,
    /// Which tree; `None` takes the first there is of Rock Ridge, Joliet, 1999, plain, but Joliet if the Rock Ridge root is
    /// empty and the Joliet root is not.
    pub namespace: Option<Namespace>,
    /// Refuse a volume or a directory whose little-endian and big-endian numbers differ.
    pub strict: bool,
    /// Show associated files (flag 4) as `name%assoc`.
    pub associated: bool,
    /// Show boot images as files of the directory ".fathom/boot", which is not on the disc.
    pub boot: bool,
    /// Take files as zisofs by their first bytes, also without a ZF entry.
    pub zisofs_by_magic: bool,
    /// Show plain names in lower case where none has lower-case letters and none would collide.
    pub lower_case: bool,
    /// Longest directory that is read, in bytes.
    pub directory_bytes: u64,
    /// Most entries of a directory.
    pub directory_entries: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            session: Session::First,
            namespace: None,
            strict: false,
            associated: false,
            boot: false,
            zisofs_by_magic: false,
            lower_case: true,
            directory_bytes: 64 << 20,
            directory_entries: 1_000_000,
        }
    }
}
