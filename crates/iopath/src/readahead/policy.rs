//! One type for all read-ahead policies, so that a caller chooses by name and the hot path has neither boxes nor virtual calls: a policy,
//! the state of an open file under it, and the state of a call.

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

/// What a generation of rules has to answer. `touch` leaves its page present.
pub(super) trait Rules {
    /// State of an open file.
    type File: Copy;
    /// State of a call.
    type InCall: Copy;

    /// A file is opened.
    fn open(&self) -> Self::File;
    /// A call begins.
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
    /// The call ends.
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

/// A read-ahead policy with its tunables. Made by [`by_name`](super::by_name).
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) name: &'static str,
    pub(super) inner: Inner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum File {
    None(Nothing),
    Ra24(ra24::File),
    Ra26(Window),
    Simplified(simplified::File),
    OnDemand(ondemand::File),
    Modern(modern::File),
    Hsfs(hsfs::File),
}

/// What a policy remembers of an open file: small, copied freely. Of use only with the policy that opened it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    file: File,
    counters: Counters,
}

impl State {
    /// What was counted since the file was opened.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InCall {
    None(Nothing),
    Ra24(ra24::InCall),
    Ra26(Option<Window>),
    Simplified(simplified::InCall),
    OnDemand(ondemand::InCall),
    Modern(modern::InCall),
    Hsfs(hsfs::InCall),
}

/// A call that is going on. Several may go on at once on one file; each thread keeps its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    call: Call,
    now: InCall,
}

/// Calls `$body` with the policy and the matching state; a state of another policy is left alone and gives `$other`.
macro_rules! matching {
    ($inner:expr, $file:expr, $rules:ident, $state:ident, $variant:ident => $body:expr, $other:expr) => {
        match ($inner, $file) {
            (Inner::None($rules), File::None($state)) => {
                use InCall::None as $variant;
                $body
            }
            (Inner::Ra24($rules), File::Ra24($state)) => {
                use InCall::Ra24 as $variant;
                $body
            }
            (Inner::Ra26($rules), File::Ra26($state)) => {
                use InCall::Ra26 as $variant;
                $body
            }
            (Inner::Simplified($rules), File::Simplified($state)) => {
                use InCall::Simplified as $variant;
                $body
            }
            (Inner::OnDemand($rules), File::OnDemand($state)) => {
                use InCall::OnDemand as $variant;
                $body
            }
            (Inner::Modern($rules), File::Modern($state)) => {
                use InCall::Modern as $variant;
                $body
            }
            (Inner::Hsfs($rules), File::Hsfs($state)) => {
                use InCall::Hsfs as $variant;
                $body
            }
            _ => $other,
        }
    };
}

impl Policy {
    /// The name it goes by in [`NAMES`](super::NAMES).
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its tunables and their values.
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

    /// The state of a file that was just opened.
    #[must_use]
    pub fn open(&self) -> State {
        let file = match &self.inner {
            Inner::None(rules) => File::None(rules.open()),
            Inner::Ra24(rules) => File::Ra24(rules.open()),
            Inner::Ra26(rules) => File::Ra26(rules.open()),
            Inner::Simplified(rules) => File::Simplified(rules.open()),
            Inner::OnDemand(rules) => File::OnDemand(rules.open()),
            Inner::Modern(rules) => File::Modern(rules.open()),
            Inner::Hsfs(rules) => File::Hsfs(rules.open()),
        };
        State { file, counters: Counters::default() }
    }

    /// A read() begins. A state that another policy opened counts as a file just opened.
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

    /// A page of the call is about to be copied out; to be called for each of [`Call::pages`] in their order, with what the cache
    /// says at that moment. Afterwards the page is present; whoever touched it waits until its data are there.
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

    /// The call ends: it has touched its last page, or gives up.
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
