"""The line below the verdict of Compare: which requests and seeds it is made of, and how far it is."""

from sched.experiments import Comparison, is_random
from sched.page.language import tr


def trust(found: Comparison, wanted: int) -> str:
    """What the table rests on, and how far it is."""
    seeds, many = found.seeds, len(found.seeds)
    if found.scenario.trace:
        how = tr("Every policy on the identical recorded requests.")
    elif not found.scenario.traffic:
        how = tr("Every policy on the identical requests, as they are listed.")
    elif many == 1:
        how = tr("Every policy on the identical requests of seed {seed}.", seed=seeds[0])
    else:
        how = tr(
            "Every policy on the identical requests of {n} seeds, {first} to {last}.",
            n=many,
            first=seeds[0],
            last=seeds[-1],
        )
    if not is_random(found.scenario):
        return tr("{how} One run: nothing here is drawn, so another seed would change nothing.", how=how)
    if many < wanted:
        return tr("{how} {n} of {many} seeds so far.", how=how, n=many, many=wanted)
    if many == 1:
        return tr("{how} One run: no interval.", how=how)
    return tr(
        "{how} All figures here are means over these seeds, and a difference is between two of them. Large "
        "dot: the mean; line and small dots: every seed.",
        how=how,
    )
