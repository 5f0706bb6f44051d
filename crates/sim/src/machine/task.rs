//! Tasks of the simulated machine: threads, the journal's and the flusher's. Each is a future that runs until it has to wait and is
//! polled again when an event says so. There is no waker, because whatever ends a wait knows the task's number.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A task's index in the executor's table.
pub(crate) type TaskNumber = u32;

pub(crate) type TaskFuture<'m> = Pin<Box<dyn Future<Output = ()> + 'm>>;

/// Waits until an event for this task comes. The creator must ensure that exactly one will.
pub(crate) struct Park(bool);

impl Park {
    pub fn new() -> Self {
        Self(false)
    }
}

impl Future for Park {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}
