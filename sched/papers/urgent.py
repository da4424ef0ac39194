"""Rows on urgent requests: what priority, headroom and loans do for them, and what they cannot do."""

from typing import Any

import numpy as np

from sched.cost import iteration_cost
from sched.engine import simulate
from sched.execution import execution
from sched.inversion import analyse
from sched.log import Ints, Log
from sched.model import PS_PER_S
from sched.papers.measure import mean_s
from sched.papers.row import Figure, Measured, Paper
from sched.scenario import Scenario

CLIENTS, EACH, SEATS = 4, 12, 8
ROUNDS = CLIENTS * EACH
"""Each round settles at least one more arrival of the closed loop."""


def closed_loop(policy: str, seats: int) -> Log:
    """Clients of two classes that send their next request when the last has ended.

    The arrivals are found by running again until they agree with the ends.
    """
    sent = np.zeros((CLIENTS, EACH), dtype=np.int64)
    for _ in range(ROUNDS + 1):
        log = simulate(_with_arrivals(sent, seats), policy)
        place = {name: row for row, name in enumerate(log.requests.ids)}
        order = [[place[f"client{one}-{number}"] for number in range(EACH)] for one in range(CLIENTS)]
        ended = log.ended_ps[np.array(order)]
        if (ended[:, :-1] == sent[:, 1:]).all():
            return log
        sent[:, 1:] = ended[:, :-1]
    raise AssertionError("the closed loop does not settle")


def _with_arrivals(sent: Ints, seats: int) -> Scenario:
    requests = [
        {
            "id": f"client{one}-{number}",
            "class": ("high", "low")[one % 2],
            "priority": one % 2,
            "arrival_s": at_ps / PS_PER_S,
            # Lengths that differ, or the clients would go in step.
            "prompt": 400 + 37 * ((one * EACH + number) % 7),
            "output": 100 + 29 * ((one + 3 * number) % 5),
        }
        for one, client in enumerate(sent.tolist())
        for number, at_ps in enumerate(client)
    ]
    return Scenario(duration_s=3600, engine={"max_num_seqs": seats}, requests=requests)


def first_token_s(log: Log, name: str) -> float:
    """Mean time to first token of a class."""
    own = log.requests.class_index == log.requests.class_names.index(name)
    return mean_s((log.first_token_ps - log.requests.arrival_ps)[own])


def null_result(seats: int = SEATS) -> Measured:
    """Priority where nobody waits."""
    roomy = {policy: closed_loop(policy, seats) for policy in ("fcfs", "priority")}
    tight = {policy: closed_loop(policy, CLIENTS // 2) for policy in roomy}
    change = {
        name: 100 * abs(first_token_s(roomy["priority"], name) / first_token_s(roomy["fcfs"], name) - 1)
        for name in ("high", "low")
    }
    gain = first_token_s(tight["fcfs"], "high") / first_token_s(tight["priority"], "high")
    together = int(roomy["priority"].stretches.running.max())
    return Measured(
        f"{CLIENTS} clients in a closed loop with {EACH} requests each, two of either class, {seats} seats; "
        "found by running again until every request comes when its client's last has ended",
        (
            Figure("most at once", together, "requests"),
            Figure(
                "TTFT with priority", 1e3 * first_token_s(roomy["priority"], "high"), "ms", 78.2, digits=1
            ),
            Figure("TTFT without", 1e3 * first_token_s(roomy["fcfs"], "high"), "ms", 78.6, digits=1),
            *(Figure(f"change for {name}", one, "%", 0.5, None, 2, 2) for name, one in change.items()),
            Figure(f"gain for high with {CLIENTS // 2} seats", gain, "times", None, 1.2, None, 2),
        ),
    )


MODELS = {
    "dense, 70B on 8 H100": "h100_sxm|llama-3.1-70b|tp8",
    "mixture, 8x7B on 4": "h100_sxm|mixtral-8x7b|tp4",
}
BESIDE = 30


def _beside(hardware: str, count: int) -> Scenario:
    requests: list[dict[str, Any]] = [
        {"id": "urgent", "class": "urgent", "priority": 0, "arrival_s": 5.0, "prompt": 500, "output": 400}
    ]
    if count:
        alike = {"class": "batch", "priority": 10, "prompt": 1000, "output": 4000}
        requests.append({**alike, "id": "batch-{i}", "count": count})
    return Scenario(duration_s=60, engine={"hardware": hardware}, requests=requests)


def slowed_by_company(policy: str = "priority", seats: int = 256) -> Measured:
    """An urgent request in a batch with others, which does not wait and is slower all the same."""
    figures = []
    for name, hardware in MODELS.items():
        alone = simulate(_beside(hardware, 0), policy)
        scenario = _beside(hardware, BESIDE)
        scenario = scenario.changed(engine=scenario.engine.changed(max_num_seqs=seats))
        log = simulate(scenario, policy)
        who = log.requests.ids.index("urgent")
        found = analyse(log)
        took = int(log.ended_ps[who] - log.requests.arrival_ps[who])
        alone_took = int(alone.ended_ps[0] - alone.requests.arrival_ps[0])
        slower = int(execution(found.seen, iteration_cost(scenario)).inversion_ps[who])
        figures += [
            Figure(f"{name}: beside others over alone", took / alone_took, "times", 2, 1.1, None, 2),
            Figure(
                f"{name}: of it in slower iterations",
                100 * slower / (took - alone_took),
                "%",
                None,
                99,
                100,
                1,
            ),
            Figure(
                f"{name}: of it in the queue behind them",
                int(found.inversion_ps[who]) / PS_PER_S,
                "s",
                None,
                0,
                0,
                3,
            ),
        ]
    return Measured(
        f"prompt 500 and output 400 at priority 0, alone and beside {BESIDE} at priority 10 with prompts of "
        "1,000 and outputs of 4,000 tokens that outlast it",
        tuple(figures),
    )


PAPERS = (
    Paper(
        "priority-needs-contention",
        "SGLang, pull request 11158 (benchmark of priority scheduling), 2025",
        "4 clients in a closed loop before 8 seats, priority scheduling on and off",
        "time to first token 78.6 and 78.2 ms: no effect",
        "With more seats than clients nobody waits, so there is no order to change; with fewer there is.",
        null_result,
    ),
    Paper(
        "urgent-beside-thirty",
        "vLLM, github.com/vllm-project/vllm/issues/24365 (high priority does not help), 2025",
        "a request at priority 0, alone and beside 30 at priority 10, DeepSeek V3",
        "8 s alone, 16 s beside the others",
        "It is admitted at once, but shares every iteration with the batch. How much slower that is depends "
        "on the model: a mixture of experts reads more weights for more requests. DeepSeek V3 is not among "
        "the fitted models.",
        slowed_by_company,
    ),
)
