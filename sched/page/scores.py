"""How often waits ended when they were told to, in the ready scenarios."""

from typing import Any

import streamlit as st

from sched.model import PS_PER_S
from sched.page.cards import seconds
from sched.page.language import tr
from sched.page.titles import name_of
from sched.scenario import presets
from sched.scored import on_file
from sched.words import NARROW


def rows() -> list[dict[str, Any]]:
    """A row a ready scenario and policy, under the heads of the table."""
    titles = {one.name: tr(one.title) for one in presets()}
    return [
        {
            tr("Scenario"): titles[one["scenario"]],
            tr("Policy"): name_of(one["policy"]),
            tr("Estimates"): f"{one['told']:,}",
            tr("Ended from p10 to p90"): f"{100 * one['coverage']:.0f}{NARROW}%",
            tr("Middle error of p50"): seconds(one["median_error_ps"] / PS_PER_S),
        }
        for one in on_file()["rows"]
        if one["told"]
    ]


def scores() -> None:
    """The table, and what it says."""
    st.markdown(f"## {tr('Told beforehand, and what came')}")
    st.markdown(
        tr(
            "At moments of waits that ended with an admission, the estimate that could be made then, held "
            "against when the wait ended. Four of five should end from p10 to p90. Fewer do: the true spread "
            "is wider than the one that is told."
        )
    )
    st.dataframe(rows(), key="scores", hide_index=True, height="content")
    st.caption(tr("Model {model}; `python -m tests.scores` computes it again.", model=on_file()["model"]))
