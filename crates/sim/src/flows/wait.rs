//! Waiting: for another worker (blocks, semaphores), for a time, for the CPU.

use super::hand::{Break, Hand};
use fathom_workload::flow::{Number, Op, PATIENCE_NS, Tried, Wrong};
use std::sync::atomic::Ordering;

/// A stop is seen after at most so long, also by who sleeps.
const NAP_NS: u64 = 20_000_000;
/// A stop is to be seen in a computation of minutes, too.
const LOOK_EVERY_NS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

impl Hand<'_, '_> {
    /// Why not to wait any longer.
    pub(super) fn over(&self) -> Result<(), Break> {
        if self.together.is_over() {
            return Err(Break::Stop);
        }
        if self.machine.now() >= self.deadline_ns {
            return Err(Break::TimeOver);
        }
        // Whoever was to wake it may have ended with the last operation of the phase's amount.
        if self.amount_is_used_up() { Err(Break::Enough) } else { Ok(()) }
    }

    /// Sleeps at a place until woken, not for long, or until a moment at which it will be waited for no more. If everybody is asleep,
    /// that moment is all that can come.
    async fn nap(&self, point: usize, latest_ns: u64) -> Result<(), Break> {
        self.over()?;
        let (stage, machine) = (self.stage, self.machine);
        let latest_ns = latest_ns.min(self.deadline_ns);
        let alone = stage.asleep.get() + 1 >= self.together.alive.get();
        let until_ns = match (alone, latest_ns) {
            (true, u64::MAX) => return Err(Break::Forsaken),
            (true, latest) => latest,
            (false, latest) => latest.min(machine.now() + NAP_NS),
        };
        stage.asleep.set(stage.asleep.get() + 1);
        if stage.lines[point].wait(machine, until_ns).await {
            stage.asleep.set(stage.asleep.get() - 1);
        }
        Ok(())
    }

    /// Waits for a moment.
    pub(super) async fn wait_until(&self, at_ns: u64) -> Result<(), Break> {
        loop {
            self.over()?;
            let now = self.machine.now();
            if now >= at_ns {
                return Ok(());
            }
            self.machine.sleep_until(at_ns.min(self.deadline_ns).min(now + NAP_NS)).await;
        }
    }

    /// Waits to be woken. A waking that came before is not remembered.
    pub(super) async fn block(&mut self, op: &Op) -> Result<(), Break> {
        let from = self.machine.now();
        let at = self.place.first_wait + op.wait;
        let woken = || self.stage.waits[at].woken.load(Ordering::Relaxed);
        let seen = woken();
        while woken() == seen {
            self.nap(at, u64::MAX).await?;
        }
        self.done(op, from, 0).await
    }

    /// Wakes every instance of the target.
    pub(super) async fn wake(&mut self, op: &Op) -> Result<(), Break> {
        for &(point, _) in &op.target_waits {
            let from = self.machine.now();
            self.stage.waits[point].woken.fetch_add(1, Ordering::Relaxed);
            self.stage.wake(self.machine, point);
            self.call().await;
            self.done(op, from, 0).await?;
        }
        Ok(())
    }

    /// Takes `value` from its own semaphore.
    pub(super) async fn semaphore_wait(&mut self, op: &Op) -> Result<(), Break> {
        let from = self.machine.now();
        let value = self.small(op.value);
        let at = self.place.first_wait + op.wait;
        let point = &self.stage.waits[at];
        self.call().await;
        if !self.tell(at, point.take(value)) {
            if point.want(value) {
                self.stage.wake(self.machine, at);
            }
            let outcome = self.until(from, at, || point.take(value)).await;
            point.wanted_no_more();
            outcome?;
        }
        self.done(op, from, 0).await
    }

    /// Gives `value` to every instance of the target.
    pub(super) async fn semaphore_post(&mut self, op: &Op) -> Result<(), Break> {
        let from = self.machine.now();
        let value = self.small(op.value);
        self.call().await;
        for &(at, high_water) in &op.target_waits {
            let point = &self.stage.waits[at];
            let most = op.blocking.then(|| self.thread.numbers.of(high_water));
            if self.tell(at, point.give(value, most)) {
                continue;
            }
            point.offer();
            let outcome = self.until(from, at, || point.give(value, most)).await;
            point.offered_no_more();
            outcome?;
        }
        self.done(op, from, 0).await
    }

    /// Wakes those who wait for what was just taken or given. Whether it was.
    fn tell(&self, point: usize, tried: Tried) -> bool {
        if tried == Tried::Wake {
            self.stage.wake(self.machine, point);
        }
        tried.worked()
    }

    /// Tries until it works, asleep in between.
    async fn until(&self, from_ns: u64, point: usize, works: impl Fn() -> Tried) -> Result<(), Break> {
        loop {
            if self.tell(point, works()) {
                return Ok(());
            }
            let latest_ns = from_ns + PATIENCE_NS + 1;
            self.nap(point, latest_ns).await?;
            if self.machine.now() - from_ns > PATIENCE_NS {
                return Err(Wrong::Patience.into());
            }
        }
    }

    fn small(&mut self, number: Number) -> u32 {
        u32::try_from(self.thread.numbers.of(number)).unwrap_or(u32::MAX)
    }

    /// Sleeps `value` seconds.
    pub(super) async fn delay(&mut self, op: &Op) -> Result<(), Break> {
        let from = self.machine.now();
        let seconds = self.thread.numbers.of(op.value);
        self.wait_until(from.saturating_add(seconds.saturating_mul(NS_PER_S))).await?;
        self.done(op, from, 0).await
    }

    /// Stores a byte `value` times: a nanosecond each.
    pub(super) async fn spin(&mut self, op: &Op) -> Result<(), Break> {
        let from = self.machine.now();
        let mut left_ns = self.thread.numbers.of(op.value);
        while left_ns > 0 {
            let piece_ns = left_ns.min(LOOK_EVERY_NS);
            self.machine.compute(piece_ns).await;
            left_ns -= piece_ns;
            if left_ns > 0 {
                self.over()?;
            }
        }
        self.done(op, from, 0).await
    }
}
