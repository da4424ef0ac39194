"""How large a rescue buffer is suggested, and the arithmetic behind it in sentences."""

from dataclasses import dataclass
from statistics import NormalDist

from sched.language import ENGLISH, Language
from sched.model import Machine
from sched.words import count, duration, percent


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A rescue buffer of `blocks`, a `share` of the pool in whole per cent (None: there is no limit).

    `rule` says what decides: "shot noise", "arrivals", "largest request", or "nobody urgent". The rest is the
    arithmetic; `lines` says it in sentences.
    """

    blocks: int
    share: float | None
    rule: str
    quantile: float
    lines: tuple[str, ...]
    rate_per_s: float = 0.0
    prompt_tokens: float = 0.0
    """Mean of the urgent; so is `output_tokens`."""
    output_tokens: float = 0.0
    tpot_s: float = 0.0
    decodes: int = 0
    growth_blocks_per_s: float = 0.0
    mean_tokens: float = 0.0
    """Held by the urgent together, with a standard deviation of `deviation_tokens`."""
    deviation_tokens: float = 0.0
    shot_noise_blocks: int = 0
    arrivals_blocks: int = 0
    largest_blocks: int = 0
    at_once: int = 0
    drain_s: float = 0.0
    """Until the others have given back what `at_once` urgent prompts need."""
    drain_blocks: int = 0
    refused_if_strict: int = 0
    """Less urgent requests that could never run if the buffer were never lent."""


def lines(
    found: Suggestion, machine: Machine, duration_s: float, urgent: int, say: Language = ENGLISH
) -> tuple[str, ...]:
    """The arithmetic of a suggestion in sentences."""
    quantile = f"{100 * found.quantile:g}"
    told = [
        say(
            "{requests} in {span} s, {rate}/s, with {prompt} prompt and {output} output tokens on average.",
            requests=count(urgent, "urgent request", say),
            span=f"{duration_s:g}",
            rate=f"{found.rate_per_s:.3g}",
            prompt=f"{found.prompt_tokens:,.0f}",
            output=f"{found.output_tokens:,.0f}",
        ),
        _growth(found, machine, say),
        say(
            "Together they hold {mean} tokens, with a standard deviation of {deviation} (shot noise). For "
            "{quantile} % of the time: ({mean} + {z} · {deviation}) / {size} = {blocks}.",
            mean=f"{found.mean_tokens:,.0f}",
            deviation=f"{found.deviation_tokens:,.0f}",
            quantile=quantile,
            z=f"{NormalDist().inv_cdf(found.quantile):.3f}",
            size=str(machine.block_size),
            blocks=count(found.shot_noise_blocks, "block", say),
        ),
        say(
            "At these very arrivals {blocks} suffice as often, if nobody waits.",
            blocks=count(found.arrivals_blocks, "block", say),
        ),
        say("The largest of them needs {blocks}.", blocks=count(found.largest_blocks, "block", say)),
        say(
            "The simpler rule, {many} at once that grow for {span} until others have made room, comes to "
            "{blocks}.",
            many=str(found.at_once),
            span=duration(found.drain_s),
            blocks=count(found.drain_blocks, "block", say),
        ),
        say("Suggested: {blocks}, by the {rule}.", blocks=_blocks(found, machine, say), rule=say(found.rule)),
    ]
    if max(found.shot_noise_blocks, found.arrivals_blocks) > machine.kv_blocks:
        told.append(say("There are not as many as it takes: at times the urgent wait for each other."))
    if found.refused_if_strict:
        lower = count(found.refused_if_strict, "less urgent request", say)
        told.append(say("That is to be lent: if it were strict, {requests} could never run.", requests=lower))
    return tuple(told)


def _growth(found: Suggestion, machine: Machine, say: Language) -> str:
    """How long a token takes, and how fast a request grows by it."""
    values = {"decodes": count(found.decodes, "decode", say), "span": duration(found.tpot_s)}
    if machine.gate == "peak":
        return say(
            "At the expected batch of {decodes} the iteration-time model gives {span} a token; the gate "
            "grants each request its peak, so that it does not grow.",
            **values,
        )
    return say(
        "At the expected batch of {decodes} the iteration-time model gives {span} a token; a request that "
        "decodes grows by 1 / ({size} · {tpot} s) = {rate} blocks/s.",
        **values,
        size=machine.block_size,
        tpot=f"{found.tpot_s:.3g}",
        rate=f"{found.growth_blocks_per_s:.3g}",
    )


def _blocks(found: Suggestion, machine: Machine, say: Language) -> str:
    blocks = count(found.blocks, "block", say)
    if found.share is None:
        return blocks
    share = percent(found.share)
    return say("{blocks} ({share} of {all})", blocks=blocks, share=share, all=f"{machine.kv_blocks:,}")


def compared(found: Suggestion, kept_blocks: int, machine: Machine) -> str:
    """A buffer of so many blocks beside the one that is suggested, in a sentence without its full stop."""
    if not found.blocks:
        return f"{count(kept_blocks, 'block')} kept; no urgent request can run, so none is needed"
    suggested = f"{_blocks(found, machine, ENGLISH)} suggested, by the {found.rule}"
    often = f"the urgent find room in {100 * found.quantile:g} % of the time"
    return f"{count(kept_blocks, 'block')} kept; {suggested}, so that {often}"
