"""Random scenarios: `small_scenarios` contend in a tiny engine, `any_scenarios` fill the whole schema."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from sched import Scenario
from sched.model import Setting
from sched.scenario import known_policies

Draw = Callable[[st.SearchStrategy[Any]], Any]

GATES = ("full_prompt", "first_chunk", "peak")
NASTY = (
    *(
        "none",
        "true",
        "1",
        "0x10",
        "1e5",
        "nan",
        "inf",
        "2024-01-01",
        "12:30",
        "[1]",
        "{a=1}",
        "a.b",
        ".",
        "..",
        '"',
        "'",
    ),
    *(
        "a,b",
        "a=b",
        "a&b",
        "a%7Cb",
        "a+b",
        "a b",
        " a",
        "a ",
        "#1",
        "a # b",
        "a\nb",
        "a\tb",
        "\x00",
        "\x7f",
        "\\",
        "\\u0041",
    ),
    *(
        "Zoë",
        "мир",
        "漢字",
        "עברית",
        "👩‍👩‍👧‍👦",
        "é",
        "<b>x</b>",
        "=1+1",
        "{i}",
        "traffic",
        "rescue",
        "kind",
        "v",
        "\ufeff",
    ),
    *("\u2028", "\r", "\r\n", "/../x", "@", "a@1", "1,y=2", "1}\ny={b=2", '"""', "'''"),
)
"""Texts that a careless reader of links, TOML or JSON changes on the way."""

texts = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
names = texts.filter(bool)
real = st.one_of(
    st.sampled_from([0.1, 0.3, 1.0, 2.5, 1e-9, 1e22, 1 / 3]),
    st.floats(0.001, 1e6, allow_nan=False, allow_infinity=False),
)


