//! The policies as a whole: held to what kernels chose, to their page, and to what holds for every one of them. One test program.

mod agreement;
mod elevators_page;
mod every_elevator;
mod no_allocation;
mod sweep;
