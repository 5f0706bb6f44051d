//! Read-ahead: which pages of a file are read before they are requested. One module per generation of the rules, from linux 2.4 to
//! today's, plus the Solaris High Sierra file system's. The simulator and the ISO 9660 file system call a policy for each page that a
//! read() walks over; they report whether it is cached, and the policy requests reads through [`Pages`].
//!
//! ```
//! use fathom_iopath::readahead::{self, Call, Kind, Mark, Pages, Presence, Touch};
//!
//! /// A cache that keeps everything and reads at once.
//! struct Cache(std::collections::BTreeMap<u64, Option<Mark>>, Vec<u32>);
//! impl Pages for Cache {
//!     fn present(&self, page: u64) -> bool {
//!         self.0.contains_key(&page)
//!     }
//!     fn read(&mut self, first: u64, pages: u32, mark: Option<Mark>, _kind: Kind) {
//!         self.1.push(pages);
//!         self.0.extend((first..first + u64::from(pages)).map(|p| (p, mark.filter(|m| m.page == p))));
//!     }
//!     fn unmark(&mut self, mark: Mark) {
//!         self.0.insert(mark.page, None);
//!     }
//! }
//!
//! let policy = readahead::by_name("modern,max=32")?;
//! let mut file = policy.open();
//! let mut cache = Cache(Default::default(), Vec::new());
//! for page in 0..60 {
//!     let call = Call { offset: page * 4096, bytes: 4096, file_bytes: 1 << 20 };
//!     let mut reading = policy.begin_call(&mut file, call);
//!     for page in call.pages() {
//!         let presence = if cache.present(page) { Presence::Cached } else { Presence::Absent };
//!         let touch = Touch { page, presence, mark: cache.0.get(&page).copied().flatten() };
//!         policy.touch(&mut file, &mut reading, touch, &mut cache);
//!     }
//!     policy.end_call(&mut file, reading);
//! }
//! // What linux 6.18 does: 16, 32, 16, 32, 32, 64, 64, 128 KiB.
//! assert_eq!(cache.1[..8], [4, 8, 4, 8, 8, 16, 16, 32]);
//! # Ok::<(), fathom_iopath::readahead::PolicyNameError>(())
//! ```
//!
//! | Name | Whose |
//! |---|---|
//! | `none` | a page is read when it is missing |
//! | `ra24` | linux 2.4 |
//! | `ra26-shared` | linux 2.6.1 to 2.6.6: the threads of an open file undo each other's window |
//! | `ra26-private` | the patch of May 2004: a read() works on its own copy of the state |
//! | `ra26-seeky` | linux 2.6.7 to 2.6.9 |
//! | `ra-simplified` | linux 2.6.10 to 2.6.22 |
//! | `ra-ondemand` | linux 2.6.31 to 5.15 |
//! | `modern` | linux 6.12 and later, with large folios; checked against traces of 6.18 |
//! | `hsfs` | the Solaris High Sierra file system after its rework of 2007 |

mod call;
mod counters;
mod hsfs;
mod io;
mod modern;
mod name;
mod none;
mod ondemand;
mod policy;
mod ra24;
mod ra26;
mod simplified;
mod window;

#[cfg(test)]
mod kernel_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod testing;

pub use call::{Call, Kind, Mark, PAGE_BYTES, Pages, Presence, Touch};
pub use counters::Counters;
pub use name::{NAMES, PolicyNameError, by_name};
pub use policy::{Policy, Reading, State};
