"""Help on every term: what the page says of a word comes from the one glossary, in the reader's language."""

from fnmatch import fnmatchcase

import streamlit as st

from sched.page.language import say, tr
from sched.text import Term, entry, glossary, term, text

OF_VALUES = {
    "engine.kv_blocks": "KV block",
    "engine.block_size": "KV block",
    "engine.max_num_seqs": "seat",
    "engine.max_num_batched_tokens": "token budget",
    "engine.long_prefill*": "chunk",
    "engine.enable_chunked_prefill": "chunk",
    "engine.enable_prefix_caching": "prefix caching",
    "engine.watermark": "watermark",
    "engine.gate": "gate",
    "engine.expected_*": "gate",
    "engine.hardware": "hardware preset",
    "engine.swap_gb_per_s": "swap",
    "engine.replicas": "replica",
    "seed": "seed",
    "warmup_s": "warm-up",
    "drain_s": "horizon",
    "annotate_after_s": "note",
    "urgency": "priority",
    "rescue*.kv": "rescue buffer",
    "rescue*.tokens": "token budget",
    "rescue*.seats": "seat",
    "rescue*.lend": "lend",
    "rescue*.lend_share": "lend",
    "rescue*.guard_growth": "guard",
    "rescue*.slices": "slices",
    "aging.*": "ageing",
    "*.mode": "preemption",
    "*.predictor": "predictor",
    "*.misfit": "head of line",
    "tenants.*.weight": "weight",
    "traffic.*.priority": "priority",
    "traffic.*.tenant": "tenant",
    "traffic.*.slo.ttft_s": "TTFT",
    "traffic.*.slo.tpot_s": "TPOT",
    "traffic.*.slo.e2e_s": "E2E",
    "classes.*.slo.ttft_s": "TTFT",
    "classes.*.slo.tpot_s": "TPOT",
    "classes.*.slo.e2e_s": "E2E",
    "traffic.*.prompt.*": "prompt",
}
"""The term that a value of a scenario is about, by the pattern of its path; the first that fits counts."""
OF_COLUMNS = {
    "slo": "SLO attainment",
    "against": "paired difference",
    "goodput": "goodput",
    "inversion": "inversion",
    "starvation": "starvation",
    "throughput": "throughput",
    "price": "baseline",
    "fairness": "Jain",
    "recomputed": "recompute",
    "stranded": "stranded KV",
}
"""The term that a column of Compare is about."""


def meaning(name: str) -> str:
    """What a term means, for a help bubble: `st.metric(..., help=meaning("TTFT"))`."""
    return term(name, say().code)


def explained(name: str) -> str:
    """The term and what it means: "KV block: memory for ..."."""
    found = entry(name, say().code)
    return tr("{word}: {meaning}", word=found.word[:1].upper() + found.word[1:], meaning=found.meaning)


def with_term(help: str, name: str | None, between: str = "\n\n") -> str:
    """A help text with the term that it is about behind it; as it is where there is none."""
    return f"{help}{between}{explained(name)}" if name else help


def term_of(path: str) -> str | None:
    """The term that a value of a scenario is about, by its dotted path; None where its own help says it."""
    return next((name for pattern, name in OF_VALUES.items() if fnmatchcase(path, pattern)), None)


def matching(wanted: str) -> list[Term]:
    """The terms whose word, other names or meaning hold what is looked for; all for nothing."""
    key = " ".join(wanted.lower().split())
    return [
        one
        for one in glossary(say().code).values()
        if not key or any(key in part.lower() for part in (one.key, one.word, one.meaning, *one.also))
    ]


def listed(found: list[Term]) -> str:
    """Terms as Markdown, by part; a list, which a narrow screen can show too."""
    lines: list[str] = []
    for place, one in enumerate(found):
        if not place or one.part != found[place - 1].part:
            lines += ["", f"## {one.part}", ""]
        told = {"word": one.word, "meaning": one.meaning, "others": ", ".join(one.also)}
        if one.also:
            lines.append(tr("- **{word}**: {meaning} :gray[Also: {others}]", **told))
        else:
            lines.append(tr("- **{word}**: {meaning}", **told))
    return "\n".join(lines)


def glossary_part() -> None:
    """The whole part: every term, and how to read the stage."""
    wanted = st.text_input(
        tr("Find a word"),
        key="find_word",
        placeholder=tr("inversion, TTFT, seat ..."),
        icon=":material/search:",
        width=420,
    )
    found = matching(wanted)
    st.caption(say().count(len(found), "{n} term", "{n} terms"))
    if found:
        st.markdown(listed(found))
    else:
        st.markdown(tr("The glossary has no such word."))
    st.markdown(f"## {tr('Reading the stage')}")
    st.markdown(text("reading", say().code))
