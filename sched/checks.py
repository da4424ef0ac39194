"""What only several values together can get wrong, and what is allowed but probably not meant."""

import math
from typing import TYPE_CHECKING

from sched.fields import number_text, sentence
from sched.language import ENGLISH, Language
from sched.laws import MOST_TOKENS, Clipped, ConstantLength, Dump, Length, UniformLength
from sched.parts import LONGEST_S
from sched.sentences import quoted
from sched.settings_checks import check_settings, without_effect

if TYPE_CHECKING:
    from sched.scenario import Scenario

MOST_REQUESTS = 2_000_000


def check(scenario: "Scenario") -> None:
    """Raise for the first combination that cannot be simulated."""
    _link_base(scenario)
    _gate(scenario)
    check_settings(scenario)
    _one_source(scenario)
    _times(scenario)
    _unique(scenario)
    _count(scenario)
    _budget(scenario)


def _link_base(scenario: "Scenario") -> None:
    from sched.presets import is_known  # presets are scenarios, so they are read after the schema is there

    name = scenario.link_base
    if name != "blank@1" and not is_known(name):
        text = f'link_base = "{name}": no such preset; leave it out, and links carry the whole scenario'
        raise sentence(text, "link_base")


def _gate(scenario: "Scenario") -> None:
    engine = scenario.engine
    if not engine.enable_prefix_caching:
        return
    if engine.gate in ("expected", "lookahead"):
        text = "this gate counts each request's blocks as its own; turn engine.enable_prefix_caching off, or"
        text += " choose full_prompt, first_chunk or peak"
        raise sentence(f'engine.gate = "{engine.gate}": {text}', "engine.gate")


def _one_source(scenario: "Scenario") -> None:
    others = [name for name in ("requests", "traffic") if getattr(scenario, name)]
    if scenario.trace and others:
        raise sentence(
            f"trace and {' and '.join(others)} are given together: [[requests]] and [[traffic]] may be mixed,"
            " a [trace] stands alone; keep one of the two",
            "trace",
        )


def _times(scenario: "Scenario") -> None:
    if scenario.duration_s + (scenario.drain_s or 0.0) > LONGEST_S:
        raise sentence(
            f"drain_s = {number_text(scenario.drain_s or 0.0)} s: with duration_s = "
            f"{number_text(scenario.duration_s)} s the run is longer than 100 days; shorten one",
            "drain_s",
        )
    if scenario.warmup_s >= scenario.duration_s:
        raise sentence(
            f"warmup_s = {number_text(scenario.warmup_s)} s: must be less than duration_s = "
            f"{number_text(scenario.duration_s)} s, or nothing is measured",
            "warmup_s",
        )
    for request in scenario.requests:
        last = request.arrival_s + (request.count - 1) * request.every_s
        if last > scenario.duration_s:
            path = f"requests.{quoted(request.id)}.arrival_s"
            copy = "" if request.count == 1 else f" for its last copy ({number_text(last)} s)"
            raise sentence(
                f"{path} = {number_text(request.arrival_s)} s: must be at most duration_s = "
                f"{number_text(scenario.duration_s)} s{copy}; arrivals stop there",
                path,
            )


def _unique(scenario: "Scenario") -> None:
    names: set[str] = set()
    for one in scenario.traffic:
        if one.name in names:
            raise sentence(f"traffic.{quoted(one.name)}: two classes have this name; rename one", "traffic")
        names.add(one.name)
    seen: set[str] = set()
    for request in scenario.requests:
        for id, _ in request.copies() if "{i}" in request.id else [(request.id, 0.0)]:
            if id in seen:
                raise sentence(f"requests.{quoted(id)}: two requests have this id; rename one", "requests")
            seen.add(id)
            stem, _, number = id.rpartition("-")
            if stem in names and number.isdigit():
                text = f"the traffic of class {stem} makes ids of this form; rename this one"
                raise sentence(f"requests.{quoted(id)}: {text}", "requests")


def _count(scenario: "Scenario") -> None:
    number = sum(request.count for request in scenario.requests)
    expected = sum(
        min(one.rate_per_s * scenario.duration_s, one.max_requests or math.inf) for one in scenario.traffic
    )
    if number + expected > MOST_REQUESTS:
        where = "traffic" if scenario.traffic else "requests"
        raise sentence(
            f"{where}: this makes about {number + expected:,.0f} requests: must be at most {MOST_REQUESTS:,}"
            "; lower a rate or duration_s, or set max_requests",
            where,
        )


def longest(law: Length) -> int | None:
    """Longest length the law can give; None where nothing bounds it."""
    if isinstance(law, ConstantLength):
        return law.tokens
    if isinstance(law, UniformLength):
        return law.max
    assert isinstance(law, Clipped)
    points = getattr(law, "points", None)
    ends = [law.max] if law.max is not None else []
    if points:
        ends.append(max(law.min, math.ceil(points[-1][1])))
    return min(ends) if ends else None


