"""What bounds the wait of one request under a policy, in words with numbers, or why nothing does.

A bound counts from the arrival to the first admission. Where the rule stops at whoever does not fit, it is
the time until those at hand have given back enough; with a limit on passes, as much longer as so many others
can keep it out; where lower ones are evicted or room is set aside, an iteration. Times are iterations of the
longest length in the run. Whatever the policy is, nothing is claimed that its rules do not give.
Source: Sha, Rajkumar and Lehoczky, Priority inheritance protocols, IEEE Transactions on Computers 39(9),
1990: blocking is bounded when it does not depend on how much unrelated work arrives.
"""

from typing import NamedTuple

import numpy as np

from sched.drain import Drain, drain, earliest
from sched.evidence import Evidence, evidence
from sched.execution import slowest
from sched.guide import guide
from sched.log import Log
from sched.model import Outcome, SetAside, Standing
from sched.occupancy import Bools
from sched.policies.base import Policy, overrides
from sched.rules import rules_of, why_not_bounded
from sched.scenario import Scenario
from sched.sums import seconds
from sched.waits import as_seen
from sched.words import count, duration

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


def statement(log: Log, scenario: Scenario, request: int, seen: Evidence | None = None) -> Statement:
    """The bound on a request's first wait under the policy of a run, by the load that it found."""
    if log.outcome[request] in (Outcome.REFUSED, Outcome.SHED):
        return Statement(UNKNOWN, None, "It was turned away on arrival, so it never waited.")
    rules = rules_of(log, scenario)
    if why := why_not_bounded(rules):
        return Statement(UNKNOWN, None, f"The rule alone gives no bound: {why}.")
    if log.machine.enable_prefix_caching or log.machine.gate in ("expected", "lookahead"):
        what = "blocks are shared" if log.machine.enable_prefix_caching else "the gate goes by expectations"
        return Statement(
            UNKNOWN, None, f"No bound is claimed where {what}: what it needs changes as it waits."
        )
    found = drain(evidence(log) if seen is None else seen, request)
    if found is None:
        return Statement(UNKNOWN, None, "The run ended before a decision came.")
    if overrides(rules, "keeps_free") and rules.keeps_free(as_seen(log.requests, request)):
        return Statement(UNKNOWN, None, "The rule alone gives no bound: room must stay free when it enters.")
    aside = rules.set_aside
    if aside is not None and log.requests.priority[request] > aside.for_priority:
        return Statement(
            UNKNOWN, None, "The rule alone gives no bound: what is set aside for others is not its."
        )
    return _stated(found, rules)


def _stated(found: Drain, rules: Policy) -> Statement:
    """The tightest of what the switches of the policy give."""
    if rules.closed_batch:
        return _closed(found, rules)
    steps = _at_once(found, rules)
    if steps is not None and steps <= 1:
        return _said(found, rules, steps, _why_at_once(found, rules))
    if rules.misfit == "stop":
        known = [one for one in (steps, found.steps) if one is not None]
        return _said(found, rules, min(known, default=None), "Nobody passes it at a misfit: ")
    if rules.skip_limit is not None and not rules.displaces_for_waiters:
        return _limited(found, rules, rules.skip_limit)
    return _unbounded(found)


def _said(found: Drain, rules: Policy, steps: int | None, reason: str) -> Statement:
    """A bound of so many iterations after the first decision."""
    if steps is None:
        return Statement(UNKNOWN, None, f"{reason}but those at hand did not give back enough within the run.")
    log = found.seen.log
    longest = slowest(log)
    bound = (
        int(log.iteration_start_ps[found.first] - log.requests.arrival_ps[found.request]) + steps * longest
    )
    ids = [log.requests.ids[one] for one in found.leavers(steps)[:NAMED]] if steps else []
    text = reason + (f"it waits until {' and '.join(ids)} left, " if ids else "")
    if steps:
        text += f"at most {count(steps, 'iteration')} of at most {duration(seconds(longest))} after "
        text += f"the first decision, {duration(seconds(bound))} in all"
    else:
        text += f"it enters at the first decision, {duration(seconds(bound))} after it came"
    kind = BOUNDED
    if found.seen.levels.of_request[found.request] and not rules.arrival_order:
        kind, text = CONDITIONAL, f"{text}, if nobody more urgent comes meanwhile"
    return Statement(kind, bound, f"{text}.")


