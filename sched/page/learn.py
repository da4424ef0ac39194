"""Learn: nine short lessons."""

import streamlit as st

from sched.page.language import tr


def learn() -> None:
    """The whole view."""
    st.markdown(tr("## Learn"))
