"""Another scenario on the same page."""

from dataclasses import replace

from sched.scenario import Scenario
from sched.view import Shown, with_scenario


def another(shown: Shown, scenario: Scenario) -> Shown:
    """Another scenario in the same view, language and controls; what was chosen in the old one is let go."""
    kept = replace(Shown(scenario, "", ""), expert=shown.expert, tab=shown.tab, lang=shown.lang)
    return with_scenario(replace(kept, page=shown.page, seeds=shown.seeds), scenario)
