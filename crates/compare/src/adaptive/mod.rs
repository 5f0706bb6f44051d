//! Adaptive sampling of a surface over two sizes: few cells where it is flat, many at its knees.
//!
//! The cells are the nodes of a lattice. The plane is divided into rectangles with measured corners. Inside a rectangle the logarithm of
//! the rate is assumed to be bilinear in the logarithms of the sizes, so a power law needs no extra cells. The rectangle with the largest
//! expected error, weighted by its area, is cut in two; the error of the prediction at the new cells gives the expected error of the
//! halves. [`Sampler`] decides, [`agreement`] evaluates the result.

mod agreement;
mod leaf;

pub use agreement::{Agreement, agreement};
use leaf::{CutDirection, Leaf};

/// A node of the lattice: column and row.
pub type Node = (usize, usize);

/// Cells per axis measured before any error can be expected.
const FIRST: usize = 3;

/// Chooses cells and interpolates between the measured ones.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// Logarithms of the columns' and rows' sizes, ascending.
    x: Vec<f64>,
    y: Vec<f64>,
    /// Logarithms of the measured values, row by row.
    known: Vec<Option<f64>>,
    leaves: Vec<Leaf>,
    /// Cells requested and not measured yet, in order.
    waiting: Vec<Node>,
    /// The rectangle to cut once they are measured.
    cutting: Option<(usize, CutDirection, usize)>,
    tolerance: f64,
}

impl Sampler {
    /// A lattice of these ascending sizes, at least two per axis. The sampler stops where the expected error is below `tolerance` (0.1 is
    /// 10 %). `None` for sizes that form no lattice.
    #[must_use]
    pub fn new(columns: &[f64], rows: &[f64], tolerance: f64) -> Option<Self> {
        let usable = |sizes: &[f64]| {
            let ascends = sizes.iter().zip(sizes.iter().skip(1)).all(|(a, b)| a < b);
            ascends && sizes.len() >= 2 && sizes.iter().all(|v| *v > 0.0 && v.is_finite())
        };
        if !usable(columns) || !usable(rows) || tolerance.is_nan() || tolerance <= 0.0 {
            return None;
        }
        let (nx, ny) = (columns.len(), rows.len());
        let (first_x, first_y) = (spread(nx), spread(ny));
        let waiting = first_y.iter().flat_map(|&y| first_x.iter().map(move |&x| (x, y))).collect();
        let leaves = first_y
            .iter()
            .zip(first_y.iter().skip(1))
            .flat_map(|(&bottom, &top)| {
                let pairs = first_x.iter().zip(first_x.iter().skip(1));
                pairs.map(move |(&left, &right)| Leaf::new((left, right), (bottom, top), None))
            })
            .collect();
        let logs = |sizes: &[f64]| sizes.iter().map(|v| v.ln()).collect();
        Some(Self {
            x: logs(columns),
            y: logs(rows),
            known: vec![None; nx * ny],
            leaves,
            waiting,
            cutting: None,
            tolerance: tolerance.ln_1p(),
        })
    }

    /// The cell to measure next; `None` if no rectangle's expected error exceeds the tolerance, or nothing is left. The same cell is
    /// returned until [`Self::tell`] is called for it.
    pub fn next_node(&mut self) -> Option<Node> {
        loop {
            while let Some(&node) = self.waiting.first() {
                if self.value(node).is_none() {
                    return Some(node);
                }
                self.waiting.remove(0);
            }
            if let Some((at, way, middle)) = self.cutting.take() {
                self.cut(at, way, middle);
            }
            let (at, way, middle) = self.worst()?;
            self.waiting = self.leaves.get(at)?.new_nodes(way, middle).to_vec();
            self.cutting = Some((at, way, middle));
        }
    }

    /// Records a measured value. A value without a logarithm is replaced by the predicted one, so that a failed cell is not requested
    /// again and again.
    pub fn tell(&mut self, node: Node, value: f64) {
        let log = if value > 0.0 && value.is_finite() { Some(value.ln()) } else { self.log_at(node) };
        let place = self.place(node);
        if let Some(known) = self.known.get_mut(place) {
            *known = Some(log.unwrap_or(0.0));
        }
    }

    /// The value of a cell, measured or interpolated; `None` before the first cells around it are known.
    #[must_use]
    pub fn at(&self, node: Node) -> Option<f64> {
        self.log_at(node).map(f64::exp)
    }

    /// Whether a cell was measured.
    #[must_use]
    pub fn is_measured(&self, node: Node) -> bool {
        self.value(node).is_some()
    }

    /// Number of measured cells.
    #[must_use]
    pub fn measured(&self) -> usize {
        self.known.iter().flatten().count()
    }

    /// The largest expected relative error (0.1 is 10 %); `None` before any can be estimated.
    #[must_use]
    pub fn expected_error(&self) -> Option<f64> {
        let errors = self.leaves.iter().map(|leaf| self.expected(leaf));
        let all: Option<Vec<f64>> = errors.collect();
        all?.into_iter().reduce(f64::max).map(f64::exp_m1)
    }

