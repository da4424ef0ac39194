"""Share: a link that opens exactly what is shown."""

from dataclasses import replace

import segno
import streamlit as st

from sched.external import LONGEST_LINK, changes
from sched.fields import ScenarioError
from sched.page.state import Shown, query_of, sentence
from sched.page.titles import plain, title

LONGEST_PICTURE = 1200
"""A picture of more characters than this is too fine for a phone's camera."""


def address(query: str) -> str:
    """The whole link; relative where the page's own address is not known."""
    return f"{(st.context.url or '').partition('?')[0].rstrip('/')}/?{query}"


def _carries(now: Shown) -> list[str]:
    """What the link says, in words."""
    _, *changed = changes(now.scenario)
    words = "no change" if not changed else "one change" if len(changed) == 1 else f"{len(changed)} changes"
    name = now.scenario.link_base.partition("@")[0]
    lines = [f":material/tune: {plain(name)}, {words}"]
    lines += [f"&nbsp;&nbsp;&nbsp;&nbsp;{plain(path)}" for path in changed[:4]]
    lines.append(f":material/compare_arrows: A {title(now.scenario, now.a)}, B {title(now.scenario, now.b)}")
    if now.t is not None:
        lines.append(f":material/schedule: the playhead at {now.t:.2f} s")
    if now.focus:
        lines.append(f":material/center_focus_strong: {plain(now.focus)} in focus")
    return lines


@st.cache_data(max_entries=256, show_spinner=False)
def _code(link: str) -> str:
    """The link as a picture to photograph, in both themes dark on white."""
    return segno.make(link, error="m", micro=False).svg_inline(
        scale=3, border=2, dark="#151A26", light="#FFFFFF"
    )


def share(now: Shown) -> None:
    """The popover behind the Share button; what is in it is made when it is open."""
    with st.popover(
        "Share", icon=":material/ios_share:", type="primary", key="share", on_change="rerun"
    ) as box:
        if not box.open:
            return
        st.markdown("**Share what you see**")
        plays = st.session_state.get("link_plays", False)
        try:
            link = address(query_of(replace(now, play=plays)))
        except ScenarioError as error:
            st.warning(plain(sentence(error)))
            return
        st.code(link, language=None, wrap_lines=True)
        st.caption(f"{len(link)} characters. It opens on exactly this picture, already computed.")
        if len(link) > LONGEST_LINK:
            st.warning(f"Many hosts refuse a link of more than {LONGEST_LINK:,} characters.")
        words, picture = st.columns([3, 1], vertical_alignment="top")
        words.markdown("  \n".join(["**The link carries**", *_carries(now)]))
        if now.t is None:
            words.caption("Pause the replay somewhere, and the link opens at that moment.")
        words.toggle("Start playing when opened", key="link_plays")
        if len(link) <= LONGEST_PICTURE:
            picture.image(_code(link), width=132)
