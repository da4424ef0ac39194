"""Reports of real serving engines, each as a scenario in tests/cases with what must come out of it.

tests/cases/README.md says of each what it shows, how it is run, and what of it cannot be had here.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sched import POLICIES, Log, Scenario, simulate
from sched.__main__ import main
from sched.audit import audit
from sched.external import assignments, change, link, load, parse_link
from sched.inversion import Inversion, analyse
from sched.metrics import summary
from sched.model import NEVER, PS_PER_S, Outcome, Request, Standing
from sched.occupancy import expand, pieces
from sched.policies.base import Policy, Rank
from sched.policies.fcfs import Fcfs
from sched.policies.vtc import Vtc
from sched.workload import requests

CASES = Path(__file__).resolve().parent / "cases"
IN_PART = {
    "CHK-06": "an iteration mixes prompts and decodes; there is no mode that computes prompts alone",
    "FAIR-07": "nothing counts requests as tokens; without a limit as many get in",
    "KV-16": "whoever runs out of blocks preempts one at a time; nothing here drops all",
    "KV-18": "a holder can always be preempted, so the two never block each other; the nearest that cannot "
    "end is a memory too small for one, and it is named",
    "PRI-08": "a preemption for a waiting request stops as soon as it fits; nothing here preempts more",
    "SYS-11": "each list of requests is a run of its own; no command plays several and shows their range yet",
}
"""Cases that hold but for this: mostly a broken side that the engine cannot have."""


@dataclass(frozen=True, eq=False)
class Ran:
    """One run of a case, with its figures in seconds by the ids of requests."""

    scenario: Scenario
    log: Log

    @cached_property
    def rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.log.requests.ids)}

    @cached_property
    def inversion(self) -> Inversion:
        return analyse(self.log)

    def named(self, start: str) -> list[str]:
        """Ids that begin so, in order of arrival."""
        return [name for name in self.rows if name.startswith(start)]

    def ttft_s(self, name: str) -> float:
        return self._since_arrival(self.log.first_token_ps, name)

    def ttfts_s(self, start: str) -> list[float]:
        return [self.ttft_s(name) for name in self.named(start)]

    def e2e_s(self, name: str) -> float:
        return self._since_arrival(self.log.ended_ps, name)

    def _since_arrival(self, column: Any, name: str) -> float:
        row = self.rows[name]
        assert column[row] != NEVER, name
        return int(column[row] - self.log.requests.arrival_ps[row]) / PS_PER_S

    def outcome(self, name: str) -> Outcome:
        return Outcome(int(self.log.outcome[self.rows[name]]))

    def arrival_s(self, name: str) -> float:
        return int(self.log.requests.arrival_ps[self.rows[name]]) / PS_PER_S

    def end_s(self, name: str) -> float:
        return int(self.log.ended_ps[self.rows[name]]) / PS_PER_S

    def of_tenant(self, tenant: str) -> list[str]:
        listed = self.log.requests
        index = listed.tenant_names.index(tenant)
        return [name for name, row in self.rows.items() if listed.tenant_index[row] == index]

    def of_prompt(self, tokens: int) -> list[str]:
        return [name for name, row in self.rows.items() if self.log.requests.prompt_tokens[row] == tokens]

    def ended_as(self, kind: Outcome) -> list[str]:
        return [name for name in self.rows if self.outcome(name) == kind]

    @property
    def preemptions(self) -> int:
        return len(self.log.preempted.victim)

    @property
    def wasted_tokens(self) -> int:
        return int(self.log.preempted.lost_tokens.sum())

    @property
    def inversion_s(self) -> float:
        return int(self.inversion.inversion_ps.sum()) / PS_PER_S

    @property
    def makespan_s(self) -> float:
        return int(self.log.ended_ps[self.log.outcome == Outcome.FINISHED].max()) / PS_PER_S

    @property
    def peak_running(self) -> int:
        return int(self.log.stretches.running.max())

    def order(self) -> list[str]:
        """Ids in the order in which they were first scheduled."""
        return sorted(self.rows, key=lambda name: int(self.log.first_scheduled_ps[self.rows[name]]))

    def token_times_s(self, name: str) -> list[float]:
        """When each token of a request came."""
        log, held = self.log, pieces(self.log)
        mine = np.flatnonzero(held.request == self.rows[name])
        owner, turn = expand(np.zeros(len(mine), dtype=np.int64), held.count[mine])
        piece = mine[owner]
        emits = held.before[piece] + held.step[piece] * (turn + 1) >= log.stays.known_tokens[held.stay[piece]]
        iteration = (held.iteration[piece] + turn)[emits]
        ends = (log.iteration_start_ps + log.iteration_duration_ps)[iteration]
        return [int(end) / PS_PER_S for end in np.sort(ends)]

    def gaps_s(self, start: str = "") -> list[float]:
        """Times between tokens of all whose id begins so."""
        gaps: list[float] = []
        for name in self.named(start):
            gaps += np.diff(self.token_times_s(name)).tolist()
        return gaps

    def tokens_of(self, start: str, from_s: float, to_s: float) -> int:
        """Tokens that came to those whose id begins so, after `from_s` and until `to_s`."""
        return sum(from_s < at <= to_s for name in self.named(start) for at in self.token_times_s(name))

    @cached_property
    def notes(self) -> dict[str, list[str]]:
        """What `run --json` says beside the figures: sentences by path."""
        found: dict[str, list[str]] = {}
        for note in summary(self.log, self.scenario, self.inversion)["notes"]:
            found.setdefault(note["path"], []).append(note["text"])
        return found


def scenario_of(case: str, *changes: str) -> Scenario:
    """A case with changes such as `engine.kv_blocks=90`."""
    return change(load(str(CASES / f"{case}.toml")), assignments(list(changes)))


@cache
def run(case: str, policy: str, *changes: str) -> Ran:
    """A case under a policy. Several tests may ask for the same run."""
    scenario = scenario_of(case, *changes)
    return Ran(scenario, simulate(scenario, policy))


def trace(name: str) -> str:
    """The change that replays another list of requests."""
    return f"trace.file={CASES / name}.csv"


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def percentile(values: Sequence[float], percent: float) -> float:
    """Nearest rank."""
    return sorted(values)[math.ceil(percent / 100 * len(values)) - 1]


# Priorities


def test_pri_01_an_urgent_request_takes_a_seat_at_once() -> None:
    broken, fixed = run("PRI-01", "priority"), run("PRI-01", "preemptive")
    assert broken.ttft_s("H") >= 150 and broken.preemptions == 0
    assert fixed.ttft_s("H") <= 2 and fixed.preemptions == 1
    assert fixed.inversion_s <= 1


def test_pri_04_urgency_changes_nothing_where_nobody_waits_and_the_run_says_so() -> None:
    urgent, alike = run("PRI-04", "priority"), run("PRI-04", "priority", "requests.X.priority=0")
    assert urgent.ttft_s("X") == alike.ttft_s("X") and urgent.e2e_s("X") == alike.e2e_s("X")
    assert any("no request waited" in text for text in urgent.notes["policies.priority"])
    busy = run("PRI-04", "priority", "engine.max_num_seqs=30")
    assert "policies.priority" not in busy.notes


def test_pri_06_priorities_that_nobody_reads_are_noticed() -> None:
    unread, read = run("PRI-06", "fcfs"), run("PRI-06", "priority")
    assert unread.ttft_s("lo") < unread.ttft_s("hi") and read.ttft_s("hi") < read.ttft_s("lo")
    assert unread.notes["policies.fcfs"] == ["fcfs does not look at priority"]
    assert "policies.priority" not in read.notes


def test_pri_08_no_more_is_preempted_than_is_needed() -> None:
    fixed = run("PRI-08", "preemptive")
    assert fixed.preemptions == 1 and fixed.ttft_s("H") == 1
    # All four hold as much, so that preempting all of them would lose four times this.
    assert fixed.wasted_tokens == 169
    assert {len(fixed.token_times_s(name)) for name in fixed.named("L")} == {30}


def test_pri_10_the_scenario_says_which_number_is_the_more_urgent() -> None:
    low = run("PRI-10", "priority", "urgency=low_first")
    high = run("PRI-10", "priority", "urgency=high_first")
    assert low.ttft_s("p0") < low.ttft_s("p10") and high.ttft_s("p10") < high.ttft_s("p0")
    for one in (low.scenario, high.scenario):
        opened, _, _ = parse_link(link(one))
        assert opened.urgency == one.urgency and opened == one


def test_pri_12_linear_ageing_is_a_fixed_key() -> None:
    aged = {credit: run("PRI-12", "aging", f"aging.per_s={credit}").order() for credit in ("0", "0.5", "1e6")}
    assert aged["0"] == run("PRI-12", "priority").order()
    assert aged["1e6"] == run("PRI-12", "fcfs").order()
    # Half a level a second, in whole numbers: twice the urgency plus the arrival.
    keys = [
        f"requests.{one.id}.priority={2 * one.priority + one.arrival_s:g}"
        for one in scenario_of("PRI-12").requests
    ]
    assert aged["0.5"] == run("PRI-12", "priority", *keys).order()
    assert len({tuple(order) for order in aged.values()}) == 3


def test_pri_12_ageing_ends_the_wait_behind_a_stream() -> None:
    strict = run("PRI-12-stream", "aging", "aging.per_s=0").ttft_s("low")
    aged = run("PRI-12-stream", "aging", "aging.per_s=1").ttft_s("low")
    assert strict >= 390 and 15 <= aged <= 30


def test_pri_14_there_is_no_inversion_without_priorities() -> None:
    first = run("PRI-14", "fcfs")
    took = [first.e2e_s(name) for name in first.rows]
    naive = sum(2 * later < earlier for n, earlier in enumerate(took) for later in took[n + 1 :])
    assert naive > 0
    for policy in POLICIES:
        assert run("PRI-14", policy).inversion_s == 0, policy
    assert run("PRI-01", "priority").inversion_s >= 150 and run("PRI-01", "preemptive").inversion_s <= 1


def test_pri_16_a_full_queue_lets_the_least_urgent_go() -> None:
    broken = run("PRI-16", "shed", "shed.on_full=newcomer")
    fixed = run("PRI-16", "shed", "shed.on_full=lowest")
    assert broken.ended_as(Outcome.SHED) == ["H"]
    assert fixed.ended_as(Outcome.SHED) == ["M1"] and fixed.outcome("H") == Outcome.FINISHED
    assert 38 <= fixed.ttft_s("H") <= 42


def test_pri_18_who_holds_the_queue_decides_the_order() -> None:
    is_open, gated = run("PRI-18", "fcfs"), run("PRI-18", "priority")
    assert is_open.ttft_s("hi") == max(is_open.ttfts_s(""))
    assert all(gated.ttft_s("hi") <= one for one in sorted(gated.ttfts_s("lo"))[2:])
    # With seats for all there is no queue to put in order.
    free = [run("PRI-18", policy, "engine.max_num_seqs=64") for policy in ("fcfs", "priority")]
    assert free[0].ttft_s("hi") == free[1].ttft_s("hi")


# KV memory


def test_kv_01_small_ones_pass_a_large_one_that_does_not_fit() -> None:
    broken, fixed = run("KV-01", "fcfs"), run("KV-01", "backfill")
    assert broken.ttft_s("l1") >= 300 and fixed.ttft_s("l1") <= 2
    assert broken.ttft_s("Heavy") == fixed.ttft_s("Heavy")


def test_kv_04_a_gate_on_the_whole_prompt_stops_the_thrashing() -> None:
    broken = run("KV-04", "fcfs", "engine.gate=first_chunk")
    fixed = run("KV-04", "fcfs", "engine.gate=full_prompt")
    assert broken.preemptions >= 10 * fixed.preemptions
    assert broken.wasted_tokens >= 10 * fixed.wasted_tokens
    assert fixed.makespan_s <= 0.6 * broken.makespan_s


def test_kv_06_what_never_fits_is_refused_or_the_stall_is_named() -> None:
    fixed = run("KV-06", "fcfs")
    assert fixed.ended_as(Outcome.REFUSED) == ["big"] and fixed.ttft_s("b") <= 2
    assert any("64 KV blocks of 48" in text for text in fixed.notes["requests.refused"])
    broken = run("KV-06", "fcfs", "engine.refuse_infeasible=false")
    assert "big waits" in broken.log.stop_reason and broken.log.stop_reason.startswith("stalled at 10 s")
    assert broken.ended_as(Outcome.UNFINISHED) == ["big", "b", "c"]
    # Nothing is scheduled after the last token of a, so the stall is found in the first idle iteration.
    assert broken.log.iterations == 10


def test_kv_08_reserving_all_beats_admitting_more_under_pressure() -> None:
    runs = {
        (blocks, gate): run("KV-08", "fcfs", f"engine.gate={gate}", f"engine.kv_blocks={blocks}")
        for blocks in (300, 2000)
        for gate in ("first_chunk", "peak")
    }
    assert runs[300, "peak"].preemptions == 0
    assert runs[300, "first_chunk"].makespan_s >= 1.15 * runs[300, "peak"].makespan_s
    for column in ("first_scheduled_ps", "first_token_ps", "ended_ps"):
        one, other = (getattr(runs[2000, gate].log, column) for gate in ("first_chunk", "peak"))
        assert np.array_equal(one, other)


class LeastComputed(Fcfs):
    """First come, first served; whoever has computed least yields."""

    def yields(self, request: Request, standing: Standing) -> Rank:
        return (-standing.computed_tokens, standing.admission)


class MostComputed(Fcfs):
    """First come, first served; whoever has computed most yields."""

    def yields(self, request: Request, standing: Standing) -> Rank:
        return (standing.computed_tokens, standing.admission)


def test_kv_10_who_is_thrown_out_decides_what_is_wasted(monkeypatch: pytest.MonkeyPatch) -> None:
    wasted = {}
    for blocks in (400, 120, 90, 70):
        for kind in (LeastComputed, Fcfs, MostComputed):
            wasted[blocks, kind] = instead(
                monkeypatch, kind, "KV-10", f"engine.kv_blocks={blocks}"
            ).wasted_tokens
    assert {wasted[400, kind] for kind in (LeastComputed, Fcfs, MostComputed)} == {0}
    for blocks in (120, 90, 70):
        assert wasted[blocks, LeastComputed] < wasted[blocks, Fcfs] < wasted[blocks, MostComputed]


def instead(monkeypatch: pytest.MonkeyPatch, kind: type[Policy], case: str, *changes: str) -> Ran:
    """A case under a policy of the test's own, which takes the place of the one it is derived from."""
    scenario = scenario_of(case, *changes)
    with monkeypatch.context() as patch:
        patch.setitem(POLICIES, kind.key, kind)
        return Ran(scenario, simulate(scenario, kind.key))


