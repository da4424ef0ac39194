"""What the stage says under a side is what the picture and the report say of that moment, word for word."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from sched.external import change, link
from sched.figures.captions import caption
from sched.figures.glance import Glance, subject
from sched.figures.side import Side, side
from sched.language import language
from sched.model import PS_PER_S
from sched.page.estimates import estimated
from sched.page.results import result
from sched.scenario import Scenario, preset
from sched.view import Shown

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
STAGE = """([pairs, notes]) => {
    const stage = __stage, found = [];
    stage.worlds.forEach((world, number) => world.take(notes[number]));
    for (const [name, t] of pairs) {
        stage.pin(name);
        stage.go(t, { rest: false });
        stage.captions.forEach((box, side) =>
            found.push([name, t, side, box.querySelector(".words")._said]));
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


def waits(one: Side) -> Iterator[tuple[str, float]]:
    """Requests in the middle of their waits: some for each cause there is."""
    spans, ids = one.spans, one.log.requests.ids
    for code in np.unique(spans.code).tolist():
        rows = np.flatnonzero(spans.code == code)
        for row in rows[np.linspace(0, len(rows) - 1, 6).astype(int)].tolist():
            middle = (int(spans.from_ps[row]) + int(spans.to_ps[row])) // 2
            yield ids[int(spans.request[row])], round(middle / PS_PER_S, 7)


CASES: dict[str, tuple[Callable[[], Scenario], tuple[str, str], str]] = {
    "neighbour": (lambda: preset("noisy-neighbour"), ("backfill", "rescue"), " holds "),
    "watermark": (
        lambda: change(preset("noisy-neighbour"), {"engine.watermark": "0.05"}),
        ("priority", "backfill"),
        " needs ",
    ),
    "strict": (
        lambda: change(preset("noisy-neighbour"), {"rescue.kv": "0.4", "rescue.lend": "false"}),
        ("rescue", "fcfs"),
        "kept for others",
    ),
    "tokens": (
        lambda: change(preset("noisy-neighbour"), {"engine.max_num_batched_tokens": "256"}),
        ("priority", "hol"),
        "waits for tokens",
    ),
    "seats": (
        lambda: change(preset("noisy-neighbour"), {"engine.max_num_seqs": "9"}),
        ("backfill", "rescue"),
        "waits for a seat",
    ),
    "textbook": (lambda: preset("textbook"), ("backfill", "preemptive"), "gave its blocks back"),
    "one seat": (one_seat, ("backfill", "fcfs"), "the only one is taken"),
}


@pytest.mark.parametrize("code", ["en", "zh"])
@pytest.mark.parametrize("case", CASES)
def test_the_picture_says_what_the_stage_says(visit: Any, case: str, code: str) -> None:
    make, keys, word = CASES[case]
    scenario = change(make(), {"policies": ",".join(keys)}) if case != "one seat" else make()
    now, runs = Shown(scenario, *keys), [result(scenario, key) for key in keys]
    sides = [side(one.log, one.inversion) for one in runs]
    notes = [estimated(now, key, run) for key, run in zip(keys, runs, strict=True)]
    ids = runs[0].log.requests.ids
    names = [None, *dict.fromkeys(ids[place] for place in np.linspace(0, len(ids) - 1, 7).astype(int))]
    end_s = max(one.end_ps for one in sides) / PS_PER_S
    moments = [round(float(one), 7) for one in np.random.default_rng(7).uniform(0, end_s, 30)]
    pairs = [(name, t) for name in names for t in moments]
    pairs += dict.fromkeys((name, t) for one in sides for who, t in waits(one) for name in (who, None))
    first = visit(f"{link(scenario)}&t=1&a={keys[0]}&b={keys[1]}&lang={code}", reduced_motion="reduce")
    seen, say = first.page.evaluate(STAGE, [pairs, notes]), language(code)
    assert len(seen) == 2 * len(pairs)
    kinds = set()
    for name, t, number, said in seen:
        views = [Glance(one, round(t * PS_PER_S), told) for one, told in zip(sides, notes, strict=True)]
        ours = caption(views[number], subject(views, name)[number], say)
        assert spaced(ours) == spaced(said), (name, t, number)
        kinds.add(said.count("**") and said.split("**")[2][:24])
    assert len(kinds) > 3
    assert code == "zh" or any(word in said for *_, said in seen), "what the case is about was said"


def spaced(text: str) -> str:
    """Without the spaces between scripts, which the two languages of the page set each in its own way."""
    return text.replace(" ", "")
