"""What `compare` and `sweep` say to people."""

from sched.command.tables import NOTHING, number_text, table, time_text
from sched.experiments import Comparison, is_random
from sched.grids import Sweep
from sched.intervals import Difference, Estimate
from sched.measures import METRICS, Metric
from sched.scenario import Scenario
from sched.verdict import urgent_class
from sched.words import count, duration

BY_CLASS = (
    "ttft_s.p50",
    "ttft_s.p99",
    "tpot_s.p99",
    "e2e_s.p99",
    "wait_s.max",
    "slo_attainment",
    "inversion_s",
)
IN_ALL = (
    "throughput.output_tokens_per_s",
    "window.jain",
    "preemptions",
    "recomputed_tokens",
    "stranded_kv.share",
)
IN_BRACKETS = (
    "Means over the seeds; in brackets what holds the true mean with 95 %, cut where no figure can be, "
    "such as below 0 s."
)
MOST_ROWS = 60
"""Of a long table this many rows are shown; `--json` and `--csv` have them all."""


def value_text(metric: Metric, value: float | None) -> str:
    """A figure as people read it: times as times, shares in per cent."""
    if value is None:
        return NOTHING
    if metric.unit == "s":
        return f"−{duration(-value)}" if value < 0 else time_text(value)
    if metric.most == 1.0 and metric.key != "window.jain":
        return f"{100 * value:.0f} %".replace("-", "−")
    return number_text(value, metric.digits).replace("-", "−")


def _seeds(scenario: Scenario, seeds: tuple[int, ...]) -> str:
    """Over which seeds, or why there is only one run."""
    if not is_random(scenario):
        return "one run, as nothing here is drawn"
    return f"{count(len(seeds), 'seed')} from {seeds[0]}"


def _mean(metric: Metric, found: Estimate) -> str:
    text = value_text(metric, found.mean)
    if found.low is None or found.high is None or found.low == found.high:
        return text
    return f"{text} ({value_text(metric, found.low)} to {value_text(metric, found.high)})"


def _difference(metric: Metric, found: Difference) -> str:
    """A difference, with a star where it is clear beside the other policies."""
    text = _mean(metric, found)
    signed = f"+{text}" if found.mean is not None and found.mean > 0 else text
    return f"{signed} *" if found.is_clear else signed


def compared(found: Comparison) -> str:
    """The figures of all policies with their intervals, then the differences from the baseline."""
    scenario = found.scenario
    heading = f"{scenario.title or scenario.link_base}: {_seeds(scenario, found.seeds)}"
    each = " on each" if len(found.seeds) > 1 else ""
    parts = [f"{heading}, the same requests for every policy{each}"]
    for name in found.classes:
        parts.append(f"{name}\n{_table(found, BY_CLASS, name)}")
    parts.append(f"in all\n{_table(found, IN_ALL, '')}")
    if len(found.policies) > 1:
        parts.append(_against(found))
    if len(found.seeds) > 1:
        clear = " * clear beside the other policies (Holm, 5 %)." if len(found.policies) > 1 else ""
        parts.append(f"{IN_BRACKETS}{clear}")
    parts += (
        ["\n".join(f"Note: {note['path']}: {note['text']}" for note in found.notes)] if found.notes else []
    )
    return "\n\n".join(parts)


def _table(found: Comparison, keys: tuple[str, ...], name: str) -> str:
    metrics = [METRICS[key] for key in keys]
    lines = [
        [policy, *(_mean(one, found.estimate(policy, one.key, name)) for one in metrics)]
        for policy in found.policies
    ]
    return table(["policy", *(one.title for one in metrics)], lines)


def _against(found: Comparison) -> str:
    """Differences from the baseline in what matters most: the urgent, the least urgent, the machine."""
    urgent = urgent_class(found.runs[found.baseline][0], found.scenario)
    wanted = [("ttft_s.p99", urgent or ""), ("wait_s.max", found.lowest_class or "")]
    wanted += [(key, "") for key in IN_ALL[:3]]
    shown = [(METRICS[key], name) for key, name in wanted if name or not METRICS[key].by_class]
    heads = [f"{name} {one.title}".strip() for one, name in shown]
    lines = []
    for policy in found.policies:
        if policy != found.baseline:
            cells = [_difference(one, found.difference(policy, one.key, name)) for one, name in shown]
            lines.append([policy, *cells])
    return f"against {found.baseline}\n{table(['policy', *heads], lines)}"


def swept(found: Sweep) -> str:
    """One line a point and policy: the urgent, the least urgent, and what the machine does."""
    first = next(iter(found.points.values()))
    urgent = urgent_class(first.runs[first.baseline][0], found.scenario)
    wanted = [("ttft_s.p99", urgent or ""), ("slo_attainment", urgent or ""), ("goodput_per_s", urgent or "")]
    wanted += [
        ("wait_s.max", first.lowest_class or ""),
        ("throughput.output_tokens_per_s", ""),
        ("preemptions", ""),
    ]
    shown = [(METRICS[key], name) for key, name in wanted if name or not METRICS[key].by_class]
    heads = (
        [one.key for one in found.axes] + ["policy"] + [f"{name} {one.title}".strip() for one, name in shown]
    )
    lines = [
        [
            *found.setting(place).values(),
            policy,
            *(_mean(one, point.estimate(policy, one.key, name)) for one, name in shown),
        ]
        for place, point in found.points.items()
        for policy in found.policies
    ]
    text = table(heads, lines[:MOST_ROWS], left=0)
    more = len(lines) - MOST_ROWS
    about = f"{count(len(found.points), 'point')}, {_seeds(found.scenario, found.seeds)}"
    rest = f"\n… and {count(more, 'more row')}; --json and --csv have them all" if more > 0 else ""
    brackets = f"\n\n{IN_BRACKETS}" if len(found.seeds) > 1 else ""
    return f"{about}\n\n{text}{rest}{brackets}"