def test_kv_12_the_more_future_is_kept_free_the_less_is_thrown_out() -> None:
    ratios = [run("KV-12", "fcfs", f"engine.expected_ratio={ratio}") for ratio in ("0", "0.3", "1")]
    for less, more in pairwise(ratios):
        assert less.preemptions > more.preemptions and less.wasted_tokens > more.wasted_tokens
        assert less.peak_running > more.peak_running and less.makespan_s < more.makespan_s


def test_kv_14_everybody_finishes_and_few_are_preempted_twice() -> None:
    roomy, tight, tighter = (
        run("KV-14", "fcfs", f"engine.kv_blocks={blocks}") for blocks in (1000, 215, 190)
    )
    for one in (roomy, tight, tighter):
        assert len(one.ended_as(Outcome.FINISHED)) == 400
        assert one.makespan_s < 1.2 * roomy.makespan_s
        assert one.log.preemptions.max() <= 6
    assert roomy.preemptions == 0 and 0 < tight.preemptions < tighter.preemptions


def test_kv_16_one_preemption_at_a_time_loses_little() -> None:
    fixed = run("KV-16", "fcfs")
    # Dropping all six whenever blocks run out would lose 1,856 tokens by 15 preemptions.
    assert fixed.preemptions == 3 and fixed.wasted_tokens == 384 <= 1856 / 3