def reals(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A table with any of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


promises = some(ttft_s=reals(0.001, 100), tpot_s=reals(0.001, 1), e2e_s=reals(0.1, 1e4))
bounds = st.tuples(st.integers(1, 50), st.integers(50, 5000))
segments = st.lists(st.tuples(names, st.integers(1, 30)).map(list), max_size=3)


@st.composite
def lengths(draw: Draw) -> dict[str, Any]:
    """Any law of lengths."""
    kind = draw(st.sampled_from(["constant", "lognormal", "gamma", "exponential", "uniform", "quantiles"]))
    low, high = draw(bounds)
    if kind == "constant":
        return {"kind": kind, "tokens": high}
    if kind == "uniform":
        return {"kind": kind, "min": low, "max": high}
    clip = {"min": low, "max": high} if draw(st.booleans()) else {}
    if kind == "quantiles":
        return {
            "kind": kind,
            "points": [[0, low], [draw(reals(0.1, 0.9)), high], [1, high + draw(reals(0, 9))]],
            **clip,
        }
    spread = {} if kind == "exponential" else draw(some(cv=reals(0, 5)))
    return {"kind": kind, "mean": draw(reals(1, 5000)), **spread, **clip}


arrivals = st.one_of(
    st.just({"kind": "poisson"}),
    some(cv=reals(0, 10)).map(lambda found: {"kind": "gamma", **found}),
    some(on_s=reals(0.1, 50), off_s=reals(0, 50)).map(lambda found: {"kind": "onoff", **found}),
    some(period_s=reals(1, 1e5), peak=reals(1, 2), phase=reals(0, 1)).map(
        lambda found: {"kind": "diurnal", **found}
    ),
    some(size=st.integers(1, 99), first_s=reals(0, 9)).map(lambda found: {"kind": "dump", **found}),
    some(size=reals(1, 99), gap_s=reals(0.01, 9)).map(lambda found: {"kind": "bursts", **found}),
)


def traffic_classes() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Any classes of traffic, each with its own name."""
    owner: st.SearchStrategy[dict[str, Any]] = st.one_of(
        st.just({}),
        texts.map(lambda name: {"tenant": name}),
        st.dictionaries(names, reals(0.1, 9), min_size=1, max_size=3).map(lambda mix: {"tenants": mix}),
    )
    needed = {"name": names, "rate_per_s": reals(0.01, 50), "prompt": lengths(), "output": lengths()}
    optional = {
        **{"priority": st.integers(-9, 9), "arrivals": arrivals, "slo": promises, "prefix": segments},
        **{"timeout_s": reals(0.1, 99), "max_requests": st.integers(1, 999)},
    }
    one = st.tuples(st.fixed_dictionaries(needed, optional=optional), owner).map(
        lambda pair: {**pair[0], **pair[1]}
    )
    return st.lists(one, min_size=1, max_size=3, unique_by=lambda found: found["name"])


def explicit_requests() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Any explicit requests, each with its own id (one may stand for several)."""
    needed = {
        "id": names.filter(lambda name: "{i}" not in name),
        "prompt": st.integers(100, 999),
        "output": st.integers(1, 99),
    }
    optional = {
        **{"class": names, "tenant": names, "priority": st.integers(-9, 9), "arrival_s": reals(0, 60)},
        **{"slo": promises, "prefix": segments, "timeout_s": reals(0.1, 99)},
    }
    one = st.fixed_dictionaries(needed, optional=optional)
    return st.lists(one, min_size=1, max_size=4, unique_by=lambda found: found["id"])


def setting(one: Setting) -> st.SearchStrategy[Any]:
    """Any value that a policy's setting may have."""
    low = max(-9.0, one.low) if one.low is not None else 0.001
    high = min(99.0, one.high) if one.high is not None else 99.0
    if one.name == "slices":
        # By priority, and together no more than the whole budget.
        return st.dictionaries(st.integers(-3, 9).map(str), reals(low, 0.3), max_size=3)
    if one.table:
        return st.dictionaries(names, reals(low, high), max_size=3)
    if isinstance(one.default, tuple):
        return st.lists(reals(low, high), max_size=4)
    if one.choices:
        return st.sampled_from(one.choices)
    if isinstance(one.default, bool):
        return st.booleans()
    if isinstance(one.default, str):
        return texts
    if isinstance(one.default, int) or (one.default is None and isinstance(one.step, int)):
        return st.integers(int(low), int(high))
    return reals(low, high)


@st.composite
def policy_tables(draw: Draw) -> dict[str, dict[str, Any]]:
    """Some policies in some order, each with any of its settings."""
    entries = known_policies()
    keys = draw(st.lists(st.sampled_from(sorted(entries)), min_size=1, max_size=4, unique=True))
    return {key: draw(some(**{one.name: setting(one) for one in entries[key].settings})) for key in keys}


engines = some(
    hardware=st.one_of(st.sampled_from(["constant", "affine", "h100_sxm|llama-3.1-8b|tp1"]), names),
    iteration_s=reals(0.001, 9),
    affine=some(base_s=reals(0.001, 1), prefill_token_s=reals(0, 0.1), attention_s=reals(0, 1e-6)),
    kv_blocks=st.one_of(st.just("unlimited"), st.integers(1, 10**6)),
    block_size=st.integers(1, 256),
    max_num_seqs=st.integers(1, 999),
    max_num_batched_tokens=st.integers(6000, 10**6),
    long_prefill_token_threshold=st.integers(0, 5000),
    long_prefill_adaptive=st.booleans(),
    enable_prefix_caching=st.booleans(),
    watermark=reals(0, 0.5),
    max_model_len=st.integers(0, 10**5),
    gate=st.sampled_from(GATES),
    refuse_infeasible=st.booleans(),
)


def mixed(sources: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> dict[str, Any]:
    """Traffic and explicit requests together, whose ids no traffic can make."""
    generated, explicit = sources
    return {"traffic": generated, "requests": [{**one, "id": f"{one['id']}·"} for one in explicit]}


@st.composite
def any_scenarios(draw: Draw, link_bases: tuple[str, ...] = ("blank@1",)) -> Scenario:
    """A scenario with any value in any place, and any text in any script where a text may stand."""
    source = draw(
        st.one_of(
            st.just({}),
            traffic_classes().map(lambda found: {"traffic": found}),
            explicit_requests().map(lambda found: {"requests": found}),
            st.tuples(traffic_classes(), explicit_requests()).map(mixed),
            st.fixed_dictionaries(
                {"digest": st.just("0123456789abcdef" * 4)},
                optional={
                    "map": st.dictionaries(names, texts, max_size=2),
                    "unit": st.sampled_from(["s", "ms"]),
                },
            ).map(lambda found: {"trace": found}),
        )
    )
    rest = draw(
        some(
            title=texts,
            story=texts,
            seed=st.integers(0, 2**63 - 1),
            duration_s=reals(60, 600),
            warmup_s=reals(0, 50),
            drain_s=reals(0, 1e6),
            urgency=st.sampled_from(["low_first", "high_first"]),
            annotate_after_s=reals(0, 99),
            engine=engines,
            tenants=st.dictionaries(names, some(weight=reals(0.1, 99)), max_size=3),
            classes=st.dictionaries(names, some(slo=promises, timeout_s=reals(0.1, 99)), max_size=3),
            policies=policy_tables(),
        )
    )
    return Scenario(link_base=draw(st.sampled_from(link_bases)), **source, **rest)


@st.composite
def small_engines(draw: Draw) -> dict[str, Any]:
    """A tiny engine in which memory, seats and token budget all run out."""
    is_chunked = draw(st.booleans())
    block_size = draw(st.sampled_from([1, 4, 16, 100]))
    return {
        **{"hardware": "constant", "iteration_s": draw(st.sampled_from([0.25, 1.0]))},
        **{"block_size": block_size, "kv_blocks": draw(st.integers(2, 40))},
        "max_num_seqs": draw(st.integers(1, 6)),
        "max_num_batched_tokens": draw(st.integers(1, 64)) if is_chunked else 2000,
        "enable_chunked_prefill": is_chunked,
        "long_prefill_token_threshold": draw(st.sampled_from([0, 0, 4, 17])),
        "enable_prefix_caching": draw(st.booleans()),
        "watermark": draw(st.sampled_from([0.0, 0.0, 0.1])),
        "gate": draw(st.sampled_from(GATES)),
    }


@st.composite
def small_scenarios(draw: Draw, policies: tuple[str, ...] | None = None) -> Scenario:
    """2 to 12 explicit requests that contend in a tiny engine, with ties in arrival, priority and length."""
    engine = draw(small_engines())
    room = engine["kv_blocks"] * engine["block_size"]
    requests = []
    for i in range(draw(st.integers(2, 12))):
        prompt = draw(st.integers(1, max(1, min(2000, room + room // 8))))
        shared = draw(st.integers(0, prompt)) if engine["enable_prefix_caching"] else 0
        requests.append(
            {
                **{"id": f"r{i}", "class": draw(st.sampled_from(["chat", "api", "docs"]))},
                **{"tenant": draw(st.sampled_from("AB")), "priority": draw(st.integers(0, 2))},
                **{
                    "arrival_s": draw(st.integers(0, 12)) / 2,
                    "prompt": prompt,
                    "output": draw(st.integers(1, 12)),
                },
                "prefix": [[draw(st.sampled_from("xy")), shared]] if shared else [],
            }
        )
    keys = draw(st.lists(st.sampled_from(sorted(known_policies())), min_size=1, max_size=2, unique=True))
    return Scenario(
        engine=engine,
        requests=requests,
        tenants={"A": {"weight": draw(st.sampled_from([1.0, 3.0]))}},
        policies={key: {} for key in policies or keys},
    )
