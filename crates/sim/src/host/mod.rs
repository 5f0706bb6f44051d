//! Hosts: memory, CPUs, cost of calls, and which kernel's rules apply. A host is a TOML text in which every value states its source; the
//! shipped ones are in `profiles/host`.

mod changing;
mod copying;
mod queue;
mod rules;
mod shipped;

pub use copying::{CacheLevel, Copying};
pub use rules::{BatchOrder, JournalRule, Layout, QueueRules, Replacement, Start, Threads};
pub use shipped::{NAMES, shipped, text};

use crate::place::{of_key, place};
use crate::sources::{Sourced, Tally, Uncertain};
use serde::Deserialize;

/// A profile that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostProfileError {
    /// No shipped profile has this name.
    #[error("no host profile {name:?}; choose one of {known}, or give the path of a file", known = NAMES.join(", "))]
    Unknown {
        /// The name that was given.
        name: String,
    },
    /// The text is invalid, or a value is out of range.
    #[error("{place}: {message}")]
    Text {
        /// Name or file, with line and column where known.
        place: String,
        /// Description of the error.
        message: String,
    },
}

/// A host with its kernel.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Description for people.
    pub about: String,
    /// CPUs and costs of calls.
    pub cpu: Cpu,
    /// Size of the page cache and its rules.
    pub memory: Memory,
    /// Allocation of physical pages; if left out, pages lie anywhere and each is a segment.
    #[serde(default)]
    pub pages: Option<PhysicalPages>,
    /// Rules for bios and requests.
    pub block: BlockRules,
    /// Write-back rules.
    pub writeback: Writeback,
    /// Layout, journal and barriers.
    pub filesystem: FileSystem,
    /// Copying cost by CPU cache level; without it every page costs the same.
    #[serde(default)]
    pub copying: Option<Copying>,
    /// Counts of its values by source, filled on parsing.
    #[serde(skip)]
    pub tally: Tally,
    /// Names of the values that are not certain.
    #[serde(skip)]
    pub uncertain: Uncertain,
}

/// CPUs and the cost of calls.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// Number of CPUs.
    pub cpus: Sourced<u32>,
    /// Cost of a call that reads, writes or syncs, us.
    pub call_us: Sourced<f64>,
    /// Cost per page of a call (lookup and copy), us.
    pub page_us: Sourced<f64>,
    /// Cost per bio, us.
    pub bio_us: Sourced<f64>,
    /// From a request's completion until a program that waits for it runs, us; left out: none.
    #[serde(default)]
    pub wake_us: Option<Sourced<f64>>,
    /// Timer frequency, Hz. CFQ and the anticipatory elevator count time in its ticks, jbd2 logs an overwritten file's inode at most once
    /// per tick, and fsync on 2.6 sleeps in whole ticks.
    pub hz: Sourced<u32>,
    /// Whether the scheduler sees the threads of a process as one.
    pub threads: Sourced<Threads>,
}

/// The page cache.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Memory available to the page cache, MiB.
    pub cache_mib: Sourced<u32>,
    /// Replacement rule.
    pub replacement: Sourced<Replacement>,
    /// Initial residency of a file set that existed before the run.
    pub start: Sourced<Start>,
    /// Memory taken at the start by other files' pages on the active list, MiB.
    #[serde(default)]
    pub others_mib: Option<Sourced<u32>>,
    /// With 2.4's two lists: rate at which pages leave the active one, as a multiple of active / (2 * inactive) per evicted page; the
    /// kernel's own is 1.
    #[serde(default)]
    pub demotion: Option<Sourced<f64>>,
}

/// The page allocator, as far as it decides which pages share a segment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhysicalPages {
    /// Order of the pages in a batch.
    pub order: Sourced<BatchOrder>,
    /// Pages per refill of a CPU's list.
    pub batch: Sourced<u32>,
    /// With the order "random": pages per thousand that come from anywhere.
    #[serde(default)]
    pub recycled_permille: Option<Sourced<u16>>,
}

/// Rules by which file I/O becomes bios, and bios become requests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockRules {
    /// Which kernel's request pools and plugs apply.
    pub queue: Sourced<QueueRules>,
    /// Number of requests (2.4: in all; 2.6: in each direction; today: tags of the scheduler); 0: the kernel's default.
    pub requests: Sourced<u32>,
    /// Longest read bio, pages; 1 where each buffer is submitted separately.
    pub read_bio_pages: Sourced<u32>,
    /// Longest write-back bio, pages.
    pub write_bio_pages: Sourced<u32>,
}

