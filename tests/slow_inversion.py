"""Why requests waited and who is to blame, the slow and obvious way: one request, one iteration at a time."""

from collections import defaultdict
from fractions import Fraction
from typing import Any

from sched import POLICIES
from sched.log import Log
from sched.model import Standing, StayEnd
from sched.waits import as_seen, has_static_rank

CAPS = ("kv", "tokens", "seats")


def batch_by_iteration(log: Log) -> list[dict[int, dict[str, Any]]]:
    """For each iteration: who is in the batch, since when, with how many blocks and tokens."""
    machine, listed = log.machine, log.requests
    given: dict[tuple[int, int], tuple[int, int]] = {}
    for request, iteration, tokens, before in zip(
        *(getattr(log.chunks, name).tolist() for name in ("request", "iteration", "tokens", "before")),
        strict=True,
    ):
        given[request, iteration] = (before, tokens)
    for request, iteration, before, count in zip(
        *(getattr(log.runs, name).tolist() for name in ("request", "iteration", "before", "count")),
        strict=True,
    ):
        for step in range(count):
            given[request, iteration + step] = (before + step, 1)
    batches: list[dict[int, dict[str, Any]]] = [{} for _ in range(log.iterations)]
    stays = log.stays
    for row in range(len(stays.request)):
        request, blocks = int(stays.request[row]), 0
        total = int(listed.prompt_tokens[request] + listed.output_tokens[request])
        peak = min(total, machine.max_model_len or total) - 1
        for iteration in range(int(stays.iteration[row]), int(stays.end_iteration[row])):
            before, tokens = given.get((request, iteration), (None, 0))
            if before is not None:
                blocks = machine.blocks(before + tokens)
            batches[iteration][request] = {
                "since": int(stays.start_ps[row]),
                "priority": int(listed.priority[request]),
                "kv": machine.blocks(peak) if machine.gate == "peak" else blocks,
                "tokens": tokens,
                "seats": 1,
            }
    return batches


Wait = tuple[int, int, int, int, int, int]
"""Request, from, to, known tokens, number of its preemption or 0, tokens of it that wait on the host."""


def waits_of(log: Log) -> list[Wait]:
    """Every wait of every request. There is no prefix cache, so what a stay begins with was on the host."""
    found: list[Wait] = []
    for request in range(len(log.requests.ids)):
        mine = [row for row in range(len(log.stays.request)) if log.stays.request[row] == request]
        mine.sort(key=lambda row: int(log.stays.iteration[row]))
        since, preempted = int(log.requests.arrival_ps[request]), 0
        for row in mine:
            kept, known = int(log.stays.hit_tokens[row]), int(log.stays.known_tokens[row])
            known += kept >= known
            found.append((request, since, int(log.stays.start_ps[row]), known, preempted, kept))
            since = int(log.stays.end_ps[row])
            preempted = 1 + max(
                (
                    number
                    for number, (victim, at) in enumerate(
                        zip(log.preempted.victim.tolist(), log.preempted.at_ps.tolist(), strict=True)
                    )
                    if victim == request and at <= since
                ),
                default=-1,
            )
        if log.outcome[request] == 1:
            continue
        if not mine or log.stays.end[mine[-1]] in (StayEnd.OUTGROWN, StayEnd.DISPLACED):
            known = int(log.requests.prompt_tokens[request] + log.emitted_tokens[request])
            end = int(log.ended_ps[request])
            if end < 0:
                end = log.horizon_ps if log.horizon_ps >= 0 else log.end_ps
            found.append((request, since, end, known, preempted, 0))
    return [wait for wait in found if wait[2] > wait[1]]


