"""What bounds the wait of one request under a policy, in words with numbers, or why nothing does.

A bound counts from the arrival to the first admission. Where the rule stops at whoever does not fit, it is
the time until those at hand have given back enough; with a limit on passes, as much longer as so many others
can keep it out; where lower ones are preempted or room is set aside, an iteration. Times are iterations
of the longest length in the run. Whatever the policy is, nothing is claimed that its rules do not give.
Source: Sha, Rajkumar and Lehoczky, Priority inheritance protocols, IEEE Transactions on Computers 39(9),
1990: blocking is bounded when it does not depend on how much unrelated work arrives.
"""

from typing import NamedTuple

import numpy as np

from sched.at_once import at_once, why_at_once
from sched.drain import Drain, drain, earliest
from sched.evidence import Evidence, evidence
from sched.execution import slowest
from sched.guide import guide
from sched.language import ENGLISH, Language
from sched.log import Log
from sched.model import Outcome
from sched.policies.base import Policy, overrides
from sched.rules import rules_of, why_not_bounded
from sched.scenario import Scenario
from sched.sums import seconds
from sched.waits import as_seen
from sched.words import count, duration, joined

BOUNDED, CONDITIONAL, UNBOUNDED, UNKNOWN = "bounded", "conditional", "unbounded", "unknown"
NAMED = 2
"""So many of those who must leave first are named."""


class Statement(NamedTuple):
    """`kind` is bounded, conditional (if nobody more urgent comes), unbounded or unknown; the bound is in
    picoseconds from the arrival, None where there is none.
    """

    kind: str
    bound_ps: int | None
    text: str


def statement(
    log: Log, scenario: Scenario, request: int, seen: Evidence | None = None, say: Language = ENGLISH
) -> Statement:
    """The bound on a request's first wait under the policy of a run, by the load that it found."""
    if log.outcome[request] in (Outcome.REFUSED, Outcome.SHED):
        return _unknown(say("It was turned away on arrival, so it never waited."))
    rules = rules_of(log, scenario)
    if why := why_not_bounded(rules):
        return _unknown(say("The rule alone gives no bound: {why}.", why=say(why)))
    if log.machine.enable_prefix_caching:
        return _unknown(
            say("No bound is claimed where blocks are shared: what it needs changes as it waits.")
        )
    if log.machine.gate in ("expected", "lookahead"):
        return _unknown(
            say("No bound is claimed where the gate goes by expectations: what it needs changes as it waits.")
        )
    found = drain(evidence(log) if seen is None else seen, request)
    if found is None:
        return _unknown(say("The run ended before a decision came."))
    if overrides(rules, "keeps_free") and rules.keeps_free(as_seen(log.requests, request)):
        return _unknown(say("The rule alone gives no bound: room must stay free when it enters."))
    aside = rules.set_aside
    if aside is not None and log.requests.priority[request] > aside.for_priority:
        return _unknown(say("The rule alone gives no bound: what is set aside for others is not its."))
    return _stated(found, rules, say)


def _unknown(text: str) -> Statement:
    return Statement(UNKNOWN, None, text)


def _stated(found: Drain, rules: Policy, say: Language) -> Statement:
    """The tightest of what the switches of the policy give."""
    if rules.closed_batch:
        return _closed(found, rules, say)
    steps = at_once(found, rules)
    if steps is not None and steps <= 1:
        return _said(found, rules, steps, why_at_once(found, rules, say), say)
    if rules.misfit == "stop":
        known = [one for one in (steps, found.steps) if one is not None]
        return _said(found, rules, min(known, default=None), say("Nobody passes it at a misfit"), say)
    if rules.skip_limit is not None and not rules.displaces_for_waiters:
        return _limited(found, rules, rules.skip_limit, say)
    return _unbounded(found, say)


def _said(found: Drain, rules: Policy, steps: int | None, reason: str, say: Language) -> Statement:
    """A bound of so many iterations after the first decision."""
    if steps is None:
        return _unknown(
            say("{reason}: but those at hand did not give back enough within the run.", reason=reason)
        )
    log = found.seen.log
    longest = slowest(log)
    bound = (
        int(log.iteration_start_ps[found.first] - log.requests.arrival_ps[found.request]) + steps * longest
    )
    ids = [log.requests.ids[one] for one in found.leavers(steps)[:NAMED]] if steps else []
    span = duration(seconds(bound))
    if steps:
        who = ids[0] if len(ids) == 1 else say("{one} and {other}", one=ids[0], other=ids[1]) if ids else ""
        text = say(
            "{reason}: it waits until {who} left, at most {iterations} of at most {longest} after the first "
            "decision, {span} in all"
            if ids
            else "{reason}: at most {iterations} of at most {longest} after the first decision, "
            "{span} in all",
            reason=reason,
            who=who,
            iterations=count(steps, "iteration", say),
            longest=duration(seconds(longest)),
            span=span,
        )
    else:
        text = say(
            "{reason}: it enters at the first decision, {span} after it came", reason=reason, span=span
        )
    if found.seen.levels.of_request[found.request] and not rules.arrival_order:
        text = say("{bound}, if nobody more urgent comes meanwhile", bound=text)
        return Statement(CONDITIONAL, bound, say("{bound}.", bound=text))
    return Statement(BOUNDED, bound, say("{bound}.", bound=text))


