//! Exports of a run. (Filled by the next commit.)
