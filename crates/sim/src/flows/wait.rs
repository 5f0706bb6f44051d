//! Waiting: for another worker (blocks, semaphores), for a time, for the CPU.

use super::runner::{Break, FlowRunner};
use super::state::Want;
use fathom_workload::flow::{FlatOp, Number, PATIENCE_NS, Tried, Wrong};

/// Longest delay until a stop is noticed, also by sleeping workers.
const NAP_NS: u64 = 20_000_000;
/// Check interval in long computations, so that a stop is noticed.
const LOOK_EVERY_NS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

impl FlowRunner<'_, '_> {
    /// Whether to stop waiting. The warm-up ends for waiting workers too.
    pub(super) fn over(&mut self) -> Result<(), Break> {
        self.look(self.machine.now())?;
        // The worker that was to wake it may have ended with the last operation of the phase's amount.
        if self.amount_is_used_up() { Err(Break::Enough) } else { Ok(()) }
    }

    /// Waits at a point until it is given what it wants, at most until `latest_ns`.
    async fn stand(&mut self, at: usize, wants: Want, latest_ns: u64) -> Result<(), Break> {
        let (state, machine) = (self.state, self.machine);
        let line = &state.lines[at];
        line.enter(machine, wants);
        state.asleep.set(state.asleep.get() + 1);
        // It may have become available since.
        state.hand_over(machine, at);
        let mut outcome = Ok(());
        while line.holds(machine) && outcome.is_ok() {
            outcome = self.nap(at, latest_ns).await;
        }
        if line.leave(machine) {
            state.asleep.set(state.asleep.get() - 1);
            match wants {
                Want::Waking => {}
                Want::Take(_) => state.waits[at].wanted_no_more(),
                Want::Give(..) => state.waits[at].offered_no_more(),
            }
        }
        outcome
    }

    /// Sleeps for a while at a point where it is queued. If all workers are asleep, only the timeout can still happen.
    async fn nap(&mut self, at: usize, latest_ns: u64) -> Result<(), Break> {
        self.over()?;
        let (state, machine) = (self.state, self.machine);
        if machine.now() >= latest_ns {
            return Err(Wrong::Patience.into());
        }
        let latest_ns = latest_ns.min(self.latest_ns());
        let alone = state.asleep.get() >= self.together.alive.get();
        let until_ns = match (alone, latest_ns) {
            (true, u64::MAX) => return Err(Break::Deadlocked),
            (true, latest) => latest,
            (false, latest) => latest.min(machine.now() + NAP_NS),
        };
        state.lines[at].sleep(machine, until_ns).await;
        Ok(())
    }

    /// Waits until `at_ns`.
    pub(super) async fn wait_until(&mut self, at_ns: u64) -> Result<(), Break> {
        loop {
            self.over()?;
            let now = self.machine.now();
            if now >= at_ns {
                return Ok(());
            }
            self.machine.sleep_until(at_ns.min(self.deadline_ns).min(now + NAP_NS)).await;
        }
    }

    /// Waits to be woken. An earlier wake-up is not remembered.
    pub(super) async fn block(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.machine.now();
        self.stand(self.place.first_wait + op.wait, Want::Waking, u64::MAX).await?;
        self.done(op, from, 0).await
    }

    /// Wakes every instance of the target.
    pub(super) async fn wake(&mut self, op: &FlatOp) -> Result<(), Break> {
        for &(point, _) in &op.target_waits {
            let from = self.machine.now();
            self.state.wake(self.machine, point);
            self.call().await;
            self.done(op, from, 0).await?;
        }
        Ok(())
    }

    /// Takes `value` from its own semaphore.
    pub(super) async fn semaphore_wait(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.machine.now();
        let value = self.small(op.value);
        let at = self.place.first_wait + op.wait;
        let point = &self.state.waits[at];
        self.call().await;
        if !self.tell(at, point.take(value)) {
            point.want(value);
            self.stand(at, Want::Take(value), from + PATIENCE_NS + 1).await?;
        }
        self.done(op, from, 0).await
    }

    /// Gives `value` to every instance of the target.
    pub(super) async fn semaphore_post(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.machine.now();
        let value = self.small(op.value);
        self.call().await;
        for &(at, high_water) in &op.target_waits {
            let point = &self.state.waits[at];
            let most = op.blocking.then(|| self.thread.numbers.of(high_water));
            if self.tell(at, point.give(value, most)) {
                continue;
            }
            point.offer();
            self.stand(at, Want::Give(value, most), from + PATIENCE_NS + 1).await?;
        }
        self.done(op, from, 0).await
    }

    /// After a take or give: serves the waiting tasks. Returns whether it succeeded.
    fn tell(&self, at: usize, tried: Tried) -> bool {
        if tried == Tried::Wake {
            self.state.hand_over(self.machine, at);
        }
        tried.worked()
    }

    fn small(&mut self, number: Number) -> u32 {
        u32::try_from(self.thread.numbers.of(number)).unwrap_or(u32::MAX)
    }

    /// Sleeps `value` seconds.
    pub(super) async fn delay(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.machine.now();
        let seconds = self.thread.numbers.of(op.value);
        self.wait_until(from.saturating_add(seconds.saturating_mul(NS_PER_S))).await?;
        self.done(op, from, 0).await
    }

    /// Stores a byte `value` times, a nanosecond each.
    pub(super) async fn spin(&mut self, op: &FlatOp) -> Result<(), Break> {
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
