//! Tests of the policies as a whole, in one test program: against kernel traces, against the documentation, and invariants.

mod agreement;
mod elevators_page;
mod every_elevator;
mod no_allocation;
mod sweep;
