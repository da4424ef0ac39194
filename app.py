"""Sched Lab's dashboard: `make run`, or `python -m streamlit run app.py` from this folder."""

import os
from pathlib import Path

from sched.page.shell import page
from sched.trace_store import use_store

STORE = Path(__file__).parent / "out" / "traces"
"""Where uploaded traces are kept unless SCHED_STORE names another place."""


def main() -> None:
    """Draw the page. Guarded below, because worker processes import the script that started them."""
    use_store(os.environ.get("SCHED_STORE") or str(STORE))
    page()


if __name__ == "__main__":
    main()
