"""The table beside each chart of Trade-offs: its heads, and a row a point."""

from sched.advice import Outcome
from sched.page.cards import rate, seconds
from sched.page.language import tr
from sched.page.titles import percent
from sched.page.tradeoff_view import View
from sched.page.tradeoff_words import figure_title

Row = list[str]


def percent_text(share: float | None) -> str:
    """A share in per cent."""
    return "–" if share is None else percent(float(f"{share:.3g}"))


def number_text(value: float | None) -> str:
    """A number with one decimal below a hundred."""
    return "–" if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def heads(view: View) -> Row:
    """What stands above the columns; of one run there is no best and no worst."""
    seeds = [tr("best to worst seed"), tr("seeds within the goal")] if view.seeds > 1 else [tr("within goal")]
    return [
        figure_title(view.wanted),
        *seeds,
        tr("throughput kept"),
        tr("tokens/s"),
        tr("preemptions"),
        tr("{name}: worst wait", name=view.lowest),
        tr("not served"),
    ]


def row(one: Outcome) -> Row:
    """The figures of a point."""
    span = "–" if one.least is None else f"{seconds(one.least)} – {seconds(one.most)}"
    met = [span, tr("{met} of {many}", met=one.met, many=one.many)]
    return [
        *(seconds(one.mean), *(met if one.many > 1 else [tr("yes") if one.met else tr("no")])),
        *(percent_text(one.kept), rate(one.throughput), number_text(one.preemptions)),
        *(seconds(one.worst_wait), number_text(one.left) if one.left else "0"),
    ]
