"""A run as the browser takes it: affine spans and 32-bit times, from which it computes every iteration.

A packed run is one deflated block: the length of a JSON head, the head, then columns. Whole numbers are
stored as differences modulo 2**32, the bytes of one rank together, because both deflate well; times are
counted in `unit_s`.
"""

import json
import struct
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sched.evidence import Evidence
from sched.figures.engines import drawn, one_engine, spread
from sched.figures.looks import level_of_class
from sched.inversion import Inversion
from sched.log import Log
from sched.model import SetAside
from sched.several import JoinedInversion
from sched.supply import KV, LEGITIMATE, QUANTUM, RESERVED, SEATS, TOKENS

Ints = NDArray[np.int64]
NEVER = 2**32 - 1
FINEST_UNIT_PS = 10**6

CAUSES = ("quantum", "legitimate", "reserved", "kv", "tokens", "seats")
"""Causes of a wait, in the order of their numbers in the payload; kv, tokens and seats are inversions."""
PLACE_OF_CODE = {QUANTUM: 0, LEGITIMATE: 1, RESERVED: 2}
"""The number in the payload of a waiting interval's cause; 3, 4 and 5 are inversions: KV, tokens, seats."""


class Columns:
    """Collects the columns of a packed run. Kinds: u1 bytes, i4 whole numbers, t4 times."""

    def __init__(self, unit_ps: int) -> None:
        self.unit_ps = unit_ps
        self.names: list[tuple[str, str, int]] = []
        self.parts: list[bytes] = []

    def small(self, name: str, values: Ints) -> None:
        """Numbers from 0 to 255."""
        self.names.append((name, "u1", len(values)))
        self.parts.append(values.astype(np.uint8).tobytes())

    def whole(self, name: str, values: Ints) -> None:
        """Whole numbers of at most 31 bits; larger ones are shown as the largest."""
        self._add(name, "i4", np.clip(values, -(2**31), 2**31 - 1))

    def time(self, name: str, ps: Ints) -> None:
        """Times in picoseconds; a negative one never came."""
        self._add(name, "t4", np.where(ps < 0, NEVER, (ps + self.unit_ps // 2) // self.unit_ps))

    def _add(self, name: str, kind: str, values: Ints) -> None:
        steps = np.diff(values, prepend=np.int64(0)).astype("<u4")
        self.names.append((name, kind, len(values)))
        self.parts.append(steps.view(np.uint8).reshape(-1, 4).T.tobytes())


def unit_ps(end_ps: int) -> int:
    """The unit of time that 32 bits can count up to the end: a microsecond, or as many as it takes."""
    return FINEST_UNIT_PS * max(1, -(-end_ps // (FINEST_UNIT_PS * (NEVER - 1))))


def pack_run(log: Log, inversion: Inversion) -> bytes:
    """One run of one policy, compressed; of several engines the one that is drawn."""
    spans, own, rows = inversion.spans, inversion, None
    if log.replicas and isinstance(inversion, JoinedInversion):
        place = drawn(log)
        own, rows = inversion.parts[place], log.rows[place]
        log, spans = one_engine(log, place), spread(own.spans, rows)
    columns = Columns(unit_ps(end_ps(log)))
    _requests(columns, log)
    order = np.lexsort((log.stays.iteration, log.stays.request))
    _stays(columns, log, order)
    _pieces(columns, log, order)
    lines = log.stretches
    columns.time("stretches.start", lines.start_ps)
    columns.whole("stretches.count", lines.count)
    columns.time("stretches.first", lines.first_ps)
    columns.whole("stretches.step", lines.step_ps * 1000 // columns.unit_ps)
    gone = log.preempted
    columns.time("preempted.at", gone.at_ps)
    for name, values in (
        ("victim", gone.victim),
        ("beneficiary", gone.beneficiary),
        ("lost", gone.lost_tokens),
    ):
        columns.whole(f"preempted.{name}", values)
    _asked(columns, own.seen, rows)
    columns.whole("waits.request", spans.request)
    columns.time("waits.from", spans.from_ps)
    columns.time("waits.to", spans.to_ps)
    columns.small("waits.cause", PLACES[spans.code])
    text = json.dumps(_head(log, columns), ensure_ascii=False, separators=(",", ":")).encode()
    return zlib.compress(b"".join([struct.pack("<I", len(text)), text, *columns.parts]), 4)


def _places() -> Ints:
    """Number in the payload by code; of several resources that are short the first is named."""
    found = [PLACE_OF_CODE.get(code) for code in range(max(PLACE_OF_CODE) + 1)]
    short = [
        next((3 + k for k, bit in enumerate((KV, TOKENS, SEATS)) if code & bit), 0)
        for code in range(len(found))
    ]
    return np.array(
        [place if place is not None else short[code] for code, place in enumerate(found)], np.int64
    )


PLACES = _places()


def pack_stage(runs: Iterable[bytes], **head: Any) -> bytes:
    """What the stage is sent: a JSON head with anything else it needs, then the packed runs of A and B."""
    blocks = list(runs)
    text = json.dumps({"sizes": [len(block) for block in blocks], **head}, ensure_ascii=False).encode()
    return b"".join([struct.pack("<I", len(text)), text, *blocks])


def end_ps(log: Log) -> int:
    """Where the replay ends: at the last end, arrival or moment that was simulated."""
    ended = int(log.ended_ps.max()) if len(log.ended_ps) else 0
    arrived = int(log.requests.arrival_ps.max()) if len(log.requests.arrival_ps) else 0
    return max(log.end_ps, ended, arrived, log.horizon_ps, 1)


def _requests(columns: Columns, log: Log) -> None:
    """Per request, in order of arrival; `level` 0 is the most urgent priority present."""
    listed = log.requests
    levels = np.unique(listed.priority)
    columns.time("requests.arrival", listed.arrival_ps)
    numbered = columns.small if len(listed.class_names) <= 256 else columns.whole
    numbered("requests.cls", listed.class_index)
    columns.small("requests.level", np.minimum(np.searchsorted(levels, listed.priority), 255))
    columns.whole("requests.prompt", listed.prompt_tokens)
    columns.whole("requests.output", listed.output_tokens)
    columns.time("requests.first", log.first_token_ps)
    columns.time("requests.ended", log.ended_ps)
    columns.small("requests.outcome", log.outcome)


def _stays(columns: Columns, log: Log, order: Ints) -> None:
    stays = log.stays
    for name, values in (
        ("request", stays.request),
        ("iteration", stays.iteration),
        ("end", stays.end_iteration),
        ("known", stays.known_tokens),
        ("hit", stays.hit_tokens),
        ("seq", stays.seq),
    ):
        columns.whole(f"stays.{name}", values[order])
    columns.time("stays.from", stays.start_ps[order])
    columns.time("stays.to", stays.end_ps[order])
    columns.small("stays.why", stays.end[order])


def _asked(columns: Columns, seen: Evidence, rows: Ints | None) -> None:
    """Every wait with the blocks that the gate asks for, what it has to leave free beside others included."""
    found, log = seen.waits, seen.log
    width, ends = log.iterations + 1, np.searchsorted(log.iteration_start_ps, found.to_ps)
    entered = np.isin(found.request * width + ends, log.stays.request * width + log.stays.iteration)
    columns.whole("asked.request", found.request if rows is None else rows[found.request])
    columns.time("asked.from", found.from_ps)
    columns.time("asked.to", found.to_ps)
    columns.whole("asked.need", seen.need[0])
    columns.small("asked.admitted", entered.astype(np.int64))


def _pieces(columns: Columns, log: Log, order: Ints) -> None:
    """Prefill chunks and straight decoding in one table by stay; neighbours that go on are joined."""
    chunks, runs, stays = log.chunks, log.runs, log.stays
    request = np.concatenate([chunks.request, runs.request])
    iteration = np.concatenate([chunks.iteration, runs.iteration])
    before = np.concatenate([chunks.before, runs.before])
    tokens = np.concatenate([chunks.tokens, np.ones(len(runs.request), np.int64)])
    count = np.concatenate([np.ones(len(chunks.request), np.int64), runs.count])
    width = np.int64(log.iterations + 1)
    stay = (
        np.searchsorted(
            stays.request[order] * width + stays.iteration[order], request * width + iteration, "right"
        )
        - 1
    )
    by_stay = np.lexsort((iteration, stay))
    stay, iteration, before, tokens, count = (
        column[by_stay] for column in (stay, iteration, before, tokens, count)
    )
    goes_on = np.zeros(len(stay), bool)
    if len(stay):
        known = stays.known_tokens[order][stay]
        one = (tokens == 1) & (before >= known)
        goes_on[1:] = (
            one[1:] & one[:-1] & (stay[1:] == stay[:-1]) & (iteration[1:] == iteration[:-1] + count[:-1])
        )
    starts = np.flatnonzero(~goes_on)
    columns.whole("pieces.stay", stay[starts])
    columns.whole("pieces.iteration", iteration[starts])
    columns.whole("pieces.before", before[starts])
    columns.whole("pieces.tokens", tokens[starts])
    columns.whole("pieces.count", np.add.reduceat(count, starts) if len(starts) else count)


def _head(log: Log, columns: Columns) -> dict[str, Any]:
    machine, kept, listed = log.machine, log.set_aside, log.requests
    names = set(listed.class_names)
    plain = all(identity.rpartition("-")[0] in names for identity in listed.ids)
    numbers = [identity.rpartition("-")[2] for identity in listed.ids]
    return {
        "unit_s": columns.unit_ps * 1e-12,
        "end_s": end_ps(log) * 1e-12,
        "policy": log.policy,
        "machine": {
            "kv": machine.kv_blocks,
            "block": machine.block_size,
            "seats": machine.max_num_seqs,
            "budget": machine.max_num_batched_tokens,
            "gate": machine.gate,
            "max_len": machine.max_model_len,
            "water": machine.watermark_blocks,
        },
        "kept": None if kept is None else _kept(listed.priority, kept),
        "classes": list(listed.class_names),
        "levels": level_of_class(listed),
        "ids": None if plain and _are_of_class(listed) else list(listed.ids),
        "numbers": ",".join(numbers) if plain and _are_of_class(listed) else "",
        "columns": columns.names,
    }


def _kept(priority: Ints, kept: SetAside) -> dict[str, Any]:
    """What is set aside; `levels` is how many levels of urgency, the most urgent first, it is kept for."""
    levels = int(np.searchsorted(np.unique(priority), kept.for_priority, "right"))
    return {"kv": kept.kv_blocks, "lend": kept.lend, "share": kept.lend_share, "levels": levels}


def _are_of_class(listed: Any) -> bool:
    names = listed.class_names
    return all(
        identity.startswith(names[index] + "-")
        for identity, index in zip(listed.ids, listed.class_index.tolist(), strict=True)
    )
