"""The list of incidents under A: who waited for whom, how long, and what was short."""

from typing import Any

from sched.page.cards import parts, seconds
from sched.page.component import component
from sched.page.controls import roles, roles_recorded
from sched.page.language import tr
from sched.page.results import MOST_INCIDENTS, Incident, Result, slowed
from sched.page.state import Shown
from sched.page.titles import title

NARROW = "\u202f"


def _lead(now: Shown, runs: dict[str, Result], found: dict[str, tuple[Incident, ...]], name: str) -> str:
    """What the inversions cost the class in all, and how much of it the worst one made."""
    total, other = (runs[key].summary["classes"][name]["inversion_s"] or 0.0 for key in (now.a, now.b))
    capital = name[:1].upper() + name[1:]
    mine = [one for one in found[now.a] if one.class_name == name]
    if not mine or not total:
        text = f"{capital} lost nothing to inversion under A"
    else:
        worst = max(mine, key=lambda one: one.inversion_s)
        part = 100 * worst.inversion_s / total
        share = f"{part:.0f}{NARROW}%" if part >= 1 else f"less than 1{NARROW}%"
        alone = f"{worst.request} alone waited {seconds(worst.inversion_s)}, {share} of it"
        said = alone if len(mine) > 1 else f"all of it by {worst.request}"
        text = f"{capital} lost **{seconds(total)}** to inversion under A; **bad: {said}**"
    text += f". Under B it lost **{seconds(other)}**." if now.a != now.b else "."
    slower = slowed(now.scenario, now.a)[name]
    if slower:
        text += f" In the batch, lower requests made its iterations **{seconds(slower)}** longer under A."
    return text + (f" The {MOST_INCIDENTS} worst:" if len(found[now.a]) == MOST_INCIDENTS else "")


def incidents(now: Shown, runs: dict[str, Result], found: dict[str, tuple[Incident, ...]], name: str) -> None:
    """The table. A row's button takes the stage there, without the server."""
    look = roles(now.scenario) or roles_recorded(runs[now.a].log.requests)
    classes = _classes(runs[now.a])
    rows: list[dict[str, Any]] = [
        {
            "request": one.request,
            "role": look.get(one.class_name, 0),
            "from_s": one.from_s,
            "to_s": one.to_s,
            "waited_s": one.waited_s,
            "inversion_s": one.inversion_s,
            "share": min(1.0, one.inversion_s / one.waited_s) if one.waited_s else 0.0,
            "cause": one.cause,
            "culprits": [(who, look.get(classes.get(who, ""), 2), part) for who, part in one.culprits],
        }
        for one in sorted(found[now.a], key=lambda one: one.from_s)
    ]
    caption = f"Incidents under {title(now.scenario, now.a)}"
    if len(rows) == MOST_INCIDENTS:
        caption += f", the {MOST_INCIDENTS} worst"
    component("incidents")(
        data={
            "lead": parts(_lead(now, runs, found, name)),
            "rows": rows,
            "caption": caption,
            "tell": tr("Read its story"),
        },
        key="incidents",
    )


def _classes(run: Result) -> dict[str, str]:
    listed = run.log.requests
    return {
        one: listed.class_names[index]
        for one, index in zip(listed.ids, listed.class_index.tolist(), strict=True)
    }
