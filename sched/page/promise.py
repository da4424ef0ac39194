"""The goal of the most urgent class, as a control."""

from sched.page.controls import entry, slider
from sched.page.language import tr
from sched.page.titles import plain
from sched.scenario import Scenario


def goal(scenario: Scenario) -> None:
    """What was promised to the most urgent class; the cards say who keeps it."""
    one = scenario.most_urgent()
    if one is None:
        return
    path, promised = ("traffic", one.name, "slo", "ttft_s"), scenario.promise(one.name).slo.ttft_s
    label = tr("{name}: first token within, s", name=plain(one.name))
    if promised is None:
        entry(path, label, absent=tr("no goal"))
    else:
        slider(path, label, value=promised)
