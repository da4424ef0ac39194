"""A run as tables: what `run --out` writes. Times in seconds, memory in blocks, null where there is nothing.

Several policies share the four tables; a first column `policy` then tells their rows apart.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sched.files import write_file
from sched.inversion import CAUSES, Inversion
from sched.log import Ints, Log
from sched.model import NEVER, PS_PER_S, Outcome
from sched.moments import cause_name, moments
from sched.occupancy import ceil_div, groups, held_by_group
from sched.scenario import Scenario
from sched.several import JoinedInversion

NAMES = ("requests", "iterations", "spans", "waits")
Tables = dict[str, Any]
"""Arrow tables by name."""


def tables(log: Log, scenario: Scenario, inversion: Inversion) -> Tables:
    """The four tables of one run: a row a request, a stretch of iterations, a phase, a cause of a wait.

    Of several engines the rows of one come after those of the other; a column `replica` tells them apart.
    """
    if log.replicas and isinstance(inversion, JoinedInversion):
        parts = zip(log.replicas, inversion.parts, strict=True)
        each = [tables(one, scenario, found) for one, found in parts]
        return {name: pa.concat_tables([_of(n, one[name]) for n, one in enumerate(each)]) for name in NAMES}
    made = (
        _requests(log, scenario, inversion),
        _iterations(log, inversion),
        _spans(log, inversion),
        _waits(log, inversion),
    )
    return dict(zip(NAMES, map(pa.table, made), strict=True))


def write(folder: Path, scenario: Scenario, by_policy: Mapping[str, Tables]) -> None:
    """Write scenario.toml and the four Parquet tables into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "scenario.toml", scenario)
    for name in NAMES:
        parts = [_marked(policy, one[name], len(by_policy) > 1) for policy, one in by_policy.items()]
        pq.write_table(pa.concat_tables(parts, promote_options="default"), folder / f"{name}.parquet")


