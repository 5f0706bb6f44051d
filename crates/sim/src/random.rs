//! Random numbers without shared state: number n of a stream is a function of the seed, the stream and n. Each entity (thread, device,
//! allocator) has its own stream, so adding one does not change the others.

/// The stream of one entity. The function is the SplitMix64 finaliser (Steele, Lea and Flood, OOPSLA 2014) over a counter whose step and
/// start are derived from seed and stream.
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
    step: u64,
}

/// The entity that draws. The discriminants influence every result, so they are never reassigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A device, by index.
    Device(u32),
    /// The page allocator.
    Pages,
    /// The file system's layout.
    Layout,
    /// A simulated thread, by index.
    Thread(u32),
    /// Activity of other programs and the system itself.
    System,
}

impl Entity {
    fn number(self) -> u64 {
        let (kind, number) = match self {
            Self::Device(n) => (1, n),
            Self::Pages => (2, 0),
            Self::Layout => (3, 0),
            Self::Thread(n) => (4, n),
            Self::System => (5, 0),
        };
        kind << 32 | u64::from(number)
    }
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Stream {
    /// The stream of an entity.
    #[must_use]
    pub fn new(seed: u64, entity: Entity) -> Self {
        let key = mixed(seed ^ mixed(entity.number().wrapping_add(GOLDEN)));
        // An odd step visits every counter value; it differs between streams so that no two follow the same sequence.
        Self { state: key, step: mixed(key ^ GOLDEN) | 1 }
    }

    /// The next 64 bits.
    #[expect(
        clippy::should_implement_trait,
        reason = "there is always a next one: an iterator's Option would only be in the way"
    )]
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(self.step);
        mixed(self.state)
    }

    /// A number below `n`, which must not be 0; uniform to within n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn mixed(value: u64) -> u64 {
    let mut z = value.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fair_and_differ_between_entities() {
        let mut a = Stream::new(1, Entity::Device(0));
        let mut b = Stream::new(1, Entity::Device(1));
        let mut bins = [0u32; 16];
        let mut same = 0;
        for _ in 0..64_000 {
            let (x, y) = (a.below(16), b.below(16));
            bins[x as usize] += 1;
            same += u32::from(x == y);
        }
        // Chi-square with 15 degrees of freedom: 37.7 is the 0.1 % point; equal draws are binomial with mean 4000.
        let chi2: f64 = bins.iter().map(|&n| (f64::from(n) - 4000.0).powi(2) / 4000.0).sum();
        assert!(chi2 < 37.7, "{chi2}: {bins:?}");
        assert!(same.abs_diff(4000) < 250, "{same}");
        assert!((0..1000).map(|_| a.unit()).all(|u| (0.0..1.0).contains(&u)));
    }

    #[test]
    fn the_same_seed_and_entity_give_the_same_numbers() {
        let draw = |seed, entity| {
            let mut s = Stream::new(seed, entity);
            [(); 4].map(|()| s.next())
        };
        assert_eq!(draw(7, Entity::Pages), draw(7, Entity::Pages));
        assert_ne!(draw(7, Entity::Pages), draw(8, Entity::Pages));
        assert_ne!(draw(7, Entity::Pages), draw(7, Entity::Layout));
    }
}