def _closed(found: Drain, rules: Policy) -> Statement:
    """Nobody enters a running batch: once those at hand have all left, it is first."""
    log = found.seen.log
    done = found.held(found.party).seats[0] == 0
    steps = 0 if found.wait < 0 else earliest(done & found.is_first)
    if steps is None:
        return Statement(UNKNOWN, None, "Those before it did not end within the run.")
    until = int(log.iteration_start_ps[found.first + steps]) + rules.batch_wait_ps
    bound = until - int(log.requests.arrival_ps[found.request])
    text = f"It waits until the batches before it have ended: {duration(seconds(bound))} at most."
    return Statement(BOUNDED, bound, text)


def _at_once(found: Drain, rules: Policy) -> int | None:
    """Iterations until eviction or a reserve lets it in, whatever lower ones hold; None: never in the run."""
    if found.wait < 0:
        return 0
    seen, aside = found.seen, rules.set_aside
    log, level = seen.log, seen.levels.of_request
    everybody = found.held(np.ones(len(level), dtype=bool))
    tokens = everybody.tokens[0] + found.need[1] <= log.machine.max_num_batched_tokens
    if aside is not None and log.requests.priority[found.request] <= aside.for_priority:
        urgent = found.held(log.requests.priority <= aside.for_priority)
        inside = urgent.claimed[0] + found.need[0] + log.machine.watermark_blocks <= aside.kv_blocks
        has_seat, machine = everybody.seats[0] < log.machine.max_num_seqs, log.machine
        if aside.lend:
            has_seat |= urgent.seats[0] < aside.seats
        else:
            free = machine.kv_blocks - everybody.claimed[0] - machine.watermark_blocks
            inside &= found.need[0] <= free
        inside &= has_seat
        return earliest(inside & tokens & found.admits & found.is_first)
    if not rules.displaces_for_waiters or rules.only_loans:
        return None
    # Whoever may be evicted counts as gone.
    firm = found.held(~_evictable(found, rules))
    return earliest(found.fits(firm) & tokens & found.is_first)


def _evictable(found: Drain, rules: Policy) -> Bools:
    """Requests that this one may evict, however often they have been already in this run."""
    log = found.seen.log
    mine, standing = as_seen(log.requests, found.request), Standing(0, 0)
    may = np.zeros(len(log.requests.ids), dtype=bool)
    for row in np.unique(log.stays.request).tolist():
        held = Standing(0, 0, preemptions=int(log.preemptions[row]), admission=0)
        may[row] = rules.displaces(mine, standing, as_seen(log.requests, row), held) is not None
    return may


def _why_at_once(found: Drain, rules: Policy) -> str:
    if found.wait < 0:
        return "It did not have to wait: "
    if rules.displaces_for_waiters and not rules.only_loans:
        return "Lower ones are evicted for it: "
    aside: SetAside | None = rules.set_aside
    assert aside is not None
    kept = f"{aside.kv_blocks:,} blocks are set aside for it and those like it"
    if aside.lend:
        return f"{kept}, and what is lent of them is taken back: "
    return f"{kept}: " if aside.guard_growth else f"{kept}, and at the decision nobody had grown into them: "


def _limited(found: Drain, rules: Policy, limit: int) -> Statement:
    """So many may pass it, each for as long as the longest of them stays.

    When those at hand leave enough, it is kept out only while enough of those who passed it stay, and all
    their stays together last no longer than the limit times the longest.
    """
    if found.steps is None or found.wait < 0:
        return _said(found, rules, found.steps, "It found what it needed: ")
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
    reason = (
        f"At most {count(limit, 'request')} may pass it, none for more than {count(longest, 'iteration')}: "
    )
    return _said(found, rules, steps, reason)


def _unbounded(found: Drain) -> Statement:
    """Whoever fits may pass it: no bound, but a guide line."""
    text = "Nothing bounds this wait: whoever fits is let past it, as long as such requests come."
    told = guide(found.seen, found.request, found.need[0]) if found.wait >= 0 else None
    if told is None:
        return Statement(UNBOUNDED, None, text)
    kv = found.seen.log.machine.kv_blocks
    text += (
        f" Lower ones hold {told.mean:,.1f} of {kv:,} blocks, give or take {told.deviation:,.1f}, so "
        f"{count(found.need[0], 'block')} would be free at {100 * told.chance:.2g} % of decisions"
    )
    if told.expected_s is not None and told.chance > 1e-6:
        text += f", after about {duration(told.expected_s)} (a guide line, not a bound)"
    return Statement(UNBOUNDED, None, f"{text}.")