def test_kv_18_a_holder_makes_way_or_the_stall_is_named() -> None:
    fixed = run("KV-18", "fcfs")
    assert fixed.preemptions == 1 and len(fixed.ended_as(Outcome.FINISHED)) == 2
    assert (fixed.e2e_s("A"), fixed.e2e_s("B")) == (20, 39)
    broken = run("KV-18", "fcfs", "engine.refuse_infeasible=false", "engine.kv_blocks=5")
    assert broken.log.stop_reason.startswith("stalled") and len(broken.ended_as(Outcome.UNFINISHED)) == 2


# Chunks and the token budget


def test_chk_01_a_slice_of_tokens_for_short_ones_need_not_slow_the_long_one() -> None:
    none = run("CHK-01", "fcfs")
    capped, lent = (run("CHK-01", "rescue", f"rescue.lend={lend}") for lend in ("false", "true"))
    assert mean(none.ttfts_s("s")) >= 8
    assert max(capped.ttfts_s("s")) <= 2 and max(lent.ttfts_s("s")) <= 2
    assert capped.ttft_s("long") >= 3 * none.ttft_s("long")
    assert lent.ttft_s("long") <= 0.5 * capped.ttft_s("long")
    # The engine's own cap holds in company only: between the two.
    cap = run("CHK-01", "fcfs", "engine.long_prefill_token_threshold=512")
    assert max(cap.ttfts_s("s")) <= 2
    assert none.ttft_s("long") < cap.ttft_s("long") < capped.ttft_s("long")


