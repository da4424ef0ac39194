"""How a class looks in every picture, story and control: by how urgent the requests are that came."""

import numpy as np

from sched.workload import RequestList


def level_of_class(listed: RequestList) -> list[int]:
    """Urgency of each class among the priorities present, 0 the most urgent: that of its most urgent request.

    A class that sent nothing is beyond all levels.
    """
    levels = np.unique(listed.priority)
    found = [listed.priority[listed.class_index == one] for one in range(len(listed.class_names))]
    return [int(np.searchsorted(levels, rows.min())) if len(rows) else len(levels) for rows in found]


def look_of_class(listed: RequestList) -> list[int]:
    """Look of each class: the most urgent level 0, the least urgent 2, all between 1; else in turn."""
    levels = level_of_class(listed)
    if len(np.unique(listed.priority)) < 2:
        return [(place + 1) % 3 for place in range(len(levels))]
    present = set(listed.class_index.tolist())
    last = max(level for place, level in enumerate(levels) if place in present)
    return [0 if level == 0 else 2 if level >= last else 1 for level in levels]


def looks(listed: RequestList) -> dict[str, int]:
    """The look of each class by its name."""
    return dict(zip(listed.class_names, look_of_class(listed), strict=True))
