"""The engine in time: iterations one by one while anything changes, in one jump while the batch decodes straight.

Time is an integer of picoseconds. SimPy is the clock of the world around the batch; the engine runs ahead of it to the
first iteration boundary at or after the world's next event, and what happened meanwhile comes before the decision there.
"""

import gc
from collections.abc import Generator
from fractions import Fraction
from heapq import heappop
from math import inf, sqrt
from typing import Any

import simpy

from sched.admission import waiting_pass
from sched.batch import Batch, Job
from sched.cost import IterationCost, iteration_cost, machine
from sched.log import Log
from sched.model import NEVER, PS_PER_S, Machine, Outcome, Request, StayEnd
from sched.kv import last_true
from sched.plan import running_pass
from sched.policies import POLICIES
from sched.policies.base import Policy, Scene, kept
from sched.record import Recorder
from sched.scenario import Scenario, known_policies
from sched.workload import RequestList, requests


def simulate(scenario: Scenario, policy: str, request_list: RequestList | None = None) -> Log:
    """Run one policy over the scenario's requests (or over these) and return what happened.

    The same scenario gives the same log, bit for bit. `policy` is a key of POLICIES; its settings are the scenario's,
    or the defaults where the scenario does not list it.
    """
    listed = requests(scenario) if request_list is None else request_list
    resolved = machine(scenario)
    sign = -1 if scenario.urgency == "high_first" else 1
    scene = Scene(
        machine=resolved,
        most_urgent=int(listed.priority.min()) if len(listed.ids) else 0,
        weights=dict(zip(listed.tenant_names, listed.weights, strict=True)),
        sign=sign,
    )
    rules = POLICIES[policy](settings_of(scenario, policy), scene)
    horizon_ps = NEVER
    if scenario.drain_s is not None:
        horizon_ps = int((Fraction(repr(scenario.duration_s)) + Fraction(repr(scenario.drain_s))) * PS_PER_S)
    return run(listed, resolved, iteration_cost(scenario), rules, horizon_ps)


def settings_of(scenario: Scenario, policy: str) -> Any:
    """The policy's settings in this scenario, or their defaults where it is not listed."""
    listed = scenario.policies.get(policy)
    return known_policies()[policy].model() if listed is None else listed


def run(listed: RequestList, resolved: Machine, cost: IterationCost, policy: Policy, horizon_ps: int = NEVER) -> Log:
    """Run a policy over a request list on a machine. Times in picoseconds; NEVER: until all have ended."""
    recorder = Recorder(listed)
    server = Server(listed, resolved, cost, policy, recorder, horizon_ps)
    collecting = gc.isenabled()
    # Nothing here makes reference cycles; the collector would only walk the live requests again and again.
    gc.disable()
    try:
        world = simpy.Environment()
        world.process(server.process(world))
        deadlines = listed.arrival_ps[listed.timeout_ps >= 0] + listed.timeout_ps[listed.timeout_ps >= 0]
        if len(deadlines):
            world.process(_give_up(world, server, listed))
        world.run()
    finally:
        if collecting:
            gc.enable()
    return recorder.finish(server.batch, server.stop_reason, horizon_ps, server.jumps)


def _give_up(world: simpy.Environment, server: "Server", listed: RequestList) -> Generator[simpy.Event, None, None]:
    """Clients that lose patience: each deadline, in order, puts its request into the engine's inbox."""
    patient = (listed.timeout_ps >= 0).nonzero()[0]
    due = sorted((int(listed.arrival_ps[one] + listed.timeout_ps[one]), int(one)) for one in patient)
    for at_ps, ordinal in due:
        if at_ps > world.now:
            yield world.timeout(at_ps - world.now)
        if server.done:
            return
        server.inbox.append(ordinal)


AFTER_ALL = 1 << 80
"""Later than any time: the arrival after the last one."""

new_tuple = tuple.__new__


class Boundary(simpy.Event):
    """The end of an iteration: it comes after everything else that happens at the same instant."""

    def __init__(self, world: simpy.Environment, at_ps: int) -> None:
        super().__init__(world)
        self._ok, self._value = True, None
        world.schedule(self, priority=simpy.events.NORMAL + 1, delay=max(0, at_ps - world.now))  # type: ignore[arg-type]