def test_chk_04_a_cap_that_holds_in_company_only_costs_nothing_alone() -> None:
    off = "engine.long_prefill_token_threshold=0"
    alone, lent = run("CHK-04", "fcfs", "requests=L", off), run("CHK-04", "fcfs", "requests=L")
    company = '[{id="L",prompt=131072,output=1},{id="company",prompt=1,output=100}]'
    fixed = run("CHK-04", "fcfs", f"requests={company}")
    assert fixed.ttft_s("L") == 4 * alone.ttft_s("L") and lent.ttft_s("L") == alone.ttft_s("L")
    mixed = run("CHK-04", "fcfs")
    assert max(mixed.ttfts_s("s")) <= 2 and mixed.ttft_s("L") < fixed.ttft_s("L")
    assert max(run("CHK-04", "fcfs", off).ttfts_s("s")) > 2


def test_chk_06_prompts_do_not_hold_up_whoever_decodes() -> None:
    assert max(run("CHK-06", "fcfs").gaps_s()) == 1


def test_chk_08_a_larger_budget_makes_first_tokens_early_and_gaps_long() -> None:
    small, middle, large = (
        run("CHK-08", "fcfs", f"engine.max_num_batched_tokens={budget}") for budget in (256, 2048, 8192)
    )
    gaps = [percentile(one.gaps_s(), 99) for one in (small, middle, large)]
    first = [mean(one.ttfts_s("p")) for one in (small, middle, large)]
    assert gaps[0] < gaps[1] < gaps[2] and first[0] > first[1] > first[2]
    assert first[1] - first[2] <= 0.1 * first[1]


