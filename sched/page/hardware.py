"""Hardware: how far the chosen iteration times are off, what they were fitted to, and all others."""

from typing import Any

import streamlit as st

from sched.accuracy import figure, in_full, preset_of
from sched.cost import fitted, hardware
from sched.page.language import say, tr
from sched.page.state import shown
from sched.page.titles import plain, unbroken
from sched.scenario import Scenario


def chosen(scenario: Scenario) -> list[str]:
    """The preset that the scenario names, in words."""
    row = preset_of(scenario)
    texts = in_full(scenario, say())
    if row is None:
        return texts
    if row["fit"]:
        texts.append(
            tr(
                "By kind of iteration, on average: decodes {decode} %, prefills {prefill} %, both together "
                "{mixed} %.",
                **{name: figure(row["fit"][f"{name}_percent"]) for name in ("decode", "prefill", "mixed")},
            )
        )
    if row["range"]:
        low, high = row["range"]["context"]
        texts.append(
            tr(
                "Measured: up to {tokens} new tokens and {decodes} decodes in an iteration, {low} to {high} "
                "tokens of context. Beyond that it is extrapolated.",
                tokens=f"{row['range']['new_tokens'][1]:,}",
                decodes=f"{row['range']['decodes'][1]:,}",
                low=f"{low:,}",
                high=f"{high:,}",
            )
        )
    texts.append(_memory(row))
    texts.append(tr("Source: {source}.", source=row["source"]))
    return texts


def _memory(row: dict[str, Any]) -> str:
    known = {"blocks": f"{row['kv_blocks']:,}", "kib": f"{row['kv_bytes_per_token'] / 1024:,.0f}"}
    if row["kv_blocks_measured"]:
        return tr(
            "Memory: {blocks} blocks of 16 tokens ({kib} KiB a token); a real engine reported {real}.",
            real=f"{row['kv_blocks_measured']:,}",
            **known,
        )
    return tr("Memory: {blocks} blocks of 16 tokens ({kib} KiB a token), from the geometry.", **known)


def _kinds() -> dict[str, str]:
    """How a preset was made, in words."""
    return {
        "kernel-composed+engine-calibrated": tr("kernels put together, overhead of a live engine"),
        "kernel-composed+transferred-overhead": tr("kernels put together, overhead of similar presets"),
        "kernel-composed (mixed attention measured), no engine offset": tr(
            "kernels put together, mixed ones measured, no overhead"
        ),
        "estimate (linear ops measured, attention roofline)": tr(
            "estimate: linear operations measured, attention from the data sheet"
        ),
        "estimate (roofline)": tr("estimate from the data sheet"),
    }


def table() -> dict[str, list[Any]]:
    """All presets, one a line, as columns; a dash where nothing is known."""
    found = [(one["name"], fitted(one["name"])) for one in hardware()]
    kinds = _kinds()

    def of(part: str, name: str) -> list[Any]:
        return [row[part][name] if row[part] else None for _, row in found]

    return {
        tr("Preset"): [name for name, _ in found],
        tr("Median"): of("fit", "median_percent"),
        tr("Mean"): [row["error_percent"] for _, row in found],
        tr("p95"): of("fit", "p95_percent"),
        tr("Points"): of("fit", "points"),
        tr("Live engine"): of("live", "percent"),
        tr("worst"): of("live", "worst_percent"),
        tr("KV blocks"): [row["kv_blocks"] for _, row in found],
        tr("How"): [kinds.get(row["kind"], row["kind"]) for _, row in found],
        tr("Source"): [row["source"] for _, row in found],
    }


def hardware_part() -> None:
    """The whole part."""
    scenario = shown().scenario
    st.markdown(f"## {tr('Chosen now: {name}', name=plain(scenario.engine.hardware))}")
    st.markdown("\n".join(f"- {unbroken(plain(text))}" for text in chosen(scenario)))
    st.markdown(f"## {tr('All presets')}")
    st.markdown(
        tr(
            "Errors in per cent of the measured time: on points left out of the fit, and against a live "
            "engine where one was published. Whole runs from end to end are not part of this version's "
            "checks, so the error of a wait or of a percentile is not known; it grows with the queue."
        )
    )
    percents = st.column_config.NumberColumn(format="%.1f")
    names = [tr("Median"), tr("Mean"), tr("p95"), tr("Live engine"), tr("worst")]
    st.dataframe(
        table(),
        key="hardware",
        hide_index=True,
        height=420,
        placeholder="–",
        column_config={tr("Preset"): st.column_config.TextColumn(pinned=True)}
        | dict.fromkeys(names, percents),
    )
