"""Arrivals: requests become jobs in the waiting queue, or are refused because no state of the engine could
hold them.
"""

from itertools import repeat
from typing import Any

from sched.batch import Batch
from sched.job import Job
from sched.model import Door, Outcome, Request
from sched.policies.base import overrides
from sched.record import Recorder
from sched.stops import closed_for_good, shut_to_lower, why_refused, without_tokens
from sched.workload import RequestList

AFTER_ALL = 1 << 80
"""Later than any time: the arrival after the last one."""

_new_tuple = tuple.__new__


class Intake:
    """The requests still to come, in order of arrival. `next_ps` is when the next one comes."""

    def __init__(self, listed: RequestList, batch: Batch, recorder: Recorder) -> None:
        self.listed, self.batch, self.recorder = listed, batch, recorder
        self.arrivals: list[int] = listed.arrival_ps.tolist()
        self.arrivals.append(AFTER_ALL)
        self.outputs: list[int] = listed.output_tokens.tolist()
        classes, tenants = listed.class_names, listed.tenant_names
        self.rows = zip(
            range(len(listed.ids)), listed.ids,
            [classes[index] for index in listed.class_index.tolist()],
            [tenants[index] for index in listed.tenant_index.tolist()],
            listed.priority.tolist(),
            self.arrivals, listed.prompt_tokens.tolist(), listed.ttft_goal_ps.tolist(),
            listed.e2e_goal_ps.tolist(), listed.parents or repeat(""),
            strict=False,
        )  # fmt: skip
        self.route: tuple[list[int], int] | None = None
        """Which replica each request goes to, by ordinal, and which this is; None: all come here."""
        self.is_over = False
        """The horizon has come: nobody is turned away any more."""
        self.next = 0
        self.next_ps = self.arrivals[0]
        self.live: dict[int, Job] = {}
        """Requests whose client may lose patience, or which may be turned away, by ordinal."""
        policy = batch.policy
        self.turns_away = overrides(policy, "turns_away")
        self.keeps_live = bool((listed.timeout_ps >= 0).any()) or self.turns_away
        self.tells = overrides(policy, "arrived")
        self.announces = self.keeps_live or self.tells or batch.fair or batch.pool is not None
        self.reserves = overrides(policy, "keeps_free")
        self.iteration_ps = policy.scene.iteration_ps
        """How long the last iteration took; before any, one of a single decode."""
        machine, aside = batch.machine, batch.aside
        self.answers_are_quoted = any(
            isinstance(name, tuple) for one in listed.segments or () for name, _ in one
        )
        """Growth then changes what the cache holds for those who wait, and so what they need."""
        # A request whose peak is at most this needs no closer look.
        self.surely_fits = machine.kv_blocks - closed_for_good(aside)
        is_picky = self.reserves or policy.pools is not None or overrides(policy, "refuses")
        is_picky = is_picky or bool(without_tokens(machine, aside, len(aside.slices) if aside else 0))
        if is_picky or shut_to_lower(machine, aside) or not machine.enable_chunked_prefill:
            self.surely_fits = -1

    def take(self, now_ps: int) -> None:
        """Whoever has arrived by now joins the queue, or is refused."""
        batch = self.batch
        machine, size = batch.machine, batch.size
        aside = batch.aside
        longest = machine.max_model_len
        while self.next_ps <= now_ps:
            request: Request = _new_tuple(Request, next(self.rows))
            prompt = request[6]
            limit = prompt + self.outputs[self.next]
            self.next += 1
            self.next_ps = self.arrivals[self.next]
            if self.route is not None and self.route[0][self.next - 1] != self.route[1]:
                continue
            if longest and limit > longest:
                limit = longest
            urgent = aside is not None and request[4] <= aside.for_priority
            peak = -(-(limit - 1) // size)
            job = Job(request, limit, peak, -(-prompt // size), urgent)
            if batch.slices:
                job.tier = batch.slices.tier_of(request[4])
            if self.reserves:
                job.keeps_free = batch.policy.keeps_free(request)
            is_unsure = peak > self.surely_fits or prompt < 1 or prompt >= longest > 0
            if is_unsure and (why := why_refused(machine, batch.policy, job)):
                self.recorder.refused_for_good(job, why)
                continue
            if self.turns_away and not self.is_over and self._turns_away(job, now_ps):
                continue
            if self.announces:
                self._announce(job, now_ps)
            batch.enqueue(job)

    def _turns_away(self, job: Job, now_ps: int) -> bool:
        """Whether the policy sheds this request on arrival; it may shed one that waits instead."""
        batch = self.batch
        door = Door(now_ps, batch.iteration_ahead, self.iteration_ps, len(batch.running), batch.work_left())
        shed = batch.policy.turns_away(job.request, job.limit - 1, door)
        if shed is None:
            return False
        if shed == job.ordinal:
            self.recorder.ended(job, Outcome.SHED, job.request[5])
            return True
        waiter = self.live.pop(shed)
        batch.unqueue(waiter)
        batch.policy.ended(waiter.request, waiter.known - waiter.request[6])
        self.recorder.ended(waiter, Outcome.SHED, now_ps)
        return False

    def _announce(self, job: Job, now_ps: int) -> None:
        """Whoever else must know of an arrival: the prefix cache, the clients' patience, fairness among
        tenants.
        """
        batch, tenant = self.batch, job.request.tenant
        if batch.pool:
            content = self._content(job)
            shared = sum(tokens for _, tokens in content[: None if self.answers_are_quoted else -2])
            batch.name_content(job, content, shared)
        if self.keeps_live:
            self.live[job.ordinal] = job
        if self.tells:
            batch.policy.arrived(job.request, now_ps)
        if batch.fair:
            waiting = batch.queue.of_tenant  # type: ignore[union-attr]
            if tenant not in waiting:
                batch.policy.joined(tenant, list(waiting))

    def _content(self, job: Job) -> tuple[tuple[Any, int], ...]:
        """What the request's tokens are: shared segments, its own prompt, its own answer."""
        prompt, runs = job.known, []
        for name, tokens in self.listed.segments[job.ordinal] if self.listed.segments else ():
            runs.append((name, min(tokens, prompt)))
            prompt -= runs[-1][1]
        return (*runs, (("prompt of", job.ordinal), prompt), (("answer of", job.ordinal), job.limit))