def test_chk_11_more_seats_raise_the_rate_and_slow_each_token() -> None:
    few, many = (run("CHK-11", "fcfs", f"engine.max_num_seqs={seats}") for seats in (16, 32))
    assert mean(many.gaps_s()) > mean(few.gaps_s())
    assert mean(many.ttfts_s("r")) < 0.6 * mean(few.ttfts_s("r"))
    assert many.makespan_s < few.makespan_s


def test_chk_13_a_budget_that_decodes_use_up_is_warned_of() -> None:
    tight, loose = (run("CHK-13", "fcfs", f"engine.max_num_batched_tokens={budget}") for budget in (8, 16))
    assert tight.ttft_s("n") >= 150 and loose.ttft_s("n") <= 12
    assert any(
        "leaves no budget for prompts" in text for text in tight.notes["engine.max_num_batched_tokens"]
    )


def test_chk_14_shortest_first_halves_the_mean_and_leaves_the_maximum() -> None:
    first, shortest = run("CHK-14", "fcfs"), run("CHK-14", "sjf")

    assert mean(shortest.ttfts_s("r")) <= 0.6 * mean(first.ttfts_s("r"))
    assert max(shortest.ttfts_s("r")) == max(first.ttfts_s("r"))
    short = [mean(one.ttft_s(name) for name in one.of_prompt(128)) for one in (shortest, first)]
    assert short[0] <= 0.1 * short[1]


