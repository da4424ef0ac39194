"""Which column is what: asked in the sidebar when a trace names its columns in no way that is known."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from sched.page.language import tr
from sched.page.titles import plain
from sched.trace_bytes import table
from sched.trace_formats import by_synonyms

ASKED = {
    "arrival": "Time",
    "prompt": "Prompt tokens",
    "output": "Answer tokens",
    "class": "Class, if any",
    "tenant": "Tenant, if any",
    "priority": "Priority, if any",
    "id": "Id, if any",
}
UNITS = {"auto": "found out", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
URGENCY = {"low_first": "the lower priority number", "high_first": "the higher priority number"}
LONGEST_EXAMPLE = 24
Read = Callable[[bytes, str, Mapping[str, str], str, str], None]
"""Takes a file, its name, which column holds which field, the unit of time, and which priority is urgent."""


@dataclass(frozen=True)
class Unread:
    """A file whose columns were not recognised, kept until somebody says what they are."""

    data: bytes
    name: str
    columns: dict[str, str]
    guessed: dict[str, str]


def keep(data: bytes, name: str) -> None:
    """Keep a file that cannot be read without being told its columns."""
    found = table(data, name)
    columns = {title: str(next(iter(cells), ""))[:LONGEST_EXAMPLE] for title, cells in found.columns.items()}
    guessed = {field: titles[0] for field, titles in by_synonyms(found).items()}
    st.session_state["unread"] = Unread(data, name, columns, guessed)


def forget() -> None:
    """Nothing is to be asked any more."""
    st.session_state.pop("unread", None)


def _key(field: str) -> str:
    return f"map.{field}.{st.session_state.get('uploads', 0)}"


def _told(read: Read) -> None:
    file: Unread = st.session_state["unread"]
    chosen = {field: st.session_state[_key(field)] for field in ASKED}
    given = {field: column for field, column in chosen.items() if column is not None}
    read(file.data, file.name, given, st.session_state[_key("unit")], st.session_state[_key("urgency")])


def _discarded() -> None:
    forget()
    st.session_state["touched"] = True


def mapping(read: Read) -> None:
    """The questions about a file that is kept; nothing where there is none."""
    file: Unread | None = st.session_state.get("unread")
    if file is None:
        return
    with st.form("mapping"):
        st.markdown(tr("**Which column of {name} is what?**", name=plain(file.name)))
        titles = list(file.columns)
        for field, label in ASKED.items():
            guess = file.guessed.get(field)
            st.selectbox(
                tr(label),
                titles,
                index=titles.index(guess) if guess in titles else None,
                key=_key(field),
                format_func={one: _named(one, first) for one, first in file.columns.items()}.__getitem__,
                placeholder=tr("none"),
            )
        units = {one: tr(text) for one, text in UNITS.items()}
        st.selectbox(tr("Unit of time"), list(units), key=_key("unit"), format_func=units.__getitem__)
        ways = {one: tr(text) for one, text in URGENCY.items()}
        st.selectbox(tr("More urgent is"), list(ways), key=_key("urgency"), format_func=ways.__getitem__)
        st.form_submit_button(
            tr("Read it so"), type="primary", key="read_so", on_click=_told, args=(read,), width="stretch"
        )
        st.form_submit_button(tr("Discard the file"), key="discard", on_click=_discarded, width="stretch")


def _named(title: str, first: str) -> str:
    """A column by its name, and what stands first in it."""
    return f"{title} \u00b7 {first}" if first else title
