//! The language of Filebench on whole files: one test program.

mod wml;
mod wml_round_trip;