# Fairness


class NoLift(Vtc):
    """Fair tokens, where a tenant that comes back keeps its old count."""

    def joined(self, tenant: str, waiting_tenants: list[str]) -> None:
        pass


def test_fair_01_turns_are_unfair_where_they_differ_in_cost() -> None:
    # All prompts are alike: who is charged for them alone is charged for its turns.
    turns = run("FAIR-01", "vtc", "vtc.prompt_weight=1", "vtc.output_weight=0")
    tokens = run("FAIR-01", "vtc")
    got = {one: [one.tokens_of(tenant, 0, 1000) for tenant in "AB"] for one in (turns, tokens)}
    assert got[turns][0] >= 7 * got[turns][1]
    assert got[tokens][0] <= 1.6 * got[tokens][1] and got[tokens][0] - got[tokens][1] <= 800


def test_fair_02_weighted_bands_all_get_their_share() -> None:
    bands = ("p20-", "p10-", "p0-")
    strict, weighted = (run("FAIR-02", policy).order()[:330] for policy in ("priority", "vtc"))
    assert [sum(one.startswith(band) for one in strict) for band in bands] == [330, 0, 0]
    counts = [sum(one.startswith(band) for one in weighted) for band in bands]
    assert all(abs(count - due) <= 1 for count, due in zip(counts, (210, 110, 10), strict=True))
    for start in range(0, 330, 33):
        assert {one.partition("-")[0] for one in weighted[start : start + 33]} == {"p20", "p10", "p0"}


def test_fair_04_a_pause_earns_no_credit(monkeypatch: pytest.MonkeyPatch) -> None:
    without, lifted = instead(monkeypatch, NoLift, "FAIR-04"), run("FAIR-04", "vtc")
    share = [
        one.tokens_of("A", 210, 410) / (one.tokens_of("A", 210, 410) + one.tokens_of("B", 210, 410))
        for one in (without, lifted)
    ]
    assert share[0] <= 0.05 and 0.45 <= share[1] <= 0.55


def test_fair_05_nothing_is_kept_for_those_who_are_not_there() -> None:
    strict, lent = (run("FAIR-05", "quota", f"quota.mode={mode}") for mode in ("strict", "borrow"))
    for one, seats in ((strict, 1), (lent, 4)):
        lines = one.log.stretches
        before_the_other_comes = lines.start_ps < 60 * PS_PER_S
        assert set(lines.running[before_the_other_comes].tolist()) == {seats}
        assert (lines.waiting[before_the_other_comes] > 0).all()
    assert lent.tokens_of("t", 0, 60) == 4 * strict.tokens_of("t", 0, 60)


def test_fair_07_a_limit_on_tokens_counts_tokens() -> None:
    broken, fixed = run("FAIR-07", "fcfs"), run("FAIR-07", "shed")
    assert len(broken.ended_as(Outcome.FINISHED)) == 10
    admitted = fixed.ended_as(Outcome.FINISHED)
    assert len(admitted) == 2 and sum(400 + 100 for _ in admitted) <= 1000


