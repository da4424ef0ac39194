"""The first column of Compare: a policy's figure on every seed as a small picture."""

from statistics import fmean

from sched.experiments import Comparison
from sched.page.cards import seconds
from sched.page.compare_cells import Cell, Column, short
from sched.page.compare_choices import Chosen
from sched.page.language import tr


def dots(found: Comparison, what: Chosen, goal_s: float | None, spoken: str) -> Column:
    """A picture of every seed and their mean, on an axis that all rows share."""
    heading = tr("{name}, {figure}", name=short(what.name), figure=spoken)
    if goal_s is not None:
        heading = tr(
            "{name}, {figure} (tick: goal {time})", name=short(what.name), figure=spoken, time=seconds(goal_s)
        )

    def cell(policy: str) -> Cell:
        values = [one for one in found.values(policy, what.metric, what.name) if one is not None]
        if not values:
            return Cell("–", dot={"values": [], "mean": None, "met": None})
        mid = fmean(values)
        met = None if goal_s is None else mid <= goal_s
        words = tr(
            "mean {mid}, {low} to {high}",
            mid=seconds(mid),
            low=seconds(min(values)),
            high=seconds(max(values)),
        )
        if met is not None:
            words += ", " + (tr("meets the goal") if met else tr("misses the goal"))
        return Cell(words, dot={"values": values, "mean": mid, "met": met})

    return Column("dots", heading, f"{what.name}, {spoken}", (), cell, is_sortable=False)
