"""Arrivals: requests become jobs in the waiting queue, or are refused because no state of the engine could
hold them.
"""

from typing import Any

from sched.batch import Batch
from sched.job import Job
from sched.model import Outcome, Request
from sched.record import Recorder
from sched.stops import closed_for_good, shut_to_lower, why_never
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
            strict=False,
        )  # fmt: skip
        self.next = 0
        self.next_ps = self.arrivals[0]
        self.live: dict[int, Job] = {}
        """Requests whose client may lose patience, by ordinal."""
        self.has_timeouts = bool((listed.timeout_ps >= 0).any())
        self.announces = self.has_timeouts or batch.fair or batch.pool is not None
        machine, aside = batch.machine, batch.aside
        self.answers_are_quoted = any(
            isinstance(name, tuple) for one in listed.segments or () for name, _ in one
        )
        """Growth then changes what the cache holds for those who wait, and so what they need."""
        # A request whose peak is at most this needs no closer look.
        self.surely_fits = machine.kv_blocks - closed_for_good(aside)
        if shut_to_lower(machine, aside) or not machine.enable_chunked_prefill:
            self.surely_fits = -1

    def take(self, now_ps: int) -> None:
        """Whoever has arrived by now joins the queue, or is refused."""
        batch = self.batch
        machine, aside, size = batch.machine, batch.aside, batch.size
        longest = machine.max_model_len
        while self.next_ps <= now_ps:
            request: Request = _new_tuple(Request, next(self.rows))
            prompt = request[6]
            limit = prompt + self.outputs[self.next]
            self.next += 1
            self.next_ps = self.arrivals[self.next]
            if longest and limit > longest:
                limit = longest
            urgent = aside is not None and request[4] <= aside.for_priority
            peak = -(-(limit - 1) // size)
            job = Job(request, limit, peak, -(-prompt // size), urgent)
            if (peak > self.surely_fits or prompt < 1 or prompt >= longest > 0) and self._refuses(job):
                self.recorder.ended(job, Outcome.REFUSED, request[5])
                continue
            if self.announces:
                self._announce(job)
            batch.enqueue(job)

    def _refuses(self, job: Job) -> bool:
        """Whether the request is empty, too long for the model, or could never be held to its end."""
        return bool(why_never(self.batch.machine, self.batch.aside, job.urgent, job.known, job.limit))

    def _announce(self, job: Job) -> None:
        """Whoever else must know of an arrival: the prefix cache, the clients' patience, fairness among
        tenants.
        """
        batch, tenant = self.batch, job.request.tenant
        if batch.pool:
            content = self._content(job)
            shared = sum(tokens for _, tokens in content[: None if self.answers_are_quoted else -2])
            batch.name_content(job, content, shared)
        if self.has_timeouts:
            self.live[job.ordinal] = job
        if batch.fair:
            tenants = batch.queue.tenants()  # type: ignore[union-attr]
            if tenant not in tenants:
                batch.policy.joined(tenant, tenants)

    def _content(self, job: Job) -> tuple[tuple[Any, int], ...]:
        """What the request's tokens are: shared segments, its own prompt, its own answer."""
        prompt, runs = job.known, []
        for name, tokens in self.listed.segments[job.ordinal] if self.listed.segments else ():
            runs.append((name, min(tokens, prompt)))
            prompt -= runs[-1][1]
        return (*runs, (("prompt of", job.ordinal), prompt), (("answer of", job.ordinal), job.limit))