def test_fair_09_a_slot_is_drained_for_whoever_waits_for_it() -> None:
    greedy, drained = run("FAIR-09", "backfill"), run("FAIR-09", "hol")
    scheduled = [one.ttft_s("B") - 1 for one in (greedy, drained)]
    assert scheduled[0] >= 150 and scheduled[1] <= 12
    assert drained.makespan_s <= greedy.makespan_s + 5


def test_fair_12_protecting_the_interactive_costs_the_batch() -> None:
    first, priority, preempt = (run("FAIR-12", policy) for policy in ("fcfs", "priority", "preemptive"))
    alone = run("FAIR-12", "preemptive", trace("FAIR-12-alone"))
    late = {one: percentile(one.ttfts_s("i"), 95) for one in (first, priority, preempt, alone)}
    assert late[preempt] <= 1.5 * late[alone] and late[priority] <= 0.2 * late[first]
    batch_end = {one: max(map(one.e2e_s, one.named("b"))) for one in (first, priority)}
    assert batch_end[priority] > batch_end[first]
    assert preempt.wasted_tokens > 0 == priority.wasted_tokens


def test_fair_14_a_small_tenant_does_not_wait_behind_the_flood() -> None:
    first = run("FAIR-14", "fcfs")
    assert min(first.ttfts_s("B")) >= 150
    for policy in ("vtc", "drr"):
        fair = run("FAIR-14", policy)
        assert max(fair.ttfts_s("B")) <= 25 and fair.makespan_s == first.makespan_s == 240


# Load and limits


def test_sys_01_a_bound_on_the_queue_keeps_those_who_get_in_on_time() -> None:
    none, capped = run("SYS-01", "fcfs"), run("SYS-01", "shed")
    served, refused = capped.ended_as(Outcome.FINISHED), capped.ended_as(Outcome.SHED)
    assert len(served) + len(refused) == 150 and len(none.ended_as(Outcome.FINISHED)) == 150
    late = percentile([capped.ttft_s(name) for name in served], 99)
    assert late <= 0.1 * percentile(none.ttfts_s("r"), 99)
    # While there is load, as many tokens come in the same time.
    assert capped.tokens_of("r", 0, 1.5) == none.tokens_of("r", 0, 1.5)


def test_sys_02_longer_answers_fill_the_memory_and_delay_the_start() -> None:
    runs = {
        output: run("SYS-02", "fcfs", f'requests."r{{i}}".output={output}')
        for output in (128, 256, 512, 1024)
    }
    assert mean(runs[1024].ttfts_s("r")) >= 100 * mean(runs[512].ttfts_s("r"))
    speeds = [mean(one.gaps_s()) for one in runs.values()]
    assert max(speeds) <= 1.02 * min(speeds)
    assert any("KV memory" in text for text in runs[1024].notes["engine.kv_blocks"])
    assert "engine.kv_blocks" not in runs[512].notes


def test_sys_04_the_token_budget_binds_while_memory_is_free() -> None:
    full = run("SYS-04", "fcfs")
    lines = full.log.stretches
    at = int(np.searchsorted(lines.start_ps, 30 * PS_PER_S, "right")) - 1
    assert lines.kv_used.max() <= 0.1 * full.log.machine.kv_blocks and lines.waiting[at] >= 50
    assert any("token budget" in text for text in full.notes["engine.max_num_batched_tokens"])
    assert "engine.kv_blocks" not in full.notes


def test_sys_06_a_queue_makes_absolute_values_doubtful() -> None:
    light, heavy = (run("SYS-06", "fcfs", f"traffic.chat.rate_per_s={rate}") for rate in (3, 15))
    assert "engine.hardware" not in light.notes
    assert any("absolute values are not" in text for text in heavy.notes["engine.hardware"])
    # A clock that stands for no machine has nothing to be off from.
    assert "engine.hardware" not in run("PRI-01", "priority").notes


