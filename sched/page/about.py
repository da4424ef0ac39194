"""About the model: the words and the picture, every policy, and what the model was checked against."""

import streamlit as st

from sched.page.anchors import anchors
from sched.page.published import published
from sched.page.titles import plain
from sched.scenario import known_policies
from sched.text import text

PARTS = {
    "reading": ":material/menu_book: The model",
    "policies": ":material/rule: Policies",
    "theory": ":material/function: Checked by theory",
    "published": ":material/article: Published results",
}


WHAT = """
Sched Lab simulates one LLM serving engine, iteration by iteration, under several schedulers on the same
requests. In its modes `fcfs` and `priority` it takes the very decisions of vLLM's scheduler; the times of
iterations come from published measurements.
"""


def about() -> None:
    """What is simulated, how to read it, and why to believe it. Only the open tab is built."""
    with st.container(key="about"):
        st.markdown("## About the model")
        st.markdown(WHAT)
        tabs = st.tabs(list(PARTS.values()), key="about_part", on_change="rerun")
        draw = (_reading, _policies, anchors, published)
        for tab, part in zip(tabs, draw, strict=True):
            if tab.open:
                with tab:
                    part()


def _reading() -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("### Reading the stage")
        st.markdown(text("reading", "en"))
    with right:
        st.markdown("### Words")
        st.markdown(text("glossary", "en"))


def _policies() -> None:
    """Every policy in its own words, with its settings."""
    st.markdown("Each policy in its own words: whom it helps, whom it hurts, and what can be set.")
    for entry in known_policies().values():
        with st.expander(f"{plain(entry.title)} (`{entry.key}`)"):
            st.markdown("\n\n".join(" ".join(part.split()) for part in entry.help.split("\n\n")))
            for setting in entry.settings:
                st.markdown(f"- **{setting.title}** (`{entry.key}.{setting.name}`): {setting.help}")
