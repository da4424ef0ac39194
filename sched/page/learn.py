"""Learn: short lessons. A question first, a prediction that one commits to, then the replay answers."""

from dataclasses import replace

import streamlit as st

from sched.external import VIEW
from sched.figures.palette import palette
from sched.page.component import is_dark, style_sheet
from sched.page.lab import messages
from sched.page.language import say, tr, tr_count
from sched.page.lesson import closed, replay, still, tasks, to_lab
from sched.page.progress import answers, forget, keep
from sched.page.share import share
from sched.page.state import show, shown
from sched.text.facts_memory import LOCK_STEP, Facts
from sched.text.lessons import BY_KEY, LESSONS, Lesson, Told, facts_of, told

WITH_TASKS = "lock"
"""The lesson that shows an operating system's schedule beside the engine."""


def learn() -> None:
    """The whole view."""
    colours = palette(is_dark())
    named = ";".join(
        f"--{name}:{colours[name]}" for name in ("ink", "ink2", "ink3", "surface", "line", "accent", "bg")
    )
    st.html(f"<style>\n.st-key-lesson{{{named}}}\n{style_sheet('learn')}</style>")
    lesson = BY_KEY[shown().lesson or LESSONS[0].key]
    keep()
    _sidebar(lesson)
    with st.container(key="lesson"):
        messages(about=VIEW)
        _lesson(lesson, told(lesson.key, say().code), facts_of(lesson.key))


def _open(key: str) -> None:
    show(replace(shown(), lesson=key))


def _sidebar(now: Lesson) -> None:
    """The list of lessons, with a mark where one has been answered."""
    done = answers()
    with st.sidebar, st.container(key="lessons"):
        with st.container(horizontal=True, horizontal_alignment="distribute"):
            st.caption(tr_count(len(LESSONS), "{n} lesson", "{n} lessons"), width="content")
            st.caption(tr("**{n} done**", n=len(done)), width="content")
        for place, one in enumerate(LESSONS, 1):
            st.button(
                told(one.key, say().code).title if one.key in done else f"{place}\u2002{_name(one)}",
                key=f"lesson.{one.key}",
                icon=":material/check_circle:" if one.key in done else None,
                type="secondary" if one is now else "tertiary",
                width="stretch",
                on_click=_open,
                args=(one.key,),
            )
        st.caption(tr("About three minutes each. The link opens the lesson that is shown."))
        if done:
            st.button(tr("Begin all lessons again"), key="forget", type="tertiary", on_click=forget)


def _name(lesson: Lesson) -> str:
    return told(lesson.key, say().code).title


def _lesson(lesson: Lesson, text: Told, facts: Facts) -> None:
    """The question, then the replay and what it says, then the way on."""
    place = LESSONS.index(lesson) + 1
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(tr("Lesson {n} of {many}", n=place, many=len(LESSONS)), width="content")
        share(shown(), only_link=True)
    st.title(text.title, anchor=False)
    st.markdown(text.lead)
    picture, question = st.columns([4, 5.8], gap="large")
    with picture:
        if lesson.key == WITH_TASKS:
            tasks(until=LOCK_STEP)
        else:
            still(lesson, facts)
        st.markdown(text.rule)
    with question, st.container(key="question"):
        _question(lesson, text, facts)
    with st.container(key="answered"):
        if lesson.key in answers():
            _replay(lesson, text, facts)
            _after(lesson, text)
        else:
            closed()
    _ways(lesson, facts)