class Slow:
    """Causes by request, and blame by (waiting request, culprit, kind), as fractions of picoseconds."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.batches = batch_by_iteration(log)
        self.waits = waits_of(log)
        self.causes: dict[int, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        self.blame: dict[tuple[int, int, str], Fraction] = defaultdict(Fraction)
        starts, lengths = log.iteration_start_ps.tolist(), log.iteration_duration_ps.tolist()
        for wait in self.waits:
            request, since, until, _, _, _ = wait
            covered = 0
            for iteration, (start, length) in enumerate(zip(starts, lengths, strict=True)):
                begin, end = max(start, since), min(start + length, until)
                if begin >= end:
                    continue
                covered += end - begin
                if start < since:
                    self.causes[request]["quantum"] += end - begin
                else:
                    self.classify(wait, iteration, start, end - begin)
            # What is left passed while the engine stood idle: nobody held anything, so a rule kept it out.
            self.causes[request]["reserved"] += until - since - covered

    def order(self, wait: Wait) -> tuple[Any, ...]:
        listed, request, rules = self.log.requests, wait[0], self.log.rules
        key = (int(listed.arrival_ps[request]), request)
        if POLICIES[self.log.policy].requeue_at_front:
            return (-wait[4], *key)
        if POLICIES[self.log.policy].arrival_order or POLICIES[self.log.policy].fair:
            return key
        if rules is not None and has_static_rank(rules):
            first = (request, int(listed.arrival_ps[request]))
            returns = [other for other in self.waits if other[0] == request and other[1] <= wait[1]]
            returns = [other for other in returns if (other[0], other[1]) != first]
            emitted = wait[3] - int(listed.prompt_tokens[request])
            standing = Standing(wait[1], wait[1], emitted, preemptions=len(returns))
            return tuple(rules.rank(as_seen(listed, request), standing))
        return (int(listed.priority[request]), int(listed.arrival_ps[request]), listed.ids[request])

    def need(self, wait: Wait) -> dict[str, int]:
        machine, listed = self.log.machine, self.log.requests
        known = min(wait[3], machine.max_model_len or wait[3])
        longest = machine.long_prefill_token_threshold or known
        missing = wait[3] - wait[5]
        blocks = machine.blocks(known)
        if machine.gate == "first_chunk":
            piece = min(missing, longest)
            if machine.enable_chunked_prefill:
                piece = min(piece, machine.max_num_batched_tokens)
            blocks = machine.blocks(min(known, wait[5] + piece))
        if machine.gate == "peak":
            total = int(listed.prompt_tokens[wait[0]] + listed.output_tokens[wait[0]])
            blocks = machine.blocks(min(total, machine.max_model_len or total) - 1)
        return {
            "kv": blocks,
            "tokens": 1 if machine.enable_chunked_prefill else min(missing, longest),
            "seats": 1,
        }

    def kept(
        self, at: int, priority: int, batch: dict[int, dict[str, Any]], free: dict[str, int]
    ) -> dict[str, int]:
        """Idle reserve that this priority may not take at a moment."""
        aside = self.log.set_aside
        for since, later in self.log.asides:
            aside = later if since <= at else aside
        if aside is None or priority <= aside.for_priority:
            return dict.fromkeys(CAPS, 0)
        share = Fraction(repr(aside.lend_share)) if aside.lend else Fraction(0)
        amount = {"kv": aside.kv_blocks, "tokens": 0 if aside.lend else aside.tokens, "seats": aside.seats}
        found = {}
        for name in CAPS:
            urgent = sum(one[name] for one in batch.values() if one["priority"] <= aside.for_priority)
            idle = max(0, amount[name] - urgent)
            found[name] = min(idle - int(idle * share + Fraction(1, 2)), max(0, free[name]))
        return found

    def classify(self, wait: Wait, iteration: int, at: int, length: int) -> None:
        machine, batch, request = self.log.machine, self.batches[iteration], wait[0]
        most = (machine.kv_blocks, machine.max_num_batched_tokens, machine.max_num_seqs)
        capacity = dict(zip(CAPS, most, strict=True))
        priority, need = int(self.log.requests.priority[request]), self.need(wait)
        high = [one for one in batch.values() if one["priority"] <= priority]
        low = {who: one for who, one in batch.items() if one["priority"] > priority}
        ahead = [
            self.need(other)
            for other in self.waits
            if other[1] <= at < other[2]
            and other != wait
            and self.log.requests.priority[other[0]] <= priority
            and self.order(other) < self.order(wait)
        ]
        water = {"kv": machine.watermark_blocks, "tokens": 0, "seats": 0}
        total = {name: need[name] + sum(one[name] for one in high + ahead) for name in CAPS}
        if any(total[name] + (water[name] if high else 0) > capacity[name] for name in CAPS):
            self.causes[request]["legitimate"] += length
            return
        free = {name: capacity[name] - sum(one[name] for one in batch.values()) for name in CAPS}
        kept = self.kept(at, priority, batch, free)
        if batch:
            free = {name: free[name] - water[name] for name in CAPS}
        if all(need[name] <= free[name] for name in CAPS):
            self.causes[request]["reserved"] += length
            return
        short = {name: need[name] - free[name] + kept[name] for name in CAPS}
        bind = [name for name in CAPS if short[name] > 0]
        weight = {name: Fraction(short[name], capacity[name]) for name in bind}
        for name in bind:
            part = length * weight[name] / sum(weight.values())
            units = sum(one[name] for one in low.values()) + kept[name]
            self.causes[request]["reserved"] += part * kept[name] / units
            for who, one in low.items():
                self.causes[request][name] += part * one[name] / units
                self.accuse(wait, who, one, name, at, part * one[name] / units)

    def accuse(self, wait: Any, who: int, one: dict[str, Any], name: str, at: int, share: Fraction) -> None:
        request, since = wait[0], wait[1]
        if one["since"] >= since:
            self.blame[request, who, "bypass"] += share
        elif name == "seats" or (name == "kv" and self.log.machine.gate == "peak"):
            self.blame[request, who, "direct"] += share
        elif name == "tokens":
            self.blame[request, who, "growth" if at > since else "direct"] += share
        else:
            starts = self.log.iteration_start_ps.tolist()
            last = max(i for i, start in enumerate(starts) if start <= since)
            before = self.batches[last][who]["kv"]
            self.blame[request, who, "direct"] += share * before / one["kv"]
            self.blame[request, who, "growth"] += share * (one["kv"] - before) / one["kv"]
