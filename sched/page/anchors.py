"""The anchors on the page: what queueing theory says, beside the kept figures of what the engine came to."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from sched.page.language import tr, tr_count
from sched.page.titles import plain
from sched.theory import HALF_WIDTHS, anchor_rows

HOLDS = {True: "✓ holds", False: "✗ does not hold", None: "not run"}
SENSES = {"=": "=", "<=": "at most", ">=": "at least"}
KINDS = {
    "statistical": "a mean over random runs",
    "inequality": "a bound on a mean over random runs",
    "exact": "exact on every run, without any tolerance",
}
HOW = (
    "Where theory has a closed form, the simulator must come to it. Each figure is the mean over {runs} of "
    "{jobs} each, through the same engine and policies as in the Lab; the standard error is that of this "
    "mean. It holds if it is off by no more than {widths} half widths of its 95 % confidence interval or by "
    "the listed tolerance, whichever is more; an exact one must come out on every run, to the last "
    "picosecond. `make theory` makes the figures again."
)


def number(value: float | None) -> str:
    """A figure with four digits at most: 1.139, 63.86, 1,046."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.4g}"


def between(values: Sequence[int], noun: str) -> str:
    """Counts that may differ: "10 runs", "10 to 12 runs"."""
    low, high = min(values), max(values)
    if noun == "run":
        text = tr_count(high, "{n} run", "{n} runs")
    else:
        text = tr_count(high, "{n} request", "{n} requests")
    return text if low == high else tr("{low} to {high}", low=f"{low:,}", high=text)


def how(figures: Sequence[dict[str, Any]]) -> str:
    """How the figures were made, and the command that makes them again."""
    made = [one for one in figures if one["ours"] is not None]
    if not made:
        return tr("None of the figures has been made yet: `make theory` makes them.")
    runs = between([one["seeds"] for one in made], "run")
    jobs = between([one["jobs"] for one in made], "request")
    return tr(HOW, runs=runs, jobs=jobs, widths=f"{HALF_WIDTHS:g}")


def tally(rows: Sequence[dict[str, Any]]) -> str:
    """How many anchors there are, and how many of their figures hold."""
    figures = [one for row in rows for one in row["figures"]]
    verdicts = [one["holds"] for one in figures]
    parts = [tr("{n} hold", n=f"{verdicts.count(True):,}")]
    parts += [tr("{n} do not", n=f"{verdicts.count(False):,}")] if verdicts.count(False) else []
    parts += [tr("{n} not run", n=f"{verdicts.count(None):,}")] if verdicts.count(None) else []
    known = {
        "anchors": tr_count(len(rows), "{n} anchor", "{n} anchors"),
        "figures": tr_count(len(figures), "{n} figure", "{n} figures"),
        "verdicts": tr(", ").join(parts),
    }
    return tr("**{anchors}, {figures}: {verdicts}.**", **known)


def table(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """One line a figure, as columns."""
    lines = [(row, one) for row in rows for one in row["figures"]]
    return {
        tr("No."): [row["number"] for row, _ in lines],
        tr("Verdict"): [tr(HOLDS[one["holds"]]) for _, one in lines],
        tr("Anchor"): [tr(row["title"]) for row, _ in lines],
        tr("Figure"): [_figure(one) for _, one in lines],
        tr("Must be"): [tr(SENSES[one["sense"]]) for _, one in lines],
        tr("Theory"): [one["target"] for _, one in lines],
        tr("Ours"): [one["ours"] for _, one in lines],
        tr("Standard error"): [one["standard_error"] for _, one in lines],
        tr("Tolerance"): [one["tolerance"] for _, one in lines],
    }


def _figure(one: dict[str, Any]) -> str:
    return (
        tr("{title}, {unit}", title=tr(one["what"]), unit=tr(one["unit"])) if one["unit"] else tr(one["what"])
    )


def lines(row: dict[str, Any]) -> str:
    """One anchor in words: the form, the point, what was run, and each figure."""
    texts = [
        f"- **{tr('Form')}** `{row['formula']}`",
        f"- **{tr('At')}** {plain(tr(row['point']))}",
        f"- **{tr('Run here')}** {plain(tr(row['setting']))}",
        f"- **{tr('Kind')}** {tr(KINDS[row['kind']])}",
        f"- **{tr('Source')}** {plain(row['source'])}",
    ]
    for one in row["figures"]:
        unit = f" {plain(tr(one['unit']))}" if one["unit"] else ""
        known = {"sense": tr(SENSES[one["sense"]]), "target": f"{number(one['target'])}{unit}"}
        text = tr("theory {sense} {target}", **known)
        if one["ours"] is not None:
            ours = f"{number(one['ours'])}{unit}"
            ours += f" ± {number(one['standard_error'])}" if one["standard_error"] else ""
            text = tr("{theory}, ours {ours}", theory=text, ours=ours)
        told = {"what": plain(tr(one["what"])), "text": text, "verdict": tr(HOLDS[one["holds"]])}
        texts.append(tr("- **{what}**: {text}: {verdict}", **told))
    return "\n".join(texts)


def verdict(row: dict[str, Any]) -> str:
    """Of an anchor: the worst of its figures."""
    found = [one["holds"] for one in row["figures"]]
    return tr(HOLDS[False if False in found else None if None in found else True])


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
            tr("No."): st.column_config.NumberColumn(width=44, pinned=True),
            tr("Theory"): digits,
            tr("Ours"): digits,
            tr("Standard error"): st.column_config.NumberColumn(format="%.2g", help=tr("Of our mean.")),
            tr("Tolerance"): st.column_config.NumberColumn(
                format="percent", help=tr("Listed, of the theory's value.")
            ),
        },
    )
    st.markdown(f"## {tr('Each anchor in words')}")
    for row in rows:
        with st.expander(f"{row['number']}. {plain(tr(row['title']))}: {verdict(row)}"):
            st.markdown(lines(row))
