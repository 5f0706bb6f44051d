//! The program as a user meets it, by story: one folder or file a subject. They are one test program, because each more is linked with
//! everything that fathom is made of.

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
