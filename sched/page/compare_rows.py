"""The columns of Compare: in each the same figure of all policies, and what it means."""

from collections.abc import Callable
from statistics import fmean

from sched.advice import THROUGHPUT
from sched.experiments import Comparison
from sched.intervals import mean_of
from sched.measures import METRICS
from sched.page.cards import rate, seconds
from sched.page.compare_cells import (
    Cell,
    Column,
    between,
    few,
    number,
    relative,
    share,
    short,
    signed,
    signed_seconds,
    sure,
)
from sched.page.compare_choices import Chosen, family_names
from sched.page.compare_dots import dots
from sched.page.language import tr
from sched.view import MOST_CLASSES

NOT_SERVED = METRICS["not_served"]


def _plain(
    found: Comparison,
    key: str,
    heading: str,
    help: str,
    metric: str,
    name: str,
    write: Callable[[float | None], str],
) -> Column:
    """A column with the mean of a figure over the seeds."""

    def cell(policy: str) -> Cell:
        value = mean_of(found.values(policy, metric, name))
        return Cell(write(value), order=value, numbers=(value,))

    return Column(key, heading, help, (f"{name}.{metric} mean" if name else f"{metric} mean",), cell)


def columns(found: Comparison, what: Chosen, goal_s: float | None) -> list[Column]:
    """All columns, from left to right."""
    spoken = f"{family_names()[what.family]} {what.part}"
    said = tr("mean over the seeds")
    listed = [dots(found, what, goal_s, spoken), _mean(found, what, spoken)]
    listed += [] if goal_s is None else [_meets(found, what, goal_s)]
    listed.append(_against(found, "against", tr("against baseline"), what.metric, what.name))
    listed += _of_the_class(found, what, said)
    for place, name in enumerate(one for one in found.classes if one != what.name):
        if place < MOST_CLASSES:
            part = what.part if what.family == "ttft" else spoken
            heading = tr("{name} {figure}", name=short(name), figure=part)
            listed.append(
                _plain(
                    found, f"other{place}", heading, f"{name}: {spoken}; {said}.", what.metric, name, seconds
                )
            )
    lowest = found.lowest_class
    if lowest is not None:
        listed.append(
            _plain(
                found,
                "starvation",
                tr("{name} worst wait", name=short(lowest)),
                tr(
                    "The longest wait of any of the least urgent requests, {name}; {said}.",
                    name=lowest,
                    said=said,
                ),
                "wait_s.max",
                lowest,
                seconds,
            )
        )
    if any(NOT_SERVED.of(run) for own in found.runs.values() for run in own):
        listed.append(
            _plain(
                found,
                "unserved",
                tr("not served"),
                tr("Refused, shed, timed out or unfinished; {said}.", said=said),
                NOT_SERVED.key,
                "",
                few,
            )
        )
    return listed + _of_the_machine(found, said)


def _of_the_class(found: Comparison, what: Chosen, said: str) -> list[Column]:
    return [
        _plain(
            found,
            "slo",
            tr("in time"),
            tr("Requests that kept all their goals; {said}.", said=said),
            "slo_attainment",
            what.name,
            share,
        ),
        _plain(
            found,
            "goodput",
            tr("goodput, /s"),
            tr("Requests in time per second; {said}.", said=said),
            "goodput_per_s",
            what.name,
            rate,
        ),
        _plain(
            found,
            "inversion",
            tr("inversion"),
            tr("Waiting that less urgent requests caused, of all requests of the class; {said}.", said=said),
            "inversion_s",
            what.name,
            seconds,
        ),
    ]


def _of_the_machine(found: Comparison, said: str) -> list[Column]:
    return [
        _plain(
            found,
            "throughput",
            tr("tokens/s"),
            tr("Output tokens until the last finish; {said}.", said=said),
            THROUGHPUT,
            "",
            rate,
        ),
        _against(found, "price", tr("tokens/s against baseline"), THROUGHPUT, ""),
        _plain(
            found,
            "fairness",
            tr("fairness"),
            tr(
                "Jain's index of the tenants' tokens by weight while requests come: 1 is even; {said}.",
                said=said,
            ),
            "window.jain",
            "",
            lambda value: number(value, 2),
        ),
        _plain(
            found,
            "recomputed",
            tr("recomputed"),
            tr("Tokens computed again after preemptions, as a share of the useful ones; {said}.", said=said),
            "preemption_waste.recomputed_share",
            "",
            lambda value: share(value, 1),
        ),
        _plain(
            found,
            "stranded",
            tr("stranded KV"),
            tr("Mean share of the KV blocks that lay idle while requests waited; {said}.", said=said),
            "stranded_kv.share",
            "",
            share,
        ),
    ]


def _mean(found: Comparison, what: Chosen, spoken: str) -> Column:
    def cell(policy: str) -> Cell:
        values = [one for one in found.values(policy, what.metric, what.name) if one is not None]
        if not values:
            return Cell("–", numbers=(None, None, None))
        mid, low, high = fmean(values), min(values), max(values)
        sub = between(seconds(low), seconds(high)) if len(found.seeds) > 1 else ""
        return Cell(seconds(mid), sub, order=mid, tone="strong", numbers=(mid, low, high))

    names = tuple(f"{what.name}.{what.metric} {part}" for part in ("mean", "least", "most"))
    heading = tr("mean, range") if len(found.seeds) > 1 else spoken
    return Column(
        "mean",
        heading,
        tr("The mean over the seeds; below it the least and the most of any seed."),
        names,
        cell,
    )


def _meets(found: Comparison, what: Chosen, goal_s: float) -> Column:
    def cell(policy: str) -> Cell:
        kept, many = found.meets(policy, what.metric, goal_s, what.name)
        text = tr("{kept} of {many}", kept=kept, many=many)
        if len(found.seeds) == 1:
            text = "–" if not many else tr("yes") if kept else tr("no")
        return Cell(text, order=kept, numbers=(kept, many))

    help = tr("Seeds on which the figure is within the goal of {time}.", time=seconds(goal_s))
    return Column("meets", tr("meets goal"), help, ("seeds that meet the goal", "seeds"), cell)


def _against(found: Comparison, key: str, heading: str, metric: str, name: str) -> Column:
    """The paired difference: of a time in seconds, of anything else in per cent of the baseline."""
    is_time = METRICS[metric].unit == "s"
    differences = found.differences(metric, name)

    def write(value: float | None) -> str:
        if value is None:
            return "–"
        change = relative(found, value, metric, name)
        return signed_seconds(value) if is_time else "–" if change is None else signed(share(change, 1))

    def cell(policy: str) -> Cell:
        if policy == found.baseline:
            return Cell(tr("baseline"), order=0.0, tone="quiet", numbers=(0.0, None, None, ""))
        one = differences[policy]
        interval, note = sure(one, write)
        return Cell(
            write(one.mean),
            interval,
            note,
            order=one.mean,
            tone="" if one.is_clear else "quiet",
            numbers=(one.mean, one.low, one.high, "clear" if one.is_clear else "not clear"),
        )

    help = tr(
        "The difference of the means over the seeds, which is the mean of the differences seed by seed, with "
        "the interval that holds the true one with 95 %."
    )
    label = f"{name}.{metric}" if name else metric
    names = tuple(f"{label} against baseline{part}" for part in (" mean", " low", " high", " is"))
    return Column(key, heading, help, names, cell)
