"""The order of a trace: clocks that start again, clocks that lost their hour, and rows out of order."""

from typing import Literal

from sched.fields import ScenarioError
from sched.model import PS_PER_S
from sched.parts import LONGEST_S
from sched.trace_bytes import Table

Clock = Literal["relative", "wall", "absolute"]
"""A relative clock counts from the start of the trace; a wall clock has lost its date."""

HOUR_PS = 3600 * PS_PER_S
FEWEST_FOR_RESTART = 20
"""In fewer rows than this a step back is disorder, not a clock that started again."""


def in_order(
    moments: list[int], clock: Clock, table: Table, rows: list[int], assumed: list[str]
) -> tuple[list[int], list[int]]:
    """Moments on one clock, and the places in order of arrival, equal times in file order.

    A relative clock that falls back to its start a few times is several segments, which follow each other:
    sorting them together would overlay their loads. A wall clock without its date passes the full hour or
    midnight. Anything else out of order is sorted, and how many were late is said.
    """
    backward = [place for place in range(1, len(moments)) if moments[place] < moments[place - 1]]
    if backward and clock == "wall":
        moments = _carried_over(moments)
    restarts = _restarts(moments, backward) if backward and clock == "relative" else []
    if restarts:
        moments = _joined(moments, restarts)
        lines = ", ".join(str(table.lines[rows[place]]) for place in restarts[:5])
        count = len(restarts) + 1
        assumed.append(
            f"the clock starts again at line {lines}: {count} segments, played one after the other"
        )
    order = sorted(range(len(moments)), key=moments.__getitem__)
    latest, late = moments[0], 0
    for moment in moments:
        late += moment < latest
        latest = max(latest, moment)
    if late:
        assumed.append(f"{late:,} of {len(moments):,} records were out of order and have been sorted")
    return moments, order


def _carried_over(moments: list[int]) -> list[int]:
    """A clock without its hour (or its day) goes on rising when it passes the full hour (or midnight)."""
    turn = HOUR_PS if max(moments) < HOUR_PS else 24 * HOUR_PS
    carried, passed, before = [], 0, moments[0]
    for moment in moments:
        if before - moment > turn // 2:
            passed += turn
        elif moment - before > turn // 2 and passed:
            passed -= turn
        carried.append(moment + passed)
        before = moment
    return carried


def _restarts(moments: list[int], backward: list[int]) -> list[int]:
    """Places where a clock started again; empty when its steps back look like disorder."""
    if len(moments) < FEWEST_FOR_RESTART:
        return []
    low, high = moments[0], moments[0]
    found: list[int] = []
    steps = set(backward)
    for place, moment in enumerate(moments):
        if place in steps and moments[place - 1] - moment > (high - low) / 2:
            found.append(place)
            low = high = moment
        low, high = min(low, moment), max(high, moment)
    few = max(1, len(moments) // 50)
    return found if len(found) <= few and len(backward) - len(found) <= few else []


def _joined(moments: list[int], restarts: list[int]) -> list[int]:
    """Each segment begins one mean gap after the end of the one before it."""
    joined: list[int] = []
    ends = [*restarts, len(moments)]
    begin, at = 0, 0
    for end in ends:
        piece = moments[begin:end]
        low, high = min(piece), max(piece)
        joined += [at + moment - low for moment in piece]
        at += (high - low) + (high - low) // max(1, len(piece) - 1)
        begin = end
    return joined


def within_bounds(
    moments: list[int], found: Table, rows: list[int], order: list[int], name: str, assumed: list[str]
) -> list[int]:
    """Moments from 0 on, within the longest run: a lone gap of more than a day is cut to a day, in words."""
    first = moments[0]
    moments = [moment - first for moment in moments]
    longest, day = LONGEST_S * PS_PER_S, 86400 * PS_PER_S
    if moments[-1] <= longest:
        return moments
    cut = 0
    shortened = [0]
    for place in range(1, len(moments)):
        gap = moments[place] - moments[place - 1]
        if gap > day:
            cut += 1
            if cut <= 3:
                days, line = f"{gap / day:,.0f} days", found.lines[rows[order[place]]]
                assumed.append(f"the gap of {days} before line {line} is cut to one day; is the unit right?")
            gap = day
        shortened.append(shortened[-1] + gap)
    if shortened[-1] > longest:
        raise ScenarioError(
            f"{name}: spans {moments[-1] / day:,.0f} days: a run is at most {LONGEST_S // 86400}; give its "
            "unit if it was guessed wrong, or set trace.limit or trace.speed",
            "trace",
        )
    return shortened
