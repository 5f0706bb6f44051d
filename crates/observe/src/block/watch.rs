//! Watches one phase. A running watch costs the caller nothing until it is stopped. Stopping delivers all events up to the call, and
//! reports the cost and the losses.

use super::devices::Watched;
use super::error::WatchError;
use super::instance::{Inner, Instance};
use super::kernel_events::Detail;
use super::origin::{Origins, Who};
use super::own::OwnTasks;
use super::reader::{Ended, Reader, RingCounters, monotonic_ns};
use fathom_record::block::BlockEvent;
use std::io::PipeWriter;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Receives the events in time order, on the observer's thread.
pub trait Sink: Send + 'static {
    /// An event as the kernel reported it, and the task it belongs to.
    fn event(&mut self, event: &BlockEvent, who: &Who);
}

impl<F: FnMut(&BlockEvent, &Who) + Send + 'static> Sink for F {
    fn event(&mut self, event: &BlockEvent, who: &Who) {
        self(event, who);
    }
}

/// A running watch. Dropping it without [`Watch::stop`] ends it and discards its events.
pub struct Watch<S: Sink> {
    instance: Arc<Inner>,
    thread: Option<JoinHandle<Result<Ended<S>, WatchError>>>,
    /// Dropped to end the thread.
    stop: Option<PipeWriter>,
    started_ns: u64,
}

/// Result of a watch.
#[derive(Debug)]
pub struct WatchResult<S> {
    /// The sink with the state it built from the events.
    pub sink: S,
    /// Events passed on.
    pub events: u64,
    /// Events lost to full rings. If above 0, no count is a total.
    pub lost: u64,
    /// CPU time of the observer's thread including the sink, ns.
    pub observer_cpu_ns: u64,
    /// CLOCK_MONOTONIC at the start of recording, ns.
    pub started_ns: u64,
    /// CLOCK_MONOTONIC at the end of recording, ns.
    pub stopped_ns: u64,
    /// Ring size per CPU, KiB.
    pub ring_kib: u64,
    /// Sentences on what limits the figures.
    pub notes: Vec<String>,
}

impl<S: Sink> Watch<S> {
    /// Starts a watch. `expected_iops` sizes the rings; 0 if unknown. With the devices and detail of the previous watch this takes well
    /// below 1 ms, otherwise some ms.
    ///
    /// A process forked while a watch runs holds the rings open; the instance can be removed only when it has ended.
    pub fn start(
        instance: &Instance,
        devices: &[Watched],
        detail: Detail,
        expected_iops: u64,
        sink: S,
    ) -> Result<Self, WatchError> {
        let inner = instance.inner.clone();
        let (rings, decoder) = inner.arrange(devices, detail, expected_iops)?;
        // From here on the rings are taken; if anything fails, the drop releases them.
        let mut watch = Self { instance: inner, thread: None, stop: None, started_ns: 0 };
        let before = rings.iter().map(RingCounters::of).collect::<Result<_, _>>()?;
        let (stopped, stop) = std::io::pipe().map_err(WatchError::io("a pipe"))?;
        let origins = Origins::new(OwnTasks::new(), devices, detail);
        let page = watch.instance.page;
        let reader = Reader { rings, page, decoder, origins, sink, stop: stopped, before };
        let thread = std::thread::Builder::new().name("block-events".into()).spawn(move || reader.run());
        watch.thread = Some(thread.map_err(|e| WatchError::Thread(format!("could not be started: {e}")))?);
        watch.stop = Some(stop);
        watch.started_ns = monotonic_ns();
        watch.instance.record(true)?;
        Ok(watch)
    }

    /// CLOCK_MONOTONIC at the start of recording, ns.
    #[must_use]
    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// Stops the watch. Every event before the call has reached the sink when this returns, 1 or 2 ms later. The trace points stay
    /// enabled for the next watch, see [`Instance::rest`].
    pub fn stop(mut self) -> Result<WatchResult<S>, WatchError> {
        let silenced = self.instance.record(false);
        let stopped_ns = monotonic_ns();
        drop(self.stop.take());
        let thread = self.thread.take().ok_or_else(|| WatchError::Thread("was never started".into()))?;
        let ended =
            thread.join().unwrap_or_else(|_| Err(WatchError::Thread("failed: its sink panicked".into())))?;
        silenced?;
        Ok(WatchResult {
            sink: ended.sink,
            events: ended.events,
            lost: ended.lost,
            observer_cpu_ns: ended.cpu_ns,
            started_ns: self.started_ns,
            stopped_ns,
            ring_kib: self.instance.ring_kib(),
            notes: ended.notes,
        })
    }
}

impl<S: Sink> Drop for Watch<S> {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = self.instance.record(false);
            let _ = thread.join();
        }
        self.instance.free();
    }
}

impl<S: Sink> std::fmt::Debug for Watch<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("started_ns", &self.started_ns).finish_non_exhaustive()
    }
}
