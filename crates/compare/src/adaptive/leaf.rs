//! A rectangle of the lattice: its corners, the nodes added by a cut, and its halves.

use super::Node;

/// Direction of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutDirection {
    AcrossX,
    AcrossY,
}

/// A rectangle between nodes.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// First and last column.
    pub x: (usize, usize),
    /// First and last row.
    pub y: (usize, usize),
    /// Error that its parent's cut revealed; `None` for an initial rectangle.
    pub shown: Option<f64>,
}

impl Leaf {
    pub fn new(x: (usize, usize), y: (usize, usize), shown: Option<f64>) -> Self {
        Self { x, y, shown }
    }

    /// Bottom left and right, then top left and right.
    pub fn corners(&self) -> [Node; 4] {
        [(self.x.0, self.y.0), (self.x.1, self.y.0), (self.x.0, self.y.1), (self.x.1, self.y.1)]
    }

    pub fn holds(&self, (x, y): Node) -> bool {
        (self.x.0..=self.x.1).contains(&x) && (self.y.0..=self.y.1).contains(&y)
    }

    /// The ends of the line of a cut.
    pub fn new_nodes(&self, way: CutDirection, middle: usize) -> [Node; 2] {
        match way {
            CutDirection::AcrossX => [(middle, self.y.0), (middle, self.y.1)],
            CutDirection::AcrossY => [(self.x.0, middle), (self.x.1, middle)],
        }
    }

    pub fn halves(&self, way: CutDirection, middle: usize, shown: f64) -> [Self; 2] {
        let shown = Some(shown);
        match way {
            CutDirection::AcrossX => {
                [Self::new((self.x.0, middle), self.y, shown), Self::new((middle, self.x.1), self.y, shown)]
            }
            CutDirection::AcrossY => {
                [Self::new(self.x, (self.y.0, middle), shown), Self::new(self.x, (middle, self.y.1), shown)]
            }
        }
    }
}
