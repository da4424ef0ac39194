"""Sched Lab's dashboard: `make run`, or `python -m streamlit run app.py` from this folder."""

import os

from sched.page.shell import page
from sched.trace_store import use_store


def main() -> None:
    """Draw the page. Guarded below, because worker processes import the script that started them."""
    use_store(os.environ.get("SCHED_STORE", ""))
    page()


if __name__ == "__main__":
    main()
