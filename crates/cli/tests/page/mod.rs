//! The page, as a reader opens it: in a browser without a network, on a desk and on a telephone, by day and by night.

mod browser;
mod pages;
