"""Share: a link that opens exactly what is shown, and files of it to take away."""

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import segno
import streamlit as st

from sched.external import LONGEST_LINK, VIEW, changes
from sched.fields import ScenarioError
from sched.language import NAMES
from sched.page.component import alone
from sched.page.headline import headline, reason
from sched.page.language import tr, tr_count
from sched.page.results import Result, results
from sched.page.state import sentence
from sched.page.take_away import take_away
from sched.page.titles import VIEWS, plain, scenario_title, title
from sched.scenario import SCHEMA
from sched.verdict import urgent_class
from sched.view import PAGES, Shown, query_of

LONGEST_PICTURE = 1200
"""A picture of more characters than this is too fine for a phone's camera."""
PLAIN = {"v", "scenario", "a", "b", "view", "lang", "expert"}
"""What of a link is not a change of the scenario and no moment."""
BOX = (
    '<div class="link"><code></code><button type="button"></button></div><output aria-live="polite"></output>'
)


def address(query: str) -> str:
    """The whole link, by the page's root; relative where the page's own address is not known."""
    base, _, view = (st.context.url or "").partition("?")[0].rstrip("/").rpartition("/")
    return f"{base if view in PAGES else f'{base}/{view}' if base else view}/?{query}"


def parts(link: str) -> list[tuple[str, bool]]:
    """The link in pieces; those that say what was changed, or which moment, are set apart."""
    base, _, query = link.partition("?")
    found = [(f"{base}?", False)]
    for place, pair in enumerate(query.split("&")):
        key = parse_qsl(pair, keep_blank_values=True)[0][0] if pair else ""
        found.append((f"{'&' if place else ''}{pair}", key not in PLAIN))
    return found


def carries(now: Shown) -> list[str]:
    """What the link says, in words."""
    _, *changed = changes(now.scenario)
    name = plain(scenario_title(now.scenario))
    lines = [f":material/tune: {tr('{first}, {next}', first=name, next=_how_many(len(changed)))}"]
    lines += [f"&nbsp;&nbsp;&nbsp;&nbsp;{plain(path)}" for path in changed[:4]]
    first, second = title(now.scenario, now.a), title(now.scenario, now.b)
    lines.append(f":material/compare_arrows: {tr('A {first}, B {second}', first=first, second=second)}")
    if now.page != PAGES[0]:
        lines.append(f":material/view_quilt: {tr('the view {name}', name=tr(VIEWS[now.page]))}")
    if now.t is not None:
        lines.append(f":material/schedule: {tr('the playhead at {at} s', at=f'{now.t:.2f}')}")
    if now.focus:
        lines.append(f":material/center_focus_strong: {tr('{name} in focus', name=plain(now.focus))}")
    if now.lang != "en":
        lines.append(f":material/translate: {NAMES[now.lang]}")
    others = [VIEW[key] for key in ("baseline", "of", "seeds", "vary", "goal", "lesson") if getattr(now, key)]
    lines += [f":material/check: {tr(text)}" for text in others]
    lines.append(f":material/tag: {tr('format version {n}', n=SCHEMA)}")
    return lines


def _how_many(many: int) -> str:
    return tr_count(many, "{n} change", "{n} changes") if many else tr("no change")


@st.cache_data(max_entries=256, show_spinner=False)
def _code(link: str) -> str:
    """The link as a picture to photograph, in both themes dark on white."""
    return segno.make(link, error="m", micro=False).svg_inline(
        scale=3, border=2, dark="#151A26", light="#FFFFFF"
    )


def share(now: Shown, *, only_link: bool = False) -> None:
    """The popover behind the Share button; what is in it is made when it is open.

    `only_link`: of a view that has no run of its own there are no files to take away.
    """
    with st.popover(
        tr("Share"), icon=":material/ios_share:", type="primary", key="share", on_change="rerun"
    ) as box:
        if not box.open:
            return
        with st.container(key="sharing"):
            link = _link(now, is_played=not only_link)
            if only_link:
                return
            runs, name = _runs(now)
            if name is None:
                return
            st.divider()
            take_away(now, runs, name, link)
            _to_paste(now, runs, name)


def _only_here() -> str:
    """The host of the page's address where no other machine can open it; else ""."""
    host = urlsplit(st.context.url or "").hostname or ""
    is_here = host in ("localhost", "::1") or host.endswith(".localhost") or host.startswith("127.")
    return host if is_here else ""


def _link(now: Shown, *, is_played: bool) -> str:
    """The link with what it carries; "" where there can be none."""
    st.markdown(f"**{tr('Share what you see')}**")
    plays = is_played and st.session_state.get("link_plays", False)
    try:
        link = address(query_of(replace(now, play=plays)))
    except ScenarioError as error:
        st.warning(plain(sentence(error)))
        return ""
    said = {"copy": tr("Copy"), "copied": tr("Copied."), "failed": tr("Select the link and copy it by hand.")}
    alone("link", BOX)(data={"parts": parts(link), **said}, key="link")
    many = f"{len(link):,}"
    if is_played:
        st.caption(tr("{n} characters. It opens on exactly this picture, already computed.", n=many))
    else:
        st.caption(tr("{n} characters. It opens on exactly this lesson.", n=many))
    if host := _only_here():
        st.warning(
            tr(
                "It opens only on this machine: its address is {host}. To show it to others, open the page "
                "by this machine's name or address first.",
                host=host,
            )
        )
    if len(link) > LONGEST_LINK:
        most = f"{LONGEST_LINK:,}"
        st.warning(tr("Many hosts refuse a link of more than {n} characters; take a file instead.", n=most))
    words, picture = st.columns([2.2, 1], vertical_alignment="top")
    words.markdown("  \n".join([f"**{tr('The link carries')}**", *carries(now)]))
    if now.t is None and now.page == PAGES[0]:
        words.caption(tr("Pause the replay somewhere, and the link opens at that moment."))
    if is_played:
        words.toggle(tr("Start playing when opened"), key="link_plays")
    if len(link) <= LONGEST_PICTURE:
        picture.image(
            _code(link),
            width=180,
            caption=tr("For the classroom"),
            alt=tr("The link as a QR code"),
        )
    return link


def _runs(now: Shown) -> tuple[dict[str, Result], str | None]:
    """The runs of what is shown and the class they speak of; none where there is nothing to take away."""
    try:
        runs = results(now.scenario)
    except ScenarioError:
        return {}, None
    return runs, urgent_class(next(iter(runs.values())).summary, now.scenario)


def _to_paste(now: Shown, runs: dict[str, Result], name: str) -> None:
    """The verdict in two lines, for a chat in which the link alone says nothing."""
    st.caption(tr("A text to paste beside the link"))
    text = f"{headline(now, runs, name)}\n{reason(now, name)}"
    st.code(text, language=None, wrap_lines=True)
