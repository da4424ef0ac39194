"""Compare: every policy on the same requests, over several seeds."""

import streamlit as st

from sched.page.language import tr
from sched.page.sidebar import sidebar


def compare() -> None:
    """The whole view."""
    sidebar()
    st.markdown(tr("## Compare"))
