"""Agreement with the real vLLM scheduler: which version, how much was compared, and what of it."""

from typing import Any

import streamlit as st

from sched.agreement import on_file
from sched.page.language import tr


def _kinds() -> dict[str, str]:
    return {
        "light": tr("Light load"),
        "saturated": tr("More work than the engine can do"),
        "seats": tr("Few seats"),
        "memory": tr("Little memory: growth, preemptions, stalls"),
        "prompts": tr("Long prompts: chunks, thresholds, no chunking"),
        "priorities": tr("Priorities, ties among them, tight memory"),
        "prefixes": tr("Shared prefixes in the cache"),
        "limits": tr("Longest context and watermark"),
        "by_hand": tr("Small situations made by hand"),
        "other": tr("Others"),
    }


def compared() -> list[str]:
    """What of each iteration must be the same, in words."""
    found = on_file()["compared"]
    words = {
        "time": tr("when the scheduler is called"),
        "added": tr("which requests it takes in"),
        "scheduled": tr("which requests get how many tokens, in order"),
        "admitted": tr("who is admitted"),
        "resumed": tr("who comes back after a preemption"),
        "hits": tr("how many tokens each finds in the prefix cache"),
        "preempted": tr("who is preempted, in order"),
        "waiting": tr("the queue, in order"),
        "running": tr("the batch, in order"),
        "finished": tr("who ends"),
        "free_scheduled": tr("free blocks after the decision"),
        "free_updated": tr("free blocks after the iteration"),
    }
    return [words.get(name, name) for name in found]


def headline() -> str:
    """How much agrees, in a sentence."""
    total = on_file()["total"]
    return tr(
        "**{agreeing} of {traces} recorded traces agree in every decision: {same} of {iterations} "
        "iterations, {requests} requests, {preemptions} preemptions.**",
        agreeing=f"{total['agreeing']:,}",
        traces=f"{total['traces']:,}",
        same=f"{total['agreeing_iterations']:,}",
        iterations=f"{total['iterations']:,}",
        requests=f"{total['requests']:,}",
        preemptions=f"{total['preemptions']:,}",
    )


def recorded_from() -> str:
    """Which scheduler was recorded."""
    found = [f"{one['version']} ({one['commit']}, {one['scheduler']})" for one in on_file()["schedulers"]]
    return tr(
        "The traces were recorded from the scheduler of vLLM {versions}, without a model: it was given the "
        "requests, and its every decision was written down. The engine of the Lab, jumps and all, is run on "
        "the same requests and must decide the same.",
        versions=", ".join(found),
    )


def table() -> dict[str, list[Any]]:
    """One line a kind of load, as columns."""
    kinds, names = on_file()["kinds"], _kinds()
    columns = {
        tr("Traces"): "traces",
        tr("agree"): "agreeing",
        tr("Requests"): "requests",
        tr("Iterations"): "iterations",
        tr("agree in all"): "agreeing_iterations",
        tr("Preemptions"): "preemptions",
    }
    found: dict[str, list[Any]] = {tr("What was recorded"): [names[kind] for kind in kinds]}
    return found | {head: [row[key] for row in kinds.values()] for head, key in columns.items()}


def _modes() -> dict[str, int]:
    """Traces by mode, in words."""
    counts: dict[str, int] = on_file()["policies"]
    with_cache = " with prefix caching"
    return {
        tr("{policy} with prefix caching", policy=name.removesuffix(with_cache))
        if name.endswith(with_cache)
        else name: many
        for name, many in counts.items()
    }


def agreement() -> None:
    """The whole part."""
    st.markdown(headline())
    st.markdown(recorded_from())
    st.dataframe(table(), key="agreement", hide_index=True, height="content")
    policies = tr(", ").join(f"{mode} {many}" for mode, many in _modes().items())
    st.caption(tr("Traces by mode: {policies}.", policies=policies))
    st.markdown(f"**{tr('Compared in every iteration')}**\n" + "\n".join(f"- {one}" for one in compared()))
    st.markdown(
        tr(
            "What this does not say: how long an iteration takes (see Hardware), and what asynchronous "
            "scheduling would change. `python -m sched lockstep FOLDER` repeats it for any folder of traces, "
            "`--write` keeps the counts that stand here."
        )
    )
