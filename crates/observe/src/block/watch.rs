//! One phase's watching. Started, it costs the caller nothing until it is stopped; then all that happened before the call is handed
//! on, and what it cost and lost is told.

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

/// Where events go. Called on the observer's own thread, in the order of time.
pub trait Sink: Send + 'static {
    /// An event, as the kernel told it, and for whom it was.
    fn event(&mut self, event: &BlockEvent, who: &Who);
}

impl<F: FnMut(&BlockEvent, &Who) + Send + 'static> Sink for F {
    fn event(&mut self, event: &BlockEvent, who: &Who) {
        self(event, who);
    }
}

/// A watch that runs. Dropped without [`Watch::stop`] it ends, too, and what it saw is lost.
pub struct Watch<S: Sink> {
    instance: Arc<Inner>,
    thread: Option<JoinHandle<Result<Ended<S>, WatchError>>>,
    /// Dropped to end the thread.
    stop: Option<PipeWriter>,
    started_ns: u64,
}

/// What a watch comes to.
#[derive(Debug)]
pub struct Taken<S> {
    /// The sink, with what it made of the events.
    pub sink: S,
    /// Events that were handed on.
    pub events: u64,
    /// Events that the rings had no room for. Above 0 no count is a total.
    pub lost: u64,
    /// CPU time of the observer's thread, the sink's included, ns.
    pub observer_cpu_ns: u64,
    /// CLOCK_MONOTONIC when events began to be kept, ns.
    pub started_ns: u64,
    /// And when that ended.
    pub stopped_ns: u64,
    /// Room of the ring of each CPU, KiB.
    pub ring_kib: u64,
    /// What limits the figures, in sentences.
    pub notes: Vec<String>,
}

impl<S: Sink> Watch<S> {
    /// Begins to watch. `expected_iops` sizes the rings: 0 if nothing is known. With the devices and the detail of the watch before,
    /// this takes well below 1 ms; else some ms.
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
        // From here on the rings are taken; whatever fails, dropping gives them back.
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

    /// CLOCK_MONOTONIC when events began to be kept, ns.
    #[must_use]
    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// Ends it. All that happened before the call has been handed to the sink when this returns, 2 or 3 ms later. The trace points
    /// stay on for the next watch, see [`Instance::rest`].
    pub fn stop(mut self) -> Result<Taken<S>, WatchError> {
        let silenced = self.instance.record(false);
        let stopped_ns = monotonic_ns();
        drop(self.stop.take());
        let thread = self.thread.take().ok_or_else(|| WatchError::Thread("was never started".into()))?;
        let ended =
            thread.join().unwrap_or_else(|_| Err(WatchError::Thread("failed: its sink panicked".into())))?;
        silenced?;
        Ok(Taken {
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
