"""Compare: every policy on the same requests, over several seeds."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from sched.experiments import Comparison
from sched.fields import ScenarioError
from sched.page.cards import choose
from sched.page.compare_basis import trust
from sched.page.compare_cells import Cell
from sched.page.compare_charts import charts, pair
from sched.page.compare_choices import Chosen, choices, chosen, one_of
from sched.page.compare_csv import shown_csv
from sched.page.compare_table import Table, table
from sched.page.compare_words import Words
from sched.page.component import component
from sched.page.glossary import OF_COLUMNS, with_term
from sched.page.lab import messages
from sched.page.language import tr, tr_count
from sched.page.results import results
from sched.page.seeds import Seeds
from sched.page.share import share
from sched.page.sidebar import sidebar
from sched.page.state import sentence, show, shown
from sched.page.titles import heading, plain, title
from sched.page.trust import trust_note
from sched.verdict import urgent_class
from sched.view import Shown
from sched.workers import WorkersDied


def compare() -> None:
    """The whole view, top to bottom."""
    sidebar()
    now = shown()
    messages()
    try:
        runs = results(now.scenario)
    except ScenarioError as error:
        st.error(plain(sentence(error)), icon=":material/error:")
        return
    first = next(iter(runs.values()))
    name = urgent_class(first.summary, now.scenario)
    if name is None:
        st.info(tr("This scenario has no requests: add traffic or requests to it."), icon=":material/inbox:")
        return
    classes = list(first.summary["classes"])
    what, said = chosen(now, classes, name)
    seeds = Seeds(now.scenario, what.baseline, what.seeds)
    found = seeds.known()
    goal_s = what.goal_s(now.scenario)
    shown_table = table(found, what, goal_s)
    if len(found.seeds) >= what.seeds:  # a seed to come may bring the column
        one_of("sort", what.sort, shown_table.sorts, "mean", said)
    for text in said:
        st.info(plain(text), icon=":material/info:")
    _heading(now, what, found, shown_table)
    choices(now, what, classes)
    _table(now, what, found, shown_table, goal_s)
    bar = st.container(key="seeding").empty()
    told = {title(now.scenario, key): own for key, own in found.runs.items()}
    trust_note(now.scenario, what.name, told, found.seeds, key="compare_trust")
    charts(now, what, runs, found)
    if len(found.seeds) < what.seeds:
        # Everything is on the page by now; each of these calls is where a change interrupts the work.
        try:
            seeds.compute(partial(_progress, bar))
        except (ScenarioError, WorkersDied) as error:
            bar.warning(plain(sentence(error)), icon=":material/error:")
            return
        st.rerun()


def _progress(bar: Any, done: int, total: int) -> None:
    bar.progress(done / max(total, 1))


def _heading(now: Shown, what: Chosen, found: Comparison, rows: Table) -> None:
    """The scenario's name, what is compared, the CSV and Share."""
    many = tr_count(
        len(found.policies),
        "{n} policy on the identical request list",
        "{n} policies on the identical request list",
    )
    with st.container(horizontal=True, vertical_alignment="center", key="heading"):
        st.markdown(heading(now.scenario, many), width="stretch")
        st.download_button(
            tr("CSV"),
            partial(
                shown_csv, found, what, rows
            ),  # made when asked for: a file made now is gone at the next run
            "compare.csv",
            "text/csv",
            key="compare_csv",
            icon=":material/download:",
            on_click="ignore",
            help=tr("The rows of this table in their order, each figure in full."),
        )
        share(now)


def _sorted() -> None:
    key = st.session_state["compare"]["sort"]
    if key:
        show(replace(shown(), sort=key))


def _acted() -> None:
    """A choice in a row's menu."""
    done = st.session_state["compare"]["act"]
    if not done or done["key"] not in shown().scenario.policies:
        return
    if done["what"] == "baseline":
        show(replace(shown(), baseline=done["key"]))
        return
    choose("B", done["key"])
    if done["what"] == "lab":
        show(replace(shown(), page="lab"))


def _cell(one: Cell) -> dict[str, Any]:
    told = {"text": one.text, "sub": one.sub, "note": one.note, "tone": one.tone, "dot": one.dot}
    return {name: value for name, value in told.items() if value}


def axis(found: Comparison, what: Chosen, goal_s: float | None) -> list[float]:
    """The ends of the log axis that all rows share."""
    values = [one for key in found.policies for one in found.values(key, what.metric, what.name) if one]
    ends = [*values, *([goal_s] if goal_s else [])]
    return [min(ends, default=0.1) / 1.25, max(ends, default=1.0) * 1.25]


def _table(now: Shown, what: Chosen, found: Comparison, rows: Table, goal_s: float | None) -> None:
    """Verdict, trust line and table as one component."""
    other = pair(now, what)[1]
    data = {
        "verdict": Words(found, what, goal_s, other).said(),
        "trust": trust(found, what.seeds),
        "caption": tr("Policies compared, {name}", name=what.name),
        "head": tr("policy"),
        "columns": [
            {
                "key": one.key,
                "title": one.title,
                "help": with_term(one.help, OF_COLUMNS.get(one.key), " "),
                "kind": "dots" if one.key == "dots" else "number",
                "sorts": one.is_sortable,
            }
            for one in rows.columns
        ],
        "rows": [
            {
                "key": key,
                "title": title(now.scenario, key),
                "chosen": key == now.b,
                "side": "A" if key == now.a else "B" if key == now.b else "",
                "cells": [_cell(one) for one in cells],
            }
            for key, cells in rows.rows
        ],
        "sort": rows.sort,
        "axis": axis(found, what, goal_s),
        "goal": goal_s,
        "menu": [
            ["baseline", tr("Make it the baseline")],
            ["b", tr("Show it as B")],
            ["lab", tr("Open it in the Lab as B")],
        ],
        "open": tr("What to do with {policy}"),
    }
    component("compare")(data=data, key="compare", on_sort_change=_sorted, on_act_change=_acted)
