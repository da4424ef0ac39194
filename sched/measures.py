"""What policies are compared by: one table, from which page, command line and JSON take their figures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sched.verdict import not_served

Found = Mapping[str, Any]
"""The figures of one run, shaped as `run --json` has them."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a run: where it stands in it, how it is called and written, and which way is better.

    `digits` are those after the point that are worth writing. A metric by class stands in each class.
    """

    key: str
    title: str
    unit: str
    better: Literal["lower", "higher"]
    digits: int
    by_class: bool = True
    help: str = ""
    most: float | None = None

    def of(self, found: Found, class_name: str = "") -> float | None:
        """Its value in a run; None where there is none."""
        if self.key == NOT_SERVED:
            return not_served(found)
        node: Any = found["classes"].get(class_name) if self.by_class else found
        for part in self.key.split("."):
            if not isinstance(node, Mapping):
                return None
            node = node.get(part)
        return node if isinstance(node, int | float) else None


NOT_SERVED = "not_served"


def _times() -> Iterator[Metric]:
    names = {
        "ttft_s": ("TTFT", "arrival to the first token"),
        "tpot_s": ("TPOT", "time per output token after the first"),
        "e2e_s": ("E2E", "arrival to the last token"),
        "wait_s": ("Wait", "all time outside the batch, also after a preemption"),
    }
    for key, (title, help) in names.items():
        for part in ("p50", "p90", "p99"):
            yield Metric(f"{key}.{part}", f"{title} {part}", "s", "lower", 3, help=help)


_METRICS = (
    *_times(),
    Metric(
        *("wait_s.max", "Worst wait", "s", "lower", 2),
        help="the longest wait of any request; of the least urgent class this is starvation",
    ),
    Metric(
        *("slo_attainment", "Goals met", "", "higher", 3),
        help="share of the requests with goals that kept them all",
        most=1.0,
    ),
    Metric(
        *("goodput_per_s", "Goodput", "1/s", "higher", 3),
        help="requests per second that kept all their goals",
    ),
    Metric(
        *("inversion_s", "Inversion", "s", "lower", 2),
        help="waiting that less urgent requests caused, summed over the requests",
    ),
    Metric(
        *("throughput.output_tokens_per_s", "Throughput", "tokens/s", "higher", 1, False),
        help="output tokens until the last finish",
    ),
    Metric(
        *("throughput.requests_per_s", "Requests finished", "1/s", "higher", 3, False),
        help="requests finished per second until the last finish",
    ),
    Metric(
        *("window.output_tokens_per_s", "Throughput while requests come", "tokens/s", "higher", 1, False),
        help="output tokens from the warm-up to the end of the arrivals",
    ),
    Metric(
        *("window.jain", "Fairness while requests come", "", "higher", 3, False),
        help="Jain's index of the tenants' output tokens by weight, while requests come: 1 is even",
        most=1.0,
    ),
    Metric(
        *("recomputed_tokens", "Recomputed tokens", "tokens", "lower", 0, False),
        help="tokens computed again after preemptions",
    ),
    Metric(
        *("preemption_waste.recomputed_share", "Recomputed share", "", "lower", 3, False),
        help="tokens computed again as a share of the useful ones",
    ),
    Metric(*("preemptions", "Preemptions", "", "lower", 0, False), help="how often a request lost its KV"),
    Metric(
        *("stranded_kv.share", "Stranded KV", "", "lower", 3, False),
        help="mean share of the KV blocks that lay idle while requests waited",
        most=1.0,
    ),
    Metric(
        *("kv_utilisation", "KV used", "", "higher", 3, False),
        help="mean share of the KV blocks in use",
        most=1.0,
    ),
    Metric(
        *(NOT_SERVED, "Not served", "requests", "lower", 0, False),
        help="refused, shed, timed out or unfinished",
    ),
)
METRICS: dict[str, Metric] = {one.key: one for one in _METRICS}
"""By key, which is the figure's place in `run --json`; of a class it follows the class's name."""
