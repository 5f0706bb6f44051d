//! A published table beside its simulation, to be drawn: cells as pairs, surfaces as maps, the criteria stated beforehand and
//! whether they hold, and which choices were made when.

/// A published table and its simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reproduced {
    /// Title of the publication.
    pub title: String,
    /// Words above all figures: that nothing was measured, and where the values come from.
    pub words: Vec<String>,
    /// Its parts.
    pub parts: Vec<ReproducedPart>,
    /// Criteria stated beforehand.
    pub checks: Vec<Check>,
    /// Degrees of freedom: the choices made.
    pub freedom: Vec<String>,
}

/// A part: pictures and their figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReproducedPart {
    /// Its heading.
    pub heading: String,
    /// Pairs of figures, one unit each.
    pub pairs: Vec<Pairs>,
    /// Surfaces drawn as maps.
    pub maps: Vec<SurfaceMap>,
    /// Tables of figures.
    pub tables: Vec<WordTable>,
    /// Notes below the part.
    pub notes: Vec<String>,
}

/// Published and simulated figures, one row each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// Their title, with the unit.
    pub title: String,
    /// Names of the simulations: one, or two hypotheses.
    pub simulated: Vec<String>,
    /// The rows.
    pub rows: Vec<Pair>,
}

/// A published figure and its simulated values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// What the figure describes.
    pub label: String,
    /// The published value.
    pub published: f64,
    /// The simulated values.
    pub simulated: Vec<f64>,
}

/// A surface as a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMap {
    /// Its title, with the unit.
    pub title: String,
    /// Names of the left and the upper edge.
    pub names: (String, String),
    /// Heads along the left edge.
    pub rows: Vec<String>,
    /// Heads along the upper edge.
    pub columns: Vec<String>,
    /// Row by row: a value and the text in its cell.
    pub cells: Vec<Vec<Option<(f64, String)>>>,
    /// Whether values are errors in percent, around 0; otherwise they are positive.
    pub errors: bool,
    /// The ends of the colour scale; maps with equal ends are comparable.
    pub ends: (f64, f64),
    /// Text beside the scale.
    pub note: String,
}

/// A table of words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordTable {
    /// Text above the table.
    pub caption: String,
    /// Heads of the columns; the first is for the rows' heads.
    pub heads: Vec<String>,
    /// Rows: head and cells.
    pub rows: Vec<(String, Vec<String>)>,
}

/// A criterion with a tolerance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Check {
    /// Whether it holds.
    pub holds: bool,
    /// The criterion.
    pub stated: String,
    /// The result.
    pub found: String,
}

/// Error of a figure in percent of the published one; `None` for a published 0.
#[must_use]
pub fn error_percent(published: f64, simulated: f64) -> Option<f64> {
    (published != 0.0).then(|| (simulated / published - 1.0) * 100.0)
}