def write_table(folder: Path, name: str, scenario: Scenario, columns: Mapping[str, list[Any]]) -> None:
    """Write scenario.toml and one table of these columns into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "scenario.toml", scenario)
    pq.write_table(pa.table(dict(columns)), folder / f"{name}.parquet")


def _of(replica: int, table: Any) -> Any:
    return table.append_column("replica", pa.array([replica] * len(table), pa.int64()))


def _marked(policy: str, table: Any, is_told: bool) -> Any:
    return table.add_column(0, "policy", pa.array([policy] * len(table), pa.string())) if is_told else table


def _seconds(ps: Ints) -> Any:
    """Picoseconds as seconds, null for NEVER."""
    return pa.array(ps / PS_PER_S, mask=ps == NEVER)


def _texts(names: list[str] | tuple[str, ...], index: Ints) -> Any:
    return pa.array([names[one] for one in index.tolist()], pa.string())


def _requests(log: Log, scenario: Scenario, inversion: Inversion) -> dict[str, Any]:
    listed = log.requests
    by_cause = np.stack([getattr(inversion, f"{name}_ps") for name in CAUSES])
    largest = by_cause.argmax(axis=0).tolist()
    refused, waited = log.outcome == Outcome.REFUSED, inversion.wait_ps > 0
    causes = [
        CAUSES[one] if has_waited else "infeasible" if never_fits else None
        for one, has_waited, never_fits in zip(largest, waited.tolist(), refused.tolist(), strict=True)
    ]
    return {
        "id": pa.array(listed.ids, pa.string()),
        "class": _texts(listed.class_names, listed.class_index),
        "tenant": _texts(listed.tenant_names, listed.tenant_index),
        "priority": listed.priority * scenario.level(1),
        "arrival_s": _seconds(listed.arrival_ps),
        "first_scheduled_s": _seconds(log.first_scheduled_ps),
        "first_token_s": _seconds(log.first_token_ps),
        "finish_s": _seconds(np.where(log.outcome == Outcome.FINISHED, log.ended_ps, NEVER)),
        "prompt": listed.prompt_tokens,
        "output": listed.output_tokens,
        "outcome": _texts([one.name.lower() for one in Outcome], log.outcome),
        "preemptions": log.preemptions,
        "recomputed_tokens": log.recomputed_tokens,
        "wait_s": _seconds(inversion.wait_ps),
        "inversion_s": _seconds(inversion.inversion_ps),
        "cause": pa.array(causes, pa.string()),
    }


def _iterations(log: Log, inversion: Inversion) -> dict[str, Any]:
    """One row a stretch of iterations with the same batch; blocks are those of its first iteration."""
    lines, listed = log.stretches, log.requests
    last = lines.iteration + lines.count - 1
    end_ps = (log.iteration_start_ps + log.iteration_duration_ps)[last]
    own = held_by_group(log, inversion.seen.held, listed.class_index, len(listed.class_names)).blocks
    return {
        "from_s": _seconds(lines.start_ps),
        "to_s": _seconds(end_ps),
        "count": lines.count,
        "prefill_tokens": lines.prefill_tokens,
        "decode_tokens": lines.decode_tokens,
        "running": lines.running,
        "waiting": lines.waiting,
        "kv_used": lines.kv_used,
        **{f"kv_used_{name}": own[row][lines.iteration] for row, name in enumerate(listed.class_names)},
    }


def _spans(log: Log, inversion: Inversion) -> dict[str, Any]:
    """What each request went through, in order of request and time.

    Prefill ends with the iteration of its last piece; decoding begins there, even if it gets no token yet.
    `kv_from` and `kv_to` are the blocks it holds in the first and in the last iteration of a phase.
    """
    held, found, stays = inversion.seen.held, inversion.seen.waits, log.stays
    is_prefill = held.before < stays.known_tokens[held.stay]
    # A phase is a run of pieces of one stay that are all prefill, or all decoding.
    new = held.is_first.copy()
    new[1:] |= is_prefill[1:] != is_prefill[:-1]
    first, last = groups(new)
    start, is_first = held.iteration[first], held.is_first[first]
    prefilled = np.roll(held.iteration[last] + held.count[last], 1)
    start = np.where(is_first, start, prefilled)
    begin_ps = log.iteration_start_ps[start]
    is_last = np.roll(is_first, -1)
    until = np.where(is_last, stays.end_ps[held.stay[last]], np.roll(begin_ps, -1))
    size = log.machine.block_size
    has_token = start == held.iteration[first]
    blocks_from = ceil_div(held.before[first] + held.step[first] * has_token, size)
    blocks_to = ceil_div(held.before[last] + held.step[last] * held.count[last], size)
    # Whoever had all its prompt and got no further token decodes all the same: until its batch ends, say.
    final = held.iteration[last] + held.count[last] - 1
    done_ps = log.iteration_start_ps[final] + log.iteration_duration_ps[final]
    computed = held.before[last] + held.step[last] * held.count[last]
    stay = held.stay[last]
    idle = np.flatnonzero(
        is_last & is_prefill[first] & (computed >= stays.known_tokens[stay]) & (done_ps < stays.end_ps[stay])
    )
    until[idle] = done_ps[idle]
    none = np.zeros(len(found), dtype=np.int64)
    request = np.concatenate((found.request, held.request[first], held.request[first][idle]))
    begin = np.concatenate((found.from_ps, begin_ps, done_ps[idle]))
    end = np.concatenate((found.to_ps, until, stays.end_ps[stay[idle]]))
    phase = np.concatenate(
        (found.is_return, np.where(is_prefill[first], 2, 3), np.full(len(idle), 3, dtype=np.int64))
    )
    order = np.lexsort((begin, request))
    return {
        "request": _texts(log.requests.ids, request[order]),
        "phase": _texts(("waiting", "preempted", "prefill", "decode"), phase[order]),
        "from_s": _seconds(begin[order]),
        "to_s": _seconds(end[order]),
        "kv_from": np.concatenate((none, blocks_from, blocks_to[idle]))[order],
        "kv_to": np.concatenate((none, blocks_to, blocks_to[idle]))[order],
    }


def _waits(log: Log, inversion: Inversion) -> dict[str, Any]:
    """One row a cause of a wait; what it needs, what is free and what it may take are those of its beginning.

    The figures are of the resource that is short, blocks before seats before tokens.
    """
    rows = moments(inversion, whole=True)
    return {
        "request": _texts(log.requests.ids, rows.request),
        "from_s": _seconds(rows.from_ps),
        "to_s": _seconds(rows.to_ps),
        "cause": pa.array([cause_name(code) for code in rows.code.tolist()], pa.string()),
        "needs": rows.needs,
        "free": rows.free,
        "entitled": rows.entitled,
    }
