//! A published table beside what a simulation makes of it, to be drawn: cells as pairs, surfaces as maps, what was stated beforehand and
//! whether it holds, and what was chosen, and when.

/// The whole of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reproduced {
    /// What was published.
    pub title: String,
    /// What stands above all figures: that nothing was measured, and what the values are from.
    pub words: Vec<String>,
    /// Its parts.
    pub parts: Vec<Part>,
    /// What was stated beforehand.
    pub checks: Vec<Check>,
    /// Degrees of freedom.
    pub freedom: Vec<String>,
}

/// A part: pictures, and the figures that are in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Its heading.
    pub heading: String,
    /// Pairs of one unit.
    pub pairs: Vec<Pairs>,
    /// Surfaces.
    pub maps: Vec<Map>,
    /// Its figures.
    pub tables: Vec<Grid>,
    /// What is to be said of it.
    pub notes: Vec<String>,
}

/// Published and simulated figures, a row each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// What they are, with their unit.
    pub title: String,
    /// Who simulated: one, or two hypotheses.
    pub simulated: Vec<String>,
    /// The rows.
    pub rows: Vec<Pair>,
}

/// A figure and what it came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// What it is a figure of.
    pub label: String,
    /// As it was published.
    pub published: f64,
    /// As it was simulated.
    pub simulated: Vec<f64>,
}

/// A surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// What it shows, with its unit.
    pub title: String,
    /// What is along the left and the upper edge.
    pub names: (String, String),
    /// Along the left edge.
    pub rows: Vec<String>,
    /// Along the upper edge.
    pub columns: Vec<String>,
    /// Row by row: a value, and what stands in its cell.
    pub cells: Vec<Vec<Option<(f64, String)>>>,
    /// Whether values are errors in percent, about 0; otherwise they are above 0.
    pub errors: bool,
    /// The ends of the colours; maps with the same ends can be held side by side.
    pub ends: (f64, f64),
    /// What stands beside the scale.
    pub note: String,
}

/// A table of words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// What stands above.
    pub caption: String,
    /// Heads of the columns; the first is that of the rows' heads.
    pub heads: Vec<String>,
    /// Rows.
    pub rows: Vec<(String, Vec<String>)>,
}

/// A tolerance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Check {
    /// Whether it holds.
    pub holds: bool,
    /// What was stated.
    pub stated: String,
    /// What came out.
    pub found: String,
}

/// How far a figure is off, in percent of the published one; `None` of a published 0.
#[must_use]
pub fn error_percent(published: f64, simulated: f64) -> Option<f64> {
    (published != 0.0).then(|| (simulated / published - 1.0) * 100.0)
}
