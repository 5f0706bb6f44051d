//! Simulating as a user sees it: `fathom sim`, `fathom reproduce`; the same operations as a real run; and simulated
//! results are never mistaken for measured ones.

mod agree;
mod backends;
mod both;
mod calibrate;
mod calibrate_recorded;
mod disc;
mod fio;
mod flows;
mod marked;
mod refused;
mod replay;
mod reproduce;
mod same_bytes;
mod same_operations;
mod sweep;
mod values;
