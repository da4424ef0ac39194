"""The charts below the table of Compare, in tabs: only the open one is built, with a table beside each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from sched.counters import counters
from sched.engine import settings_of
from sched.experiments import Comparison
from sched.external import link
from sched.figures.decomposition import causes_ps, decomposition
from sched.figures.distributions import distributions, sample_ps
from sched.figures.lines import Chart
from sched.figures.tenants import axis_top, tenants_figure
from sched.figures.waiting import waiting_figure
from sched.page.cards import seconds
from sched.page.compare_choices import Chosen, family_names
from sched.page.compare_full import full_table
from sched.page.component import is_dark
from sched.page.language import say, tr, tr_count
from sched.page.results import Result, alone
from sched.page.state import show, shown
from sched.page.tabs import open_tab
from sched.page.titles import plain, title
from sched.scenario import Scenario
from sched.trajectories import MOST_DRAWN, Trajectory, dominant_shares, service
from sched.view import Shown

Runs = Mapping[str, Result]


def tab_titles() -> dict[str, str]:
    """The tabs by their key in the link."""
    return {
        "ecdf": tr(":material/show_chart: Distributions"),
        "waits": tr(":material/hourglass_empty: Where the wait goes"),
        "service": tr(":material/stacked_line_chart: Service by tenant"),
        "shares": tr(":material/pie_chart: Dominant shares"),
        "counters": tr(":material/speed: Token counters"),
        "queue": tr(":material/format_list_numbered: Queue length"),
        "table": tr(":material/table: All percentiles"),
    }


def _chosen(chart: str) -> None:
    show(replace(shown(), chart=chart))


def charts(now: Shown, what: Chosen, runs: Runs, found: Comparison) -> None:
    """The tabs."""
    draw: dict[str, Callable[[], None]] = {
        "ecdf": lambda: _distributions(now, what, runs),
        "waits": lambda: _waits(now, what, runs),
        "queue": lambda: queue_chart(now, lined_up(now, what), runs),
        "table": lambda: full_table(found, what),
    }
    with open_tab("chart", tab_titles(), what.chart, _chosen):
        draw.get(what.chart, lambda: _tenants(now, what, runs))()


def pair(now: Shown, what: Chosen) -> tuple[str, str]:
    """The baseline and the policy it is held against: B, or else A."""
    other = now.b if now.b != what.baseline else now.a
    return what.baseline, other


def lined_up(now: Shown, what: Chosen) -> list[str]:
    """The policies in the order of their colours: baseline, the other one, the rest."""
    first = list(dict.fromkeys(pair(now, what)))
    return [*first, *(key for key in now.scenario.policies if key not in first)]


def _heading(title: str, about: str) -> None:
    st.markdown(f"**{title}**  \n:gray[{about}]")


def shown_chart(chart: Chart, key: str, label: str, nothing: str = "") -> None:
    """A picture, and the same as a table for who cannot see it; or in words why there is
    nothing to draw."""
    if not chart.figure["data"]:
        words = nothing or tr("There is nothing to draw: no request has this figure.")
        st.info(words, icon=":material/inbox:")
        return
    st.plotly_chart(
        chart.figure, key=key, width="stretch", theme=None, alt=label, config={"displayModeBar": False}
    )
    with st.expander(tr("As a table"), icon=":material/table:"):
        st.markdown(markdown(chart), width="stretch")


def markdown(chart: Chart) -> str:
    """The numbers of a picture as a table in Markdown."""
    rows = ["| " + " | ".join(_cell(value) for value in row) + " |" for row in (chart.heads, *chart.rows)]
    kinds = chart.rows[0] if chart.rows else chart.heads
    rule = "|".join("---" if isinstance(value, str) else "---:" for value in kinds)
    return "\n".join([rows[0], f"|{rule}|", *rows[1:]])


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return plain(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _distributions(now: Shown, what: Chosen, runs: Runs) -> None:
    scenario, figure = now.scenario, family_names()[what.family]
    samples = {
        title(scenario, key): sample_ps(
            runs[key].log, runs[key].inversion, what.name, what.family, scenario.warmup_s
        )
        for key in lined_up(now, what)
    }
    many = max((len(one) for one in samples.values()), default=0)
    _heading(
        tr("How {name} fares: {figure}", name=plain(what.name), figure=figure),
        tr_count(
            many,
            "Share of {n} request that got it within a time, seed {seed}.",
            "Share of {n} requests that got it within a time, seed {seed}.",
            seed=scenario.seed,
        ),
    )
    chart = distributions(samples, what.goal_s(scenario), is_dark(), say())
    shown_chart(
        chart,
        "chart_ecdf",
        tr("Distribution of the {figure} of {name} by policy", figure=figure, name=what.name),
    )


def _waits(now: Shown, what: Chosen, runs: Runs) -> None:
    scenario = now.scenario
    names = next(iter(runs.values())).log.requests.class_names
    parts = {
        (title(scenario, key), name): causes_ps(runs[key].log, runs[key].inversion, name, scenario.warmup_s)
        for name in sorted(names, key=lambda one: one != what.name)
        for key in lined_up(now, what)
    }
    _heading(
        tr("Where the waiting goes"),
        tr(
            "Every moment outside the batch has one cause; the parts add up to the wait. Seed {seed}.",
            seed=scenario.seed,
        ),
    )
    shown_chart(
        decomposition(parts, what.name, is_dark(), say()),
        "chart_waits",
        tr("Waiting per request by cause, for each class and policy"),
        tr("There is nothing to draw: nobody waited in these runs."),
    )


def queue_chart(now: Shown, keys: Sequence[str], runs: Runs) -> None:
    """How many wait over time under these policies, in the order of their colours."""
    logs = {title(now.scenario, key): runs[key].log for key in keys}
    _heading(tr("How many requests wait"), tr("Over the run of seed {seed}.", seed=now.scenario.seed))
    chart = waiting_figure(logs, is_dark(), say())
    shown_chart(chart, "chart_queue", tr("Requests that wait over time, by policy"))


@st.cache_resource(max_entries=48, show_spinner=False)
def _trajectory(form: str, key: str, kind: str, _scenario: Scenario, _result: Result) -> Trajectory | None:
    if kind != "service" and _result.log.replicas:
        return None
    told = {"service": service, "shares": dominant_shares, "counters": counters}[kind]
    return told(_result.log, _scenario, _result.inversion)


def _tenants(now: Shown, what: Chosen, runs: Runs) -> None:
    """Two charts side by side on one scale: the baseline and the other policy."""
    scenario = now.scenario
    found = {}
    for key in dict.fromkeys(pair(now, what)):
        one = alone(scenario, key)
        found[key] = _trajectory(link(one), key, what.chart, scenario, runs[key])
    _heading(*_about_tenants(scenario, what.chart))
    if left_out := _left_out(scenario, what.chart):
        st.caption(left_out)
    drawn = {key: one for key, one in found.items() if one is not None}
    if len(drawn) < len(found):
        st.info(tr("It is not told of a policy with several engines, nor of very many tenants."))
    if not drawn:
        return
    top = axis_top(list(drawn.values()))
    for key, column in zip(drawn, st.columns(len(drawn)), strict=True):
        with column:
            name = title(scenario, key)
            st.markdown(f"{name}" + (f" :gray[{tr('baseline')}]" if key == what.baseline else ""))
            chart = tenants_figure(drawn[key], what.chart, top, is_dark(), say())
            shown_chart(
                chart, f"chart_{what.chart}_{key}", f"{tab_titles()[what.chart].partition(' ')[2]}: {name}"
            )


def _left_out(scenario: Scenario, kind: str) -> str:
    """What of the policies' own rules is not in the picture; "" where it shows all."""
    if kind == "counters" and settings_of(scenario, "vtc").predictor != "off":
        return tr(
            "VTC itself charges the predicted answer at admission here; shown are the tokens as they come."
        )
    if kind == "shares" and settings_of(scenario, "drf").cpu_cores:
        return tr("DRF also counts cores here, which are not shown.")
    return ""


def _about_tenants(scenario: Scenario, kind: str) -> tuple[str, str]:
    """The heading and what is drawn."""
    vtc, drf = settings_of(scenario, "vtc"), settings_of(scenario, "drf")
    if kind == "service":
        return tr("What each tenant has been given"), tr(
            "Weighted tokens so far: {prompt} a prompt token at admission, {output} an output token as it "
            "comes. Of up to {n} tenants, seed {seed}.",
            prompt=f"{vtc.prompt_weight:g}",
            output=f"{vtc.output_weight:g}",
            n=MOST_DRAWN,
            seed=scenario.seed,
        )
    if kind == "shares":
        return tr("The largest share that each tenant has of anything scarce"), tr(
            "Of the KV blocks and seats now, and of the tokens of late with a half-life of {time}, by its "
            "weight. Seed {seed}.",
            time=seconds(drf.half_life_s),
            seed=scenario.seed,
        )
    return tr("The virtual token counter of each tenant"), tr(
        "Derived from the run by the rule of VTC: what was served, by weight, and lifted when a tenant comes "
        "back. Under VTC it is the policy's own counter. Seed {seed}.",
        seed=scenario.seed,
    )
