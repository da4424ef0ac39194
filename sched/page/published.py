"""Published results on the page: what was published, what we got, and whether it is the same."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from sched.page.language import tr, tr_count
from sched.page.published_words import pieces, together, translated
from sched.page.titles import plain

SIGNS = {"reproduced": "✓ reproduced", "not reproduced": "✗ not reproduced", "not run": "– not run"}
ORDER = ("not reproduced", "reproduced", "not run")
PARTS = {
    "source": "Source",
    "setting": "Setting",
    "published": "Published",
    "ran": "Run here",
    "ours": "Ours",
    "rule": "Accepted if",
    "why": "Why",
}
MOST = 4
"""So many figures of a row stand in the table."""
HOW = (
    "Nothing of ours is typed in: `python -m sched papers --write` runs every row again and keeps what comes "
    "out. Each row has bounds that were set for it; a row that misses them stays here, with what it missed."
)


@st.cache_resource(show_spinner=False)
def _rows() -> list[dict[str, Any]]:
    from sched.papers import (
        rows_on_file,
    )  # brings every simulated paper with it; no other view waits for that

    return rows_on_file()


def failures(rows: Sequence[dict[str, Any]]) -> str:
    """Those that did not come out, and why, in words; "" if there are none."""
    missed = [row for row in rows if row["verdict"] == "not reproduced"]
    return "\n".join(f"- ✗ **{plain(row['source'])}** {plain(row['why'])}" for row in missed)


def tally(rows: Sequence[dict[str, Any]]) -> str:
    """How many rows there are of each verdict, those that did not come out first."""
    found = [row["verdict"] for row in rows]
    parts = [f"{found.count(one):,} {tr(one)}" for one in ORDER if one in found]
    many = tr_count(len(rows), "{n} published result", "{n} published results")
    return tr("**{many}: {verdicts}.**", many=many, verdicts=tr(", ").join(parts))


def table(rows: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """One line a row, as columns."""
    found = {tr("Verdict"): [tr(SIGNS[row["verdict"]]) for row in rows]}
    named = {"source": "Source", "setting": "Setting", "published": "Published", "ours": "Ours", "why": "Why"}
    return found | {tr(title): [shortened(row[name]) for row in rows] for name, title in named.items()}


def shortened(text: str) -> str:
    """What fits in a cell: of many figures the first, and how many more there are."""
    parts = pieces(text)
    first, rest = parts[:MOST], parts[MOST:]
    return together(first) + (tr("; and {n} more below", n=len(rest)) if rest else "") or "–"


def lines(row: dict[str, Any]) -> str:
    """One row in words."""
    return "\n".join(f"- **{tr(title)}** {listed(row[name])}" for name, title in PARTS.items() if row[name])


def listed(text: str) -> str:
    """A part of a row; one with several figures as a list of them."""
    parts = pieces(text)
    if len(parts) < 3:
        return plain(text)
    return "\n".join(["", *(f"    - {plain(piece)}" for piece in parts)])


def published() -> None:
    """The table, and each row in words; those that did not come out stand open."""
    rows = [translated(row) for row in _rows()]
    st.markdown(f"{tally(rows)} {tr(HOW)}")
    if missed := failures(rows):
        st.markdown(f"**{tr('Not reproduced')}**\n{missed}")
    widths = {"Source": 230, "Setting": 260, "Published": 260, "Ours": 300, "Why": 320}
    st.dataframe(
        table(rows),
        key="published",
        hide_index=True,
        height="content",
        row_height=84,
        column_config={
            tr("Verdict"): st.column_config.TextColumn(width=130, pinned=True),
            **{tr(name): st.column_config.TextColumn(width=width) for name, width in widths.items()},
        },
    )
    st.markdown(f"## {tr('Each result in words')}")
    for row in rows:
        failed = row["verdict"] == "not reproduced"
        who = row["source"].partition(",")[0]
        with st.expander(
            f"{tr(SIGNS[row['verdict']])}. {plain(who)}: {plain(row['setting'])}", expanded=failed
        ):
            st.markdown(lines(row))
