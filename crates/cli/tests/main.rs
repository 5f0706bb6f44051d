//! The program as a user sees it, by story: one folder or file per subject. A single test program, because each one
//! links all of fathom.

mod compare;
mod doctor;
mod dropin;
mod dropin_filebench;
mod explain;
mod fio;
mod import;
mod instructions;
mod iso;
mod iso_compare;
mod iso_support;
mod measure;
mod mount;
mod page;
mod personalities;
mod safety;
mod simulate;
mod sweep;
mod sysbench;
mod torture;
mod watch;
