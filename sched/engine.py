"""Runs a policy over a scenario's requests.

SimPy is the clock of the world around the batch; the engine runs ahead of it to the first iteration boundary
at or after the world's next event, and what happened meanwhile comes before the decision there.
"""

import gc
from collections.abc import Callable, Generator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import simpy

from sched.alone import alone_ps
from sched.cost import IterationCost, iteration_cost, machine
from sched.horizon import refuse_endless
from sched.intake import AFTER_ALL
from sched.log import Log
from sched.model import NEVER, PS_PER_S, Machine
from sched.policies import POLICIES
from sched.policies.base import Policy, Scene
from sched.predictors import forecast
from sched.record import Recorder
from sched.replicas import chosen, joined, routes
from sched.scenario import Scenario, known_policies
from sched.server import Server
from sched.workload import RequestList, requests

TURNS = 256
"""Between two looks of somebody who watches a run: some hundredths of a second."""


def simulate(
    scenario: Scenario,
    policy: str,
    request_list: RequestList | None = None,
    longest_jump: int = AFTER_ALL,
    watch: Callable[[], object] | None = None,
) -> Log:
    """Run one policy over the scenario's requests (or over these) and return what happened.

    The same scenario gives the same log, bit for bit. `policy` is a key of POLICIES; its settings are the
    scenario's, or the defaults where the scenario does not list it. `watch` is called now and then: what
    it raises ends the run. Raises ScenarioError for what cannot end within the longest run.
    """
    listed = requests(scenario) if request_list is None else request_list
    refuse_endless(scenario, listed)
    resolved, cost, options = machine(scenario), iteration_cost(scenario), settings_of(scenario, policy)
    listed = POLICIES[policy].prepare(listed, options, resolved)
    scene = scene_of(scenario, listed, resolved, cost, options)
    rules = POLICIES[policy](options, scene)
    horizon_ps = NEVER
    if scenario.drain_s is not None:
        horizon_ps = int((Fraction(repr(scenario.duration_s)) + Fraction(repr(scenario.drain_s))) * PS_PER_S)
    if not rules.is_replicated:
        return run(listed, resolved, cost, rules, horizon_ps, longest_jump, watch)
    engines = [POLICIES[policy](options, replace(scene, machine=one)) for one in rules.machines()]
    if rules.spills:
        route = routes(listed, cost, engines, horizon_ps)
    else:
        route = np.array([rules.home(level) for level in listed.priority.tolist()], dtype=np.int64)
    rows = [np.flatnonzero(route == number) for number in range(len(engines))]
    logs = [
        run(chosen(listed, own), one.scene.machine, cost, one, horizon_ps, longest_jump, watch)
        for one, own in zip(engines, rows, strict=True)
    ]
    return joined(listed, resolved, logs, rows)


def scene_of(
    scenario: Scenario, listed: RequestList, resolved: Machine, cost: IterationCost, options: Any
) -> Scene:
    """What a policy with these settings may know of a run over these requests."""
    longest = np.full(len(listed), resolved.max_model_len or 1 << 62)
    lives = np.minimum(listed.prompt_tokens + listed.output_tokens, longest) - 1
    blocks = -(-lives // resolved.block_size)
    count = max(1, len(listed))
    predictor = getattr(options, "predictor", "off")
    belief: dict[str, Any] = {}
    if predictor != "off":
        belief["forecast"] = forecast(listed, predictor, options.error, options.tau, scenario.seed)
    return Scene(
        machine=resolved,
        most_urgent=int(listed.priority.min()) if len(listed.ids) else 0,
        weights={listed.tenant_names[one]: listed.weights[one] for one in _by_first_arrival(listed)},
        sign=scenario.level(1),
        peaks={
            int(level): tuple(sorted(blocks[listed.priority == level].tolist()))
            for level in np.unique(listed.priority)
        },
        mean_prompt_tokens=Fraction(int(listed.prompt_tokens.sum()), count),
        mean_output_tokens=Fraction(int(listed.output_tokens.sum()), count),
        alone_ps=lambda prompt, output: alone_ps(resolved, cost, prompt, output),
        iteration_ps=cost.decode_ps(1),
        **belief,
    )


def _by_first_arrival(listed: RequestList) -> list[int]:
    """The tenants in the order of their first requests; those without any last."""
    came, first = np.unique(listed.tenant_index, return_index=True)
    never = np.setdiff1d(np.arange(len(listed.tenant_names)), came)
    return [*came[np.argsort(first)].tolist(), *never.tolist()]


def settings_of(scenario: Scenario, policy: str) -> Any:
    """The policy's settings in this scenario, or their defaults where it is not listed."""
    listed = scenario.policies.get(policy)
    return known_policies()[policy].model() if listed is None else listed


def run(
    listed: RequestList,
    resolved: Machine,
    cost: IterationCost,
    policy: Policy,
    horizon_ps: int = NEVER,
    longest_jump: int = AFTER_ALL,
    watch: Callable[[], object] | None = None,
) -> Log:
    """Run a policy over a request list on a machine. Times in picoseconds; NEVER: until all have ended.

    `longest_jump` bounds the iterations taken at once; whatever it is, the same happens.
    """
    recorder = Recorder(listed)
    server = (Server if watch is None else watched(watch))(
        listed, resolved, cost, policy, recorder, horizon_ps, longest_jump
    )
    collecting = gc.isenabled()
    # Nothing here makes reference cycles; the collector would only walk the live requests again and again.
    gc.disable()
    try:
        world = simpy.Environment()
        world.process(_ahead(world, server))
        if (listed.timeout_ps >= 0).any():
            world.process(_give_up(world, server, listed))
        world.run()
    finally:
        if collecting:
            gc.enable()
    return recorder.finish(server.batch, server.stop_reason, horizon_ps, server.jumps)


def watched(watch: Callable[[], object]) -> type[Server]:
    """An engine that calls `watch` before every so many jumps and iterations; else it does the same."""
    turns = 0

    class Watched(Server):
        def _take_turn(self) -> None:
            nonlocal turns
            turns += 1
            if turns % TURNS == 0:
                watch()

        def _step(self) -> None:
            self._take_turn()
            super()._step()

        def _jump(self, until_ps: float) -> None:
            self._take_turn()
            super()._jump(until_ps)

    return Watched


def _give_up(
    world: simpy.Environment, server: Server, listed: RequestList
) -> Generator[simpy.Event, None, None]:
    """Clients that lose patience: each deadline, in order, puts its request into the engine's inbox."""
    patient = (listed.timeout_ps >= 0).nonzero()[0]
    arrival, patience = listed.arrival_ps[patient].tolist(), listed.timeout_ps[patient].tolist()
    due = sorted(zip(map(int.__add__, arrival, patience), patient.tolist(), strict=True))
    for at_ps, ordinal in due:
        if at_ps > world.now:
            yield world.timeout(at_ps - world.now)
        if server.done:
            return
        server.inbox.append(ordinal)


def _ahead(world: simpy.Environment, server: Server) -> Generator[simpy.Event, None, None]:
    """The engine as a process: ahead to the next thing that the world may do, then wait for it."""
    while not server.done:
        server.advance(world.peek())
        if not server.done:
            yield Boundary(world, server.now_ps)


class Boundary(simpy.Event):
    """The end of an iteration: it comes after everything else that happens at the same instant."""

    def __init__(self, world: simpy.Environment, at_ps: int) -> None:
        super().__init__(world)
        self._ok, self._value = True, None
        world.schedule(self, priority=simpy.events.NORMAL + 1, delay=max(0, at_ps - world.now))  # type: ignore[arg-type]