/// Write-back rules.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Writeback {
    /// Dirty share of the cache above which the flusher works, percent.
    pub background_percent: Sourced<u32>,
    /// Dirty share above which a writer must write back itself, percent.
    pub limit_percent: Sourced<u32>,
    /// Age at which dirty data is written, s.
    pub expire_s: Sourced<u32>,
    /// Wake-up interval of the flusher, s.
    pub interval_s: Sourced<u32>,
}

/// The file system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSystem {
    /// How blocks are mapped and files are laid out.
    pub layout: Sourced<Layout>,
    /// What fsync does to the journal.
    pub journal: Sourced<JournalRule>,
    /// Age at which a transaction is committed even if no task has asked for it (mount option commit=), s.
    pub commit_s: Sourced<u32>,
    /// Whether fsync and commits flush the device's cache (barriers of the file system).
    pub barriers: Sourced<bool>,
    /// Start of the first file, MiB from the start of the device.
    pub data_mib: Sourced<u64>,
    /// Start of the journal, MiB from the start of the device.
    pub journal_mib: Sourced<u64>,
    /// Size of the journal, MiB.
    pub journal_size_mib: Sourced<u32>,
    /// Contiguous blocks per file where several files were written side by side; 0: each was written alone.
    pub interleave_blocks: Sourced<u32>,
}

impl Host {
    /// Parses a profile; `name` is used in messages.
    ///
    /// # Errors
    /// The text is not TOML, lacks a value or has one out of range.
    pub fn parse(name: &str, text: &str) -> Result<Self, HostProfileError> {
        let failed = |e: toml::de::Error| {
            let message = e.message().to_string();
            HostProfileError::Text { place: place(name, text, e.span()), message }
        };
        let table: toml::Table = text.parse().map_err(failed)?;
        let mut host: Self = toml::from_str(text).map_err(failed)?;
        host.tally = Tally::of(&table);
        host.uncertain = Uncertain::of(&table);
        host.check(name, text)?;
        Ok(host)
    }

