"""The anchors on the page: what queueing theory says, beside the kept figures of what the engine came to."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from sched.page.titles import plain
from sched.theory import HALF_WIDTHS, anchor_rows
from sched.words import count

HOLDS = {True: "✓ holds", False: "✗ does not hold", None: "not run"}
SENSES = {"=": "=", "<=": "at most", ">=": "at least"}
KINDS = {
    "statistical": "a mean over random runs",
    "inequality": "a bound on a mean over random runs",
    "exact": "exact on every run, without any tolerance",
}
HOW = """
Where theory has a closed form, the simulator must come to it. Each figure is the mean over {runs} of {jobs}
each, through the same engine and policies as in the Lab; the standard error is that of this mean. It holds if
it is off by no more than {widths:g} half widths of its 95 % confidence interval or by the listed tolerance,
whichever is more; an exact one must come out on every run, to the last picosecond. `make theory` makes the
figures again.
"""


def number(value: float | None) -> str:
    """A figure with four digits at most: 1.139, 63.86, 1,046."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.4g}"


def between(values: Sequence[int], noun: str) -> str:
    """Counts that may differ: "10 runs", "10 to 12 runs"."""
    low, high = min(values), max(values)
    return count(low, noun) if low == high else f"{low:,} to {count(high, noun)}"


def how(figures: Sequence[dict[str, Any]]) -> str:
    """How the figures were made, and the command that makes them again."""
    made = [one for one in figures if one["ours"] is not None]
    if not made:
        return "None of the figures has been made yet: `make theory` makes them."
    runs = between([one["seeds"] for one in made], "run")
    jobs = between([one["jobs"] for one in made], "request")
    return " ".join(HOW.format(runs=runs, jobs=jobs, widths=HALF_WIDTHS).split())


def tally(rows: Sequence[dict[str, Any]]) -> str:
    """How many anchors there are, and how many of their figures hold."""
    figures = [one for row in rows for one in row["figures"]]
    verdicts = [one["holds"] for one in figures]
    parts = [f"{verdicts.count(True):,} hold"]
    parts += [f"{verdicts.count(False):,} do not"] if verdicts.count(False) else []
    parts += [f"{verdicts.count(None):,} not run"] if verdicts.count(None) else []
    return f"**{count(len(rows), 'anchor')}, {count(len(figures), 'figure')}: {', '.join(parts)}.**"


def table(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """One line a figure, as columns."""
    lines = [(row, one) for row in rows for one in row["figures"]]
    return {
        "No.": [row["number"] for row, _ in lines],
        "Verdict": [HOLDS[one["holds"]] for _, one in lines],
        "Anchor": [row["title"] for row, _ in lines],
        "Figure": [f"{one['what']}, {one['unit']}" if one["unit"] else one["what"] for _, one in lines],
        "Must be": [SENSES[one["sense"]] for _, one in lines],
        "Theory": [one["target"] for _, one in lines],
        "Ours": [one["ours"] for _, one in lines],
        "Standard error": [one["standard_error"] for _, one in lines],
        "Tolerance": [one["tolerance"] for _, one in lines],
    }


def lines(row: dict[str, Any]) -> str:
    """One anchor in words: the form, the point, what was run, and each figure."""
    texts = [
        f"- **Form** `{row['formula']}`",
        f"- **At** {plain(row['point'])}",
        f"- **Run here** {plain(row['setting'])}",
        f"- **Kind** {KINDS[row['kind']]}",
        f"- **Source** {plain(row['source'])}",
    ]
    for one in row["figures"]:
        unit = f" {plain(one['unit'])}" if one["unit"] else ""
        text = f"- **{plain(one['what'])}**: theory {SENSES[one['sense']]} {number(one['target'])}{unit}"
        if one["ours"] is not None:
            text += f", ours {number(one['ours'])}{unit}"
            text += f" ± {number(one['standard_error'])}" if one["standard_error"] else ""
        texts.append(f"{text}: {HOLDS[one['holds']]}")
    return "\n".join(texts)


def verdict(row: dict[str, Any]) -> str:
    """Of an anchor: the worst of its figures."""
    found = [one["holds"] for one in row["figures"]]
    return HOLDS[False if False in found else None if None in found else True]


def anchors() -> None:
    """The table, and each anchor in words."""
    rows = anchor_rows()
    figures = [one for row in rows for one in row["figures"]]
    st.markdown(f"{tally(rows)} {how(figures)}")
    digits = st.column_config.NumberColumn(format="%.4g")
    st.dataframe(
        table(rows),
        key="anchors",
        hide_index=True,
        height="content",
        column_config={
            "No.": st.column_config.NumberColumn(width=44, pinned=True),
            "Theory": digits,
            "Ours": digits,
            "Standard error": st.column_config.NumberColumn(format="%.2g", help="Of our mean."),
            "Tolerance": st.column_config.NumberColumn(
                format="percent", help="Listed, of the theory's value."
            ),
        },
    )
    st.markdown("#### Each anchor in words")
    for row in rows:
        with st.expander(f"{row['number']}. {plain(row['title'])}: {verdict(row)}"):
            st.markdown(lines(row))
