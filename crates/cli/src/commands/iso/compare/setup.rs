//! Test set-up of `fathom iso compare`: the image as a loop device, read past every cache, optionally throttled, and
//! observed. Each part that is unavailable is reported once; without a loop device the file itself is read.

use super::options::IsoCompare;
use crate::commands::iso::backend::Backend;
use crate::commands::iso::reading::{Bundle, medium_of};
use crate::commands::iso::source::ImageSource;
use crate::commands::iso::{Opened, open};
use crate::exit::Usage;
use fathom_isofs::reader::{Medium, Policy};
use fathom_observe::block::{Instance, Watched, availability};
use fathom_observe::loop_device::ReadOnlyLoop;
use fathom_observe::residency;
use fathom_observe::throttle::Throttle;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Memory file systems, by the magic number of statfs.
const IN_MEMORY: [rustix::fs::FsWord; 2] = [0x0102_1994, 0x8584_58f6];

/// Everything that must be torn down; fields drop in this order.
pub struct Setup {
    _throttle: Option<Throttle>,
    pub watch: Option<(Instance, Watched)>,
    _device: Option<ReadOnlyLoop>,
    /// Opened for each run.
    source: ImageSource,
    /// The backing file of our device, or the file that is read itself.
    file: Option<PathBuf>,
    pub about: String,
    /// Whether data missing from the reader's cache comes from a disk or from memory.
    pub below: Below,
    medium: Medium,
    /// Sentences on what is missing or makes figures doubtful.
    pub notes: Vec<String>,
}

/// What serves the reader's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// The underlying device, past the page cache.
    Device,
    /// The page cache, dropped before each run and refilled by the kernel's read-ahead.
    PageCache,
    /// A memory file system.
    Memory,
}

impl Below {
    pub fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::PageCache => "page cache",
            Self::Memory => "memory",
        }
    }

    pub fn sentence(self) -> &'static str {
        match self {
            Self::Device => {
                "Cache misses of the reader were read from the device, past the page cache: of each row the share \"cached\" came from memory and the rest from the device."
            }
            Self::PageCache => {
                "The page cache stands below the reader: it was emptied before each run, but what the kernel read ahead into it came from memory. Requests are those of the reader; speeds are not the device's alone."
            }
            Self::Memory => {
                "The image lies in memory: speeds are those of memory and of the layers between. Requests are those that a disk would have got."
            }
        }
    }
}

impl Setup {
    /// Sets up everything available.
    pub fn made(options: &IsoCompare) -> Result<Self, Usage> {
        let image = &options.source.image;
        let shown = image.display();
        let about = std::fs::metadata(image).map_err(|e| Usage(format!("{shown}: cannot be opened: {e}")))?;
        let itself = about.file_type().is_block_device();
        let mut notes = Vec::new();
        let device = match itself || options.no_loop {
            true => None,
            false => match ReadOnlyLoop::over(image) {
                Ok(device) => Some(device),
                Err(e) => {
                    notes.push(format!("no loop device ({e}; it takes root): the image file itself is read, without requests below the reader"));
                    None
                }
            },
        };
        let path = device.as_ref().map_or(image.as_path(), ReadOnlyLoop::path).to_owned();
        let block = if itself || device.is_some() { watched(&path) } else { None };
        let throttle = throttle(options, block.as_ref())?;
        let memory = !itself && in_memory(image);
        let passes = device.as_ref().is_none_or(ReadOnlyLoop::goes_past_the_cache);
        let source = ImageSource { image: path.clone(), direct: true, ..options.source.clone() };
        let (source, direct) = match open(&source) {
            Ok(_) => (source, true),
            Err(_) if device.is_none() => (ImageSource { direct: false, ..source }, false),
            Err(e) => return Err(Usage(format!("{e:#}"))),
        };
        let below = match (memory, passes && direct) {
            (true, _) => Below::Memory,
            (false, true) => Below::Device,
            (false, false) => Below::PageCache,
        };
        let watch = block.and_then(|device| match watch() {
            Ok(instance) => Some((instance, device)),
            Err(why) => {
                notes.push(format!("no block events: {why}"));
                None
            }
        });
        let what = match (&device, itself) {
            (Some(device), _) => format!("{shown} on {}", device.path().display()),
            (None, true) => format!("the device {shown}"),
            (None, false) => format!("the file {shown}"),
        };
        let through = match source.backend {
            Backend::Pread => "",
            Backend::IoUring => ", through io_uring",
        };
        let held = options.iops.map_or(String::new(), |n| format!(", held to {n} reads a second"));
        let file = (!itself).then(|| image.clone());
        Ok(Self {
            _throttle: throttle,
            watch,
            _device: device,
            source,
            file,
            about: what + through + &held,
            below,
            medium: medium_of(image),
            notes,
        })
    }

    /// The policy of a bundle here.
    pub fn policy(&self, bundle: Bundle) -> Policy {
        self.source.backend.held(bundle.on(self.medium), self.medium)
    }

    /// Reopens the image with nothing of it in the page cache.
    pub fn cold(&mut self) -> anyhow::Result<Opened> {
        if let Some(file) = self.file.as_deref().filter(|_| self.below != Below::Memory) {
            let left = residency::evict(file);
            let why = match left {
                Ok(left) if left.cached_pages == 0 => None,
                Ok(left) => Some(format!(
                    "{} pages of the image stayed in the page cache: another process maps them",
                    left.cached_pages
                )),
                Err(e) => Some(e.to_string()),
            };
            if let Some(why) = why.filter(|why| !self.notes.contains(why)) {
                self.notes.push(why);
            }
        }
        open(&self.source)
    }
}

fn throttle(options: &IsoCompare, device: Option<&Watched>) -> Result<Option<Throttle>, Usage> {
    let Some(reads) = options.iops else { return Ok(None) };
    let Some(device) = device else {
        return Err(Usage("--iops: there is no block device to limit; a loop device needs root".into()));
    };
    let made = Throttle::this_process(device.number, reads);
    made.map(Some).map_err(|why| Usage(format!("--iops: {why}")))
}

fn watch() -> Result<Instance, String> {
    availability().events?;
    Instance::new().map_err(|e| e.to_string())
}

fn watched(path: &Path) -> Option<Watched> {
    let number = std::fs::metadata(path).ok()?.rdev();
    let sys = format!("/sys/dev/block/{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    let name = std::fs::canonicalize(sys).ok()?;
    Some(Watched::of_name(name.file_name()?.to_str()?)?.for_a_bystander())
}

fn in_memory(path: &Path) -> bool {
    let about = rustix::fs::statfs(path);
    about.is_ok_and(|about| IN_MEMORY.contains(&about.f_type))
}
