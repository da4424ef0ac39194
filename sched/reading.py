"""How an answer reads as it comes: the quality of experience of somebody who reads at a steady pace."""

import numpy as np
from numpy.typing import NDArray

from sched.log import Log
from sched.model import PS_PER_S, Outcome
from sched.service import Tokens

READING_TOKENS_PER_S = 4.8
"""How fast people read English, in tokens of such a model."""
EXPECTED_TTFT_S = 1.0


def quality_of_experience(log: Log, out: Tokens) -> NDArray[np.float64]:
    """1 where each token of an answer is there when its reader comes to it, less the later they are; 0 to 1.

    The reader expects to begin after EXPECTED_TTFT_S and to read READING_TOKENS_PER_S, begins when the first
    token is there, never reads faster, and waits for what has not come. It is 1 - (area between the expected
    and the true reading curve) / (area under the expected one until all is read), which is harsh on short
    answers. Shape (n,); 0 of a request that did not finish.
    Source: Liu et al., Andes, arXiv 2404.16283, section 3.
    """
    found = np.zeros(len(log.outcome))
    pace = 1.0 / READING_TOKENS_PER_S
    requests = np.arange(len(found) + 1)
    edges = np.searchsorted(out.request, requests).tolist()
    first, count = out.iteration.tolist(), out.count.tolist()
    arrival = log.requests.arrival_ps.tolist()
    for request in np.flatnonzero(log.outcome == Outcome.FINISHED).tolist():
        rows = range(edges[request], edges[request + 1])
        parts = [out.end_ps[first[row] : first[row] + count[row]] for row in rows]
        came = parts[0] if len(parts) == 1 else np.concatenate(parts)
        expected = EXPECTED_TTFT_S + pace * np.arange(len(came))
        # Once late, a reader who never hurries stays as late: a token is as late as the latest so far.
        late = np.maximum.accumulate(np.maximum((came - arrival[request]) / PS_PER_S - expected, 0.0))
        until = expected[-1] + late[-1] + pace
        found[request] = 1.0 - late.sum() / (len(came) * (until - pace / 2) - expected.sum())
    return found
