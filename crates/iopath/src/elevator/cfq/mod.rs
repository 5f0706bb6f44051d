//! CFQ in its three generations: [`Cfq1`] (2.6.6: round robin over processes with a sorted insert that does not sort), [`Cfq2`] (2.6.9:
//! the process that was served least goes first) and [`Cfq3`] (2.6.13 on: time slices, idling for the process whose turn it is).

mod first;
mod second;
mod slices;

pub use first::Cfq1;
pub use second::Cfq2;
pub use slices::Cfq3;
