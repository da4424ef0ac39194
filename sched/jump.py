"""How far a batch that decodes straight can be taken at once: to the first iteration in which something may
change.
"""

from math import sqrt

from sched.batch import Batch
from sched.kv import last_true
from sched.ledger import Ledger
from sched.needs import urgent_blocks
from sched.policies.base import kept, overrides


def last_that_fits(batch: Batch, last: int) -> int:
    """Last iteration up to which every block that growth needs is there; the one at hand has its blocks."""
    iteration, straight = batch.iteration, batch.straight
    blocks = batch.kv_blocks - batch.explicit_held
    if batch.pool:
        blocks = batch.pool.free() + straight.held(iteration)
    aside = batch.aside
    if batch.policy.pools is not None and batch.ledger:
        last = _pools_stand_until(batch, batch.ledger, last)
    if aside is None or not aside.guard_growth:
        return straight.fits_until(iteration, last, blocks)

    urgent_now, straight_now = urgent_blocks(batch), batch.urgent_straight.held(iteration)

    def fits(number: int) -> bool:
        grown = 0 if batch.by_peak else batch.urgent_straight.held(number) - straight_now
        idle = aside.kv_blocks - urgent_now - grown
        return straight.held(number) + kept(aside, max(0, idle)) <= blocks

    return last_true(fits, iteration, last)


def _pools_stand_until(batch: Batch, ledger: Ledger, last: int) -> int:
    """Last iteration up to which no tenant outgrows its pool."""
    pools = list((batch.policy.pools or {}).items())
    if batch.pool:
        return batch.iteration
    return last_true(lambda number: ledger.pools_stand(pools, number), batch.iteration, last)


def decision_stands_until(batch: Batch, last: int, cache_may_admit: bool) -> int:
    """Last iteration up to which nobody who waits could be let in by what straight decoding alone changes."""
    iteration, policy = batch.iteration, batch.policy
    if batch.preempted or batch.foresees or (batch.pool and (cache_may_admit or policy.reads_cache)):
        return iteration
    if policy.only_loans:
        last = _loans_stand_until(batch, last)
    if batch.ledger:
        last = _order_stands_until(batch, batch.ledger, last)
    if overrides(policy, "stands_for") and batch.ledger:
        turns = policy.stands_for(batch.queue.tenants(), batch.ledger.decoding)  # type: ignore[union-attr]
        if turns is not None:
            return min(last, iteration + turns - 1)
    return last


def _order_stands_until(batch: Batch, ledger: Ledger, last: int) -> int:
    """Last iteration up to which neither tenants' growth nor an outlived prediction lets another one in."""
    policy = batch.policy
    if policy.counts_holdings and (policy.misfit == "stop" or overrides(policy, "stops_at")):
        tenants = batch.queue.tenants() if batch.fair else [""] * 2  # type: ignore[union-attr]
        if len(tenants) > 1:
            return batch.iteration
    turn = ledger.next_outliving(batch.iteration) if ledger.outlives else None
    return last if turn is None else min(last, turn - 1)


def _loans_stand_until(batch: Batch, last: int) -> int:
    """Last iteration up to which lower classes borrow nothing more that a waiting urgent request could take
    back.
    """
    aside = batch.aside
    if not aside or batch.by_peak or not batch.queue.head(batch.now_ps).urgent:
        return last

    def lower(number: int) -> int:
        return batch.straight.held(number) - batch.urgent_straight.held(number)

    now = batch.used() - urgent_blocks(batch) - (batch.kv_blocks - aside.kv_blocks)
    most = lower(batch.iteration) - min(now, 0)
    return last_true(lambda number: lower(number) <= most, batch.iteration, last)


def replay(batch: Batch, iteration: int, count: int) -> None:
    """With prefix caching: the blocks taken and named during a jump, in (iteration, running order)."""
    pool, size = batch.pool, batch.size
    assert pool
    events: set[tuple[int, int]] = set()
    for place, job in enumerate(batch.running):
        if not job.straight:
            continue
        start = iteration + job.offset
        for wanted in (0, size - 1):
            first = (wanted - start) % size
            events.update((iteration + turn, place) for turn in range(first, count, size))
    for turn, place in sorted(events):
        job = batch.running[place]
        batch.grow(pool, job, turn + job.offset, 1)


def iterations_until(gap_ps: int, first_ps: int, step_ps: int, most: int) -> int:
    """Fewest iterations, at most `most`, that together last `gap_ps`: each lasts `step_ps` longer than the
    last.

    Exact: the root of the quadratic in floating point is only where the search begins.
    """
    if most * first_ps + step_ps * (most * (most - 1) // 2) < gap_ps:
        return most
    if not step_ps:
        return max(1, -(-gap_ps // first_ps)) if first_ps else most
    slope = first_ps - step_ps / 2
    count = max(1, min(most, int((sqrt(slope * slope + 2.0 * step_ps * gap_ps) - slope) / step_ps)))
    while count < most and count * first_ps + step_ps * (count * (count - 1) // 2) < gap_ps:
        count += 1
    while count > 1 and (count - 1) * first_ps + step_ps * ((count - 1) * (count - 2) // 2) >= gap_ps:
        count -= 1
    return count
