"""Share: a link that opens exactly what is shown."""

import streamlit as st

from sched.external import LONGEST_LINK, changes
from sched.fields import ScenarioError
from sched.page.state import Shown, query_of, sentence
from sched.page.titles import title


def address(query: str) -> str:
    """The whole link; relative where the page's own address is not known."""
    return f"{(st.context.url or '').partition('?')[0].rstrip('/')}/?{query}"


def _carries(now: Shown) -> list[str]:
    """What the link says, in words."""
    _, *changed = changes(now.scenario)
    words = "no change" if not changed else "one change" if len(changed) == 1 else f"{len(changed)} changes"
    name = now.scenario.link_base.partition("@")[0]
    lines = [f":material/tune: {name}, {words}"]
    lines += [f"&nbsp;&nbsp;&nbsp;&nbsp;`{path}`" for path in changed[:4]]
    lines.append(f":material/compare_arrows: A {title(now.scenario, now.a)}, B {title(now.scenario, now.b)}")
    if now.t is not None:
        lines.append(f":material/schedule: the playhead at {now.t:.2f} s")
    if now.focus:
        lines.append(f":material/center_focus_strong: {now.focus} in focus")
    return lines


def share(now: Shown) -> None:
    """The popover behind the Share button."""
    with st.popover("Share", icon=":material/ios_share:", type="primary", key="share"):
        st.markdown("**Share what you see**")
        try:
            query = query_of(now)
        except ScenarioError as error:
            st.warning(sentence(error))
            return
        link = address(query)
        st.code(link, language=None, wrap_lines=True)
        if len(link) > LONGEST_LINK:
            st.warning(
                f"This link has {len(link):,} characters; many hosts refuse more than {LONGEST_LINK:,}."
            )
        st.caption(f"{len(link)} characters. It opens on exactly this picture, already computed.")
        st.markdown("  \n".join(["**The link carries**", *_carries(now)]))
        if now.t is None:
            st.caption("Pause the replay somewhere, and the link opens at that moment.")
