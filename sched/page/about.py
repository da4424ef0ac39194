"""About the model: the words, the picture, and every policy in its own words."""

import streamlit as st

from sched.scenario import known_policies
from sched.text import text


def about() -> None:
    """What is simulated, and how to read it."""
    st.session_state["left"] = True
    st.markdown("## About the model")
    st.markdown(
        "Sched Lab simulates one LLM serving engine, iteration by iteration, under several schedulers on the "
        "same requests. In its modes `fcfs` and `priority` it takes the very decisions of vLLM's scheduler; "
        "the times of iterations come from published measurements."
    )
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("### Reading the stage")
        st.markdown(text("reading"))
        st.markdown("### Words")
        st.markdown(text("glossary"))
    with right:
        st.markdown("### Policies")
        for entry in known_policies().values():
            with st.expander(entry.title):
                st.markdown(entry.help)
                for setting in entry.settings:
                    st.markdown(f"- **{setting.title}** (`{entry.key}.{setting.name}`): {setting.help}")
