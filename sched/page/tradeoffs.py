"""Trade-offs: what a knob buys and what it costs."""

import streamlit as st

from sched.page.language import tr
from sched.page.sidebar import sidebar


def tradeoffs() -> None:
    """The whole view."""
    sidebar()
    st.markdown(tr("## Tradeoffs"))
