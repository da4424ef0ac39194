"""What the stage says under a side is what the picture and the report say of that moment, word for word."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sched.external import change, link
from sched.figures.captions import caption
from sched.figures.glance import Glance, subject
from sched.figures.side import side
from sched.language import language
from sched.model import PS_PER_S
from sched.page.estimates import estimated
from sched.page.results import result
from sched.scenario import Scenario, preset
from sched.view import Shown

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
STAGE = """([names, moments, notes]) => {
    const stage = __stage, found = [];
    stage.worlds.forEach((world, number) => world.take(notes[number]));
    for (const name of names) {
        stage.pin(name);
        for (const t of moments) {
            stage.go(t, { rest: false });
            stage.captions.forEach((box, side) =>
                found.push([name, t, side, box.querySelector(".words")._said]));
        }
    }
    return found;
}"""


def one_seat() -> Scenario:
    requests = [
        {"id": "a", "arrival_s": 0, "prompt": 40, "output": 30, "priority": 0},
        {"id": "b", "arrival_s": 2, "prompt": 8, "output": 4, "priority": 0},
        {"id": "c", "arrival_s": 3, "prompt": 8, "output": 4, "priority": 1},
    ]
    engine = {"hardware": "constant", "iteration_s": 1.0, "kv_blocks": 100, "max_num_seqs": 1}
    policies: dict[str, object] = {"backfill": {}, "fcfs": {}}
    return Scenario.model_validate({"engine": engine, "requests": requests, "policies": policies})


CASES: dict[str, tuple[Callable[[], Scenario], tuple[str, str]]] = {
    "neighbour": (lambda: preset("noisy-neighbour"), ("backfill", "rescue")),
    "watermark": (
        lambda: change(preset("noisy-neighbour"), {"engine.watermark": "0.05"}),
        ("priority", "preemptive"),
    ),
    "strict": (
        lambda: change(preset("noisy-neighbour"), {"rescue.kv": "0.4", "rescue.lend": "false"}),
        ("rescue", "fcfs"),
    ),
    "tokens": (
        lambda: change(preset("noisy-neighbour"), {"engine.max_num_batched_tokens": "256"}),
        ("priority", "hol"),
    ),
    "seats": (
        lambda: change(preset("noisy-neighbour"), {"engine.max_num_seqs": "9"}),
        ("backfill", "rescue"),
    ),
    "textbook": (lambda: preset("textbook"), ("backfill", "preemptive")),
    "one seat": (one_seat, ("backfill", "fcfs")),
}


@pytest.mark.parametrize("code", ["en", "zh"])
@pytest.mark.parametrize("case", CASES)
def test_the_picture_says_what_the_stage_says(visit: Any, case: str, code: str) -> None:
    make, keys = CASES[case]
    scenario = change(make(), {"policies": ",".join(keys)}) if case != "one seat" else make()
    now, runs = Shown(scenario, *keys), [result(scenario, key) for key in keys]
    sides = [side(one.log, one.inversion) for one in runs]
    notes = [estimated(now, key, run) for key, run in zip(keys, runs, strict=True)]
    ids = runs[0].log.requests.ids
    names = [None, *dict.fromkeys(ids[place] for place in np.linspace(0, len(ids) - 1, 7).astype(int))]
    end_s = max(one.end_ps for one in sides) / PS_PER_S
    moments = [round(float(one), 7) for one in np.random.default_rng(7).uniform(0, end_s, 30)]
    first = visit(f"{link(scenario)}&t=1&a={keys[0]}&b={keys[1]}&lang={code}", reduced_motion="reduce")
    seen, say = first.page.evaluate(STAGE, [names, moments, notes]), language(code)
    assert len(seen) == 2 * len(names) * len(moments)
    kinds = set()
    for name, t, number, said in seen:
        views = [Glance(one, round(t * PS_PER_S), told) for one, told in zip(sides, notes, strict=True)]
        ours = caption(views[number], subject(views, name)[number], say)
        assert spaced(ours) == spaced(said), (name, t, number)
        kinds.add(said.count("**") and said.split("**")[2][:24])
    assert len(kinds) > 3


def spaced(text: str) -> str:
    """Without the spaces between scripts, which the two languages of the page set each in its own way."""
    return text.replace(" ", "")
