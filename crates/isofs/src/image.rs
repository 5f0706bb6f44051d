//! An opened image: the chosen session and tree, its root, and access to files. All access to the disc goes through here. Only the root
//! and a few decompressed blocks are kept, so memory is proportional to the request.

use crate::directory::{self, Directory};
use crate::disc::Disc;
use crate::error::{Error, Place, Result};
use crate::finding::Findings;
use crate::format::descriptor::Flavour;
use crate::format::el_torito::{self, BootImage};
use crate::format::name;
use crate::format::record::Dialect;
use crate::format::rock_ridge::Times;
use crate::node::{Data, Kind, Node};
use crate::options::{Namespace, Options};
use crate::raw::{RawImage, RawLayout};
use crate::read::BlockCache;
use crate::source::ReadAt;
use crate::volume::{self, Root, Scan, SessionInfo, VolumeInfo};
use std::collections::HashMap;

mod choice;

use choice::Tree;

/// How to read Rock Ridge on this volume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rock {
    /// Bytes to skip in every system use area except the root's first.
    pub(crate) skip: usize,
    /// Index of Rock Ridge among the ER entries.
    pub(crate) extension: u8,
}

/// A volume, open for reading.
#[derive(Debug)]
pub struct Image<S> {
    pub(crate) disc: Disc<RawImage<S>>,
    pub(crate) options: Options,
    pub(crate) dialect: Dialect,
    pub(crate) namespace: Namespace,
    pub(crate) rock: Option<Rock>,
    /// Number of this volume in its set, if it is part of one: files of other volumes are not on this image.
    pub(crate) volume_of_set: Option<u16>,
    /// Whether PX serial numbers identify files.
    pub(crate) serials: bool,
    pub(crate) cache: BlockCache,
    pub(crate) tables: PathTables,
    /// Whether the root shows the directory of boot images. Not while choosing a tree: it would make every root non-empty.
    pub(crate) boot_files: bool,
    layout: RawLayout,
    info: VolumeInfo,
    root: Node,
    findings: Findings,
}

/// Location of the chosen tree's path tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathTables {
    pub(crate) bytes: u32,
    pub(crate) little: u32,
    pub(crate) big: u32,
}

impl<S: ReadAt> Image<S> {
    /// Opens an image: finds the session, reads its descriptors, chooses a tree.
    ///
    /// # Errors
    /// [`Error::Volume`] if there is no readable volume, or not the requested tree; [`Error::Strict`] if reading is strict and the
    /// descriptors contradict themselves; [`Error::Io`] if the source fails.
    pub fn open(source: S, options: &Options) -> Result<Self> {
        let at = Place { lbn: 0, offset: 0 };
        let source = RawImage::detect(source).map_err(|source| Error::Io { at, source })?;
        let layout = source.layout();
        let mut disc = Disc::new(source);
        let session = choice::session_start(&disc, options.session)?;
        let scan = Scan::read(&disc, session)?;
        let Some((sector, primary)) = scan.primary() else {
            let what = "neither an ISO 9660 nor a High Sierra volume descriptor is here".into();
            return Err(Error::Volume { at: volume::place_of_sector(session.saturating_add(16)), what });
        };
        disc.set_block(volume::block_size(*sector, primary)?);
        let mut findings = scan.findings.clone();
        choice::compare_halves(*sector, primary, options.strict, disc.block(), &mut findings)?;
        let trees = choice::trees(&disc, &scan, &mut findings)?;
        let boot = choice::boot_images(&disc, &scan, &mut findings);
        let set = primary.set_size.choose(|n| n > 0);
        let sequence = primary.sequence.choose(|n| n > 0);
        let dialect = volume::dialect_of(primary);
        let namespaces: Vec<Namespace> = trees.iter().map(|tree| tree.namespace).collect();
        let first = choice::choose(&trees, options.namespace, *sector)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let info = VolumeInfo {
            volume_id: volume::text(first.volume),
            system_id: text(&primary.system_id),
            application_id: text(&primary.application_id),
            block: disc.block(),
            blocks: primary.space.le,
            created: primary.created,
            modified: primary.modified,
            namespaces,
            namespace: first.namespace,
            joliet_level: scan.volumes.iter().find_map(|(_, volume)| match volume.flavour {
                Flavour::Joliet(level) => Some(level),
                _ => None,
            }),
            high_sierra: dialect == Dialect::HighSierra,
            udf: scan.udf,
            session,
            boot,
        };
        let mut image = Self {
            disc,
            options: options.clone(),
            dialect,
            namespace: first.namespace,
            rock: None,
            volume_of_set: (set > 1).then_some(sequence),
            serials: false,
            cache: BlockCache::default(),
            tables: PathTables { bytes: 0, little: 0, big: 0 },
            boot_files: false,
            layout,
            info,
            root: blank_root(),
            findings,
        };
        image.enter(first)?;
        if options.namespace.is_none() {
            image.prefer_joliet_to_an_empty_root(&trees)?;
        }
        image.serials = image.serials_tell_apart();
        image.root = image.root_node(Root { ..image.root_numbers() })?;
        image.boot_files = image.options.boot && !image.info.boot.is_empty();
        Ok(image)
    }

