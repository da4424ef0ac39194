"""Sched Lab's dashboard: `make run`, or `python -m streamlit run app.py` from this folder."""

import os


def main() -> None:
    """Draw the page. Guarded below, because worker processes import the script that started them; they need
    neither Streamlit nor the page, so these are imported here.
    """
    from sched.page.shell import page
    from sched.trace_store import chosen_store, use_store

    use_store(chosen_store(os.environ.get("SCHED_STORE")))
    page()


if __name__ == "__main__":
    main()
