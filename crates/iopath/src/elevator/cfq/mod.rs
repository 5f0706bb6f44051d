//! The three generations of CFQ: [`Cfq1`] (2.6.6: round robin over processes with a sorted insert that does not sort), [`Cfq2`] (2.6.9:
//! the least served process goes first) and [`Cfq3`] (2.6.13 on: time slices, idling for the active process).

mod first;
mod second;
mod slices;

pub use first::Cfq1;
pub use second::Cfq2;
pub use slices::Cfq3;