class Server:
    """One engine: its clock, its arrivals still to come, its batch."""

    def __init__(
        self, listed: RequestList, resolved: Machine, cost: IterationCost, policy: Policy, recorder: Recorder,
        horizon_ps: int,
    ) -> None:  # fmt: skip
        self.machine, self.cost, self.recorder = resolved, cost, recorder
        self.policy = policy
        self.batch = Batch(resolved, policy, recorder)
        self.listed = listed
        self.arrivals: list[int] = listed.arrival_ps.tolist()
        self.arrivals.append(AFTER_ALL)
        self.outputs: list[int] = listed.output_tokens.tolist()
        classes, tenants = listed.class_names, listed.tenant_names
        self.rows = zip(
            range(len(listed.ids)), listed.ids,
            [classes[index] for index in listed.class_index.tolist()],
            [tenants[index] for index in listed.tenant_index.tolist()],
            listed.priority.tolist(), self.arrivals, listed.prompt_tokens.tolist(), listed.ttft_goal_ps.tolist(),
            strict=False,
        )  # fmt: skip
        self.next = 0
        self.next_ps = self.arrivals[0]
        self.horizon_ps: float = inf if horizon_ps == NEVER else horizon_ps
        self.now_ps = 0
        self.iteration = 0
        self.flying = 0
        self.inbox: list[int] = []
        self.live: dict[int, Job] = {}
        self.has_timeouts = bool((listed.timeout_ps >= 0).any())
        self.done = False
        self.stop_reason = ""
        self.jumps = 0
        # Growth then changes what the cache holds for those who wait, and so what they need: no jump past it.
        quoted = any(isinstance(name, tuple) for one in listed.segments or () for name, _ in one)
        self.cache_may_admit = resolved.gate == "peak" or quoted
        aside = policy.set_aside
        self.announces = self.has_timeouts or policy.fair or resolved.enable_prefix_caching
        self.closed_for_good = kept(aside, aside.kv_blocks) if aside else 0
        self.shut_to_lower = aside is not None and (
            kept(aside, aside.seats) >= resolved.max_num_seqs
            or (not aside.lend and aside.tokens >= resolved.max_num_batched_tokens)
        )
        # A request whose peak is at most this needs no closer look at its arrival.
        self.surely_fits = resolved.kv_blocks - self.closed_for_good if resolved.enable_chunked_prefill else -1
        if self.shut_to_lower:
            self.surely_fits = -1

    def process(self, world: simpy.Environment) -> Generator[simpy.Event, None, None]:
        """The engine as a process: ahead to the next thing that the world may do, then wait for it."""
        while not self.done:
            self.advance(world.peek())
            if not self.done:
                yield Boundary(world, self.now_ps)

    def advance(self, until_ps: float) -> None:
        """Run to the first iteration boundary at or after `until_ps`, or to the end."""
        batch = self.batch
        while True:
            if self.inbox:
                self._abort()
            if self.flying:
                self._settle()
            if self.next_ps <= self.now_ps:
                self._ingest()
                if self.inbox:
                    self._abort()
            if self.now_ps >= self.horizon_ps:
                return self._close("")
            if batch.running or batch.waiting:
                batch.iteration, batch.now_ps = self.iteration, self.now_ps
                running_pass(batch)
                if batch.waiting:
                    waiting_pass(batch)
                if batch.pieces:
                    self._step()
                elif batch.straight.count:
                    self._jump(until_ps)
                elif batch.preempted:
                    self._fly(1, self.cost.decode_ps(0), 0, 0, 0)
                elif not self._wait_for_change(until_ps):
                    return None
            elif self.next_ps == AFTER_ALL:
                self.done = True
                return None
            elif self.next_ps < until_ps:
                self.now_ps = self.next_ps
                continue
            else:
                self.now_ps = int(until_ps)
            if self.now_ps >= until_ps:
                return None

    def _ingest(self) -> None:
        """Requests that have arrived by now join the queue, or are refused because they can never fit."""
        batch, resolved, now_ps = self.batch, self.machine, self.now_ps
        aside, size = batch.aside, resolved.block_size
        longest = resolved.max_model_len
        while self.next_ps <= now_ps:
            request: Request = new_tuple(Request, next(self.rows))
            prompt = request[6]
            limit = prompt + self.outputs[self.next]
            self.next += 1
            self.next_ps = self.arrivals[self.next]
            if longest and limit > longest:
                limit = longest
            urgent = aside is not None and request[4] <= aside.for_priority
            peak = -(-(limit - 1) // size)
            job = Job(request, limit, peak, -(-prompt // size), urgent)
            if peak > self.surely_fits or prompt < 1 or prompt >= longest > 0:
                if prompt < 1 or prompt >= longest > 0 or (resolved.refuse_infeasible and self._never_fits(job)):
                    self.recorder.ended(job, Outcome.REFUSED, request[5])
                    continue
            if self.announces:
                self._announce(job)
            batch.enqueue(job)

    def _announce(self, job: Job) -> None:
        """Whoever else must know of an arrival: the prefix cache, the clients' patience, fairness among tenants."""
        batch, tenant = self.batch, job.request.tenant
        if batch.pool:
            batch.name_content(job, self._content(job))
        if self.has_timeouts:
            self.live[job.ordinal] = job
        if batch.fair:
            tenants = batch.queue.tenants()  # type: ignore[union-attr]
            if tenant not in tenants:
                self.policy.joined(tenant, tenants)

    def _never_fits(self, job: Job) -> bool:
        """Whether no state of the engine could ever hold this request to its end."""
        resolved, closed = self.machine, 0 if job.urgent else self.closed_for_good
        if job.peak > resolved.kv_blocks - closed or (self.shut_to_lower and not job.urgent):
            return True
        first = job.known
        if resolved.long_prefill_token_threshold:
            first = min(first, resolved.long_prefill_token_threshold)
        return not resolved.enable_chunked_prefill and first > resolved.max_num_batched_tokens

    def _content(self, job: Job) -> tuple[tuple[Any, int], ...]:
        """What the request's tokens are: shared segments, its own prompt, its own answer."""
        prompt, runs = job.known, []
        for name, tokens in self.listed.segments[job.ordinal] if self.listed.segments else ():
            runs.append((name, min(tokens, prompt)))
            prompt -= runs[-1][1]
        return (*runs, (("prompt of", job.ordinal), prompt), (("answer of", job.ordinal), job.limit))

    def _step(self) -> None:
        """One iteration with prefill chunks, or with decodes that are tracked one by one."""
        batch, cost, iteration = self.batch, self.cost, self.iteration
        chunks = self.recorder.chunks
        straight = batch.straight
        decodes, context = straight.count, straight.count * iteration + straight.offsets
        prefill = squares = prefix = 0
        for job, tokens in batch.pieces:
            before = job.computed
            chunks.extend((job.ordinal, iteration, tokens, before))
            if before >= job.target:
                decodes += 1
                context += before
            else:
                prefill += tokens
                squares += tokens * (before + before + tokens)
                if before > prefix:
                    prefix = before
        if prefill:
            duration = cost.mixed_ps(decodes, prefill, straight.count + len(batch.pieces))
            duration += cost.kv_token_mixed_ps * context + cost.attention_ps * squares // 2 + cost.prefix_ps * prefix
        else:
            duration = cost.decode_ps(decodes) + cost.kv_token_ps * context
        self._fly(1, duration, 0, prefill, decodes)

    def _jump(self, until_ps: float) -> None:
        """As many iterations of straight decoding as nothing can change: to the next finish, shortage or event."""
        batch, iteration, straight = self.batch, self.iteration, self.batch.straight
        finishing = batch.finishing
        while not (finishing[0][2].straight and finishing[0][2].last == finishing[0][0]):
            heappop(finishing)
        last = finishing[0][0]
        if batch.pool and batch.waiting and self.cache_may_admit:
            last = iteration
        if last > iteration:
            if batch.waiting and self.policy.only_loans:
                last = self._loans_stand_until(last)
            if batch.waiting:
                last = min(last, iteration + self._stands_for() - 1)
            last = self._last_that_fits(last)
        count = last - iteration + 1
        first = self.cost.decode_ps(straight.count) + self.cost.kv_token_ps * straight.context(iteration)
        step = self.cost.kv_token_ps * straight.count
        soonest = min(self.next_ps, until_ps, self.horizon_ps)
        if batch.waiting and self.policy.moving:
            changes = batch.queue.stands_until_ps(self.now_ps)  # type: ignore[union-attr]
            soonest = soonest if changes is None else min(soonest, changes)
        if count > 1 and soonest < AFTER_ALL:
            count = iterations_until(int(soonest) - self.now_ps, first, step, count)
        self._fly(count, first, step, 0, straight.count)
        self.jumps += count > 1
        if batch.pool and count > 1:
            self._replay(iteration + 1, count - 1)

    def _last_that_fits(self, last: int) -> int:
        """Last iteration up to which every block that growth needs is there; this one has its blocks."""
        batch, iteration, straight = self.batch, self.iteration, self.batch.straight
        blocks = self.machine.kv_blocks - batch.explicit_held
        if batch.pool:
            blocks = len(batch.pool.free) + straight.held(iteration)
        aside = batch.aside
        if aside is None or not aside.guard_growth:
            return straight.fits_until(iteration, last, blocks)

        def fits(number: int) -> bool:
            urgent = batch.urgent_held + batch.urgent_straight.held(number)
            idle = aside.kv_blocks - (batch.urgent_promised if self.machine.gate == "peak" else urgent)
            return straight.held(number) + kept(aside, max(0, idle)) <= blocks

        return last_true(fits, iteration, last)

    def _loans_stand_until(self, last: int) -> int:
        """Last iteration up to which lower classes borrow nothing more that a waiting urgent request could take back."""
        batch, aside, iteration = self.batch, self.batch.aside, self.iteration
        if not aside or self.machine.gate == "peak" or not batch.queue.head(self.now_ps).urgent:
            return last

        def lent(number: int) -> int:
            lower = batch.straight.held(number) - batch.urgent_straight.held(number)
            return lower + batch.explicit_held - batch.urgent_held - (self.machine.kv_blocks - aside.kv_blocks)

        now = max(0, lent(iteration))
        return last_true(lambda number: lent(number) <= now, iteration, last)

    def _stands_for(self) -> int:
        """Iterations for which the decision at hand would be repeated, as far as the order of the queue goes."""
        batch = self.batch
        if batch.preempted:
            return 1
        if self.policy.fair:
            turns = self.policy.stands_for(batch.queue.tenants(), batch.decoding)  # type: ignore[union-attr]
            if turns is not None:
                return turns
        return 1 << 60

    def _replay(self, iteration: int, count: int) -> None:
        """With prefix caching: the blocks taken and named during a jump, in (iteration, running order)."""
        batch, pool, size = self.batch, self.batch.pool, self.machine.block_size
        assert pool
        events = []
        for place, job in enumerate(batch.running):
            if not job.straight:
                continue
            start = iteration + job.offset
            for wanted in {0, size - 1}:
                first = (wanted - start) % size
                events += [(iteration + turn, place) for turn in range(first, count, size)]
        for turn, place in sorted(set(events)):
            job = batch.running[place]
            batch.grow(pool, job, turn + job.offset, 1)

    def _fly(self, count: int, first_ps: int, step_ps: int, prefill: int, decodes: int) -> None:
        """Let the model run: `count` iterations, each lasting `step_ps` longer than the one before."""
        batch = self.batch
        self.recorder.stretches.extend((
            self.now_ps, self.iteration, count, first_ps, step_ps, prefill, decodes,
            len(batch.running), batch.waiting, batch.used(),
        ))  # fmt: skip
        self.now_ps += count * first_ps + step_ps * (count * (count - 1) // 2)
        self.flying = count
        if self.policy.fair:
            for tenant, straight in batch.decoding.items():
                self.policy.served(tenant, straight * count)
            for job, tokens in batch.pieces:
                if job.computed + tokens == job.known:
                    self.policy.served(job.request[3], 1)

    def _settle(self) -> None:
        """The iterations have ended: tokens are emitted, requests finish and give their blocks back."""
        batch, now_ps = self.batch, self.now_ps
        iteration = self.iteration = self.iteration + self.flying
        self.flying = 0
        ended: list[Job] = []
        for job, tokens in batch.pieces:
            job.computed += tokens
            if job.computed < job.known:
                continue
            job.known += 1
            if job.first_token_ps < 0:
                job.first_token_ps = now_ps
            if job.known >= job.limit:
                ended.append(job)
            else:
                batch.go_straight(job, iteration)
        finishing = batch.finishing
        while finishing and finishing[0][0] < iteration:
            last, _, job = heappop(finishing)
            if job.straight and job.last == last:
                ended.append(job)
        if len(ended) > 1:
            ended.sort(key=lambda job: (job.stay_from == iteration - 1, job.order))
        for job in ended:
            self._finish(job)
        if batch.parked and len(batch.parked) == len(batch.running):
            for job in tuple(batch.running):
                batch.leave(job, StayEnd.FINISHED, iteration, now_ps)
                self.recorder.ended(job, Outcome.FINISHED, now_ps)
                self.live.pop(job.ordinal, None)

    def _finish(self, job: Job) -> None:
        """The request has all its tokens."""
        batch = self.batch
        if not self.policy.streams:
            if job.straight:
                batch.materialise_at(job, self.iteration)
            batch.park(job)
            return
        batch.leave(job, StayEnd.FINISHED, self.iteration, self.now_ps)
        self.recorder.ended(job, Outcome.FINISHED, self.now_ps)
        if self.has_timeouts:
            self.live.pop(job.ordinal, None)

    def _abort(self) -> None:
        """Clients gave up during the iterations just run: their requests leave and the last output is ignored."""
        batch = self.batch
        given_up, self.inbox = self.inbox, []
        for ordinal in given_up:
            job = self.live.pop(ordinal, None)
            if job is None:
                if ordinal >= self.next:
                    self.inbox.append(ordinal)
                continue
            if job in batch.running:
                self._cut_short(job)
            else:
                batch.queue.take(job)
                batch.waiting -= 1
            self.recorder.ended(job, Outcome.TIMED_OUT, self.now_ps)

    def _cut_short(self, job: Job) -> None:
        """Out of the batch in flight: its KV was computed, the token that came of it is ignored."""
        batch, emitted = self.batch, job.straight and self.flying > 0
        for piece in batch.pieces if self.flying else ():
            if piece[0] is job:
                job.computed += piece[1]
                emitted = job.computed == job.known
        batch.pieces = [piece for piece in batch.pieces if piece[0] is not job]
        straight = job.straight
        batch.leave(job, StayEnd.TIMED_OUT, self.iteration + self.flying, self.now_ps)
        job.known -= straight and self.flying > 0
        if emitted and self.policy.fair:
            self.policy.served(job.request.tenant, -1)

    def _wait_for_change(self, until_ps: float) -> bool:
        """Work waits and nothing can run: on to the next event, or stop with the reason."""
        soonest = min(self.next_ps, until_ps, self.horizon_ps)
        if soonest < AFTER_ALL:
            self.now_ps = int(soonest)
            return True
        head = self.batch.queue.head(self.now_ps)
        self._close(
            f"stalled at {self.now_ps / PS_PER_S:g} s: {head.request.id} waits, nothing runs and nothing will arrive "
            f"({self.batch.refusal.name.lower()})"
        )
        return False

    def _close(self, reason: str) -> None:
        """End the run with whoever is left unfinished."""
        batch = self.batch
        for job in tuple(batch.running):
            batch.leave(job, StayEnd.STILL_RUNNING, self.iteration, self.now_ps)
            self.recorder.ended(job, Outcome.UNFINISHED, NEVER)
        for job in batch.queue.in_order(self.now_ps):
            self.recorder.ended(job, Outcome.UNFINISHED, NEVER)
        self.done = True
        self.stop_reason = reason


def iterations_until(gap_ps: int, first_ps: int, step_ps: int, most: int) -> int:
    """Fewest iterations, at most `most`, that together last `gap_ps`: each lasts `step_ps` longer than the last.

    Exact: the root of the quadratic in floating point is only where the search begins.
    """
    if most * first_ps + step_ps * (most * (most - 1) // 2) < gap_ps:
        return most
    if not step_ps:
        return max(1, -(-gap_ps // first_ps)) if first_ps else most
    slope = first_ps - step_ps / 2
    count = max(1, min(most, int((sqrt(slope * slope + 2.0 * step_ps * gap_ps) - slope) / step_ps)))
    while count < most and count * first_ps + step_ps * (count * (count - 1) // 2) < gap_ps:
        count += 1
    while count > 1 and (count - 1) * first_ps + step_ps * ((count - 1) * (count - 2) // 2) >= gap_ps:
        count -= 1
    return count
