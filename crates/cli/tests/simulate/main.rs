//! Simulating, as a user meets it: `fathom sim`, `fathom reproduce`; the same operations as a real run; and that nobody takes what
//! was simulated for measured.

mod marked;
mod reproduce;
mod same_operations;
mod sweep;