def _question(lesson: Lesson, text: Told, facts: Facts) -> None:
    """The options; once committed they cannot be changed, and the right one is marked in words."""
    committed = answers().get(lesson.key)
    keys, labels = list(lesson.options), {one.key: one.label for one in text.options}
    widget = f"answer.{lesson.key}"
    if committed is not None:
        st.session_state[widget] = committed
    marks = {facts.right: tr("This is what happens.")} if committed else {}
    if committed and committed != facts.right:
        marks[committed] = tr("Your prediction.")
    elif committed:
        marks[committed] = tr("Your prediction, and this is what happens.")
    st.header(text.question, anchor=False)
    chosen = st.radio(
        text.question,
        keys,
        index=None,
        key=widget,
        format_func=labels.__getitem__,
        captions=[marks.get(key, "") for key in keys] if marks else None,
        label_visibility="collapsed",
        disabled=committed is not None,
        width="stretch",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            tr("Commit and play") if committed is None else tr("Play again"),
            key=f"commit.{lesson.key}",
            type="primary",
            icon=":material/lock_open:" if committed is None else ":material/replay:",
            disabled=chosen is None,
            on_click=_commit,
            args=(lesson.key,),
        )
        if committed is None:
            st.caption(tr("You can't change it after that."))
    if committed is not None:
        _verdict(text, facts, committed)


def _commit(key: str) -> None:
    """Keep what is chosen, once; played again, the replay begins anew."""
    if key not in answers():
        answers()[key] = st.session_state[f"answer.{key}"]
    st.session_state["plays"] = st.session_state.get("plays", 0) + 1
    st.session_state["touched"] = True


def _verdict(text: Told, facts: Facts, committed: str) -> None:
    """Whether the prediction was right, and why, in words; the other options for those who wonder."""
    by_key = {one.key: one for one in text.options}
    right = by_key[facts.right]
    if committed == facts.right:
        st.success(f"{tr('**You were right.**')} {right.why}", icon=":material/check_circle:")
    else:
        st.info(
            tr("**It happens otherwise: {label}.**", label=right.label.rstrip(".。")) + f" {right.why}",
            icon=":material/info:",
        )
        st.markdown(tr("*Your prediction.* {why}", why=by_key[committed].why))
    others = [one for one in text.options if one.key not in (committed, facts.right)]
    with st.expander(tr("Why not the other answers?")):
        for one in others:
            st.markdown(f"**{one.label}**  \n{one.why}")


def _replay(lesson: Lesson, text: Told, facts: Facts) -> None:
    if lesson.key == WITH_TASKS:
        tasks()
        st.markdown(text.beside)
    replay(lesson, facts, st.session_state.get("plays", 0))


def _after(lesson: Lesson, text: Told) -> None:
    """What to take from it, and what to try in the Lab."""
    taken, tried = st.columns([5.8, 4], gap="large")
    with taken:
        st.markdown(f"## {tr('What to take from it')}")
        st.markdown(text.take)
    with tried, st.container(key="tries"):
        st.markdown(f"## {tr('Try it')}")
        for one in lesson.tries:
            st.button(
                text.tries[one.key],
                key=f"try.{lesson.key}.{one.key}",
                type="tertiary",
                icon=":material/science:",
                on_click=to_lab,
                args=(lesson.key, one.changes, one.a, one.b, None, None),
            )


def _ways(lesson: Lesson, facts: Facts) -> None:
    """Previous lesson, this moment in the Lab, next lesson."""
    place = LESSONS.index(lesson)
    before, after = LESSONS[place - 1] if place else None, LESSONS[place + 1 : place + 2]
    with st.container(horizontal=True, horizontal_alignment="distribute", key="ways"):
        if before:
            st.button(
                _name(before),
                key="previous",
                type="tertiary",
                icon=":material/arrow_back:",
                on_click=_open,
                args=(before.key,),
                help=tr("Previous lesson"),
            )
        if lesson.key in answers():
            against = lesson.against.policy if lesson.against else None
            st.button(
                tr("Open this moment in the Lab"),
                key="to_lab",
                type="tertiary",
                icon=":material/open_in_new:",
                on_click=to_lab,
                args=(
                    lesson.key,
                    lesson.shown.changes,
                    lesson.shown.policy,
                    against,
                    facts.at_s,
                    facts.focus,
                ),
            )
        for one in after:
            st.button(
                _name(one),
                key="next",
                type="tertiary",
                icon=":material/arrow_forward:",
                icon_position="right",
                on_click=_open,
                args=(one.key,),
                help=tr("Next lesson"),
            )
