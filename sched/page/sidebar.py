"""The sidebar: the questions people ask of a scheduler, in groups, and everything else under Expert."""

from dataclasses import replace

import streamlit as st

from sched.cost import machine
from sched.laws import ConstantLength, Length, QuantileLength, UniformLength
from sched.model import UNLIMITED_BLOCKS
from sched.page.cards import choose
from sched.page.controls import MARKS, changed, entry, nice, roles, slider
from sched.page.expert import expert
from sched.page.replay import recorded_tenants, replay
from sched.page.state import Shown, set_values, show, shown, start, with_scenario
from sched.page.suggested import suggested
from sched.page.titles import plain
from sched.plain import join_path
from sched.scenario import Scenario, known_policies, preset, presets
from sched.sources import Traffic


def sidebar() -> None:
    """All controls, in the sidebar."""
    now = shown()
    scenario, look = now.scenario, roles(now.scenario)
    st.session_state["drawn"] = set()
    with st.sidebar:
        _scenario_choice(scenario)
        replay(scenario)
        _mode(now)
        with st.expander("Traffic", expanded=True, icon=":material/bolt:"):
            _traffic(scenario, look)
        with st.expander("Rescue buffer", expanded=True, icon=":material/shield:"):
            _rescue(scenario)
        with st.expander("Engine", expanded=True, icon=":material/memory:"):
            _engine(scenario)
        with st.expander("Ageing and weights", expanded=True, icon=":material/balance:"):
            _ageing_and_weights(scenario)
        with st.expander("Policies compared", expanded=True, icon=":material/rule:"):
            _policies(scenario)
        _seed(scenario)
        if now.expert:
            expert(scenario, look)


def _scenario_chosen() -> None:
    now, chosen = shown(), preset(st.session_state["scenario"])
    show(with_scenario(Shown(chosen, "", "", expert=now.expert, tab=now.tab), chosen))
    start(shown())


def _scenario_choice(scenario: Scenario) -> None:
    """The ready scenarios, and a way back to the one that was changed."""
    titles = {one.name: one.title for one in presets()}
    name = scenario.link_base.partition("@")[0]
    if name not in titles:
        titles = {name: "Your own", **titles}
    st.session_state["scenario"] = name
    st.selectbox(
        "Scenario",
        list(titles),
        key="scenario",
        format_func=lambda one: titles.get(one, one),
        help=plain(scenario.story) or None,
        on_change=_scenario_chosen,
    )


def _mode_chosen() -> None:
    show(replace(shown(), expert=st.session_state["mode"] == "Expert"))


def _mode(now: Shown) -> None:
    st.session_state["mode"] = "Expert" if now.expert else "Simple"
    st.segmented_control(
        "Controls",
        ["Simple", "Expert"],
        key="mode",
        required=True,
        label_visibility="collapsed",
        width="stretch",
        on_change=_mode_chosen,
    )


def _traffic(scenario: Scenario, look: dict[str, int]) -> None:
    """Rates by class; size and share of the long prompts."""
    if not scenario.traffic:
        st.caption(
            "The requests of this scenario are a recorded trace."
            if scenario.trace
            else "The requests of this scenario are written one by one."
        )
        return
    for one in scenario.traffic:
        slider(("traffic", one.name, "rate_per_s"), f"{_named(one, look)}, requests/s")
    long = max(scenario.traffic, key=lambda one: length_of(one.prompt)[1])
    size, _ = length_of(long.prompt)
    if size:
        slider(("traffic", long.name, "prompt", size), f"{_named(long, look)}, {SIZES[size]}")
    if len(scenario.traffic) > 1:
        _share(scenario, long, look)


def _named(one: Traffic, look: dict[str, int]) -> str:
    """A class with its mark, as a label."""
    return f"{MARKS[look[one.name]]} {plain(one.name)}"


SIZES = {"mean": "prompt tokens", "tokens": "prompt tokens", "max": "longest prompt"}


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
        f"{_named(long, look)}, share of requests",
        min(0.5, now),
        max(20.0, now, min(95.0, nice(2 * now))),
        step=0.5,
        key=key,
        format="%.1f %%",
        help=f"Sets the rate of {plain(long.name)}; the other classes keep theirs.",
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
            st.caption("KV memory: unlimited")
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
        slider(("tenants", tenant, "weight"), f"Weight of {plain(tenant)}", off=off)


def _missing(scenario: Scenario, key: str) -> str | None:
    """Why a policy's controls cannot be moved: it is not compared."""
    if key in scenario.policies:
        return None
    return f"It counts under {known_policies()[key].title} only, which is not compared now."


OFFERS = {"rescue": "Try a rescue buffer", "aging": "Try an ageing threshold", "vtc": "Try tenant weights"}


def _offer(key: str) -> None:
    """A policy whose controls would change nothing now can be added where they are."""
    st.button(
        OFFERS[key],
        key=f"offer.{key}",
        icon=":material/add:",
        help=f"Adds {known_policies()[key].title} to the policies compared and shows it as B.",
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
    known = known_policies()
    st.session_state["policies"] = list(scenario.policies)
    st.multiselect(
        "Policies compared",
        list(known),
        key="policies",
        format_func=lambda key: known[key].title,
        label_visibility="collapsed",
        on_change=_policies_chosen,
    )


def _another_seed() -> None:
    set_values({"seed": str(shown().scenario.seed + 1)})


def _seed(scenario: Scenario) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        entry(("seed",))
        st.button(
            "Another",
            key="another_seed",
            icon=":material/casino:",
            on_click=_another_seed,
            help="The next seed.",
        )
