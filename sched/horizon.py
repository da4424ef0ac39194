"""The longest run: a time is a whole number of picoseconds in 64 bits, and 2^63 of them are 106 days.

No run goes on after 100 days. What surely needs more is refused before it is run; where it only turns out
on the way, the run stops there with its reason.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from sched.alone import alone_ps
from sched.cost import iteration_cost, machine
from sched.fields import number_text, refuse
from sched.model import PS_PER_S
from sched.parts import LONGEST_S
from sched.scenario import Scenario
from sched.sentences import quoted

if TYPE_CHECKING:
    from sched.workload import RequestList

DAYS = LONGEST_S // 86400
LONGEST_PS = LONGEST_S * PS_PER_S
"""A run stops at the first end of an iteration from here on."""
LAST_PS = LONGEST_PS + 6 * 86400 * PS_PER_S
"""That iteration ends before this: a little below 2^63."""
STOPPED = (
    f"it came to {DAYS} days, the longest run there is, with requests left; make the iterations shorter, "
    "lower the load, or set drain_s"
)


def refuse_endless(scenario: Scenario, listed: "RequestList") -> None:
    """Raise ScenarioError if a request needs more than the longest run even with the engine to itself.

    One that is refused on arrival, whose client gives up, or that the horizon cuts off, is none of them.
    """
    if scenario.drain_s is not None or not len(listed):
        return
    resolved, cost = machine(scenario), iteration_cost(scenario)
    unlimited = replace(resolved, max_model_len=0)
    most = (int(column.max()) for column in (listed.prompt_tokens, listed.output_tokens))
    if alone_ps(unlimited, cost, *most) <= LONGEST_PS:
        return
    columns = (listed.prompt_tokens, listed.output_tokens, listed.timeout_ps)
    for name, prompt, output, patience in zip(
        listed.ids, *(column.tolist() for column in columns), strict=True
    ):
        life = resolved.tokens_of_life(prompt, output)
        if patience >= 0 or life < prompt or resolved.blocks(life) > resolved.kv_blocks:
            continue
        alone = alone_ps(resolved, cost, prompt, output)
        if alone > LONGEST_PS:
            refuse(
                f"with {prompt:,} prompt and {output:,} output tokens it takes {_days(alone)} even alone on "
                f"this engine, and a run has at most {DAYS}; make it or the time of an iteration shorter, "
                "or set drain_s",
                f"requests.{quoted(name)}",
            )


def refuse_iteration(from_ps: int, to_ps: int) -> None:
    """Raise ScenarioError for an iteration that ends beyond what can be counted."""
    begin, span = number_text(from_ps / PS_PER_S), _days(to_ps - from_ps)
    refuse(
        f"an iteration that begins at {begin} s would take {span}, and a run has at most {DAYS}; "
        "make its coefficients, the prompts or the token budget smaller",
        "engine",
    )


def _days(ps: int) -> str:
    return f"{ps / (86400 * PS_PER_S):,.0f} days"
