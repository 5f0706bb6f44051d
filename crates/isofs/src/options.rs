//! How to read an image: session, name space, strictness, and the limits that keep a hostile image from using too much memory. The
//! defaults suit an image of unknown origin.

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
    /// The session that starts at this 2048-byte sector; its descriptors are 16 sectors further.
    Sector(u64),
    /// The n-th session found by checking every 16th sector; 1 is the oldest.
    Number(usize),
    /// The newest session, found the same way.
    Last,
}

/// Options of [`Image::open`](crate::Image::open).
#[derive(Clone, Debug)]
pub struct Options {
    /// Which session to read.
    pub session: Session,
    /// Which tree to show; `None` takes the first available of Rock Ridge, Joliet, 1999, plain, but Joliet if the Rock Ridge root is
    /// empty and the Joliet root is not.
    pub namespace: Option<Namespace>,
    /// Reject a volume or directory whose little-endian and big-endian numbers differ.
    pub strict: bool,
    /// Show associated files (flag 4) as `name%assoc`.
    pub associated: bool,
    /// Show boot images as files of the virtual directory ".fathom/boot".
    pub boot: bool,
    /// Recognise zisofs files by their first bytes, even without a ZF entry.
    pub zisofs_by_magic: bool,
    /// Show plain names in lower case if none has lower-case letters and none would collide.
    pub lower_case: bool,
    /// Longest directory that is read, in bytes.
    pub directory_bytes: u64,
    /// Maximum number of entries of a directory.
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
