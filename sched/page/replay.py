"""Replay a trace: a recorded file becomes the scenario on the screen, and what was made of it is said."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sched.cost import machine
from sched.fields import ScenarioError
from sched.page.another import another
from sched.page.language import say, tr, tr_count
from sched.page.mapping import forget, keep, mapping
from sched.page.results import MOST, refused_size
from sched.page.state import sentence, show, shown, start
from sched.page.titles import plain
from sched.scenario import Scenario
from sched.trace_size import Most
from sched.trace_store import store
from sched.traces import of_scenario, read_trace, trace_scenario
from sched.words import count, joined

ENDINGS = ("csv", "tsv", "txt", "jsonl", "ndjson", "json", "parquet", "gz")
MOST_TO_READ = Most(bytes=64_000_000, rows=10 * MOST, values=3_000_000)
"""Of an upload, unpacked: more than fits in what is shown, and little enough to keep nobody else waiting."""
MOST_LINES = 6
ADVICE = "; say "
"""What a reader's sentence says after this is for the command line; the page asks instead."""
HELP = (
    "A CSV, JSON, JSON lines or Parquet file, also gzipped. It says of each request when it came, the tokens "
    "of its prompt and of its answer, and perhaps its class, tenant, priority and id. Common formats and "
    "column names are recognised; where yours are not, you are asked which column is what and in which unit. "
    "The server keeps the file, so that a link can open it: whoever has the link can."
)


def scenario_of(
    data: bytes,
    name: str,
    columns: Mapping[str, str] | None = None,
    unit: str = "auto",
    urgency: str = "low_first",
) -> Scenario:
    """The scenario that replays a file; its bytes are kept. Raises ScenarioError, in one sentence."""
    trace = read_trace(data, name, columns, None if unit == "auto" else unit, urgency, most=MOST_TO_READ)
    scenario = trace_scenario(trace, urgency=urgency)
    machine(scenario)
    if refused := refused_size(len(trace.ids), scenario):
        raise ScenarioError(f"{name}: {refused}")
    store(data)
    return scenario


def take(data: bytes, name: str, *told: Any) -> None:
    """Show the replay of a file; one that cannot be read is said in words and changes nothing.

    `told` is what somebody said of its columns. Where they are not known, they are asked for.
    """
    now = shown()
    try:
        scenario = scenario_of(data, name, *told)
    except ScenarioError as error:
        said = sentence(error)
        if error.path == "trace.map":
            keep(data, name)
            said = f"{said.partition(ADVICE)[0].rstrip('.')}. {tr('Say below which column is what.')}"
        if not said.startswith(name):
            said = f"{name}: {said}"
        st.session_state["touched"] = True
        st.session_state["unreadable"] = (
            now.scenario,
            joined((said, tr("The screen stays as it was.")), say()),
        )
        return
    forget()
    show(another(now, scenario))
    start(shown())


def _uploaded(key: str) -> None:
    file = st.session_state[key]
    if file is None:
        return
    st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1  # the next one begins empty
    forget()
    take(file.getvalue(), file.name)


def replay(scenario: Scenario) -> None:
    """The control, and below it what was made of the trace that is shown, or why a file was not taken."""
    with st.expander(
        tr("Replay a trace"), expanded=scenario.trace is not None, icon=":material/upload_file:"
    ):
        key = f"trace_file_{st.session_state.get('uploads', 0)}"
        st.file_uploader(tr("Trace file"), ENDINGS, key=key, help=tr(HELP), on_change=_uploaded, args=(key,))
        before, said = st.session_state.get("unreadable", (None, ""))
        if before == scenario:
            st.warning(plain(said), icon=":material/block:")
        mapping(take)
        for text in told(_report(scenario)):
            st.caption(text)


def _report(scenario: Scenario) -> dict[str, Any]:
    """What was made of the trace; nothing for one that cannot be had, which is said where the picture is."""
    try:
        return of_scenario(scenario.trace, scenario.urgency).report if scenario.trace else {}
    except ScenarioError:
        return {}


def recorded_tenants(scenario: Scenario) -> list[str]:
    """The tenants that a trace names, those with the most requests first."""
    tenants = _report(scenario).get("tenants", {})
    return sorted(tenants, key=lambda one: -int(tenants[one]["requests"]))


def told(report: Mapping[str, Any]) -> list[str]:
    """What the reader made of the file: as what it read it, what it dropped and why, what it assumed."""
    if not report:
        return []
    values = {
        "format": plain(report["format"]),
        "requests": count(report["rows"], "request", say()),
        "span": f"{report['duration_s']:,.4g}",
    }
    if report["rate_per_s"] is None:
        texts = [tr("**Read as** {format}: {requests} in {span} s.", **values)]
    else:
        rate = f"{report['rate_per_s']:.3g}"
        texts = [tr("**Read as** {format}: {requests} in {span} s, {rate} requests/s.", **values, rate=rate)]
    dropped = [
        tr("line {line}: {reason}", line=f"{one['line']:,}", reason=one["reason"])
        for one in report["dropped"]
    ]
    if dropped:
        texts.append(_listed(tr_count(len(dropped), "Dropped, {n} record", "Dropped, {n} records"), dropped))
    else:
        texts.append(f"**{tr('Dropped nothing.')}**")
    if report["assumed"]:
        texts.append(_listed(tr("Assumed"), report["assumed"]))
    return texts


def _listed(heading: str, lines: list[str]) -> str:
    """A heading with its lines; of many the first."""
    first = [f"- {plain(line)}" for line in lines[:MOST_LINES]]
    if (more := len(lines) - MOST_LINES) > 0:
        rest = tr("… and {n} more; `python -m sched trace --json` lists them all", n=f"{more:,}")
        first.append(f"- {rest}")
    return "\n".join([tr("**{heading}:**", heading=heading), "", *first])
