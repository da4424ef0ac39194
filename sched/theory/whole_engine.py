"""The anchors of several seats, of memory, and the laws of every run: rows 11 to 21 of the table."""

from functools import partial
from math import sqrt

from sched.theory import parameters as at
from sched.theory.kv import head_of_line_rate_per_s, kv_occupancy
from sched.theory.parameters import Anchor, Figure, nothing, one
from sched.theory.seats import kingman_bound_s, mm1k_lost, mmc_wait_s, pooling_ratio

CONTENDED = "the preset noisy-neighbour under fcfs, priority and preemptive"
ONE = "one seat; a token takes 0.001 s; no memory limit"


def _occupancy(place: int, prompt_tokens: float) -> float:
    found = kv_occupancy(at.STREAM_RATE_PER_S, prompt_tokens, at.STREAM_OUTPUT, at.STREAM_TPOT_S)
    return sqrt(found[1]) if place else found[0]


def _kingman(gap_cv2: float) -> float:
    """The bound at this squared coefficient of variation of the gaps."""
    return kingman_bound_s(at.LOAD, gap_cv2 / at.LOAD**2, 1.0, 1.0)


WHOLE_ENGINE_ANCHORS: tuple[Anchor, ...] = (
    Anchor(
        11, "head_of_line", "What the head of the line costs in memory", "λ* = μ / (1 - q²/2)",
        "two KV units; a share q = 0.25, 0.5, 0.75 and 0.9 needs one, the others both; exponential service",
        "seats without limit, two KV blocks; first come; all wait from the beginning; the form for ends in "
        "steps of 0.01 s", "derived in head_of_line_rate_per_s",
        tuple(
            Figure(f"head_of_line.{share:g}", f"requests per second at q = {share:g}",
                   partial(head_of_line_rate_per_s, share, 1.0), 0.015,
                   partial(head_of_line_rate_per_s, share, 1.0, at.COARSE_S), unit="1/s")
            for share in at.SMALL_SHARES
        ),
    ),
    Anchor(
        12, "seats", "M/M/c: several seats", "Wq = C(c, a) / (c·μ·(1 - ρ))",
        "4 seats at ρ = 0.8, 8 seats at ρ = 0.8 and 0.9, exponential service of mean 1 s",
        "iterations of 0.001 s whatever the batch; first come; a newcomer waits for the one in progress",
        "Erlang, 1917",
        tuple(
            Figure(f"seats.{seats}x{load:g}", f"mean wait, {seats} seats at ρ = {load:g}",
                   partial(mmc_wait_s, seats * load, 1.0, seats), 0.04, slack=2 * at.STEP_S)
            for seats, load in at.SEATS
        ),
    ),
    Anchor(
        13, "pooling", "Pooling", "two M/M/1 of half the speed over one: T ratio = 2", "ρ = 0.8 in all three",
        f"{ONE} in the whole, services twice as long in the halves; first come", "Kleinrock, 1976",
        (Figure("pooling.ratio", "mean time in the halves over that in the whole",
                partial(pooling_ratio, at.LOAD, 1.0), 0.04, unit=""),),
    ),
    Anchor(
        14, "kingman", "Kingman's bound", "Wq ≤ λ·(σ_a² + σ_s²) / (2·(1 - ρ))",
        "ρ = 0.8, exponential service of mean 1 s; Poisson arrivals, and gaps of twice the variance (gamma)",
        f"{ONE}; first come", "Kingman, 1962",
        (
            Figure("kingman.poisson", "mean wait, Poisson arrivals", partial(_kingman, 1.0), sense="<="),
            Figure("kingman.bursty", "mean wait, bursty arrivals", partial(_kingman, 1.0 / at.BURSTY_SHAPE),
                   sense="<="),
        ),
        "inequality",
    ),
    Anchor(
        15, "lost", "M/M/1/k: shedding", "P = (1 - ρ)·ρᵏ / (1 - ρᵏ⁺¹)",
        "ρ = 0.9, 10 places with the seat, exponential service of mean 1 s",
        f"{ONE}; shed with a queue of 9", "Erlang, 1917",
        (Figure("lost.share", "share of the requests shed", partial(mm1k_lost, at.LOST_LOAD, at.PLACES),
                0.05, unit=""),),
    ),
    Anchor(
        16, "little", "Little's law", "∫N dt = Σ T", CONTENDED,
        "both sides in whole picoseconds: requests that the decisions counted, and the times of the requests",
        "Little, 1961",
        (Figure("little.difference", "difference", nothing, unit="ps"),), "exact",
    ),
    Anchor(
        17, "kv_little", "Little's law for memory", "∫KV dt = Σ ∫KV_r dt",
        f"{CONTENDED}, blocks of one token",
        "both sides in whole token picoseconds: what the decisions counted, and what each request held",
        "Little, 1961, as H = λG",
        (Figure("kv_little.difference", "difference", nothing, unit="token·ps"),), "exact",
    ),
    Anchor(
        18, "work", "Conservation of work",
        "tokens = Σ (p + o - 1) + recomputed; the same backlog in every order",
        f"{CONTENDED}; and one seat at ρ = 0.9 under the same three",
        "whole tokens, and the instants at which iterations start", "Kleinrock, 1976",
        (
            Figure("work.tokens", "tokens too many or too few", nothing, unit="tokens"),
            Figure("work.backlog", "steps that start at another time", nothing, unit=""),
        ),
        "exact",
    ),
    Anchor(
        19, "capacity", "What a cache can sustain", "λ ≤ K / E[∫KV_r dt]",
        "1,250 blocks of 16 tokens; prompts of 500 and answers of 200 tokens, geometric; all wait at first",
        "seats without limit; iterations of 0.03 s; first come", "Little, 1961, as H = λG",
        (Figure("capacity.share", "throughput over the bound", one, unit="", sense="<="),), "inequality",
    ),
    Anchor(
        20, "occupancy", "What a stream holds: shot noise",
        "mean = λ·τ·(p·o + o²/2), variance = λ·τ·((p + o)³ - p³)/3",
        "λ = 0.5 per s, p = 500, o = 200 tokens, τ = 0.03 s a token",
        "seats and memory without limit; iterations of 0.03 s, in the i-th of which a request holds "
        "p + i - 1 tokens: half a token less on average", "Campbell, 1909; Rice, 1944",
        (
            Figure("occupancy.mean", "mean tokens held", partial(_occupancy, 0, at.STREAM_PROMPT),
                   0.03, partial(_occupancy, 0, at.STREAM_PROMPT - 0.5), unit="tokens"),
            Figure("occupancy.deviation", "standard deviation", partial(_occupancy, 1, at.STREAM_PROMPT),
                   0.04, partial(_occupancy, 1, at.STREAM_PROMPT - 0.5), unit="tokens"),
        ),
    ),
    Anchor(
        21, "invariants", "No run is too good",
        "slowdown ≥ 1; TTFT ≥ prefill alone; Σ causes = wait; Σ blame = inversion", CONTENDED,
        "times over those of the same request on an empty engine; sums in whole picoseconds",
        "the definitions",
        (
            Figure("slowdown.least", "least slowdown", one, unit="", sense=">="),
            Figure("ttft.least", "least TTFT over prefill alone", one, unit="", sense=">="),
            Figure("blame.difference", "difference of the sums", nothing, unit="ps"),
        ),
        "exact",
    ),
)  # fmt: skip
