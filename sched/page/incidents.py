"""The list of incidents under A: who waited for whom, how long, and what was short."""

from collections.abc import Sequence
from typing import Any

from sched.figures.looks import looks
from sched.page.cards import seconds
from sched.page.component import component
from sched.page.glossary import meaning
from sched.page.language import say, tr
from sched.page.results import MOST_INCIDENTS, Incident, Result, slowed
from sched.page.titles import in_sentence, title
from sched.view import Shown
from sched.words import NARROW, Run, marked


def _lead(
    now: Shown, runs: dict[str, Result], found: dict[str, tuple[Incident, ...]], name: str
) -> list[Run]:
    """What the inversions cost the class in all, and how much of it the worst one made."""
    total, other = (runs[key].summary["classes"][name]["inversion_s"] or 0.0 for key in (now.a, now.b))
    capital = name[:1].upper() + name[1:] if say().code == "en" else name
    mine = [one for one in found[now.a] if one.class_name == name]
    policies = [in_sentence(now.scenario, key) for key in (now.a, now.b)]
    lines = [_lost(capital, policies[0], total, mine)]
    if now.a != now.b:
        lines.append(
            marked("Under {policy} it lost **{span}**.", say(), policy=policies[1], span=seconds(other))
        )
    if slower := slowed(now.scenario, now.a)[name]:
        lines.append(
            marked(
                "In the batch, less urgent requests made its iterations **{span}** longer under {policy}.",
                say(),
                policy=policies[0],
                span=seconds(slower),
            )
        )
    if len(found[now.a]) == MOST_INCIDENTS:
        lines.append(marked("The {n} worst:", say(), n=str(MOST_INCIDENTS)))
    text = lines[0]
    for line in lines[1:]:
        text = marked("{said} {then}", say(), said=text, then=line)
    return text


def _lost(name: str, policy: str, total: float, mine: Sequence[Incident]) -> list[Run]:
    """What the class lost under A, and to whom."""
    if not mine or not total:
        return marked("{name} lost nothing to inversion under {policy}.", say(), name=name, policy=policy)
    worst = max(mine, key=lambda one: one.inversion_s)
    part = 100 * worst.inversion_s / total
    template = (
        "{name} lost **{total}** to inversion under {policy}; **bad: all of it in the wait of {worst}**."
        if len(mine) == 1
        else "{name} lost **{total}** to inversion under {policy}; **bad: {worst} alone waited {span}, "
        "{share} of it**."
        if part >= 1
        else "{name} lost **{total}** to inversion under {policy}; **bad: {worst} alone waited {span}, less "
        "than {share} of it**."
    )
    return marked(
        template,
        say(),
        name=name,
        policy=policy,
        total=seconds(total),
        worst=worst.request,
        span=seconds(worst.inversion_s),
        share=f"{max(part, 1):.0f}{NARROW}%",
    )


def incidents(now: Shown, runs: dict[str, Result], found: dict[str, tuple[Incident, ...]], name: str) -> None:
    """The table. A row's button takes the stage there, without the server."""
    look = looks(runs[now.a].log.requests)
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
            "cause": tr(one.cause),
            "culprits": [(who, look.get(classes.get(who, ""), 2), part) for who, part in one.culprits],
        }
        for one in sorted(found[now.a], key=lambda one: one.from_s)
    ]
    template = (
        "Incidents under {policy}, the {n} worst"
        if len(rows) == MOST_INCIDENTS
        else "Incidents under {policy}"
    )
    caption = tr(template, policy=title(now.scenario, now.a), n=MOST_INCIDENTS)
    lead = [(one.text, "" if one.tone == "plain" else one.tone) for one in _lead(now, runs, found, name)]
    component("incidents")(
        data={"lead": lead, "rows": rows, "caption": caption, "tell": tr("Read its story"), "help": _help()},
        key="incidents",
    )


def _help() -> dict[int, str]:
    """What the columns mean whose heading is a word of the glossary, by place."""
    return {3: meaning("wait"), 4: meaning("inversion"), 8: meaning("culprit")}


def _classes(run: Result) -> dict[str, str]:
    listed = run.log.requests
    return {
        one: listed.class_names[index]
        for one, index in zip(listed.ids, listed.class_index.tolist(), strict=True)
    }
