"""Sched Lab's dashboard: `make run`, or `python -m streamlit run app.py` from this folder."""

from sched.page.shell import page


def main() -> None:
    """Draw the page. Guarded below, because worker processes import the script that started them."""
    page()


if __name__ == "__main__":
    main()
