"""Large requests cut into pieces before a run: each piece has a part of the prompt and the whole answer."""

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from sched.checks import MOST_REQUESTS
from sched.fields import refuse
from sched.model import Machine
from sched.workload import RequestList, Segments


def pieces_of(
    listed: RequestList, machine: Machine, level: int, per_request: int, prefix: int = 0
) -> RequestList:
    """The list with every request less urgent than `level` and larger than `per_request` tokens cut up.

    The pieces are `id/1`, `id/2`, ...: even parts of the prompt, the first ones longer by a token, behind
    `prefix` tokens of instructions each. What is too large by its answer alone stays whole. A piece has all
    that was promised to the whole; nothing of attention across pieces is left.
    Raises ScenarioError when a piece would have the id of another request.
    """
    counts = [_count(listed, row, machine, level, per_request, prefix) for row in range(len(listed))]
    if all(count == 1 for count in counts):
        return listed
    if sum(counts) > MOST_REQUESTS:
        refuse(f"makes {sum(counts):,} pieces: must be at most {MOST_REQUESTS:,}; raise per_request", "split")
    prompts: list[int] = []
    ids: list[str] = []
    parents: list[str] = []
    segments: list[Segments] = []
    for row, (name, prompt, count) in enumerate(
        zip(listed.ids, listed.prompt_tokens.tolist(), counts, strict=True)
    ):
        is_cut, own = count > 1, listed.segments[row] if listed.segments else ()
        ahead = prefix if is_cut else 0
        parts = [prompt // count + (number < prompt % count) for number in range(count)]
        prompts += [part + ahead for part in parts]
        ids += [f"{name}/{number}" for number in range(1, count + 1)] if is_cut else [name]
        parents += [name if is_cut else ""] * count
        segments += [
            tuple(_named(own, start, end, ahead)) for start, end in pairwise(accumulate(parts, initial=0))
        ]
    if len(set(ids)) < len(ids):
        twice = next(
            name for name, parent in zip(ids, parents, strict=True) if parent and ids.count(name) > 1
        )
        refuse(f"requests: the id {twice} is that of a piece of another request too")
    columns: dict[str, Any] = {
        one.name: np.repeat(getattr(listed, one.name), counts)
        for one in fields(listed)
        if isinstance(getattr(listed, one.name), np.ndarray)
    }
    columns["prompt_tokens"] = np.array(prompts, np.int64)
    for column in columns.values():
        column.flags.writeable = False
    return replace(
        listed, ids=tuple(ids), parents=tuple(parents), segments=tuple(segments) if any(segments) else None,
        **columns,
    )  # fmt: skip


def _count(listed: RequestList, row: int, machine: Machine, level: int, per_request: int, prefix: int) -> int:
    """Pieces that a request is cut into; 1: none."""
    prompt, output = int(listed.prompt_tokens[row]), int(listed.output_tokens[row])
    room = per_request - output + 1 - prefix
    is_large = machine.tokens_of_life(prompt, output) > per_request
    return -(-prompt // room) if is_large and room > 0 and listed.priority[row] > level else 1


def _named(segments: Segments, start: int, end: int, prefix: int) -> Iterator[tuple[str, int]]:
    """What of a prompt's named segments is in the part from `start` to `end`, behind the instructions.

    Instructions in front are everybody's; the rest of a segment that began in an earlier piece has a name of
    its own.
    """
    if prefix:
        yield ("instructions of a piece", prefix)
    at = 0
    for name, tokens in segments:
        first, last = max(at, start), min(at + tokens, end)
        if first < last:
            yield name if first == at else f"{name} from {first - at}", last - first
        at += tokens
