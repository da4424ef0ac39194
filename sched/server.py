"""One engine in time: iterations one by one while anything changes, in one jump while the batch decodes
straight.
"""

from heapq import heappop
from math import inf

from sched.admission import opens_ps, waiting_pass
from sched.choosing import StepQueue
from sched.course import Course
from sched.foresight import raise_ratio
from sched.horizon import LONGEST_PS, STOPPED
from sched.intake import AFTER_ALL
from sched.jump import decision_stands_until, iterations_until, last_that_fits, replay
from sched.ledger import Ledger
from sched.pace import iteration_of_pieces
from sched.plan import running_pass
from sched.queues import RankQueue, ScanQueue
from sched.stops import goes_round, stalled


class Server(Course):
    """Decides, iteration by iteration, and jumps where nothing can change."""

    def advance(self, until_ps: float) -> None:
        """Run to the first iteration boundary at or after `until_ps`, or to the end."""
        batch, intake = self.batch, self.intake
        while True:
            if self.inbox:
                self._abort()
            if self.flying:
                self._settle()
            if batch.ledger and batch.ledger.turning:
                self._turn(batch.ledger)
            if intake.next_ps <= self.now_ps:
                batch.iteration_ahead, intake.is_over = self.iteration, self.now_ps >= self.horizon_ps
                intake.take(self.now_ps)
                if self.inbox:
                    self._abort()
            if self.policy.next_ps is not None and self.policy.next_ps <= self.now_ps:
                self._tick()
            if self.now_ps >= self.horizon_ps:
                return self._close("")
            if self.now_ps >= LONGEST_PS and (batch.running or batch.waiting):
                return self._close(STOPPED)
            if self.stuck is not None and self._is_still_stuck():
                # What woke the engine concerned a request that had ended: nothing has changed.
                if not self._wait_for_change(until_ps):
                    return None
            elif batch.running or batch.waiting:
                self.stuck = None
                batch.iteration, batch.now_ps = self.iteration, self.now_ps
                if batch.preempted and intake.next_ps == AFTER_ALL and until_ps == inf:
                    reason = goes_round(batch)
                    if reason:
                        return self._close(reason)
                running_pass(batch)
                if batch.foresees and batch.preempted:
                    raise_ratio(batch)
                if batch.waiting:
                    waiting_pass(batch)
                if batch.pieces:
                    self._step()
                elif batch.straight.count:
                    self._jump(until_ps)
                elif batch.preempted:
                    self._fly(1, self.cost.decode_ps(0) + self._moving_ps(), 0, 0, 0)
                elif not self._wait_for_change(until_ps):
                    return None
            elif intake.next_ps == AFTER_ALL:
                self.done = True
                return None
            elif intake.next_ps < until_ps:
                self.now_ps = intake.next_ps
                continue
            else:
                self.now_ps = int(until_ps)
            if self.now_ps >= until_ps:
                return None

    def _step(self) -> None:
        """One iteration with prefill chunks, or with decodes that are tracked one by one."""
        duration, prefill, decodes = iteration_of_pieces(self.batch, self.cost, self.recorder.chunks)
        if self.batch.moved_tokens:
            duration += self._moving_ps()
        self._fly(1, duration, 0, prefill, decodes)

    def _moving_ps(self) -> int:
        """What moving preempted tokens to the host and back adds to this iteration."""
        return self.cost.swap_token_ps * self.batch.moved_tokens

    def _is_still_stuck(self) -> bool:
        """Whether nothing has changed since the engine found that nothing could run."""
        batch = self.batch
        same = self.stuck == (self.intake.next, batch.waiting)
        return same and self.now_ps < opens_ps(batch, AFTER_ALL)

    def _turn(self, ledger: Ledger) -> None:
        """Running requests whose standing changes by their time in the batch."""
        due = ledger.due(self.now_ps)
        if due:
            self.batch.iteration, self.batch.now_ps = self.iteration, self.now_ps
            for job in due:
                self.policy.turned(job.request, self.now_ps)
                ledger.plan_turn(job, self.now_ps)
            self.batch.resort(due)

    def _tick(self) -> None:
        """The policy's timer is due."""
        batch, policy, aside = self.batch, self.policy, self.batch.aside
        batch.iteration, batch.now_ps = self.iteration, self.now_ps
        policy.tick(self.now_ps)
        if isinstance(batch.queue, RankQueue | ScanQueue | StepQueue):
            batch.queue.rerank()
        if policy.set_aside is not aside:
            batch.aside = policy.set_aside
            self.recorder.asides.append((self.now_ps, batch.aside))
        due = policy.next_ps
        assert due is None or due > self.now_ps, f"{policy.key}: next_ps = {due} is not after {self.now_ps}"
        batch.resort(list(batch.running))
        if batch.ledger and batch.ledger.turns:
            for job in batch.running:
                batch.ledger.plan_turn(job, self.now_ps)

    def _jump(self, until_ps: float) -> None:
        """As many iterations of straight decoding as nothing can change: to the next finish, shortage or
        event.
        """
        batch, iteration, straight, cost = self.batch, self.iteration, self.batch.straight, self.cost
        finishing = batch.finishing
        while not (finishing[0][2].straight and finishing[0][2].last == finishing[0][0]):
            heappop(finishing)
        last = finishing[0][0]
        first = cost.decode_ps(straight.count) + cost.kv_token_ps * (
            straight.count * iteration + straight.offsets
        )
        step = cost.kv_token_ps * straight.count
        if last > iteration:
            soonest = min(self.intake.next_ps, until_ps, self.horizon_ps, LONGEST_PS)
            if self.policy.next_ps is not None:
                soonest = min(soonest, self.policy.next_ps)
            if batch.ledger and batch.ledger.turning:
                turn = batch.ledger.next_turn_ps()
                soonest = soonest if turn is None else min(soonest, turn)
            if batch.waiting:
                last = decision_stands_until(batch, last, self.cache_may_admit)
                if self.policy.moving:
                    changes = batch.queue.stands_until_ps(self.now_ps)  # type: ignore[union-attr]
                    soonest = soonest if changes is None else min(soonest, changes)
            count = min(last - iteration + 1, self.longest_jump)
            if count > 1:
                count = iterations_until(int(soonest) - self.now_ps, first, step, count)
            # A decoder takes at most a block every `size` iterations and one more: often enough to know.
            growth = straight.count * (count // batch.size + 1)
            if count > 1 and (growth > batch.kv_blocks - batch.used() or not batch.plain):
                count = last_that_fits(batch, iteration + count - 1) - iteration + 1
        else:
            count = 1
        if batch.moved_tokens:
            first += self._moving_ps()
        self._fly(count, first, step, 0, straight.count)
        if count > 1:
            self.jumps += 1
            if batch.pool:
                replay(batch, iteration + 1, count - 1)

    def _wait_for_change(self, until_ps: float) -> bool:
        """Work waits and nothing can run: on to the next event, or stop with the reason."""
        batch, soonest = self.batch, min(self.intake.next_ps, until_ps, self.horizon_ps)
        if self.policy.closed_batch and not batch.running and (opens := opens_ps(batch)) > self.now_ps:
            soonest = min(soonest, opens)
        self.stuck = (self.intake.next, batch.waiting)
        if soonest < AFTER_ALL:
            self.now_ps = min(int(soonest), LONGEST_PS)
            return True
        self._close(stalled(batch, self.now_ps))
        return False
