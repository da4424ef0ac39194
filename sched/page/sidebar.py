"""The sidebar: the questions people ask of a scheduler, in groups, and everything else under Expert."""

from dataclasses import replace

import streamlit as st

from sched.cost import machine
from sched.laws import ConstantLength, Length, QuantileLength, UniformLength
from sched.model import UNLIMITED_BLOCKS
from sched.page.cards import choose
from sched.page.controls import changed, entry, marked_name, nice, slider
from sched.page.expert import expert
from sched.page.gallery import gallery, open_scenario
from sched.page.language import tr
from sched.page.promise import goal
from sched.page.replay import recorded_tenants, replay
from sched.page.results import looks_of
from sched.page.state import set_values, show, shown
from sched.page.suggested import suggested
from sched.page.titles import name_of, plain, scenario_story
from sched.plain import join_path
from sched.scenario import Scenario, known_policies, presets
from sched.sources import Traffic


def sidebar() -> None:
    """All controls, in the sidebar."""
    now = shown()
    scenario, look = now.scenario, looks_of(now.scenario)
    st.session_state["drawn"] = set()
    with st.sidebar:
        _scenario_choice(scenario)
        gallery()
        replay(scenario)
        _mode(now.expert)
        with st.expander(tr("Traffic"), expanded=True, icon=":material/bolt:"):
            _traffic(scenario, look)
        with st.expander(tr("Rescue buffer"), expanded=True, icon=":material/shield:"):
            _rescue(scenario)
        with st.expander(tr("Engine"), expanded=True, icon=":material/memory:"):
            _engine(scenario)
        if scenario.traffic:
            with st.expander(tr("Goal"), expanded=True, icon=":material/flag:"):
                goal(scenario)
        with st.expander(tr("Ageing and weights"), expanded=True, icon=":material/balance:"):
            _ageing_and_weights(scenario)
        with st.expander(tr("Policies compared"), expanded=True, icon=":material/rule:"):
            _policies(scenario)
        _seed(scenario)
        if now.expert:
            expert(scenario, look)


def _scenario_chosen() -> None:
    open_scenario(st.session_state["scenario"])


def _scenario_choice(scenario: Scenario) -> None:
    """The ready scenarios, and a way back to the one that was changed."""
    titles = {one.name: tr(one.title) for one in presets()}
    name = scenario.link_base.partition("@")[0]
    if name not in titles:
        titles = {name: tr("Your own"), **titles}
    st.session_state["scenario"] = name
    st.selectbox(
        tr("Scenario"),
        list(titles),
        key="scenario",
        format_func=lambda one: titles.get(one, one),
        help=plain(scenario_story(scenario)) or None,
        on_change=_scenario_chosen,
    )


def _mode_chosen() -> None:
    show(replace(shown(), expert=st.session_state["mode"] == "Expert"))


def _mode(is_expert: bool) -> None:
    st.session_state["mode"] = "Expert" if is_expert else "Simple"
    st.segmented_control(
        tr("Controls"),
        ["Simple", "Expert"],
        key="mode",
        format_func={mode: tr(mode) for mode in ("Simple", "Expert")}.__getitem__,
        required=True,
        label_visibility="collapsed",
        width="stretch",
        on_change=_mode_chosen,
    )


def _traffic(scenario: Scenario, look: dict[str, int]) -> None:
    """Rates by class; size and share of the long prompts."""
    if not scenario.traffic:
        st.caption(
            tr(
                "The requests of this scenario are a recorded trace."
                if scenario.trace
                else "The requests of this scenario are written one by one."
            )
        )
        return
    for one in scenario.traffic:
        slider(
            ("traffic", one.name, "rate_per_s"), tr("{name}, requests/s", name=marked_name(one.name, look))
        )
    long = max(scenario.traffic, key=lambda one: length_of(one.prompt)[1])
    size, _ = length_of(long.prompt)
    if size:
        slider(("traffic", long.name, "prompt", size), tr(SIZES[size], name=marked_name(long.name, look)))
    if len(scenario.traffic) > 1:
        _share(scenario, long, look)


SIZES = {
    "mean": "{name}, prompt tokens",
    "tokens": "{name}, prompt tokens",
    "max": "{name}, longest prompt",
}


