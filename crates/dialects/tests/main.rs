//! Tests of Filebench's language on whole files, as one test program.

mod wml;
mod wml_round_trip;
