//! Sets of NUMA nodes for memory policies. In a workload file they are lists of numbers.

use serde::{Deserialize, Serialize};

/// Some NUMA nodes, each below [`Nodes::END`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct Nodes(u64);

impl Nodes {
    /// One past the largest supported node number. Machines have about ten nodes at most.
    pub const END: u32 = u64::BITS;

    /// The set of these nodes; `None` if a number is too large.
    #[must_use]
    pub fn of(numbers: &[u32]) -> Option<Self> {
        numbers.iter().try_fold(0u64, |mask, number| Some(mask | 1u64.checked_shl(*number)?)).map(Self)
    }

    /// Bit mask, node 0 in the lowest bit.
    #[must_use]
    pub fn mask(self) -> u64 {
        self.0
    }

    /// Whether the set has no nodes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their numbers, ascending.
    #[must_use]
    pub fn numbers(self) -> Vec<u32> {
        (0..Self::END).filter(|number| self.0 >> number & 1 == 1).collect()
    }

    /// The node, if the set has exactly one.
    #[must_use]
    pub fn only(self) -> Option<u32> {
        (self.0.count_ones() == 1).then(|| self.0.trailing_zeros())
    }
}

impl From<Nodes> for Vec<u32> {
    fn from(nodes: Nodes) -> Self {
        nodes.numbers()
    }
}

impl TryFrom<Vec<u32>> for Nodes {
    type Error = String;

    fn try_from(numbers: Vec<u32>) -> Result<Self, String> {
        Self::of(&numbers).ok_or_else(|| format!("numbers of NUMA nodes are below {}", Self::END))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_a_list_of_numbers() {
        let nodes = Nodes::of(&[3, 0, 3]).unwrap();
        assert_eq!((nodes.numbers(), nodes.mask(), nodes.only()), (vec![0, 3], 9, None));
        assert_eq!(Nodes::of(&[63]).unwrap().only(), Some(63));
        assert!(Nodes::of(&[64]).is_none() && Nodes::of(&[]).unwrap().is_empty());
    }
}