    fn check(&self, name: &str, text: &str) -> Result<(), HostProfileError> {
        let wrong = |key: &str, value: &str, expected: &str| HostProfileError::Text {
            place: place(name, text, of_key(text, key)),
            message: format!("{key} is {value}; expected {expected}"),
        };
        let within = |key: &str, ok: bool, value: String, expected: &str| {
            if ok { Ok(()) } else { Err(wrong(key, &value, expected)) }
        };
        let count = |key: &str, value: u32, range: std::ops::RangeInclusive<u32>, expected: &str| {
            within(key, range.contains(&value), value.to_string(), expected)
        };
        count("cpu.cpus", self.cpu.cpus.get(), 1..=4096, "1 to 4096")?;
        count("cpu.hz", self.cpu.hz.get(), 1..=10_000, "1 to 10000")?;
        for (key, us) in [
            ("cpu.call_us", self.cpu.call_us.get()),
            ("cpu.page_us", self.cpu.page_us.get()),
            ("cpu.bio_us", self.cpu.bio_us.get()),
            ("cpu.wake_us", self.cpu.wake_us.as_ref().map_or(0.0, Sourced::get)),
        ] {
            within(key, (0.0..=1e6).contains(&us), us.to_string(), "0 to 1000000 us")?;
        }
        count("memory.cache_mib", self.memory.cache_mib.get(), 1..=1 << 22, "1 to 4194304 MiB")?;
        if let Some(pages) = &self.pages {
            count("pages.batch", pages.batch.get(), 1..=1 << 10, "1 to 1024 pages")?;
            let share = pages.recycled_permille.as_ref().map(Sourced::get);
            let expected = "0 to 1000 with the order \"random\"; with other orders leave it out";
            let goes = match share {
                Some(share) => pages.order.get() == BatchOrder::Random && share <= 1000,
                None => pages.order.get() != BatchOrder::Random,
            };
            let value = share.map_or_else(|| "left out".to_owned(), |share| share.to_string());
            within("pages.recycled_permille", goes, value, expected)?;
        }
        if let Some(others) = &self.memory.others_mib {
            count(
                "memory.others_mib",
                others.get(),
                0..=self.memory.cache_mib.get(),
                "0 to memory.cache_mib",
            )?;
        }
        if let Some(demotion) = &self.memory.demotion {
            let demotion = demotion.get();
            within("memory.demotion", (0.0..=100.0).contains(&demotion), demotion.to_string(), "0 to 100")?;
        }
        if let Some(copying) = &self.copying {
            copying.check().map_err(|(key, value, expected)| wrong(&key, &value, expected))?;
        }
        let pool = !matches!(self.block.queue.get(), QueueRules::Gathered | QueueRules::Bare);
        let (most, expected) = if pool { (1 << 16, "0 to 65536") } else { (0, "0: this queue has no pool") };
        count("block.requests", self.block.requests.get(), 0..=most, expected)?;
        count("block.read_bio_pages", self.block.read_bio_pages.get(), 1..=1 << 15, "1 to 32768 pages")?;
        count("block.write_bio_pages", self.block.write_bio_pages.get(), 1..=1 << 15, "1 to 32768 pages")?;
        let w = &self.writeback;
        count("writeback.background_percent", w.background_percent.get(), 0..=100, "0 to 100 %")?;
        // At 100 % nothing could be evicted to make space.
        count("writeback.limit_percent", w.limit_percent.get(), 1..=99, "1 to 99 %")?;
        // Above the limit writers write back themselves, so the flusher would never start before them.
        count(
            "writeback.background_percent",
            w.background_percent.get(),
            0..=w.limit_percent.get(),
            "0 to writeback.limit_percent",
        )?;
        count("writeback.interval_s", w.interval_s.get(), 1..=86_400, "1 to 86400 s")?;
        count("writeback.expire_s", w.expire_s.get(), 0..=86_400, "0 to 86400 s")?;
        let fs = &self.filesystem;
        for (key, mib) in
            [("filesystem.data_mib", fs.data_mib.get()), ("filesystem.journal_mib", fs.journal_mib.get())]
        {
            within(key, mib <= 1 << 32, mib.to_string(), "0 to 4294967296 MiB")?;
        }
        let size = fs.journal_size_mib.get();
        count("filesystem.commit_s", fs.commit_s.get(), 1..=86_400, "1 to 86400 s")?;
        count("filesystem.journal_size_mib", size, 1..=1 << 16, "1 to 65536 MiB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_host_can_be_read_and_has_no_value_without_a_source() {
        for name in NAMES {
            let host = shipped(name).unwrap();
            let t = host.tally;
            let memory =
                u32::from(host.memory.others_mib.is_some()) + u32::from(host.memory.demotion.is_some());
            let copying = host.copying.as_ref().map_or(0, |c| 1 + 4 * c.cache.len() as u32);
            let pages = if host.pages.is_some() { 2 } else { 0 };
            let all = t.datasheet + t.measured + t.fitted + t.guessed;
            assert_eq!(all, 25 + memory + copying + pages, "{name}: {t}");
        }
    }

    #[test]
    fn invalid_values_are_errors_with_their_key() {
        let text = shipped::text("athlon-2004-linux-2.6").unwrap();
        let wrong = text.replacen("hz = { value = 1000", "hz = { value = 0", 1);
        let error = Host::parse("mine.toml", &wrong).unwrap_err().to_string();
        let line = 1 + wrong.lines().position(|l| l.starts_with("hz = ")).unwrap();
        assert_eq!(error, format!("mine.toml:{line}:1: cpu.hz is 0; expected 1 to 10000"));
        for (key, wrong, expected) in [
            ("limit_percent", "100", "1 to 99 %"),
            ("background_percent", "41", "0 to writeback.limit_percent"),
            ("data_mib", "4294967297", "0 to 4294967296 MiB"),
            ("journal_mib", "72057594037927936", "0 to 4294967296 MiB"),
        ] {
            let at = text.find(&format!("{key} = {{ value = ")).unwrap() + key.len() + 13;
            let end = at + text[at..].find(',').unwrap();
            let wrong_text = format!("{}{wrong}{}", &text[..at], &text[end..]);
            let error = Host::parse("mine.toml", &wrong_text).unwrap_err().to_string();
            assert!(error.contains(&format!("{key} is {wrong}; expected {expected}")), "{error}");
        }
        let text = shipped::text("ncsa-2005-linux-2.4").unwrap();
        for (from, to, words) in [
            ("ways = { value = 8", "ways = { value = 0", "copying.cache.0.ways is 0; expected 1 to 64"),
            ("others_mib = { value = ", "others_mib = { value = 9", "memory.others_mib is 9"),
            ("demotion = { value = ", "demotion = { value = -", "memory.demotion is -"),
        ] {
            let wrong = text.replacen(from, to, 1);
            let error = Host::parse("mine.toml", &wrong).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let error = Host::parse("mine.toml", "about = 1").unwrap_err().to_string();
        assert!(error.starts_with("mine.toml:1:"), "{error}");
        let error = shipped("atari").unwrap_err().to_string();
        assert!(error.contains("athlon-2004-linux-2.4"), "{error}");
    }
}
