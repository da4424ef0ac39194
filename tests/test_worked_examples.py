"""The hand-worked examples of the policies' specification, run by the product and by the slow engine.

Times are seconds from the start. A box (width, length) holds that many blocks and takes that many iterations
of 1 s: its prompt fills all of its blocks but the last, into which its output fits. Each comment is the sum
that gives the expected times.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from sched import POLICIES, Scenario, simulate
from sched.model import NEVER, PS_PER_S, Outcome
from sched.predictors import predictions
from sched.workload import requests as request_list
from tests.test_jumping_equals_stepping import step

Row = dict[str, Any]
Outcomes = tuple[float | None, float | None] | str
SEAT = {"max_num_seqs": 1}
HALVES = dict.fromkeys(["base_s", "prefill_token_s", "decode_seq_s"], 0.5)
UNITS = {"hardware": "affine", "affine": HALVES | {"kv_token_s": 0.0, "attention_s": 0.0}}
"""Alone, a prompt of 1 token takes 1 s, one of 7 takes 4 s, and each token after the first 1 s."""


@dataclass(frozen=True)
class Worked:
    """One run: first time in a batch and finish by request, or how else it ended."""

    name: str
    policy: str
    rows: list[Row]
    expected: Mapping[str, Outcomes]
    settings: dict[str, Any] = field(default_factory=dict)
    engine: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)


def box(name: str, at_s: float, width: int, length: int, priority: int = 0, **more: Any) -> Row:
    row = {"id": name, "arrival_s": at_s, "prompt": 16 * (width - 1) + 1, "output": length}
    return row | {"priority": priority, **more}


def sized(name: str, at_s: float, prompt: int, output: int, priority: int = 0, **more: Any) -> Row:
    return {"id": name, "arrival_s": at_s, "prompt": prompt, "output": output, "priority": priority, **more}


def in_order(names: str, length: int = 1) -> dict[str, tuple[float, float]]:
    """One after the other on one seat, each of this length."""
    return {name: (i * length, (i + 1) * length) for i, name in enumerate(names.split())}


THREE = [sized("R0", 0, 1, 10), sized("R1", 0, 1, 2), sized("R2", 0, 1, 1)]
JOIN = [sized("J0", 0, 7, 2), sized("J1", 0, 1, 2), sized("J2", 0, 1, 3)]
STREAM = [box(f"r{i}", i, 1, 1) for i in range(12)]
INVERSION = [box("C", 0, 3, 5, 2), *(box(f"M{i}", i, 2, 3, 1) for i in range(1, 7)), box("A", 2, 7, 4)]
DUE = {"A": 10, "B": 3, "C": 6, "X": 4, "Y": 5, "Z": 6, "V": 7}


def due(name: str, length: int) -> Row:
    return box(name, 0, 1, length, slo={"e2e_s": float(DUE[name])})


BATCHES = [
    # R0 and R1 start; R0 ends at 10 and R1 with it, then R2.
    Worked(
        "A1",
        "static",
        THREE,
        {"R0": (0, 10), "R1": (0, 10), "R2": (10, 11)},
        {"stream": False},
        {"max_num_seqs": 2},
    ),
    Worked(
        "A1 continuous", "fcfs", THREE, {"R0": (0, 10), "R1": (0, 2), "R2": (2, 3)}, {}, {"max_num_seqs": 2}
    ),
    # 10, then 10 + 2, then 12 + 1.
    Worked("A2", "fcfs", THREE, {"R0": (0, 10), "R1": (10, 12), "R2": (12, 13)}, {}, SEAT),
    # C takes all 8 tokens of the iterations 0 to 4 (5 x 8 = 40); A first gets tokens in the sixth.
    *(
        Worked(
            f"A4.2 {policy}",
            policy,
            [sized("C", 0, 40, 2, 2), sized("A", 1, 4, 3)],
            {"C": (0, 6), "A": (5, 8)},
            {},
            {"max_num_batched_tokens": 8},
        )
        for policy in ("fcfs", "priority")
    ),
    # Peaks of 3 + 3 - 1 = 5 blocks: two of them exceed 8, so one after the other.
    Worked(
        "A4.3 no preemption",
        "fcfs",
        [sized("R1", 0, 3, 3), sized("R2", 0, 3, 3)],
        {"R1": (0, 3), "R2": (3, 6)},
        {},
        {"kv_blocks": 8, "block_size": 1, "gate": "peak"},
    ),
    # 3 + 3, then 4 + 4, then 5 + 5 > 8: R2 leaves with two tokens; at 3 it computes 3 + 2 and emits one.
    Worked(
        "A4.3 most use",
        "fcfs",
        [sized("R1", 0, 3, 3), sized("R2", 0, 3, 3)],
        {"R1": (0, 3), "R2": (0, 4)},
        {},
        {"kv_blocks": 8, "block_size": 1},
    ),
    # More urgent is larger here. 15 - 5 = 10 is not above 10; 16 - 5 is: then L's other 3 of 4 come at 3.
    *(
        Worked(
            f"A4.5 {priority}",
            "preemptive",
            [box("L", 0, 1, 4, 5), box("H", 1, 1, 2, priority)],
            expected,
            {"gap": 10},
            SEAT,
            {},
            {"urgency": "high_first"},
        )
        for priority, expected in ((15, {"L": (0, 4), "H": (4, 6)}), (16, {"L": (0, 6), "H": (1, 3)}))
    ),
]

LEVELS = [
    # R0 0-1 falls; R1 1-2 falls; R2 2-3 ends. R0 3-5 falls; R1 5-6 ends; R0 has 1 + 2 of 10: 6 + 7 = 13.
    Worked(
        "A5",
        "mlfq",
        THREE,
        {"R2": (2, 3), "R1": (1, 6), "R0": (0, 13)},
        {"quanta": [1, 2, 4], "boost_s": 0},
        SEAT,
    ),
    # J0's prefill of 4 s enters the third level. J1 0-1, J2 1-2, both fall; J1 2-3, J2 3-5, J0 5-10.
    Worked(
        "A6",
        "skip_join_mlfq",
        JOIN,
        {"J1": (0, 3), "J2": (1, 5), "J0": (5, 10)},
        {"quanta": [1, 2, 4], "starve_s": 1000, "mode": "swap"},
        SEAT | UNITS,
    ),
    # Naive: J0 0-4, J1 4-5, J2 5-6, all one level down; J0 6-7, J1 7-8, J2 8-10.
    Worked(
        "A6 naive",
        "mlfq",
        JOIN,
        {"J0": (0, 7), "J1": (4, 8), "J2": (5, 10)},
        {"quanta": [1, 2, 4], "boost_s": 0, "mode": "swap"},
        SEAT | UNITS,
    ),
    Worked("A6 fcfs", "fcfs", JOIN, {"J0": (0, 5), "J1": (5, 7), "J2": (7, 10)}, {}, SEAT | UNITS),
    # The stream of 12 ends at 12.
    Worked("A7 literal", "article_mlfq", [box("L", 0, 1, 1, 1), *STREAM], {"L": (12, 13)}, {}, SEAT),
    # Level 2, at 5 level 1, at 10 level 0, where nobody came earlier.
    Worked(
        "A7 repaired",
        "mlfq",
        [box("L", 0, 1, 1, 1), *STREAM],
        {"L": (10, 11), "r9": (9, 10), "r10": (11, 12)},
        {"enter": "class", "promote_s": 5, "boost_s": 0},
        SEAT,
    ),
    # 2 - 0.5 x 4 = 0, as the newcomer of 4 s, and L came earlier.
    Worked("A11", "aging", [box("L", 0, 1, 1, 2), *STREAM], {"L": (4, 5)}, {"per_s": 0.5}, SEAT),
    Worked("A11 no credit", "aging", [box("L", 0, 1, 1, 2), *STREAM], {"L": (12, 13)}, {"per_s": 0}, SEAT),
    # Aging changes who is first, not who fits: A still enters at 8, as under backfill.
    Worked(
        "A11 inversion",
        "aging",
        INVERSION,
        {"A": (8, 12), "C": (0, 5)},
        {"misfit": "skip"},
        {"kv_blocks": 10},
    ),
]

SIZES = [
    # 1, 1 + 2, 3 + 10; per token (1/1 + 3/2 + 13/10)/3.
    Worked("A8", "sjf", THREE, {"R2": (0, 1), "R1": (1, 3), "R0": (3, 13)}, {}, SEAT),
    # At 3 L has 10 - 3 = 7 to go, S 2: S 3-5, L 5-12.
    Worked("A9", "srpt", [box("L", 0, 1, 10), box("S", 3, 1, 2)], {"S": (3, 5), "L": (0, 12)}, {}, SEAT),
    Worked(
        "A9 fcfs", "fcfs", [box("L", 0, 1, 10), box("S", 3, 1, 2)], {"L": (0, 10), "S": (10, 12)}, {}, SEAT
    ),
    # A done at 4 of 10, B at 6 of 3, C at 9 of 6: one in time.
    Worked(
        "A12 fcfs",
        "fcfs",
        [due("A", 4), due("B", 2), due("C", 3)],
        {"A": (0, 4), "B": (4, 6), "C": (6, 9)},
        {},
        SEAT,
    ),
    # By due time: B 2 <= 3, C 5 <= 6, A 9 <= 10.
    Worked(
        "A12",
        "edf",
        [due("A", 4), due("B", 2), due("C", 3)],
        {"B": (0, 2), "C": (2, 5), "A": (5, 9)},
        {"deadline": "e2e"},
        SEAT,
    ),
    # Too much: X 4 <= 4, then Y 7 > 5, Z 9 > 6, V 10 > 7.
    Worked(
        "A12 overload",
        "edf",
        [due("X", 4), due("Y", 3), due("Z", 2), due("V", 1)],
        {"X": (0, 4), "Y": (4, 7), "Z": (7, 9), "V": (9, 10)},
        {"deadline": "e2e"},
        SEAT,
    ),
    # V 1 <= 7 and Z 3 <= 6, then Y 6 > 5 and X 10 > 4: two.
    Worked(
        "A12 overload by size",
        "sjf",
        [due("X", 4), due("Y", 3), due("Z", 2), due("V", 1)],
        {"V": (0, 1), "Z": (1, 3), "Y": (3, 6), "X": (6, 10)},
        {},
        SEAT,
    ),
]


def tasks(tenant: str, width: int, count: int) -> list[Row]:
    rows = [box(f"{tenant}{i}", 0, width, 9, tenant=tenant) for i in range(1, count + 1)]
    return [row | {"class": tenant} for row in rows]


def turns(tenant: str, prompt: int, output: int, count: int, at_s: float = 0) -> list[Row]:
    return [sized(f"{tenant}{i}", at_s, prompt, output, tenant=tenant) for i in range(1, count + 1)]


def from_to(order: str, lengths: dict[str, int]) -> dict[str, tuple[float, float]]:
    """One seat: tenants in this order, each with its next request of its own length."""
    found: dict[str, tuple[float, float]] = {}
    seen: dict[str, int] = {}
    now = 0
    for tenant in order.split():
        seen[tenant] = seen.get(tenant, 0) + 1
        found[f"{tenant}{seen[tenant]}"] = (now, now + lengths[tenant])
        now += lengths[tenant]
    return found


TENANTS = [
    # Nine cores and 18 blocks; A takes 1 and 4, B 3 and 1. Three of A hold 12/18, two of B 6/9: 2/3 each, and
    # no core is left. At 9 s all end together and the next five start.
    Worked(
        "A13",
        "drf",
        [*tasks("A", 4, 4), *tasks("B", 1, 3)],
        dict.fromkeys("A1 A2 A3 B1 B2".split(), (0, 9)) | {"A4": (9, 18), "B3": (9, 18)},
        {"cpu_cores": 9, "cpu": {"A": 1, "B": 3}, "half_life_s": 0},
        {"kv_blocks": 18},
    ),
    # 18 cores and 36 blocks at weights 2 to 1: eight of A (32/36), three of B (9/18); then neither fits.
    Worked(
        "A13 weights",
        "drf",
        [*tasks("A", 4, 9), *tasks("B", 1, 4)],
        dict.fromkeys("A1 A2 A3 A4 A5 A6 A7 A8 B1 B2 B3".split(), (0, 9)) | {"A9": (9, 18), "B4": (9, 18)},
        {"cpu_cores": 18, "cpu": {"A": 1, "B": 3}, "half_life_s": 0},
        {"kv_blocks": 36},
        {"A": 2.0},
    ),
    # A costs 4 + 2 x 2 = 8, B 4 + 2 x 10 = 24: at 8 and 24 A three more times (ties by arrival, then id).
    Worked(
        "A14",
        "vtc",
        [*turns("A", 4, 2, 6), *turns("B", 4, 10, 2)],
        from_to("A B A A A B A A", {"A": 2, "B": 10}),
        {},
        SEAT,
    ),
    # Equal requests of 8, B weighs 3: A pays 8 for one, B 8/3; after A at 8 three of B come to 8.
    Worked(
        "A14 weights",
        "vtc",
        [*turns("A", 4, 2, 2), *turns("B", 4, 2, 6)],
        from_to("A B B B A B B B", {"A": 2, "B": 2}),
        {},
        SEAT,
        {"B": 3.0},
    ),
    # C wakes in the iteration that brings A to 48 = B: it starts at 48 and goes third, not six times first.
    Worked(
        "A14 lift",
        "vtc",
        [*turns("A", 4, 2, 8), *turns("B", 4, 10, 3), *turns("C", 4, 2, 2, 31.5)],
        from_to("A B A A A B A A A B C A C", {"A": 2, "B": 10, "C": 2}),
        {},
        SEAT,
    ),
    # Costs 1 + 2 = 3 and 7 + 2 = 9, mean 6, weights a half: quantum 3. B can pay in every third round.
    Worked(
        "A15",
        "drr",
        [*turns("A", 1, 1, 6), *turns("B", 7, 1, 6)],
        from_to("A A A B A A A B B B B B", {"A": 1, "B": 1}),
        {},
        SEAT,
        {"A": 0.5, "B": 0.5},
    ),
    # Shares of 7 and 3 blocks. A holds 4 and may not take 4 more; B takes all of its 3. B2 at 2, A2 at 4.
    Worked(
        "A25",
        "quota",
        [
            *(box(f"A{i}", 0, 4, 4, tenant="A") for i in (1, 2)),
            *(box(f"B{i}", 0, 3, 2, tenant="B") for i in (1, 2)),
        ],
        {"A1": (0, 4), "B1": (0, 2), "B2": (2, 4), "A2": (4, 8)},
        {},
        {"kv_blocks": 10},
        {"A": 7.0, "B": 3.0},
    ),
    # B has used nothing when A1 is out; then A's token is older than B's. X is batch: it fills what is left.
    Worked(
        "A26",
        "mlfq_drf",
        [
            *(box(f"A{i}", 0, 1, 1, tenant="A") for i in (1, 2, 3)),
            box("B1", 0, 1, 1, tenant="B"),
            box("X", 0, 1, 1, 1, tenant="B"),
        ],
        in_order("A1 B1 A2 A3 X"),
        {},
        SEAT,
    ),
]

CAPS = [
    # C keeps 8 of 10 blocks until 4; A needs 6.
    Worked(
        "A18 no cap",
        "priority",
        [box("C", 0, 8, 4, 1), box("A", 1, 6, 2)],
        {"A": (4, 6), "C": (0, 4)},
        {},
        {"kv_blocks": 10},
    ),
    # 64 tokens a request: pieces of at most 64 - 4 + 1 = 61, so 113 = 57 + 56, of 4 blocks each.
    Worked(
        "A18 split",
        "kv_cap",
        [box("C", 0, 8, 4, 1), box("A", 1, 6, 2)],
        {"A": (1, 3), "C/1": (0, 4), "C/2": (4, 8)},
        {"per_request": 64, "split": True},
        {"kv_blocks": 10},
    ),
    # Waits of 0, 2, 4 and 4 are predicted (who is turned away does not wait): two of four get in.
    Worked(
        "A22",
        "shed",
        [sized(f"r{i}", 0, 1, 2) for i in range(4)],
        {"r0": (0, 2), "r1": (2, 4), "r2": "shed", "r3": "shed"},
        {"max_wait_s": 3},
        SEAT,
    ),
    # A slice of 4 of 8 gives A a token after one iteration. C has 4 an iteration: 40/4 + 1 = 11.
    Worked(
        "A17 strict",
        "rescue",
        [sized("C", 0, 40, 2, 2), sized("A", 1, 4, 3)],
        {"A": (1, 4), "C": (0, 11)},
        {"kv": 0, "tokens": 0.5, "lend": False},
        {"max_num_batched_tokens": 8},
    ),
    # Lent: C has 8, then beside A's 4, 1, 1 tokens 4, 7, 7, then 8 and 6: 40 in six iterations, 6 + 1.
    Worked(
        "A17 lent",
        "rescue",
        [sized("C", 0, 40, 2, 2), sized("A", 1, 4, 3)],
        {"A": (1, 4), "C": (0, 7)},
        {"kv": 0, "tokens": 0.5, "lend": True},
        {"max_num_batched_tokens": 8},
    ),
]
EXAMPLES = [*BATCHES, *LEVELS, *SIZES, *TENANTS, *CAPS]


def scenario(one: Worked, seed: int = 1) -> Scenario:
    engine = {"hardware": "constant", "iteration_s": 1.0, "kv_blocks": 1000, "block_size": 16}
    return Scenario(
        seed=seed,
        engine=engine | {"max_num_batched_tokens": 100_000} | one.engine,
        requests=one.rows,
        tenants={name: {"weight": weight} for name, weight in one.weights.items()},
        policies={one.policy: one.settings},
        **one.rest,
    )


def seen(data: Scenario, policy: str, engine: str) -> dict[str, Outcomes]:
    """What became of each request; `engine` is the product or the reference."""
    if engine == "reference":
        jobs = step(data, policy).jobs.values()
        rows = [(job.id, job.outcome, job.first_scheduled_ps, job.ended_ps) for job in jobs]
    else:
        log = simulate(data, policy)
        columns = (log.outcome, log.first_scheduled_ps, log.ended_ps)
        rows = list(zip(log.requests.ids, *(column.tolist() for column in columns), strict=True))
    return {
        name: tuple(None if ps == NEVER else ps / PS_PER_S for ps in times)  # type: ignore[misc]
        if outcome == Outcome.FINISHED
        else Outcome(outcome).name.lower()
        for name, outcome, *times in rows
    }


@pytest.mark.parametrize("engine", ["product", "reference"])
@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.name)
def test_the_specification_s_example_comes_out(one: Worked, engine: str) -> None:
    if one.policy not in POLICIES:
        pytest.skip(f"{one.policy} is not built yet")
    found = seen(scenario(one), one.policy, engine)
    assert {name: found[name] for name in one.expected} == one.expected


@pytest.mark.parametrize("engine", ["product", "reference"])
@pytest.mark.parametrize(
    ("believed", "expected"),
    [
        # R1 and R2 exchanged: 2, 2 + 1, 3 + 10.
        ([10, 1, 2], {"R1": (0, 2), "R2": (2, 3), "R0": (3, 13)}),
        # R0 and R2 exchanged: as first come first served.
        ([1, 2, 10], {"R0": (0, 10), "R1": (10, 12), "R2": (12, 13)}),
    ],
    ids=["A10", "A10 worst"],
)
def test_a_wrong_belief_about_lengths_costs_what_it_says(
    believed: list[int], expected: dict[str, tuple[float, float]], engine: str
) -> None:
    one = Worked("A10", "sjf", THREE, {}, {"predictor": "rank", "tau": 0.0}, SEAT)
    lists = ((seed, request_list(scenario(one, seed))) for seed in range(1000))
    seed = next(s for s, rows in lists if predictions(rows, "rank", 0.6, 0.0, s).tolist() == believed)
    assert seen(scenario(one, seed), "sjf", engine) == expected
