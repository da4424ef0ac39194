"""Sharing in a real browser: pictures agree with the stage, files open again, links survive the way."""

from typing import Any

import numpy as np
import pytest

from sched import simulate
from sched.figures.blocks import memory
from sched.figures.side import side
from sched.inversion import analyse
from sched.scenario import preset

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_the_picture_puts_every_block_where_the_stage_has_it(visit: Any) -> None:
    first = visit("v=1&a=backfill&b=rescue&t=1", reduced_motion="reduce")
    for number, key in enumerate(("backfill", "rescue")):
        log = simulate(preset("noisy-neighbour"), key)
        seen = side(log, analyse(log))
        for iteration in np.linspace(3, log.iterations - 1, 7).astype(int).tolist():
            now = memory(seen, iteration, True)
            probe = """([side, i]) => { const world = __stage.worlds[side], state = world.seek(i);
                return [[...state.owner], [...__stage.panels[side].memory.looks(state, i)]]; }"""
            owner, looks = first.page.evaluate(probe, [number, iteration])
            assert owner == now.owner.tolist()
            assert looks == now.looks.tolist()