def test_sys_08_a_router_that_counts_tokens_ends_both_engines_together() -> None:
    turns, least = run("SYS-08", "quota"), run("SYS-08-least", "quota")
    ends = {
        one: [max(one.end_s(name) for name in one.of_tenant(engine)) for engine in ("first", "second")]
        for one in (turns, least)
    }
    assert max(ends[turns]) >= 1.4 * max(ends[least])
    assert max(ends[least]) <= 1.05 * min(ends[least])
    # What the file says is what such a router does: whoever comes goes where less is outstanding.
    tokens = {name: least.token_times_s(name) for name in least.rows}
    for name, row in least.rows.items():
        at, before = least.arrival_s(name), [one for one in least.rows if least.rows[one] < row]
        left = {
            engine: sum(
                sum(time > at for time in tokens[one]) for one in before if one in least.of_tenant(engine)
            )
            for engine in ("first", "second")
        }
        assert name in least.of_tenant(min(left, key=left.__getitem__)), (name, left)


def test_sys_11_one_seed_is_not_a_finding() -> None:
    ratios = []
    for seed in range(12):
        one = run("SYS-11", "fcfs", trace(f"SYS-11-seed-{seed:02}"))
        short = [one.ttft_s(name) for name in one.of_prompt(200)]
        ratios.append(percentile(short, 99) / percentile(short, 50))
    assert max(ratios) >= 5 * min(ratios)


# All of them


FILES = sorted(path.stem for path in CASES.glob("*.toml"))


@pytest.mark.parametrize("case", FILES)
def test_the_laws_hold_for_every_case_under_every_policy(case: str) -> None:
    scenario = scenario_of(case)
    listed = requests(scenario)
    for policy in POLICIES:
        assert audit(simulate(scenario, policy, listed)) == [], policy


@pytest.mark.parametrize("case", FILES)
def test_a_case_carries_its_source_and_stands_alone(case: str) -> None:
    text = (CASES / f"{case}.toml").read_text("utf-8")
    assert text.startswith("# Source: https://") and ".." not in text
    scenario = scenario_of(case)
    assert scenario.title and scenario.story


def table() -> list[tuple[str, str, str]]:
    """The table of tests/cases/README.md: case, how it is run, whether it holds."""
    lines = [line for line in (CASES / "README.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[1:]]
    return [(case, how, holds) for case, _, how, holds in cells]


def test_the_table_names_every_case_and_says_which_hold_in_part() -> None:
    rows = {case: holds for case, _, holds in table()}
    assert {case.removesuffix("-stream").removesuffix("-least") for case in FILES} == set(rows)
    told = {case: text.removeprefix("in part: ") for case, text in rows.items() if text.startswith("in part")}
    assert told == IN_PART
    assert all(text.startswith("holds") for case, text in rows.items() if case not in IN_PART)


@pytest.mark.parametrize(("case", "how"), [(case, how) for case, how, _ in table()])
def test_a_case_can_be_run_as_the_table_says(case: str, how: str) -> None:
    known = {*POLICIES, "true", *FILES}
    for words in re.findall(r"`([^`]+)`", how):
        if "=" in words:
            scenario_of(case, *words.split())
        else:
            assert words in known or words.replace(".", "").isdigit() or words == "1e6", words


def test_run_says_beside_the_figures_what_the_cases_ask_for(capsys: pytest.CaptureFixture[str]) -> None:
    for case, policy, path, text in (
        ("PRI-04", "priority", "policies.priority", "no request waited"),
        ("PRI-06", "fcfs", "policies.fcfs", "does not look at priority"),
        ("SYS-04", "fcfs", "engine.max_num_batched_tokens", "token budget"),
    ):
        assert main(["run", str(CASES / f"{case}.toml"), "--json"]) == 0
        notes = json.loads(capsys.readouterr().out)["policies"][policy]["notes"]
        assert any(note["path"] == path and text in note["text"] for note in notes), case
