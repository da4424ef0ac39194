"""Random scenarios, and the checks that every run of them must pass: the same for the same seed, anywhere."""

import json
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sched.audit import audit
from sched.engine import simulate
from sched.fields import ScenarioError
from sched.inversion import Inversion, analyse
from sched.log import Log
from sched.metrics import summary
from sched.model import Setting
from sched.randomness import stream
from sched.scenario import Scenario, known_policies
from sched.sums import exact_sum
from sched.waits import waits

T = TypeVar("T")
TRIES = 20
"""Drawn settings may contradict each other; then the scenario is drawn again."""
CLASSES = ("chat", "api", "docs")
LAST_S = 6
"""The last explicit request comes then at the latest."""


class Dice:
    """Draws from one named stream."""

    def __init__(self, seed: int, *names: str) -> None:
        self._stream = stream(seed, "fuzz", *names)

    def share(self) -> float:
        """A number between 0 and 1."""
        return float(self._stream.uniforms(1)[0])

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self.share() * (high - low + 1))

    def one_of(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.whole(0, len(values) - 1)]

    def happens(self, share: float) -> bool:
        """True in this share of the draws."""
        return self.share() < share


def scenario_of_seed(seed: int, policies: Sequence[str] | None = None) -> Scenario:
    """A few requests that contend in a tiny engine; the same for the same seed.

    Compared are these policies, with the settings that are drawn for all of them.
    """
    for number in range(TRIES):
        try:
            drawn = _scenario(seed, str(number))
        except ScenarioError:
            continue
        kept = {key: drawn.policies[key] for key in policies or drawn.policies}
        return drawn.changed(policies=kept)
    raise AssertionError(f"seed {seed}: no valid scenario in {TRIES} draws")


def _scenario(seed: int, number: str) -> Scenario:
    dice = Dice(seed, number, "scenario")
    engine = _engine(dice)
    timed = {"timeout_s": dice.one_of([0.5, 2.0, 7.5])} if dice.happens(0.3) else {}
    given: dict[str, Any] = {
        "title": f"Random scenario {seed}",
        "seed": seed,
        "duration_s": LAST_S + 1.0,
        "urgency": dice.one_of(["low_first", "high_first"]),
        "engine": engine,
        "classes": {dice.one_of(CLASSES): {"slo": {"ttft_s": 1.5, "tpot_s": 0.5, "e2e_s": 9.0}, **timed}},
        "tenants": {"A": {"weight": dice.one_of([1.0, 3.0])}},
        "policies": _policies(seed, number),
    }
    if dice.happens(0.2):
        given["drain_s"] = dice.one_of([0.0, 3.3, 60.0])
    if dice.happens(0.1):
        given["warmup_s"] = 2.0
    source = _traffic if dice.happens(0.2) else _requests
    return Scenario(**given, **source(dice, engine))


def _engine(dice: Dice) -> dict[str, Any]:
    """Memory, seats and token budget all run out."""
    is_chunked = dice.happens(0.7)
    engine: dict[str, Any] = {
        "hardware": dice.one_of(["constant", "constant", "affine", "h100_sxm|llama-3.1-8b|tp1"]),
        "iteration_s": dice.one_of([0.25, 1.0]),
        "affine": {"base_s": 0.1, "prefill_token_s": 0.01, "decode_seq_s": 0.02, "kv_token_s": 0.001},
        "block_size": dice.one_of([1, 4, 16, 100]),
        "kv_blocks": dice.whole(2, 40),
        "max_num_seqs": dice.whole(1, 6),
        "max_num_batched_tokens": dice.whole(1, 64) if is_chunked else 5000,
        "enable_chunked_prefill": is_chunked,
        "long_prefill_token_threshold": dice.one_of([0, 0, 4, 17]),
        "enable_prefix_caching": dice.happens(0.3),
        "watermark": dice.one_of([0.0, 0.0, 0.1]),
        "gate": dice.one_of(["full_prompt", "first_chunk", "peak"]),
        "max_model_len": dice.one_of([0, 0, 0, 50]),
    }
    # The gates that look ahead count every block as one request's own.
    if not engine["enable_prefix_caching"] and dice.happens(0.2):
        engine |= {"gate": dice.one_of(["expected", "lookahead"]), "expected_ratio": dice.share()}
    return engine


