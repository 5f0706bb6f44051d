//! Dies and channels, and when each becomes free. A read senses the page, then transfers it over the channel; a program transfers the
//! page, then programs it. The planes of a die program in parallel, modelled by dividing the program time of a page by their number.

use super::map::CleaningWork;

/// Parameters of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashRules {
    /// Number of channels; at least 1.
    pub channels: u32,
    /// Dies per channel; at least 1.
    pub dies_per_channel: u32,
    /// Planes per die; at least 1.
    pub planes: u32,
    /// Page size, bytes; at least 4096.
    pub page_bytes: u32,
    /// Time to sense a page, ns.
    pub read_ns: u64,
    /// Time to program a page, ns.
    pub program_ns: u64,
    /// Time to erase a block, ns.
    pub erase_ns: u64,
    /// Rate of a channel.
    pub channel_bytes_per_s: u64,
}

/// Times at which dies and channels become free.
#[derive(Clone, Debug)]
pub struct Flash {
    rules: FlashRules,
    die_free: Vec<u64>,
    channel_free: Vec<u64>,
    next_die: u64,
    programmed: u64,
    /// Transfer time, summed over channels.
    moved_ns: u64,
}

impl Flash {
    /// All dies and channels free.
    #[must_use]
    pub fn new(rules: FlashRules) -> Self {
        let channels = rules.channels.max(1) as usize;
        let dies = channels * rules.dies_per_channel.max(1) as usize;
        Self {
            rules,
            die_free: vec![0; dies],
            channel_free: vec![0; channels],
            next_die: 0,
            programmed: 0,
            moved_ns: 0,
        }
    }

    /// Transfer time summed over channels, ns, without waiting for dies.
    #[must_use]
    pub fn moved_ns(&self) -> u64 {
        self.moved_ns
    }

    /// Number of channels, which transfer in parallel.
    #[must_use]
    pub fn channels(&self) -> u32 {
        u32::try_from(self.channel_free.len()).unwrap_or(u32::MAX)
    }

    /// Number of pages programmed.
    #[must_use]
    pub fn programmed(&self) -> u64 {
        self.programmed
    }

    fn places(&self, die: u64) -> (usize, usize) {
        let die = die % self.die_free.len() as u64;
        (die as usize, (die % self.channel_free.len() as u64) as usize)
    }

    fn channel_ns(&self, bytes: u64) -> u64 {
        (bytes * 1_000_000_000).checked_div(self.rules.channel_bytes_per_s).unwrap_or(0)
    }

    /// Reads part of a page; returns the time at which the data is out.
    pub fn read(&mut self, from: u64, die: u64, bytes: u64) -> u64 {
        let (die, channel) = self.places(die);
        self.die_free[die] = self.die_free[die].max(from) + self.rules.read_ns;
        let moves_ns = self.channel_ns(bytes);
        self.moved_ns += moves_ns;
        let out = self.die_free[die].max(self.channel_free[channel]) + moves_ns;
        self.channel_free[channel] = out;
        out
    }

    /// Programs a page on the next die; returns the end time.
    pub fn program(&mut self, from: u64) -> u64 {
        let die = self.next_die;
        self.next_die += 1;
        self.program_on(from, die)
    }

    fn program_on(&mut self, from: u64, die: u64) -> u64 {
        let (die, channel) = self.places(die);
        let moves_ns = self.channel_ns(u64::from(self.rules.page_bytes));
        self.moved_ns += moves_ns;
        let loaded = self.channel_free[channel].max(from) + moves_ns;
        self.channel_free[channel] = loaded;
        let program_ns = self.rules.program_ns / u64::from(self.rules.planes.max(1));
        self.die_free[die] = self.die_free[die].max(loaded) + program_ns;
        self.programmed += 1;
        self.die_free[die]
    }

    /// Executes the cleaning caused by a write of the page map; returns the end time.
    pub fn clean(&mut self, from: u64, cleaned: &CleaningWork) -> u64 {
        let mut ready = from;
        for _ in 0..cleaned.pages_read {
            ready = ready.max(self.read(from, cleaned.die, u64::from(self.rules.page_bytes)));
        }
        for _ in 0..cleaned.pages_programmed {
            ready = ready.max(self.program_on(from, cleaned.die));
        }
        if cleaned.blocks_erased > 0 {
            let (die, _) = self.places(cleaned.die);
            self.die_free[die] += self.rules.erase_ns * cleaned.blocks_erased;
        }
        ready
    }
}