    /// Switches to a tree.
    fn enter(&mut self, tree: &Tree<'_>) -> Result<()> {
        self.namespace = tree.namespace;
        self.info.namespace = tree.namespace;
        self.info.volume_id = volume::text(tree.volume);
        self.rock = tree.rock;
        self.tables = PathTables {
            bytes: tree.volume.path_table_bytes.le,
            little: tree.volume.path_table_l,
            big: tree.volume.path_table_m,
        };
        self.root = self.root_node(tree.root)?;
        Ok(())
    }

    /// Some images have an empty Rock Ridge tree beside a full Joliet tree.
    fn prefer_joliet_to_an_empty_root(&mut self, trees: &[Tree<'_>]) -> Result<()> {
        let joliet = trees.iter().find(|tree| tree.namespace == Namespace::Joliet);
        let (Namespace::RockRidge, Some(joliet)) = (self.namespace, joliet) else { return Ok(()) };
        let rock = trees.iter().find(|tree| tree.namespace == Namespace::RockRidge);
        let is_empty = |image: &Self| image.read_dir(&image.root).is_ok_and(|dir| dir.entries.is_empty());
        if !is_empty(self) {
            return Ok(());
        }
        self.enter(joliet)?;
        match rock {
            Some(rock) if is_empty(self) => self.enter(rock),
            _ => Ok(()),
        }
    }

    /// The root again, for numbers that depend on what is known by now.
    fn root_numbers(&self) -> Root {
        match self.root.data {
            Data::Directory { lbn, bytes } => Root {
                extent: u32::try_from(lbn).unwrap_or(u32::MAX),
                xar_blocks: 0,
                bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            },
            _ => Root { extent: 0, xar_blocks: 0, bytes: 0 },
        }
    }

    /// The node of the root, with the attributes of its "." record.
    fn root_node(&self, root: Root) -> Result<Node> {
        let lbn = u64::from(root.extent) + u64::from(root.xar_blocks);
        let mut node = directory::directory_itself(self, lbn)?.unwrap_or_else(blank_root);
        node.size = root.bytes.into();
        node.data = Data::Directory { lbn, bytes: root.bytes.into() };
        Ok(node)
    }

    /// Serial numbers are usable if no two files of the root with different content share one; some writers give all files the same.
    /// Checked once, so that inode numbers stay the same.
    fn serials_tell_apart(&self) -> bool {
        let Ok(root) = self.read_dir(&self.root) else { return false };
        let mut seen: HashMap<u32, (Option<u64>, u64)> = HashMap::new();
        let mut any = false;
        for entry in &root.entries {
            let node = &entry.node;
            let Some(serial) = node.serial.filter(|&serial| serial != 0) else { continue };
            any = true;
            let content = match node.directory_block() {
                Some(block) => (Some(block), 0),
                None => (node.extents().and_then(|e| e.first_block()), node.size),
            };
            if *seen.entry(serial).or_insert(content) != content {
                return false;
            }
        }
        any
    }

    /// Description of the volume.
    #[must_use]
    pub fn info(&self) -> &VolumeInfo {
        &self.info
    }

    /// Sector layout of the image.
    #[must_use]
    pub fn layout(&self) -> RawLayout {
        self.layout
    }

    /// Image size in bytes of data (a raw sector counts as 2048).
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.disc.size()
    }