def length_of(law: Length) -> tuple[str, float]:
    """The knob that sets how long a law's prompts are ("" if there is none), and about how long they are."""
    if isinstance(law, ConstantLength):
        return "tokens", law.tokens
    if isinstance(law, UniformLength):
        return "max", (law.min + law.max) / 2
    if isinstance(law, QuantileLength):
        return "", law.points[-1][1] / 2
    return "mean", law.mean


def _share(scenario: Scenario, long: Traffic, look: dict[str, int]) -> None:
    """The share of long prompts among all requests: another handle on the rate of their class."""
    key, path = f"share.{long.name}", join_path(("traffic", long.name, "rate_per_s"))
    others = sum(one.rate_per_s for one in scenario.traffic if one is not long)
    now = min(max(round(100 * long.rate_per_s / (others + long.rate_per_s), 1), 0.1), 99.9)
    st.session_state[key] = now
    st.slider(
        tr("{name}, share of requests", name=marked_name(long.name, look)),
        min(0.5, now),
        max(20.0, now, min(95.0, nice(2 * now))),
        step=0.5,
        key=key,
        format="%.1f %%",
        help=tr("Sets the rate of {name}; the other classes keep theirs.", name=plain(long.name)),
        on_change=changed,
        args=(key, path, lambda percent: float(f"{others * percent / (100 - percent):.4g}")),
    )


def _rescue(scenario: Scenario) -> None:
    off = _missing(scenario, "rescue")
    for name in ("kv", "tokens", "seats"):
        slider(("rescue", name), off=off)
        if name == "kv":
            suggested(scenario)
    if off:
        _offer("rescue")
    else:
        entry(("rescue", "lend"))


def _engine(scenario: Scenario) -> None:
    blocks = machine(scenario).kv_blocks
    for name in ("kv_blocks", "max_num_seqs", "max_num_batched_tokens"):
        if name == "kv_blocks" and blocks >= UNLIMITED_BLOCKS:
            st.caption(tr("KV memory: unlimited"))
        else:
            slider(("engine", name), value=blocks if name == "kv_blocks" else None)


def _ageing_and_weights(scenario: Scenario) -> None:
    if "aging" in scenario.policies:
        entry(("aging", "threshold_s"))
    else:
        _offer("aging")
    tenants = [name for one in scenario.traffic for name in one.shares()] + [
        one.tenant for one in scenario.requests
    ]
    tenants += recorded_tenants(scenario)
    off = _missing(scenario, "vtc")
    if off:
        _offer("vtc")
    for tenant in list(dict.fromkeys([*scenario.tenants, *tenants]))[:12]:
        slider(("tenants", tenant, "weight"), tr("Weight of {name}", name=plain(tenant)), off=off)


def _missing(scenario: Scenario, key: str) -> str | None:
    """Why a policy's controls cannot be moved: it is not compared."""
    if key in scenario.policies:
        return None
    return tr("It counts under {policy} only, which is not compared now.", policy=name_of(key))


OFFERS = {"rescue": "Try a rescue buffer", "aging": "Try an ageing threshold", "vtc": "Try tenant weights"}


def _offer(key: str) -> None:
    """A policy whose controls would change nothing now can be added where they are."""
    st.button(
        tr(OFFERS[key]),
        key=f"offer.{key}",
        icon=":material/add:",
        help=tr("Adds {policy} to the policies compared and shows it as B.", policy=name_of(key)),
        on_click=_added,
        args=(key,),
    )


def _added(key: str) -> None:
    set_values({"policies": ",".join([*shown().scenario.policies, key])})
    if key in shown().scenario.policies and shown().a != key:
        choose("B", key)


def _policies_chosen() -> None:
    keys = st.session_state["policies"]
    set_values({"policies": ",".join(keys) if keys else "[]"})


def _policies(scenario: Scenario) -> None:
    st.session_state["policies"] = list(scenario.policies)
    st.multiselect(
        tr("Policies compared"),
        list(known_policies()),
        key="policies",
        format_func={key: name_of(key) for key in known_policies()}.__getitem__,
        label_visibility="collapsed",
        on_change=_policies_chosen,
    )


def _another_seed() -> None:
    set_values({"seed": str(shown().scenario.seed + 1)})


def _seed(scenario: Scenario) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        entry(("seed",))
        st.button(
            tr("Another"),
            key="another_seed",
            icon=":material/casino:",
            on_click=_another_seed,
            help=tr("The next seed."),
        )
