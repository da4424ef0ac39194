"""Help on every term: what the page says of a word comes from the one glossary, in the reader's language."""

import streamlit as st

from sched.page.language import say, tr
from sched.text import Term, entry, glossary, text


def meaning(name: str) -> str:
    """What a term means, for a help bubble: `st.metric(..., help=meaning("TTFT"))`."""
    return entry(name, say().code).meaning


def word(name: str) -> str:
    """The term itself in the reader's language."""
    return entry(name, say().code).word


def explained(name: str) -> str:
    """The term and what it means, for the end of a longer help text."""
    found = entry(name, say().code)
    stop = ". " if say().code == "en" else "。"
    return f"**{found.word}**{stop.strip() if stop == '。' else ': '}{found.meaning}"


def matching(wanted: str) -> list[Term]:
    """The terms whose word, other names or meaning hold what is looked for; all for nothing."""
    key = " ".join(wanted.lower().split())
    return [
        one
        for one in glossary(say().code).values()
        if not key or any(key in part.lower() for part in (one.key, one.word, one.meaning, *one.also))
    ]


def listed(found: list[Term]) -> str:
    """Terms as Markdown, by part."""
    lines: list[str] = []
    for place, one in enumerate(found):
        if not place or one.part != found[place - 1].part:
            heads = (tr("word"), tr("meaning"), tr("also called"))
            lines += ["", f"#### {one.part}", "", f"| {' | '.join(heads)} |", "|---|---|---|"]
        lines.append(f"| **{one.word}** | {one.meaning} | {', '.join(one.also)} |")
    return "\n".join(lines)


def glossary_part() -> None:
    """The whole part: every term, and how to read the stage."""
    wanted = st.text_input(
        tr("Find a word"),
        key="find_word",
        placeholder=tr("inversion, TTFT, seat ..."),
        icon=":material/search:",
    )
    found = matching(wanted)
    st.caption(say().count(len(found), "{n} term", "{n} terms"))
    if found:
        st.markdown(listed(found))
    else:
        st.markdown(tr("The glossary has no such word."))
    st.markdown(f"### {tr('Reading the stage')}")
    st.markdown(text("reading", say().code))