    /// The source of the image.
    #[must_use]
    pub fn source(&self) -> &S {
        self.disc.source().source()
    }

    /// Problems of the descriptors.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Every session of the medium, oldest first; checks every 16th sector of the image.
    ///
    /// # Errors
    /// If the image cannot be read.
    pub fn sessions(&self) -> Result<Vec<SessionInfo>> {
        volume::sessions(&self.disc)
    }

    /// The root directory.
    #[must_use]
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The entries of a directory, without "." and "..", with unique and displayable names.
    ///
    /// # Errors
    /// [`Error::Kind`] if it is no directory, [`Error::Loop`] if it contains itself, [`Error::Strict`], [`Error::Io`].
    pub fn read_dir(&self, node: &Node) -> Result<Directory> {
        directory::list(self, node)
    }

    /// The entry of a directory with this name.
    ///
    /// # Errors
    /// As [`Image::read_dir`].
    pub fn lookup(&self, directory: &Node, name: &[u8]) -> Result<Option<Node>> {
        let entries = self.read_dir(directory)?.entries;
        Ok(entries.into_iter().find(|entry| entry.name == name).map(|entry| entry.node))
    }

    /// The file at a path from the root. Links are not followed; ".." removes the last component. A name may end in the version that
    /// ECMA-119 gives it (";1"), which no tree shows.
    ///
    /// # Errors
    /// As [`Image::read_dir`] for each directory on the path.
    pub fn resolve(&self, path: &[u8]) -> Result<Option<Node>> {
        let mut way = vec![self.root.clone()];
        for part in path.split(|&b| b == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    if way.len() > 1 {
                        way.pop();
                    }
                }
                name => {
                    let Some(here) = way.last() else { break };
                    let parts = name::versioned(name);
                    let next = match self.lookup(here, name)? {
                        None if parts.version.is_some() => self.lookup(here, parts.base)?,
                        found => found,
                    };
                    let Some(next) = next else { return Ok(None) };
                    way.push(next);
                }
            }
        }
        Ok(way.pop())
    }

    /// The target of a symbolic link.
    ///
    /// # Errors
    /// [`Error::Kind`] if it is no link, [`Error::Data`] if it has no target.
    pub fn read_link(&self, node: &Node) -> Result<Vec<u8>> {
        match &node.data {
            Data::Target(target) => Ok(target.to_vec()),
            Data::Refused { what, .. } => Err(Error::Data { at: node.record, what: (*what).into() }),
            _ => Err(Error::Kind { at: node.record, what: "not a symbolic link" }),
        }
    }

    /// The bytes of a boot image that lie in the image, at most `limit`.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read_boot_image(&self, boot: &BootImage, limit: u64) -> Result<Vec<u8>> {
        self.disc.up_to(u64::from(boot.lbn) * 2048, self.boot_bytes(boot)?.min(limit))
    }

    /// Size of a boot image; of a disk according to its partition table.
    pub(crate) fn boot_bytes(&self, boot: &BootImage) -> Result<u64> {
        if boot.media != el_torito::Media::Disk {
            return Ok(boot.bytes());
        }
        let first = self.disc.up_to(u64::from(boot.lbn) * 2048, 512)?;
        Ok(el_torito::disk_bytes(&first).unwrap_or(boot.bytes()))
    }
}

fn blank_root() -> Node {
    Node {
        kind: Kind::Directory,
        permissions: 0o555,
        links: 1,
        uid: 0,
        gid: 0,
        size: 0,
        inode: 0,
        serial: None,
        device: (0, 0),
        times: Times::default(),
        record: Place { lbn: 0, offset: 0 },
        data: Data::Directory { lbn: 0, bytes: 0 },
        trail: None,
        associated: None,
    }
}

impl<S> Image<S> {
    /// A name of this tree as text with its version, and whether it was valid.
    pub(crate) fn text_of(&self, recorded: &[u8]) -> (Vec<u8>, Option<u32>, bool) {
        match self.namespace {
            Namespace::Joliet => name::from_joliet(recorded),
            Namespace::Enhanced => (recorded.to_vec(), None, true),
            Namespace::RockRidge | Namespace::Plain => {
                let cut = name::versioned(recorded);
                (cut.base.to_vec(), cut.version, true)
            }
        }
    }
}
