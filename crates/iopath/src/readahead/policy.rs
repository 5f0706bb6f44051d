//! One enum for all read-ahead policies, so that a caller can choose by name and the hot path has no boxes or virtual calls: a policy,
//! its state of an open file, and its state of a call.

use super::call::{Call, Pages, Touch};
use super::counters::Counters;
use super::hsfs::{self, Hsfs};
use super::io::Io;
use super::modern::{self, Modern};
use super::none::{NoReadAhead, Nothing};
use super::ondemand::{self, OnDemand};
use super::ra24::{self, Ra24};
use super::ra26::{Ra26, Window};
use super::simplified::{self, Simplified};
use crate::tunable::View;

/// The rules of one generation. `touch` leaves its page present.
pub(super) trait PolicyRules {
    type File: Copy;
    type InCall: Copy;

    fn open(&self) -> Self::File;
    fn begin(&self, file: &mut Self::File, call: &Call, counters: &mut Counters) -> Self::InCall;
    /// A page of the call is about to be copied out.
    fn touch<P: Pages>(
        &self,
        file: &mut Self::File,
        now: &mut Self::InCall,
        call: &Call,
        touch: Touch,
        io: &mut Io<'_, P>,
    );
    /// Called at the end of a call.
    fn end(&self, _file: &mut Self::File, _now: Self::InCall, _call: &Call) {}
}

#[derive(Clone, Debug)]
pub(super) enum Inner {
    None(NoReadAhead),
    Ra24(Ra24),
    Ra26(Ra26),
    Simplified(Simplified),
    OnDemand(OnDemand),
    Modern(Modern),
    Hsfs(Hsfs),
}

/// A read-ahead policy with its tunables. Created by [`by_name`](super::by_name).
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) name: &'static str,
    pub(super) inner: Inner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnyFile {
    None(Nothing),
    Ra24(ra24::Ra24File),
    Ra26(Window),
    Simplified(simplified::SimplifiedFile),
    OnDemand(ondemand::OnDemandFile),
    Modern(modern::ModernFile),
    Hsfs(hsfs::HsfsFile),
}

/// A policy's state of an open file: small and copyable. Only valid with the policy that opened it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    file: AnyFile,
    counters: Counters,
}

impl State {
    /// Counters since the file was opened.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnyCall {
    None(Nothing),
    Ra24(ra24::Ra24Call),
    Ra26(Option<Window>),
    Simplified(simplified::SimplifiedCall),
    OnDemand(ondemand::OnDemandCall),
    Modern(modern::ModernCall),
    Hsfs(hsfs::HsfsCall),
}

/// A call in progress. Several may be in progress on one file; each thread keeps its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    call: Call,
    now: AnyCall,
}

/// Evaluates `$body` with the policy and the matching state; with a state of another policy, evaluates to `$other` and leaves the state
/// alone.
macro_rules! matching {
    ($inner:expr, $file:expr, $rules:ident, $state:ident, $variant:ident => $body:expr, $other:expr) => {
        match ($inner, $file) {
            (Inner::None($rules), AnyFile::None($state)) => {
                use AnyCall::None as $variant;
                $body
            }
            (Inner::Ra24($rules), AnyFile::Ra24($state)) => {
                use AnyCall::Ra24 as $variant;
                $body
            }
            (Inner::Ra26($rules), AnyFile::Ra26($state)) => {
                use AnyCall::Ra26 as $variant;
                $body
            }
            (Inner::Simplified($rules), AnyFile::Simplified($state)) => {
                use AnyCall::Simplified as $variant;
                $body
            }
            (Inner::OnDemand($rules), AnyFile::OnDemand($state)) => {
                use AnyCall::OnDemand as $variant;
                $body
            }
            (Inner::Modern($rules), AnyFile::Modern($state)) => {
                use AnyCall::Modern as $variant;
                $body
            }
            (Inner::Hsfs($rules), AnyFile::Hsfs($state)) => {
                use AnyCall::Hsfs as $variant;
                $body
            }
            _ => $other,
        }
    };
}

impl Policy {
    /// Its name in [`NAMES`](super::NAMES).
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The policy's tunables and their values.
    #[must_use]
    pub fn tunables(&self) -> View<'_> {
        match &self.inner {
            Inner::None(_) => View::NONE,
            Inner::Ra24(rules) => rules.tunables.view(),
            Inner::Ra26(rules) => rules.view(),
            Inner::Simplified(rules) => rules.tunables.view(),
            Inner::OnDemand(rules) => rules.tunables.view(),
            Inner::Modern(rules) => rules.tunables.view(),
            Inner::Hsfs(rules) => rules.tunables.view(),
        }
    }

    /// The state of a newly opened file.
    #[must_use]
    pub fn open(&self) -> State {
        let file = match &self.inner {
            Inner::None(rules) => AnyFile::None(rules.open()),
            Inner::Ra24(rules) => AnyFile::Ra24(rules.open()),
            Inner::Ra26(rules) => AnyFile::Ra26(rules.open()),
            Inner::Simplified(rules) => AnyFile::Simplified(rules.open()),
            Inner::OnDemand(rules) => AnyFile::OnDemand(rules.open()),
            Inner::Modern(rules) => AnyFile::Modern(rules.open()),
            Inner::Hsfs(rules) => AnyFile::Hsfs(rules.open()),
        };
        State { file, counters: Counters::default() }
    }

    /// Begins a read(). A state that another policy opened counts as a newly opened file.
    #[must_use]
    pub fn begin_call(&self, state: &mut State, call: Call) -> Reading {
        let State { file, counters } = state;
        let now = matching!(&self.inner, file, rules, file, Now => Some(Now(rules.begin(file, &call, counters))), None);
        match now {
            Some(now) => Reading { call, now },
            None => {
                *state = self.open();
                self.begin_call(state, call)
            }
        }
    }

    /// A page of the call is about to be copied out. Call it for each of [`Call::pages`] in order, with the current state in the cache.
    /// Afterwards the page is present; the caller waits until its data have arrived.
    pub fn touch<P: Pages>(&self, state: &mut State, reading: &mut Reading, touch: Touch, pages: &mut P) {
        let State { file, counters } = state;
        let Reading { call, now } = reading;
        let mut io = Io { pages, counters, file_pages: call.file_pages() };
        matching!(&self.inner, file, rules, file, Now => {
            if let Now(now) = now {
                rules.touch(file, now, call, touch, &mut io);
            }
        }, ());
    }

    /// Ends the call: it has touched its last page, or is aborted.
    pub fn end_call(&self, state: &mut State, reading: Reading) {
        let Reading { call, now } = reading;
        matching!(&self.inner, &mut state.file, rules, file, Now => {
            if let Now(now) = now {
                rules.end(file, now, &call);
            }
        }, ());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NAMES, by_name};
    use super::*;

    #[test]
    fn states_are_small() {
        assert!(size_of::<State>() <= 160, "{}", size_of::<State>());
        assert!(size_of::<Reading>() <= 128, "{}", size_of::<Reading>());
    }

    #[test]
    fn a_state_of_another_policy_is_opened_anew() {
        let call = Call { offset: 0, bytes: 4096, file_bytes: 4096 };
        for (name, _) in NAMES {
            let policy = by_name(name).unwrap();
            let mut state = by_name(if *name == "none" { "ra24" } else { "none" }).unwrap().open();
            let reading = policy.begin_call(&mut state, call);
            policy.end_call(&mut state, reading);
            assert_eq!(std::mem::discriminant(&state.file), std::mem::discriminant(&policy.open().file));
        }
    }
}
