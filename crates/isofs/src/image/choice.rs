//! The choices made when an image is opened: the session, the trees its descriptors offer, the tree to read, the boot images. Turns a
//! scan of descriptors into the fields of `Image`.

use super::Rock;
use crate::directory;
use crate::disc::Disc;
use crate::error::{Error, Place, Result};
use crate::finding::{Condition, Findings};
use crate::format::descriptor::{Flavour, Volume};
use crate::format::el_torito::{self, BootImage};
use crate::format::record::{self, Dialect};
use crate::format::susp;
use crate::options::{Namespace, Session};
use crate::source::ReadAt;
use crate::volume::{self, Root, Scan};

/// A tree of the volume.
pub(super) struct Tree<'a> {
    pub(super) namespace: Namespace,
    sector: u64,
    pub(super) volume: &'a Volume,
    pub(super) root: Root,
    pub(super) rock: Option<Rock>,
}

/// First sector of the requested session.
pub(super) fn session_start<S: ReadAt>(disc: &Disc<S>, wanted: Session) -> Result<u64> {
    let number = match wanted {
        Session::First => return Ok(0),
        Session::Sector(sector) => return Ok(sector),
        Session::Number(number) => number,
        Session::Last => usize::MAX,
    };
    let sessions = volume::sessions(disc)?;
    let index = if number == usize::MAX { sessions.len() } else { number };
    let found = index.checked_sub(1).and_then(|index| sessions.get(index));
    found.map(|session| session.sector).ok_or_else(|| {
        let what = format!("session {number} was asked for; there are {}", sessions.len());
        let what = if number == usize::MAX { "no session was found".into() } else { what };
        Error::Volume { at: volume::place_of_sector(16), what }
    })
}

/// Checks the descriptor's numbers that are recorded twice.
pub(super) fn compare_halves(
    sector: u64,
    volume: &Volume,
    strict: bool,
    block: u32,
    findings: &mut Findings,
) -> Result<()> {
    let pairs = [
        ("volume space size", volume.space.agree()),
        ("volume set size", volume.set_size.agree()),
        ("volume sequence number", volume.sequence.agree()),
        ("logical block size", volume.block.agree()),
        ("path table size", volume.path_table_bytes.agree()),
    ];
    for (what, agree) in pairs {
        if !agree {
            let at = Place::of_byte(sector.saturating_mul(2048), block);
            findings.add(Condition::HalvesDiffer, at, || format!("the two halves of the {what} differ"));
        }
    }
    match findings.list().iter().find(|f| strict && f.condition == Condition::HalvesDiffer) {
        Some(finding) => Err(Error::Strict(finding.clone())),
        None => Ok(()),
    }
}

/// Every readable tree, in order of preference. A supplementary tree with a bad root is left out; a primary one is an error only if there
/// is no other.
pub(super) fn trees<'a, S: ReadAt>(
    disc: &Disc<S>,
    scan: &'a Scan,
    findings: &mut Findings,
) -> Result<Vec<Tree<'a>>> {
    let mut trees = Vec::new();
    let mut refused = None;
    let wanted: [(Namespace, &dyn Fn(Flavour) -> bool); 2] = [
        (Namespace::Joliet, &|f| matches!(f, Flavour::Joliet(_))),
        (Namespace::Enhanced, &|f| f == Flavour::Enhanced),
    ];
    let supplementary =
        wanted.into_iter().filter_map(|(space, is)| scan.find(is).map(|found| (space, found)));
    let plain = scan.primary().map(|found| (Namespace::Plain, found));
    for (namespace, (sector, volume)) in supplementary.chain(plain) {
        let root = match volume::root(disc, *sector, volume, findings) {
            Ok(root) => root,
            Err(error) => {
                findings.add(Condition::Root, volume::place_of_sector(*sector), || error.to_string());
                refused = Some(error);
                continue;
            }
        };
        let tree = Tree { namespace, sector: *sector, volume, root, rock: None };
        if namespace == Namespace::Plain
            && volume.flavour == Flavour::Primary
            && let Some(rock) = rock_of(disc, &tree)?
        {
            let tree = Tree { namespace: Namespace::RockRidge, rock: Some(rock), ..tree };
            trees.insert(0, tree);
        }
        trees.push(tree);
    }
    match refused {
        Some(error) if trees.is_empty() => Err(error),
        _ => Ok(trees),
    }
}

/// Whether and how the primary tree has Rock Ridge, according to its root's "." record.
fn rock_of<S: ReadAt>(disc: &Disc<S>, tree: &Tree<'_>) -> Result<Option<Rock>> {
    let lbn = u64::from(tree.root.extent) + u64::from(tree.root.xar_blocks);
    let Some(byte) = disc.byte_of(lbn) else { return Ok(None) };
    let first = disc.up_to(byte, 255)?;
    let length = usize::from(first.first().copied().unwrap_or(0));
    let parsed = first.get(..length).and_then(|bytes| record::parse(bytes, Dialect::Iso).ok());
    let Some(dot) = parsed else { return Ok(None) };
    let Some(skip) = susp::skip_of_root(dot.system_use) else { return Ok(None) };
    // The root's own entries start at SP, whatever the skip for other records.
    let start = if dot.system_use.starts_with(b"SP") { 0 } else { skip.min(dot.system_use.len()) };
    let mut extension = 0u8;
    let mut count = 0u8;
    directory::for_each_entry(disc, &dot.system_use[start..], byte, &mut Findings::default(), |entry| {
        if &entry.signature == b"ER" {
            if susp::extension_id(entry.payload).is_some_and(susp::is_rock_ridge) {
                extension = count;
            }
            count = count.saturating_add(1);
        }
    });
    Ok(Some(Rock { skip, extension }))
}

/// The requested tree, or the first.
pub(super) fn choose<'a, 't>(
    trees: &'t [Tree<'a>],
    wanted: Option<Namespace>,
    sector: u64,
) -> Result<&'t Tree<'a>> {
    let found = match wanted {
        Some(wanted) => trees.iter().find(|tree| tree.namespace == wanted),
        None => trees.first(),
    };
    found.ok_or_else(|| {
        let at = volume::place_of_sector(trees.first().map_or(sector, |tree| tree.sector));
        let there: Vec<String> = trees.iter().map(|tree| format!("{:?}", tree.namespace)).collect();
        let asked = wanted.map_or("a tree".into(), |wanted| format!("the {wanted:?} tree"));
        Error::Volume { at, what: format!("{asked} was asked for; there is {}", there.join(", ")) }
    })
}

/// The images of every boot catalogue.
pub(super) fn boot_images<S: ReadAt>(disc: &Disc<S>, scan: &Scan, findings: &mut Findings) -> Vec<BootImage> {
    let mut images = Vec::new();
    for &catalog in &scan.boot_catalogs {
        let at = Place { lbn: catalog.into(), offset: 0 };
        // Real catalogues fit one sector, but a section may continue, so a few more are read.
        let read = disc.up_to(u64::from(catalog) * 2048, 8 * 2048).map_err(|e| e.to_string());
        match read.and_then(|bytes| el_torito::catalog(&bytes).map_err(String::from)) {
            Ok(found) => images.extend(found),
            Err(why) => findings.add(Condition::Boot, at, || why),
        }
    }
    images
}
