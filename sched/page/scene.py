"""What is shown, as data of a picture and of a report: the sentences, cards and runs of the page."""

from collections.abc import Mapping
from typing import Any

from sched.external import changes
from sched.fields import ScenarioError
from sched.figures.picture import Drawn, Scene
from sched.figures.report_page import Report
from sched.files import load, to_toml
from sched.page.cards import card, seconds
from sched.page.component import script
from sched.page.controls import value_at
from sched.page.estimates import estimated
from sched.page.language import say, tr
from sched.page.results import Incident, Result, blamed, incidents
from sched.page.stage import sides, stage_data
from sched.page.titles import in_sentence, scenario_title, subtitle, title, unbroken
from sched.page.trust import trust_in
from sched.plain import plain, split_path, value_text
from sched.scenario import Scenario
from sched.trust import Trust
from sched.verdict import verdict
from sched.version import MODEL, VERSION, citation
from sched.view import Shown


def verdict_of(now: Shown, runs: Mapping[str, Result]) -> list[tuple[str, str]]:
    """The verdict on A, and on B against it."""
    summaries = {key: run.summary for key, run in runs.items()}
    summaries[now.a] = blamed(now.scenario, now.a)
    names = {key: in_sentence(now.scenario, key) for key in runs}
    said = verdict(summaries, now.scenario, now.a, now.b, names, say())
    return [(unbroken(one.text), "" if one.tone == "plain" else one.tone) for one in said]


def scene(now: Shown, runs: dict[str, Result], name: str, link: str) -> tuple[Scene, Trust]:
    """The picture of what is shown; `name` is the class that the cards speak of."""
    told = trust_in(now, runs, name)
    named = [(key, title(now.scenario, key), subtitle(now.scenario, key)) for key in sides(now)]
    seed = tr("as recorded") if now.scenario.trace else tr("seed {seed}", seed=now.scenario.seed)
    about = tr("Sched Lab {version}, model {model}, {seed}", version=VERSION, model=MODEL, seed=seed)
    made = Scene(
        title=scenario_title(now.scenario),
        verdict=verdict_of(now, runs),
        trust=told.line,
        cards=[_card(card(now, runs, key, name), runs[key].summary["classes"][name]) for key in runs],
        sides=[
            Drawn(runs[key].log, runs[key].inversion, head, sub, estimated(now, key, runs[key]))
            for key, head, sub in named
        ],
        t_s=now.t,
        focus=now.focus,
        window=now.window,
        footer=[link, about],
        say=say(),
    )
    return made, told


def _card(row: dict[str, Any], figures: Mapping[str, Any]) -> dict[str, Any]:
    """A card of the page with its mark said in words."""
    row = row | {"inversion": seconds(figures["inversion_s"])}
    if row["met"] is None:
        return row
    told = tr("meets {goal}", goal=row["goal"]) if row["met"] else tr("misses {goal}", goal=row["goal"])
    return row | {"told": told}


def base_of(scenario: Scenario) -> Scenario:
    """The ready scenario that this one began as."""
    try:
        return load(scenario.link_base)
    except ScenarioError:
        return Scenario()


def changed(scenario: Scenario) -> list[tuple[str, str, str]]:
    """Every setting that differs from the ready scenario: its path, its value there, its value here."""
    base = base_of(scenario)
    found = []
    for path, text in changes(scenario).items():
        if path == "scenario":
            continue
        try:
            before = value_text(plain(value_at(base, split_path(path))))
        except (StopIteration, AttributeError, KeyError, TypeError):
            before = "–"
        found.append((path, _short(before), _short(text)))
    return found


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:159]}…"


def report_of(now: Shown, runs: dict[str, Result], name: str, link: str) -> Report:
    """The report of what is shown."""
    made, told = scene(now, runs, name, link)
    found = {key: incidents(now.scenario, key) for key in sides(now)}
    payload = stage_data(
        now,
        runs,
        found,
        notes=[estimated(now, key, runs[key]) for key in found],
        number=0,
        t=now.t,
        window=now.window,
        focus=now.focus,
        play=False,
    )
    notes = [one["text"] for one in runs[now.a].summary["notes"]]
    return Report(
        scene=made,
        code=script(),
        payload=payload,
        rows=[(title(now.scenario, key), run.summary) for key, run in runs.items()],
        weaknesses=told.weaknesses,
        facts=told.facts,
        incidents=[_incident(one) for one in sorted(found[now.a], key=lambda one: one.from_s)],
        changed=changed(now.scenario),
        base=base_of(now.scenario).title or now.scenario.link_base,
        notes=[note[:1].upper() + note[1:] for note in dict.fromkeys(notes)],
        toml=to_toml(now.scenario),
        link=link,
        about=[made.footer[1], citation()],
    )


def _incident(one: Incident) -> list[str]:
    who = ", ".join(f"{name} {100 * part:.0f}\u202f%" for name, part in one.culprits)
    begin = f"{one.from_s:.2f}\u202fs"
    return [one.request, begin, seconds(one.waited_s), seconds(one.inversion_s), tr(one.cause), who or "–"]
