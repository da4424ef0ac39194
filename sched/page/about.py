"""About the model: what is simulated, what is not, and why to believe it."""

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

import streamlit as st

from sched.external import VIEW
from sched.page.agreement import agreement
from sched.page.anchors import anchors
from sched.page.equations import equations
from sched.page.glossary import glossary_part
from sched.page.hardware import hardware_part
from sched.page.lab import messages
from sched.page.language import say, tr
from sched.page.published import published
from sched.page.scores import scores
from sched.page.state import show, shown
from sched.page.tabs import open_tab
from sched.page.titles import paragraphs, plain
from sched.scenario import SCHEMA, known_policies
from sched.text import text
from sched.version import MODEL, VERSION, citation

LIBRARIES = ("streamlit", "numpy", "simpy", "pydantic", "plotly", "scipy", "pandas", "pyarrow")


def parts() -> dict[str, tuple[str, Callable[[], None]]]:
    """Every part by its name in the link: the title of its tab, and what draws it."""
    found = {
        "model": ("functions", tr("The model"), equations),
        "limits": ("checklist", tr("Modelled, and not"), _limits),
        "vllm": ("difference", tr("The real scheduler"), agreement),
        "theory": ("function", tr("Checked by theory"), anchors),
        "published": ("article", tr("Published results"), published),
        "hardware": ("memory", tr("Hardware"), hardware_part),
        "policies": ("rule", tr("Policies"), _policies),
        "words": ("menu_book", tr("Words"), glossary_part),
        "version": ("info", tr("Version"), _version),
    }
    return {key: (f":material/{icon}: {title}", draw) for key, (icon, title, draw) in found.items()}


def _chosen(part: str) -> None:
    show(replace(shown(), part=None if part == next(iter(parts())) else part))


def about() -> None:
    """The whole view. Only the open part is built."""
    known, now = parts(), shown()
    with st.container(key="about"):
        st.markdown(f"# {tr('About the model')}")
        messages(about=VIEW)
        chosen = now.part or next(iter(known))
        titles = {key: title for key, (title, _) in known.items()}
        with open_tab("about_part", titles, chosen, _chosen):
            known[chosen][1]()


def _limits() -> None:
    """Honest lists of what is modelled and what is not."""
    st.markdown(text("limits", say().code))
    scores()


def _policies() -> None:
    """Every policy in its own words, with its settings."""
    st.markdown(tr("Each policy in its own words: whom it helps, whom it hurts, and what can be set."))
    for entry in known_policies().values():
        with st.expander(f"{plain(tr(entry.title))} (`{entry.key}`)"):
            st.markdown("\n\n".join(paragraphs(entry.key)))
            for setting in entry.settings:
                st.markdown(f"- **{tr(setting.title)}** (`{entry.key}.{setting.name}`): {tr(setting.help)}")


def libraries() -> dict[str, str]:
    """The versions of what the program is made of; without those that are not installed."""
    found = {"Python": python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _version() -> None:
    """Which version this is, and how to name it in a text."""
    scenario = shown().scenario
    lines = {
        tr("Sched Lab"): VERSION,
        tr("Revision of the model"): str(MODEL),
        tr("Version of the scenario's schema"): str(SCHEMA),
        tr("Scenario shown"): plain(scenario.link_base),
        **libraries(),
    }
    st.markdown(
        "\n".join(
            [
                f"| {tr('Part')} | {tr('Version')} |",
                "|---|---|",
                *(f"| {name} | {value} |" for name, value in lines.items()),
            ]
        )
    )
    st.markdown(f"## {tr('How to cite')}")
    st.markdown(
        tr(
            "A link holds everything that changes a result: the scenario with its revision, every change, "
            "the seed. With the version below, a reader can compute the same figures, to the picosecond, "
            "on any machine."
        )
    )
    st.code(citation(), language=None, wrap_lines=True)
