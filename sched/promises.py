"""What each class of requests was promised, in picoseconds."""

from dataclasses import dataclass

from sched.cost import picoseconds
from sched.model import NEVER
from sched.scenario import Scenario, Slo


@dataclass(frozen=True, slots=True)
class Goals:
    """What is promised, in picoseconds, NEVER where nothing is."""

    ttft: int = NEVER
    tpot: int = NEVER
    e2e: int = NEVER
    timeout: int = NEVER

    def over(self, slo: Slo, timeout_s: float | None) -> "Goals":
        """These goals, replaced by the ones given here."""
        given = (slo.ttft_s, slo.tpot_s, slo.e2e_s, timeout_s)
        below = (self.ttft, self.tpot, self.e2e, self.timeout)
        pairs = zip(given, below, strict=True)
        return Goals(*(old if new is None else picoseconds(new) for new, old in pairs))


def promises(scenario: Scenario) -> dict[str, Goals]:
    """What each class was promised: its table in `classes`, and over it what its traffic says inline."""
    goals = {name: Goals().over(one.slo, one.timeout_s) for name, one in scenario.classes.items()}
    for traffic in scenario.traffic:
        goals[traffic.name] = goals.get(traffic.name, Goals()).over(traffic.slo, traffic.timeout_s)
    return goals
