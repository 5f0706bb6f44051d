//! Valid attributes of each entity: those of 1.5's grammar (each tested with the program), and those of the older language. Names only,
//! not values.

/// Something that takes a list of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entity {
    File,
    Fileset,
    Process,
    Thread,
    Flowop,
    Composite,
    RandVar,
    CVar,
    Posset,
    Eventgen,
    Multi,
    Domultisync,
    /// `fsflush` and `fscheck`, whose attributes are unknown.
    Any,
}

const FILE: [&str; 13] = [
    "name",
    "path",
    "size",
    "filesize",
    "prealloc",
    "paralloc",
    "reuse",
    "trusttree",
    "readonly",
    "writeonly",
    "cached",
    "filesizegamma",
    "namelength",
];

const FILESET: [&str; 18] = [
    "name",
    "path",
    "size",
    "filesize",
    "entries",
    "leafdirs",
    "dirwidth",
    "dirgamma",
    "dirdepthrv",
    "prealloc",
    "paralloc",
    "reuse",
    "trusttree",
    "readonly",
    "writeonly",
    "cached",
    "filesizegamma",
    "namelength",
];

const FLOWOP: [&str; 19] = [
    "name",
    "filename",
    "filesetname",
    "fd",
    "srcfd",
    "iosize",
    "workingset",
    "random",
    "iters",
    "opennext",
    "indexed",
    "dsync",
    "directio",
    "noreadahead",
    "value",
    "target",
    "blocking",
    "highwater",
    "possetname",
];

const RANDVAR: [&str; 9] = ["name", "type", "seed", "min", "mean", "gamma", "round", "randsrc", "randtable"];

/// Ordered by how likely a misplaced attribute belongs to the entity.
const ALL: [Entity; 12] = [
    Entity::Flowop,
    Entity::Fileset,
    Entity::File,
    Entity::Thread,
    Entity::Process,
    Entity::Composite,
    Entity::RandVar,
    Entity::CVar,
    Entity::Posset,
    Entity::Eventgen,
    Entity::Multi,
    Entity::Domultisync,
];

impl Entity {
    /// Valid attributes; synonyms are listed under both names.
    pub(super) fn attributes(self) -> &'static [&'static str] {
        match self {
            Self::File => &FILE,
            Self::Fileset => &FILESET,
            Self::Process => &["name", "instances", "nice", "procname"],
            Self::Thread => &["name", "instances", "memsize", "useism", "ioprio"],
            Self::Flowop => &FLOWOP,
            Self::Composite => &["name", "iters"],
            Self::RandVar => &RANDVAR,
            Self::CVar => &["type", "min", "max", "round", "parameters"],
            Self::Posset => &["name", "type", "seed", "max", "entries"],
            Self::Eventgen => &["rate"],
            Self::Multi => &["master", "client"],
            Self::Domultisync => &["value"],
            Self::Any => &[],
        }
    }

    pub(super) fn has(self, name: &str) -> bool {
        self == Self::Any || self.attributes().contains(&name)
    }

    /// Name in messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Fileset => "a fileset",
            Self::Process => "a process",
            Self::Thread => "a thread",
            Self::Flowop => "a flowop",
            Self::Composite => "the definition of a flowop",
            Self::RandVar => "a random variable",
            Self::CVar => "a custom variable",
            Self::Posset => "a posset",
            Self::Eventgen => "eventgen",
            Self::Multi => "enable multi",
            Self::Domultisync => "domultisync",
            Self::Any => "this command",
        }
    }

    /// Whether composite variables are allowed among the attributes.
    pub(super) fn has_locals(self) -> bool {
        matches!(self, Self::Flowop | Self::Composite)
    }

    /// Another entity with this attribute.
    pub(super) fn other_with(name: &str) -> Option<Self> {
        ALL.into_iter().find(|entity| entity.has(name))
    }
}

/// Whether any entity has this attribute.
pub(super) fn is_attribute(name: &str) -> bool {
    Entity::other_with(name).is_some()
}