    fn place(&self, (x, y): Node) -> usize {
        y * self.x.len() + x
    }

    fn value(&self, node: Node) -> Option<f64> {
        self.known.get(self.place(node)).copied().flatten()
    }

    fn log_at(&self, node: Node) -> Option<f64> {
        let inside = |leaf: &&Leaf| leaf.holds(node);
        self.value(node).or_else(|| self.interpolated(self.leaves.iter().find(inside)?, node))
    }

    /// Bilinear interpolation between the corners of a rectangle.
    fn interpolated(&self, leaf: &Leaf, (x, y): Node) -> Option<f64> {
        let share = |axis: &[f64], (low, high): (usize, usize), at: usize| {
            let (low, high) = (axis.get(low)?, axis.get(high)?);
            Some((axis.get(at)? - low) / (high - low))
        };
        let (s, t) = (share(&self.x, leaf.x, x)?, share(&self.y, leaf.y, y)?);
        let [a, b, c, d] = leaf.corners().map(|corner| self.value(corner));
        Some(a? * (1.0 - s) * (1.0 - t) + b? * s * (1.0 - t) + c? * (1.0 - s) * t + d? * s * t)
    }

    /// Expected error of a rectangle: half of the error that its parent's cut revealed, which is typical for the halves of a knee, plus a
    /// part of the difference of its corners, for what no cut has examined.
    fn expected(&self, leaf: &Leaf) -> Option<f64> {
        const UNSEEN: f64 = 0.25;
        const SEEN: f64 = 0.05;
        let values: Option<Vec<f64>> = leaf.corners().into_iter().map(|c| self.value(c)).collect();
        let values = values?;
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        Some(match leaf.shown {
            Some(shown) => shown / 2.0 + SEEN * (high - low),
            None => UNSEEN * (high - low),
        })
    }

    /// The rectangle to cut, the direction, and the position.
    fn worst(&self) -> Option<(usize, CutDirection, usize)> {
        let candidates = self.leaves.iter().enumerate().filter_map(|(at, leaf)| {
            let error = self.expected(leaf).filter(|e| *e > self.tolerance)?;
            let (way, middle) = self.way(leaf)?;
            Some((error * self.area(leaf), at, way, middle))
        });
        let worst = candidates.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((worst.1, worst.2, worst.3))
    }

    /// Cuts the longer side, or the other one if that side has no inner node. (Cutting the side along which the values change more
    /// follows noise: on measured surfaces the error was up to half as large again.)
    fn way(&self, leaf: &Leaf) -> Option<(CutDirection, usize)> {
        let order = if length(&self.x, leaf.x) >= length(&self.y, leaf.y) {
            [CutDirection::AcrossX, CutDirection::AcrossY]
        } else {
            [CutDirection::AcrossY, CutDirection::AcrossX]
        };
        order.into_iter().find_map(|way| {
            let ((low, high), axis) = match way {
                CutDirection::AcrossX => (leaf.x, &self.x),
                CutDirection::AcrossY => (leaf.y, &self.y),
            };
            Some((way, middle_of(axis, low, high)?))
        })
    }

    /// A rectangle's share of the plane.
    fn area(&self, leaf: &Leaf) -> f64 {
        length(&self.x, leaf.x) * length(&self.y, leaf.y)
    }

    fn cut(&mut self, at: usize, way: CutDirection, middle: usize) {
        let Some(leaf) = self.leaves.get(at).cloned() else { return };
        let shown = leaf.new_nodes(way, middle).into_iter().filter_map(|node| {
            let error = self.value(node)? - self.interpolated(&leaf, node)?;
            Some(error.abs())
        });
        let shown = shown.fold(0.0, f64::max);
        let halves = leaf.halves(way, middle, shown);
        self.leaves.swap_remove(at);
        self.leaves.extend(halves);
    }
}

/// A side of a rectangle, as a share of the axis.
fn length(axis: &[f64], (low, high): (usize, usize)) -> f64 {
    let between = |low: Option<&f64>, high: Option<&f64>| low.zip(high).map_or(0.0, |(low, high)| high - low);
    let whole = between(axis.first(), axis.last());
    if whole > 0.0 { between(axis.get(low), axis.get(high)) / whole } else { 0.0 }
}

/// The initial nodes of an axis: both ends and evenly spaced ones.
fn spread(n: usize) -> Vec<usize> {
    let count = FIRST.min(n);
    (0..count).map(|i| (i * (n - 1) + (count - 1) / 2) / (count - 1)).collect()
}

/// The inner node nearest to the middle of two nodes.
fn middle_of(axis: &[f64], low: usize, high: usize) -> Option<usize> {
    let middle = (axis.get(low)? + axis.get(high)?) / 2.0;
    let distance = |&at: &usize| axis.get(at).map_or(f64::INFINITY, |v| (v - middle).abs());
    (low + 1..high).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests;
