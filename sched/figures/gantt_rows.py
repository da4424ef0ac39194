"""Where each request of a Gantt chart stands: its row by class, and the scale of time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sched.figures.glance import Glance
from sched.figures.side import Side, until_ps
from sched.log import Ints
from sched.model import PS_PER_S

AXIS, GUTTER = 22.0, 96.0
PITCH = (12.6, 6.0, 11.6)
"""Height of a row by look, where there is room."""
SHRINK = ((1, 2.6), (0, 7.5), (1, 1.5), (2, 6.0), (0, 2.6), (2, 2.2))
"""Who gives way first, and down to what."""
STEPS = [step * 10.0**power for power in range(-3, 6) for step in (1, 2, 5)]


@dataclass
class Group:
    """The rows of one class."""

    place: int
    look: int
    members: list[int]
    row: dict[int, int]
    count: int
    pitch: float
    top: float = 0.0


def window(end_ps: int, at_ps: int) -> tuple[float, float]:
    """The stretch of time that is shown, in picoseconds: around the playhead, as on the stage."""
    end = end_ps / PS_PER_S
    length = min(end * 1.02, 26 if end <= 26 else 19)
    low = -0.01 * length
    high = max(end + 0.03 * length, low + length)
    start = max(low, min(at_ps / PS_PER_S - 0.48 * length, high - length))
    return start * PS_PER_S, (start + length) * PS_PER_S


def rows_of(members: Sequence[int], begin: Ints, end: Ints, wanted: int) -> tuple[dict[int, int], int]:
    """Requests in order of arrival go round the rows, so that neighbours in time lie beneath each other."""
    ends = [-(10.0**30)] * min(wanted, len(members))
    row, last = dict[int, int](), -1
    for one in members:
        starts = begin[one]
        free = ((last + k) % len(ends) for k in range(1, len(ends) + 1))
        best = next((k for k in free if ends[k] <= starts), -1)
        if best < 0:
            ends.append(0.0)
            best = len(ends) - 1
        ends[best] = float(end[one])
        row[one] = last = best
    return row, len(ends)


class Gantt:
    """The rows and the scale; `most` is the height that they should not exceed."""

    def __init__(
        self,
        views: Sequence[Glance],
        width: float,
        most: float,
        frame: tuple[float, float] | None = None,
    ) -> None:
        self.views, self.width = views, width
        first = views[0].side
        self.end_ps = max(view.side.end_ps for view in views)
        self.window = window(self.end_ps, views[0].at_ps)
        if frame is not None and frame[0] < frame[1]:
            self.window = frame[0] * PS_PER_S, frame[1] * PS_PER_S
        self.rate = (width - GUTTER) / (self.window[1] - self.window[0])
        ends = np.max([until_ps(view.side.log) for view in views], axis=0) + int(0.004 * first.end_ps)
        self.groups = list[Group]()
        classes = range(len(first.log.requests.class_names))
        for place in sorted(classes, key=lambda one: (first.level_of_class[one], one)):
            members = np.flatnonzero(first.log.requests.class_index == place).tolist()
            if members:
                look = first.role_of_class[place]
                row, many = rows_of(members, first.log.requests.arrival_ps, ends, 1 if look else 9)
                pitch = PITCH[0] if look == 1 and many <= 8 else PITCH[look]
                self.groups.append(Group(place, look, members, row, many, pitch))
        self._squeeze(most - AXIS - 8 * len(self.groups))

    def _squeeze(self, room: float) -> None:
        for look, least in SHRINK:
            over = sum(one.pitch * one.count for one in self.groups) - room
            mine = [one for one in self.groups if one.look == look]
            rows = sum(one.count for one in mine)
            if over > 0 and rows:
                for one in mine:
                    one.pitch = min(one.pitch, max(least, one.pitch - over / rows))
        y = AXIS
        for one in self.groups:
            one.top = y
            one.count = max(1, min(one.count, int((1.6 * room - y) / one.pitch)))
            y += one.count * one.pitch + 8
        self.height = y

    def x(self, ps: float) -> float:
        """Where a time lies."""
        return GUTTER + (ps - self.window[0]) * self.rate

    def y(self, group: Group, request: int) -> float:
        """Where the row of a request begins."""
        return group.top + (group.row[request] % group.count) * group.pitch

    def shown(self, group: Group, side: Side) -> list[int]:
        """Requests of a class that are there during the window."""
        ended, arrival = until_ps(side.log), side.log.requests.arrival_ps
        low, high = self.window
        return [one for one in group.members if arrival[one] <= high and ended[one] >= low]
