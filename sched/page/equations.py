"""The model in equations: its text, with the coefficients and some iterations of the hardware now chosen."""

import streamlit as st

from sched.cost import IterationCost, iteration_cost, machine
from sched.model import PS_PER_S, UNLIMITED_BLOCKS
from sched.page.language import tr
from sched.page.state import shown
from sched.page.titles import plain, unbroken
from sched.scenario import Scenario
from sched.text import text
from sched.words import NARROW

MARK = "<!-- iteration -->"
"""Where the text leaves room for what depends on the hardware."""
CONTEXT = 1000
"""Tokens in cache of each decode in the examples."""
PRESET = (
    r"t = c_0 + \sqrt[4]{(w\,\gamma)^4 + (f\,n)^4} + g\,n + c_S\,S + a_P\,A + a_X\,X + a_K\,K\,r"
    r" \qquad A = \sum_{\text{chunks}} q\left(b + \tfrac{q}{2}\right) \qquad \gamma = 1 - (1 - \epsilon)^n"
)
AFFINE = (
    r"t = t_0 + \alpha\,P + \beta\,D + \gamma\,K + \delta\,A"
    r" \qquad A = \sum_{\text{chunks}} q\left(b + \tfrac{q}{2}\right)"
)
CONSTANT = r"t = t_0"
UNITS = ((PS_PER_S, "s"), (10**9, "ms"), (10**6, "µs"), (10**3, "ns"), (1, "ps"))
Row = tuple[str, str, str]
"""A symbol, what it stands for, its value."""


def span(ps: float) -> str:
    """A time of any size in three figures: 6.25 ms, 43.1 ns."""
    size, unit = next((one for one in UNITS if ps >= 0.9995 * one[0]), UNITS[-1])
    value = ps / size
    digits = 0 if value >= 99.95 or not value else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}{NARROW}{unit}" if ps else "0"


def rows(scenario: Scenario) -> list[Row]:
    """The coefficients of the chosen hardware, with what they mean and their values."""
    found, hardware = iteration_cost(scenario).coefficients(), scenario.engine.hardware
    if hardware == "constant":
        return [("t_0", tr("every iteration, whatever is in it"), span(found["base_ps"]))]
    attention = tr("attention of a chunk of q tokens with b tokens before it, for each pair of tokens")
    cached = tr("each of the K cached tokens that decodes read")
    if hardware == "affine":
        decode = found["token_ps"] + found["decode_extra_ps"]
        return [
            ("t_0", tr("an iteration that does nothing"), span(found["base_ps"])),
            (r"\alpha", tr("each of the P prompt tokens computed"), span(found["token_ps"])),
            (r"\beta", tr("each of the D requests that decode"), span(decode)),
            (r"\gamma", cached, span(found["kv_token_ps"])),
            (r"\delta", attention, span(found["attention_ps"])),
        ]
    share = f"{found['expert_share']:.3g}"
    mixed = found["kv_token_mixed_ps"] / found["kv_token_ps"]
    floor = tr("launching the work, whatever it is; only its sum with w can be told apart")
    prefix = tr("each token of the longest cached beginning of a chunk, X")
    return [
        ("c_0", floor, span(found["base_ps"])),
        ("w", tr("reading the weights from memory once"), span(found["floor_ps"])),
        ("f", tr("multiplying one of the n new tokens with the weights"), span(found["matrix_ps"])),
        ("g", tr("all else that each new token costs"), span(found["token_ps"])),
        ("c_S", tr("each of the S sequences in the batch: sampling"), span(found["sequence_ps"])),
        ("a_P", attention, span(found["attention_ps"])),
        ("a_X", prefix, span(found["prefix_ps"])),
        ("a_K", cached, span(found["kv_token_ps"])),
        ("r", tr("how much dearer that is beside a prefill, else 1"), f"{mixed:.3g}"),
        (r"\epsilon", tr("share of the experts that one token reads; 0: no mixture"), share),
    ]  # fmt: skip


def formula(scenario: Scenario) -> str:
    """The equation of the chosen hardware."""
    return {"constant": CONSTANT, "affine": AFFINE}.get(scenario.engine.hardware, PRESET)


def iteration_ps(cost: IterationCost, decodes: int, chunk: int) -> int:
    """An iteration of decodes with 1,000 tokens in cache each and one chunk of a new prompt."""
    if not chunk:
        return cost.decode_ps(decodes) + cost.kv_token_ps * CONTEXT * decodes
    prefill = cost.mixed_ps(decodes, chunk, decodes + 1) + cost.attention_ps * chunk * chunk // 2
    return prefill + cost.kv_token_mixed_ps * CONTEXT * decodes


def examples(scenario: Scenario) -> list[tuple[str, str]]:
    """Some iterations and how long they take on this hardware."""
    cost, engine = iteration_cost(scenario), machine(scenario)
    few = min(32, engine.max_num_seqs)
    budget = engine.max_num_batched_tokens
    asked = dict.fromkeys(
        [(1, 0), (few, 0), (engine.max_num_seqs, 0), (0, budget), (few, max(1, budget - few))]
    )
    found = []
    for decodes, chunk in asked:
        known = {"decodes": f"{decodes:,}", "chunk": f"{chunk:,}", "context": f"{CONTEXT:,}"}
        if not chunk:
            what = tr("{decodes} decoding with {context} tokens in cache each", **known)
        elif not decodes:
            what = tr("a chunk of {chunk} tokens alone", **known)
        else:
            what = tr("{decodes} decoding like that beside a chunk of {chunk} tokens", **known)
        found.append((what, span(iteration_ps(cost, decodes, chunk))))
    return found


def iteration(scenario: Scenario) -> str:
    """How long an iteration takes, as Markdown: the equation, its coefficients, examples, the memory."""
    lines = ["$$", formula(scenario), "$$", ""]
    lines += [f"| | {tr('what it costs')} | {plain(scenario.engine.hardware)} |", "|---|---|---:|"]
    lines += [f"| ${symbol}$ | {meaning} | {value} |" for symbol, meaning, value in rows(scenario)]
    lines += ["", f"| {tr('an iteration on it')} | {tr('takes')} |", "|---|---:|"]
    lines += [f"| {what} | {time} |" for what, time in examples(scenario)]
    engine = machine(scenario)
    memory = (
        tr("Memory: no limit.")
        if engine.kv_blocks >= UNLIMITED_BLOCKS
        else tr(
            "Memory: {blocks} blocks of {size} tokens, {tokens} tokens in all.",
            blocks=f"{engine.kv_blocks:,}",
            size=f"{engine.block_size:,}",
            tokens=f"{engine.kv_blocks * engine.block_size:,}",
        )
    )
    return "\n".join([*lines, "", unbroken(memory)])


def equations() -> None:
    """The whole part: the text, with the hardware of the scenario that is shown."""
    now = shown()
    before, after = text("model", now.lang).split(MARK)
    st.markdown(f"{before}{iteration(now.scenario)}{after}")