def _requests(dice: Dice, engine: dict[str, Any]) -> dict[str, Any]:
    """2 to 14 explicit requests, with ties in arrival, priority and length; some can never fit."""
    room = engine["kv_blocks"] * engine["block_size"]
    listed = []
    for index in range(dice.whole(2, 14)):
        most = room // 3 if dice.happens(0.7) else room + room // 8
        prompt = dice.whole(1, max(1, min(2000, most)))
        shared = dice.whole(0, prompt) if engine["enable_prefix_caching"] else 0
        listed.append(
            {
                "id": f"r{index}",
                "class": dice.one_of(CLASSES),
                "tenant": dice.one_of("AB"),
                "priority": dice.whole(0, 2),
                "arrival_s": dice.whole(0, 2 * LAST_S) / 2,
                "prompt": prompt,
                "output": dice.whole(1, 30),
                "prefix": [[dice.one_of("xy"), shared]] if shared else [],
            }
        )
    return {"requests": listed}


def _traffic(dice: Dice, engine: dict[str, Any]) -> dict[str, Any]:
    """Generated classes, at most 15 requests each."""
    room = engine["kv_blocks"] * engine["block_size"]
    arrivals = [{"kind": "poisson"}, {"kind": "gamma", "cv": 2.0}, {"kind": "dump", "size": 5}]
    return {
        "traffic": [
            {
                "name": name,
                "priority": priority,
                "tenant": dice.one_of("AB"),
                "rate_per_s": dice.one_of([0.3, 1.0, 3.0]),
                "max_requests": 15,
                "arrivals": dice.one_of(arrivals),
                "prompt": {"kind": "lognormal", "mean": max(1.0, room / 6), "max": max(1, min(2000, room))},
                "output": {"kind": "exponential", "mean": 10.0, "max": 40},
            }
            for priority, name in enumerate(CLASSES)
        ]
    }


def _policies(seed: int, number: str) -> dict[str, dict[str, Any]]:
    """Every policy, some with drawn settings; a stream each, so that a new policy moves no other."""
    found = {}
    for key, entry in known_policies().items():
        dice = Dice(seed, number, "policy", key)
        drawn = {one.name: _value(dice, one) for one in entry.settings if dice.happens(0.4)}
        found[key] = {name: value for name, value in drawn.items() if value is not None}
    return found


def _value(dice: Dice, one: Setting) -> Any:
    """Any value the setting may have, small ones rather than large; None where it stays at its default."""
    low = one.low if one.low is not None else 0.0
    high = min(one.high if one.high is not None else 50.0, max(low, 0.0) + 50.0)
    low = max(low, -5.0)
    if one.table:
        return {str(level): round(low + dice.share() * (high - low), 2) for level in range(dice.whole(0, 2))}
    if isinstance(one.default, tuple):
        return [round(low + dice.share() ** 2 * (high - low), 3) for _ in range(dice.whole(1, 4))]
    if one.choices:
        return dice.one_of(one.choices)
    if isinstance(one.default, bool):
        return dice.happens(0.5)
    if isinstance(one.default, str):
        return None
    if isinstance(one.default, int) or (one.default is None and isinstance(one.step, int)):
        return dice.whole(int(low), int(min(high, low + 9)))
    return round(low + dice.share() * (high - low), 3)


def check(scenario: Scenario, policy: str) -> list[str]:
    """A sentence for everything that is wrong with this policy's run; none when all is well."""
    try:
        log = simulate(scenario, policy)
        found = audit(log)
        if found:
            return found
        inversion = analyse(log)
        json.dumps(summary(log, scenario, inversion, in_full=True), allow_nan=False)
        return _sums(log, inversion)
    except ScenarioError:
        return []  # refused in words
    except Exception as error:
        cause = error
        while isinstance(cause.__cause__, Exception):
            cause = cause.__cause__
        frames = traceback.extract_tb(cause.__traceback__)
        # SimPy's own frames say nothing of where it went wrong.
        ours = [frame for frame in frames if Path(frame.filename).is_relative_to(Path(__file__).parent)]
        last = (ours or frames)[-1]
        return [f"{type(cause).__name__}: {cause} ({Path(last.filename).name}, line {last.lineno})"]


def _sums(log: Log, inversion: Inversion) -> list[str]:
    """The causes of every wait add up to it, and the blame to the inversion."""
    found, ids = waits(log), log.requests.ids
    waited = np.zeros(len(ids), dtype=np.int64)
    np.add.at(waited, found.request, found.to_ps - found.from_ps)
    wrong = np.flatnonzero(waited != inversion.wait_ps)[:3].tolist()
    told = [f"{ids[one]} waited {waited[one]} ps; causes make {inversion.wait_ps[one]}" for one in wrong]
    blamed, inverted = sum(inversion.culprits.total), exact_sum(inversion.inversion_ps)
    if blamed != inverted:
        told.append(f"the blame makes {blamed} ps, the inversion is {inverted} ps")
    return told
