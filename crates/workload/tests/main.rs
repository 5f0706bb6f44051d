//! The model and its texts: what is documented, what is drawn, what comes back. One test program.

mod documented;
mod op_streams;
mod round_trip;
mod support;
