"""Sched Lab's dashboard: `make run`, or `python -m streamlit run app.py` from this folder."""

import os
from pathlib import Path

STORE = Path(__file__).parent / "out" / "traces"
"""Where uploaded traces are kept unless SCHED_STORE names another place."""


def main() -> None:
    """Draw the page. Guarded below, because worker processes import the script that started them; they need
    neither Streamlit nor the page, so these are imported here.
    """
    from sched.page.shell import page
    from sched.trace_store import use_store

    use_store(os.environ.get("SCHED_STORE") or str(STORE))
    page()


if __name__ == "__main__":
    main()