def _budget(scenario: "Scenario") -> None:
    engine = scenario.engine
    if engine.enable_chunked_prefill or engine.long_prefill_token_threshold:
        return
    budget = engine.max_num_batched_tokens
    for request in scenario.requests:
        if request.prompt > budget:
            raise sentence(
                _too_long(budget, f"requests.{quoted(request.id)}.prompt = {request.prompt} tokens"),
                "engine.max_num_batched_tokens",
            )
    for one in scenario.traffic:
        most = longest(one.prompt)
        if most is None or most > budget:
            what = "prompts without an upper end (max)" if most is None else f"prompts of up to {most} tokens"
            raise sentence(
                _too_long(budget, f"traffic.{quoted(one.name)}.prompt has {what}"),
                "engine.max_num_batched_tokens",
            )


def _too_long(budget: int, what: str) -> str:
    return (
        f"engine.max_num_batched_tokens = {budget} tokens: {what}, which could never be scheduled whole; "
        "raise the budget or set engine.enable_chunked_prefill = true"
    )


def notes(scenario: "Scenario", say: Language = ENGLISH) -> list[tuple[str, str]]:
    """Warnings: (path, sentence)."""
    found: list[tuple[str, str]] = []
    engine = scenario.engine
    if not (scenario.requests or scenario.traffic or scenario.trace):
        text = say("there are no requests: give [[requests]], [[traffic]] or a [trace]")
        found.append(("requests", text))
    if engine.max_num_batched_tokens <= engine.max_num_seqs:
        found.append(
            (
                "engine.max_num_batched_tokens",
                say(
                    "engine.max_num_batched_tokens = {tokens} tokens is not above the {seats} seats: a full "
                    "batch of decodes leaves no budget for prompts",
                    tokens=engine.max_num_batched_tokens,
                    seats=engine.max_num_seqs,
                ),
            )
        )
    if engine.long_prefill_adaptive and not engine.long_prefill_token_threshold:
        found.append(
            (
                "engine.long_prefill_adaptive",
                say(
                    "engine.long_prefill_adaptive has no effect while "
                    "engine.long_prefill_token_threshold is 0"
                ),
            )
        )
    if engine.long_prefill_token_threshold and not engine.enable_chunked_prefill:
        found += _uncut(scenario, say)
    found += _unused(scenario, say) + _mixes(scenario, say)
    return found


def _uncut(scenario: "Scenario", say: Language) -> list[tuple[str, str]]:
    """The longest chunk cuts prompts in company only: alone, one above the budget waits for ever."""
    engine, most = scenario.engine, [one.prompt for one in scenario.requests]
    most += [longest(one.prompt) or MOST_TOKENS for one in scenario.traffic]
    if max(most, default=0) <= engine.max_num_batched_tokens:
        return []
    text = say(
        "engine.max_num_batched_tokens = {tokens} tokens: a longer prompt is cut by "
        "engine.long_prefill_token_threshold only while other requests are there; alone it can never be "
        "scheduled while engine.enable_chunked_prefill = false",
        tokens=engine.max_num_batched_tokens,
    )
    return [("engine.enable_chunked_prefill", text)]


def _unused(scenario: "Scenario", say: Language) -> list[tuple[str, str]]:
    found = without_effect(scenario, say)
    if scenario.trace:
        return found
    classes = set(scenario.class_names())
    paths = [f"classes.{quoted(name)}" for name in scenario.classes if name not in classes]
    found += [(path, say("{path}: no request belongs to this class", path=path)) for path in paths]
    owners = {request.tenant for request in scenario.requests}
    owners |= {tenant for one in scenario.traffic for tenant in one.shares()}
    paths = [f"tenants.{quoted(name)}" for name in scenario.tenants if name not in owners]
    found += [(path, say("{path}: no request belongs to this tenant", path=path)) for path in paths]
    return found


def _mixes(scenario: "Scenario", say: Language) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for one in scenario.traffic:
        total = sum(one.tenants.values())
        is_whole = any(math.isclose(total, whole, rel_tol=1e-6) for whole in (1.0, 100.0))
        if one.tenants and not is_whole:
            scaled = ", ".join(f"{name} {share:.3g}" for name, share in one.shares().items())
            path = f"traffic.{quoted(one.name)}.tenants"
            text = say(
                "{path}: the shares sum to {total} and are scaled to {scaled}",
                path=path,
                total=f"{total:.6g}",
                scaled=scaled,
            )
            found.append((path, text))
        if isinstance(one.arrivals, Dump) and one.rate_per_s > one.arrivals.within_per_s:
            path = f"traffic.{quoted(one.name)}.arrivals.within_per_s"
            text = say(
                "{path} = {within} requests/s is below rate_per_s = {rate}: the dumps run into each other",
                path=path,
                within=f"{one.arrivals.within_per_s:g}",
                rate=f"{one.rate_per_s:g}",
            )
            found.append((path, text))
    return found
