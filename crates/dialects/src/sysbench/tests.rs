//! Pure tests of the dialect.