def _closed(found: Drain, rules: Policy, say: Language) -> Statement:
    """Nobody enters a running batch: once those at hand have all left, it is first."""
    log = found.seen.log
    done = found.held(found.party).seats[0] == 0
    steps = 0 if found.wait < 0 else earliest(done & found.is_first)
    if steps is None:
        return _unknown(say("Those before it did not end within the run."))
    until = int(log.iteration_start_ps[found.first + steps]) + rules.batch_wait_ps
    bound = until - int(log.requests.arrival_ps[found.request])
    span = duration(seconds(bound))
    text = say("It waits until the batches before it have ended: {span} at most.", span=span)
    return Statement(BOUNDED, bound, text)


def _limited(found: Drain, rules: Policy, limit: int, say: Language) -> Statement:
    """So many may pass it, each for as long as the longest of them stays.

    When those at hand leave enough, it is kept out only while enough of those who passed it stay, and all
    their stays together last no longer than the limit times the longest.
    """
    if found.steps is None or found.wait < 0:
        return _said(found, rules, found.steps, say("It found what it needed"), say)
    log, rows = found.seen.log, found.behind()
    widest = longest = 0
    if len(rows):
        longest = int((log.stays.end_iteration - log.stays.iteration)[rows].max())
        mine = np.isin(found.seen.held.stay, rows)
        pieces = found.seen.held.take(mine)
        place = np.arange(len(pieces))
        widest = int(pieces.claimed(place, pieces.end - 1, log.machine).max(initial=0))
    held = found.held(found.party)
    machine = log.machine
    spare = machine.kv_blocks - held.claimed[0] - found.need[0] - machine.watermark_blocks
    by_blocks = np.maximum(spare, 0) // max(1, widest) + 1
    by_seats = np.maximum(machine.max_num_seqs - held.seats[0], 1)
    by_tokens = np.maximum(machine.max_num_batched_tokens - held.tokens[0] - found.need[1], 0)
    needed = np.where(by_tokens < machine.max_num_seqs, 1, np.minimum(by_blocks, by_seats))
    able = found.fits(held) & found.is_first
    # An iteration in which it could not enter anyhow costs those who passed it nothing.
    spent = np.cumsum(np.where(able, needed, 0))
    steps = earliest(able & (spent > limit * longest))
    if steps is None and log.horizon_ps < 0 and not log.stop_reason:
        # After the run those at hand have gone, and the passers still need as many to keep it out.
        alone = min((machine.kv_blocks - found.need[0]) // max(1, widest) + 1, machine.max_num_seqs)
        steps = len(spent) + max(0, limit * longest - int(spent[-1])) // alone + 1
    reason = say(
        "At most {requests} may pass it, none for more than {iterations}",
        requests=count(limit, "request", say),
        iterations=count(longest, "iteration", say),
    )
    return _said(found, rules, steps, reason, say)


def _unbounded(found: Drain, say: Language) -> Statement:
    """Whoever fits may pass it: no bound, but a guide line."""
    text = say("Nothing bounds this wait: whoever fits is let past it, as long as such requests come.")
    told = guide(found.seen, found.request, found.need[0]) if found.wait >= 0 else None
    if told is None:
        return Statement(UNBOUNDED, None, text)
    known = told.expected_s is not None and told.chance > 1e-6
    line = say(
        "Lower ones hold {mean} of {kv} blocks, give or take {deviation}, so {blocks} would be free at "
        "{chance} % of decisions, after about {span} (a guide line, not a bound)."
        if known
        else "Lower ones hold {mean} of {kv} blocks, give or take {deviation}, so {blocks} would be free at "
        "{chance} % of decisions.",
        mean=f"{told.mean:,.1f}",
        kv=f"{found.seen.log.machine.kv_blocks:,}",
        deviation=f"{told.deviation:,.1f}",
        blocks=count(found.need[0], "block", say),
        chance=f"{100 * told.chance:.2g}",
        span=duration(told.expected_s or 0.0),
    )
    return Statement(UNBOUNDED, None, joined((text, line), say))
