"""The anchors of one seat and of shared ones: rows 1 to 10 of the table."""

from collections.abc import Callable
from functools import partial

from sched.theory import parameters as at
from sched.theory.parameters import Anchor, Figure
from sched.theory.queues import (
    conserved_wait_s,
    feedback_time_s,
    levels_time_s,
    md1_wait_s,
    mg1_wait_s,
    mm1_wait_s,
    preemptive_times_s,
    priority_waits_s,
    sharing_time_s,
    sjf_wait_s,
    srpt_time_s,
)

ONE = "one seat; a token takes 0.001 s; no memory limit"
WHOLE = "service in whole tokens, for which the form is exact too"
CLASSES = [at.EXPONENTIAL] * 2
STEPPED = [at.IN_STEPS] * 2
SIZES = (("small", " of the small", at.SMALL), ("big", " of the big", at.BIG), ("mean", "", None))


def _of(function: Callable[..., tuple[float, ...]], place: int, laws: object) -> Callable[[], float]:
    return lambda: function(at.CLASS_RATES, laws)[place]


ONE_SEAT_ANCHORS: tuple[Anchor, ...] = (
    Anchor(
        1, "mm1", "M/M/1", "Wq = ρ / (μ - λ)", "ρ = 0.8, exponential service of mean 1 s",
        f"{ONE}; first come; {WHOLE}", "Erlang, 1909",
        (Figure("mm1.wait", "mean wait", partial(mm1_wait_s, at.LOAD, 1.0), 0.03,
                partial(mg1_wait_s, at.LOAD, at.IN_STEPS)),),
    ),
    Anchor(
        2, "md1", "M/D/1", "Wq = ρ / (2·μ·(1 - ρ))", "ρ = 0.8, every service 1 s",
        f"{ONE}; first come", "Erlang, 1909",
        (Figure("md1.wait", "mean wait", partial(md1_wait_s, at.LOAD, 1.0), 0.03),),
    ),
    Anchor(
        3, "mg1", "M/G/1", "Wq = λ·E[S²] / (2·(1 - ρ))", "ρ = 0.8, service 0.5 s (90 %) or 5.5 s (10 %)",
        f"{ONE}; first come", "Pollaczek, 1930; Khinchin, 1932",
        (Figure("mg1.wait", "mean wait", partial(mg1_wait_s, at.LOAD, at.TWO_SIZES), 0.05),),
    ),
    Anchor(
        4, "priority", "Priority without interruption",
        "W_k = W_0 / ((1 - σ_(k-1))·(1 - σ_k)), W_0 = Σ λ_i·E[S_i²] / 2",
        "λ = 0.3 and 0.5 per s, exponential service of mean 1 s", f"{ONE}; priority; {WHOLE}", "Cobham, 1954",
        (
            Figure("priority.urgent", "mean wait of the urgent", _of(priority_waits_s, 0, CLASSES), 0.03,
                   _of(priority_waits_s, 0, STEPPED)),
            Figure("priority.other", "mean wait of the others", _of(priority_waits_s, 1, CLASSES), 0.05,
                   _of(priority_waits_s, 1, STEPPED)),
        ),
    ),
    Anchor(
        5, "conserved", "Conservation of waiting", "Σ ρ_k·W_k = ρ·W_0 / (1 - ρ)", "the two classes above",
        f"{ONE}; priority, and first come on the same requests; {WHOLE}", "Kleinrock, 1965",
        tuple(
            Figure(f"conserved.{policy}", f"Σ ρ_k·W_k, {words}",
                   partial(conserved_wait_s, at.CLASS_RATES, CLASSES), 0.03,
                   partial(conserved_wait_s, at.CLASS_RATES, STEPPED))
            for policy, words in (("priority", "priority"), ("fcfs", "first come"))
        ),
    ),
    Anchor(
        6, "preemptive", "Priority with interruption",
        "T_k = E[S_k] / (1 - σ_(k-1)) + Σ_(i≤k) λ_i·E[S_i²] / (2·(1 - σ_(k-1))·(1 - σ_k))",
        "the two classes above",
        f"{ONE}; preemptive without a limit of preemptions; recomputing costs nothing, since it takes the "
        "one iteration that emits the next token; an interruption waits for the token in progress",
        "White and Christie, 1958",
        (
            Figure("preemptive.urgent", "mean time of the urgent", _of(preemptive_times_s, 0, CLASSES), 0.02,
                   _of(preemptive_times_s, 0, STEPPED), slack=2 * at.STEP_S),
            Figure("preemptive.other", "mean time of the others", _of(preemptive_times_s, 1, CLASSES), 0.05,
                   _of(preemptive_times_s, 1, STEPPED), slack=2 * at.STEP_S),
        ),
    ),
    Anchor(
        7, "srpt", "Shortest remaining time first",
        "T(x) = λ·E[min(S, x)²] / (2·(1 - ρ(x))²) + ∫₀ˣ dt / (1 - ρ(t))",
        "ρ = 0.5, 0.7, 0.8 and 0.9, exponential service of mean 1 s",
        f"{ONE}; srpt that knows all lengths, hysteresis 0; an interruption waits for the token in progress",
        "Schrage and Miller, 1966",
        tuple(
            Figure(f"srpt.{load:g}", f"mean time at ρ = {load:g}", partial(srpt_time_s, load, at.EXPONENTIAL),
                   0.03, partial(srpt_time_s, load, at.IN_STEPS), slack=2 * at.STEP_S)
            for load in at.SRPT_LOADS
        ),
    ),
    Anchor(
        8, "sjf", "Shortest first, without interruption", "W(x) = W_0 / (1 - ρ(x))²",
        "ρ = 0.8, exponential service of mean 1 s", f"{ONE}; sjf that knows all lengths; {WHOLE}",
        "Phipps, 1956",
        (Figure("sjf.wait", "mean wait", partial(sjf_wait_s, at.LOAD, at.EXPONENTIAL), 0.03,
                partial(sjf_wait_s, at.LOAD, at.IN_STEPS)),),
    ),
    Anchor(
        9, "feedback", "Least served first: many levels, tiny quanta",
        "T(x) = λ·E[min(S, x)²] / (2·(1 - ρ_x)²) + x / (1 - ρ_x), ρ_x = λ·E[min(S, x)]",
        "ρ = 0.8, service 0.5 s (90 %) or 5.5 s (10 %)",
        f"{ONE}; mlfq without boosts; levels end one token before each size, so that the last token waits "
        "for all who were served less, as with tiny quanta", "Schrage, 1967; Kleinrock and Muntz, 1972",
        tuple(
            Figure(f"feedback.{name}", f"mean time{of}",
                   partial(feedback_time_s, at.LOAD, at.TWO_SIZES, size), 0.05,
                   partial(levels_time_s, at.LOAD, at.TWO_SIZES, at.QUANTA_S, size), slack=10 * at.STEP_S)
            for name, of, size in SIZES
        ),
    ),
    Anchor(
        10, "sharing", "Processor sharing", "T(x) = x / (1 - ρ)",
        "ρ = 0.8, service 0.5 s (90 %) or 5.5 s (10 %)",
        "seats and memory without limit; an iteration takes 0.001 s for each request in it; a newcomer waits "
        "for the iteration in progress", "Kleinrock, 1967",
        tuple(
            Figure(f"sharing.{name}", f"mean time{of}", partial(sharing_time_s, at.LOAD, at.TWO_SIZES, size),
                   0.03, slack=10 * at.STEP_S)
            for name, of, size in SIZES
        ),
    ),
)  # fmt: skip
